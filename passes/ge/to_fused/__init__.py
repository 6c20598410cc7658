"""ge-to-fused: every graph operator becomes fused operations, one kernel launch each."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gecc.dialects.ge import GeOp, HostOp
from gecc.errors import PassError
from gecc.passes.ge.to_fused import (
    control,
    conv,
    host,
    indexing,
    linear,
    movement,
    norm,
    ordering,
    pointwise,
    pool,
    quant,
    reduce,
    resize,
    sampling,
    scatter,
    top_k,
)
from gecc.rewrite import Pattern, apply_patterns, location_names
from gecc.weights import store_of

FAMILIES = (
    *(pointwise, quant, linear, conv, pool, reduce, norm, movement, indexing),
    *(resize, sampling, ordering, top_k, scatter, host),
)
"""The modules that hold the patterns, a family each."""


@dataclass(frozen=True)
class ToFusedPass(ModulePass):
    """Lower the ge dialect to the fused dialect.

    ```mlir
    %y = ge.MatMulV2(%x, %w, %b) : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>

    // becomes

    %y = fused.matmul "MatMulV2"(%x, %w, %b) : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
        epilogue(%d0: index, %d1: index, %acc: f32, %t0: tensor<4x8xf32>, %t1: tensor<8x2xf32>, %t2: tensor<2xf32>) {
      %0 = fused.load %t2[%d1] : tensor<2xf32>
      %1 = arith.addf %acc, %0 : f32
      fused.yield %1 : f32
    }
    ```

    Needs: static shapes, and no operator that takes a shape as operand (run ge-infer-shapes first). Raises PassError
    naming every operator that is left.
    """

    name = "ge-to-fused"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # first, while constants still are ge.Const, which tell how often a loop runs
        apply_patterns(op, [pattern() for pattern in control.PATTERNS], ctx=ctx)
        patterns: list[Pattern] = [pattern() for family in FAMILIES for pattern in family.PATTERNS]
        store = store_of(ctx)
        patterns += [pattern(store) for pattern in resize.STORED]
        apply_patterns(op, patterns, ctx=ctx)
        left = [inner for inner in op.walk() if isinstance(inner, GeOp | HostOp)]
        if left:
            found = "; ".join(f"{inner.name} ({', '.join(location_names(inner)) or 'unnamed'})" for inner in left)
            raise PassError(
                f"operators without a lowering to fused operations: {found}",
                where=self.name,
                hint="shapes must be static and shape operands constant; run ge-infer-shapes first",
            )
