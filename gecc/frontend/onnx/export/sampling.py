"""Sampling at computed places in ONNX."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.frontend.onnx.export.operators import Emitter, export, plain


@export(ge.GridSample)
def grid_sample(e: Emitter, op: ge.GridSample) -> None:
    e.node(
        "GridSample",
        [op.x, op.grid],
        op.result,
        mode=op.mode.data,
        padding_mode=op.padding_mode.data,
        align_corners=plain(op.align_corners),
    )


@export(ge.RoiAlign)
def roi_align(e: Emitter, op: ge.RoiAlign) -> None:
    """The standard wants batch indices of i64."""
    indices = op.batch_indices
    wide = indices if ge.elem(indices) == ge.element_type(np.int64) else e.node("Cast", [indices], to=7)
    e.node(
        "RoiAlign",
        [op.x, op.rois, wide],
        op.result,
        mode=op.mode.data,
        output_height=plain(op.height),
        output_width=plain(op.width),
        sampling_ratio=plain(op.sampling_ratio),
        spatial_scale=plain(op.spatial_scale),
        coordinate_transformation_mode="half_pixel" if op.half_pixel.value.data else "output_half_pixel",
    )


@export(ge.DeformableOffsets)
def deformable_offsets(e: Emitter, op: ge.DeformableOffsets) -> None:
    """A DeformConv whose kernel picks single taps of single channels, then blocks of them put side by side."""
    n, c, height, width = ge.dims(op.result)
    kernel = op.kernel.get_values()
    if -1 in (n, c, height, width):
        raise e.refuse("displaced taps of unknown extents")
    taps = kernel[0] * kernel[1]
    # one output channel for each tap of each channel: the weight is the identity
    weight = np.tile(np.eye(taps).reshape(taps, 1, *kernel), (c, 1, 1, 1)).astype(ge.numpy_dtype(ge.elem(op.x)))
    picked = e.node(
        "DeformConv",
        [op.x, e.constant(weight), op.offsets, None, op.mask],
        strides=plain(op.strides),
        pads=plain(op.pads),
        dilations=plain(op.dilations),
        group=c,
        offset_group=plain(op.groups),
    )
    out = height // kernel[0], width // kernel[1]
    apart = e.node("Reshape", [picked, e.ints([n, c, *kernel, *out])], allowzero=1)
    together = e.node("Transpose", [apart], perm=[0, 1, 4, 2, 5, 3])
    e.node("Reshape", [together, e.ints([n, c, height, width])], op.result, allowzero=1)


@export(ge.Col2Im)
def col2im(e: Emitter, op: ge.Col2Im) -> None:
    attributes = {name: plain(op.properties[name]) for name in ("strides", "pads", "dilations")}
    e.node("Col2Im", [op.x, e.ints(op.image.get_values()), e.ints(op.block.get_values())], op.result, **attributes)
