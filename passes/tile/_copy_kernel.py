"""The kernel that copies memory: for graph outputs that no launch writes directly."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from gecc.dialects.tile import KernelOp, LanesOp, LaunchOp, LoadOp, StoreOp
from gecc.weights.dtypes import item_bytes

_BLOCK_BYTES = 1 << 16
"""What one block copies: large against the cost of a block, small against a cache."""


def copy_launch(module: ModuleOp, source: SSAValue, target: SSAValue, elements: int) -> LaunchOp:
    """A launch that copies `elements` elements from `source` to `target`; adds its kernel to the module if missing."""
    assert isinstance(source.type, MemRefType)
    element = source.type.element_type
    chunk = _BLOCK_BYTES // item_bytes(element)
    return LaunchOp(
        _copy_kernel(module, element),
        "Copy",
        [source],
        outputs=[target],
        params=[elements, chunk],
        blocks=-(-elements // chunk),
    )


def _copy_kernel(module: ModuleOp, element: Attribute) -> str:
    """The symbol of the copy kernel for an element type."""
    wanted = _build(f"copy_{element}", element)
    taken = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    name, number = wanted.sym_name.data, 0
    while name in taken:
        if taken[name].body.is_structurally_equivalent(wanted.body):
            return name
        number += 1
        name = f"copy_{element}_{number}"
    kernel = _build(name, element)
    first = module.body.block.first_op
    if first is None:
        module.body.block.add_op(kernel)
    else:
        module.body.block.insert_op_before(kernel, first)
    return name


def _build(name: str, element: Attribute) -> KernelOp:
    memory = MemRefType(element, [DYNAMIC_INDEX])
    index = IndexType()
    block = Block(arg_types=[memory, memory, index, index, index])
    source, target, elements, chunk, number = block.args
    for arg, hint in zip(block.args, ("x", "y", "n", "chunk", "blk"), strict=True):
        arg.name_hint = hint
    lower = arith.MuliOp(number, chunk)
    end = arith.AddiOp(lower.result, chunk)
    upper = arith.MinSIOp(end.result, elements)
    inner = Block(arg_types=[index])
    load = LoadOp(source, inner.args[0])
    inner.add_ops([load, StoreOp(load.value, target, inner.args[0])])
    block.add_ops([lower, end, upper, LanesOp(lower.result, upper.result, Region(inner))])
    return KernelOp(name, Region(block))
