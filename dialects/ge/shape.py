"""Shape arithmetic: shapes as values, and tensors made from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.const import const_ints
from gecc.dialects.ge.props import opt_dense_prop, opt_int_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    INDEX,
    NUMERIC,
    AnyTensor,
    check_dtype,
    check_rank,
    check_same_dtype,
    dims,
    elem,
    f32,
    i64,
    rank,
    row_major,
)


@ge_op
class Shape(GeOp):
    """The dimensions start..end of x as an i64 vector (ONNX Shape: negative counts from the end, clamped)."""

    x = operand_def(TensorType)
    start = opt_int_prop()
    end = opt_int_prop()
    result = result_def(TensorType)

    def __init__(
        self, x: Value, *, start: int | None = None, end: int | None = None, result_type: AnyTensor | None = None
    ) -> None:
        self.setup([x], {"start": start, "end": end}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        return [row_major([len(self.extents())], i64)]

    def extents(self) -> tuple[int, ...]:
        """The dimensions that the result holds; an unknown one is -1."""
        start = None if self.start is None else self.start.value.data
        end = None if self.end is None else self.end.value.data
        return dims(self.x)[start:end]


@ge_op
class Size(GeOp):
    """The number of elements of x as an i64 scalar."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        return [row_major([], i64)]


@ge_op
class Range(GeOp):
    """start, start + delta, ... below limit (above it when delta is negative)."""

    start = operand_def(TensorType)
    limit = operand_def(TensorType)
    delta = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, start: Value, limit: Value, delta: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([start, limit, delta], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("start", self.start, NUMERIC)
        check_same_dtype(start=self.start, limit=self.limit, delta=self.delta)
        for name, value in (("start", self.start), ("limit", self.limit), ("delta", self.delta)):
            check_rank(name, value, 0)
        start, limit, delta = (const_ints(v) for v in self.operands)
        if start is None or limit is None or delta is None:
            return [row_major([DYNAMIC], elem(self.start))]
        if delta[0] == 0:
            raise VerifyException("delta is 0, expected a positive or negative step")
        return [row_major([max(0, math.ceil((limit[0] - start[0]) / delta[0]))], elem(self.start))]


@ge_op
class ConstantOfShape(GeOp):
    """A tensor of the given shape filled with `value` (a dense attribute of one element; absent is f32 zero)."""

    shape = operand_def(TensorType)
    value = opt_dense_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        shape: Value,
        value: DenseIntOrFPElementsAttr[Any] | None = None,
        *,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([shape], {"value": value}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        if self.value is not None and len(self.value) != 1:
            raise VerifyException(f"value holds {len(self.value)} elements, expected 1")
        element = f32 if self.value is None else self.value.get_element_type()
        count = vector_length("shape", self.shape)
        values = const_ints(self.shape)
        if values is not None and min(values, default=0) < 0:
            raise VerifyException(f"shape is {list(values)}, expected no negative dimension")
        if values is None and count == DYNAMIC:
            values = [DYNAMIC] * rank(self.result)
        return [row_major([DYNAMIC] * count if values is None else values, element)]


def vector_length(what: str, value: SSAValue) -> int:
    """The number of elements of an i32 or i64 vector operand; -1 when unknown."""
    check_dtype(what, value, INDEX)
    check_rank(what, value, 1)
    return dims(value)[0]
