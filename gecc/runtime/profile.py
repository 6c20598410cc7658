"""What a profiled run took, task by task."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TaskTime:
    """Times of one task in one run, in nanoseconds from the start of its first task.

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


@dataclass(slots=True)
class Profile:
    """Collects the times of the runs it is passed to: `runs[i]` has one entry a task."""

    runs: list[list[TaskTime]] = field(default_factory=list)

    @property
    def last(self) -> list[TaskTime]:
        """The last run's times."""
        return self.runs[-1]
