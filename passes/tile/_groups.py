"""Groups of buffers at fixed distances, since each took over memory of another: what the planner places as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gecc.dialects.tile import AllocOp
from gecc.memory import Buffer, Piece
from gecc.memory.problem import align_up
from gecc.passes.tile._liveness import Lifetime, Takeover


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes `start` to `stop` of a group, alive in phases `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int

    def moved(self, distance: int) -> Stretch:
        """The same, `distance` bytes higher."""
        return replace(self, start=self.start + distance, stop=self.stop + distance)


@dataclass(slots=True, eq=False)
class Group:
    """Buffers with their places, and what of them is alive when: stretches of bytes, ascending, none sharing any."""

    alignment: int
    members: list[tuple[AllocOp, int]]
    stretches: list[Stretch] = field(default_factory=list[Stretch])

    @property
    def size(self) -> int:
        """Bytes, a multiple of the alignment."""
        return align_up(max((s.stop for s in self.stretches), default=0), self.alignment)


def taken_over(
    life: Mapping[AllocOp, Sequence[Lifetime]], pairs: Iterable[tuple[int, Takeover]]
) -> tuple[list[Group], int]:
    """Buffers in groups, in order of first touch, and how many took over memory; `pairs` with their phases, ascending.

    A buffer of which several parts take over memory brings the groups together, if nothing else of them gets into each
    other's way.
    """
    home: dict[AllocOp, tuple[Group, int]] = {}
    for root, stretches in life.items():
        end = root.bytes.value.data  # what lies behind it up to the next buffer holds nothing
        spans = [Stretch(s.start, min(s.stop, end), s.first, s.last) for s in stretches]
        home[root] = (Group(root.alignment.value.data, [(root, 0)], _merged(spans)), 0)
    joined = 0
    for phase, pair in pairs:
        (dying, place), (taker, within) = home[pair.dying], home[pair.taker]
        distance = place + pair.offset - within  # of the taker's group from the dying one's
        if dying is taker or distance % max(dying.alignment, taker.alignment):
            continue
        taken = (within + distance + pair.start, within + distance + pair.stop)
        together = _together(dying.stretches, [s.moved(distance) for s in taker.stretches], taken, phase)
        if together is None:
            continue
        joined += 1
        if distance < 0:  # a group starts at 0
            together = [s.moved(-distance) for s in together]
            dying.members = [(member, at - distance) for member, at in dying.members]
            home.update((member, (dying, at)) for member, at in dying.members)
        fresh = [(member, at + max(distance, 0)) for member, at in taker.members]
        home.update((member, (dying, at)) for member, at in fresh)
        dying.members += fresh
        dying.stretches = together
        dying.alignment = max(dying.alignment, taker.alignment)
    return list(dict.fromkeys(group for group, _ in home.values())), joined


def _together(a: Sequence[Stretch], b: Sequence[Stretch], taken: tuple[int, int], phase: int) -> list[Stretch] | None:
    """The stretches of both groups as one; None when both need a byte at once that is not taken over."""
    cuts = sorted({place for s in (*a, *b) for place in (s.start, s.stop)} | set(taken))
    found: list[Stretch] = []
    i = j = 0
    for start, stop in pairwise(cuts):
        while i < len(a) and a[i].stop <= start:
            i += 1
        while j < len(b) and b[j].stop <= start:
            j += 1
        x = a[i] if i < len(a) and a[i].start <= start else None
        y = b[j] if j < len(b) and b[j].start <= start else None
        if x is not None and y is not None:
            over = taken[0] <= start < taken[1] and x.last == phase == y.first
            if not over and x.first <= y.last and y.first <= x.last:
                return None
        both = [s for s in (x, y) if s is not None]
        if both:
            found.append(Stretch(start, stop, min(s.first for s in both), max(s.last for s in both)))
    return _merged(found)


def _merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Ascending, neighbours of one lifetime as one, empty ones left out."""
    out: list[Stretch] = []
    for s in sorted(stretches, key=lambda s: s.start):
        if s.start == s.stop:
            continue
        before = out[-1] if out else None
        if before is not None and (before.stop, before.first, before.last) == (s.start, s.first, s.last):
            out[-1] = replace(before, stop=s.stop)
        else:
            out.append(s)
    return out


def buffers_of(groups: Sequence[Group]) -> list[Buffer]:
    """The groups as the planner takes them: in units of their alignment, a unit alive while any of its bytes is."""
    out: list[Buffer] = []
    for number, group in enumerate(groups):
        unit = group.alignment
        rough: list[Stretch] = []
        for s in group.stretches:
            start, stop = s.start // unit * unit, align_up(s.stop, unit)
            while rough and rough[-1].stop > start:  # the unit in which two meet
                before = rough.pop()
                if before.start < start:
                    rough.append(replace(before, stop=start))
                first, last = min(before.first, s.first), max(before.last, s.last)
                rough.append(Stretch(start, before.stop, first, last))
                start = before.stop
            if start < stop:
                rough.append(replace(s, start=start, stop=stop))
        rough = _merged(rough)
        first, last = min((s.first for s in rough), default=0), max((s.last for s in rough), default=0)
        whole = len(rough) == 1 and rough[0].start == 0
        pieces = () if whole else tuple(Piece(s.start, s.stop, s.first, s.last + 1) for s in rough)
        out.append(Buffer(f"b{number}", first, last + 1, group.size, unit, pieces))
    return out
