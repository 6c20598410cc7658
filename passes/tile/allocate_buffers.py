"""tile-allocate-buffers: a place in the arena for every buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.passes import ModulePass

from gecc.dialects.tile import AllocOp
from gecc.errors import PassError
from gecc.gear_module import GEARS
from gecc.memory import EFFORTS, Plan, check, plan
from gecc.memory.problem import align_up, lower_bound
from gecc.passes.tile._groups import Group, buffers_of, taken_over
from gecc.passes.tile._liveness import Step, footprint, graph_functions, lifetimes, phases_of, steps_of, takeover

MEMORY = "tile.memory"
"""Module attribute: `arena` bytes, `lower_bound` of any plan with the same sharing, `sum` of all buffers (what the arena
would take without reuse), `buffers`, `inplace` (how many took over another's memory), and the `method` that found the
plan."""


@dataclass(frozen=True)
class TileAllocateBuffers(ModulePass):
    """Give every `tile.alloc` its offset in the arena, and the module the numbers of the plan; change nothing else.

    ```mlir
    %0 = tile.alloc bytes 32 align 64 : memref<8xf32>
    tile.launch @exp "Exp" ins(%x : memref<8xf32>) outs(%0 : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [0] phase 0
    // becomes
    %0 = tile.alloc bytes 32 align 64 offset 0 : memref<8xf32>
    tile.launch @exp "Exp" ins(%x : memref<8xf32>) outs(%0 : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [0] phase 0
    ```

    A byte of a buffer is alive from the phase of its first use to that of its last, views included: a buffer of which parts
    are used on their own is a staircase, not a rectangle. The first output of a launch takes over the memory of an input that
    dies there when the kernel allows it (`inplace`): both are then one buffer to the planner. Joining buffers can make packing
    harder, so three ways are weighed - joining all, joining equal sizes only, joining none - and the smallest arena wins. The
    independent checker proves every plan. The functions of a module with gears (`ge.gears`) never run together: each has a
    plan of its own, laid over those of the others.

    Needs: launches on memory with phases (tile-bufferize, tile-schedule).
    """

    name = "tile-allocate-buffers"

    effort: str = "default"
    """Work spent on the plan: fast, default or best."""
    disable_reuse: bool = False
    """Give every buffer bytes of its own (a debugging aid)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.effort not in EFFORTS:
            raise PassError(f"unknown effort '{self.effort}'", hint=f"one of {', '.join(EFFORTS)}")
        functions = [f for f in graph_functions(op) if any(isinstance(x, AllocOp) for x in f.walk())]
        if len(functions) > 1 and GEARS not in op.attributes:
            names = ", ".join(f"@{f.sym_name.data}" for f in functions)
            raise PassError(f"functions {names} all have buffers, expected one: there is one arena")
        allocs = [x for f in functions for x in f.walk() if isinstance(x, AllocOp)]
        graphs = [phases_of(steps_of(f)) for f in functions] or [[]]
        if self.disable_reuse:
            arena = self._without_reuse(allocs)
        else:
            arena = _overlaid([best_arena(phases, self.effort) for phases in graphs])
        for alloc in allocs:
            # a buffer that nothing touches holds no bytes, so any place will do
            alloc.offset = IntegerAttr(arena.offsets.get(alloc, 0), i64)
        op.attributes[MEMORY] = DictionaryAttr(
            {
                "arena": IntegerAttr(arena.bytes, i64),
                "lower_bound": IntegerAttr(arena.bound, i64),
                "sum": IntegerAttr(sum(footprint(a) for a in allocs), i64),
                "buffers": IntegerAttr(len(allocs), i64),
                "inplace": IntegerAttr(arena.joined, i64),
                "method": StringAttr(arena.method),
            }
        )

    def _without_reuse(self, allocs: Sequence[AllocOp]) -> Arena:
        offsets: dict[AllocOp, int] = {}
        top = 0
        for alloc in allocs:
            offsets[alloc] = align_up(top, alloc.alignment.value.data)
            top = offsets[alloc] + footprint(alloc)
        return Arena(offsets, top, top, 0, "no reuse")


@dataclass(frozen=True, slots=True)
class Arena:
    """Offsets of all touched buffers, the bytes they span, the least any plan spans, and how many were joined."""

    offsets: dict[AllocOp, int]
    bytes: int
    bound: int
    joined: int
    method: str


def _overlaid(arenas: Sequence[Arena]) -> Arena:
    """One arena for graphs that never run together: as large as the largest of theirs."""
    largest = max(arenas, key=lambda arena: arena.bytes)
    return Arena(
        {alloc: offset for arena in arenas for alloc, offset in arena.offsets.items()},
        largest.bytes,
        max(arena.bound for arena in arenas),
        sum(arena.joined for arena in arenas),
        largest.method,
    )


def best_arena(phases: Sequence[Sequence[Step]], effort: str) -> Arena:
    """Plans the buffers of a schedule, joining buffers in place where that makes the arena smaller."""
    ways = _ways(phases)
    problems = [(buffers_of(groups), joined, groups) for groups, joined in ways]
    bounds = [lower_bound(buffers) for buffers, _, _ in problems]
    best: tuple[Plan, list[Group], int] | None = None
    for k in sorted(range(len(ways)), key=lambda k: (bounds[k], k)):
        buffers, joined, groups = problems[k]
        if best is not None and best[0].peak <= bounds[k]:
            break
        found = plan(buffers, effort=effort)
        check(buffers, found.offsets, capacity=found.peak)
        if best is None or found.peak < best[0].peak:
            best = (found, groups, joined)
    assert best is not None
    found, groups, joined = best
    offsets = {
        member: found.offsets[f"b{number}"] + within
        for number, group in enumerate(groups)
        for member, within in group.members
    }
    return Arena(offsets, found.peak, min(bounds), joined, found.method)


def least_arena(phases: Sequence[Sequence[Step]]) -> int:
    """The `bound` of `best_arena`, without a plan."""
    return min(lower_bound(buffers_of(groups)) for groups, _ in _ways(phases))


def _ways(phases: Sequence[Sequence[Step]]) -> list[tuple[list[Group], int]]:
    """Groups of the buffers of a schedule, and how many took over memory: all that may, those of equal size, none."""
    life = lifetimes(phases)
    pairs = [
        (number, found)
        for number, phase in enumerate(phases)
        for step in phase
        if (found := takeover(step, number, life)) is not None
    ]
    same = [p for p in pairs if p[1].same_size]
    ways = [taken_over(life, pairs)]
    if pairs:
        ways += [taken_over(life, same)] if len(same) < len(pairs) else []
        ways.append(taken_over(life, []))
    return ways
