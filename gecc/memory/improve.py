"""From the best greedy plan to a better one: searches of bounded work, cheapest first, until the goal is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from gecc.memory.greedy import max_load, order_by_load, order_by_size, order_by_width, place
from gecc.memory.problem import Instance
from gecc.memory.squeaky import squeaky
from gecc.memory.valley import ValleySearch, valley

_WORK = {"fast": 0, "default": 1, "best": 12}
"""Effort -> multiple of the node budgets of the long searches; 0 leaves them out."""

_PEELS = (0.97, 0.9, 0.7, 0.5)
_MAX_PAIRS = 3_000_000
"""Conflicts above which first fit is too slow to be replayed."""

_MAX_BUFFERS, _MAX_COVER = 2500, 3_000_000
"""Buffers, and sections summed over all buffers, above which an instance is too large for the valley search."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best plan so far, in the numbering of an instance."""

    peak: int
    offsets: list[int]
    method: str


def improve(p: Instance, best: Best, goal: int, effort: str) -> Best:
    """The best plan found in the work of `effort`, starting from `best`; stops at a peak of `goal`.

    Needs a uniform instance. Almost every network ends at the first steps, at its lower bound.
    """
    return _Improver(p, best, goal).run(_WORK[effort])


def _searchable(p: Instance) -> bool:
    return p.n <= _MAX_BUFFERS and sum(p.hi) - sum(p.lo) <= _MAX_COVER


class _Improver:
    def __init__(self, p: Instance, best: Best, goal: int) -> None:
        self.p = p
        self.best = best
        self.goal = goal
        self.replayable = p.pairs() <= _MAX_PAIRS
        self.searches: dict[int, ValleySearch] = {}
        """By capacity, to go on with."""
        self.floor = goal
        """The least peak not refuted."""

    @property
    def done(self) -> bool:
        return self.best.peak <= self.goal

    def run(self, work: int) -> Best:
        p = self.p
        for part in _PEELS[:2]:
            self._peel(part, self.goal, lambda n: 2 * n + 200)
        if not work:
            return self.best
        small = p.n <= 600
        if small:
            self._valley(self.goal, 8 * (p.n + 600))
        else:
            self._peel(_PEELS[0], self.goal, lambda n: 5000 * work)
        self._squeaky("load", 40)
        if small:  # restarts of the whole search do better than searches of parts
            self._valley(self.goal, work * 40_000)
            self._peel(_PEELS[0], self.goal, lambda n: 5000 * work)
        for part in _PEELS[1:]:
            self._peel(part, self.goal, lambda n: 5000 * work)
        if not small:
            self._valley(self.goal, work * 40_000 * 300 // p.n)
        for name in ("size", "width"):
            self._squeaky(name, 100 * work)
        self._bisect(work)
        return self.best

    def _keep(self, offsets: list[int], method: str) -> None:
        peak = self.p.peak(offsets)
        if peak < self.best.peak:
            self.best = Best(peak, offsets, method)

    def _valley(self, capacity: int, nodes: int) -> None:
        if self.done or capacity < self.floor or not _searchable(self.p):
            return
        if capacity not in self.searches:
            self.searches[capacity] = ValleySearch(self.p, capacity)
        verdict = self.searches[capacity].run(nodes)
        if verdict.offsets is not None:
            self._keep(verdict.offsets, "valley search")
        elif verdict.refuted:
            self.floor = max(self.floor, capacity + 1)

    def _peel(self, part: float, capacity: int, nodes: Callable[[int], int]) -> None:
        """Searches only the buffers of sections fuller than `part` of the bound, then fits the rest around them."""
        if self.done or capacity < self.floor:
            return
        p = self.p
        load = max_load(p)
        core = [i for i in range(p.n) if load[i] > part * p.bound]
        q = Instance([p.buffers[i] for i in core])
        if not _searchable(q):
            return
        verdict = valley(q, capacity, nodes=nodes(q.n), long=False)
        if verdict.offsets is None:
            if verdict.refuted:  # what a part cannot do, the whole cannot
                self.floor = max(self.floor, capacity + 1)
            return
        by_id = {b.id: o for b, o in zip(q.buffers, verdict.offsets, strict=True)}
        fixed = [by_id.get(b.id, -1) for b in p.buffers]
        for order in (order_by_size, order_by_load):
            found = place(p, [i for i in order(p) if fixed[i] < 0], fixed=fixed, limit=self.best.peak - 1)
            if found is not None:
                self._keep(found, f"peeled valley search ({part})")
            if self.done:
                break

    def _squeaky(self, name: str, replays: int) -> None:
        if self.done or not self.replayable:
            return
        p = self.p
        order = {"load": order_by_load, "size": order_by_size, "width": order_by_width}[name](p)
        replays = min(replays, 10_000_000 // max(p.pairs() + p.n, 1))
        if replays:
            found, _ = squeaky(p, order, target=self.goal, replays=replays)
            self._keep(found, f"squeaky wheel ({name})")

    def _bisect(self, work: int) -> None:
        """Looks for plans between the goal and the best peak."""
        step = gcd(*self.p.size)
        low = self.goal  # not met so far
        for _ in range(4 + 2 * work):
            low = max(low, self.floor - 1)
            if self.done or self.best.peak - low <= step:
                return
            middle = low + (self.best.peak - low) // 2 // step * step
            before = self.best.peak
            self._valley(middle, work * 4000)
            for part in _PEELS[:2]:
                if self.best.peak > middle:
                    self._peel(part, middle, lambda n: 1500 * work)
            if self.best.peak == before:
                low = middle
