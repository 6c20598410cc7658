"""Where the tasks of an om jump: its loops, those of them that may be skipped, and its branches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from gecc.om.records import GotoTask, LabelTask, SwitchTask, Task


def loops(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Phases of the first and the last task of each loop: a label, and the last jump back to it."""
    places = {task.number: task.phase for task in tasks if isinstance(task, LabelTask)}
    found: dict[int, int] = {}
    for task in tasks:
        targets = (task.target,) if isinstance(task, GotoTask) else task.targets if isinstance(task, SwitchTask) else ()
        for target in targets:
            if places[target] <= task.phase:
                found[places[target]] = max(task.phase, found.get(places[target], 0))
    return sorted(found.items())


def skipped(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Of the loops, those that may run not once: a switch in front of the label leads past the last jump, too."""
    labels = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    head = {tasks[i].phase: i for i in labels.values()}
    found: list[tuple[int, int]] = []
    for first, last in loops(tasks):
        before = tasks[head[first] - 1] if head[first] else None
        targets = before.targets if isinstance(before, SwitchTask) else ()
        if any(tasks[labels[target]].phase > last for target in targets):
            found.append((first, last))
    return found


def branches(tasks: Sequence[Task]) -> list[list[int]]:
    """For each If, outer ones first, the phases in which its branches start, and that of the label where all of them end."""
    places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    found: list[list[int]] = []
    for i, task in enumerate(tasks):
        starts = sorted({places[target] for target in task.targets}) if isinstance(task, SwitchTask) else []
        closing = [tasks[start - 1] for start in starts[1:]]  # of all branches but the last
        ends = {places[t.target] if isinstance(t, GotoTask) else -1 for t in closing}
        if len(ends) == 1 and starts[0] > i and (end := ends.pop()) > starts[-1]:
            found.append([tasks[place].phase for place in (*starts, end)])
    return found


class Phases:
    """All phases of some stretches, each from its first to its last; those that overlap are one."""

    def __init__(self, stretches: Sequence[tuple[int, int]]) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for first, last in sorted(stretches):
            if self._lasts and first <= self._lasts[-1]:
                self._lasts[-1] = max(self._lasts[-1], last)
            else:
                self._firsts.append(first)
                self._lasts.append(last)

    def last(self, phase: int) -> int | None:
        """The last phase of the stretch that a phase is in, None when it is in none."""
        at = bisect_right(self._firsts, phase) - 1
        return self._lasts[at] if at >= 0 and phase <= self._lasts[at] else None

    def __contains__(self, phase: int) -> bool:
        return self.last(phase) is not None
