"""Valley search: is there a plan within a capacity? A complete search that works on the tightest spot first.

State: for each unplaced buffer the least offset it can have, given what is placed (`least`), and for each section the
least of these over the unplaced buffers there: its effective floor, `floor`. Nothing more will start below it.

- Bound: floor + unplaced bytes of a section must not exceed the capacity.
- Branching: take a section in a local minimum of the floor, a valley. Either one of the unplaced buffers starts exactly
  at the floor there (one branch each), or none does and the floor rises to the next possible start (the waste branch,
  only where the section has bytes to waste). Any valley is sound, not only the lowest, so the search can go
  where there is least slack: that is what the order of MiniMalloc (lowest first) cannot do.
- Sections that no unplaced buffer crosses split the problem into independent parts.
- A failed part is remembered by its buffers and floors: the same buffers on floors nowhere lower fail as well.
- Restarts with another rule for choosing the section, weights of sections where the bound was broken (after Boussemart et
  al., "Boosting systematic search by weighting constraints", 2004), and noise in the order of candidates.

Work is counted in nodes and the noise is seeded: the same instance gives the same answer everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

from gecc.memory.greedy import max_load
from gecc.memory.problem import Instance

if TYPE_CHECKING:
    import numpy as np

_INF = 1 << 60
_MAX_MEMO = 20_000
"""Failed parts remembered, each with a few floors."""

_ROUNDS = (
    ("slack", "sections", 1),
    ("options/weight", "sections", 6),
    ("options/slack", "sections", 1),
    ("slack", "load", 1),
    ("options/weight", "load", 1),
    ("options/slack", "load", 1),
)
"""What the restarts do, in turn. Which valley to work on: the one of least slack, of fewest options for its weight, or of
fewest options and then least slack. What to try there first: buffers of most sections, then area; or of the fullest section,
then size. And how many times the node budget of a round: one runs long, for what many short ones do not find."""

_QUIET = len(_ROUNDS)
_NOISE = 0.25
"""Rounds without noise in the order of candidates, and the part by which it changes the sort keys after them."""


class _OutOfNodes(Exception):
    """The node budget of a round is spent."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`offsets` within the capacity, or None; `refuted` says that there are none, not that none were found."""

    offsets: list[int] | None
    refuted: bool
    nodes: int


_Part = tuple[int, int, "np.ndarray[Any, Any]"]
"""Sections [a, b) and the unplaced buffers there, ascending."""


def valley(p: Instance, capacity: int, *, nodes: int, long: bool = True) -> Verdict:
    """Looks for offsets that end at most at `capacity`, in about `nodes` nodes; without `long` all rounds are short.

    Needs a uniform instance.
    """
    return ValleySearch(p, capacity, long=long).run(nodes)


class ValleySearch:
    """A search that goes on where it stopped."""

    def __init__(self, p: Instance, capacity: int, *, long: bool = True) -> None:
        """As `valley`."""
        if not p.uniform:
            raise ValueError("valley search needs one alignment that divides all sizes")
        self._p = p
        self._capacity = capacity
        self._long = long
        self._budget = p.n + 600
        self._number = 0
        self._search: _Search | None = None

    def run(self, nodes: int) -> Verdict:
        """Search on, in about `nodes` nodes: the next rounds, the last of which may be cut short."""
        p = self._p
        if p.bound > self._capacity:
            return Verdict(None, True, 0)
        if not p.n:
            return Verdict([], False, 0)
        search = self._search = self._search or _Search(p, self._capacity)
        used = 0
        while used < nodes:
            spot, order, share = _ROUNDS[self._number % len(_ROUNDS)]
            budget = self._budget * (share if self._long else 1)
            answer, spent = search.round(spot, order, self._number, min(budget, nodes - used))
            used += spent
            if answer is not None:
                return Verdict(search.offsets() if answer else None, not answer, used)
            self._number += 1
            if self._number % len(_ROUNDS) == 0:
                self._budget = self._budget * 6 // 5
        return Verdict(None, False, used)


