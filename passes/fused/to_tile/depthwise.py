"""Depthwise convolutions: lanes run over channels, a few pixels of a row at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gecc.dialects import fused
from gecc.passes.fused.to_tile.affine import Linear, strides_of
from gecc.passes.fused.to_tile.gemm import conv_product, copy_rows, inplace_extras, rows_per_block
from gecc.passes.fused.to_tile.grouped import Group, GroupedRegion
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered, element_bytes
from gecc.target import Target

PIXELS = 4
"""Neighbouring pixels computed together: each weight is loaded once for all of them."""


def lower_depthwise(op: fused.ConvOp, target: Target) -> Lowered:
    """The kernel and launch of a convolution in which each channel is its own group.

    The weights are packed as [KH * KW, C]; sums are kept in registers over all taps.
    """
    inputs = [v.type for v in op.operands if isinstance(v.type, TensorType)]
    shape = op.result_type.get_shape()
    images, channels, out_rows, out_width = shape
    kh, kw = fused.ints(op.kernel)
    _, dx = fused.ints(op.dilations)
    p = conv_product(op, per_channel=True)
    size = element_bytes(inputs[0])
    chunk = rows_per_block(p, target, size)
    row_blocks = -(-out_rows // chunk)

    w = KernelWriter(inputs, [op.result_type])
    a, b = w.argument, w.body
    n_rows, c_rows, b_rows = a(out_rows, "rows"), a(chunk, "chunk_rows"), a(row_blocks, "row_blocks")
    width, n_channels = a(out_width, "width"), a(channels, "channels")
    left_row, left_pixel = a(p.left_row), a(p.left_pixel)
    taps_y, taps_x = a(kh, "taps_y"), a(kw, "taps_x")
    tap_row, tap_pixel = a(p.stride1), a(dx * (p.padded.channels if p.padded else channels))
    row_block, image = b.rem(w.index, b_rows), b.div(w.index, b_rows)
    base = b.mul(image, a(p.left_item))
    row0 = b.mul(row_block, c_rows)
    row1 = b.minimum(b.add(row0, c_rows), n_rows)
    scratch = 0
    left, origin, first_row = w.inputs[0], base, b.index(0)
    if p.padded is not None:
        scratch = ((chunk - 1) * p.padded.step + p.padded.reach) * p.padded.width * p.padded.channels * size
        copy = w.scratch(0, fused.scalar_type(inputs[0].get_element_type()))
        copy_rows(w, p.padded, left, base, copy, row0, b.sub(row1, row0))
        left, origin, first_row = copy, b.index(0), row0

    groups = [Group((0,), image), Group((2,)), Group((3,)), Group((1,))]
    region = GroupedRegion(w, op.epilogue, shape, groups)
    strides = strides_of(op.result_type)
    store = Linear({arg: s for arg, s in zip(region.args, strides, strict=True) if s})
    region.declare("store", store)
    accumulator = op.accumulator

    def widen(value: SSAValue) -> SSAValue:
        return w.body.convert(value, inputs[0].get_element_type(), accumulator)

    def pixels(y: SSAValue, x: SSAValue, count: int) -> None:
        """`count` neighbouring pixels of one output row, all channels."""
        start = w.body.add(origin, w.body.mul(w.body.sub(y, first_row), left_row))
        start = w.body.add(start, w.body.mul(x, left_pixel))

        def channel(c: SSAValue) -> Sequence[SSAValue]:
            body = w.body
            zeros = [body.constant(0, accumulator)] * count
            here = body.add(start, c)

            def over_y(ky: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
                row = w.body.add(here, w.body.mul(ky, tap_row))
                weight_row = w.body.mul(ky, taps_x)

                def over_x(kx: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
                    body = w.body
                    weight = widen(w.load(w.inputs[1], body.add(body.mul(body.add(weight_row, kx), n_channels), c)))
                    at = body.add(row, body.mul(kx, tap_pixel))
                    out: list[SSAValue] = []
                    for pixel, total in enumerate(sums):
                        offset = body.add(at, body.mul(left_pixel, body.index(pixel)))
                        out.append(body.fma(widen(w.load(left, offset)), weight, total))
                    return out

                return w.loop(0, taps_x, over_x, sums)

            sums = w.loop(0, taps_y, over_y, zeros)
            groups[1].value, groups[3].value = y, c
            for pixel, total in enumerate(sums):
                groups[2].value = w.body.add(x, pixel)
                w.store(region.write([total], w.inputs), w.outputs[0], region.offset("store", store))
            return []

        w.lanes(0, n_channels, channel)

    def over_rows(y: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        full = w.body.mul(w.body.div(width, w.body.index(PIXELS)), w.body.index(PIXELS))

        def many(x: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            pixels(y, x, PIXELS)
            return []

        def one(x: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            pixels(y, x, 1)
            return []

        w.loop(0, full, many, step=PIXELS)
        w.loop(full, width, one)
        return []

    w.loop(row0, row1, over_rows)
    return Lowered(
        kernel=w.finish(f"{op.label.data}_depthwise"),
        inputs=list(op.operands),
        result=op.result_type,
        params=w.params,
        blocks=images * row_blocks if prod(shape) else 0,
        scratch=-(-scratch // 64) * 64,
        label=op.label.data,
        inplace=inplace_extras(op, store, region.args),
    )
