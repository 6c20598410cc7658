"""Buffers of pieces that live at different times, at fixed places in the whole: staircases instead of rectangles.

Such are tensors that are written part by part, or die so, and chains of tensors that took over one another's memory. A plan
of the rectangles around them is sound and often at the bound. Where it is not, they are placed as they are: two buffers of
pieces exclude some differences of their offsets, one interval for each pair of pieces that live at once, and first fit takes
the lowest offset that nothing excludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gecc.memory.greedy import (
    free_offset,
    order_by_area,
    order_by_load,
    order_by_program,
    order_by_size,
    order_by_width,
)
from gecc.memory.problem import Buffer, Instance, lower_bound
from gecc.memory.squeaky import squeaky

if TYPE_CHECKING:
    from gecc.memory.portfolio import Plan

_ORDERS = {
    "size": order_by_size,
    "load": order_by_load,
    "width": order_by_width,
    "program": order_by_program,
    "area": order_by_area,
}
_MAX_PAIRS = 3_000_000
"""Pairs of pieces alive at once above which only rectangles are planned."""

_REPLAYS = {"fast": 0, "default": 120, "best": 1200}


def plan_rigid(buffers: Sequence[Buffer], capacity: int | None, effort: str) -> Plan:
    """The best plan of valid buffers with pieces, as rectangles or as they are; stops at the bound or the capacity."""
    from gecc.memory.portfolio import Plan, plan

    bound = lower_bound(buffers)
    goal = bound if capacity is None else max(capacity, bound)
    hulls = [replace(b, pieces=()) for b in buffers]
    best = plan(hulls, capacity=goal, effort="fast")
    staircases = Staircases(buffers)
    near = staircases.p.pairs() <= _MAX_PAIRS and staircases.parts.pairs() <= _MAX_PAIRS
    for name, order in _ORDERS.items():
        for best_fit in (False, True):
            if best.peak <= goal or not near:
                break
            found = staircases.place(order(staircases.p), best_fit=best_fit, limit=best.peak - 1)
            if found is not None:
                best = staircases.plan(found, f"{name} {'best' if best_fit else 'first'}-fit of pieces")
    if best.peak > goal and effort != "fast" and lower_bound(hulls) < best.peak:
        best = min(best, plan(hulls, capacity=goal, effort=effort), key=lambda p: p.peak)
    for name in ("load", "size", "program"):
        replays = min(_REPLAYS[effort], 10_000_000 // max(staircases.parts.pairs() + 1, 1))
        if best.peak <= goal or not near or not replays:
            break
        order = _ORDERS[name](staircases.p)
        found, peak = squeaky(staircases.p, order, target=goal, replays=replays, first_fit=staircases.place)
        if peak < best.peak:
            best = staircases.plan(found, f"squeaky wheel of pieces ({name})")
    return Plan(best.offsets, best.peak, bound, best.method)


class Staircases:
    """An instance whose buffers exclude differences of offsets: `p` numbers the buffers, `parts` are their pieces."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        self.p = p = Instance(buffers)
        self._near: list[list[tuple[int, int, int]]] | None = None
        self._owner = [i for i, b in enumerate(p.buffers) for _ in b.parts]
        self._pieces = [piece for b in p.buffers for piece in b.parts]
        self.parts = Instance([Buffer(str(k), x.lower, x.upper, x.stop - x.start) for k, x in enumerate(self._pieces)])

    @property
    def near(self) -> list[list[tuple[int, int, int]]]:
        """For each buffer (other, low, high): its offset may not lie strictly between other's + low and other's + high."""
        if self._near is None:
            excluded: dict[tuple[int, int], list[tuple[int, int]]] = {}
            number = [int(b.id) for b in self.parts.buffers]
            for k, others in enumerate(self.parts.neighbours()):
                i, mine = self._owner[number[k]], self._pieces[number[k]]
                for j, other in ((self._owner[number[x]], self._pieces[number[x]]) for x in others):
                    if i != j:
                        excluded.setdefault((i, j), []).append((other.start - mine.stop, other.stop - mine.start))
            self._near = [[] for _ in range(self.p.n)]
            for (i, j), intervals in sorted(excluded.items()):
                self._near[i] += [(j, low, high) for low, high in _united(intervals)]
        return self._near

    def place(self, order: Sequence[int], *, best_fit: bool = False, limit: int | None = None) -> list[int] | None:
        """Puts the buffers one after the other at the lowest offset that is free, or with `best_fit` that with least room.

        None as soon as one would end above `limit`.
        """
        offsets = [-1] * self.p.n
        for i in order:
            taken = sorted([(o + low, o + high) for j, low, high in self.near[i] if (o := offsets[j]) >= 0])
            at = free_offset(taken, self.p.align[i], best_fit)
            if limit is not None and at + self.p.size[i] > limit:
                return None
            offsets[i] = at
        return offsets

    def plan(self, offsets: Sequence[int], method: str) -> Plan:
        """A plan with these offsets."""
        from gecc.memory.portfolio import Plan

        by_id = {b.id: 0 for b in self.buffers}
        for b, offset in zip(self.p.buffers, offsets, strict=True):
            by_id[b.id] = offset
        return Plan(by_id, self.p.peak(offsets), 0, method)


def _united(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Open intervals that overlap as one; those that only touch leave the point between them."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if out and low < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
