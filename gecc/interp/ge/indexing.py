"""Operators that pick elements by index, and spatial rearrangements."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.errors import KernelError
from gecc.interp.base import Array, Env, meaning, node


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
