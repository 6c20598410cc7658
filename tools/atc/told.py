"""What is told of a compilation: --log, --op_debug_level, --export_compile_stat."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gecc.tools.atc.command import make_folder_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from gecc.rewrite import Miss, RuleCounts

STATISTICS = "fusion_result.json"
"""Where --export_compile_stat writes to, in the folder that the command runs in."""


@dataclass
class Told:
    """The log on stderr. `info` has a line a pass, `debug` also one for each candidate that a rule refused."""

    level: str
    started: float = field(default_factory=time.perf_counter)
    misses: list[Miss] = field(default_factory=list)

    def after(self, step: str, module: ModuleOp) -> None:
        """Tell of a pass that has run."""
        if self.level not in ("info", "debug"):
            return
        name = step.partition("{")[0]
        if self.level == "debug":
            from gecc.tools.opt_driver import remark

            for miss in self.misses:
                print(f"[DEBUG] {name}: {remark(miss)}", file=sys.stderr)
            self.misses.clear()
        now = time.perf_counter()
        count = sum(1 for _ in module.walk()) - 1
        print(f"[INFO] {name}: {1e3 * (now - self.started):.1f} ms, {count} operations", file=sys.stderr)
        self.started = time.perf_counter()


@contextmanager
def told(log: Told) -> Iterator[None]:
    """Collect what rules refuse, when the log is to tell."""
    if log.level != "debug":
        yield
        return
    from gecc.rewrite import listen

    with listen(log.misses.append):
        yield


@dataclass
class KernelTexts:
    """Writes the kernels as text of the tile level, a file each."""

    folder: Path

    def after(self, step: str, module: ModuleOp) -> None:
        """Write them when all are there. Raises CliError when the folder cannot be written."""
        if step.partition("{")[0] != "tile-deduplicate-kernels":
            return
        from gecc.dialects.tile import KernelOp
        from gecc.files import write_whole

        for op in module.body.ops:
            if isinstance(op, KernelOp):
                path = self.folder / f"{op.sym_name.data}.mlir"
                make_folder_of(str(path))
                write_whole(path, str(op) + "\n")


def write_statistics(counts: RuleCounts) -> None:
    """Write which rules examined candidates, and changed them, how often. Raises CliError when it cannot be written."""
    from gecc.debug.inspect.json_form import json_text
    from gecc.files import write_whole

    write_whole(STATISTICS, json_text(statistics(counts)))


def statistics(counts: RuleCounts) -> list[dict[str, Any]]:
    """The counts in GE's form: per fusion, in the sections of a fusion switch file, by names that such a file takes.

    match_times are the candidates that were examined (a rule looks at one once more when its neighbours change, which
    counts once), effect_times the rewrites.
    """
    from gecc.switches import fusion_of, known_rules

    graph: dict[str, list[int]] = {}
    buffer: dict[str, list[int]] = {}
    for rule in counts.rules:
        name, _, operation = rule.partition(":")
        if name not in known_rules():  # a lowering, which happens in any case
            continue
        if (fusion := fusion_of(rule)) is not None:
            name = fusion.name
        section = graph if operation.startswith("ge.") else buffer
        entry = section.setdefault(name, [0, 0])
        entry[0] += counts.matched(rule)
        entry[1] += counts.applied.get(rule, 0)

    def form(section: dict[str, list[int]], **more: str) -> dict[str, Any]:
        return {
            name: {"match_times": str(match), "effect_times": str(effect), **more}
            for name, (match, effect) in sorted(section.items())
        }

    return [
        {
            "session_and_graph_id": "0_0",
            "graph_fusion": form(graph),
            "ub_fusion": form(buffer, repository_hit_times="0"),
        }
    ]
