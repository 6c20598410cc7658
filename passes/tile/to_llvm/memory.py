"""Emitters for loads, stores, scratch and checked indices: consecutive lanes become vector accesses."""

from __future__ import annotations

from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import llvm, tile
from gecc.errors import CodegenError
from gecc.passes.tile.to_llvm.builder import vector
from gecc.passes.tile.to_llvm.lowering import (
    KernelLowering,
    LaneIndex,
    Linear,
    Memory,
    Strided,
    Uniform,
    Value,
    Varying,
    byte_width,
    lowers,
    memory_element,
    memory_type,
)
from gecc.runtime import abi


def _address(k: KernelLowering, memory: Memory, index: SSAValue) -> SSAValue:
    return k.b.gep(memory.pointer, k.b.imul(index, k.b.int(byte_width(memory.element))))


def _pointers(k: KernelLowering, memory: Memory, index: LaneIndex, width: int) -> SSAValue:
    """An address for each lane: of the first plus what the others are away from it, or of a vector of indices."""
    size = byte_width(memory.element)
    match index:
        case Linear(base, step):
            return k.b.add(llvm.LaneAddressesOp(_address(k, memory, base), k.b.iota(width, i64, step * size)))
        case Strided(base, steps):
            pointer, offsets = _address(k, memory, base), steps
        case Varying(indices):
            pointer, offsets = memory.pointer, indices
    if size > 1:
        offsets = k.b.add(xllvm.MulOp(offsets, k.b.splat_constant(size, vector(i64, width))))
    return k.b.add(llvm.LaneAddressesOp(pointer, offsets))


def _all_lanes(k: KernelLowering) -> SSAValue:
    assert k.lanes is not None
    if k.lanes.mask is not None:
        return k.lanes.mask
    return k.b.splat_constant(1, vector(i1, k.lanes.width))


def _check(k: KernelLowering, memory: Memory, offset: Uniform | LaneIndex) -> None:
    """In a checked kernel: leave it unless the access stays in its memory."""
    if k.checks is None:
        return
    assert memory.bounds is not None
    if isinstance(offset, Uniform):
        k.checks.one(memory.bounds, offset.ssa)
        return
    assert k.lanes is not None
    if isinstance(offset, Linear) and offset.step == 1 and k.lanes.mask is None:
        k.checks.run(memory.bounds, offset.base)
    else:
        k.checks.each(memory.bounds, k.as_vector(offset), k.lanes.mask)


def load(k: KernelLowering, memory: Memory, offset: Uniform | LaneIndex) -> Uniform | Varying:
    """One element, or one for each lane."""
    element, b = memory_type(memory.element), k.b
    align = k.align(byte_width(memory.element))
    _check(k, memory, offset)
    if isinstance(offset, Uniform):
        value = b.load(_address(k, memory, offset.ssa), element, align)
        return Uniform(b.bytes_to_mask(value) if memory.element == i1 else value)
    assert k.lanes is not None
    type_ = vector(element, k.lanes.width)
    if isinstance(offset, Linear) and offset.step == 1:
        pointer = _address(k, memory, offset.base)
        if k.lanes.mask is None:
            value = b.load(pointer, type_, align)
        else:
            name = f"llvm.masked.load.v{k.lanes.width}{element}.p0"
            args = [pointer, k.lanes.mask, b.splat_constant(0, type_)]
            value = b.intrinsic(name, args, type_, align)
            assert value is not None
    else:
        pointers = _pointers(k, memory, offset, k.lanes.width)
        name = f"llvm.masked.gather.v{k.lanes.width}{element}.v{k.lanes.width}p0"
        value = b.intrinsic(name, [pointers, _all_lanes(k), b.splat_constant(0, type_)], type_, align)
        assert value is not None
    return Varying(b.bytes_to_mask(value) if memory.element == i1 else value)


@lowers(tile.LoadOp)
def _load(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.LoadOp)
    offset = k.values[op.offset]
    assert isinstance(offset, Uniform | LaneIndex)
    k.set(op.value, load(k, k.memory(op.memory), offset))


