"""Reductions along axes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, int_prop, ints_prop
from gecc.dialects.ge.types import (
    BOOL,
    NUMERIC,
    AnyTensor,
    check_dtype,
    dims,
    i64,
    like,
    normal_axes,
    normal_axis,
    rank,
    tensor,
)


class Reduce(GeOp):
    """Combine the elements along `axes`, which stay as 1 when keep_dims; no axes means no reduction."""

    x = operand_def(TensorType)
    axes = ints_prop()
    keep_dims = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self, x: Value, axes: Sequence[int], *, keep_dims: bool = False, result_type: AnyTensor | None = None
    ) -> None:
        self.setup([x], {"axes": axes, "keep_dims": keep_dims}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, NUMERIC + BOOL if isinstance(self, ReduceMax | ReduceMin) else NUMERIC)
        axes = normal_axes(self.axes.get_values(), rank(self.x))
        return [like(tensor(self.x), reduced(dims(self.x), axes, bool(self.keep_dims.value.data)))]


def reduced(shape: Sequence[int], axes: Sequence[int], keep_dims: bool) -> tuple[int, ...]:
    """`shape` without `axes`, or with 1 in their place."""
    return tuple(1 if i in axes else d for i, d in enumerate(shape) if keep_dims or i not in axes)


@ge_op
class ReduceSum(Reduce):
    """Sum"""


@ge_op
class ReduceMean(Reduce):
    """Mean; of integers rounded toward zero"""


@ge_op
class ReduceMax(Reduce):
    """Largest (or, of booleans); NaN when any is NaN"""


@ge_op
class ReduceMin(Reduce):
    """Smallest (and, of booleans); NaN when any is NaN"""


@ge_op
class ReduceProd(Reduce):
    """Product"""


class ArgReduce(GeOp):
    """The i64 index along `axis` of an extreme: the first one, or the last when select_last_index."""

    x = operand_def(TensorType)
    axis = int_prop()
    keep_dims = bool_prop()
    select_last_index = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        axis: int,
        *,
        keep_dims: bool = False,
        select_last_index: bool = False,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"axis": axis, "keep_dims": keep_dims, "select_last_index": select_last_index}
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, NUMERIC)
        axis = normal_axis(self.axis.value.data, rank(self.x))
        if dims(self.x)[axis] == 0 and 0 not in reduced(dims(self.x), (axis,), False):
            raise VerifyException(f"x {list(dims(self.x))} has no extremes along its empty dimension {axis}")
        return [like(tensor(self.x), reduced(dims(self.x), (axis,), bool(self.keep_dims.value.data)), i64)]


@ge_op
class ArgMax(ArgReduce):
    """Index of the largest"""


@ge_op
class ArgMin(ArgReduce):
    """Index of the smallest"""
