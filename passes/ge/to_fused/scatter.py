"""Scatters -> fused.generic: each element of the result looks for the updates that are meant for it.

No two executions write the same place, so results do not depend on threads; the price is a reduction over the
updates (for ScatterElements over those along the axis alone). Many updates are sorted instead (see scatter_sorted).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.scatter import Scatter
from gecc.dialects.ge.types import AnyTensor, dims, elem, normal_axis, rank, row_major, tensor
from gecc.passes.ge.to_fused._common import narrow, widen
from gecc.passes.ge.to_fused.conv import joined
from gecc.passes.ge.to_fused.indexing import checked
from gecc.passes.ge.to_fused.pointwise import label_of
from gecc.passes.ge.to_fused.reduce import flip_sign
from gecc.passes.ge.to_fused.scatter_sorted import MANY, MUCH, SortedScatter
from gecc.rewrite import Pattern, Rewriter

Meant: TypeAlias = Callable[[Body, Values, Values, SSAValue], SSAValue]
"""(body, indices of the result, those of an update, tensor of indices) -> whether the update is for that element."""
Update: TypeAlias = Callable[[Body, Values, Values, SSAValue], SSAValue]
"""(body, indices of the result, those of an update, tensor of updates) -> the update."""


def lower(op: Scatter, result: AnyTensor, reduction: str, extents: Sequence[int], meant: Meant, update: Update) -> Any:
    """The operation; `extents` are those of the updates that may be meant for one element."""
    kind, dimensions = elem(op.x), rank(op.x)
    operands = [op.x, op.indices, op.updates]
    if reduction == "none":

        def winner(b: Body, d: Values, t: Values) -> SSAValue:
            """The number of the last update for this element, -1 for none."""
            at, number = d[dimensions:], b.index(0)
            for index, extent in zip(at, extents, strict=True):
                number = b.add(b.mul(number, extent), index)
            return b.select(meant(b, d[:dimensions], at, t[1]), b.from_index(number), b.constant(-1, i64))

        def chosen(b: Body, d: Values, last: SSAValue, t: Values) -> SSAValue:
            number = b.to_index(b.maximum(last, 0))
            at: list[SSAValue] = []
            for i, extent in enumerate(extents):
                stride = prod(extents[i + 1 :])
                at.append(b.check_index(b.rem(b.div(number, stride), extent), extent))
            return b.select(b.compare("ge", last, 0), update(b, d, at, t[2]), b.load(t[0], d))

        return fused.generic(label_of(op), result, operands, winner, reduction=extents, combiner="max", epilogue=chosen)
    ordered = reduction in ("max", "min")

    def term(b: Body, d: Values, t: Values) -> SSAValue:
        at = d[dimensions:]
        value = widen(b, update(b, d[:dimensions], at, t[2]), kind)
        value = flip_sign(b, value, kind) if ordered else value
        return b.select(meant(b, d[:dimensions], at, t[1]), value, _neutral(reduction, value.type))

    def combined(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        own = widen(b, b.load(t[0], d), kind)
        own = flip_sign(b, own, kind) if ordered else own
        value = b.binary(reduction, own, acc)
        return narrow(b, flip_sign(b, value, kind) if ordered else value, kind)

    return fused.generic(label_of(op), result, operands, term, reduction=extents, combiner=reduction, epilogue=combined)


def _neutral(reduction: str, kind: Attribute) -> float:
    """What leaves every value as it is (for integers in their signed order)."""
    if reduction in ("add", "mul"):
        return int(reduction == "mul")
    if isinstance(kind, AnyFloat):
        return -inf if reduction == "max" else inf
    assert isinstance(kind, IntegerType)
    top = 1 << (kind.width.data - 1)
    return -top if reduction == "max" else top - 1


class LowerScatterElements(Pattern):
    """ge.ScatterElements: a reduction over the updates along the axis."""

    ops = (ge.ScatterElements,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ScatterElements)
        shape, places = dims(op.x), dims(op.indices)
        axis = normal_axis(op.axis.value.data, len(shape))
        if 0 in places:
            return rw.replace(op, [], [op.x])
        if places[axis] > MANY:
            checked_places = fused.generic(
                label_of(op),
                row_major(places, i32),
                [op.indices],
                lambda b, d, t: b.convert(b.from_index(checked(b, b.load(t[0], d), shape[axis])), i64, i32),
            )
            scatter = SortedScatter(label_of(op), op.x, checked_places.result, op.updates, axis, op.reduction.data)
            return rw.replace(op, [checked_places, *scatter.lower(tensor(op.result))])

        def at_update(b: Body, d: Values, at: Values) -> list[SSAValue]:
            inside = [b.minimum(i, p - 1) if p < s else i for i, p, s in zip(d, places, shape, strict=True)]
            return [*inside[:axis], at[0], *inside[axis + 1 :]]

        def meant(b: Body, d: Values, at: Values, indices: SSAValue) -> SSAValue:
            hit = b.compare("eq", checked(b, b.load(indices, at_update(b, d, at)), shape[axis]), d[axis])
            for i, (place, size) in enumerate(zip(places, shape, strict=True)):
                if i != axis and place < size:
                    hit = b.binary("and", hit, b.compare("lt", d[i], place))
            return hit

        def update(b: Body, d: Values, at: Values, updates: SSAValue) -> SSAValue:
            return b.load(updates, at_update(b, d, at))

        rw.replace(op, lower(op, tensor(op.result), op.reduction.data, [places[axis]], meant, update))


class LowerScatterND(Pattern):
    """ge.ScatterND: a reduction over all index vectors."""

    ops = (ge.ScatterND,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ScatterND)
        shape, (*extents, depth) = dims(op.x), dims(op.indices)
        if 0 in dims(op.updates):
            return rw.replace(op, [], [op.x])
        count, rowwise = prod(extents), depth < len(shape)
        if depth and (count > MANY or (rowwise and count > 1 and count * prod(shape) > MUCH)):
            return rw.replace(op, self._sorted(op))

        def meant(b: Body, d: Values, at: Values, indices: SSAValue) -> SSAValue:
            hit: SSAValue | None = None
            for i in range(depth):
                place = checked(b, b.load(indices, [*at[: len(extents)], b.index(i)]), shape[i])
                hit = b.both(hit, b.compare("eq", place, d[i]))
            assert hit is not None
            return hit

        def update(b: Body, d: Values, at: Values, updates: SSAValue) -> SSAValue:
            return b.load(updates, [*at[: len(extents)], *d[depth:]])

        # a single index vector (indices of rank 1) is a reduction over one
        rw.replace(op, lower(op, tensor(op.result), op.reduction.data, extents or [1], meant, update))

    def _sorted(self, op: ge.ScatterND) -> list[Operation]:
        """With x as rows, one for each index vector that there can be."""
        shape, (*extents, depth) = dims(op.x), dims(op.indices)
        count, rows, width = prod(extents), prod(shape[:depth]), prod(shape[depth:])
        vectors = fused.ViewOp(op.indices, row_major((count, depth), elem(op.indices)))

        def row(b: Body, d: Values, t: Values) -> SSAValue:
            vector = [checked(b, b.load(t[0], [d[0], b.index(i)]), shape[i]) for i in range(depth)]
            return b.convert(b.from_index(joined(b, vector, shape[:depth])), i64, i32)

        places = fused.generic(label_of(op), row_major((count, 1), i32), [vectors.result], row)
        x = fused.ViewOp(op.x, row_major((rows, width), elem(op.x)))
        updates = fused.ViewOp(op.updates, row_major((count, width), elem(op.x)))
        scatter = SortedScatter(label_of(op), x.result, places.result, updates.result, 0, op.reduction.data)
        made = scatter.lower(row_major((rows, width), elem(op.x)))
        return [vectors, places, x, updates, *made, fused.ViewOp(made[-1].results[0], tensor(op.result))]


PATTERNS: Sequence[type[Pattern]] = (LowerScatterElements, LowerScatterND)
