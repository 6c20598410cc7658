"""fused-fold-views: views that say nothing new go, and scalar regions read through the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects.fused import Body, FusedOp, ViewOp
from gecc.dialects.ge.types import tensor
from gecc.passes.fused._merge import Source, Values, fixed_operands, merged
from gecc.passes.fused._views import RemoveView, SinkPlan, is_row_major, linear_map, map_index, sink_plan
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss


class ReadThroughView(Pattern):
    """A scalar region that loads from a view loads from what is viewed, where the index follows without division."""

    ops: ClassVar[tuple[type[Operation], ...]] = (ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ViewOp)
        source, target = tensor(op.x), tensor(op.result)
        if isinstance(plan := sink_plan(op), SinkPlan):
            return miss(op, "its user {} belongs into the epilogue before it", plan.user.label.data)
        if not (is_row_major(source) and is_row_major(target)):
            return miss(op, "{} or {} is not row-major", source, target)
        paired = linear_map(source.get_shape(), target.get_shape())
        if paired is None:
            return miss(op, "an index of {} follows from one of {} only by division", source, target)

        def write(b: Body, indices: Values, tensors: Values) -> SSAValue:
            return b.load(tensors[0], map_index(b, paired, source.get_shape(), target.get_shape(), indices))

        for use in list(op.result.uses):
            user = use.operation
            if isinstance(user, FusedOp) and use.index >= fixed_operands(user):
                if any(operand is op.result for operand in user.operands[: fixed_operands(user)]):
                    continue
                new = merged(user, user.label.data, replace={op.result: Source([op.x], write)})
                return rw.replace(user, new)


@dataclass(frozen=True)
class FoldViewsPass(ModulePass):
    """Remove views, and read through them.

    ```mlir
    %0 = fused.view %x : tensor<6x4xf32> -> tensor<2x3x4xf32>
    %1 = fused.generic "Relu"(%0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> body(...) {
      %v = fused.load %t[%i, %j, %k] : tensor<2x3x4xf32>
      ...
    }

    // becomes

    %1 = fused.generic "Relu"(%x) : (tensor<6x4xf32>) -> tensor<2x3x4xf32> body(...) {
      %m = arith.muli %i, %three : index
      %n = arith.addi %m, %j : index
      %v = fused.load %t[%n, %k] : tensor<6x4xf32>
      ...
    }
    ```

    Needs: row-major types, except to remove a view. No index is ever computed by division, and a view whose user can
    join the epilogue of the anchor before it is left to fused-fuse-epilogues.
    """

    name = "fused-fold-views"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [RemoveView(), ReadThroughView()], ctx=ctx)
