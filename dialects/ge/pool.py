"""Pooling over the two spatial dimensions of [N, C, H, W]."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, ints_prop
from gecc.dialects.ge.types import FLOAT, AnyTensor, DTypes, check_dtype, check_rank, dims, i8, like, rank, tensor, ui8
from gecc.dialects.ge.windows import check_window, conv_extent


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
class AvgPool(GeOp):
    """The mean under each window: over the elements inside the input, or the padded input when count_include_pad.

    With ceil_mode the part of a window beyond the padded input is never counted.
    """

    x = operand_def(TensorType)
    kernel = ints_prop()
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    ceil_mode = bool_prop()
    count_include_pad = bool_prop()
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
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "kernel": kernel,
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad,
        }
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_pool(self, FLOAT)


def _infer_pool(op: MaxPool | AvgPool, allowed: DTypes) -> Sequence[AnyTensor]:
    check_dtype("x", op.x, allowed)
    check_rank("x", op.x, 4)
    kernel = op.kernel.get_values()
    if len(kernel) != 2 or min(kernel) < 1:
        raise VerifyException(f"kernel is {list(kernel)}, expected 2 values of at least 1")
    strides, pads, dilations = check_window(op.strides, op.pads, op.dilations)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if max(pads[0], pads[2]) >= reach[0] or max(pads[1], pads[3]) >= reach[1]:
        raise VerifyException(f"pads {list(pads)} are not smaller than the window {reach}")
    ceil_mode = bool(op.ceil_mode.value.data)
    n, c, h, w = dims(op.x)
    oh = conv_extent("height", h, kernel[0], strides[0], pads[0], pads[2], dilations[0], ceil_mode=ceil_mode)
    ow = conv_extent("width", w, kernel[1], strides[1], pads[1], pads[3], dilations[1], ceil_mode=ceil_mode)
    return [like(tensor(op.x), (n, c, oh, ow))]


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
    if rank(op.x) < 3:
        raise VerifyException(f"x has rank {rank(op.x)}, expected rank 3 or more")
    return [like(tensor(op.x), (*dims(op.x)[:2], *[1] * (rank(op.x) - 2)))]
