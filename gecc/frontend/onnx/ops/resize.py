"""Resize and Upsample."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.movement import integers, n_axes
from gecc.frontend.onnx.registry import onnx_op

_MODES = ("nearest", "linear", "cubic")
_COORDINATES = (
    *("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"),
    *("tf_half_pixel_for_nn", ge.CROP),
)
_POLICIES = ("stretch", "not_larger", "not_smaller")

Sampling = dict[str, Any]
"""How a grid is sampled, as ge.Resize takes it."""


def _word(n: Node, attribute: str, words: Sequence[str]) -> str:
    """A string attribute, which is one of `words` (the first by default)."""
    word = n.attr_str(attribute, words[0])
    if word not in words:
        n.invalid(f"{attribute} is {word}, expected one of {', '.join(words)}")
    return word


def _mode(n: Node) -> str:
    mode = n.attr_str("mode", "nearest")
    mode = {"bilinear": "linear"}.get(mode, mode)
    if mode not in _MODES:
        n.invalid(f"mode is {mode}, expected one of {', '.join(_MODES)}")
    return mode


def _by_scales(n: Node, x: SSAValue, scales: Sequence[float], sampling: Sampling) -> SSAValue:
    """By known scales; the result's extents are rounded down."""
    if len(scales) != rank(x):
        n.invalid(f"scales are {list(scales)}, expected {rank(x)} numbers")
    if min(scales, default=1.0) <= 0:
        n.invalid(f"scales are {list(scales)}, expected positive numbers")
    if all(s == 1 for s in scales) and "roi" not in sampling:
        return x
    if -1 in shape(x):
        return n.add(ge.DynResize(x, n.build.const(np.array(scales, np.float32)), **sampling))
    result = [ge.scaled_extent(d, s) for d, s in zip(shape(x), scales, strict=True)]
    return n.add(ge.Resize(x, result, scales=scales, **sampling))


# -- before opset 11 ---------------------------------------------------------------------------------------------------


def _old_style(n: Node, scales: Sequence[float]) -> SSAValue:
    """Asymmetric coordinates; nearest rounds down in dimensions that grow, up in those that shrink."""
    x, mode = n.input(0), _mode(n)
    if mode == "cubic":
        n.invalid(f"mode is cubic, which opset {n.opset} does not know")
    if mode == "linear":
        return _by_scales(n, x, scales, {"mode": mode, "coordinate_mode": "asymmetric"})
    for rounding, part in (("floor", [max(s, 1.0) for s in scales]), ("ceil", [min(s, 1.0) for s in scales])):
        x = _by_scales(n, x, part, {"coordinate_mode": "asymmetric", "nearest_mode": rounding})
    return x


@onnx_op("Upsample")
def upsample_by_factors(n: Node) -> SSAValue:
    """The first form: one factor for height, one for width."""
    if rank(n.input(0)) != 4:
        n.invalid(f"input 0 has rank {rank(n.input(0))}, expected 4")
    return _old_style(n, [1.0, 1.0, n.attr_float("height_scale"), n.attr_float("width_scale")])


@onnx_op("Upsample", since=7)
def upsample(n: Node) -> SSAValue:
    """Scales are an attribute until opset 8, then an operand."""
    scales = n.attr_floats("scales") if n.opset < 9 else _floats(n.required_constant(1, "scales"))
    return _old_style(n, scales)


@onnx_op("Resize", since=10)
def resize_by_scales(n: Node) -> SSAValue:
    """Scales only."""
    return _old_style(n, _floats(n.required_constant(1, "scales")))


def _floats(values: np.ndarray) -> list[float]:
    return [float(v) for v in values.reshape(-1)]


# -- opset 11 and later ------------------------------------------------------------------------------------------------


@onnx_op("Resize", since=11)
def resize(n: Node) -> SSAValue:
    """By scales or to sizes, on all dimensions or (from opset 18) some axes."""
    x = n.input(0)
    axes = n_axes(n, n.attr_ints("axes", []), rank(x)) if n.attr_ints("axes", []) else list(range(rank(x)))
    sampling = _sampling(n, axes)
    if _given(n, 2):
        scales = n.constant(2)
        if scales is None:
            if axes != list(range(rank(x))):
                n.refuse("scales (input 2) must be constant with axes")
            return n.add(ge.DynResize(x, n.input(2), **sampling))
        full = [1.0] * rank(x)
        for axis, scale in zip(axes, _floats(scales), strict=_same_length(n, "scales", scales.size, len(axes))):
            full[axis] = scale
        return _by_scales(n, x, full, sampling)
    if not _given(n, 3):
        n.invalid("has neither scales nor sizes, expected one")
    return _to_sizes(n, x, axes, sampling)