class _Search:
    def __init__(self, p: Instance, capacity: int) -> None:
        import numpy as np

        self.np = np
        self.p = p
        self.capacity = capacity
        self.lo = np.array(p.lo, np.int64)
        self.hi = np.array(p.hi, np.int64)
        self.size = np.array(p.size, np.int64)
        self.unit = gcd(*p.size, capacity)
        # section s is covered by cover[first[s] : first[s + 1]]
        lists: list[list[int]] = [[] for _ in range(p.sections)]
        for i in range(p.n):
            for s in range(p.lo[i], p.hi[i]):
                lists[s].append(i)
        self.cover = np.array([i for one in lists for i in one], np.int64)
        self.first = np.cumsum([0] + [len(one) for one in lists])
        self.weights = {(spot, order): np.ones(p.sections, np.int64) for spot, order, _ in _ROUNDS}
        load = max_load(p)
        self.keys = {
            "sections": [(p.hi[i] - p.lo[i], p.size[i] * p.width[i], load[i]) for i in range(p.n)],
            "load": [(load[i], p.size[i], p.hi[i] - p.lo[i]) for i in range(p.n)],
        }
        self.placed = [0] * p.n
        self.memo: dict[tuple[int, int, bytes], list[Any]] = {}

    def offsets(self) -> list[int]:
        """Where the last successful round put the buffers."""
        return list(self.placed)

    def round(self, spot: str, order: str, number: int, budget: int) -> tuple[bool | None, int]:
        """One search from the start: (found, refuted or None for out of nodes; nodes used)."""
        np, p = self.np, self.p
        self.spot = spot
        self.weight = self.weights[spot, order]
        self.rank = self._ranks(order, number)
        self.nodes, self.budget = 0, budget
        self.least = np.zeros(p.n, np.int64)
        self.floor = np.zeros(p.sections, np.int64)
        self.total = np.array(p.load, np.int64)
        try:
            return _run(self._solve(0, p.sections, np.arange(p.n))), self.nodes
        except _OutOfNodes:
            return None, self.nodes

    def _ranks(self, order: str, number: int) -> np.ndarray[Any, Any]:
        """Buffer -> its place in the order of candidates."""
        import random

        keys: Sequence[tuple[float, ...]] = self.keys[order]
        if number >= _QUIET:
            rng = random.Random(number)
            keys = [tuple(k * rng.uniform(1 - _NOISE, 1 + _NOISE) for k in key) for key in keys]
        ranked = sorted(range(self.p.n), key=lambda i: (tuple(-k for k in keys[i]), i))
        rank = self.np.empty(self.p.n, self.np.int64)
        rank[ranked] = self.np.arange(self.p.n)
        return rank

    # -- the search ---------------------------------------------------------------------------------------------------

    def _solve(self, a: int, b: int, todo: np.ndarray[Any, Any]) -> Generator[Any, bool, bool]:
        """Whether the buffers `todo`, all within sections [a, b), can be placed; undoes what it did when they cannot.

        A generator that yields the calls it wants made (see `_run`): the depth may reach the number of buffers.
        """
        parts = self._parts(todo)
        if len(parts) != 1 or (parts[0][0], parts[0][1]) != (a, b):
            for part in sorted(parts, key=self._slack):
                if not (yield self._solve(*part)):
                    return False  # the caller restores this part's state
            return True

        key = (a, b, todo.tobytes())
        floors = self.floor[a:b].copy()
        known = self.memo.get(key)
        if known is not None and any((floors >= other).all() for other in known):
            return False
        least, total = self.least[todo].copy(), self.total[a:b].copy()
        section, options, waste = self._choose(a, b, todo)
        for i in options:
            if self._place(a, b, todo, i):
                rest = todo[todo != i]
                if not len(rest) or (yield self._solve(a, b, rest)):
                    return True
            self._restore(a, b, todo, floors, least, total)
        if waste and self._raise(todo, section):
            if (yield self._solve(a, b, todo)):
                return True
        self._restore(a, b, todo, floors, least, total)
        if known is None:
            if len(self.memo) < _MAX_MEMO:
                self.memo[key] = [floors]
        elif len(known) < 8:
            known.append(floors)
        return False

    def _restore(self, a: int, b: int, todo: Any, floors: Any, least: Any, total: Any) -> None:
        self.floor[a:b] = floors
        self.least[todo] = least
        self.total[a:b] = total

    def _parts(self, todo: np.ndarray[Any, Any]) -> list[_Part]:
        """The independent parts of the buffers `todo`."""
        np = self.np
        lo, reach = self.lo[todo], np.maximum.accumulate(self.hi[todo])
        cuts = np.flatnonzero(lo[1:] >= reach[:-1]) + 1
        if not len(cuts):
            return [(int(lo[0]), int(reach[-1]), todo)]
        bounds = [0, *cuts.tolist(), len(todo)]
        return [(int(lo[x]), int(reach[y - 1]), todo[x:y]) for x, y in itertools.pairwise(bounds)]

    def _slack(self, part: _Part) -> int:
        a, b, _ = part
        return -int((self.floor[a:b] + self.total[a:b]).max())

    def _choose(self, a: int, b: int, todo: np.ndarray[Any, Any]) -> tuple[int, list[int], bool]:
        """(section, buffers that may start at its floor, whether it has bytes to waste) of the valley to work on."""
        np = self.np
        floor = self.floor[a:b]
        # runs of equal floor, and which of them are lower than both neighbours
        edge = np.flatnonzero(floor[1:] != floor[:-1]) + 1
        starts = np.concatenate(([0], edge))
        height = floor[starts]
        valley = np.ones(len(starts), bool)
        valley[1:] &= height[1:] < height[:-1]
        valley[:-1] &= height[:-1] < height[1:]
        lengths = np.diff(np.concatenate((starts, [b - a])))
        low = np.repeat(valley, lengths)

        lo = self.lo[todo] - a
        ready = low[lo] & (self.least[todo] == floor[lo])
        able, able_lo = todo[ready], lo[ready]
        count = np.bincount(able_lo, minlength=b - a) - np.bincount(self.hi[able] - a, minlength=b - a + 1)[:-1]
        options = np.cumsum(count)
        slack = self.capacity - floor - self.total[a:b]
        options = options + (slack >= self.unit)

        spots = np.flatnonzero(low)
        o, s = options[spots], slack[spots]
        forced = np.flatnonzero(o == 1)
        if len(forced):
            at = int(spots[forced[0]])
        else:
            if self.spot == "options/weight":
                score = o / self.weight[a:b][spots]
            else:
                score = s * 1024 + o if self.spot == "slack" else (o << 40) + s
            at = int(spots[np.argmin(score)])
        here = able[(able_lo <= at) & (self.hi[able] - a > at)]
        here = here[np.argsort(self.rank[here])]
        unique: dict[tuple[int, int, int], int] = {}
        for i in here.tolist():  # equal buffers are interchangeable
            unique.setdefault((self.p.lo[i], self.p.hi[i], self.p.size[i]), i)
        return a + at, list(unique.values()), bool(slack[at] >= self.unit)

    def _count(self) -> None:
        self.nodes += 1
        if self.nodes > self.budget:
            raise _OutOfNodes

    def _place(self, a: int, b: int, todo: np.ndarray[Any, Any], i: int) -> bool:
        """Puts buffer `i` at its least offset; whether the bound still holds."""
        self._count()
        at, size = int(self.least[i]), self.p.size[i]
        lo, hi = self.p.lo[i], self.p.hi[i]
        self.placed[i] = at
        self.least[i] = _INF
        self.total[lo:hi] -= size
        return self._lift(todo, lo, hi, at + size)

    def _raise(self, todo: np.ndarray[Any, Any], section: int) -> bool:
        """Nothing starts at the floor of `section`: lifts it to the next possible start; whether the bound holds.

        The first buffer to start there starts at its least offset, if that is higher, or on top of a buffer that does
        not cover the section and itself starts at its least offset or above.
        """
        self._count()
        floor = int(self.floor[section])
        covers = (self.lo[todo] <= section) & (self.hi[todo] > section)
        here, others = todo[covers], todo[~covers]
        least = self.least[here]
        higher = least[least > floor]
        start = int(higher.min()) if len(higher) else _INF
        reach_lo, reach_hi = int(self.lo[here].min()), int(self.hi[here].max())
        near = others[(self.lo[others] < reach_hi) & (self.hi[others] > reach_lo)]
        tops = self.least[near] + self.size[near]
        tops = tops[tops > floor]
        if len(tops):
            start = min(start, int(tops.min()))
        if start + int(self.total[section]) > self.capacity:
            self.weight[section] += 1
            return False
        return self._lift(todo, section, section + 1, start)

    def _lift(self, todo: np.ndarray[Any, Any], lo: int, hi: int, height: int) -> bool:
        """Nothing starts below `height` in sections [lo, hi) any more; whether the bound still holds."""
        np = self.np
        touched = todo[(self.lo[todo] < hi) & (self.hi[todo] > lo)]
        self.least[touched] = np.maximum(self.least[touched], height)
        a, b = int(self.lo[touched].min()), int(self.hi[touched].max())
        first, last = self.first[a], self.first[b]
        floor = np.minimum.reduceat(self.least[self.cover[first:last]], self.first[a:b] - first)
        self.floor[a:b] = floor
        over = np.flatnonzero((floor + self.total[a:b] > self.capacity) & (self.total[a:b] > 0))
        if len(over):
            self.weight[a + over] += 1
            return False
        return True


def _run(call: Generator[Any, bool, bool]) -> bool:
    """Runs a generator that yields the generators it wants called: recursion without the interpreter's stack."""
    stack = [call]
    answer: bool | None = None
    while stack:
        try:
            wanted = stack[-1].send(answer) if answer is not None else next(stack[-1])
        except StopIteration as done:
            stack.pop()
            answer = done.value
            continue
        stack.append(wanted)
        answer = None
    assert answer is not None
    return answer
