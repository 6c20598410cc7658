"""Which layouts the operators take, and what moving a tensor costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum, auto

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.attrs import LAYOUTS
from gecc.weights import item_bytes

LAYOUT = "NHWC"
RANK = 4
_TO_NCHW = (0, 3, 1, 2)

ANCHORS = (ge.Conv2D, ge.ConvTranspose2D, ge.MaxPool, ge.AvgPool, ge.Resize)
"""Run in NHWC: the kernels read channels as vectors."""

FOLLOWERS = (
    *(ge.Pointwise, ge.Cast, ge.BatchNorm, ge.Softmax, ge.LogSoftmax, ge.Concat, ge.Slice, ge.Pad, ge.Split),
    *(ge.Tile, ge.Expand, ge.GlobalAveragePool, ge.GlobalMaxPool, ge.DepthToSpace, ge.SpaceToDepth),
    *(ge.Reduce, ge.ArgReduce, ge.Quantize, ge.Dequantize, ge.Resize),
)
"""Run in either, all operands and results of rank 4 in the same."""


def is_anchor(op: Operation) -> bool:
    """Whether `op` runs in NHWC alone; a Resize by tables, one dimension after the other, runs in either."""
    if isinstance(op, ge.Resize):
        tables = op.mode.data == "cubic" or op.antialias.value.data or op.coordinate_mode.data == ge.CROP
        return not tables
    return isinstance(op, ANCHORS)


class Need(Enum):
    """What an operation asks of an operand of rank 4."""

    ROW_MAJOR = auto()
    NHWC = auto()
    AS_RESULT = auto()  # the layout chosen for the operation
    ANY = auto()  # read where it lies, whatever the operation writes


class Gives(Enum):
    """What an operation makes of a result of rank 4."""

    ROW_MAJOR = auto()
    NHWC = auto()
    EITHER = auto()


def rank(value: SSAValue) -> int:
    """The rank of a tensor value, -1 for anything else."""
    return value.type.get_num_dims() if isinstance(value.type, TensorType) else -1


def need(op: Operation, index: int) -> Need:
    """What `op` asks of operand `index`, which has rank 4."""
    if is_anchor(op) and index == 0 and rank(op.operands[0]) == RANK:
        return Need.NHWC
    if isinstance(op, ge.Transpose):
        return Need.ROW_MAJOR if writes_nhwc(op) else Need.ANY
    if isinstance(op, FOLLOWERS):
        if any(rank(result) == RANK for result in op.results):
            return Need.AS_RESULT if gives(op) is Gives.EITHER else Need.ROW_MAJOR
        if isinstance(op, ge.Reduce | ge.ArgReduce):
            return Need.ANY
    return Need.ROW_MAJOR


def gives(op: Operation) -> Gives:
    """In which layout `op` can make its results of rank 4."""
    if is_anchor(op) and rank(op.operands[0]) == RANK:
        return Gives.NHWC
    if isinstance(op, ge.Transpose) and writes_nhwc(op):
        return Gives.EITHER
    if isinstance(op, FOLLOWERS) and any(rank(operand) == RANK for operand in op.operands):
        return Gives.EITHER
    return Gives.ROW_MAJOR


def memory_order(shape: Sequence[int], nhwc: bool) -> tuple[int, ...]:
    """The dimensions that are not 1, in the order in which memory holds them, outermost first."""
    order = LAYOUTS[LAYOUT] if nhwc else range(len(shape))
    return tuple(i for i in order if shape[i] != 1)


def same_bytes(shape: Sequence[int]) -> bool:
    """Whether both layouts put the elements of `shape` in the same order: one channel, or one pixel."""
    return memory_order(shape, False) == memory_order(shape, True)


def transpose_is_free(op: ge.Transpose, from_nhwc: bool, to_nhwc: bool) -> bool:
    """Whether `op`, between these layouts, leaves all bytes where they are."""
    perm = op.perm.get_values()
    source = memory_order(_shape(op.operands[0]), from_nhwc)
    result = memory_order(_shape(op.results[0]), to_nhwc)
    return source == tuple(perm[i] for i in result)


def writes_nhwc(op: ge.Transpose) -> bool:
    """Whether `op` moves nothing exactly when it makes NHWC of row-major: from channels-last, logically, to NCHW.

    With dimensions of 1 some are free in the other direction as well; those read NHWC, unless they are that very one.
    """
    return (
        rank(op.operands[0]) == RANK
        and transpose_is_free(op, False, True)
        and not transpose_is_free(op, False, False)
        and (tuple(op.perm.get_values()) == _TO_NCHW or not transpose_is_free(op, True, False))
        and not same_bytes(_shape(op.results[0]))
    )


def cost(value: SSAValue, free: bool) -> int:
    """The price of moving `value`: its bytes, with one more unit so that of two free ways the shorter wins."""
    if free:
        return 1
    assert isinstance(value.type, TensorType)
    extents = [extent if extent > 0 else 1 for extent in value.type.get_shape()]
    return 1 + 1024 * math.prod(extents) * item_bytes(value.type.element_type)


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()
