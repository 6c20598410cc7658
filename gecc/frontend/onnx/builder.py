"""Builds ge operations in order, with locations, and the shape arithmetic that several operators need.

Where a shape is known the helpers build the static operator (`ge.Reshape`); where it is not, the form that takes
the shape as an operand (`ge.DynReshape`), which `ge-infer-shapes` resolves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf, prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, LocationAttr, TensorType, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge._evaluate import evaluate
from gecc.weights import WeightAttr, WeightStore, numpy_dtype


class Builder:
    """Appends operations to a block."""

    def __init__(self, block: Block, store: WeightStore) -> None:
        self.block = block
        self.store = store
        self.location: LocationAttr = UnknownLoc()
        self.narrow: dict[SSAValue, int] = {}
        """Values that hold the bits of a narrow type, and ONNX's number of that type (see `narrow.py`)."""
        self._computed: dict[SSAValue, np.ndarray | None] = {}

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Append to `block` meanwhile."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    # -- operations -----------------------------------------------------------------------------------------------

    def add(self, op: Operation) -> SSAValue:
        """Append an operation of one result and return it."""
        return self.add_all(op)[0]

    def add_all(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation and return its results."""
        op.location = self.location
        self.block.add_op(op)
        return op.results

    def const(self, array: np.ndarray) -> SSAValue:
        """A constant."""
        return self.add(ge.const(np.ascontiguousarray(array).reshape(array.shape), self.store))

    def mark(self, value: SSAValue, data_type: int) -> SSAValue:
        """Note that a value holds the bits of the narrow type `data_type`, and return it."""
        self.narrow[value] = data_type
        return value

    def mark_like(self, value: SSAValue, source: SSAValue) -> SSAValue:
        """Note that a value is of the narrow type of another one, if that is of one, and return it."""
        return self.mark(value, self.narrow[source]) if source in self.narrow else value

    def ints(self, values: Sequence[int]) -> SSAValue:
        """A constant of i64, one dimension."""
        return self.const(np.array(values, np.int64).reshape(-1))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """A constant of rank 0 with the element type of `like`."""
        return self.const(np.array(value, numpy_dtype(element(like))))

    def constant(self, value: SSAValue) -> np.ndarray | None:
        """The value of a constant, or of a few operations on small constants; None for anything else."""
        owner = value.owner
        if isinstance(owner, ge.Const):
            attr = owner.value
            if not isinstance(attr, DenseIntOrFPElementsAttr | WeightAttr):
                raise TypeError(f"ge.Const holds {attr}")
            return self.store.array(attr)
        if value not in self._computed:
            self._computed[value] = self._compute(value)
        return self._computed[value]

    def _compute(self, value: SSAValue) -> np.ndarray | None:
        owner = value.owner
        if not isinstance(owner, ge.GeOp) or len(owner.results) != 1:
            return None
        inputs = [self.constant(operand) for operand in owner.operands]
        known = [array for array in inputs if array is not None and array.size <= SMALL]
        if not known or len(known) < len(inputs) or _elements(owner, known) > SMALL:
            return None
        return evaluate(owner, known, self.store)[0]

    def cast(self, x: SSAValue, to: Attribute) -> SSAValue:
        """`x` converted to an element type; `x` itself when it has it already."""
        return x if element(x) == to else self.add(ge.Cast(x, to))

    # -- shapes ---------------------------------------------------------------------------------------------------

    def reshape(self, x: SSAValue, dims: Sequence[int]) -> SSAValue:
        """`x` with dimensions `dims`, of which one may be -1 (the rest). `x` itself when nothing changes."""
        dims = list(dims)
        source = shape(x)
        if -1 in dims and -1 not in source:
            rest = int(np.prod([d for d in dims if d != -1], dtype=np.int64))
            total = int(np.prod(source, dtype=np.int64))
            if rest:
                dims[dims.index(-1)] = total // rest
        if -1 not in dims:
            return x if tuple(dims) == source else self.add(ge.Reshape(x, dims))
        return self.add(ge.DynReshape(x, self.ints(dims)))

    def reshape_like(self, x: SSAValue, like: SSAValue) -> SSAValue:
        """`x` with the shape of `like`."""
        if -1 not in shape(like):
            return self.reshape(x, shape(like))
        return self.add(ge.DynReshape(x, self.add(ge.Shape(like))))

    def unsqueeze(self, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """`x` with dimensions of one at `axes` (of the result, not negative)."""
        dims = list(shape(x))
        for axis in sorted(axes):
            dims.insert(axis, 1)
        if _spelled(dims):
            return self.reshape(x, dims)
        return self.add(ge.DynUnsqueeze(x, self.ints(sorted(axes))))

    def squeeze(self, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """`x` without its dimensions `axes` (not negative), which are one."""
        dims = [d for i, d in enumerate(shape(x)) if i not in axes]
        if _spelled(dims) and all(shape(x)[i] == 1 for i in axes):
            return self.reshape(x, dims)
        return self.add(ge.DynSqueeze(x, self.ints(sorted(axes))))

    def flatten(self, x: SSAValue, start: int, end: int) -> SSAValue:
        """`x` with its dimensions `start` up to (not including) `end` made one; `start == end` inserts a one."""
        dims = shape(x)
        if start == end:
            return self.unsqueeze(x, [start])
        merged = dims[start:end]
        known = -1 if -1 in merged else int(np.prod(merged, dtype=np.int64))
        result = [*dims[:start], known, *dims[end:]]
        if _spelled(result):
            return self.reshape(x, result)
        parts = [self.extents(x, 0, start)] if start else []
        parts.append(self.ints([-1]) if known == -1 else self.ints([known]))
        parts += [self.extents(x, end, len(dims))] if end < len(dims) else []
        return self.add(ge.DynReshape(x, self.concat(parts)))

    def extents(self, x: SSAValue, start: int, end: int) -> SSAValue:
        """The dimensions `start` up to `end` of `x`, as an i64 tensor of one dimension."""
        dims = shape(x)[start:end]
        if -1 not in dims:
            return self.ints(dims)
        return self.add(ge.Shape(x, start=start or None, end=end if end < len(shape(x)) else None))

    def concat(self, parts: Sequence[SSAValue]) -> SSAValue:
        """Tensors of one dimension, one after the other."""
        return parts[0] if len(parts) == 1 else self.add(ge.Concat(list(parts), axis=0))

    def transpose(self, x: SSAValue, perm: Sequence[int]) -> SSAValue:
        """`x` with dimension `perm[i]` at i; `x` itself when nothing moves."""
        if list(perm) == list(range(len(perm))):
            return x
        return self.add(ge.Transpose(x, list(perm)))


SMALL = 256
"""Elements up to which the importer computes with constants itself: axes, shapes, pads."""


def _elements(op: ge.GeOp, inputs: Sequence[np.ndarray]) -> float:
    """At most how many elements the result of `op` on constants has."""
    if -1 not in shape(op.results[0]):
        return prod(shape(op.results[0]))
    sizes = prod(array.size for array in inputs)
    match op:
        case ge.ConstantOfShape():
            return prod(int(d) for d in inputs[0])
        case ge.DynExpand() | ge.DynTile():
            return sizes * prod(abs(int(d)) for d in inputs[1])
        case ge.Range():
            start, limit, delta = (float(v) for v in inputs)
            return abs(limit - start) / abs(delta) if delta else inf
        case ge.DynPad():
            return prod(d + int(np.abs(inputs[1]).sum()) for d in inputs[0].shape)
        case ge.DynResize():
            return inf
        case _:
            return sizes


def _spelled(dims: Sequence[int]) -> bool:
    """Whether a constant shape operand can say `dims`: one unknown at most, and then no zero (which means a copy)."""
    return dims.count(-1) + (0 in dims) <= 1


def shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor value; an unknown dimension is -1."""
    return ge.shape_of(tensor(value))


def rank(value: SSAValue) -> int:
    """The number of dimensions of a tensor value."""
    return len(shape(value))


def element(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    return tensor(value).get_element_type()


def tensor(value: SSAValue) -> TensorType[Any]:
    """The type of a value, which the importer makes a ranked tensor always."""
    if not isinstance(value.type, TensorType):
        raise TypeError(f"expected a ranked tensor, found {value.type}")
    return value.type
