"""Operators that move elements of one tensor: those that move nothing, and pairs that one operator can do."""

from __future__ import annotations

from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.dialects.ge.movement import slice_bounds
from gecc.dialects.ge.types import dims, layout, normal_axes, rank
from gecc.passes.ge.canonicalize.types import is_known, is_row_major, result_type
from gecc.rewrite import Pattern, Rewriter, miss


def patterns() -> list[Pattern]:
    """The rules of this file."""
    return [
        DropMovement(),
        MergeReshapes(),
        MergeTransposes(),
        TransposeToReshape(),
        MergeSlices(),
        MergePads(),
        MergeExpands(),
        TileToExpand(),
        MergeLayoutChanges(),
        ReduceToReshape(),
    ]


class DropMovement(Pattern):
    """A Reshape, Transpose, Slice, Pad, Expand, Tile, Resize, Concat, Split or TransData that moves nothing: its operand."""

    ops = (ge.Reshape, ge.Transpose, ge.Slice, ge.Pad, ge.Expand, ge.Tile, ge.Resize, ge.Concat, ge.Split, ge.TransData)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x = op.operands[0]
        if len(op.results) == 1 and op.results[0].type == x.type and _moves_nothing(op):
            rw.replace(op, (), [x])


def _moves_nothing(op: Operation) -> bool:
    """Whether an operator whose result has the type of its operand leaves every element where it is."""
    match op:
        case ge.Transpose():
            perm = op.perm.get_values()
            return list(perm) == sorted(perm)
        case ge.Slice():
            shape = dims(op.x)
            axes = normal_axes(op.axes.get_values(), len(shape))
            bounds = zip(axes, op.starts.get_values(), op.ends.get_values(), op.steps.get_values(), strict=True)
            # a step of -1 keeps the type too, but turns the dimension round
            return is_known(op.x) and all(
                step == 1 or shape[axis] <= 1
                for axis, *rest in bounds
                for step in [slice_bounds(shape[axis], *rest)[1]]
            )
        case ge.Pad():
            return not any(op.pads.get_values())
        case ge.Tile():
            return all(repeat == 1 for repeat in op.repeats.get_values())
        case ge.Resize():
            return (
                op.coordinate_mode.data != ge.CROP
                and is_known(op.x)
                and all(scale == 1.0 for scale in op.scales.get_values())
            )
        case ge.Concat():
            return len(op.xs) == 1
        case ge.Split() | ge.TransData():
            return True
        case _:  # with unknown dimensions equal types can still mean different shapes
            return is_known(op.operands[0])


class MergeReshapes(Pattern):
    """`Reshape(Reshape(x))`: `Reshape(x)`."""

    ops = (ge.Reshape,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, ge.Reshape):
            rw.replace(op, ge.Reshape(inner.x, result_type(op).get_shape()))


class MergeTransposes(Pattern):
    """`Transpose(Transpose(x))`: one Transpose."""

    ops = (ge.Transpose,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Transpose)
        inner = op.x.owner
        if not isinstance(inner, ge.Transpose):
            return
        first, second = inner.perm.get_values(), op.perm.get_values()
        rw.replace(op, ge.Transpose(inner.x, [first[p] for p in second], result_type=result_type(op)))


class TransposeToReshape(Pattern):
    """A Transpose that moves only dimensions of one element: a Reshape, which moves no bytes."""

    ops = (ge.Transpose,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Transpose)
        shape, perm = dims(op.x), op.perm.get_values()
        moved = [p for p in perm if shape[p] != 1]
        if moved != sorted(moved) or list(perm) == sorted(perm):
            return
        if not is_row_major(op.x):
            return miss(op, "x has layout {}, a Reshape needs row-major", layout(op.x.type))  # pyright: ignore[reportArgumentType]
        rw.replace(op, ge.Reshape(op.x, result_type(op).get_shape()))


