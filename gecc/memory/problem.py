"""The planning problem: buffers, their lifetimes, and the bound that no plan can beat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gecc.errors import GeccError


class PlanError(GeccError):
    """A planning problem is malformed, or a plan breaks a rule."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start` up to `stop` of a buffer, needed from time `lower` up to `upper` only."""

    start: int
    stop: int
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Buffer:
    """`size` bytes needed from time `lower` up to, not including, time `upper`.

    The offset must be a multiple of `alignment`. A buffer of size 0 conflicts with nothing. Where not all bytes are needed
    all the time, `pieces` says which are when, in ascending order of their bytes; others may use what lies between.
    """

    id: str
    lower: int
    upper: int
    size: int
    alignment: int = 1
    pieces: tuple[Piece, ...] = ()

    @property
    def parts(self) -> tuple[Piece, ...]:
        """The pieces; of a buffer that has none all of it."""
        return self.pieces or (Piece(0, self.size, self.lower, self.upper),)


def validate(buffers: Iterable[Buffer]) -> None:
    """Raises PlanError for a lifetime that is empty, a negative size, a bad alignment, an id used twice, or bad pieces."""
    seen: set[str] = set()
    for b in buffers:
        if b.id in seen:
            raise PlanError(f"buffer id {b.id!r} is used twice", hint="ids name the offsets, so they must differ")
        seen.add(b.id)
        if b.lower >= b.upper:
            raise PlanError(f"buffer {b.id!r} lives in [{b.lower}, {b.upper}), expected lower < upper")
        if b.size < 0:
            raise PlanError(f"buffer {b.id!r} has size {b.size}, expected 0 or more")
        if b.alignment < 1:
            raise PlanError(f"buffer {b.id!r} has alignment {b.alignment}, expected 1 or more")
        end = 0
        for piece in b.pieces:
            if not end <= piece.start < piece.stop <= b.size or not b.lower <= piece.lower < piece.upper <= b.upper:
                raise PlanError(
                    f"buffer {b.id!r}, {b.size} bytes in [{b.lower}, {b.upper}), has a piece of bytes [{piece.start}, "
                    f"{piece.stop}) in [{piece.lower}, {piece.upper})",
                    hint="pieces lie within their buffer, in ascending order, and do not overlap",
                )
            end = piece.stop


def lower_bound(buffers: Iterable[Buffer]) -> int:
    """The most bytes alive at any one time: no plan can have a smaller peak."""
    events: list[tuple[int, int]] = []
    for part in (part for b in buffers for part in b.parts):
        events.append((part.lower, part.stop - part.start))
        events.append((part.upper, part.start - part.stop))
    events.sort()  # at equal times ends (negative) come before starts: lifetimes are half-open
    live = best = 0
    for _, delta in events:
        live += delta
        best = max(best, live)
    return best


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of `alignment` that is not below `value`."""
    return -(-value // alignment) * alignment


class Instance:
    """A problem in the form the planners work on: plain lists, and time compressed to sections.

    A section is a maximal set of buffers alive at once (a maximal clique of the interval graph). Buffer i covers the
    sections lo[i] <= s < hi[i]; two buffers conflict exactly when these ranges meet, so there are at most n times to
    look at, and none is implied by another. Buffers are numbered by (lower, upper, -size, id), not by input order:
    the plan does not depend on how the caller listed them. Buffers of size 0 are left out. Pieces are not looked at: a
    buffer is a rectangle here.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = sorted((b for b in buffers if b.size), key=lambda b: (b.lower, b.upper, -b.size, b.id))
        bufs = self.buffers
        self.n = len(bufs)
        self.size = [b.size for b in bufs]
        self.align = [b.alignment for b in bufs]
        self.width = [b.upper - b.lower for b in bufs]
        self.lo = [0] * self.n
        self.hi = [0] * self.n
        self.load: list[int] = []
        """Bytes alive in each section."""

        events = [(b.lower, 1, i) for i, b in enumerate(bufs)] + [(b.upper, 0, i) for i, b in enumerate(bufs)]
        events.sort()
        live, grew = 0, False
        for _, is_start, i in events:
            if is_start:
                self.lo[i] = len(self.load)
                live += self.size[i]
                grew = True
                continue
            if grew:  # the first death after births closes a maximal set
                self.load.append(live)
                grew = False
            self.hi[i] = len(self.load)
            live -= self.size[i]
        self.sections = len(self.load)
        self.bound = max(self.load, default=0)

    @property
    def uniform(self) -> bool:
        """One alignment for all, dividing every size: then stacking buffers aligns them by itself."""
        a = self.align[0] if self.n else 1
        return all(x == a for x in self.align) and all(s % a == 0 for s in self.size)

    def peak(self, offsets: Sequence[int]) -> int:
        """The first byte above every buffer, for offsets in this instance's numbering."""
        return max((o + s for o, s in zip(offsets, self.size, strict=True)), default=0)

    def pairs(self) -> int:
        """How many pairs of buffers are alive at once: the work of one greedy pass."""
        starts = [0] * (self.sections + 1)
        ends = [0] * (self.sections + 1)
        for low, high in zip(self.lo, self.hi, strict=True):
            starts[low] += 1
            ends[high] += 1
        total = alive = 0
        for s in range(self.sections):
            alive -= ends[s]
            total += starts[s] * alive + starts[s] * (starts[s] - 1) // 2
            alive += starts[s]
        return total

    def neighbours(self) -> list[list[int]]:
        """For each buffer those alive at some time with it, ascending. As many entries as twice `pairs()`."""
        out: list[list[int]] = [[] for _ in range(self.n)]
        alive: list[int] = []
        # buffers are numbered by birth, so each meets exactly those still alive when it starts
        for i in range(self.n):
            start = self.lo[i]
            alive = [j for j in alive if self.hi[j] > start]
            mine = out[i]
            for j in alive:
                mine.append(j)
                out[j].append(i)
            alive.append(i)
        return out
