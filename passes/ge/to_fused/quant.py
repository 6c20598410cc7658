"""ge.Quantize and ge.Dequantize -> fused.generic; scalar parameters become constants of the region."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import Float64Type, IntegerType, f32, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body, Scalar, is_unsigned
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.quant import Quantisation
from gecc.dialects.ge.types import elem, rank, tensor
from gecc.passes.ge.to_fused._common import narrow, scalar_constant, widen, working_type
from gecc.passes.ge.to_fused.pointwise import label_of
from gecc.rewrite import Pattern, Rewriter

Read = Callable[[Body, Values, Values], Scalar]
"""(body, indices, tensors) -> a parameter at these indices, in its own scalar type, or the number that it always is."""


class _Parameters:
    """The operands that are tensors, and how scale and zero point are read."""

    def __init__(self, op: Quantisation) -> None:
        self.op = op
        self.inputs: list[SSAValue] = [op.x]
        self.scale = self._reader(op.scale)
        self.zero_point = self._reader(op.zero_point)

    def _reader(self, value: SSAValue | None) -> Read:
        if value is None:
            return lambda b, d, t: 0
        number = scalar_constant(value)
        if number is not None:
            return lambda b, d, t: number
        place = len(self.inputs)
        self.inputs.append(value)
        axis, block = self.op.parameter_axis(), self.op.block_size.value.data

        def read(b: Body, d: Values, t: Values) -> SSAValue:
            if not rank(value):
                return b.load(t[place], [])
            if not block:
                return b.load(t[place], [d[axis]])
            return b.load(t[place], [*d[:axis], b.div(d[axis], block, unsigned=True), *d[axis + 1 :]])

        return read


def limits(element: Attribute) -> tuple[int, int]:
    """The least and the greatest value of an integer element type."""
    assert isinstance(element, IntegerType)
    width = element.width.data
    return (0, 2**width - 1) if is_unsigned(element) else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


class LowerQuantize(Pattern):
    """ge.Quantize. The quotient is clamped before it is rounded, so that the conversion to i32 cannot overflow."""

    ops = (ge.Quantize,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Quantize)
        element, target = elem(op.x), elem(op.result)
        work = working_type(element)
        least, most = limits(target)
        parameters = _Parameters(op)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            value = widen(b, b.load(t[0], d), element)
            scale, zero = parameters.scale(b, d, t), parameters.zero_point(b, d, t)
            if isinstance(scale, SSAValue):
                scale = widen(b, scale, element)
            if scale != 1:
                value = widen(b, narrow(b, b.div(value, scale), element), element)
            low: Scalar
            high: Scalar
            if isinstance(zero, SSAValue):
                zero = b.convert(zero, target, i32)
                offset = b.convert(zero, i32, work)
                low, high = b.sub(least, offset), b.sub(most, offset)
            else:
                low, high = least - zero, most - zero
            value = b.select(b.compare("gt", value, low), value, low)  # NaN becomes `low`
            value = b.select(b.compare("lt", value, high), value, high)
            whole = b.convert(b.math("roundeven", value), work, i32)
            if isinstance(zero, SSAValue) or zero:
                whole = b.add(whole, zero if isinstance(zero, SSAValue) else int(zero))
            return b.convert(whole, i32, target)

        rw.replace(op, fused.generic(label_of(op), tensor(op.result), parameters.inputs, body))


class LowerDequantize(Pattern):
    """ge.Dequantize."""

    ops = (ge.Dequantize,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Dequantize)
        element, source, target = elem(op.x), elem(op.scale), elem(op.result)
        work = f64 if Float64Type() in (source, target) else f32
        parameters = _Parameters(op)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            value = b.convert(b.load(t[0], d), element, i32)
            scale, zero = parameters.scale(b, d, t), parameters.zero_point(b, d, t)
            if isinstance(zero, SSAValue):
                value = b.sub(value, b.convert(zero, element, i32))
            elif zero:
                value = b.sub(value, int(zero))
            value = b.convert(value, i32, work)
            if isinstance(scale, SSAValue):
                scale = b.convert(scale, source, work)
            return b.convert(b.mul(value, scale), work, target)

        rw.replace(op, fused.generic(label_of(op), tensor(op.result), parameters.inputs, body))


PATTERNS: Sequence[type[Pattern]] = (LowerQuantize, LowerDequantize)