def _sampling(n: Node, axes: list[int]) -> Sampling:
    """What attributes and the roi say of the grid."""
    mode = _mode(n)
    coordinates = _word(n, "coordinate_transformation_mode", _COORDINATES)
    nearest = _word(n, "nearest_mode", ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if coordinates == "tf_half_pixel_for_nn":
        # (i + 0.5) / scale, half a pixel beyond half_pixel: only its nearest neighbours are half_pixel's, rounded up
        if mode != "nearest" or nearest != "floor":
            n.refuse("coordinate mode tf_half_pixel_for_nn (of opset 11) is supported for nearest with floor alone")
        coordinates, nearest = "half_pixel", "round_prefer_ceil"
    sampling: Sampling = {"mode": mode, "coordinate_mode": coordinates, "nearest_mode": nearest}
    if mode != "nearest":
        sampling["antialias"] = bool(n.attr_int("antialias", 0))
    if mode == "cubic":
        sampling["cubic_coeff_a"] = n.attr_float("cubic_coeff_a", -0.75)
        sampling["exclude_outside"] = bool(n.attr_int("exclude_outside", 0))
    if coordinates == ge.CROP:
        roi = _floats(n.required_constant(1, "roi"))
        _same_length(n, "roi", len(roi), 2 * len(axes))
        whole = [0.0] * rank(n.input(0)) + [1.0] * rank(n.input(0))
        for i, axis in enumerate(axes):
            whole[axis], whole[rank(n.input(0)) + axis] = roi[i], roi[len(axes) + i]
        sampling |= {"roi": whole, "extrapolation_value": n.attr_float("extrapolation_value", 0.0)}
    return sampling


def _given(n: Node, i: int) -> bool:
    """Whether an operand is given and not empty; models before opset 13 pass empty tensors for absent ones."""
    value = n.optional(i)
    return value is not None and shape(value) != (0,)


def _same_length(n: Node, what: str, found: int, expected: int) -> bool:
    if found != expected:
        n.invalid(f"{what} holds {found} numbers, expected {expected}")
    return True


def _to_sizes(n: Node, x: SSAValue, axes: list[int], sampling: Sampling) -> SSAValue:
    policy = _word(n, "keep_aspect_ratio_policy", _POLICIES)
    sizes = integers(n, 3)
    if sizes is None or -1 in shape(x):
        if policy != "stretch":
            n.refuse(f"keep_aspect_ratio_policy {policy} needs known sizes", hint="give input shapes")
        return n.add(ge.DynResize(x, None, _full_sizes(n, x, axes), **sampling))
    _same_length(n, "sizes", len(sizes), len(axes))
    result, scales = list(shape(x)), [1.0] * rank(x)
    if policy != "stretch" and 0 not in shape(x):
        ratios = [size / shape(x)[axis] for axis, size in zip(axes, sizes, strict=True)]
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        sizes = [floor(ratio * shape(x)[axis] + 0.5) for axis in axes]
        for axis in axes:
            scales[axis] = ratio
    for axis, size in zip(axes, sizes, strict=True):
        result[axis] = size
        if policy == "stretch":
            scales[axis] = size / shape(x)[axis] if shape(x)[axis] else 1.0
    if tuple(result) == shape(x) and "roi" not in sampling:
        return x
    return n.add(ge.Resize(x, result, scales=scales, **sampling))


def _full_sizes(n: Node, x: SSAValue, axes: list[int]) -> SSAValue:
    """The sizes of all dimensions, those of x where `axes` leaves them."""
    sizes = n.input(3)
    if axes == list(range(rank(x))):
        return sizes
    parts: list[SSAValue] = []
    for axis in range(rank(x)):
        if axis in axes:
            i = axes.index(axis)
            parts.append(n.add(ge.Slice(sizes, [i], [i + 1], [0])))
        else:
            parts.append(n.build.extents(x, axis, axis + 1))
    return n.build.concat(parts)
