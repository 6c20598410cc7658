"""Which targets this CPU can run, asked of the operating system and of nothing else."""

from __future__ import annotations

import platform
import sys
from functools import cache

from gecc.errors import UnsupportedError
from gecc.target.target import TARGETS, Target


@cache
def cpu_flags() -> frozenset[str]:
    """Features that all CPUs of this machine have, as /proc/cpuinfo spells them; empty where that cannot be read.

    The kernel leaves out what it did not enable (vector state that it does not save), so a flag that is here works.
    """
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError:
        return frozenset()
    return parse_cpuinfo(text)


def parse_cpuinfo(text: str) -> frozenset[str]:
    """Features common to all CPUs that `text`, the contents of /proc/cpuinfo, lists."""
    common: frozenset[str] | None = None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            flags = frozenset(value.split())
            common = flags if common is None else common & flags
    return common or frozenset()


def supports(target: Target) -> list[str]:
    """What this machine lacks to run code made for `target`, in words; empty when it can run it."""
    if not sys.platform.startswith("linux"):
        return [f"Linux (this is {sys.platform})"]
    if platform.machine() != target.machine:
        return [f"a CPU of type {target.machine} (this one is {platform.machine()})"]
    if not target.native:
        return [f"code generation for {target.name}"]
    flags = cpu_flags()
    return [flag for flag in target.cpu_flags if flag not in flags]


def host() -> Target:
    """The most capable target that this CPU supports.

    Raises UnsupportedError saying what each target misses here when there is none.
    """
    refusals: list[str] = []
    for target in TARGETS.values():
        missing = supports(target)
        if not missing:
            return target
        refusals.append(f"{target.name} needs {', '.join(missing)}")
    raise UnsupportedError("no target runs on this machine: " + "; ".join(refusals))
