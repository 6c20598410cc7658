"""fused-hoist-invariants: kernels that do the same in every iteration of a loop run before it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gecc.dialects import fused
from gecc.passes._hoist import hoist


@dataclass(frozen=True)
class HoistInvariants(ModulePass):
    """Move operations out of loops that use nothing the loop changes: above all, the packing of weights.

    ```mlir
    %y = fused.while %c : tensor<i1> init(%x : tensor<3x8xf32>) -> tensor<3x8xf32> {
    ^bb0(%h: tensor<3x8xf32>):
      %p = fused.generic "TransData"(%w) : (tensor<8x8xf32>) -> tensor<1x8x16xf32> body(...) {...}
      %g = fused.matmul "MatMulV2"(%h, %p) {packed = 16 : i64, ...} : ...
      ...
    }
    // becomes
    %p = fused.generic "TransData"(%w) : (tensor<8x8xf32>) -> tensor<1x8x16xf32> body(...) {...}
    %y = fused.while %c : tensor<i1> init(%x : tensor<3x8xf32>) -> tensor<3x8xf32> {
    ^bb0(%h: tensor<3x8xf32>):
      %g = fused.matmul "MatMulV2"(%h, %p) {packed = 16 : i64, ...} : ...
      ...
    }
    ```

    Needs: no operand that is made in the loop. Operations that check indices from data stay, since the loop may run no
    times; so does everything in branches.
    """

    name = "fused-hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hoist(op, (fused.WhileOp,), _may_fail)


def _may_fail(op: Operation) -> bool:
    return any(isinstance(inner, fused.CheckIndexOp) for inner in op.walk())
