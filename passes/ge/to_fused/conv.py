"""Convolutions -> fused.conv, transposed ones -> fused.matmul and a sum of taps; the bias is in the epilogue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.attrs import LayoutAttr
from gecc.dialects.ge.types import dims, elem, layout, row_major, tensor, tensor_type
from gecc.passes.ge.to_fused._common import gather_map
from gecc.passes.ge.to_fused.linear import bias_epilogue, transpose_op
from gecc.rewrite import Pattern, Rewriter


class LowerConv(Pattern):
    """ge.Conv2D."""

    ops = (ge.Conv2D,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Conv2D)
        accumulator = fused.accumulator_type(elem(op.x))
        extras = [op.bias] if op.bias is not None else []
        epilogue = fused.epilogue_region(
            4,
            accumulator,
            [op.x.type, op.w.type, *(extra.type for extra in extras)],
            bias_epilogue(elem(op.result), accumulator, dimension=1, bias=2 if extras else None),
        )
        rw.replace(
            op,
            fused.ConvOp(
                "Conv2D",
                op.x,
                op.w,
                extras,
                tensor(op.result),
                epilogue,
                kernel=dims(op.w)[2:],
                strides=fused.ints(op.strides),
                pads=fused.ints(op.pads),
                dilations=fused.ints(op.dilations),
                group=op.group.value.data,
            ),
        )


class LowerConv3D(Pattern):
    """ge.Conv3D: a 2-D convolution of the last two dimensions.

    The outer dimensions of the result join the batch, and the taps along them the channels: image
    (n, od, ..) holds in channel (c, kd, ..) plane od * stride + kd * dilation - pad of channel c. Weights need not
    move for that. Only the taps of the outer dimensions are copied, which is kd .. times the input.
    """

    ops = (ge.Conv3D,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Conv3D)
        element, accumulator = elem(op.x), fused.accumulator_type(elem(op.x))
        n, channels, *sizes = dims(op.x)
        out_channels, depth, *kernel = dims(op.w)
        out = dims(op.result)[2:]
        strides, pads, dilations = (fused.ints(p) for p in (op.strides, op.pads, op.dilations))
        outer = len(sizes) - 2
        taps, frames = math.prod(kernel[:outer]), math.prod(out[:outer])
        channels_last = LayoutAttr("NHWC")
        images_type = tensor_type((n * frames, channels * taps, *sizes[outer:]), element, channels_last)

        def image(b: Body, d: Values, t: Values) -> SSAValue:
            batch, *frame = _split(b, d[0], (n, *out[:outer]))
            channel, *tap = _split(b, d[1], (channels, *kernel[:outer]))
            valid: SSAValue | None = None
            planes: list[SSAValue] = []
            for i in range(outer):
                last = (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] - pads[i]
                place = b.sub(b.add(b.mul(frame[i], strides[i]), b.mul(tap[i], dilations[i])), pads[i])
                if pads[i]:
                    valid = b.both(valid, b.compare("ge", place, 0))
                if last >= sizes[i]:
                    valid = b.both(valid, b.compare("lt", place, sizes[i]))
                planes.append(b.clamp(place, 0, sizes[i] - 1) if pads[i] or last >= sizes[i] else place)
            value = b.load(t[0], [batch, channel, *planes, *d[2:]])
            return value if valid is None else b.select(valid, value, 0)

        if 0 in (*dims(op.x), *dims(op.result)):
            return rw.replace(op, self._empty(op))
        images = fused.generic("Im2col", images_type, [op.x], image)
        weights = fused.ViewOp(op.w, row_major((out_channels, depth * taps, *kernel[outer:]), elem(op.w)))
        extras = [op.bias] if op.bias is not None else []
        sums_type = tensor_type((n * frames, out_channels, *out[outer:]), elem(op.result), channels_last)
        conv = fused.ConvOp(
            "Conv3D",
            images.result,
            weights.result,
            extras,
            sums_type,
            fused.epilogue_region(
                4,
                accumulator,
                [images_type, weights.result.type, *(extra.type for extra in extras)],
                bias_epilogue(elem(op.result), accumulator, dimension=1, bias=2 if extras else None),
            ),
            kernel=kernel[outer:],
            strides=strides[outer:],
            pads=[pads[i] for i in (outer, outer + 1, 2 * outer + 2, 2 * outer + 3)],
            dilations=dilations[outer:],
            group=op.group.value.data,
        )

        def back(b: Body, d: Values) -> list[SSAValue]:
            return [joined(b, [d[0], *d[2 : 2 + outer]], (n, *out[:outer])), d[1], *d[2 + outer :]]

        rw.replace(op, [images, weights, conv, gather_map("Transpose", conv.result, tensor(op.result), back)])

    def _empty(self, op: ge.Conv3D) -> Operation:
        """The result when no element of x counts: bias everywhere, or nothing at all."""
        element = elem(op.result)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            return b.load(t[0], [d[1]]) if t else b.constant(0, fused.scalar_type(element))

        return fused.generic("Conv3D", tensor(op.result), [op.bias] if op.bias is not None else [], body)


def _split(b: Body, index: SSAValue, extents: Sequence[int]) -> list[SSAValue]:
    """An index into a row-major space as one index for each of its dimensions."""
    result: list[SSAValue] = []
    for extent in reversed(extents[1:]):
        result.insert(0, b.rem(index, extent, unsigned=True))
        index = b.div(index, extent, unsigned=True)
    return [index, *result]


def joined(b: Body, indices: Sequence[SSAValue], extents: Sequence[int]) -> SSAValue:
    """Indices of a row-major space as one."""
    result = indices[0]
    for index, extent in zip(indices[1:], extents[1:], strict=True):
        result = b.add(b.mul(result, extent), index)
    return result


@dataclass(frozen=True)
class Meeting:
    """One spatial dimension of a sum of taps that meet in a pixel: extent of the input, kernel, stride, dilation, pad."""

    extent: int
    kernel: int
    stride: int
    dilation: int
    pad: int

    @property
    def steps(self) -> int:
        """Extent of the reduction: all taps, or without dilation only those that can meet in one pixel."""
        return -(-self.kernel // self.stride) if self.dilation == 1 else self.kernel

    @property
    def is_apart(self) -> bool:
        """Whether the taps of one pixel end where those of the next begin."""
        return (self.kernel, self.dilation if self.kernel > 1 else 1, self.pad) == (self.stride, 1, 0)

    def meet(self, b: Body, index: SSAValue, step: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The tap and input index (clamped) that step `step` adds to result index `index`, and whether it does."""
        valid: SSAValue | None = None
        place = b.add(index, self.pad)
        if self.dilation == 1:
            tap = b.add(b.rem(place, self.stride, unsigned=True), b.mul(step, self.stride))
            source = b.sub(b.div(place, self.stride, unsigned=True), step)
            if self.kernel % self.stride:
                valid = b.compare("lt", tap, self.kernel)
                tap = b.minimum(tap, self.kernel - 1)
        else:
            tap = step
            distance = b.sub(place, b.mul(step, self.dilation))
            valid = b.compare("ge", distance, 0)
            distance = b.maximum(distance, 0)
            if self.stride != 1:
                valid = b.both(valid, b.compare("eq", b.rem(distance, self.stride, unsigned=True), 0))
            source = b.div(distance, self.stride, unsigned=True)
        valid = b.both(valid, b.compare("ge", source, 0))
        valid = b.both(valid, b.compare("lt", source, self.extent))
        assert valid is not None
        return tap, b.clamp(source, 0, self.extent - 1), valid


