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


@dataclass(frozen=True)
class TileChooseJoins(ModulePass):
    """Mark the joins whose parts are better copied.

    ```mlir
    %j = tile.join %a, %b : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>
    // becomes, where rigid buffers pack badly
    %j = tile.join %a, %b copied : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>
    ```

    A part made in its place is never copied, and at no time more bytes are alive for it. But it must lie beside its
    neighbours, which can leave holes between buffers. So where the arena is not at its lower bound, memory is planned again
    with all parts copied, and the smaller arena wins.

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
        arena, bound = self._plan(ctx, op)
        if arena <= bound:
            return
        copied = op.clone()
        _copy_all(copied)
        if self._plan(ctx, copied)[0] < arena:
            _copy_all(op)

    def _plan(self, ctx: Context, module: ModuleOp) -> tuple[int, int]:
        """Bytes of the arena, and the least that any plan of the same sharing has."""
        from gecc.passes.tile._liveness import graph_functions, steps_of
        from gecc.passes.tile.allocate_buffers import Arena, best_arena
        from gecc.passes.tile.bufferize import TileBufferize
        from gecc.passes.tile.schedule import merge_phases

        trial = module.clone()
        TileBufferize().apply(ctx, trial)
        arenas: list[Arena] = []
        for function in graph_functions(trial):  # with gears several, of which one runs at a time
            steps = steps_of(function)
            phases = [[s] for s in steps] if self.sequential else merge_phases(steps, self.slack)
            arenas.append(best_arena(phases, self.effort))
        return max(a.bytes for a in arenas), max(a.bound for a in arenas)


def _copy_all(module: ModuleOp) -> None:
    for op in module.walk():
        if isinstance(op, JoinOp):
            op.copied = UnitAttr()
