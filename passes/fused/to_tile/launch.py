"""What lowering one fused operation gives: a kernel and the launch that runs it; and how work is split in blocks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

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


def inplace_inputs(op: fused.GenericOp) -> list[int]:
    """Inputs that are read only at the element being written: their memory may become the result's."""
    result = op.result_type
    rank = len(op.domain)
    use = region_use(op.body, rank)
    indices: list[SSAValue] = list(op.body.block.args[:rank])
    want = {arg: s for arg, s, n in zip(indices, strides_of(result), op.domain, strict=True) if s and n > 1}
    tensors: list[SSAValue] = list(op.body.block.args[rank:])
    bad: set[int] = set()
    seen: set[int] = set()
    for load in op.body.block.ops:
        if not isinstance(load, fused.LoadOp):
            continue
        number = tensors.index(load.source)
        seen.add(number)
        address = use.addresses.get(load)
        extents = dict(zip(indices, op.domain, strict=True))
        if address is None or address.constant or {a: c for a, c in address.terms.items() if extents[a] > 1} != want:
            bad.add(number)
    out: list[int] = []
    for number in sorted(seen - bad):
        type_ = op.inputs[number].type
        # elements of one size, or writing one would overwrite others
        if isinstance(type_, TensorType) and (_bytes(type_), element_bytes(type_)) == (
            _bytes(result),
            element_bytes(result),
        ):
            out.append(number)
    return out


def _bytes(type_: TensorType) -> int:
    total = 1
    for extent in type_.get_shape():
        total *= extent
    return total * element_bytes(type_)


def element_bytes(type_: TensorType) -> int:
    """Bytes of one element in memory (bool is one byte)."""
    from gecc.weights.dtypes import item_bytes

    return item_bytes(type_.get_element_type())
