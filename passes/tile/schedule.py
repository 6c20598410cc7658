"""tile-schedule: which launches run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from gecc.dialects.tile import AllocOp
from gecc.passes.tile._liveness import Lifetime, Step, graph_functions, lifetimes, steps_of, takeover


@dataclass(frozen=True)
class TileSchedule(ModulePass):
    """Put every launch, label and jump into a phase: launches of a phase are independent and share one barrier at its end.

    ```mlir
    tile.launch @k "Q" ins(%x : memref<8xf32>) outs(%q : memref<8xf32>) params [8] blocks 1 scratch 0 inplace []
    tile.launch @k "K" ins(%x : memref<8xf32>) outs(%k : memref<8xf32>) params [8] blocks 1 scratch 0 inplace []
    tile.launch @add "Add" ins(%q, %k : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [0]
    // becomes
    tile.launch @k "Q" ins(%x : memref<8xf32>) outs(%q : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [] phase 0
    tile.launch @k "K" ins(%x : memref<8xf32>) outs(%k : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [] phase 0
    tile.launch @add "Add" ins(%q, %k : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) params [8] blocks 1 scratch 0 inplace [0] phase 1
    ```

    Program order is kept. A launch joins the phase before it when it is independent of all launches there, and the
    bytes alive in the joint phase do not exceed the most that are alive at once in program order: fewer barriers
    never cost memory. Calls of the host, labels and jumps stand alone, so a phase never reaches over the border of a branch or loop.
    Merging two phases leaves the buffers alive in every other phase as they are, so it is enough to look at the joint
    one.

    Needs: launches on memory (tile-bufferize).
    """

    name = "tile-schedule"

    sequential: bool = False
    """One launch a phase."""
    slack: int = 0
    """Percent by which the most bytes alive at once may exceed those of the sequential order, for fewer phases."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in graph_functions(op):
            steps = steps_of(function)
            phases = [[s] for s in steps] if self.sequential else merge_phases(steps, self.slack)
            for number, phase in enumerate(phases):
                for step in phase:
                    step.op.phase = IntegerAttr(number, i64)


def merge_phases(steps: Sequence[Step], slack: int = 0) -> list[list[Step]]:
    """Groups neighbouring independent launches as long as the most bytes alive at once grow by `slack` percent at most."""
    limit = max(live_bytes([[s] for s in steps]), default=0) * (100 + slack) // 100
    births: dict[int, list[_Part]] = {}
    for root, stretches in lifetimes([[s] for s in steps]).items():
        for life in stretches:
            births.setdefault(life.first, []).append((root, life))
    phases: list[list[Step]] = []
    alive: list[_Part] = []  # what is alive in the last phase
    start = 0
    for number, step in enumerate(steps):
        fresh = births.get(number, [])
        joint = alive + fresh
        if (
            phases
            and not any(step.depends_on(other) for other in phases[-1])
            and _joint_bytes([*phases[-1], step], joint, start, number) <= limit
        ):
            phases[-1].append(step)
            alive = joint
        else:
            phases.append([step])
            alive = [(root, life) for root, life in alive if life.last >= number] + fresh
            start = number
    return phases


_Part = tuple[AllocOp, Lifetime]
"""A stretch of bytes of a buffer."""


def _joint_bytes(phase: Sequence[Step], alive: Sequence[_Part], start: int, end: int) -> int:
    """Bytes alive in a phase of the launches `start`..`end`, with memory taken over in place counted once."""
    joint: dict[AllocOp, list[Lifetime]] = {}
    for root, life in sorted(alive, key=lambda part: part[1].start):
        first, last = 0 if life.first >= start else -1, 0 if life.last <= end else 1
        joint.setdefault(root, []).append(Lifetime(life.start, life.stop, first, last))
    for step in phase:
        for access in (*step.reads, *step.writes):
            for life in joint.get(access.root, ()) if isinstance(access.root, AllocOp) else ():
                if life.start < access.stop and access.offset < life.stop and step not in life.touched_last:
                    life.touched_last.append(step)
    saved = sum(found.bytes for step in phase if (found := takeover(step, 0, joint)) is not None)
    return sum(life.size for _, life in alive) - saved


def live_bytes(phases: Sequence[Sequence[Step]]) -> list[int]:
    """Bytes alive in each phase, with memory taken over in place counted once."""
    life = lifetimes(phases)
    change = [0] * (len(phases) + 1)
    for part in (part for stretches in life.values() for part in stretches):
        change[part.first] += part.size
        change[part.last + 1] -= part.size
    total, live = [], 0
    for number, phase in enumerate(phases):
        live += change[number]
        saved = sum(found.bytes for step in phase if (found := takeover(step, number, life)) is not None)
        total.append(live - saved)
    return total
