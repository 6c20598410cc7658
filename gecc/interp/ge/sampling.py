"""Sampling at computed places, and the sum of overlapping blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from gecc.dialects import ge
from gecc.errors import KernelError
from gecc.interp.base import Array, Env, meaning, node, wide


def _float(x: Array) -> Array:
    """Integers in a float type that holds the narrow ones; floats in the type of their arithmetic."""
    if x.dtype.kind in "iub":
        return x.astype(np.float64 if x.dtype.itemsize > 2 else np.float32)
    return wide(x)


def _back(x: Array, dtype: np.dtype) -> Array:
    if dtype.kind not in "iu":
        return x.astype(dtype)
    limits = np.iinfo(dtype)
    high = float(limits.max) if dtype.itemsize < 8 else np.nextafter(float(limits.max), 0)
    return np.clip(np.rint(x), float(limits.min), high).astype(dtype)


# -- grids -------------------------------------------------------------------------------------------------------------


@meaning(ge.GridSample)
def grid_sample(env: Env, op: ge.GridSample, x: Array, grid: Array) -> Array:
    """x at the places that the grid names."""
    mode, padding, aligned = op.mode.data, op.padding_mode.data, bool(op.align_corners.value.data)
    sizes = x.shape[2:]
    grid = wide(grid)
    out = (x.shape[0], x.shape[1], *grid.shape[1:-1])
    if 0 in (*x.shape, *out):
        return np.zeros(out, x.dtype)
    taps: list[list[tuple[Array, Array, Array]]] = []
    for i, size in enumerate(sizes):
        at = grid[..., len(sizes) - 1 - i]
        at = (at + 1) / 2 * (size - 1) if aligned else ((at + 1) * size - 1) / 2
        taps.append(_taps(at, size, mode, padding, aligned))
    source = x if mode == "nearest" else _float(x)
    result = np.zeros(out, source.dtype)
    batch = np.arange(x.shape[0]).reshape(-1, *[1] * len(sizes))
    for combination in itertools.product(*taps):
        value = np.moveaxis(source[(batch, slice(None), *(place for place, _, _ in combination))], -1, 1)
        valid = np.logical_and.reduce([v for _, _, v in combination])
        value = np.where(valid[:, None], value, np.zeros((), source.dtype))
        if mode == "nearest":
            return value
        share = math.prod((w for _, w, _ in combination), start=np.ones((), grid.dtype))
        result = result + value * share[:, None].astype(np.result_type(source.dtype, grid.dtype))
    return _back(result, x.dtype)


def _taps(at: Array, size: int, mode: str, padding: str, aligned: bool) -> list[tuple[Array, Array, Array]]:
    """(index into x, weight, whether it is in x) of each tap around coordinates of one dimension.

    A cubic filter beyond the border sees the border elements repeated, as in PyTorch and ONNX Runtime.
    """
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    if mode == "nearest":
        at = np.rint(at)
    if padding == "border" and mode != "cubic":
        at = np.where((at < low) | (at > high), np.clip(at, 0, size - 1), at)
    elif padding == "reflection":
        at = _reflected(at, low, high)
    else:
        at = np.clip(at, -4, size + 4)
    base = np.floor(at)
    rest = at - base
    steps: list[tuple[int, Array]] = [(0, np.ones_like(at))]
    if mode == "linear":
        steps = [(0, 1 - rest), (1, rest)]
    elif mode == "cubic":
        steps = [(i, _cubic(rest - i)) for i in (-1, 0, 1, 2)]
    result: list[tuple[Array, Array, Array]] = []
    for step, weight in steps:
        place = base.astype(np.int64) + step
        valid = (place >= 0) & (place < size) if padding == "zeros" else np.ones(place.shape, bool)
        place = _mirrored(place, size, aligned) if padding == "reflection" else np.clip(place, 0, size - 1)
        result.append((place, weight, valid))
    return result


def _reflected(at: Array, low: float, high: float) -> Array:
    """Coordinates folded into [low, high]."""
    if high <= low:
        return np.full_like(at, low)
    width = high - low
    distance = np.abs(at - low)
    turns = np.trunc(distance / width)
    rest = distance - turns * width
    folded = np.where(turns % 2 == 0, low + rest, high - rest)
    return np.where((at < low) | (at > high), folded, at)


def _mirrored(place: Array, size: int, aligned: bool) -> Array:
    """Indices folded into [0, size): about the outermost elements, or about their outer edges."""
    if size == 1:
        return np.zeros_like(place)
    period = 2 * (size - 1) if aligned else 2 * size
    place = place % period
    return np.where(place < size, place, period - int(not aligned) - place)


def _cubic(x: Array, a: float = -0.75) -> Array:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)


# -- regions -----------------------------------------------------------------------------------------------------------


@meaning(ge.RoiAlign)
def roi_align(env: Env, op: ge.RoiAlign, x: Array, rois: Array, batch_indices: Array) -> Array:
    """Regions, one after the other."""
    x, rois = wide(x), wide(rois)
    height, width = op.height.value.data, op.width.value.data
    half, ratio = bool(op.half_pixel.value.data), op.sampling_ratio.value.data
    regions = rois * rois.dtype.type(op.spatial_scale.value.data) - rois.dtype.type(0.5 * half)
    out = np.zeros((len(rois), x.shape[1], height, width), x.dtype)
    for r, (x1, y1, x2, y2) in enumerate(regions):
        image = int(batch_indices[r])
        if not -x.shape[0] <= image < x.shape[0]:
            raise KernelError(f"batch index {image} is out of range for {x.shape[0]} images", where=node(op))
        rows = _samples(y1, y2, height, x.shape[2], ratio, half)
        columns = _samples(x1, x2, width, x.shape[3], ratio, half)
        for i in range(height):
            for j in range(width):
                out[r, :, i, j] = _pooled(op, x[image], rows[i], columns[j])
    return out


Samples = list[tuple[int, int, float, bool]]
"""Lower neighbour, upper neighbour, weight of the upper one, whether the sample counts."""


def _samples(start: float, end: float, bins: int, size: int, ratio: int, half: bool) -> list[Samples]:
    """The samples of each bin along one dimension."""
    extent = end - start if half else max(end - start, type(end)(1))
    step = extent / type(end)(bins)
    count = ratio or math.ceil(step)
    result: list[Samples] = []
    for i in range(bins):
        samples: Samples = []
        for s in range(count):
            at = start + i * step + (s + type(end)(0.5)) * step / type(end)(count)
            inside = bool(-1 <= at <= size)
            at = min(max(float(at), 0.0), size - 1.0)
            low = int(at)
            samples.append((low, min(low + 1, size - 1), at - low, inside))
        result.append(samples)
    return result


def _pooled(op: ge.RoiAlign, x: Array, rows: Samples, columns: Samples) -> Array:
    """One element for all channels of x [C, H, W]."""
    values: list[Array] = []
    largest = op.mode.data == "max"
    for low_y, high_y, v, in_y in rows:
        for low_x, high_x, u, in_x in columns:
            if not (in_y and in_x):
                values.append(np.zeros(len(x), x.dtype))
                continue
            parts = [
                x[:, low_y, low_x] * x.dtype.type((1 - v) * (1 - u)),
                x[:, low_y, high_x] * x.dtype.type((1 - v) * u),
                x[:, high_y, low_x] * x.dtype.type(v * (1 - u)),
                x[:, high_y, high_x] * x.dtype.type(v * u),
            ]
            combine: Callable[..., Array] = np.max if largest else np.sum
            values.append(combine(parts, axis=0))
    if not values:
        return np.zeros(len(x), x.dtype)
    return np.max(values, axis=0) if largest else np.sum(values, axis=0) / x.dtype.type(len(values))


# -- deformable convolutions, blocks -----------------------------------------------------------------------------------


@meaning(ge.DeformableOffsets)
def deformable_offsets(env: Env, op: ge.DeformableOffsets, x: Array, offsets: Array, mask: Array | None) -> Array:
    """The elements under displaced taps, laid out as windows side by side."""
    x, offsets = wide(x), wide(offsets)
    n, c, height, width = x.shape
    kernel, strides, pads, dilations = (p.get_values() for p in (op.kernel, op.strides, op.pads, op.dilations))
    groups, out = op.groups.value.data, offsets.shape[2:]
    offsets = offsets.reshape(n, groups, *kernel, 2, *out)
    images = x.reshape(n, groups, c // groups, height, width)
    result = np.zeros((n, groups, c // groups, out[0], kernel[0], out[1], kernel[1]), x.dtype)
    batch, group = np.arange(n)[:, None, None, None], np.arange(groups)[:, None, None]
    rows, columns = np.arange(out[0])[:, None] * strides[0] - pads[0], np.arange(out[1]) * strides[1] - pads[1]
    weights = None if mask is None else wide(mask).reshape(n, groups, *kernel, *out)
    for i, j in itertools.product(range(kernel[0]), range(kernel[1])):
        y = rows + i * dilations[0] + offsets[:, :, i, j, 0]
        at = columns + j * dilations[1] + offsets[:, :, i, j, 1]
        value = np.zeros((n, groups, *out, c // groups), x.dtype)
        for (py, wy, vy), (px, wx, vx) in itertools.product(
            _taps(y, height, "linear", "zeros", True), _taps(at, width, "linear", "zeros", True)
        ):
            corner = images[batch, group, :, py, px]
            value += np.where((vy & vx)[..., None], corner, 0) * (wy * wx)[..., None].astype(x.dtype)
        value = value if weights is None else value * weights[:, :, i, j, ..., None]
        result[:, :, :, :, i, :, j] = np.moveaxis(value, -1, 2)
    return result.reshape(n, c, out[0] * kernel[0], out[1] * kernel[1])


@meaning(ge.Col2Im)
def col2im(env: Env, op: ge.Col2Im, x: Array) -> Array:
    """Each tap of all blocks is added at once."""
    image, block = op.image.get_values(), op.block.get_values()
    strides, pads, dilations = (p.get_values() for p in (op.strides, op.pads, op.dilations))
    counts, x = op.counts(), wide(x)
    channels = x.shape[1] // math.prod(block)
    x = x.reshape(x.shape[0], channels, *block, *counts)
    padded = [size + pads[i] + pads[len(image) + i] for i, size in enumerate(image)]
    out = np.zeros((x.shape[0], channels, *padded), x.dtype)
    for tap in itertools.product(*map(range, block)):
        places = [slice(t * d, t * d + n * s, s) for t, n, s, d in zip(tap, counts, strides, dilations, strict=True)]
        out[(..., *places)] += x[(slice(None), slice(None), *tap)]
    return out[(..., *(slice(pads[i], pads[i] + size) for i, size in enumerate(image)))]
