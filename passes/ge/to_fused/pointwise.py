"""Pointwise operators -> fused.generic without reduction; scalar constants become constants of the region."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import elem, tensor
from gecc.passes.ge.to_fused._common import narrow, scalar_constant, widen, working_type
from gecc.passes.ge.to_fused._scalars import FORMULAS
from gecc.rewrite import Pattern, Rewriter


class LowerPointwise(Pattern):
    """Any operator of the table `FORMULAS`."""

    ops = tuple(FORMULAS)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.GeOp)
        formula = FORMULAS[type(op)]
        element = elem(op.operands[-1])
        result = tensor(op.results[0])
        numbers = [scalar_constant(value) for value in op.operands]
        inputs: list[SSAValue] = []
        for value, number in zip(op.operands, numbers, strict=True):
            if number is None and value not in inputs:
                inputs.append(value)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            loaded: list[SSAValue] = []
            for value, number in zip(op.operands, numbers, strict=True):
                own = elem(value)
                if number is not None:
                    loaded.append(b.constant(number, fused.scalar_type(working_type(own))))
                else:
                    loaded.append(widen(b, fused.broadcast_load(b, t[inputs.index(value)], d, result.get_shape()), own))
            return narrow(b, formula(b, op, element, loaded), result.element_type)

        rw.replace(op, fused.generic(label_of(op), result, inputs, body))


def label_of(op: Operation) -> str:
    """The name users know an operator by: `Relu`."""
    return op.name.removeprefix("ge.")


class LowerCast(Pattern):
    """ge.Cast: one conversion for each element."""

    ops = (ge.Cast,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Cast)
        source, target = elem(op.x), elem(op.result)
        if source == target:
            return rw.replace(op, [], [op.x])
        rw.replace(op, fused.generic("Cast", tensor(op.result), [op.x], _cast(source, target)))


def _cast(source: Attribute, target: Attribute) -> fused.BodyFn:
    return lambda b, d, t: b.convert(b.load(t[0], d), source, target)


class LowerBitCast(Pattern):
    """ge.BitCast: one scalar, read anew. Signed and unsigned integers are the same scalars; bool is a number here."""

    ops = (ge.BitCast,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.BitCast)
        source, target = elem(op.x), elem(op.result)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            value, to = b.load(t[0], d), fused.scalar_type(target)
            if value.type == to:
                return value
            if i1 in (value.type, to):
                return b.convert(value, source, target)
            return b.emit(arith.BitcastOp(value, to))

        rw.replace(op, fused.generic("BitCast", tensor(op.result), [op.x], body))


class LowerIdentity(Pattern):
    """ge.Identity: nothing is left of it."""

    ops = (ge.Identity,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        rw.replace(op, [], [op.operands[0]])


class LowerBatchNorm(Pattern):
    """ge.BatchNorm: (x - mean) / sqrt(var + epsilon) * scale + offset with parameters of the channel."""

    ops = (ge.BatchNorm,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.BatchNorm)
        element, result = elem(op.x), tensor(op.result)
        epsilon = op.epsilon.value.data

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            x = widen(b, b.load(t[0], d), element)
            scale, offset, mean, var = (widen(b, b.load(p, [d[1]]), element) for p in t[1:])
            deviation = b.math("sqrt", b.add(var, epsilon))
            value = b.add(b.mul(b.div(b.sub(x, mean), deviation), scale), offset)
            return narrow(b, value, element)

        rw.replace(op, fused.generic("BatchNorm", result, op.operands, body))


PATTERNS: Sequence[type[Pattern]] = (LowerPointwise, LowerCast, LowerBitCast, LowerIdentity, LowerBatchNorm)
