"""Groups of buffers at fixed distances, since each took over memory of another: what the planner places as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gecc.dialects.tile import AllocOp
from gecc.memory import Buffer, Piece
from gecc.memory.problem import align_up
from gecc.passes.tile._liveness import Lifetime, Takeover


@dataclass(slots=True, eq=False)
class Group:
    """Buffers with their places, and what of them is alive when: pieces in ascending order, none sharing a byte."""

    alignment: int
    members: list[tuple[AllocOp, int]]
    pieces: list[Piece] = field(default_factory=list[Piece])

    @property
    def size(self) -> int:
        """Bytes, a multiple of the alignment."""
        return align_up(max((p.stop for p in self.pieces), default=0), self.alignment)


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
        spans = [Piece(s.start, min(s.stop, end), s.first, s.last + 1) for s in stretches]
        home[root] = (Group(root.alignment.value.data, [(root, 0)], _merged(spans)), 0)
    joined = 0
    for phase, pair in pairs:
        (dying, place), (taker, within) = home[pair.dying], home[pair.taker]
        distance = place + pair.offset - within  # of the taker's group from the dying one's
        if dying is taker or distance % max(dying.alignment, taker.alignment):
            continue
        taken = (within + distance + pair.start, within + distance + pair.stop)
        together = _together(dying.pieces, _moved(taker.pieces, distance), taken, phase)
        if together is None:
            continue
        joined += 1
        if distance < 0:  # a group starts at 0
            together = _moved(together, -distance)
            dying.members = [(member, at - distance) for member, at in dying.members]
            home.update((member, (dying, at)) for member, at in dying.members)
        fresh = [(member, at + max(distance, 0)) for member, at in taker.members]
        home.update((member, (dying, at)) for member, at in fresh)
        dying.members += fresh
        dying.pieces = together
        dying.alignment = max(dying.alignment, taker.alignment)
    return list(dict.fromkeys(group for group, _ in home.values())), joined


def _moved(pieces: Iterable[Piece], distance: int) -> list[Piece]:
    """The same, `distance` bytes higher."""
    return [replace(p, start=p.start + distance, stop=p.stop + distance) for p in pieces]


def _together(a: Sequence[Piece], b: Sequence[Piece], taken: tuple[int, int], phase: int) -> list[Piece] | None:
    """The pieces of both groups as one; None when both need a byte at once that is not taken over."""
    cuts = sorted({place for s in (*a, *b) for place in (s.start, s.stop)} | set(taken))
    found: list[Piece] = []
    i = j = 0
    for start, stop in pairwise(cuts):
        while i < len(a) and a[i].stop <= start:
            i += 1
        while j < len(b) and b[j].stop <= start:
            j += 1
        x = a[i] if i < len(a) and a[i].start <= start else None
        y = b[j] if j < len(b) and b[j].start <= start else None
        if x is not None and y is not None:
            over = taken[0] <= start < taken[1] and (x.upper, y.lower) == (phase + 1, phase)
            if not over and x.lower < y.upper and y.lower < x.upper:
                return None
        both = [s for s in (x, y) if s is not None]
        if both:
            found.append(Piece(start, stop, min(s.lower for s in both), max(s.upper for s in both)))
    return _merged(found)


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Ascending, neighbours of one lifetime as one, empty ones left out."""
    out: list[Piece] = []
    for s in sorted(pieces, key=lambda s: s.start):
        if s.start == s.stop:
            continue
        before = out[-1] if out else None
        if before is not None and (before.stop, before.lower, before.upper) == (s.start, s.lower, s.upper):
            out[-1] = replace(before, stop=s.stop)
        else:
            out.append(s)
    return out


def buffers_of(groups: Sequence[Group]) -> list[Buffer]:
    """The groups as the planner takes them: in units of their alignment, a unit alive while any of its bytes is."""
    out: list[Buffer] = []
    for number, group in enumerate(groups):
        unit = group.alignment
        rough: list[Piece] = []
        for s in group.pieces:
            start, stop = s.start // unit * unit, align_up(s.stop, unit)
            while rough and rough[-1].stop > start:  # the unit in which two meet
                before = rough.pop()
                if before.start < start:
                    rough.append(replace(before, stop=start))
                rough.append(Piece(start, before.stop, min(before.lower, s.lower), max(before.upper, s.upper)))
                start = before.stop
            if start < stop:
                rough.append(replace(s, start=start, stop=stop))
        rough = _merged(rough)
        lower, upper = min((p.lower for p in rough), default=0), max((p.upper for p in rough), default=1)
        whole = len(rough) == 1 and rough[0].start == 0
        out.append(Buffer(f"b{number}", lower, upper, group.size, unit, () if whole else tuple(rough)))
    return out
