"""Padded images: the part that a block needs is copied into the rank's scratch, with zeros around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from gecc.dialects.fused import Body
from gecc.passes.fused.to_tile.kernel import KernelWriter


@dataclass
class Padding:
    """How input rows are copied into scratch: see `copy_rows`. Sizes in pixels and channels; pairs are (of rows, in a row)."""

    extents: tuple[int, int]  # of the image
    before: tuple[int, int]  # zeros around it
    step: tuple[int, int]  # input rows or pixels that an output row or pixel moves by
    reach: tuple[int, int]  # input rows or pixels that one output row or pixel needs
    width: int  # of a scratch row
    channels: int  # copied for each pixel (one group's)
    pixel: int  # elements from one pixel of the image to the next
    row: int  # elements from one row of the image to the next

    def copied_rows(self, rows: int) -> int:
        """Input rows that so many output rows need."""
        return (rows - 1) * self.step[0] + self.reach[0]


def copy_rows(
    w: KernelWriter,
    pad: Padding,
    image: SSAValue,
    base: SSAValue,
    copy: SSAValue,
    rows: tuple[SSAValue, SSAValue],
    pixels: tuple[SSAValue, SSAValue],
) -> None:
    """Copy what output `rows` and `pixels` of them, each the first and how many, need of the image into scratch, with zeros
    outside the image."""
    b, a = w.body, w.argument
    assert isinstance(copy.type, MemRefType)
    element = copy.type.element_type
    width, channels = a(pad.width * pad.channels, "scratch_row"), a(pad.channels)
    first, count, inside0, inside1 = _window(w, pad, 0, *rows)
    first_pixel, _, pixel0, pixel1 = _window(w, pad, 1, *pixels)
    before, behind = b.mul(pixel0, channels), b.mul(pixel1, channels)
    pixel, image_row = a(pad.pixel), a(pad.row)
    start_of_row = b.add(base, b.mul(b.add(first_pixel, pixel0), pixel))

    def zeros(low: SSAValue, high: SSAValue) -> None:
        def write(index: SSAValue) -> Sequence[SSAValue]:
            w.store(w.body.constant(0, element), copy, index)
            return []

        w.lanes(low, high, write)

    def copy_row(row: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        body: Body = w.body
        start = body.mul(row, width)
        inner = body.add(start, before)
        zeros(start, inner)
        zeros(body.add(start, behind), body.add(start, width))
        source = body.add(start_of_row, body.mul(body.add(first, row), image_row))
        if pad.pixel == pad.channels:

            def run(index: SSAValue) -> Sequence[SSAValue]:
                w.store(w.load(image, w.body.add(source, index)), copy, w.body.add(inner, index))
                return []

            w.lanes(0, body.sub(behind, before), run)
        else:

            def one_pixel(x: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
                from_ = w.body.add(source, w.body.mul(x, pixel))
                to = w.body.add(inner, w.body.mul(x, channels))

                def run(index: SSAValue) -> Sequence[SSAValue]:
                    w.store(w.load(image, w.body.add(from_, index)), copy, w.body.add(to, index))
                    return []

                w.lanes(0, channels, run)
                return []

            w.loop(0, body.sub(pixel1, pixel0), one_pixel)
        return []

    zeros(b.index(0), b.mul(inside0, width))
    w.loop(inside0, inside1, copy_row)
    zeros(b.mul(inside1, width), b.mul(count, width))


def _window(
    w: KernelWriter, pad: Padding, side: int, start: SSAValue, outputs: SSAValue
) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """What `outputs` rows (side 0) or pixels (side 1) from `start` on need of the image: where it begins, below 0 in the
    padding, how much it is, and from where up to where in it the image lies."""
    b, a = w.body, w.argument
    step = a(pad.step[side])
    first = b.sub(b.mul(start, step), a(pad.before[side]))
    count = b.add(b.mul(b.sub(outputs, 1), step), a(pad.reach[side]))
    low = b.minimum(b.maximum(b.sub(b.index(0), first), 0), count)
    return first, count, low, b.maximum(b.minimum(b.sub(a(pad.extents[side]), first), count), low)
