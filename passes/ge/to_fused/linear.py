"""Matrix products and convolutions -> fused.matmul and fused.conv, the bias in the epilogue."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, elem, row_major, tensor
from gecc.passes.ge.to_fused._common import gather_map, moves_nothing
from gecc.rewrite import Pattern, Rewriter


def bias_epilogue(element: Attribute, accumulator: Attribute, *, dimension: int, bias: int | None) -> fused.EpilogueFn:
    """The epilogue `acc + bias[d[dimension]]` for a result and a bias of `element`; `bias` is its operand's position."""

    def write(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        if bias is not None:
            acc = b.add(acc, b.convert(b.load(t[bias], [d[dimension]]), element, accumulator))
        return b.convert(acc, accumulator, element)

    return write


class LowerMatMul(Pattern):
    """ge.MatMulV2. A transposed left operand is transposed by an operation of its own first."""

    ops = (ge.MatMulV2,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.MatMulV2)
        element = elem(op.a)
        new_ops: list[Operation] = []
        a = op.a
        if op.transpose_x1.value.data:
            shape = dims(a)
            swapped = row_major((*shape[:-2], shape[-1], shape[-2]), element)
            perm = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            new_ops.append(transpose_op(a, swapped, perm))
            a = new_ops[-1].results[0]
        extras = [op.bias] if op.bias is not None else []
        result = tensor(op.result)
        rank = result.get_num_dims()
        accumulator = fused.accumulator_type(element)
        epilogue = fused.epilogue_region(
            rank,
            accumulator,
            [a.type, op.b.type, *(extra.type for extra in extras)],
            bias_epilogue(elem(op.result), accumulator, dimension=rank - 1, bias=2 if extras else None),
        )
        new_ops.append(
            fused.MatmulOp("MatMulV2", a, op.b, extras, result, epilogue, transpose_b=bool(op.transpose_x2.value.data))
        )
        rw.replace(op, new_ops)


def transpose_op(x: SSAValue, result: TensorType, perm: Sequence[int], label: str = "Transpose") -> Operation:
    """`result[d] = x[..]` where result dimension i is dimension perm[i] of x; a view when no byte moves."""
    if moves_nothing(tensor(x), result, perm):
        return fused.ViewOp(x, result)
    inverse = [list(perm).index(d) for d in range(len(perm))]
    return gather_map(label, x, result, lambda b, d: [d[i] for i in inverse])


class LowerConv(Pattern):
    """ge.Conv2D."""

    ops = (ge.Conv2D,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Conv2D)
        element = elem(op.x)
        accumulator = fused.accumulator_type(element)
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


class LowerConvTranspose(Pattern):
    """ge.ConvTranspose2D: a matrix product of pixels and weights, then the sum of the taps that meet in a pixel.

    With x as [group, N H W, C / group] and w as [group, C / group, (O / group) KH KW], the product holds what each
    input pixel adds to each tap; output pixel (oh, ow) collects tap (kh, kw) of input pixel
    ((oh + top - kh dh) / sh, (ow + left - kw dw) / sw) wherever that division is exact and inside.
    """

    ops = (ge.ConvTranspose2D,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ConvTranspose2D)
        element, group = elem(op.x), op.group.value.data
        accumulator = fused.accumulator_type(element)
        n, c, h, w = dims(op.x)
        width, kh, kw = dims(op.w)[1:]
        depth = c // group
        pixels = self._pixels(op.x, group)
        batch = (group,) if group > 1 else ()
        rows = fused.ViewOp(pixels.results[0], row_major((*batch, n * h * w, depth), element))
        weights = fused.ViewOp(op.w, row_major((*batch, depth, width * kh * kw), element))
        epilogue = fused.epilogue_region(
            2 + len(batch),
            accumulator,
            [rows.result.type, weights.result.type],
            lambda b, d, acc, t: acc,
        )
        columns_type = row_major((*batch, n * h * w, width * kh * kw), accumulator)
        product = fused.MatmulOp("MatMulV2", rows.result, weights.result, [], columns_type, epilogue)
        columns = fused.ViewOp(product.result, row_major((group, n, h, w, width, kh, kw), accumulator))
        extras = [op.bias] if op.bias is not None else []
        collect = fused.generic(
            "ConvTranspose2D",
            tensor(op.result),
            [columns.result, *extras],
            lambda b, d, t: self._tap(b, op, d, t[0]),
            reduction=self._taps(op),
            combiner="add",
            epilogue=bias_epilogue(element, accumulator, dimension=1, bias=1 if extras else None),
        )
        rw.replace(op, [pixels, rows, weights, product, columns, collect])

    def _pixels(self, x: SSAValue, group: int) -> Operation:
        """x as [group, N, H, W, C / group]; for one group as [N, H, W, C], which moves nothing out of NHWC."""
        n, c, h, w = dims(x)
        if group == 1:
            return transpose_op(x, row_major((n, h, w, c), elem(x)), (0, 2, 3, 1))
        depth = c // group
        result = row_major((group, n, h, w, depth), elem(x))
        return gather_map("Transpose", x, result, lambda b, d: [d[1], b.add(b.mul(d[0], depth), d[4]), d[2], d[3]])

    def _taps(self, op: ge.ConvTranspose2D) -> tuple[int, int]:
        """Extents of the reduction: all taps, or without dilation only those that can meet in one pixel."""
        kernel, strides, dilations = dims(op.w)[2:], fused.ints(op.strides), fused.ints(op.dilations)
        taps = [-(-k // s) if d == 1 else k for k, s, d in zip(kernel, strides, dilations, strict=True)]
        return taps[0], taps[1]

    def _tap(self, b: Body, op: ge.ConvTranspose2D, d: Values, columns: SSAValue) -> SSAValue:
        shape = dims(columns)
        pads, strides, dilations = fused.ints(op.pads), fused.ints(op.strides), fused.ints(op.dilations)
        width = shape[4]
        valid: SSAValue | None = None
        inputs: list[SSAValue] = []
        taps: list[SSAValue] = []
        for axis in range(2):
            extent, kernel, stride, dilation = shape[2 + axis], shape[5 + axis], strides[axis], dilations[axis]
            place, step = b.add(d[2 + axis], pads[axis]), d[4 + axis]
            if dilation == 1:
                tap = b.add(b.rem(place, stride, unsigned=True), b.mul(step, stride))
                source = b.sub(b.div(place, stride, unsigned=True), step)
                if kernel % stride:
                    valid = b.both(valid, b.compare("lt", tap, kernel))
                    tap = b.minimum(tap, kernel - 1)
            else:
                tap = step
                distance = b.sub(place, b.mul(step, dilation))
                valid = b.both(valid, b.compare("ge", distance, 0))
                distance = b.maximum(distance, 0)
                if stride != 1:
                    valid = b.both(valid, b.compare("eq", b.rem(distance, stride, unsigned=True), 0))
                source = b.div(distance, stride, unsigned=True)
            valid = b.both(valid, b.compare("ge", source, 0))
            valid = b.both(valid, b.compare("lt", source, extent))
            inputs.append(b.clamp(source, 0, extent - 1))
            taps.append(tap)
        g, channel = b.div(d[1], width, unsigned=True), b.rem(d[1], width, unsigned=True)
        if shape[0] == 1:
            g, channel = b.index(0), d[1]
        value = b.load(columns, [g, d[0], *inputs, channel, *taps])
        assert valid is not None
        return b.select(valid, value, 0)


PATTERNS: Sequence[type[Pattern]] = (LowerMatMul, LowerConv, LowerConvTranspose)
