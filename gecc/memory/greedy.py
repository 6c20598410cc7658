"""One-pass planners: take the buffers in some order, put each where it fits. The first stage of every plan.

The rules are those that published planners use (TensorFlow Lite and its micro planner, IREE, XLA's heap simulator,
Sekiyama et al. "Profile-guided memory optimization for deep neural networks", 2018). None wins everywhere, each costs
milliseconds, so the portfolio runs all and keeps the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gecc.memory.problem import Instance

_DENSE = 48
"""Conflicts per buffer above which a numpy pass beats a pass over Python lists (measured)."""


def order_by_size(p: Instance) -> list[int]:
    """Largest first, then longest lived."""
    return sorted(range(p.n), key=lambda i: (-p.size[i], -p.width[i], i))


def order_by_load(p: Instance) -> list[int]:
    """Those alive in the fullest section first, then longest lived, then largest."""
    peak = max_load(p)
    return sorted(range(p.n), key=lambda i: (-peak[i], -p.width[i], -p.size[i], i))


def order_by_width(p: Instance) -> list[int]:
    """Longest lived first, then largest."""
    return sorted(range(p.n), key=lambda i: (-p.width[i], -p.size[i], i))


def order_by_area(p: Instance) -> list[int]:
    """Largest bytes times lifetime first."""
    return sorted(range(p.n), key=lambda i: (-p.size[i] * p.width[i], i))


def order_by_program(p: Instance) -> list[int]:
    """By birth, as a run-time allocator would see them."""
    return list(range(p.n))


def max_load(p: Instance) -> list[int]:
    """For each buffer the load of the fullest section it lives in (range maximum by a sparse table)."""
    table = [p.load]
    while (1 << len(table)) <= p.sections:
        prev, half = table[-1], 1 << (len(table) - 1)
        table.append([max(prev[s], prev[s + half]) for s in range(len(prev) - half)])
    out: list[int] = []
    for low, high in zip(p.lo, p.hi, strict=True):
        k = (high - low).bit_length() - 1
        out.append(max(table[k][low], table[k][high - (1 << k)]))
    return out


def place(
    p: Instance,
    order: Sequence[int],
    *,
    best_fit: bool = False,
    limit: int | None = None,
    fixed: Sequence[int] | None = None,
    neighbours: list[list[int]] | None = None,
) -> list[int] | None:
    """Puts the buffers of `order` one after the other into a gap: the lowest, or with `best_fit` the tightest.

    Where no gap between the buffers alive at some time with it is large enough, a buffer goes on top of them.
    `fixed` gives offsets of buffers already placed (-1 for the others); `order` then lists only the others.
    Returns the offsets, or None as soon as a buffer would end above `limit`.
    """
    if neighbours is not None or p.pairs() <= _DENSE * max(p.n, 1):
        return _place_lists(p, order, best_fit, limit, fixed, neighbours or p.neighbours())
    return _place_arrays(p, order, best_fit, limit, fixed)


def _place_lists(
    p: Instance,
    order: Sequence[int],
    best_fit: bool,
    limit: int | None,
    fixed: Sequence[int] | None,
    neighbours: list[list[int]],
) -> list[int] | None:
    offsets = [-1] * p.n if fixed is None else list(fixed)
    size, align = p.size, p.align
    for i in order:
        need = size[i]
        taken = sorted([(o - need, o + size[j]) for j in neighbours[i] if (o := offsets[j]) >= 0])
        at = free_offset(taken, align[i], best_fit)
        if limit is not None and at + need > limit:
            return None
        offsets[i] = at
    return offsets


def free_offset(taken: Sequence[tuple[int, int]], alignment: int, best_fit: bool) -> int:
    """The lowest multiple of `alignment` inside none of `taken`, or with `best_fit` that with the least room above it.

    `taken` are open intervals of offsets, in ascending order; 0 is the lowest offset of all.
    """
    top = 0  # the first offset above everything seen so far, aligned
    at, room_of_at = -1, -1
    for low, high in taken:
        if top <= low and (at < 0 or low - top < room_of_at):
            at, room_of_at = top, low - top
            if not best_fit:
                break
        if high > top:
            top = -(-high // alignment) * alignment
    return at if at >= 0 else top


def _place_arrays(
    p: Instance, order: Sequence[int], best_fit: bool, limit: int | None, fixed: Sequence[int] | None
) -> list[int] | None:
    """The same rule with the placed buffers in arrays sorted by offset: for tens of thousands of conflicts each."""
    import numpy as np

    offsets = [-1] * p.n if fixed is None else list(fixed)
    placed = sorted((i for i in range(p.n) if offsets[i] >= 0), key=lambda i: offsets[i])
    count = len(placed)
    capacity = count + len(order)
    start, end, lo, hi = (np.zeros(capacity, np.int64) for _ in range(4))
    start[:count] = [offsets[i] for i in placed]
    end[:count] = [offsets[i] + p.size[i] for i in placed]
    lo[:count] = [p.lo[i] for i in placed]
    hi[:count] = [p.hi[i] for i in placed]
    for i in order:
        need, a = p.size[i], p.align[i]
        live = np.flatnonzero((lo[:count] < p.hi[i]) & (hi[:count] > p.lo[i]))
        at = 0
        if live.size:
            top = np.maximum.accumulate(end[live])
            if a > 1:
                top = -(-top // a) * a
            gaps = start[live]
            gaps[1:] -= top[:-1]
            fits = np.flatnonzero(gaps >= need)
            if not fits.size:
                at = int(top[-1])
            else:
                k = int(fits[np.argmin(gaps[fits])] if best_fit else fits[0])
                at = int(top[k - 1]) if k else 0
        if limit is not None and at + need > limit:
            return None
        offsets[i] = at
        k = int(np.searchsorted(start[:count], at))
        for array, value in ((start, at), (end, at + need), (lo, p.lo[i]), (hi, p.hi[i])):
            array[k + 1 : count + 1] = array[k:count]
            array[k] = value
        count += 1
    return offsets


def place_lowest_line(p: Instance, *, limit: int | None = None) -> list[int] | None:
    """Sekiyama's rule: on the lowest line of the skyline put the longest lived buffer that fits between its ends.

    The skyline holds, per section, the height of what is placed. Its lowest line (leftmost on a tie) takes the
    longest lived, then largest, unplaced buffer living wholly within it, or is raised to its lower neighbour.
    Only for instances whose alignments are all equal and divide the sizes: heights are then aligned by themselves.
    """
    import heapq

    # a line is (left section, right section, height); the heap holds stale entries, told by `height_at`
    offsets = [-1] * p.n
    by_start: list[list[int]] = [[] for _ in range(p.sections)]
    for i in range(p.n):
        by_start[p.lo[i]].append(i)
    for group in by_start:
        group.sort(key=lambda i: (-p.width[i], -p.size[i], i))
    left_of: dict[int, int] = {p.sections: 0}  # right end -> left end of the line that stops there
    right_of: dict[int, int] = {0: p.sections}
    height: dict[int, int] = {0: 0}
    heap: list[tuple[int, int, int]] = [(0, 0, p.sections)]
    left_to_place = p.n

    def add(left: int, right: int, h: int) -> None:
        right_of[left], left_of[right], height[left] = right, left, h
        heapq.heappush(heap, (h, left, right))

    while left_to_place:
        h, left, right = heapq.heappop(heap)
        if right_of.get(left) != right or height[left] != h:
            continue
        best: tuple[int, int, int] | None = None
        for s in range(left, right):
            for i in by_start[s]:
                if p.hi[i] <= right:
                    key = (-p.width[i], -p.size[i], i)
                    if best is None or key < best:
                        best = key
                    break  # the group is sorted: the first that fits is its best
        if best is None:
            before = height[left_of[left]] if left else None
            after = height[right] if right < p.sections else None
            new = min(x for x in (before, after) if x is not None)
            del right_of[left], left_of[right], height[left]
            if before == new:
                left = left_of.pop(left)
                del right_of[left], height[left]
            if after == new:
                far = right_of.pop(right)
                del left_of[far], height[right]
                right = far
            add(left, right, new)
            continue
        i = best[2]
        first, stop = p.lo[i], p.hi[i]
        top = h + p.size[i]
        if limit is not None and top > limit:
            return None
        offsets[i] = h
        left_to_place -= 1
        by_start[first].remove(i)
        del right_of[left], left_of[right], height[left]
        if left < first:
            add(left, first, h)
        elif first > 0 and height[left_of[first]] == top:  # merge with a neighbour of equal height
            first = left_of.pop(first)
            del right_of[first], height[first]
        if stop < right:
            add(stop, right, h)
        elif stop < p.sections and height[stop] == top:
            far = right_of.pop(stop)
            del left_of[far], height[stop]
            stop = far
        add(first, stop, top)
    return offsets


Rule = Callable[[Instance, int | None], list[int] | None]

RULES: dict[str, Rule] = {
    "size best-fit": lambda p, limit: place(p, order_by_size(p), best_fit=True, limit=limit),
    "lowest line": lambda p, limit: place_lowest_line(p, limit=limit),
    "load first-fit": lambda p, limit: place(p, order_by_load(p), limit=limit),
    "width first-fit": lambda p, limit: place(p, order_by_width(p), limit=limit),
    "size first-fit": lambda p, limit: place(p, order_by_size(p), limit=limit),
    "program best-fit": lambda p, limit: place(p, order_by_program(p), best_fit=True, limit=limit),
    "area first-fit": lambda p, limit: place(p, order_by_area(p), limit=limit),
}
"""Name -> rule, in the order the portfolio tries them."""

_LARGE = 6_000
_LARGE_RULES = ("load first-fit", "size best-fit")
"""Above so many buffers a pass takes seconds, so only the two rules that do best there are tried."""


def greedy(p: Instance, *, stop_at: int) -> tuple[list[int], str]:
    """The best plan of the rules that suit the instance, and the rule that made it; stops at a peak of `stop_at`."""
    names = _LARGE_RULES if p.n > _LARGE else tuple(RULES)
    best: list[int] = []
    best_peak, winner = -1, ""
    for name in names:
        if name == "lowest line" and not p.uniform:
            continue
        found = RULES[name](p, best_peak - 1 if winner else None)
        if found is not None:
            best, best_peak, winner = found, p.peak(found), name
        if best_peak <= stop_at:
            break
    return best, winner