class LowerConvTranspose(Pattern):
    """ge.ConvTranspose2D and 3D: a matrix product of pixels and weights, then the sum of the taps that meet in a pixel.

    With x as [group, N H W, C / group] and w as [group, C / group, (O / group) KH KW], the product holds what each
    input pixel adds to each tap; output pixel (oh, ow) collects tap (kh, kw) of input pixel
    ((oh + top - kh dh) / sh, (ow + left - kw dw) / sw) wherever that division is exact and inside. Where taps of
    different pixels never meet, the result is the product with its dimensions in another order.
    """

    ops = (ge.ConvTranspose2D, ge.ConvTranspose3D)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ConvTranspose2D | ge.ConvTranspose3D)
        element, group = elem(op.x), op.group.value.data
        accumulator = fused.accumulator_type(element)
        n, c, *sizes = dims(op.x)
        width, *kernel = dims(op.w)[1:]
        depth, count, taps = c // group, n * math.prod(sizes), width * math.prod(kernel)
        pixels = self._pixels(op.x, group)
        batch = (group,) if group > 1 else ()
        rows = fused.ViewOp(pixels.results[0], row_major((*batch, count, depth), element))
        weights = fused.ViewOp(op.w, row_major((*batch, depth, taps), element))
        epilogue = fused.epilogue_region(
            2 + len(batch),
            accumulator,
            [rows.result.type, weights.result.type],
            lambda b, d, acc, t: acc,
        )
        columns_type = row_major((*batch, count, taps), accumulator)
        product = fused.MatmulOp("MatMulV2", rows.result, weights.result, [], columns_type, epilogue)
        columns = fused.ViewOp(product.result, row_major((group, n, *sizes, width, *kernel), accumulator))
        extras = [op.bias] if op.bias is not None else []
        meetings = [
            Meeting(*numbers)
            for numbers in zip(
                sizes, kernel, fused.ints(op.strides), fused.ints(op.dilations), fused.ints(op.pads), strict=False
            )
        ]
        operations = [pixels, rows, weights, product, columns]
        if all(m.is_apart for m in meetings) and list(dims(op.result)[2:]) == [m.extent * m.kernel for m in meetings]:
            placed = self._placed(op, columns.result)
            return rw.replace(op, [*operations, placed, fused.ViewOp(placed.results[0], tensor(op.result))])
        collect = fused.generic(
            op.name.removeprefix("ge."),
            tensor(op.result),
            [columns.result, *extras],
            lambda b, d, t: self._tap(b, meetings, d, t[0]),
            reduction=[meeting.steps for meeting in meetings],
            combiner="add",
            epilogue=bias_epilogue(element, accumulator, dimension=1, bias=1 if extras else None),
        )
        rw.replace(op, [*operations, collect])

    def _placed(self, op: ge.ConvTranspose2D | ge.ConvTranspose3D, columns: SSAValue) -> Operation:
        """The product's elements where the result has them, each spatial dimension as (input pixel, tap)."""
        element, accumulator = elem(op.result), elem(columns)
        shape = dims(columns)
        n = (len(shape) - 3) // 2
        # dimensions of the product by those of the result: channels are (group, channel of it)
        parts = [[1], [0, 2 + n], *([2 + i, 3 + n + i] for i in range(n))]
        order = layout(tensor(op.result))
        physical = range(len(parts)) if order is None else order.permutation
        sources = [source for dim in physical for source in parts[dim]]

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            at = {source: d[place] for place, source in enumerate(sources)}
            value = b.load(t[0], [at[i] for i in range(len(shape))])
            if len(t) > 1:
                channel = joined(b, [at[0], at[2 + n]], [shape[0], shape[2 + n]])
                value = b.add(value, b.convert(b.load(t[1], [channel]), element, accumulator))
            return b.convert(value, accumulator, element)

        inputs = [columns] if op.bias is None else [columns, op.bias]
        result = row_major([shape[source] for source in sources], element)
        return fused.generic(op.name.removeprefix("ge."), result, inputs, body)

    def _pixels(self, x: SSAValue, group: int) -> Operation:
        """x as [group, N, H, W, C / group]; for one group as [N, H, W, C], which moves nothing out of NHWC."""
        n, c, *sizes = dims(x)
        if group == 1:
            return transpose_op(x, row_major((n, *sizes, c), elem(x)), (0, *range(2, 2 + len(sizes)), 1))
        depth = c // group
        result = row_major((group, n, *sizes, depth), elem(x))
        return gather_map(
            "Transpose", x, result, lambda b, d: [d[1], b.add(b.mul(d[0], depth), d[-1]), *d[2 : 2 + len(sizes)]]
        )

    def _tap(self, b: Body, meetings: Sequence[Meeting], d: Values, columns: SSAValue) -> SSAValue:
        shape, n = dims(columns), len(meetings)
        width = shape[2 + n]
        valid: SSAValue | None = None
        inputs: list[SSAValue] = []
        taps: list[SSAValue] = []
        for axis, meeting in enumerate(meetings):
            tap, source, inside = meeting.meet(b, d[2 + axis], d[2 + n + axis])
            valid = b.both(valid, inside)
            inputs.append(source)
            taps.append(tap)
        g, channel = b.div(d[1], width, unsigned=True), b.rem(d[1], width, unsigned=True)
        if shape[0] == 1:
            g, channel = b.index(0), d[1]
        value = b.load(columns, [g, d[0], *inputs, channel, *taps])
        assert valid is not None
        return b.select(valid, value, 0)


PATTERNS: Sequence[type[Pattern]] = (LowerConv, LowerConv3D, LowerConvTranspose)
