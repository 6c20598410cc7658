"""Operators that write elements at indices, or combine them with what is there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import int_prop, word_prop
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
    check_same_dtype,
    dims,
    elem,
    normal_axis,
    rank,
    row_major,
    spell,
)

REDUCTIONS = ("none", "add", "mul", "max", "min")
"""How an update meets the element it is for; `none` puts it in its place."""


class Scatter(GeOp):
    """x with `updates` at `indices` (negative counts from the end). Of several for one place the last one wins."""

    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)

    def check_operands(self, reduction: str) -> None:
        """Raise VerifyException for element types or layouts that do not fit."""
        check_dtype("x", self.x, ANY if reduction == "none" else NUMERIC)
        check_dtype("indices", self.indices, INDEX)
        check_same_dtype(x=self.x, updates=self.updates)
        for name, value in (("x", self.x), ("indices", self.indices), ("updates", self.updates)):
            check_row_major(name, value)


@ge_op
class ScatterElements(Scatter):
    """result[i][indices[i][j][k]][k] = updates[i][j][k] for axis 1, elsewhere x"""

    axis = int_prop(0)
    reduction = word_prop(*REDUCTIONS, default="none")
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        indices: Value,
        updates: Value,
        *,
        axis: int = 0,
        reduction: str = "none",
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, indices, updates], {"axis": axis, "reduction": reduction}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        self.check_operands(self.reduction.data)
        check_rank("indices", self.indices, rank(self.x))
        check_rank("updates", self.updates, rank(self.x))
        axis = normal_axis(self.axis.value.data, rank(self.x))
        shape, places, given = dims(self.x), dims(self.indices), dims(self.updates)
        if not all(agree(a, b) for a, b in zip(places, given, strict=True)):
            raise VerifyException(f"indices {spell(places)} and updates {spell(given)} differ in shape")
        for i, (size, picked) in enumerate(zip(shape, places, strict=True)):
            if i != axis and DYNAMIC not in (size, picked) and picked > size:
                raise VerifyException(f"indices {spell(places)} exceed x {spell(shape)} in dimension {i}")
        return [row_major(shape, elem(self.x))]


@ge_op
class ScatterND(Scatter):
    """result[indices[..., :]] = updates[...], elsewhere x; the last dimension of `indices` holds index vectors"""

    reduction = word_prop(*REDUCTIONS, default="none")
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        indices: Value,
        updates: Value,
        *,
        reduction: str = "none",
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, indices, updates], {"reduction": reduction}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        self.check_operands(self.reduction.data)
        shape, places, given = dims(self.x), dims(self.indices), dims(self.updates)
        depth = places[-1] if places else 0
        if depth == DYNAMIC:
            raise VerifyException(f"indices {spell(places)} have an unknown last dimension, which decides the rank")
        if not 1 <= depth <= len(shape):
            raise VerifyException(f"indices pick {depth} dimensions, expected 1 to {len(shape)}")
        expected = (*places[:-1], *shape[depth:])
        if len(expected) != len(given) or not all(agree(a, b) for a, b in zip(expected, given, strict=True)):
            raise VerifyException(f"updates have shape {spell(given)}, expected {spell(expected)}")
        return [row_major(shape, elem(self.x))]
