"""Running a scalar region over a whole box of its domain at once.

An index argument is an arange shaped to broadcast along its axis of the box; every scalar value is an array that
broadcasts to the box. Loads whose indices are plain axes or constants are slices; others are fancy indexing with
every index checked against the shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from gecc.dialects.fused import CheckIndexOp, LoadOp, YieldOp
from gecc.errors import KernelError
from gecc.interp.base import node
from gecc.interp.scalar import F32, Array, evaluate


@dataclass(frozen=True)
class Box:
    """A part of an iteration domain: for each dimension the range [start, stop)."""

    ranges: tuple[tuple[int, int], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the box."""
        return tuple(stop - start for start, stop in self.ranges)

    @property
    def size(self) -> int:
        """The number of points."""
        return int(np.prod(self.shape, dtype=np.int64))

    def axis(self, dimension: int) -> Array:
        """The indices along a dimension, shaped to broadcast in the box."""
        start, stop = self.ranges[dimension]
        shape = [1] * len(self.ranges)
        shape[dimension] = stop - start
        return np.arange(start, stop, dtype=np.int64).reshape(shape)

    def halves(self) -> tuple[Box, Box]:
        """The box cut in two across its longest dimension."""
        dimension = max(range(len(self.ranges)), key=lambda d: self.shape[d])
        start, stop = self.ranges[dimension]
        middle = (start + stop) // 2
        left, right = list(self.ranges), list(self.ranges)
        left[dimension], right[dimension] = (start, middle), (middle, stop)
        return Box(tuple(left)), Box(tuple(right))


def full_box(shape: Sequence[int]) -> Box:
    """The whole domain of the given extents."""
    return Box(tuple((0, extent) for extent in shape))


def run_region(
    owner: Operation,
    block: Block,
    box: Box,
    scalars: Sequence[Array],
    tensors: Sequence[Array],
    f32: np.dtype[Any] = F32,
) -> Array:
    """The value a region yields at every point of `box`: an array that broadcasts to the box's shape.

    `box` has a dimension for each index argument; `f32` is the dtype that stands for f32. Raises KernelError when an index is out of range.
    """
    values: dict[SSAValue, Array] = {}
    count = len(box.ranges)
    for position, arg in enumerate(block.args):
        if position < count:
            values[arg] = box.axis(position)
        else:
            rest = position - count
            values[arg] = scalars[rest] if rest < len(scalars) else tensors[rest - len(scalars)]
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, YieldOp):
            return operands[0]
        if isinstance(op, LoadOp):
            values[op.result] = _load(owner, op, box, operands[0], operands[1:])
        elif isinstance(op, CheckIndexOp):
            _check(owner, "an index", operands[0], op.bound.value.data)
            values[op.result] = operands[0]
        else:
            values[op.results[0]] = evaluate(op, operands, f32)
    raise KernelError(f"a region of {owner.name} has no fused.yield")


def _check(owner: Operation, what: str, index: Array, bound: int) -> None:
    bad = (index < 0) | (index >= bound)
    if bad.any():
        first = index[bad].flat[0] if index.shape else index
        raise KernelError(f"{what} is {int(first)}, expected 0 to {bound - 1}", where=node(owner))


def _load(owner: Operation, op: LoadOp, box: Box, source: Array, indices: Sequence[Array]) -> Array:
    if box.size == 0:
        return np.empty(box.shape, source.dtype)
    for dimension, (index, extent) in enumerate(zip(indices, source.shape, strict=True)):
        _check(owner, f"index {dimension} of a load from {op.source.type}", index, extent)
    axes = [_axis(operand, len(box.ranges)) for operand in op.indices]
    used = [axis for axis in axes if axis is not None]
    if len(set(used)) != len(used) or any(
        axis is None and index.ndim for axis, index in zip(axes, indices, strict=True)
    ):
        return source[tuple(indices)]
    picked = source[
        tuple(
            int(index) if axis is None else slice(*box.ranges[axis]) for axis, index in zip(axes, indices, strict=True)
        )
    ]
    order = sorted(range(len(used)), key=lambda position: used[position])
    shape = [1] * len(box.ranges)
    for axis in used:
        shape[axis] = box.shape[axis]
    return np.asarray(picked).transpose(order).reshape(shape)


def _axis(index: SSAValue, dimensions: int) -> int | None:
    """The dimension of the box that an index is, None when it is computed."""
    return index.index if isinstance(index, BlockArgument) and index.index < dimensions else None
