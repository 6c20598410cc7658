"""Operators that work along one axis in order: cumulative sums and products, the k largest, reversed sequences."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, int_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    INDEX,
    NUMERIC,
    AnyTensor,
    agree,
    check_dtype,
    check_rank,
    check_row_major,
    dims,
    elem,
    i64,
    normal_axis,
    rank,
    row_major,
)


class Cumulative(GeOp):
    """Each element with all before it along `axis`: itself included unless `exclusive`; from the end when `reverse`."""

    x = operand_def(TensorType)
    axis = int_prop()
    exclusive = bool_prop()
    reverse = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        axis: int,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x], {"axis": axis, "exclusive": exclusive, "reverse": reverse}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, NUMERIC)
        check_row_major("x", self.x)
        normal_axis(self.axis.value.data, rank(self.x))
        return [row_major(dims(self.x), elem(self.x))]


@ge_op
class CumSum(Cumulative):
    """Sums of what came before; 0 where nothing did"""


@ge_op
class CumProd(Cumulative):
    """Products of what came before; 1 where nothing did"""


@ge_op
class TopK(GeOp):
    """The k largest (or smallest) values along `axis`, in order, and their i64 indices.

    Of equal values the one with the lower index comes first. NaN counts as larger than every number.
    """

    x = operand_def(TensorType)
    k = int_prop()
    axis = int_prop(-1)
    largest = bool_prop(True)
    values = result_def(TensorType)
    indices = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        k: int,
        *,
        axis: int = -1,
        largest: bool = True,
        result_types: Sequence[AnyTensor] | None = None,
    ) -> None:
        self.setup([x], {"k": k, "axis": axis, "largest": largest}, result_types, results=2)

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, NUMERIC)
        check_row_major("x", self.x)
        shape, k = dims(self.x), self.k.value.data
        axis = normal_axis(self.axis.value.data, len(shape))
        if k < 0 or (shape[axis] != DYNAMIC and k > shape[axis]):
            raise VerifyException(f"k is {k}, expected 0 to {shape[axis]}, the size of dimension {axis}")
        result = (*shape[:axis], k, *shape[axis + 1 :])
        return [row_major(result, elem(self.x)), row_major(result, i64)]


@ge_op
class ReverseSequence(GeOp):
    """The first `lengths[b]` elements along `time_axis` of each batch `b` in reverse order; the rest stays."""

    x = operand_def(TensorType)
    lengths = operand_def(TensorType)
    batch_axis = int_prop(1)
    time_axis = int_prop(0)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        lengths: Value,
        *,
        batch_axis: int = 1,
        time_axis: int = 0,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, lengths], {"batch_axis": batch_axis, "time_axis": time_axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_dtype("lengths", self.lengths, INDEX)
        check_row_major("x", self.x)
        check_rank("lengths", self.lengths, 1)
        batch, time = (normal_axis(p.value.data, rank(self.x)) for p in (self.batch_axis, self.time_axis))
        if batch == time:
            raise VerifyException(f"batch_axis and time_axis are both {batch}")
        if not agree(dims(self.lengths)[0], dims(self.x)[batch]):
            raise VerifyException(
                f"lengths has {dims(self.lengths)[0]} elements, expected {dims(self.x)[batch]}, "
                f"the size of dimension {batch}"
            )
        return [row_major(dims(self.x), elem(self.x))]
