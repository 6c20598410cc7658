"""Operators that move elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gecc.dialects import ge
from gecc.errors import InvalidModelError
from gecc.interp.base import Array, Env, meaning, node


@meaning(ge.Const)
def const(env: Env, op: ge.Const) -> Array:
    """A constant from the IR or the weight store."""
    return env.constant(op.value)


@meaning(ge.Reshape)
def reshape(env: Env, op: ge.Reshape, x: Array) -> Array:
    """The same elements in another shape; at most one dimension of the result may be unknown."""
    shape = ge.dims(op.result)
    if shape.count(ge.DYNAMIC) > 1:
        raise InvalidModelError(f"result {ge.spell(shape)} has several unknown dimensions", where=node(op))
    return x.reshape(shape)


@meaning(ge.Transpose)
def transpose(env: Env, op: ge.Transpose, x: Array) -> Array:
    """Dimensions in another order."""
    return x.transpose(op.perm.get_values())


@meaning(ge.TransData)
def trans_data(env: Env, op: ge.TransData, x: Array) -> Array:
    """The same values: layouts do not show in logical arrays."""
    return x


@meaning(ge.Concat)
def concat(env: Env, op: ge.Concat, xs: Sequence[Array]) -> Array:
    """One after the other."""
    return np.concatenate(xs, op.axis.value.data)


@meaning(ge.Slice)
def slice_(env: Env, op: ge.Slice, x: Array) -> Array:
    """A part of x."""
    return sliced(x, op.starts.get_values(), op.ends.get_values(), op.axes.get_values(), op.steps.get_values())


def sliced(x: Array, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]) -> Array:
    """x[starts : ends : steps] along axes, as ONNX Slice."""
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, ge.normal_axes(axes, x.ndim), steps, strict=True):
        first, step, count = ge.slice_bounds(x.shape[axis], start, end, step)
        stop = first + count * step
        index[axis] = slice(first, None if stop < 0 else stop, step) if count else slice(0, 0)
    return x[tuple(index)]


@meaning(ge.Pad)
def pad(env: Env, op: ge.Pad, x: Array, value: Array | None) -> Array:
    """Elements added around x."""
    return padded(x, op.pads.get_values(), op.mode.data, value)


def padded(x: Array, pads: Sequence[int], mode: str, value: Array | None) -> Array:
    """x with `pads` (all begins, then all ends); negative ones remove elements first."""
    n = x.ndim
    x = x[tuple(slice(max(0, -pads[i]), x.shape[i] - max(0, -pads[n + i])) for i in range(n))]
    widths = [(max(0, pads[i]), max(0, pads[n + i])) for i in range(n)]
    if mode == "constant":
        return np.pad(x, widths, constant_values=0 if value is None else value)
    return np.pad(x, widths, mode=mode)  # pyright: ignore[reportArgumentType, reportCallIssue]


@meaning(ge.Expand)
def expand(env: Env, op: ge.Expand, x: Array) -> Array:
    """x broadcast to the result's shape; an unknown dimension of it is that of x."""
    shape = ge.dims(op.result)
    own = (1,) * (len(shape) - x.ndim) + x.shape
    return np.broadcast_to(x, [o if d == ge.DYNAMIC else d for d, o in zip(shape, own, strict=True)])


@meaning(ge.Tile)
def tile(env: Env, op: ge.Tile, x: Array) -> Array:
    """x repeated."""
    return np.tile(x, op.repeats.get_values())


@meaning(ge.Split)
def split(env: Env, op: ge.Split, x: Array) -> tuple[Array, ...]:
    """x in parts."""
    return tuple(np.split(x, np.cumsum(op.sizes.get_values())[:-1], op.axis.value.data))
