"""Which blocks of which task each rank computes, and where the ranks meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from gecc.om.records import GotoTask, HostTask, KernelTask, LabelTask, SwitchTask, Task


def shares(tasks: Sequence[Task], ranks: int) -> NDArray[np.int64]:
    """For each rank and task the blocks begin, end: int64 [ranks, tasks, 2].

    The blocks of all tasks of a phase, laid end to end, are cut into `ranks` runs whose lengths differ by one at most,
    longer ones first. A run keeps a rank's work, and what it touches, together; a single block is rank 0's.
    """
    table = np.zeros((ranks, len(tasks), 2), np.int64)
    rank = np.arange(ranks + 1)
    for _, group in groupby(range(len(tasks)), key=lambda i: tasks[i].phase):
        indices = [i for i in group if isinstance(tasks[i], KernelTask)]
        total = sum(_blocks(tasks[i]) for i in indices)
        cuts = -(-total * rank // ranks)
        start = 0
        for i in indices:
            blocks = _blocks(tasks[i])
            table[:, i, 0] = np.clip(cuts[:-1] - start, 0, blocks)
            table[:, i, 1] = np.clip(cuts[1:] - start, 0, blocks)
            start += blocks
    return table


def meetings(tasks: Sequence[Task], table: NDArray[np.int64]) -> set[int]:
    """Indices of the tasks after which all ranks must meet: at ends of phases, unless one rank alone works before and after.

    `table` is that of `shares`. A host call needs no meeting before it, since all ranks leave there; at a switch all meet
    once rank 0 has read the index, so that work of rank 0 alone needs none before it.
    """
    busy = [frozenset(int(r) for r in np.flatnonzero(table[:, i, 0] < table[:, i, 1])) for i in range(len(tasks))]
    of_phase: dict[int, frozenset[int]] = {}
    for task, ranks in zip(tasks, busy, strict=True):
        of_phase[task.phase] = of_phase.get(task.phase, frozenset()) | ranks
    following = _following(tasks, of_phase)
    found: set[int] = set()
    for i, task in enumerate(tasks):
        last = i + 1 == len(tasks) or tasks[i + 1].phase != task.phase
        if not isinstance(task, KernelTask) or not last:
            continue
        before = of_phase[task.phase]
        if not before or following[i + 1] < 0:  # the phase before an idle one looked past it
            continue
        after = tasks[following[i + 1]]
        if isinstance(after, HostTask):
            continue
        follow = frozenset((0,)) if isinstance(after, SwitchTask) else of_phase[after.phase]
        if len(before | follow) > 1:
            found.add(i)
    return found


def _following(tasks: Sequence[Task], of_phase: Mapping[int, frozenset[int]]) -> list[int]:
    """For each task, and the end, the kernel with work, switch or host call that is met first from there on.

    -1 when none is: at the end, or in an idle circle. Each task is looked at once, however many lead to it.
    """
    places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    found: list[int | None] = [None] * len(tasks) + [-1]
    for start in reversed(range(len(tasks))):
        path: list[int] = []
        at = start
        while (met := found[at]) is None:
            found[at] = -1  # for the while: who comes back here goes in a circle
            path.append(at)
            task = tasks[at]
            if isinstance(task, GotoTask):
                at = places[task.target]
            elif isinstance(task, LabelTask) or (isinstance(task, KernelTask) and not of_phase[task.phase]):
                at += 1
            else:
                met = at
                break
        for place in path:
            found[place] = met
    return [-1 if met is None else met for met in found]


def host_calls(tasks: Sequence[Task]) -> Iterator[tuple[int, HostTask]]:
    """The host calls with their indices."""
    return ((i, task) for i, task in enumerate(tasks) if isinstance(task, HostTask))


def useful_ranks(tasks: Sequence[Task]) -> int:
    """The most ranks that have work at once: the blocks of the widest phase, at least 1."""
    totals: dict[int, int] = {}
    for task in tasks:
        totals[task.phase] = totals.get(task.phase, 0) + _blocks(task)
    return max(1, *totals.values()) if totals else 1


def _blocks(task: Task) -> int:
    return task.blocks if isinstance(task, KernelTask) else 0
