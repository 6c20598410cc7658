"""Pooling: one step per kernel tap, all positions at once."""

from __future__ import annotations

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


@meaning(ge.AvgPool)
def avg_pool(env: Env, op: ge.AvgPool, x: Array) -> Array:
    """The sum of each window over the number of its elements that count."""
    x = wide(x)
    counts = _counts(op, x)
    out = np.zeros((*x.shape[:2], *counts), x.dtype)
    for window in _windows(op, _padded(op, x, counts, 0), counts):
        out += window
    pads = op.pads.get_values()
    counted = np.ones(x.shape[2:], x.dtype)
    if op.count_include_pad.value.data:
        counted = np.ones((x.shape[2] + pads[0] + pads[2], x.shape[3] + pads[1] + pads[3]), x.dtype)
    else:
        counted = np.pad(counted, ((pads[0], pads[2]), (pads[1], pads[3])))
    reach = _reach(op, counts)
    after = [max(0, r - s) for r, s in zip(reach, counted.shape, strict=True)]
    counted = np.pad(counted, ((0, after[0]), (0, after[1])))
    return out / sum(_windows(op, counted, counts), start=np.zeros(counts, x.dtype))


@meaning(ge.GlobalAveragePool)
def global_average_pool(env: Env, op: ge.GlobalAveragePool, x: Array) -> Array:
    """The mean of each channel."""
    return mean(wide(x), tuple(range(2, x.ndim)), keepdims=True)


@meaning(ge.GlobalMaxPool)
def global_max_pool(env: Env, op: ge.GlobalMaxPool, x: Array) -> Array:
    """The largest of each channel."""
    return x.max(tuple(range(2, x.ndim)), keepdims=True)


def _counts(op: ge.MaxPool | ge.AvgPool, x: Array) -> tuple[int, int]:
    """How many windows there are along height and width (ONNX: a last, partial one must start inside)."""
    kernel, strides, pads, dilations = (p.get_values() for p in (op.kernel, op.strides, op.pads, op.dilations))
    counts: list[int] = []
    for i in range(2):
        size, before, stride = x.shape[2 + i], pads[i], strides[i]
        room = size + before + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1
        count = room // stride + 1
        if op.ceil_mode.value.data and room % stride and count * stride < size + before:
            count += 1
        counts.append(count)
    return counts[0], counts[1]


def _reach(op: ge.MaxPool | ge.AvgPool, counts: tuple[int, int]) -> tuple[int, int]:
    """How far the last window reaches, in padded coordinates."""
    kernel, strides, dilations = (p.get_values() for p in (op.kernel, op.strides, op.dilations))
    h, w = ((counts[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(2))
    return h, w


def _padded(op: ge.MaxPool | ge.AvgPool, x: Array, counts: tuple[int, int], fill: float) -> Array:
    pads, reach = op.pads.get_values(), _reach(op, counts)
    after = [max(pads[2 + i], reach[i] - x.shape[2 + i] - pads[i]) for i in range(2)]
    return np.pad(x, ((0, 0), (0, 0), (pads[0], after[0]), (pads[1], after[1])), constant_values=fill)


def _windows(op: ge.MaxPool | ge.AvgPool, x: Array, counts: tuple[int, int]) -> Iterator[Array]:
    """For each kernel tap, what it meets at all window positions."""
    kernel, (sh, sw), (dh, dw) = (p.get_values() for p in (op.kernel, op.strides, op.dilations))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            yield x[..., i * dh : i * dh + counts[0] * sh : sh, j * dw : j * dw + counts[1] * sw : sw]
