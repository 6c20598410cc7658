"""Control flow around fused operations."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition

from gecc.dialects._control import BranchOp, LoopOp
from gecc.dialects.fused.scalar import YieldOp


@irdl_op_definition
class IfOp(BranchOp):
    """A branch on a computed condition; regions end in fused.yield.

    ```mlir
    %y = fused.if %c : tensor<i1> -> tensor<4xf32> {
      ...
      fused.yield %a : tensor<4xf32>
    } else {
      fused.yield %b : tensor<4xf32>
    }
    ```
    """

    name = "fused.if"
    TERMINATOR: ClassVar[type[Operation]] = YieldOp


@irdl_op_definition
class WhileOp(LoopOp):
    """A loop; its region ends in fused.yield: condition, carried values, rows.

    ```mlir
    %n, %last, %all = fused.while %c : tensor<i1> init(%zero, %x : tensor<i64>, tensor<4xf32>) -> tensor<i64>, tensor<4xf32>, tensor<9x4xf32> {
    ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
      ...
      fused.yield %go, %next, %new, %new : tensor<i1>, tensor<i64>, tensor<4xf32>, tensor<4xf32>
    }
    ```
    """

    name = "fused.while"
    TERMINATOR: ClassVar[type[Operation]] = YieldOp
