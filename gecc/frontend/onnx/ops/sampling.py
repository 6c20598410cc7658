"""Sampling at computed places: grids, regions, deformable convolutions; and blocks put together."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.movement import integers
from gecc.frontend.onnx.registry import onnx_op


@onnx_op("GridSample", domain="com.microsoft")
@onnx_op("GridSample", since=16)
def grid_sample(n: Node) -> SSAValue:
    """x at places from -1 to 1. Opset 20 renamed the modes, and allowed any number of dimensions.

    ONNX Runtime has the operator in a domain of its own as well, from before it was the standard's.
    """
    x, grid = n.input(0), n.input(1)
    mode = n.attr_str("mode", "linear")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    padding = n.attr_str("padding_mode", "zeros")
    for what, found, known in (
        ("mode", mode, ("linear", "nearest", "cubic")),
        ("padding_mode", padding, ("zeros", "border", "reflection")),
    ):
        if found not in known:
            n.invalid(f"{what} is {found}, expected one of {', '.join(known)}")
    aligned = bool(n.attr_int("align_corners", 0))
    return n.add(ge.GridSample(x, grid, mode=mode, padding_mode=padding, align_corners=aligned))


@onnx_op("AffineGrid", since=20)
def affine_grid(n: Node) -> SSAValue:
    """The grid of GridSample that an affine map of the result's places gives: a product with constant places."""
    theta = n.input(0)
    sizes = integers(n, 1)
    if sizes is None:
        n.refuse("size (input 1) must be constant", hint="fix its value, or fold the model's constants")
    batch, _, *extents = sizes if len(sizes) > 2 else (0, 0)
    count = len(extents)
    if count not in (2, 3):
        n.invalid(f"size is {sizes}, expected [N, C, H, W] or [N, C, D, H, W]")
    if rank(theta) != 3 or shape(theta)[1:] != (count, count + 1):
        n.invalid(f"theta has shape {list(shape(theta))}, expected [N, {count}, {count + 1}]")
    dtype = ge.numpy_dtype(element(theta))
    double = dtype == np.float64
    axes = [_places(size, aligned=bool(n.attr_int("align_corners", 0))) for size in extents]
    places = np.stack([*reversed(np.meshgrid(*axes, indexing="ij")), np.ones(extents)], -1)
    table = n.build.const(places.reshape(prod(extents), count + 1).astype(np.float64 if double else np.float32))
    wide = theta if double else n.build.cast(theta, f32)
    grid = n.add(ge.MatMulV2(table, wide, transpose_x2=True))
    return n.build.cast(n.build.reshape(grid, [batch, *extents, count]), element(theta))


def _places(size: int, *, aligned: bool) -> np.ndarray:
    """From -1 to 1: the centres of the outermost elements, or their outer edges."""
    if aligned:
        return np.linspace(-1, 1, size) if size > 1 else np.full(size, -1.0)
    return (2 * np.arange(size) + 1) / max(size, 1) - 1


@onnx_op("RoiAlign", since=10)
def roi_align(n: Node) -> SSAValue:
    """Regions on a grid. Until opset 15 regions are not moved by half an element."""
    mode = n.attr_str("mode", "avg")
    if mode not in ("avg", "max"):
        n.invalid(f"mode is {mode}, expected avg or max")
    transform = n.attr_str("coordinate_transformation_mode", "half_pixel") if n.opset >= 16 else "output_half_pixel"
    if transform not in ("half_pixel", "output_half_pixel"):
        n.invalid(f"coordinate_transformation_mode is {transform}, expected half_pixel or output_half_pixel")
    made = ge.RoiAlign(
        n.input(0),
        n.input(1),
        n.input(2),
        mode=mode,
        height=n.attr_int("output_height", 1),
        width=n.attr_int("output_width", 1),
        sampling_ratio=n.attr_int("sampling_ratio", 0),
        spatial_scale=n.attr_float("spatial_scale", 1.0),
        half_pixel=transform == "half_pixel",
    )
    return n.add(made)


@onnx_op("DeformConv", since=19)
def deform_conv(n: Node) -> SSAValue:
    """Displaced taps are gathered side by side, then an ordinary convolution steps over them."""
    x, w, offsets, bias, mask = n.input(0), n.input(1), n.input(2), n.optional(3), n.optional(4)
    if rank(x) != 4 or rank(w) != 4:
        n.refuse(f"DeformConv with x of rank {rank(x)} and w of rank {rank(w)} is not supported, expected 4")
    kernel = n.attr_ints("kernel_shape", []) or list(shape(w)[2:])
    if -1 in kernel:
        n.refuse("the extents of the kernel must be known")
    if any(known not in (-1, given) for known, given in zip(shape(w)[2:], kernel, strict=True)):
        n.invalid(f"kernel_shape is {kernel}, but the weight has {list(shape(w)[2:])}")
    window: dict[str, Any] = {
        "strides": n.attr_ints("strides", []) or [1, 1],
        "pads": n.attr_ints("pads", []) or [0, 0, 0, 0],
        "dilations": n.attr_ints("dilations", []) or [1, 1],
    }
    groups = n.attr_int("offset_group", 1)
    taps = n.add(ge.DeformableOffsets(x, offsets, mask, kernel=kernel, groups=groups, **window))
    return n.add(ge.Conv2D(taps, w, bias, strides=kernel, group=n.attr_int("group", 1)))


@onnx_op("Col2Im", since=18)
def col2im(n: Node) -> SSAValue:
    """Blocks summed where they overlap."""
    x, image, block = n.input(0), integers(n, 1), integers(n, 2)
    if image is None or block is None:
        n.refuse("image_shape and block_shape must be constant", hint="fix their values, or fold the constants")
    strides, pads, dilations = (n.attr_ints(name, []) or None for name in ("strides", "pads", "dilations"))
    return n.add(ge.Col2Im(x, image=image, block=block, strides=strides, pads=pads, dilations=dilations))
