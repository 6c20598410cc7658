"""Operators that pick elements by index, and spatial rearrangements."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.errors import KernelError
from gecc.interp.base import Array, Env, meaning, node, wide


def checked(op: Operation, indices: Array, size: int) -> Array:
    """Indices counted from the front; raises KernelError when one is outside [-size, size)."""
    if indices.size and (indices.min() < -size or indices.max() >= size):
        bad = indices.min() if indices.min() < -size else indices.max()
        raise KernelError(f"index {bad} is out of range [{-size}, {size})", where=node(op))
    return np.where(indices < 0, indices + size, indices)


@meaning(ge.Gather)
def gather(env: Env, op: ge.Gather, x: Array, indices: Array) -> Array:
    """Slices of x along an axis."""
    axis = op.axis.value.data % x.ndim
    return np.take(x, checked(op, indices, x.shape[axis]), axis)


@meaning(ge.GatherElements)
def gather_elements(env: Env, op: ge.GatherElements, x: Array, indices: Array) -> Array:
    """Single elements along an axis."""
    axis = op.axis.value.data % x.ndim
    index = list(np.indices(indices.shape, sparse=True))
    index[axis] = checked(op, indices, x.shape[axis])
    return x[tuple(index)]


@meaning(ge.GatherND)
def gather_nd(env: Env, op: ge.GatherND, x: Array, indices: Array) -> Array:
    """Slices of x at index vectors."""
    batch, depth = op.batch_dims.value.data, indices.shape[-1]
    places = [checked(op, indices[..., d], x.shape[batch + d]) for d in range(depth)]
    lead = np.indices(indices.shape[:-1], sparse=True)[:batch]
    return x[(*lead, *places)]


@meaning(ge.DepthToSpace)
def depth_to_space(env: Env, op: ge.DepthToSpace, x: Array) -> Array:
    """Channels to blocks of pixels."""
    n, c, h, w = x.shape
    b = op.block_size.value.data
    if op.mode.data == "DCR":
        x = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(n, c // (b * b), h * b, w * b)


@meaning(ge.SpaceToDepth)
def space_to_depth(env: Env, op: ge.SpaceToDepth, x: Array) -> Array:
    """Blocks of pixels to channels."""
    n, c, h, w = x.shape
    b = op.block_size.value.data
    x = x.reshape(n, c, h // b, b, w // b, b)
    x = x.transpose(0, 3, 5, 1, 2, 4) if op.mode.data == "DCR" else x.transpose(0, 1, 3, 5, 2, 4)
    return x.reshape(n, c * b * b, h // b, w // b)


@meaning(ge.Resize)
def resize(env: Env, op: ge.Resize, x: Array) -> Array:
    """x sampled on another grid, one dimension after the other."""
    shape = tuple(
        ge.scaled_extent(s, f) if d == ge.DYNAMIC else d
        for d, s, f in zip(ge.dims(op.result), x.shape, op.scales.get_values(), strict=True)
    )
    scales = [float(s) for s in op.scales.get_values()]
    return resized(x, shape, scales, op.mode.data, op.coordinate_mode.data, op.nearest_mode.data)


def resized(
    x: Array, shape: tuple[int, ...], scales: list[float], mode: str, coordinate_mode: str, nearest_mode: str
) -> Array:
    """ONNX Resize; `mode` is nearest or linear. Linear interpolation is separable, so each axis is done alone."""
    dtype = x.dtype
    x = x.astype(np.float32) if mode == "linear" and dtype.kind in "iu" else wide(x)
    for axis, (size, scale) in enumerate(zip(shape, scales, strict=True)):
        old = x.shape[axis]
        if size == old and scale == 1:
            continue
        at = coordinates(size, old, scale, coordinate_mode)
        if mode == "nearest":
            x = np.take(x, np.clip(nearest(at, nearest_mode), 0, max(old - 1, 0)), axis)
            continue
        low = np.floor(at)
        right = (at - low).reshape([-1 if d == axis else 1 for d in range(x.ndim)]).astype(x.dtype)
        before, after = (np.clip(low + step, 0, old - 1).astype(np.int64) for step in (0, 1))
        x = np.take(x, before, axis) * (1 - right) + np.take(x, after, axis) * right
    return x.astype(dtype)


def coordinates(size: int, old: int, scale: float, mode: str) -> Array:
    """For each index of the result, its (real) place in the input."""
    i = np.arange(size, dtype=np.float64)
    match mode:
        case "asymmetric":
            return i / scale
        case "align_corners":
            return np.zeros(size) if size == 1 else i * (old - 1) / (size - 1)
        case "pytorch_half_pixel":
            return (i + 0.5) / scale - 0.5 if size > 1 else np.zeros(size)
        case "half_pixel_symmetric":
            offset = old / 2 * (1 - size / (scale * old))
            return offset + (i + 0.5) / scale - 0.5
        case _:
            return (i + 0.5) / scale - 0.5


def nearest(at: Array, mode: str) -> Array:
    """The index chosen for a real place."""
    match mode:
        case "round_prefer_ceil":
            chosen = np.floor(at + 0.5)
        case "floor":
            chosen = np.floor(at)
        case "ceil":
            chosen = np.ceil(at)
        case _:
            chosen = np.ceil(at - 0.5)
    return chosen.astype(np.int64)
