"""Kernels that copy memory: whole tensors, and rows to a place that a number in memory says."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from gecc.dialects.tile import KernelOp, LanesOp, LaunchOp, LoadOp, StoreOp
from gecc.weights.dtypes import item_bytes

_BLOCK_BYTES = 1 << 16
"""What one block copies: large against the cost of a block, small against a cache."""


def copy_launch(module: ModuleOp, source: SSAValue, target: SSAValue, elements: int, label: str = "Copy") -> LaunchOp:
    """A launch that copies `elements` elements from `source` to `target`; adds its kernel to the module if missing."""
    assert isinstance(source.type, MemRefType)
    element = source.type.element_type
    chunk = _BLOCK_BYTES // item_bytes(element)
    return LaunchOp(
        _copy_kernel(module, element),
        label,
        [source],
        outputs=[target],
        params=[elements, chunk],
        blocks=-(-elements // chunk),
    )


def row_launch(module: ModuleOp, number: SSAValue, row: SSAValue, whole: SSAValue, elements: int) -> LaunchOp:
    """A launch that copies `row`, of `elements` elements, to row `number[0]` of `whole`; adds its kernel if missing.

    `number` is an i64 in memory. It must lie within the rows of `whole`, which is not checked.
    """
    assert isinstance(row.type, MemRefType)
    element = row.type.element_type
    chunk = _BLOCK_BYTES // item_bytes(element)
    return LaunchOp(
        _kernel(module, f"row_{element}", lambda name: _build_row(name, element)),
        "Row",
        [number, row],
        outputs=[whole],
        params=[elements, chunk],
        blocks=-(-elements // chunk),
    )


def _copy_kernel(module: ModuleOp, element: Attribute) -> str:
    """The symbol of the copy kernel for an element type."""
    return _kernel(module, f"copy_{element}", lambda name: _build(name, element))


def _kernel(module: ModuleOp, base: str, build: Callable[[str], KernelOp]) -> str:
    """The symbol of the kernel that `build` makes, which is added to the module if it is not there yet."""
    wanted = build(base)
    taken = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    name, number = base, 0
    while name in taken:
        if taken[name].body.is_structurally_equivalent(wanted.body):
            return name
        number += 1
        name = f"{base}_{number}"
    kernel = build(name)
    first = module.body.block.first_op
    if first is None:
        module.body.block.add_op(kernel)
    else:
        module.body.block.insert_op_before(kernel, first)
    return name


def _build_row(name: str, element: Attribute) -> KernelOp:
    index = IndexType()
    memory = MemRefType(element, [DYNAMIC_INDEX])
    block = Block(arg_types=[MemRefType(i64, [DYNAMIC_INDEX]), memory, memory, index, index, index])
    where, source, target, elements, chunk, number = block.args
    for arg, hint in zip(block.args, ("number", "x", "y", "n", "chunk", "blk"), strict=True):
        arg.name_hint = hint
    zero = arith.ConstantOp.from_int_and_width(0, index)
    loaded = LoadOp(where, zero.result)
    place = arith.IndexCastOp(loaded.value, index)
    offset = arith.MuliOp(place.result, elements)
    lower = arith.MuliOp(number, chunk)
    end = arith.AddiOp(lower.result, chunk)
    upper = arith.MinSIOp(end.result, elements)
    inner = Block(arg_types=[index])
    load = LoadOp(source, inner.args[0])
    target_place = arith.AddiOp(offset.result, inner.args[0])
    inner.add_ops([load, target_place, StoreOp(load.value, target, target_place.result)])
    block.add_ops([zero, loaded, place, offset, lower, end, upper, LanesOp(lower.result, upper.result, Region(inner))])
    return KernelOp(name, Region(block))


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
