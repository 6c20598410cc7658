"""ge-hoist-invariants: what is the same in every iteration of a loop is computed before it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes._hoist import hoist


@dataclass(frozen=True)
class HoistInvariants(ModulePass):
    """Move operations out of loops that use nothing the loop changes.

    ```mlir
    %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
      %e = ge.Exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
      %g = ge.Add(%h, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ge.Yield %true, %g : tensor<i1>, tensor<4xf32>
    }
    // becomes
    %e = ge.Exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
    %y = ge.While(%n, none, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
      %g = ge.Add(%h, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ge.Yield %true, %g : tensor<i1>, tensor<4xf32>
    }
    ```

    Needs: no operand that is made in the loop. Operators that check indices from data stay, since the loop may run no
    times; so does everything in branches.
    """

    name = "ge-hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hoist(op, (ge.While,), _may_fail)


def _may_fail(op: Operation) -> bool:
    """Whether something in `op` takes indices from data."""
    return any(
        isinstance(inner, ge.Gather | ge.GatherElements | ge.GatherND | ge.Scatter | ge.ReverseSequence)
        and not isinstance(inner.operands[1].owner, ge.Const)
        for inner in op.walk()
    )
