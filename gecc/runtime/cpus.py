"""Which CPUs this process may use, and how many of them it should."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from gecc.errors import InputError
from gecc.runtime.claims import claim

Affinity: TypeAlias = Literal["auto", "none"] | Iterable[int]
"""Where ranks run: "auto" pins each to a CPU of its own, "none" leaves them to the system, a list names the CPUs."""

Plan: TypeAlias = tuple[int, ...]
"""The CPU of each rank; empty: none is pinned."""

MAX_RANKS = 1024

_CPUS = Path("/sys/devices/system/cpu")
_CGROUPS = Path("/sys/fs/cgroup")


def cores(allowed: Iterable[int] | None = None, sysfs: Path = _CPUS) -> list[int]:
    """CPUs of `allowed` (default: those this thread may use), one of each group of SMT siblings, in ascending order."""
    chosen: list[int] = []
    taken: set[str] = set()
    for cpu in sorted(os.sched_getaffinity(0) if allowed is None else allowed):
        try:
            siblings = (sysfs / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip()
        except OSError:  # no such file in some sandboxes: every CPU is then a core
            siblings = str(cpu)
        if siblings not in taken:
            taken.add(siblings)
            chosen.append(cpu)
    return chosen


def quota(groups: str | None = None, root: Path = _CGROUPS) -> float | None:
    """CPUs worth of time that control groups grant this process, None without a limit.

    `groups` is the text of /proc/self/cgroup. A group's parents limit it too.
    """
    if groups is None:
        try:
            groups = Path("/proc/self/cgroup").read_text()
        except OSError:
            return None
    limits: list[float] = []
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        bases = [root] if not controllers else [root / controllers, root / "cpu"]
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for base in bases:
            for depth in range(len(parts), -1, -1):
                limit = _limit(base.joinpath(*parts[:depth]))
                if limit is not None:
                    limits.append(limit)
    return min(limits, default=None)


def _limit(folder: Path) -> float | None:
    """The limit that one group states, in version 2's file or version 1's two."""
    try:
        amount, period = (folder / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            amount = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if amount in ("max", "-1"):
        return None
    return int(amount) / int(period)


def default_ranks() -> int:
    """Ranks to use unless told otherwise: the cores this thread may use, limited by the control groups' quota."""
    count = len(cores())
    limit = quota()
    return count if limit is None else max(1, min(count, int(limit)))


def plan(ranks: int, affinity: Affinity) -> Plan:
    """The CPU of each rank. Raises InputError for an affinity that cannot be had.

    "auto" pins only several ranks, and only when each gets a core of its own: sharing one, they would wait for each
    other's time slices. It prefers cores that no other gecc process of this user took (`gecc.runtime.claims`).
    """
    if isinstance(affinity, str):
        if affinity == "none":
            return ()
        if affinity != "auto":
            raise InputError(f"affinity is '{affinity}', expected 'auto', 'none' or a list of CPUs")
        available = cores()
        return tuple(claim(available, ranks)) if 1 < ranks <= len(available) else ()
    if not isinstance(affinity, Iterable):
        raise InputError(f"affinity is {affinity!r}, expected 'auto', 'none' or a list of CPUs")
    chosen = tuple(affinity)
    if len(chosen) < ranks:
        raise InputError(f"affinity names {len(chosen)} CPUs {list(chosen)}, expected one for each of {ranks} ranks")
    for cpu in chosen:
        if not _usable(cpu):
            raise InputError(f"affinity names CPU {cpu!r}, which this process cannot use")
    return chosen[:ranks]


def _usable(cpu: object) -> bool:
    """Whether this thread could run on `cpu`, found by asking to."""
    if not isinstance(cpu, int) or cpu < 0:
        return False
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, (cpu,))
    except (OSError, OverflowError):
        return False
    os.sched_setaffinity(0, before)
    return True


def mask(cpu: int) -> bytes:
    """The CPU mask that holds only `cpu`, as the system calls take it."""
    return (1 << cpu).to_bytes((cpu // 64 + 1) * 8, "little")
