"""Sizes of results up to the dynamic dimensions: what a type with `?` cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge.infer_shapes.elements import Element, is_integer
from gecc.passes.ge.infer_shapes.polynomial import Integer, add, divide, multiply, sign, subtract

if TYPE_CHECKING:
    import numpy as np

Sizes: TypeAlias = "Sequence[Integer | None] | None"
"""One entry per dimension, None where nothing is known; None for no knowledge at all."""


class KnownSizes(Protocol):
    """What is known of values, for the operands that sizes depend on."""

    def sizes(self, value: SSAValue) -> tuple[Integer, ...]:
        """The sizes of a tensor."""
        ...

    def elements(self, value: SSAValue) -> np.ndarray | None:
        """The elements of a small tensor."""
        ...

    def numbers(self, value: SSAValue) -> np.ndarray | None:
        """The elements of a small tensor when all are numbers."""
        ...


_SAME_AS_FIRST = (
    *(ge.Cast, ge.BatchNorm, ge.LayerNorm, ge.RMSNorm, ge.Softmax, ge.LogSoftmax, ge.TransData, ge.ClipByValue),
    *(ge.Quantize, ge.Dequantize, ge.BitCast, ge.Cumulative, ge.Scatter, ge.ReverseSequence),
)


def sizes_of(op: Operation, values: KnownSizes) -> list[Sizes]:
    """What is known of the sizes of each result of `op`."""
    if isinstance(op, ge.Split):
        whole = values.sizes(op.x)
        axis = ge.normal_axis(op.axis.value.data, len(whole))
        return [(*whole[:axis], size, *whole[axis + 1 :]) for size in op.sizes.get_values()]
    if isinstance(op, ge.MaxPoolWithArgmax):
        return [_window(op, values.sizes(op.x))] * 2
    if len(op.results) != 1 or not op.operands or isinstance(op, ge.Control):
        return [None] * len(op.results)
    return [_sizes(op, values)]


def _sizes(op: Operation, values: KnownSizes) -> Sizes:
    x = op.operands[0]
    sizes = values.sizes(x)
    if isinstance(op, _SAME_AS_FIRST):
        return sizes
    match op:
        case ge.Pointwise():
            return broadcast([values.sizes(operand) for operand in op.operands])
        case ge.Transpose():
            return [sizes[p] for p in op.perm.get_values()]
        case ge.Concat():
            return _concat(op, values)
        case ge.Reduce() | ge.ArgReduce():
            axes = op.axes.get_values() if isinstance(op, ge.Reduce) else [op.axis.value.data]
            axes = ge.normal_axes(axes, len(sizes))
            keep = bool(op.keep_dims.value.data)
            return [1 if i in axes else size for i, size in enumerate(sizes) if keep or i not in axes]
        case ge.MatMulV2():
            return _matmul(op, values)
        case ge.Gather():
            axis = ge.normal_axis(op.axis.value.data, len(sizes))
            return (*sizes[:axis], *values.sizes(op.indices), *sizes[axis + 1 :])
        case ge.GatherElements():
            return values.sizes(op.indices)
        case ge.Slice():
            return _slice(op, sizes)
        case ge.Pad():
            pads, rank = op.pads.get_values(), len(sizes)
            return [add(size, pads[i] + pads[rank + i]) for i, size in enumerate(sizes)]
        case ge.Tile():
            return [multiply(size, n) for size, n in zip(sizes, op.repeats.get_values(), strict=True)]
        case ge.Conv2D() | ge.Conv3D() | ge.MaxPool() | ge.AvgPool():
            return _window(op, sizes)
        case ge.Resize():
            scales = op.scales.get_values()
            return [_resized(size, scale) for size, scale in zip(sizes, scales, strict=True)]
        case ge.ConvTranspose2D() | ge.ConvTranspose3D() | ge.DepthToSpace() | ge.SpaceToDepth():
            return [sizes[0], *[None] * (len(sizes) - 1)]
        case ge.GlobalAveragePool() | ge.GlobalMaxPool():
            return [*sizes[:2], *[1] * (len(sizes) - 2)]
        case ge.Reshape():
            target: list[Integer | None] = [None if extent < 0 else extent for extent in ge.dims(op.result)]
            return _with_rest(target, sizes)
        case _:
            return _dynamic(op, sizes, values)


def _dynamic(op: Operation, sizes: Sequence[Integer], values: KnownSizes) -> Sizes:
    """Sizes of the forms that take a shape as operand."""
    match op:
        case ge.DynReshape():
            return reshaped(sizes, shape_operand(op.shape, values), bool(op.allowzero.value.data))
        case ge.DynExpand():
            wanted = shape_operand(op.shape, values)
            return None if wanted is None else broadcast([sizes, wanted])
        case ge.ConstantOfShape():
            return shape_operand(op.shape, values)
        case ge.DynTile():
            repeats = shape_operand(op.repeats, values)
            return repeats and [None if n is None else multiply(s, n) for s, n in zip(sizes, repeats, strict=True)]
        case ge.DynResize() if op.sizes is not None:
            return shape_operand(op.sizes, values)
        case ge.DynSqueeze():
            axes = None if op.axes is None else values.numbers(op.axes)
            if axes is None:
                return None
            places = ge.normal_axes([int(a) for a in axes], len(sizes))
            return [size for i, size in enumerate(sizes) if i not in places]
        case ge.DynUnsqueeze():
            axes = values.numbers(op.axes)
            if axes is None:
                return None
            rank = len(sizes) + len(axes)
            places = ge.normal_axes([int(a) for a in axes], rank)
            rest = iter(sizes)
            return [1 if i in places else next(rest) for i in range(rank)]
        case ge.Range():
            start, limit, delta = (values.elements(operand) for operand in op.operands)
            if start is None or limit is None or delta is None or start.item() != 0 or delta.item() != 1:
                return None
            length = limit.item()
            return [length] if is_integer(length) and sign(length) in (0, 1) else None
        case _:
            return None


def shape_operand(value: SSAValue, values: KnownSizes) -> list[Integer | None] | None:
    """The elements of a shape operand; None where one is not an integer."""
    elements = values.elements(value)
    if elements is None:
        return None
    return [cast(Integer, x) if is_integer(x) else None for x in cast("list[Element]", list(elements.flat))]


def broadcast(shapes: Sequence[Sequence[Integer | None]]) -> list[Integer | None]:
    """The numpy broadcast of sizes, where it can be said."""
    rank = max(len(shape) for shape in shapes)
    return [
        _joined([shape[i - rank + len(shape)] for shape in shapes if i - rank + len(shape) >= 0]) for i in range(rank)
    ]


def _joined(column: Sequence[Integer | None]) -> Integer | None:
    """What sizes in one place broadcast to: a number other than 1 wins; else all but 1 must be the same."""
    rest = [size for size in column if size != 1]
    if not rest:
        return 1
    for size in rest:
        if isinstance(size, int):
            return size
    return rest[0] if all(size == rest[0] for size in rest) else None


def reshaped(sizes: Sequence[Integer], wanted: list[Integer | None] | None, allowzero: bool) -> Sizes:
    """The sizes after a reshape; None in `wanted` is an element that is not known."""
    if wanted is None:
        return None
    target: list[Integer | None] = []
    for i, size in enumerate(wanted):
        if size == 0 and not allowzero:
            target.append(sizes[i] if i < len(sizes) else None)
        elif size is not None and sign(size) is None and not _is_size(size):
            target.append(None)  # may be -1
        else:
            target.append(None if size == -1 else size)
    return _with_rest(target, sizes)


def _is_size(size: Integer) -> bool:
    from gecc.passes.ge.infer_shapes.polynomial import lower_bound

    bound = lower_bound(size)
    return bound is not None and bound >= 0


def _with_rest(target: list[Integer | None], sizes: Sequence[Integer]) -> list[Integer | None]:
    """`target` with its only gap filled so that it holds as many elements as `sizes`."""
    if target.count(None) != 1:
        return target
    left, right = list(sizes), [size for size in target if size is not None]
    for size in list(right):
        if size in left:  # common factors cancel, whatever they are
            left.remove(size)
            right.remove(size)
    if 0 in right:
        return target
    total: Integer = 1
    rest: Integer = 1
    for size in left:
        total = multiply(total, size)
    for size in right:
        rest = multiply(rest, size)
    quotient = divide(total, rest)
    return [quotient if size is None else size for size in target]


def _concat(op: ge.Concat, values: KnownSizes) -> Sizes:
    parts = [values.sizes(x) for x in op.xs]
    axis = ge.normal_axis(op.axis.value.data, len(parts[0]))
    result: list[Integer] = []
    for i, column in enumerate(zip(*parts, strict=True)):
        if i == axis:
            total: Integer = 0
            for size in column:
                total = add(total, size)
            result.append(total)
        else:
            result.append(next((size for size in column if isinstance(size, int)), column[0]))
    return result


def _matmul(op: ge.MatMulV2, values: KnownSizes) -> Sizes:
    a, b = values.sizes(op.a), values.sizes(op.b)
    rows = a[-1] if op.transpose_x1.value.data else a[-2]
    columns = b[-2] if op.transpose_x2.value.data else b[-1]
    batch = broadcast([a[:-2], b[:-2]]) if len(a) > 2 or len(b) > 2 else []
    return [*batch, rows, columns]


def _slice(op: ge.Slice, sizes: Sequence[Integer]) -> Sizes:
    result: list[Integer | None] = list(sizes)
    bounds = zip(*(p.get_values() for p in (op.starts, op.ends, op.axes, op.steps)), strict=True)
    for start, end, axis, step in bounds:
        axis = ge.normal_axis(axis, len(sizes))
        size = sizes[axis]
        if isinstance(size, int):
            result[axis] = ge.slice_bounds(size, start, end, step)[2]
        elif not (start == 0 and end >= 2**31 - 1 and step == 1):
            result[axis] = None
    return result


def _resized(size: Integer, scale: float) -> Integer | None:
    """ONNX: the size times the scale, rounded down."""
    if isinstance(size, int):
        return ge.scaled_extent(size, scale)
    return multiply(size, int(scale)) if scale == int(scale) else None


def _window(op: ge.Conv2D | ge.Conv3D | ge.Pool, sizes: Sequence[Integer]) -> Sizes:
    """A window of stride 1 takes a fixed number from each extent; other strides divide."""
    convolution = isinstance(op, ge.Conv2D | ge.Conv3D)
    result: list[Integer | None] = [sizes[0], None if convolution else sizes[1]]
    kernel = ge.dims(op.w)[2:] if convolution else op.kernel.get_values()
    strides, pads, dilations = (p.get_values() for p in (op.strides, op.pads, op.dilations))
    for i in range(len(kernel)):
        reach = (kernel[i] - 1) * dilations[i] + 1
        if strides[i] == 1 and kernel[i] > 0:
            result.append(add(subtract(sizes[2 + i], reach - 1), pads[i] + pads[len(kernel) + i]))
        else:
            result.append(None)
    return result
