"""Scatters of many updates -> fused.generic: updates are sorted by the place they are for.

Each element of the result then finds its updates by binary search, all neighbours: the last one counts, or with a
reduction the last of a running one that starts anew at every place (a segmented scan in log2(n) steps). So nothing is
written twice, results do not depend on threads, and the work is n log^2 n instead of n times the size of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import AnyTensor, dims, elem, row_major
from gecc.passes.ge.to_fused._common import narrow, widen
from gecc.passes.ge.to_fused.reduce import flip_sign
from gecc.passes.ge.to_fused.top_k import Sort

MANY = 256
"""Updates for one element beyond which they are sorted."""
MUCH = 1 << 20
"""Comparisons of places beyond which whole rows are found at once."""


class SortedScatter:
    """Updates along one axis of x, in order of their places.

    places: i32, one for each update along `axis`; in other dimensions as many as updates, or one for all.
    """

    def __init__(self, label: str, x: SSAValue, places: SSAValue, updates: SSAValue, axis: int, reduction: str) -> None:
        self.label, self.x, self.updates, self.axis, self.reduction = label, x, updates, axis, reduction
        self.kind = elem(x)
        self.ordered = reduction in ("max", "min")
        self.count = dims(updates)[axis]
        sort = Sort(places, axis, largest=False)
        self.made = sort.runs(self.count)
        while sort.count > 1:
            self.made.append(sort.merged(self.made[-1].results[0], self.count))
        if not sort.packed:
            raise AssertionError(f"{self.count} updates of {dims(places)}: items do not hold their places")
        self.items = self.made[-1].results[0]

    def lower(self, result: AnyTensor) -> list[Operation]:
        """All operations; the last one gives the result."""
        scanned = self.updates if self.reduction == "none" else self._scan()

        operands = [self.x, self.items, scanned]
        shared = [extent == 1 for extent in dims(self.items)]
        if any(shared):  # rows that share a place: what is found is found once for each
            shape = [1 if one else extent for one, extent in zip(shared, dims(self.x), strict=True)]

            def found_for(b: Body, d: Values, t: Values) -> SSAValue:
                found, last, _ = self._last(b, d, t[0])
                return b.select(found, b.from_index(last), -1)

            winners = fused.generic(self.label, row_major(shape, i64), [self.items], found_for)
            self.made.append(winners)
            operands.append(winners.result)

        def element(b: Body, d: Values, t: Values) -> SSAValue:
            if any(shared):
                number = b.load(t[3], [b.index(0) if one else i for one, i in zip(shared, d, strict=True)])
                found, last = b.compare("ge", number, 0), b.to_index(b.maximum(number, 0))
                last, inside = b.check_index(last, self.count), list(d)
            else:
                found, last, inside = self._last(b, d, t[1])
            own = b.load(t[0], d)
            at = [*inside[: self.axis], last, *inside[self.axis + 1 :]]
            if self.reduction == "none":
                at[self.axis] = self._position(b, self._item(b, inside, last, t[1]))
                return b.select(found, b.load(t[2], at), own)
            wide = flip_sign(b, widen(b, own, self.kind), self.kind) if self.ordered else widen(b, own, self.kind)
            value = b.binary(self.reduction, wide, b.load(t[2], at))
            value = flip_sign(b, value, self.kind) if self.ordered else value
            return b.select(found, narrow(b, value, self.kind), own)

        self.made.append(fused.generic(self.label, result, operands, element))
        return self.made

    def _item(self, b: Body, at: Sequence[SSAValue], index: SSAValue, items: SSAValue) -> SSAValue:
        """The item at `index` along the axis."""
        shape = dims(items)
        others = [b.index(0) if extent == 1 else i for i, extent in zip(at, shape, strict=True)]
        return b.load(items, [*others[: self.axis], index, *others[self.axis + 1 :]])

    def _position(self, b: Body, item: SSAValue) -> SSAValue:
        """Which update an item stands for."""
        return b.check_index(b.to_index(b.binary("and", item, 2**32 - 1)), self.count)

    def _last(self, b: Body, d: Values, items: SSAValue) -> tuple[SSAValue, SSAValue, list[SSAValue]]:
        """Whether an element has updates, the last of them in order, and its index where updates have less extent."""
        extents, shape = dims(self.updates), dims(self.x)
        inside = [b.minimum(i, e - 1) if e < s else i for i, e, s in zip(d, extents, shape, strict=True)]
        bound = b.binary("shl", b.from_index(b.add(d[self.axis], 1)), 32)  # items below it are for this place or less
        count = b.index(0)
        for bit in reversed(range(self.count.bit_length())):
            more = b.add(count, 1 << bit)
            item = self._item(b, inside, b.minimum(b.sub(more, 1), self.count - 1), items)
            fits = b.binary("and", b.compare("le", more, self.count), b.compare("lt", item, bound))
            count = b.select(fits, more, count)
        last = b.maximum(b.sub(count, 1), 0)
        place = b.binary("shr", self._item(b, inside, last, items), 32)
        found = b.binary("and", b.compare("gt", count, 0), b.compare("eq", place, b.from_index(d[self.axis])))
        for i, (extent, size) in enumerate(zip(extents, shape, strict=True)):
            if i != self.axis and extent < size:
                found = b.binary("and", found, b.compare("lt", d[i], extent))
        return found, last, inside

    def _scan(self) -> SSAValue:
        """Updates in order, each combined with those before it that are for the same place (Hillis and Steele)."""
        target = self._working()
        type_ = row_major(dims(self.updates), target)

        def sorted_(b: Body, d: Values, t: Values) -> SSAValue:
            position = self._position(b, self._item(b, d, d[self.axis], t[1]))
            value = widen(b, b.load(t[0], [*d[: self.axis], position, *d[self.axis + 1 :]]), self.kind)
            return flip_sign(b, value, self.kind) if self.ordered else value

        self.made.append(fused.generic(self.label, type_, [self.updates, self.items], sorted_))
        for bit in range((self.count - 1).bit_length()):
            step = 1 << bit

            def combine(b: Body, d: Values, t: Values, step: int = step) -> SSAValue:
                i = d[self.axis]
                before = b.maximum(b.sub(i, step), 0)
                places = [b.binary("shr", self._item(b, d, j, t[1]), 32) for j in (before, i)]
                same = b.binary("and", b.compare("ge", i, step), b.compare("eq", *places))
                own, other = (b.load(t[0], [*d[: self.axis], j, *d[self.axis + 1 :]]) for j in (i, before))
                return b.select(same, b.binary(self.reduction, other, own), own)

            self.made.append(fused.generic(self.label, type_, [self.made[-1].results[0], self.items], combine))
        return self.made[-1].results[0]

    def _working(self) -> Attribute:
        """The element type of running reductions: f32 for half formats; integers in their own width, signless."""
        return fused.accumulator_type(self.kind) if isinstance(self.kind, AnyFloat) else fused.scalar_type(self.kind)
