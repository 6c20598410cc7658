"""Pooling: one step per kernel tap, all positions at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, mean, meaning, wide
from gecc.interp.ge.reduce import lowest


@meaning(ge.MaxPool)
def max_pool(env: Env, op: ge.MaxPool, x: Array) -> Array:
    """The largest of each window; padding is lower than anything."""
    counts = _counts(op, x)
    out = np.full((*x.shape[:2], *counts), lowest(x.dtype), x.dtype)
    for window in _windows(op, _padded(op, x, counts, lowest(x.dtype)), counts):
        out = np.maximum(out, window)
    return out


@meaning(ge.MaxPoolWithArgmax)
def max_pool_with_argmax(env: Env, op: ge.MaxPoolWithArgmax, x: Array) -> tuple[Array, Array]:
    """The largest of each window, and where it first is; NaN is the largest."""
    counts = _counts(op, x)
    places = np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:])
    if op.column_major.value.data:
        places = np.arange(places.size).reshape(places.shape[::-1]).transpose()
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(counts))
    numbers = planes * places.size + places
    best = np.full((*x.shape[:2], *counts), lowest(x.dtype), x.dtype)
    where = np.full(best.shape, -1, np.int64)
    values = _windows(op, _padded(op, x, counts, lowest(x.dtype)), counts)
    for value, number in zip(values, _windows(op, _padded(op, numbers, counts, -1), counts), strict=True):
        odd = np.isnan(best.astype(np.float32)) if best.dtype.kind not in "iu" else np.zeros(best.shape, bool)
        better = (number >= 0) & ~odd & ((where < 0) | ~(value <= best))
        best, where = np.where(better, value, best), np.where(better, number, where)
    return best, where


@meaning(ge.AvgPool)
def avg_pool(env: Env, op: ge.AvgPool, x: Array) -> Array:
    """The sum of each window over the number of its elements that count, or over a given divisor."""
    x = wide(x)
    counts = _counts(op, x)
    out = np.zeros((*x.shape[:2], *counts), x.dtype)
    for window in _windows(op, _padded(op, x, counts, 0), counts):
        out += window
    if op.divisor.value.data:
        return out / op.divisor.value.data
    spatial = len(counts)
    pads = op.pads.get_values()
    around = [(pads[i], pads[spatial + i]) for i in range(spatial)]
    ones = np.ones(x.shape[2:], x.dtype)
    counted = np.pad(ones, around, constant_values=int(op.count_include_pad.value.data != 0))
    reach = _reach(op, counts)
    counted = np.pad(counted, [(0, max(0, r - s)) for r, s in zip(reach, counted.shape, strict=True)])
    return out / sum(_windows(op, counted, counts), start=np.zeros(counts, x.dtype))


@meaning(ge.GlobalAveragePool)
def global_average_pool(env: Env, op: ge.GlobalAveragePool, x: Array) -> Array:
    """The mean of each channel."""
    return mean(wide(x), tuple(range(2, x.ndim)), keepdims=True)


@meaning(ge.GlobalMaxPool)
def global_max_pool(env: Env, op: ge.GlobalMaxPool, x: Array) -> Array:
    """The largest of each channel."""
    return x.max(tuple(range(2, x.ndim)), keepdims=True)


def _counts(op: ge.Pool, x: Array) -> list[int]:
    """How many windows there are along each dimension (ONNX: a last, partial one must start inside)."""
    kernel, strides, pads, dilations = (p.get_values() for p in (op.kernel, op.strides, op.pads, op.dilations))
    counts: list[int] = []
    for i, size in enumerate(x.shape[2:]):
        before, stride = pads[i], strides[i]
        room = size + before + pads[len(kernel) + i] - (kernel[i] - 1) * dilations[i] - 1
        count = room // stride + 1
        if op.ceil_mode.value.data and room % stride and count * stride < size + before:
            count += 1
        counts.append(count)
    return counts


def _reach(op: ge.Pool, counts: list[int]) -> list[int]:
    """How far the last window reaches, in padded coordinates."""
    kernel, strides, dilations = (p.get_values() for p in (op.kernel, op.strides, op.dilations))
    return [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(counts, strides, kernel, dilations, strict=True)]


def _padded(op: ge.Pool, x: Array, counts: list[int], fill: float) -> Array:
    pads, reach = op.pads.get_values(), _reach(op, counts)
    spatial = len(counts)
    around = [
        (pads[i], max(pads[spatial + i], reach[i] - size - pads[i], 0)) for i, size in enumerate(x.shape[-spatial:])
    ]
    return np.pad(x, ((0, 0), (0, 0), *around), constant_values=fill)


def _windows(op: ge.Pool, x: Array, counts: list[int]) -> Iterator[Array]:
    """For each kernel tap, what it meets at all window positions."""
    kernel, strides, dilations = (p.get_values() for p in (op.kernel, op.strides, op.dilations))
    for tap in itertools.product(*map(range, kernel)):
        yield x[(..., *taken(tap, counts, strides, dilations))]


def taken(tap: tuple[int, ...], counts: list[int], strides: tuple[int, ...], dilations: tuple[int, ...]) -> list[slice]:
    """The places, in each dimension, that a kernel tap meets over `counts` window positions."""
    return [slice(t * d, t * d + n * s, s) for t, n, s, d in zip(tap, counts, strides, dilations, strict=True)]
