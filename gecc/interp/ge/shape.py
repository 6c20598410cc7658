"""Shape arithmetic, and operators that take shapes, bounds or repeats as operands."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.errors import InvalidModelError
from gecc.interp.base import Array, Env, meaning, node
from gecc.interp.ge.movement import padded, sliced
from gecc.interp.ge.resize import resized


def ints(x: Array) -> list[int]:
    """A vector of integers as python numbers."""
    return [int(v) for v in x]


@meaning(ge.Shape)
def shape(env: Env, op: ge.Shape, x: Array) -> Array:
    """Dimensions of x."""
    start = None if op.start is None else op.start.value.data
    end = None if op.end is None else op.end.value.data
    return np.array(x.shape[start:end], np.int64)


@meaning(ge.Size)
def size(env: Env, op: ge.Size, x: Array) -> Array:
    """Number of elements of x."""
    return np.array(x.size, np.int64)


@meaning(ge.Range)
def range_(env: Env, op: ge.Range, start: Array, limit: Array, delta: Array) -> Array:
    """An arithmetic progression."""
    if delta == 0:
        raise InvalidModelError("delta is 0, expected a positive or negative step", where=node(op))
    if start.dtype.kind in "iu":
        return np.arange(int(start), int(limit), int(delta)).astype(start.dtype)
    count = max(0, int(np.ceil((np.float64(limit) - np.float64(start)) / np.float64(delta))))
    return start + np.arange(count, dtype=start.dtype) * delta


@meaning(ge.ConstantOfShape)
def constant_of_shape(env: Env, op: ge.ConstantOfShape, shape: Array) -> Array:
    """A tensor filled with one value."""
    value = np.zeros(1, np.float32) if op.value is None else env.constant(op.value)
    return np.full(ints(shape), value.reshape(()))


@meaning(ge.DynReshape)
def dyn_reshape(env: Env, op: ge.DynReshape, x: Array, shape: Array) -> Array:
    """x in a computed shape."""
    return x.reshape(ge.reshaped(x.shape, ints(shape), bool(op.allowzero.value.data)))


@meaning(ge.DynExpand)
def dyn_expand(env: Env, op: ge.DynExpand, x: Array, shape: Array) -> Array:
    """x broadcast with a computed shape."""
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(ints(shape))))


@meaning(ge.DynSlice)
def dyn_slice(
    env: Env, op: ge.DynSlice, x: Array, starts: Array, ends: Array, axes: Array | None, steps: Array | None
) -> Array:
    """A part of x with computed bounds."""
    count = len(starts)
    chosen = list(range(count)) if axes is None else ints(axes)
    return sliced(x, ints(starts), ints(ends), chosen, [1] * count if steps is None else ints(steps))


@meaning(ge.DynPad)
def dyn_pad(env: Env, op: ge.DynPad, x: Array, pads: Array, value: Array | None, axes: Array | None) -> Array:
    """x padded by computed amounts."""
    chosen = range(x.ndim) if axes is None else ints(axes)
    return padded(x, ge.spread_pads(ints(pads), chosen, x.ndim), op.mode.data, value)


@meaning(ge.DynTile)
def dyn_tile(env: Env, op: ge.DynTile, x: Array, repeats: Array) -> Array:
    """x repeated."""
    return np.tile(x, ints(repeats))


@meaning(ge.DynResize)
def dyn_resize(env: Env, op: ge.DynResize, x: Array, scales: Array | None, sizes: Array | None) -> Array:
    """x on a computed grid."""
    if sizes is not None:
        target = tuple(ints(sizes))
        factors = [o / i if i else 1.0 for o, i in zip(target, x.shape, strict=True)]
    elif scales is not None:
        factors = [float(s) for s in scales]
        target = tuple(ge.scaled_extent(d, s) for d, s in zip(x.shape, factors, strict=True))
    else:
        raise InvalidModelError("has neither scales nor sizes", where=node(op))
    return resized(op, x, target, factors)


@meaning(ge.DynSqueeze)
def dyn_squeeze(env: Env, op: ge.DynSqueeze, x: Array, axes: Array | None) -> Array:
    """x without dimensions of 1."""
    return np.squeeze(x) if axes is None else np.squeeze(x, tuple(ints(axes)))


@meaning(ge.DynUnsqueeze)
def dyn_unsqueeze(env: Env, op: ge.DynUnsqueeze, x: Array, axes: Array) -> Array:
    """x with dimensions of 1."""
    return np.expand_dims(x, tuple(ints(axes)))
