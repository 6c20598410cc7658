"""ge-canonicalize: one spelling for what can be said in several ways, and nothing where nothing is done."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gecc.passes.ge.canonicalize import constants, control, joins, movement, pointwise, producers
from gecc.rewrite import apply_patterns


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """Remove operations that do nothing, merge those that undo or repeat each other, bring constants to the right.

    ```mlir
    %0 = ge.Transpose(%x) perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = ge.Transpose(%0) perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = ge.Mul(%one, %1) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = ge.RealDiv(%2, %eight) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    // becomes
    %3 = ge.Mul(%x, %eighth) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```

    Needs: every rule keeps the numbers exactly, up to the sign of a zero; none introduces an operation that costs
    more than what it replaces. Rules that compare shapes apply only where the shapes are known.
    """

    name = "ge-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply all rules to a fixed point."""
        rules = [
            *pointwise.patterns(),
            *constants.patterns(ctx),
            *movement.patterns(),
            *joins.patterns(),
            *producers.patterns(ctx),
            *control.patterns(),
        ]
        apply_patterns(op, rules, ctx=ctx)
