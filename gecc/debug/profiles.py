"""What profiled runs took, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from gecc.runtime.profile import Profile

PROFILE_HEADER = ("task", "kernel", "time", "share", "ONNX nodes")
"""Names of the columns of `profile_rows`."""

MAX_NAMES = 6


def profile_rows(profile: Profile) -> Iterator[tuple[str, ...]]:
    """A line for each task in the order of execution, and the sum: the median over runs of its wall time.

    Times are in microseconds, from the first rank's start to the last rank's end. Tasks of one phase overlap, so the
    sum may exceed the time of a run.
    """
    times = [median(run[i].wall_ns for run in profile.runs) / 1000 for i in range(len(profile.last))]
    total = sum(times)
    for task, time in zip(profile.last, times, strict=True):
        names = ", ".join(task.onnx_names[:MAX_NAMES])
        if len(task.onnx_names) > MAX_NAMES:
            names += f" and {len(task.onnx_names) - MAX_NAMES} more"
        share = f"{time / total:.1%}" if total else "-"
        yield f"{task.index} {task.label}", task.kernel, f"{time:.1f} us", share, names
    yield "all tasks", "", f"{total:.1f} us", "100.0%" if total else "-", ""