class MergeSlices(Pattern):
    """`Slice(Slice(x))`: one Slice."""

    ops = (ge.Slice,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Slice)
        inner = op.x.owner
        if not isinstance(inner, ge.Slice):
            return
        if not is_known(inner.x):
            return miss(op, "the shape of the operand {} is not known", inner.x.type)
        first, second = _bounds(inner), _bounds(op)
        starts: list[int] = []
        ends: list[int] = []
        steps: list[int] = []
        for size, (start, step, _), (offset, stride, count) in zip(dims(inner.x), first, second, strict=True):
            begin, pace = start + step * offset, step * stride
            if count == 0:
                begin, pace = 0, 1
            end = begin + pace * count
            starts.append(begin)
            steps.append(pace)
            # going down past the first element is written as before -size, since -1 is the last one
            ends.append(end if end >= 0 else -size - 1)
        rw.replace(op, ge.Slice(inner.x, starts, ends, steps=steps, result_type=result_type(op)), absorbed=[inner])


def _bounds(op: ge.Slice) -> list[tuple[int, int, int]]:
    """First index, step and count of a slice for every dimension of its operand."""
    shape = dims(op.x)
    bounds = [(0, 1, size) for size in shape]
    axes = normal_axes(op.axes.get_values(), len(shape))
    for axis, start, end, step in zip(
        axes, op.starts.get_values(), op.ends.get_values(), op.steps.get_values(), strict=True
    ):
        bounds[axis] = slice_bounds(shape[axis], start, end, step)
    return bounds


class MergePads(Pattern):
    """`Pad(Pad(x))` with one constant value: one Pad."""

    ops = (ge.Pad,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Pad)
        inner = op.x.owner
        if not isinstance(inner, ge.Pad):
            return
        if (inner.mode.data, op.mode.data) != ("constant", "constant") or inner.value is not op.value:
            return miss(op, "pads differ: mode {} after mode {}, or other values", op.mode.data, inner.mode.data)
        first, second = inner.pads.get_values(), op.pads.get_values()
        if min(*first, *second, 0) < 0:
            return miss(op, "a pad removes elements: {} after {}", list(second), list(first))
        pads = [a + b for a, b in zip(first, second, strict=True)]
        rw.replace(op, ge.Pad(inner.x, pads, op.value, result_type=result_type(op)), absorbed=[inner])


class MergeExpands(Pattern):
    """`Expand(Expand(x))`: one Expand."""

    ops = (ge.Expand,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, ge.Expand) and rank(inner.x) == rank(inner.result) == rank(op.results[0]):
            rw.replace(op, ge.Expand(inner.x, result_type(op).get_shape()), absorbed=[inner])


class TileToExpand(Pattern):
    """A Tile that repeats only dimensions of one element: an Expand."""

    ops = (ge.Tile,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Tile)
        repeats = op.repeats.get_values()
        if all(repeat == 1 for repeat in repeats) or not is_known(op.x):
            return
        if any(repeat != 1 and size != 1 for repeat, size in zip(repeats, dims(op.x), strict=True)):
            return miss(op, "repeats {} of {} repeat more than single elements", list(repeats), dims(op.x))
        rw.replace(op, ge.Expand(op.x, result_type(op).get_shape()))


class MergeLayoutChanges(Pattern):
    """`TransData(TransData(x))`: one TransData."""

    ops = (ge.TransData,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, ge.TransData):
            target = layout(result_type(op))
            made = ge.TransData(inner.x, None if target is None else target.order.data)
            rw.replace(op, made, absorbed=[inner])


class ReduceToReshape(Pattern):
    """A sum, mean, maximum, minimum or product over dimensions of one element: a Reshape."""

    ops = (ge.ReduceSum, ge.ReduceMean, ge.ReduceMax, ge.ReduceMin, ge.ReduceProd)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x = op.operands[0]
        axes = normal_axes(op.properties["axes"].get_values(), rank(x))  # pyright: ignore[reportAttributeAccessIssue]
        if not is_row_major(x) or not is_known(x) or any(dims(x)[axis] != 1 for axis in axes):
            return
        rw.replace(op, ge.Reshape(x, result_type(op).get_shape()))
