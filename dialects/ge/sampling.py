"""Sampling at computed places, and the sum of overlapping blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, float_prop, int_prop, ints_prop, word_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    FLOAT,
    INDEX,
    NUMERIC,
    AnyTensor,
    agree,
    check_dtype,
    check_rank,
    check_row_major,
    check_same_dtype,
    dims,
    elem,
    rank,
    row_major,
    spell,
)
from gecc.dialects.ge.windows import check_window, conv_extents


def _require(what: str, value: SSAValue, expected: Sequence[int]) -> None:
    """Raise unless the shape of `value` agrees with `expected`."""
    found = dims(value)
    if len(found) != len(expected) or not all(agree(a, b) for a, b in zip(found, expected, strict=True)):
        raise VerifyException(f"{what} is {spell(found)}, expected {spell(expected)}")


@ge_op
class GridSample(GeOp):
    """x [N, C, spatial...] at the places that `grid` [N, out..., n] names, from -1 to 1 (ONNX GridSample).

    The last dimension of the grid holds one number for each spatial dimension of x, innermost first. -1 and 1 are the
    centres of the outermost elements when `align_corners`, else their outer edges. Integers are interpolated in
    floating point, rounded to even and cut to the type's range.
    """

    x = operand_def(TensorType)
    grid = operand_def(TensorType)
    mode = word_prop("linear", "nearest", "cubic", default="linear")
    padding_mode = word_prop("zeros", "border", "reflection", default="zeros")
    align_corners = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        grid: Value,
        *,
        mode: str = "linear",
        padding_mode: str = "zeros",
        align_corners: bool = False,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
        self.setup([x, grid], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY if self.mode.data == "nearest" else NUMERIC)
        check_dtype("grid", self.grid, FLOAT)
        check_row_major("x", self.x)
        check_row_major("grid", self.grid)
        spatial = rank(self.x) - 2
        if spatial < 1:
            raise VerifyException(f"x has rank {rank(self.x)}, expected rank 3 or more")
        n, *out, _ = dims(self.grid) or (0, 0)
        _require("grid", self.grid, (dims(self.x)[0], *[DYNAMIC] * spatial, spatial))
        return [row_major((dims(self.x)[0] if n == DYNAMIC else n, dims(self.x)[1], *out), elem(self.x))]


@ge_op
class RoiAlign(GeOp):
    """Regions of x [N, C, H, W] on a grid of their own: [R, C, height, width] (ONNX RoiAlign).

    `rois` [R, 4] hold x1, y1, x2, y2 in units of 1 / spatial_scale; `batch_indices` [R] say which image. Each element
    is the mean of samples (`sampling_ratio` squared, or as many as elements when 0), or in mode max the largest of
    the products of element and bilinear weight. With `half_pixel` regions are moved by half an element, and may be
    smaller than one.
    """

    x = operand_def(TensorType)
    rois = operand_def(TensorType)
    batch_indices = operand_def(TensorType)
    mode = word_prop("avg", "max", default="avg")
    height = int_prop(1)
    width = int_prop(1)
    sampling_ratio = int_prop(0)
    spatial_scale = float_prop(1.0)
    half_pixel = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        rois: Value,
        batch_indices: Value,
        *,
        mode: str = "avg",
        height: int = 1,
        width: int = 1,
        sampling_ratio: int = 0,
        spatial_scale: float = 1.0,
        half_pixel: bool = False,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "mode": mode,
            "height": height,
            "width": width,
            "sampling_ratio": sampling_ratio,
            "spatial_scale": spatial_scale,
            "half_pixel": half_pixel,
        }
        self.setup([x, rois, batch_indices], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        check_same_dtype(x=self.x, rois=self.rois)
        check_dtype("batch_indices", self.batch_indices, INDEX)
        check_rank("x", self.x, 4)
        check_rank("batch_indices", self.batch_indices, 1)
        for name, value in (("x", self.x), ("rois", self.rois)):
            check_row_major(name, value)
        count = dims(self.batch_indices)[0]
        _require("rois", self.rois, (count, 4))
        height, width, ratio = (p.value.data for p in (self.height, self.width, self.sampling_ratio))
        if min(height, width) < 1 or ratio < 0:
            raise VerifyException(
                f"height, width and sampling_ratio are {height}, {width} and {ratio}, expected at least 1, 1 and 0"
            )
        return [row_major((dims(self.rois)[0], dims(self.x)[1], height, width), elem(self.x))]


@ge_op
class DeformableOffsets(GeOp):
    """What the taps of a deformable convolution meet: x [N, C, H, W] -> [N, C, OH * KH, OW * KW].

    Tap (kh, kw) of window (oh, ow) lies at oh * stride + kh * dilation - pad, plus what `offsets`
    [N, groups * KH * KW * 2, OH, OW] says (rows, then columns); zero outside, bilinear between elements, times `mask`
    [N, groups * KH * KW, OH, OW]. Channels in `groups` share their offsets. A convolution with the kernel's extents
    as strides follows.
    """

    x = operand_def(TensorType)
    offsets = operand_def(TensorType)
    mask = opt_operand_def(TensorType)
    kernel = ints_prop()
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    groups = int_prop(1)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: Value,
        offsets: Value,
        mask: Value | None = None,
        *,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        groups: int = 1,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"kernel": kernel, "strides": strides, "pads": pads, "dilations": dilations, "groups": groups}
        self.setup([x, offsets, mask], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        check_same_dtype(x=self.x, offsets=self.offsets, mask=self.mask)
        check_rank("x", self.x, 4)
        for name, value in (("x", self.x), ("offsets", self.offsets), ("mask", self.mask)):
            if value is not None:
                check_row_major(name, value)
        kernel, groups = self.kernel.get_values(), self.groups.value.data
        if len(kernel) != 2 or min(kernel) < 1:
            raise VerifyException(f"kernel is {list(kernel)}, expected 2 values of at least 1")
        n, c, *sizes = dims(self.x)
        if groups < 1 or (c != DYNAMIC and c % groups):
            raise VerifyException(f"groups = {groups} does not divide {c} channels")
        out = conv_extents(sizes, kernel, *check_window(self.strides, self.pads, self.dilations))
        taps = groups * prod(kernel)
        _require("offsets", self.offsets, (n, 2 * taps, *out))
        if self.mask is not None:
            _require("mask", self.mask, (n, taps, *out))
        extents = [DYNAMIC if size == DYNAMIC else size * k for size, k in zip(out, kernel, strict=True)]
        return [row_major((n, c, *extents), elem(self.x))]


@ge_op
class Col2Im(GeOp):
    """Blocks summed where they overlap: x [N, C * block elements, blocks] -> [N, C, image...] (ONNX Col2Im)."""

    x = operand_def(TensorType)
    image = ints_prop()
    block = ints_prop()
    strides = ints_prop()
    pads = ints_prop()
    dilations = ints_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        *,
        image: Sequence[int],
        block: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "image": image,
            "block": block,
            "strides": [1] * len(image) if strides is None else strides,
            "pads": [0] * (2 * len(image)) if pads is None else pads,
            "dilations": [1] * len(image) if dilations is None else dilations,
        }
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, NUMERIC)
        check_rank("x", self.x, 3)
        check_row_major("x", self.x)
        block, image = self.block.get_values(), self.image.get_values()
        if len(block) != len(image) or min(*block, *image, 1) < 1:
            raise VerifyException(f"block {list(block)} and image {list(image)} are not as many positive values")
        counts = self.counts()
        n, columns, count = dims(self.x)
        if columns != DYNAMIC and columns % prod(block):
            raise VerifyException(f"x {spell(dims(self.x))} has {columns} rows, not a multiple of {prod(block)}")
        if not agree(count, prod(counts)):
            raise VerifyException(f"x {spell(dims(self.x))} has {count} blocks, expected {prod(counts)}")
        channels = DYNAMIC if columns == DYNAMIC else columns // prod(block)
        return [row_major((n, channels, *image), elem(self.x))]

    def counts(self) -> list[int]:
        """How many blocks there are along each dimension of the image."""
        image = self.image.get_values()
        return conv_extents(
            image, self.block.get_values(), *check_window(self.strides, self.pads, self.dilations, len(image))
        )
