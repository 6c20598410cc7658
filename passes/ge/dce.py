"""ge-dce: remove what nothing uses."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import is_trivially_dead


@dataclass(frozen=True)
class DcePass(ModulePass):
    """Remove operations without side effects whose results reach no output.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = ge.Log(%0) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %x : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      func.return %x : tensor<4xf32>
    }
    ```

    Needs: no use of any result, and no effect but reading. Arguments of functions stay: they are the model's inputs.
    """

    name = "ge-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Remove dead operations in `op`."""
        _sweep(op)


def _sweep(op: Operation) -> None:
    """Remove dead operations inside `op`, users before producers, so that one walk removes whole chains."""
    for region in op.regions:
        for block in region.blocks:
            for inner in reversed(tuple(block.ops)):
                _sweep(inner)
                if is_trivially_dead(inner):
                    block.erase_op(inner)
