"""Resize and Upsample."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.movement import integers, n_axes
from gecc.frontend.onnx.registry import onnx_op

_COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")


def _resize(n: Node, x: SSAValue, scales: Sequence[float], coordinates: str, nearest: str) -> SSAValue:
    """By known scales; the result's extents are rounded down."""
    if len(scales) != rank(x):
        n.invalid(f"scales are {list(scales)}, expected {rank(x)} numbers")
    if min(scales, default=1.0) <= 0:
        n.invalid(f"scales are {list(scales)}, expected positive numbers")
    mode = _mode(n)
    if all(s == 1 for s in scales):
        return x
    if -1 in shape(x):
        operand = n.build.const(np.array(scales, np.float32))
        return n.add(ge.DynResize(x, operand, mode=mode, coordinate_mode=coordinates, nearest_mode=nearest))
    result = [ge.scaled_extent(d, s) for d, s in zip(shape(x), scales, strict=True)]
    return n.add(ge.Resize(x, result, scales=scales, mode=mode, coordinate_mode=coordinates, nearest_mode=nearest))


def _mode(n: Node) -> str:
    mode = n.attr_str("mode", "nearest")
    mode = {"bilinear": "linear"}.get(mode, mode)
    if mode not in ("nearest", "linear"):
        n.refuse(f"mode {mode} is not supported, expected nearest or linear")
    return mode


def _old_style(n: Node, scales: Sequence[float]) -> SSAValue:
    """Before opset 11: asymmetric coordinates; nearest rounds down when it enlarges, up when it shrinks."""
    enlarges, shrinks = any(s > 1 for s in scales), any(s < 1 for s in scales)
    if enlarges and shrinks and _mode(n) == "nearest":
        n.refuse(f"nearest with scales {list(scales)}, some above and some below one, is not supported")
    return _resize(n, n.input(0), scales, "asymmetric", "ceil" if shrinks else "floor")


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


@onnx_op("Resize", since=11)
def resize(n: Node) -> SSAValue:
    """By scales or to sizes, on all dimensions or (from opset 18) some axes."""
    x = n.input(0)
    coordinates = n.attr_str("coordinate_transformation_mode", "half_pixel")
    nearest = n.attr_str("nearest_mode", "round_prefer_floor")
    if coordinates not in _COORDINATES:
        n.refuse(f"coordinate mode {coordinates} is not supported, expected one of {', '.join(_COORDINATES)}")
    if n.attr_int("exclude_outside", 0) and _mode(n) != "nearest":
        n.refuse("exclude_outside is not supported")
    axes = n_axes(n, n.attr_ints("axes", []), rank(x)) if n.attr_ints("axes", []) else list(range(rank(x)))
    if _given(n, 2):
        scales = n.constant(2)
        if scales is None:
            if axes != list(range(rank(x))) or n.attr_int("antialias", 0):
                n.refuse("scales (input 2) must be constant with axes or antialias")
            operand, mode = n.input(2), _mode(n)
            return n.add(ge.DynResize(x, operand, mode=mode, coordinate_mode=coordinates, nearest_mode=nearest))
        full = [1.0] * rank(x)
        for axis, scale in zip(axes, _floats(scales), strict=_same_length(n, "scales", scales.size, len(axes))):
            full[axis] = scale
        _check_antialias(n, full)
        return _resize(n, x, full, coordinates, nearest)
    if not _given(n, 3):
        n.invalid("has neither scales nor sizes, expected one")
    return _to_sizes(n, x, axes, coordinates, nearest)


def _given(n: Node, i: int) -> bool:
    """Whether an operand is given and not empty; models before opset 13 pass empty tensors for absent ones."""
    value = n.optional(i)
    return value is not None and shape(value) != (0,)


def _same_length(n: Node, what: str, found: int, expected: int) -> bool:
    if found != expected:
        n.invalid(f"{what} holds {found} numbers, expected {expected}")
    return True


def _check_antialias(n: Node, scales: Sequence[float]) -> None:
    """Antialiasing changes nothing unless a dimension shrinks."""
    if n.attr_int("antialias", 0) and _mode(n) != "nearest" and min(scales, default=1.0) < 1:
        n.refuse("antialias = 1 is not supported when a dimension shrinks")


def _to_sizes(n: Node, x: SSAValue, axes: list[int], coordinates: str, nearest: str) -> SSAValue:
    mode, policy = _mode(n), n.attr_str("keep_aspect_ratio_policy", "stretch")
    sizes = integers(n, 3)
    if sizes is None or -1 in shape(x):
        if policy != "stretch" or n.attr_int("antialias", 0):
            n.refuse(f"keep_aspect_ratio_policy {policy} or antialias needs known sizes", hint="give input shapes")
        operand = _full_sizes(n, x, axes)
        return n.add(ge.DynResize(x, None, operand, mode=mode, coordinate_mode=coordinates, nearest_mode=nearest))
    _same_length(n, "sizes", len(sizes), len(axes))
    result, scales = list(shape(x)), [1.0] * rank(x)
    if policy != "stretch":
        ratios = [size / shape(x)[axis] for axis, size in zip(axes, sizes, strict=True)]
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        sizes = [floor(ratio * shape(x)[axis] + 0.5) for axis in axes]
        for axis in axes:
            scales[axis] = ratio
    for axis, size in zip(axes, sizes, strict=True):
        result[axis] = size
        if policy == "stretch":
            scales[axis] = size / shape(x)[axis] if shape(x)[axis] else 1.0
    _check_antialias(n, scales)
    if tuple(result) == shape(x):
        return x
    return n.add(ge.Resize(x, result, scales=scales, mode=mode, coordinate_mode=coordinates, nearest_mode=nearest))


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
