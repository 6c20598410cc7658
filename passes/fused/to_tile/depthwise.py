"""Depthwise convolutions: lanes run over channels, a few pixels of a row at a time.

The image is read where it lies, nothing is copied. Where it is padded, a pixel at its border has fewer taps; pixels that have
all taps of a row are computed several at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gecc.dialects import fused
from gecc.passes.fused.to_tile.affine import Linear, strides_of
from gecc.passes.fused.to_tile.grouped import Group, GroupedRegion
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered, element_bytes, inplace_extras
from gecc.passes.fused.to_tile.product import conv_product, rows_per_block
from gecc.target import Target

PIXELS = 4
"""Neighbouring pixels computed together: each weight is loaded once for all of them."""


@dataclass(frozen=True)
class Taps:
    """The taps of one dimension: tap k of output index i is at i * stride - before + k * dilation of the image."""

    extent: int
    count: int
    stride: int
    dilation: int
    before: int

    def whole(self, outputs: int) -> tuple[int, int]:
        """The first and, behind it, the last of `outputs` indices whose taps all lie inside the image."""
        first = min(outputs, -(-self.before // self.stride))
        room = self.extent - 1 + self.before - (self.count - 1) * self.dilation
        return first, max(first, min(outputs, room // self.stride + 1))


class TapsWriter:
    """Taps in a kernel."""

    def __init__(self, w: KernelWriter, taps: Taps, name: str) -> None:
        self.w = w
        self.extent = w.argument(taps.extent, f"extent_{name}")
        self.count = w.argument(taps.count, f"taps_{name}")
        self.stride = w.argument(taps.stride, f"stride_{name}")
        self.dilation = w.argument(taps.dilation, f"dilation_{name}")
        self.before = w.argument(taps.before, f"before_{name}")

    def start(self, index: SSAValue) -> SSAValue:
        """Where in the image the taps of an output index start: below 0 in the padding."""
        b = self.w.body
        return b.sub(b.mul(index, self.stride), self.before)

    def inside(self, start: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The first and, behind it, the last tap that lies in the image; as many as there are when none does."""
        b = self.w.body
        round_up = b.sub(self.dilation, 1)
        outside = b.maximum(b.sub(b.index(0), start), 0)
        room = b.maximum(b.sub(self.extent, start), 0)
        high = b.minimum(b.div(b.add(room, round_up), self.dilation), self.count)
        return b.minimum(b.div(b.add(outside, round_up), self.dilation), high), high


def lower_depthwise(op: fused.ConvOp, target: Target) -> Lowered:
    """The kernel and launch of a convolution in which each channel is its own group.

    The weights are packed as [KH * KW, C]; sums are kept in registers over all taps.
    """
    inputs = [v.type for v in op.operands if isinstance(v.type, TensorType)]
    shape = op.result_type.get_shape()
    images, channels, out_rows, out_width = shape
    _, _, height, width = fused.shape_of(op.x)
    (kh, kw), (sy, sx), (dy, dx) = fused.ints(op.kernel), fused.ints(op.strides), fused.ints(op.dilations)
    pads = fused.ints(op.pads)
    chunk = rows_per_block(conv_product(op, per_channel=True), target, element_bytes(inputs[0]))
    row_blocks = -(-out_rows // chunk)

    w = KernelWriter(inputs, [op.result_type])
    a, b = w.argument, w.body
    n_rows, c_rows, b_rows = a(out_rows, "rows"), a(chunk, "chunk_rows"), a(row_blocks, "row_blocks")
    n_width, n_channels = a(out_width, "width"), a(channels, "channels")
    x_taps = Taps(width, kw, sx, dx, pads[1])
    first_whole, last_whole = (a(v, "whole") for v in x_taps.whole(out_width))
    ys, xs = TapsWriter(w, Taps(height, kh, sy, dy, pads[0]), "y"), TapsWriter(w, x_taps, "x")
    row_size = a(width * channels, "row")
    left_pixel = b.mul(xs.stride, n_channels)
    tap_row, tap_pixel = b.mul(ys.dilation, row_size), b.mul(xs.dilation, n_channels)
    row_block, image = b.rem(w.index, b_rows), b.div(w.index, b_rows)
    base = b.mul(image, a(height * width * channels, "image"))
    row0 = b.mul(row_block, c_rows)
    row1 = b.minimum(b.add(row0, c_rows), n_rows)

    groups = [Group((0,), image), Group((2,)), Group((3,)), Group((1,))]
    region = GroupedRegion(w, op.epilogue, shape, groups)
    strides = strides_of(op.result_type)
    store = Linear({arg: s for arg, s in zip(region.args, strides, strict=True) if s})
    region.declare("store", store)
    accumulator = op.accumulator

    def widen(value: SSAValue) -> SSAValue:
        return w.body.convert(value, inputs[0].get_element_type(), accumulator)

    def pixels(y: SSAValue, x: SSAValue, count: int, border: bool = False) -> None:
        """`count` neighbouring pixels of one output row, all channels; of one at the border those taps that are inside."""
        body = w.body
        start_y, start_x = ys.start(y), xs.start(x)
        start = body.add(base, body.add(body.mul(start_y, row_size), body.mul(start_x, n_channels)))
        low_y, high_y = ys.inside(start_y) if any(pads) else (body.index(0), ys.count)
        low_x, high_x = xs.inside(start_x) if border else (body.index(0), xs.count)

        def channel(c: SSAValue) -> Sequence[SSAValue]:
            body = w.body
            zeros = [body.constant(0, accumulator)] * count
            here = body.add(start, c)

            def over_y(ky: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
                row = w.body.add(here, w.body.mul(ky, tap_row))
                weight_row = w.body.mul(ky, xs.count)

                def over_x(kx: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
                    body = w.body
                    weight = widen(w.load(w.inputs[1], body.add(body.mul(body.add(weight_row, kx), n_channels), c)))
                    at = body.add(row, body.mul(kx, tap_pixel))
                    out: list[SSAValue] = []
                    for pixel, total in enumerate(sums):
                        offset = body.add(at, body.mul(left_pixel, body.index(pixel)))
                        out.append(body.fma(widen(w.load(w.inputs[0], offset)), weight, total))
                    return out

                return w.loop(low_x, high_x, over_x, sums)

            sums = w.loop(low_y, high_y, over_y, zeros)
            groups[1].value, groups[3].value = y, c
            for pixel, total in enumerate(sums):
                groups[2].value = w.body.add(x, pixel)
                w.store(region.write([total], w.inputs), w.outputs[0], region.offset("store", store))
            return []

        w.lanes(0, n_channels, channel)

    def over_rows(y: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        body = w.body
        count = body.sub(last_whole, first_whole)
        full = body.add(first_whole, body.sub(count, body.rem(count, body.index(PIXELS))))

        def many(x: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            pixels(y, x, PIXELS)
            return []

        def one(x: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            pixels(y, x, 1, border=any(pads))
            return []

        if any(pads):
            w.loop(0, first_whole, one)
        w.loop(first_whole, full, many, step=PIXELS)
        w.loop(full, n_width, one)
        return []

    w.loop(row0, row1, over_rows)
    return Lowered(
        kernel=w.finish(f"{op.label.data}_depthwise"),
        inputs=list(op.operands),
        result=op.result_type,
        params=w.params,
        blocks=images * row_blocks if prod(shape) else 0,
        scratch=0,
        label=op.label.data,
        inplace=inplace_extras(op),
    )
