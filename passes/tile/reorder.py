"""tile-reorder: an order of launches that keeps few bytes alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from gecc.dialects.tile import JoinOp, ViewOp, WeightOp
from gecc.errors import PassError
from gecc.memory import EFFORTS
from gecc.passes.tile._graph_memory import GraphMemory, graph_memory
from gecc.passes.tile._joins import blocks_of

WIDTHS = {"fast": 1, "default": 16, "best": 64}
"""Partial orders that are kept at each step, by effort."""

MAX_NODES = {"fast": 0, "default": 2_000, "best": 20_000}
"""Larger blocks keep their order."""


@dataclass(frozen=True)
class TileReorder(ModulePass):
    """Order the launches of a block so that the most bytes alive at once are few. What depends on what stays so.

    ```mlir
    %a = tile.launch @wide "Wide" ins(%x : tensor<8xf32>) ... -> tensor<1024xf32>
    %b = tile.launch @wide "Wide" ins(%x : tensor<8xf32>) ... -> tensor<1024xf32>
    %c = tile.launch @sum "Sum" ins(%a : tensor<1024xf32>) ... -> tensor<1xf32>
    %d = tile.launch @sum "Sum" ins(%b : tensor<1024xf32>) ... -> tensor<1xf32>
    // becomes
    %a = tile.launch @wide "Wide" ins(%x : tensor<8xf32>) ... -> tensor<1024xf32>
    %c = tile.launch @sum "Sum" ins(%a : tensor<1024xf32>) ... -> tensor<1xf32>
    %b = tile.launch @wide "Wide" ins(%x : tensor<8xf32>) ... -> tensor<1024xf32>
    %d = tile.launch @sum "Sum" ins(%b : tensor<1024xf32>) ... -> tensor<1xf32>
    ```

    A beam search over partial orders, each step by one launch; of two that have run the same launches the one of the lower
    peak is kept. The order found is taken only when its peak is below that of the order given, which is kept otherwise.
    Launches that give back more than they take go first, which keeps the search narrow. Bodies of branches and loops are
    ordered each for itself; host calls keep their order.

    Needs: launches on tensors (fused-to-tile).
    """

    name = "tile-reorder"

    effort: str = "default"
    """Work spent: fast (none), default or best."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.effort not in EFFORTS:
            raise PassError(f"unknown effort '{self.effort}'", hint=f"one of {', '.join(EFFORTS)}")
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                for block in blocks_of(function):
                    self._block(block)

    def _block(self, block: Block) -> None:
        memory = graph_memory(block)
        if len(memory.nodes) > MAX_NODES[self.effort]:
            return
        given = range(len(memory.nodes))
        peak = memory.peak(given)
        if peak <= memory.floor:
            return
        found = best_order(memory, WIDTHS[self.effort], peak)
        if found is not None:
            _arrange(block, [memory.nodes[number].op for number in found])


@dataclass(slots=True)
class _State:
    """A partial order: what has run, in what order, the bytes alive, the peak, and the readers each buffer still has."""

    done: int
    order: tuple[int, ...]
    live: int
    peak: int
    left: list[int]
    ready: tuple[int, ...]


def best_order(memory: GraphMemory, width: int, limit: int) -> list[int] | None:
    """An order whose peak is below `limit`, by beam search; None when none was found. The same for the same graph."""
    nodes = memory.nodes
    needs = [sum(1 << need for need in node.needs) for node in nodes]
    start = tuple(number for number, mask in enumerate(needs) if not mask)
    states = [_State(0, (), 0, 0, list(memory.readers), start)]
    for _ in nodes:
        grown: dict[int, _State] = {}
        for state in states:
            for number in _candidates(memory, state):
                left = list(state.left)
                live, high = memory.step(number, state.live, left)
                peak = max(state.peak, high)
                if peak >= limit:
                    continue
                done = state.done | 1 << number
                other = grown.get(done)
                if other is not None and (other.peak, other.live) <= (peak, live):
                    continue
                opened = [user for user in nodes[number].users if not needs[user] & ~done]
                ready = tuple(sorted({*(n for n in state.ready if n != number), *opened}))
                grown[done] = _State(done, (*state.order, number), live, peak, left, ready)
        if not grown:
            return None
        states = sorted(grown.values(), key=lambda s: (s.peak, s.live))[:width]
    return list(states[0].order)


def _candidates(memory: GraphMemory, state: _State) -> Sequence[int]:
    """What may run next: one launch alone when it costs nothing, since no order is worse for running it now."""
    for number in state.ready:
        live, high = memory.step(number, state.live, list(state.left))
        if live <= state.live and high <= max(state.peak, state.live):
            return (number,)
    return state.ready


def _arrange(block: Block, order: Sequence[Operation]) -> None:
    """Move the operations of a block into this order; weights, views and joins come right before their first use."""
    last = block.last_op
    terminator = last if last is not None and last.has_trait(IsTerminator) else None
    placed: set[Operation] = set()
    rest = [op for op in block.ops if op is not terminator]

    def put(op: Operation) -> None:
        if op in placed or op is terminator:
            return
        for value in _used(op):
            owner = value.owner
            if isinstance(owner, WeightOp | ViewOp | JoinOp) and owner.parent is block:
                put(owner)
        placed.add(op)
        op.detach()
        if terminator is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, terminator)

    for op in (*order, *rest):
        put(op)


def _used(op: Operation) -> list[SSAValue]:
    return [v for inner in op.walk() for v in inner.operands]
