"""What lowering one fused operation gives: a kernel and the launch that runs it; and how work is split in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Region, SSAValue

from gecc.dialects import fused, tile
from gecc.passes.fused.to_tile.affine import region_use, strides_of

GRAIN = 1 << 16
"""Simple operations that a block should hold at least: about ten microseconds of one core."""
MAX_BLOCKS = 32


@dataclass
class Lowered:
    """A kernel with the launch of it. `blocks` is 0 for a result without elements."""

    kernel: tile.KernelOp
    inputs: list[SSAValue]
    result: TensorType
    params: list[int]
    blocks: int
    scratch: int
    label: str
    inplace: list[int]


def blocks_for(work: int, extent: int, unit: int = 1, limit: int = MAX_BLOCKS) -> tuple[int, int]:
    """(blocks, indices in each) for splitting a loop of `extent` whose total cost is `work` operations.

    Each block but the last starts and ends at a multiple of `unit`. The numbers depend on the shape alone, never on
    how many ranks will run it.
    """
    units = -(-extent // unit)
    wanted = max(1, min(limit, work // GRAIN, units))
    per_block = max(1, -(-units // wanted))
    return -(-units // per_block), per_block * unit


def inplace_inputs(op: fused.GenericOp | fused.SoftmaxOp | fused.NormOp) -> list[int]:
    """Inputs that are read only at the element being written: their memory may become the result's.

    For an operation on rows that holds as well: an element is written after it was read for the last time.
    """
    result = op.result_type
    regions = [op.body] if isinstance(op, fused.GenericOp) else [op.prologue, op.epilogue]
    out: list[int] = []
    for number in _read_where_written(regions, result, len(op.inputs)):
        type_ = op.inputs[number].type
        # elements of one size, or writing one would overwrite others
        if isinstance(type_, TensorType) and (_bytes(type_), element_bytes(type_)) == (
            _bytes(result),
            element_bytes(result),
        ):
            out.append(number)
    return out


def inplace_extras(op: fused.MatmulOp | fused.ConvOp) -> list[int]:
    """Extras that the epilogue reads only at the element it writes, and whose memory may become the result's."""
    numbers = _read_where_written([op.epilogue], op.result_type, len(op.operands))
    return [number for number in numbers if number >= 2 and op.operands[number].type == op.result_type]


def _read_where_written(regions: Sequence[Region], result: TensorType, count: int) -> list[int]:
    """Which of the last `count` arguments of the regions, tensors, these read, and only at the element being written."""
    shape = result.get_shape()
    seen: dict[int, bool] = {}
    for region in regions:
        use = region_use(region, len(shape))
        args = region.block.args
        indices: list[SSAValue] = list(args[: len(shape)])
        extents = dict(zip(indices, shape, strict=True))
        want = {arg: s for arg, s, n in zip(indices, strides_of(result), shape, strict=True) if s and n > 1}
        tensors: list[SSAValue] = list(args[len(args) - count :])
        for load in region.block.ops:
            if not isinstance(load, fused.LoadOp):
                continue
            number = tensors.index(load.source)
            address = use.addresses.get(load)
            own = (
                address is not None
                and not address.constant
                and {a: c for a, c in address.terms.items() if extents[a] > 1} == want
            )
            seen[number] = seen.get(number, True) and own
    return sorted(number for number, own in seen.items() if own)


def _bytes(type_: TensorType) -> int:
    total = 1
    for extent in type_.get_shape():
        total *= extent
    return total * element_bytes(type_)


def element_bytes(type_: TensorType) -> int:
    """Bytes of one element in memory (bool is one byte)."""
    from gecc.weights.dtypes import item_bytes

    return item_bytes(type_.get_element_type())
