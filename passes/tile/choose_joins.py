"""tile-choose-joins: parts are made where they lie in a join, unless that makes the arena larger."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from gecc.dialects.tile import JoinOp
from gecc.errors import PassError
from gecc.memory import EFFORTS
from gecc.passes.tile._joins import blocks_of, homes
from gecc.passes.tile._liveness import Step, graph_functions, steps_of
from gecc.passes.tile.allocate_buffers import best_arena, least_arena
from gecc.passes.tile.bufferize import TileBufferize
from gecc.passes.tile.schedule import merge_phases


@dataclass(frozen=True)
class TileChooseJoins(ModulePass):
    """Mark the joins whose parts are better copied.

    ```mlir
    %j = tile.join %a, %b : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>
    // becomes, where rigid buffers pack badly
    %j = tile.join %a, %b copied : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>
    ```

    A part made in its place is never copied, and but for memory that a kernel would have taken over no more bytes are alive
    for it. But it must lie beside its neighbours, which can leave holes between buffers, and can keep it from lying where an
    operand dies. So where the arena is above the least that any plan has with all parts copied, memory is planned again with
    copies, and the smaller arena wins.

    Needs: launches on tensors in their final order (tile-reorder).
    """

    name = "tile-choose-joins"

    effort: str = "default"
    """Work spent on each plan: fast, default or best."""
    slack: int = 0
    """As tile-schedule will be told."""
    sequential: bool = False
    """As tile-schedule will be told."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.effort not in EFFORTS:
            raise PassError(f"unknown effort '{self.effort}'", hint=f"one of {', '.join(EFFORTS)}")
        blocks = [b for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration for b in blocks_of(f)]
        if not any(homes(block) for block in blocks):
            return
        copied = op.clone()
        _copy_all(copied)
        together, apart = self._schedules(ctx, op.clone()), self._schedules(ctx, copied)
        arena = self._arena(together)
        if max(map(least_arena, apart)) < arena and self._arena(apart) < arena:
            _copy_all(op)

    def _schedules(self, ctx: Context, trial: ModuleOp) -> list[list[list[Step]]]:
        """The phases of each function, as the passes to come will make them: of gears one runs at a time."""
        TileBufferize().apply(ctx, trial)
        found: list[list[list[Step]]] = []
        for function in graph_functions(trial):
            steps = steps_of(function)
            found.append([[s] for s in steps] if self.sequential else merge_phases(steps, self.slack))
        return found

    def _arena(self, schedules: list[list[list[Step]]]) -> int:
        """Bytes of the arena."""
        return max(best_arena(phases, self.effort).bytes for phases in schedules)


def _copy_all(module: ModuleOp) -> None:
    for op in module.walk():
        if isinstance(op, JoinOp):
            op.copied = UnitAttr()
