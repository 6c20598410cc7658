"""Quantisation: integers that stand for real numbers by `real = (integer - zero_point) * scale`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op
from gecc.dialects.ge.props import int_prop
from gecc.dialects.ge.types import (
    DYNAMIC,
    FLOAT,
    AnyTensor,
    DTypes,
    agree,
    check_dtype,
    check_same_dtype,
    dims,
    elem,
    i8,
    i16,
    i32,
    like,
    normal_axis,
    rank,
    spell,
    tensor,
    ui8,
    ui16,
)

QUANTISED: DTypes = (i8, ui8, i16, ui16)
"""Element types of quantised tensors."""


class Quantisation(GeOp):
    """What both directions share: `scale` and `zero_point` (absent: 0) of one shape.

    That shape is [] for the whole tensor, or [dims[axis]] for each slice along `axis`, or with `block_size` > 0 the
    shape of x with dims[axis] divided by `block_size`, rounded up: one for each block of neighbours along `axis`.
    """

    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = opt_operand_def(TensorType)
    axis = int_prop(1)
    block_size = int_prop(0)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        scale: Value,
        zero_point: Value | None,
        to: Attribute,
        *,
        axis: int = 1,
        block_size: int = 0,
    ) -> None:
        kind = like(tensor(SSAValue.get(x)), element=to)
        self.setup([x, scale, zero_point], {"axis": axis, "block_size": block_size}, [kind])

    def parameter_axis(self) -> int:
        """`axis`, counted from the front; 0 when the parameters are scalars, which have none."""
        return normal_axis(self.axis.value.data, rank(self.x)) if rank(self.scale) else 0

    def check_parameters(self) -> None:
        """Raise unless scale and zero point have one of the legal shapes."""
        block, x = self.block_size.value.data, dims(self.x)
        if block < 0:
            raise VerifyException(f"block_size is {block}, expected at least 0")
        for name, value in (("scale", self.scale), ("zero_point", self.zero_point)):
            if value is None:
                continue
            shape = dims(value)
            if rank(value) != rank(self.scale):
                raise VerifyException(f"{name} has shape {spell(shape)}, but scale has {spell(dims(self.scale))}")
            if not shape:
                continue
            axis = normal_axis(self.axis.value.data, len(x))
            extent = x[axis]
            if block:
                wanted = [*x[:axis], DYNAMIC if extent == DYNAMIC else -(-extent // block), *x[axis + 1 :]]
            else:
                wanted = [extent]
            if len(shape) != len(wanted) or not all(agree(a, b) for a, b in zip(shape, wanted, strict=True)):
                raise VerifyException(
                    f"{name} has shape {spell(shape)}, expected [] or {spell(wanted)} for x {spell(x)}, axis {axis}, "
                    f"block_size {block}"
                )


@ge_op
class Quantize(Quantisation):
    """saturate(round(x / scale) + zero_point), halves to even; the quotient has the element type of x and scale.

    NaN becomes the least integer, as in ONNX Runtime.
    """

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        check_same_dtype(x=self.x, scale=self.scale)
        check_dtype("result", self.result, QUANTISED)
        check_same_dtype(result=self.result, zero_point=self.zero_point)
        self.check_parameters()
        return [like(tensor(self.x), element=elem(self.result))]


@ge_op
class Dequantize(Quantisation):
    """(x - zero_point) * scale, the difference exact in i32, the product in f32 (f64 when scale or result is)."""

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, (*QUANTISED, i32))
        check_dtype("scale", self.scale, FLOAT)
        check_dtype("result", self.result, FLOAT)
        check_same_dtype(x=self.x, zero_point=self.zero_point)
        self.check_parameters()
        return [like(tensor(self.x), element=elem(self.result))]
