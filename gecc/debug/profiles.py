"""What profiled runs took, as a table and as a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import median

from gecc.files import write_whole
from gecc.runtime.profile import Profile, chrome_trace

PROFILE_HEADER = ("task", "kernel", "time", "share", "ONNX nodes")
"""Names of the columns of `profile_rows`."""

MAX_NAMES = 6


def profile_rows(profile: Profile) -> Iterator[tuple[str, ...]]:
    """A line for each task that ran, in their order, and the sum: the median over runs of its wall time.

    Times are in microseconds, from the first rank's start to the last rank's end. Tasks of one phase overlap, so the
    sum may exceed the time of a run. What no run came to, in other gears and branches, is left out, and so are jumps, which
    take none.
    """
    times = [median(run[i].wall_ns for run in profile.runs) / 1000 for i in range(len(profile.last))]
    total = sum(times)
    ran = [any(any(run[i].ranks) for run in profile.runs) for i in range(len(profile.last))]
    for task, time, did in zip(profile.last, times, ran, strict=True):
        if not did:
            continue
        names = ", ".join(task.onnx_names[:MAX_NAMES])
        if len(task.onnx_names) > MAX_NAMES:
            names += f" and {len(task.onnx_names) - MAX_NAMES} more"
        share = f"{time / total:.1%}" if total else "-"
        yield f"{task.index} {task.label}", task.kernel, f"{time:.1f} us", share, names
    yield "all tasks", "", f"{total:.1f} us", "100.0%" if total else "-", ""


def write_trace(path: str, profile: Profile) -> None:
    """Write the runs of a profile for chrome://tracing. Raises CliError when the file cannot be written."""
    write_whole(path, json.dumps(chrome_trace(profile.runs), indent=1) + "\n")
