"""Operators that work along one axis in order."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.errors import KernelError
from gecc.interp.base import Array, Env, meaning, node, wide


def _cumulative(op: ge.Cumulative, x: Array, function: np.ufunc, neutral: int) -> Array:
    axis = op.axis.value.data % x.ndim
    x = wide(x)
    if op.reverse.value.data:
        x = np.flip(x, axis)
    if op.exclusive.value.data and x.shape[axis]:
        start = np.full_like(np.take(x, [0], axis), neutral)
        x = np.concatenate([start, np.delete(x, -1, axis)], axis)
    result = function.accumulate(x, axis, dtype=x.dtype)
    return np.flip(result, axis) if op.reverse.value.data else result


@meaning(ge.CumSum)
def cum_sum(env: Env, op: ge.CumSum, x: Array) -> Array:
    """Running sums."""
    return _cumulative(op, x, np.add, 0)


@meaning(ge.CumProd)
def cum_prod(env: Env, op: ge.CumProd, x: Array) -> Array:
    """Running products."""
    return _cumulative(op, x, np.multiply, 1)


@meaning(ge.TopK)
def top_k(env: Env, op: ge.TopK, x: Array) -> tuple[Array, Array]:
    """The first k of a stable sort; NaN is the largest."""
    axis, k = op.axis.value.data % x.ndim, op.k.value.data
    if op.largest.value.data:
        # a stable sort of the reversed array, read backwards, keeps the order of equal values
        order = np.argsort(np.flip(x, axis), axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(order, axis)
    else:
        order = np.argsort(x, axis, kind="stable")
    indices = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, indices, axis), indices.astype(np.int64)


@meaning(ge.ReverseSequence)
def reverse_sequence(env: Env, op: ge.ReverseSequence, x: Array, lengths: Array) -> Array:
    """The head of each sequence reversed."""
    batch, time = op.batch_axis.value.data % x.ndim, op.time_axis.value.data % x.ndim
    size = x.shape[time]
    if lengths.size and (lengths.min() < 0 or lengths.max() > size):
        raise KernelError(f"lengths are {lengths.tolist()}, expected 0 to {size}", where=node(op))
    t = np.arange(size)
    index = np.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)  # [batch, time]
    if batch > time:
        index = index.T
    shape = [x.shape[d] if d in (batch, time) else 1 for d in range(x.ndim)]
    return np.take_along_axis(x, index.reshape(shape), time)
