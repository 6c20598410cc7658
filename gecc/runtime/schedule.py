"""Which blocks of which task each rank computes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from gecc.om.records import Task


def shares(tasks: Sequence[Task], ranks: int) -> NDArray[np.int64]:
    """For each rank and task the blocks begin, end: int64 [ranks, tasks, 2].

    The blocks of all tasks of a phase, laid end to end, are cut into `ranks` runs whose lengths differ by one at most.
    A run keeps a rank's work, and what it touches, together.
    """
    table = np.zeros((ranks, len(tasks), 2), np.int64)
    rank = np.arange(ranks + 1)
    for _, group in groupby(range(len(tasks)), key=lambda i: tasks[i].phase):
        indices = list(group)
        total = sum(tasks[i].blocks for i in indices)
        cuts = total * rank // ranks
        start = 0
        for i in indices:
            blocks = tasks[i].blocks
            table[:, i, 0] = np.clip(cuts[:-1] - start, 0, blocks)
            table[:, i, 1] = np.clip(cuts[1:] - start, 0, blocks)
            start += blocks
    return table


def useful_ranks(tasks: Sequence[Task]) -> int:
    """The most ranks that have work at once: the blocks of the widest phase, at least 1."""
    totals: dict[int, int] = {}
    for task in tasks:
        totals[task.phase] = totals.get(task.phase, 0) + task.blocks
    return max(1, *totals.values()) if totals else 1
