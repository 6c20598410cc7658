"""The proof that no task writes bytes of the arena that another value still needs.

A sweep over the phases, with a map of who lives where: each life meets only those whose bytes it takes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gecc.errors import OmError
from gecc.om.flow import Phases, loops
from gecc.om.lifetimes import Effort, Life, lives
from gecc.om.records import OmModel


def check_lives(model: OmModel, where: str) -> None:
    """Prove that no task writes bytes that another value still needs. Raises OmError naming both.

    A task may write over a value that it reads itself and nobody reads later (in place). A model with jumps is checked
    for what lies outside its loops.
    """
    effort = Effort(where)
    inside = Phases(loops(model.tasks))
    ground = _Ground(model, where, effort)
    for life in sorted(lives(model, effort), key=lambda life: life.first):
        if life.first not in inside:
            ground.take(life)


class _Ground:
    """Bytes of the arena in stretches, each with the lives that hold it."""

    def __init__(self, model: OmModel, where: str, effort: Effort) -> None:
        self._model = model
        self._where = where
        self._effort = effort
        self._starts: list[int] = []
        self._stretches: list[tuple[int, int, tuple[Life, ...]]] = []

    def take(self, life: Life) -> None:
        """Let a life hold its bytes, of which nobody may need what was there."""
        begin = bisect_right(self._starts, life.start)
        if begin and self._stretches[begin - 1][1] > life.start:
            begin -= 1
        end = bisect_left(self._starts, life.stop)
        made: list[tuple[int, int, tuple[Life, ...]]] = []
        at = life.start  # up to here the bytes are the life's
        for low, high, others in self._stretches[begin:end]:
            kept = tuple(other for other in others if self._stays(other, life))
            if low < life.start:
                made.append((low, life.start, others))
            if kept:
                if at < low:
                    made.append((at, low, (life,)))
                at = min(high, life.stop)
                made.append((max(low, life.start), at, (*kept, life)))
            if high > life.stop:
                if at < life.stop:
                    made.append((at, life.stop, (life,)))
                    at = life.stop
                made.append((life.stop, high, others))
        if at < life.stop:
            made.append((at, life.stop, (life,)))
        self._starts[begin:end] = [low for low, _, _ in made]
        self._stretches[begin:end] = made

    def _stays(self, other: Life, life: Life) -> bool:
        """Whether `other` still is to be looked after where `life` takes its bytes. Raises OmError when they are needed."""
        if other.last < life.first or (other.last == life.first and other.reader == life.writer):  # dead, or in place
            return False
        if other.writer == life.writer:
            return True
        self._effort.spend(1 + len(other.beside))
        if any(first <= life.first < stop for first, stop in other.beside):  # another branch
            return not self._covers(life, other)
        tasks = self._model.tasks
        raise OmError(
            f"task {life.writer} '{tasks[life.writer].label}' writes bytes {life.start} to {life.stop} of the "
            f"arena in phase {life.first}, but bytes {other.start} to {other.stop}, which task {other.writer} "
            f"'{tasks[other.writer].label}' wrote, are read until phase {other.last}",
            where=self._where,
        )

    def _covers(self, life: Life, other: Life) -> bool:
        """Whether all that may not take the bytes from `other` may not take them from `life` either."""
        self._effort.spend(len(life.beside) * len(other.beside))
        longer = life.last > other.last or (life.last == other.last and life.reader in (None, other.reader))
        return longer and all(any(a <= first and stop <= b for a, b in other.beside) for first, stop in life.beside)
