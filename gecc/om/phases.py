"""What runs at once does not disturb itself: the tasks of a phase."""

from __future__ import annotations

from collections.abc import Sequence

from gecc.om.gears import Fail
from gecc.om.records import KernelTask, Space, Task


def check_phase(tasks: Sequence[Task], start: int, stop: int, fail: Fail) -> None:
    """Tasks `start` to `stop` (exclusive), of one phase, run at once, so none may write bytes that another touches."""
    if stop - start < 2:
        return
    spans: dict[tuple[Space, int], list[tuple[int, int, int, bool]]] = {}
    for i in range(start, stop):
        task = tasks[i]
        assert isinstance(task, KernelTask)
        n_ins = len(task.operands) - task.n_outs
        for o, operand in enumerate(task.operands):
            if operand.size and operand.space in (Space.ARENA, Space.OUTPUT):
                span = (operand.offset, operand.offset + operand.size, i, o >= n_ins)
                spans.setdefault((operand.space, operand.index), []).append(span)
    for (space, index), found in spans.items():
        found.sort()
        # The two furthest ends of earlier spans, of two different tasks: enough to see any clash with one of another
        # task. Once among all spans (for writes), once among writes (for reads).
        ends = {False: _Furthest(), True: _Furthest()}
        for at, end, i, written in found:
            other = ends[not written].clash(at, i)
            if other is not None:
                name = space.name + (f" {index}" if index else "")
                fail(
                    f"tasks {min(i, other)} and {max(i, other)} of phase {tasks[i].phase} both touch"
                    f" {name} from {at} on, and one writes",
                    f"task {i} '{tasks[i].label}'",
                )
            ends[False].add(end, i)
            if written:
                ends[True].add(end, i)


class _Furthest:
    """The furthest end seen, and the furthest of any other task."""

    def __init__(self) -> None:
        self.first = (0, -1)
        self.second = (0, -1)

    def add(self, end: int, task: int) -> None:
        if task == self.first[1]:
            self.first = max(self.first, (end, task))
        elif end > self.first[0]:
            self.first, self.second = (end, task), self.first
        elif end > self.second[0]:
            self.second = (end, task)

    def clash(self, at: int, task: int) -> int | None:
        """A task other than `task` with an end beyond `at`."""
        for end, other in (self.first, self.second):
            if other not in (task, -1) and end > at:
                return other
        return None
