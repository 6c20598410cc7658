"""Runs that show that nothing reads what has died: bytes of the arena that hold nothing are filled with a pattern.

Before every phase all bytes that no value lives in are set to 0xFF, which is NaN in every floating type and -1 in integers;
after it, those that no task of the phase may write must still be. So a task that reads a dead value computes nonsense, and
one that writes where it should not is named. Loops run as a whole. Slow, on one rank.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gecc.errors import KernelError
from gecc.om.flow import Phases, loops
from gecc.om.lifetimes import Life, lives, written
from gecc.om.records import OmModel, Space

PATTERN = 0xFF


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tasks `start` to `stop` (exclusive) that run without a stop: a phase, or all phases of a loop."""

    start: int
    stop: int
    first: int
    last: int


class Poison:
    """What is dead when, for one model and its arena at `address`."""

    def __init__(self, model: OmModel, address: int) -> None:
        self._model = model
        self._lives = lives(model)
        buffer = (ctypes.c_uint8 * model.arena_bytes).from_address(address)
        self._arena: NDArray[np.uint8] = np.ctypeslib.as_array(buffer)
        self.stretches = stretches(model)
        self._at = [s for s in self.stretches for _ in range(s.start, s.stop)]

    def stretch(self, task: int) -> Stretch:
        """The stretch that a task is in."""
        return self._at[task]

    def run(self, stretch: Stretch, enter: Callable[[], None]) -> None:
        """Run a stretch between poison. Raises KernelError naming its tasks when they wrote where nothing of theirs lies."""
        held = self._mask(life for life in self._lives if life.first < stretch.first <= life.last)
        self._arena[~held] = PATTERN
        enter()
        tasks = range(stretch.start, stretch.stop)
        for i in tasks:
            for operand in written(self._model.tasks[i]):
                if operand is not None and operand.space == Space.ARENA:
                    held[operand.offset : operand.offset + operand.size] = True
        touched = np.flatnonzero(~held & (self._arena != PATTERN))
        if touched.size:
            names = ", ".join(f"{i} '{self._model.tasks[i].label}'" for i in tasks)
            raise KernelError(
                f"byte {int(touched[0])} of the arena was written, where no result of the phase lies",
                where=f"'{self._model.name}', tasks {names}",
            )

    def _mask(self, held: Iterable[Life]) -> NDArray[np.bool_]:
        mask = np.zeros(self._arena.shape, np.bool_)
        for life in held:
            mask[life.start : life.stop] = True
        return mask


def stretches(model: OmModel) -> list[Stretch]:
    """All tasks of a model, cut where a phase ends that no loop holds."""
    held = Phases(loops(model.tasks))
    ends: list[Stretch] = []
    start = 0
    for i, task in enumerate(model.tasks):
        following = model.tasks[i + 1].phase if i + 1 < len(model.tasks) else None
        if following == task.phase:
            continue
        if following is not None and held.last(task.phase) not in (None, task.phase):
            continue
        ends.append(Stretch(start, i + 1, model.tasks[start].phase, task.phase))
        start = i + 1
    return ends
