"""The table of profiled runs."""

from __future__ import annotations

from gecc.debug.profiles import profile_rows
from gecc.runtime.profile import Profile, TaskTime


def test_what_did_not_run_has_no_line() -> None:
    """Kernels and host calls of other branches and gears, and jumps; what ran in one run of several has."""

    def run(*spans: tuple[float, float] | None) -> list[TaskTime]:
        kinds = (("MatMul", "k", 4), ("goto", "", 0), ("Unique", "", 0), ("Relu", "k", 1))
        return [
            TaskTime(i, i, label, kernel, (), blocks, (span,))
            for i, ((label, kernel, blocks), span) in enumerate(zip(kinds, spans, strict=True))
        ]

    profile = Profile([run((0.0, 3000.0), None, None, None), run((0.0, 1000.0), None, (1000.0, 3000.0), None)])
    rows = list(profile_rows(profile))
    assert [row[0] for row in rows] == ["0 MatMul", "2 Unique", "all tasks"]
    assert [row[2] for row in rows] == ["2.0 us", "1.0 us", "3.0 us"]
