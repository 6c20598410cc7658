"""Sampling on another grid: ONNX Resize, one dimension after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, meaning, wide


@meaning(ge.Resize)
def resize(env: Env, op: ge.Resize, x: Array) -> Array:
    """x sampled on another grid."""
    scales = [float(s) for s in op.scales.get_values()]
    shape = [
        ge.scaled_extent(s, f) if d == ge.DYNAMIC else d
        for d, s, f in zip(ge.dims(op.result), x.shape, scales, strict=True)
    ]
    return resized(op, x, shape, scales)


def resized(op: ge.Resampling, x: Array, shape: Sequence[int], scales: Sequence[float]) -> Array:
    """x with extents `shape`. Interpolation is separable, so each axis is done alone."""
    if not x.size or 0 in shape:
        return np.zeros(shape, x.dtype)
    dtype = x.dtype
    integer = dtype.kind in "iu"
    nearest = op.mode.data == "nearest"
    if integer and not nearest:
        x = x.astype(np.float64 if dtype.itemsize > 2 else np.float32)
    x = x if nearest else wide(x)
    for axis, (size, scale) in enumerate(zip(shape, scales, strict=True)):
        taps = taps_of(op, axis, x.shape[axis], size, scale)
        if taps is None:
            continue
        if nearest:
            x = np.take(x, taps.places[:, 0], axis)
        else:
            out = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
            for i in range(taps.places.shape[1]):
                out += np.take(x, taps.places[:, i], axis) * _along(axis, x.ndim, taps.weights[:, i]).astype(x.dtype)
            x = out
        if taps.outside is not None:
            fill = np.array(op.extrapolation_value.value.data).astype(x.dtype)
            x = np.where(_along(axis, x.ndim, taps.outside), fill, x)
    if integer and not nearest:
        x = np.rint(x)
        limits = np.iinfo(dtype)
        x = np.clip(x, float(limits.min), float(limits.max))
        if dtype.itemsize == 8:  # the largest integer is not a float64; the next smaller one is
            x = np.minimum(x, np.nextafter(float(limits.max), 0))
    return x.astype(dtype)


def _along(axis: int, rank: int, values: Array) -> Array:
    return values.reshape([-1 if d == axis else 1 for d in range(rank)])


@dataclass(frozen=True)
class Taps:
    """How one dimension is sampled."""

    places: Array
    """[size, taps] of i64: which elements make element i of the result."""
    weights: Array
    """[size, taps] of f64: their shares."""
    outside: Array | None
    """[size] of bool: what gets the extrapolation value; None: nothing."""


def taps_of(op: ge.Resampling, axis: int, old: int, size: int, scale: float) -> Taps | None:
    """The taps of one dimension of extent `old` that gets extent `size`; None when it stays as it is."""
    mode = op.coordinate_mode.data
    region: tuple[float, float] | None = None
    if mode == ge.CROP:
        roi = op.roi.get_values()
        region = float(roi[axis]), float(roi[len(roi) // 2 + axis])
    if size == old and scale == 1 and region in (None, (0.0, 1.0)):
        return None
    at = coordinates(size, old, scale, mode, region)
    outside = (at < 0) | (at > old - 1) if mode == ge.CROP else None
    if op.mode.data == "nearest":
        places = nearest(at, op.nearest_mode.data)[:, None]
        weights = np.ones(places.shape)
    else:
        places, weights = _interpolation(op, at, scale)
        if op.mode.data == "cubic" and op.exclude_outside.value.data:
            weights = np.where((places >= 0) & (places < old), weights, 0.0)
        weights = weights / weights.sum(1, keepdims=True)
    return Taps(np.clip(places, 0, old - 1), weights, outside if outside is not None and outside.any() else None)


def _interpolation(op: ge.Resampling, at: Array, scale: float) -> tuple[Array, Array]:
    """Places (some maybe outside) and weights around each coordinate; antialiasing widens a filter that shrinks."""
    kernel: Callable[[Array], Array]
    if op.mode.data == "linear":
        kernel, reach = _hat, 1
    else:
        kernel, reach = _cubic(op.cubic_coeff_a.value.data), 2
    stretch = min(scale, 1.0) if op.antialias.value.data else 1.0
    first = math.floor(-reach / stretch) + 1
    base = np.floor(at)
    steps = np.arange(first, 2 - first)
    places = base[:, None] + steps
    return places.astype(np.int64), kernel((places - at[:, None]) * stretch)


def _hat(x: Array) -> Array:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(a: float) -> Callable[[Array], Array]:
    """The cubic convolution kernel of Keys (1981) with coefficient a."""

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return kernel


def coordinates(size: int, old: int, scale: float, mode: str, region: tuple[float, float] | None = None) -> Array:
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
        case ge.CROP:
            assert region is not None
            start, end = region
            if size == 1:
                return np.full(1, 0.5 * (start + end) * (old - 1))
            return start * (old - 1) + i * (end - start) * (old - 1) / (size - 1)
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