def store(k: KernelLowering, value: SSAValue, memory: Memory, offset: LaneIndex) -> None:
    """One element from each lane; `value` is a vector."""
    assert k.lanes is not None
    b, width = k.b, k.lanes.width
    if memory.element == i1:
        value = b.mask_to_bytes(value)
    element, align = memory_type(memory.element), k.align(byte_width(memory.element))
    _check(k, memory, offset)
    if isinstance(offset, Linear) and offset.step == 1:
        pointer = _address(k, memory, offset.base)
        if k.lanes.mask is None:
            b.store(value, pointer, align)
        else:
            b.intrinsic(f"llvm.masked.store.v{width}{element}.p0", [value, pointer, k.lanes.mask], None, align)
        return
    pointers = _pointers(k, memory, offset, width)
    name = f"llvm.masked.scatter.v{width}{element}.v{width}p0"
    b.intrinsic(name, [value, pointers, _all_lanes(k)], None, align)


@lowers(tile.StoreOp)
def _store(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.StoreOp)
    memory, offset = k.memory(op.memory), k.values[op.offset]
    if isinstance(offset, Uniform):
        if not k.is_uniform(op.value):
            raise CodegenError(f"kernel @{k.name}: lanes store different values to one place")
        value = k.uniform(op.value)
        value = k.b.mask_to_bytes(value) if memory.element == i1 else value
        _check(k, memory, offset)
        k.b.store(value, _address(k, memory, offset.ssa), k.align(byte_width(memory.element)))
        return
    assert isinstance(offset, LaneIndex)
    store(k, k.vector(op.value), memory, offset)


@lowers(tile.ScratchOp)
def _scratch(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.ScratchOp)
    assert k.scratch is not None
    offset, element = k.uniform(op.offset), memory_element(op.memory)
    bounds = None if k.checks is None else k.checks.bounds(None, byte_width(element), offset)
    k.set(op.memory, Memory(k.b.gep(k.scratch, offset), element, bounds))


@lowers(tile.CheckIndexOp)
def _check_index(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.CheckIndexOp)
    assert k.state is not None
    b, extent = k.b, k.uniform(op.extent)
    if isinstance(value := k.values[op.index], Uniform):
        good = b.compare("ult", value.ssa, extent)
        bad = bad_any = b.add(xllvm.XOrOp(good, b.int(1, i1)))
        checked = b.add(llvm.SelectOp(good, value.ssa, b.int(0)))
        k.set(op.checked, Uniform(checked))
    else:
        assert k.lanes is not None
        width = k.lanes.width
        index = k.as_vector(value)
        good = b.compare("ult", index, b.splat(extent, width))
        ones = b.splat_constant(1, vector(i1, width))
        bad = b.add(xllvm.XOrOp(good, ones))
        if k.lanes.mask is not None:
            bad = b.add(xllvm.AndOp(bad, k.lanes.mask))
        found = b.intrinsic(f"llvm.vector.reduce.or.v{width}i1", [bad], i1)
        assert found is not None
        bad_any = found
        k.set(op.checked, Varying(b.add(llvm.SelectOp(good, index, b.splat_constant(0, vector(i64, width))))))
    fail, go_on = b.new_block(), b.new_block()
    b.branch_if(bad_any, fail, [], go_on, [])
    b.start(fail)
    for place, word in (
        (abi.STATE_VALUE, bad_value(k, value, bad)),
        (abi.STATE_LIMIT, extent),
        (abi.STATE_ERROR, b.int(int(abi.ErrorCode.INDEX))),
    ):
        b.store(word, b.gep(k.state, b.int(place)), 8)
    b.branch(go_on)
    b.start(go_on)


def bad_value(k: KernelLowering, index: Value, bad: SSAValue) -> SSAValue:
    """One of the indices that are out of range: the largest when read as unsigned, so negative ones first."""
    if isinstance(index, Uniform):
        return index.ssa
    assert k.lanes is not None
    width = k.lanes.width
    zeros = k.b.splat_constant(0, vector(i64, width))
    found = k.b.intrinsic(
        f"llvm.vector.reduce.umax.v{width}i64", [k.b.add(llvm.SelectOp(bad, k.as_vector(index), zeros))], i64
    )
    assert found is not None
    return found
