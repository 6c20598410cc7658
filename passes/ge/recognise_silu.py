"""ge-recognise-silu: x * Sigmoid(x) becomes ge.Silu."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import producer, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss


class FoldSilu(Pattern):
    """`x * Sigmoid(x)` in either order."""

    ops = (ge.Mul,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        for x, gate in (op.operands, op.operands[::-1]):
            sigmoid = producer(gate, ge.Sigmoid)
            if sigmoid is None or sigmoid.operands[0] is not x:
                continue
            if uses(gate) != 1:
                return miss(op, "Sigmoid has {} uses, need 1", uses(gate))
            return rw.replace(op, ge.Silu(x), absorbed=[sigmoid])


@dataclass(frozen=True)
class RecogniseSilu(ModulePass):
    """Replace x * Sigmoid(x) with one operator.

    ```mlir
    %s = ge.Sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = ge.Mul(%s, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // becomes
    %y = ge.Silu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Needs: no other use of the Sigmoid. A scale between x and the Sigmoid (Quick GELU, 1.702) is another function.
    """

    name = "ge-recognise-silu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [FoldSilu()], ctx=ctx)
