"""What an executor holds and how long its runs take; of a profiled run, task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.om.records import KernelTask, OmModel


@dataclass(frozen=True, slots=True)
class Stats:
    """What an executor holds, in bytes, how it runs, and how many runs took how many nanoseconds."""

    arena_bytes: int
    scratch_bytes: int
    weight_bytes: int
    code_bytes: int
    tasks: int
    phases: int
    ranks: int
    cpus: tuple[int, ...]
    runs: int
    last_ns: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class TaskTime:
    """Times of one task in one run, in nanoseconds from the start of its first task.

    A task that ran several times, in a loop, has the start of the first, and an end that lies behind it by all that they took.

    index, phase, label, kernel: of the task.
    onnx_names: the ONNX nodes it was made from.
    ranks: for each rank (start, end), or None where it had no blocks of this task.
    """

    index: int
    phase: int
    label: str
    kernel: str
    onnx_names: tuple[str, ...]
    blocks: int
    ranks: tuple[tuple[float, float] | None, ...]

    @property
    def wall_ns(self) -> float:
        """From the first rank's start to the last rank's end; 0 for a task without blocks."""
        spans = [span for span in self.ranks if span is not None]
        return max(end for _, end in spans) - min(start for start, _ in spans) if spans else 0.0

    @property
    def cpu_ns(self) -> float:
        """Sum over all ranks."""
        return sum(span[1] - span[0] for span in self.ranks if span is not None)


def task_times(model: OmModel, stamps: NDArray[np.int64], ticks_per_ns: float) -> list[TaskTime]:
    """The times of one run from what each rank noted of each task: the clock before and after it, zero where it had none."""
    ran = stamps[..., 1] != 0
    start = stamps[ran].min() if ran.any() else 0
    times = (stamps - start) / ticks_per_ns
    ranks = range(len(stamps))
    return [
        TaskTime(
            index=i,
            phase=task.phase,
            label=task.label,
            kernel=task.kernel if isinstance(task, KernelTask) else "",
            onnx_names=model.nodes[task.op_index].onnx_names,
            blocks=task.blocks if isinstance(task, KernelTask) else 0,
            ranks=tuple((float(times[r, i, 0]), float(times[r, i, 1])) if ran[r, i] else None for r in ranks),
        )
        for i, task in enumerate(model.tasks)
    ]


def chrome_trace(runs: Sequence[Sequence[TaskTime]]) -> dict[str, Any]:
    """Runs in the Trace Event Format, which chrome://tracing and Perfetto show: a row a rank, an event a task.

    Runs follow each other on the time axis, in microseconds. JSON in this form is what `json.dump` makes of the result.
    """
    events: list[dict[str, Any]] = []
    ranks = max((len(task.ranks) for run in runs for task in run), default=0)
    for rank in range(ranks):
        events.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}})
    start = 0.0
    for number, run in enumerate(runs):
        end = 0.0
        for task in run:
            for rank, span in enumerate(task.ranks):
                if span is None:
                    continue
                end = max(end, span[1])
                about = {
                    "task": task.index,
                    "phase": task.phase,
                    "kernel": task.kernel,
                    "blocks": task.blocks,
                    "onnx": list(task.onnx_names),
                    "run": number,
                }
                at, length = (start + span[0]) / 1000, (span[1] - span[0]) / 1000
                event = {"ph": "X", "cat": "task", "name": task.label, "pid": 0, "tid": rank, "ts": at, "dur": length}
                events.append(event | {"args": about})
        start += end
    return {"traceEvents": events, "displayTimeUnit": "ns"}


@dataclass(slots=True)
class Profile:
    """Collects the times of the runs it is passed to: `runs[i]` has one entry a task."""

    runs: list[list[TaskTime]] = field(default_factory=list)

    @property
    def last(self) -> list[TaskTime]:
        """The last run's times."""
        return self.runs[-1]
