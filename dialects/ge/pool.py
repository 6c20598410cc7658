"""Pooling over the spatial dimensions of [N, C, ...], two by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, int_prop, ints_prop
from gecc.dialects.ge.types import (
    FLOAT,
    AnyTensor,
    DTypes,
    check_dtype,
    check_row_major,
    dims,
    i8,
    i64,
    like,
    rank,
    tensor,
    ui8,
)
from gecc.dialects.ge.windows import check_window, conv_extents


@ge_op
class MaxPool(GeOp):
    """The largest element under each window; padding never wins."""

    x = operand_def(TensorType)
    kernel = ints_prop()
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    ceil_mode = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "kernel": kernel,
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "ceil_mode": ceil_mode,
        }
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_pool(self, (*FLOAT, i8, ui8))


@ge_op
class MaxPoolWithArgmax(GeOp):
    """ge.MaxPool, and where each largest element lies: its index into x as one row of numbers.

    The first of equal elements counts. With `column_major` the spatial dimensions are numbered first to last (the
    first one fastest); batch and channel are numbered as ever.
    """

    x = operand_def(TensorType)
    kernel = ints_prop()
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    ceil_mode = bool_prop()
    column_major = bool_prop()
    result = result_def(TensorType)
    indices = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        column_major: bool = False,
        result_types: Sequence[AnyTensor] | None = None,
    ) -> None:
        properties = {
            "kernel": kernel,
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "ceil_mode": ceil_mode,
            "column_major": column_major,
        }
        self.setup([x], properties, result_types, results=2)

    def infer(self) -> Sequence[AnyTensor]:
        check_row_major("x", self.x)
        [values] = _infer_pool(self, (*FLOAT, i8, ui8))
        return [values, like(values, element=i64)]


@ge_op
class AvgPool(GeOp):
    """The mean under each window: over the elements inside the input, or the padded input when count_include_pad.

    With ceil_mode the part of a window beyond the padded input is never counted. A `divisor` other than 0 divides
    the sum instead of that count.
    """

    x = operand_def(TensorType)
    kernel = ints_prop()
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    ceil_mode = bool_prop()
    count_include_pad = bool_prop()
    divisor = int_prop(0)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        divisor: int = 0,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "kernel": kernel,
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad,
            "divisor": divisor,
        }
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        if self.divisor.value.data < 0:
            raise VerifyException(f"divisor is {self.divisor.value.data}, expected at least 0")
        return _infer_pool(self, FLOAT)


Pool: TypeAlias = "MaxPool | MaxPoolWithArgmax | AvgPool"
"""Operators with a window that moves over the input."""


def _infer_pool(op: Pool, allowed: DTypes) -> Sequence[AnyTensor]:
    check_dtype("x", op.x, allowed)
    n, c, *sizes = _image(op.x)
    spatial = len(sizes)
    kernel = op.kernel.get_values()
    if len(kernel) != spatial or min(kernel) < 1:
        raise VerifyException(f"kernel is {list(kernel)}, expected {spatial} values of at least 1")
    strides, pads, dilations = check_window(op.strides, op.pads, op.dilations, spatial)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if any(max(pads[i], pads[spatial + i]) >= reach[i] for i in range(spatial)):
        raise VerifyException(f"pads {list(pads)} are not smaller than the window {reach}")
    out = conv_extents(sizes, kernel, strides, pads, dilations, ceil_mode=bool(op.ceil_mode.value.data))
    return [like(tensor(op.x), (n, c, *out))]


def _image(x: SSAValue) -> tuple[int, ...]:
    """The extents of x [N, C, spatial...]."""
    if rank(x) < 3:
        raise VerifyException(f"x has rank {rank(x)}, expected rank 3 or more")
    return dims(x)


@ge_op
class GlobalAveragePool(GeOp):
    """The mean of each channel: [N, C, ...] -> [N, C, 1, ...]."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_global(self)


@ge_op
class GlobalMaxPool(GeOp):
    """The largest element of each channel: [N, C, ...] -> [N, C, 1, ...]."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_global(self)


def _infer_global(op: GlobalAveragePool | GlobalMaxPool) -> Sequence[AnyTensor]:
    check_dtype("x", op.x, FLOAT)
    n, c, *sizes = _image(op.x)
    return [like(tensor(op.x), (n, c, *[1] * len(sizes)))]
