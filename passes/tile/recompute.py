"""tile-recompute: compute a cheap tensor again instead of keeping it through the peak."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult
from xdsl.passes import ModulePass

from gecc.dialects.tile import KernelOp, LaunchOp, MmaOp
from gecc.passes.tile._graph_memory import GraphMemory, graph_memory

MAX_CLONES = 64
"""Launches added to a block at most."""


@dataclass(frozen=True)
class TileRecompute(ModulePass):
    """Launch a cheap kernel a second time, right before a late use of its result, where that lowers the peak.

    ```mlir
    %a = tile.launch @double "Mul" ins(%x : tensor<64xf32>) ... -> tensor<64xf32>
    %b = tile.launch @first "A" ins(%a : tensor<64xf32>) ... -> tensor<64xf32>
    %c = tile.launch @peak "B" ins(%b : tensor<64xf32>) ... -> tensor<4xf32>
    %d = tile.launch @late "C" ins(%c, %a : tensor<4xf32>, tensor<64xf32>) ... -> tensor<4xf32>
    // becomes
    %a = tile.launch @double "Mul" ins(%x : tensor<64xf32>) ... -> tensor<64xf32>
    %b = tile.launch @first "A" ins(%a : tensor<64xf32>) ... -> tensor<64xf32>
    %c = tile.launch @peak "B" ins(%b : tensor<64xf32>) ... -> tensor<4xf32>
    %0 = tile.launch @double "Mul" ins(%x : tensor<64xf32>) ... -> tensor<64xf32>
    %d = tile.launch @late "C" ins(%c, %0 : tensor<4xf32>, tensor<64xf32>) ... -> tensor<4xf32>
    ```

    Cheap is a kernel without a matrix product. A buffer that is alive at the peak, but not used there, is computed again for
    the uses behind it, as long as the peak gets lower each time. It trades time for memory, so no level runs it by itself:
    a memory limit that cannot be met otherwise does.

    Needs: launches on tensors (fused-to-tile).
    """

    name = "tile-recompute"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cheap = {
            kernel.sym_name.data
            for kernel in op.ops
            if isinstance(kernel, KernelOp) and not any(isinstance(inner, MmaOp) for inner in kernel.walk())
        }
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                for block in function.body.blocks:
                    self._block(block, cheap)

    def _block(self, block: Block, cheap: set[str]) -> None:
        for _ in range(MAX_CLONES):
            if not _lower(block, cheap):
                return


def _lower(block: Block, cheap: set[str]) -> bool:
    """One launch computed again, if that lowers the peak of the block."""
    memory = graph_memory(block)
    order = range(len(memory.nodes))
    peak = memory.peak(order)
    for at in _peaks(memory, peak):
        for result in _idle(memory, at, cheap):
            undo = _again(memory, result, at)
            if undo is None:
                continue
            changed = graph_memory(block)
            if changed.peak(range(len(changed.nodes))) < peak:
                return True
            undo()
        return False  # the first peak cannot be lowered, so no other matters
    return False


def _peaks(memory: GraphMemory, peak: int) -> list[int]:
    left = list(memory.readers)
    live = 0
    found: list[int] = []
    for number in range(len(memory.nodes)):
        live, high = memory.step(number, live, left)
        if high == peak:
            found.append(number)
    return found


def _idle(memory: GraphMemory, at: int, cheap: set[str]) -> list[OpResult]:
    """Results that are alive while node `at` runs, not used by it, and cheap to compute, the largest first."""
    touched = {*memory.nodes[at].reads, *memory.nodes[at].makes}
    found: list[tuple[int, OpResult]] = []
    for number in range(at):
        node = memory.nodes[number]
        op = node.op
        if not isinstance(op, LaunchOp) or len(op.results_) != 1 or not node.makes or node.makes[0] in touched:
            continue
        if op.kernel.string_value() not in cheap:
            continue
        if any(node.makes[0] in later.reads for later in memory.nodes[at + 1 :]):
            found.append((memory.sizes[node.makes[0]], op.results_[0]))
    return [result for _, result in sorted(found, key=lambda item: -item[0])]


def _again(memory: GraphMemory, result: OpResult, at: int) -> Undo | None:
    """Clone the maker of `result` before its first use behind node `at`; None when there is no use that can be changed."""
    maker = result.owner
    assert isinstance(maker, LaunchOp)
    late: list[tuple[Operation, int]] = []
    first: Operation | None = None
    for node in memory.nodes[at + 1 :]:
        for index, operand in enumerate(node.op.operands):
            if operand is result:
                late.append((node.op, index))
                first = first or node.op
    if first is None:
        return None  # used through views or regions alone
    clone = maker.clone()
    clone.location = maker.location
    block = first.parent
    assert block is not None
    block.insert_op_before(clone, first)
    for user, index in late:
        user.operands[index] = clone.results[0]
    return Undo(clone, result, late)


@dataclass(frozen=True, slots=True)
class Undo:
    """Takes a clone away again."""

    clone: Operation
    original: OpResult
    users: list[tuple[Operation, int]]

    def __call__(self) -> None:
        for user, index in self.users:
            user.operands[index] = self.original
        self.clone.detach()
        self.clone.erase()
