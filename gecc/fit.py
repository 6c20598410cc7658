"""Fitting a model's arena into a given number of bytes, by giving up speed step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gecc.errors import MemoryLimitError
from gecc.pipeline import MemoryOptions, parse_passes, run_passes, with_memory

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

SHOWN = 6
"""Buffers that an error names."""


def fit(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], options: MemoryOptions) -> None:
    """Run `passes`, from the first that plans memory to tile-allocate-buffers, on `module` in place, within the limit.

    Tried one after the other until the arena is small enough: the passes as they are, with the greatest effort, with one
    launch a phase, with cheap launches done again. Raises MemoryLimitError saying how near the best of them came and which
    tensors hold its peak.
    """
    assert options.limit is not None
    best: tuple[int, ModuleOp] | None = None
    for attempt in _attempts(passes, options):
        trial = module.clone()
        run_passes(ctx, trial, attempt, verify_each=False)
        arena = arena_bytes(trial)
        if best is None or arena < best[0]:
            best = (arena, trial)
        if arena <= options.limit:
            break
    assert best is not None
    arena, trial = best
    if arena > options.limit:
        raise MemoryLimitError(
            f"the arena takes at least {arena} bytes, {arena - options.limit} more than the limit of {options.limit}; "
            f"its peak is held by {_holders(trial)}",
            hint="a smaller input shape or batch, or a greater limit",
        )
    _take(module, trial)


def _attempts(passes: Sequence[ModulePass], options: MemoryOptions) -> list[tuple[ModulePass, ...]]:
    from gecc.passes.tile.choose_joins import TileChooseJoins
    from gecc.passes.tile.schedule import TileSchedule

    best = with_memory(passes, replace(options, effort="best", slack=0))
    alone = TileSchedule | TileChooseJoins
    sequential = tuple(replace(p, sequential=True) if isinstance(p, alone) else p for p in best)
    return [with_memory(passes, options), best, sequential, (*parse_passes(["tile-recompute"]), *sequential)]


def _take(module: ModuleOp, trial: ModuleOp) -> None:
    """Give `module` the contents of `trial`."""
    module.detach_region(module.body)
    module.add_region(trial.detach_region(trial.body))
    module.attributes = dict(trial.attributes)


def arena_bytes(module: ModuleOp) -> int:
    """Bytes of the arena of an allocated module."""
    from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr

    from gecc.passes.tile.allocate_buffers import MEMORY

    memory = module.attributes.get(MEMORY)
    arena = memory.data.get("arena") if isinstance(memory, DictionaryAttr) else None
    assert isinstance(arena, IntegerAttr)
    return arena.value.data


def _holders(module: ModuleOp) -> str:
    """The largest buffers of the fullest phase."""
    from gecc.arena_report import memory_report

    phase, alive = memory_report(module).busiest
    shown = ", ".join(f"{row.maker} ({row.size} bytes)" for row in alive[:SHOWN])
    more = f" and {len(alive) - SHOWN} more" if len(alive) > SHOWN else ""
    return f"phase {phase}: {shown}{more}"
