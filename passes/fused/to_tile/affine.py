"""Addresses as linear functions of loop indices: what scalar regions read, and which loops can be merged.

A `Space` is the iteration space of an operation (extents of its index arguments). Each access to memory in it is a
linear function of the indices where the region computes it linearly; dimensions whose accesses all agree are merged
into one loop, so that a pointwise operation on a contiguous tensor becomes a single long loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.dialects import fused
from gecc.dialects.ge.attrs import LayoutAttr


def strides_of(type_: TensorType) -> tuple[int, ...]:
    """Elements from one index to the next in each logical dimension, by the tensor's layout."""
    shape = type_.get_shape()
    order: Sequence[int] = range(len(shape))
    if isinstance(type_.encoding, LayoutAttr):
        order = type_.encoding.permutation
    strides = [0] * len(shape)
    step = 1
    for dim in reversed(order):
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def physical_order(type_: TensorType) -> tuple[int, ...]:
    """Logical dimensions from the outermost to the innermost in memory."""
    if isinstance(type_.encoding, LayoutAttr):
        return type_.encoding.permutation
    return tuple(range(type_.get_num_dims()))


@dataclass(frozen=True)
class Linear:
    """constant + sum of coefficient * index argument."""

    terms: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * coefficient
        return Linear({v: c for v, c in terms.items() if c}, self.constant + factor * other.constant)

    def times(self, factor: int) -> Linear:
        return Linear({v: c * factor for v, c in self.terms.items() if c * factor}, self.constant * factor)


Bounds = Mapping[SSAValue, tuple[int, int]]
"""The least and the greatest value of index arguments."""


def linear(value: SSAValue, indices: Sequence[SSAValue], bounds: Bounds | None = None) -> Linear | None:
    """`value` as a linear function of index arguments, or None.

    Given the bounds of all of them, it may be clamped where that changes nothing within the bounds.
    """
    if value in indices:
        return Linear({value: 1})
    op = value.owner
    match op:
        case arith.ConstantOp() if isinstance(op.value, IntegerAttr) and isinstance(value.type, IndexType):
            return Linear(constant=op.value.value.data)
        case arith.AddiOp() | arith.SubiOp():
            left, right = linear(op.lhs, indices, bounds), linear(op.rhs, indices, bounds)
            if left is None or right is None:
                return None
            return left.plus(right, 1 if isinstance(op, arith.AddiOp) else -1)
        case arith.MuliOp():
            left, right = linear(op.lhs, indices, bounds), linear(op.rhs, indices, bounds)
            if left is None or right is None:
                return None
            if not left.terms:
                return right.times(left.constant)
            if not right.terms:
                return left.times(right.constant)
            return None
        case arith.MaxSIOp() | arith.MinSIOp() if bounds is not None:
            left, right = linear(op.lhs, indices, bounds), linear(op.rhs, indices, bounds)
            if left is None or right is None:
                return None
            # of the larger or the smaller of two only the one that it always is
            for one, other in ((left, right), (right, left)):
                low, high = _range(one.plus(other, -1), bounds)
                if low >= 0 if isinstance(op, arith.MaxSIOp) else high <= 0:
                    return one
            return None
        case _:
            return None


def _range(value: Linear, bounds: Bounds) -> tuple[int, int]:
    """The least and the greatest of its values."""
    ends = [(c * bounds[d][0], c * bounds[d][1]) for d, c in value.terms.items()]
    return value.constant + sum(min(pair) for pair in ends), value.constant + sum(max(pair) for pair in ends)


def load_address(load: fused.LoadOp, indices: Sequence[SSAValue], bounds: Bounds | None = None) -> Linear | None:
    """The element offset of a load in its tensor's memory, when it is linear: see `linear`."""
    assert isinstance(load.source.type, TensorType)
    total = Linear()
    for stride, index in zip(strides_of(load.source.type), load.indices, strict=True):
        part = linear(index, indices, bounds)
        if part is None:
            return None
        total = total.plus(part, stride)
    return total


@dataclass(frozen=True)
class RegionUse:
    """How a region uses its index arguments: addresses of its linear loads, and the arguments needed as numbers."""

    addresses: dict[Operation, Linear]
    pinned: frozenset[SSAValue]


def region_use(region: Region, count: int) -> RegionUse:
    """Analyse the loads of a region whose first `count` arguments are indices."""
    block: Block = region.block
    indices: list[SSAValue] = list(block.args[:count])
    addresses: dict[Operation, Linear] = {}
    needed: list[SSAValue] = []
    for op in block.ops:
        if isinstance(op, fused.LoadOp):
            address = load_address(op, indices)
            if address is not None:
                addresses[op] = address
                continue
        if not isinstance(op, arith.ConstantOp) and not _only_addresses(op, addresses, block, indices):
            needed += [v for v in op.operands if isinstance(v.type, IndexType)]
    pinned: dict[SSAValue, None] = {}
    stack = needed
    seen: set[SSAValue] = set()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in indices:
            pinned[value] = None
        elif isinstance(value.owner, Operation):
            stack += [v for v in value.owner.operands if isinstance(v.type, IndexType)]
    return RegionUse(addresses, frozenset(pinned))


def _only_addresses(op: Operation, addresses: dict[Operation, Linear], block: Block, indices: list[SSAValue]) -> bool:
    """Whether an operation computes an index that (transitively) only linear loads consume."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, IndexType):
        return False
    if linear(op.results[0], indices) is None:
        return False
    for use in op.results[0].uses:
        user = use.operation
        if isinstance(user, fused.LoadOp) and load_address(user, indices) is not None:
            continue
        if not _only_addresses(user, addresses, block, indices):
            return False
    return True


@dataclass
class Loop:
    """One loop after merging: the dimensions it walks, outermost first, and its extent.

    An index argument of dimension d is (loop index // inner) % extent(d); a loop of several dimensions is only made
    when nothing needs the single indices.
    """

    dims: tuple[int, ...]
    extent: int


def merge_loops(
    order: Sequence[int], extents: Sequence[int], accesses: Sequence[Sequence[int]], pinned: Sequence[bool]
) -> list[Loop]:
    """Loops for dimensions in `order` (outermost first); neighbours merge when all accesses walk them as one.

    `accesses` holds, for each access, its coefficient in each dimension. Dimensions of extent 1 vanish.
    """
    loops: list[Loop] = []
    for dim in order:
        if extents[dim] == 1:
            continue
        if loops and not pinned[dim]:
            last = loops[-1]
            inner = last.dims[-1]
            if not pinned[inner] and all(a[inner] == a[dim] * extents[dim] for a in accesses):
                last.dims = (*last.dims, dim)
                last.extent *= extents[dim]
                continue
        loops.append(Loop((dim,), extents[dim]))
    return loops


def coefficient(loop: Loop, access: Sequence[int]) -> int:
    """Elements an access moves when the loop advances by one."""
    return access[loop.dims[-1]]


def elements(type_: TensorType) -> int:
    """Number of elements of a static tensor type."""
    return prod(type_.get_shape())
