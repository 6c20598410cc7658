"""fused-fuse-pointwise: a pointwise producer is computed where it is read, and its tensor never exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gecc.dialects.fused import FusedOp, GenericOp
from gecc.passes.fused._merge import (
    absorbable,
    elements,
    evaluations,
    fixed_operands,
    generic_source,
    is_pointwise,
    joined,
    loads_of,
    merged,
    too_large,
    work,
)
from gecc.passes.fused.to_tile.joins import worth_joining
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss

CHEAP_WORK = 4
"""At most so much work for each element may be done more than once."""
MAX_REPEAT = 4
"""At most so often may the elements of a cheap producer be computed."""
SMALL = 64
"""A tensor of fewer elements stays in the first-level cache, and reading it costs nothing: scalars, bias vectors."""


class FuseProducer(Pattern):
    """Inline a pointwise producer into all its users, at the indices where they read it."""

    ops: ClassVar[tuple[type[Operation], ...]] = (GenericOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, GenericOp)
        if not is_pointwise(op):
            return
        if worth_joining(op) is not None:
            return miss(op, "its parts are made where they lie in it")
        users = list(dict.fromkeys(use.operation for use in op.result.uses))
        for user in users:
            if isinstance(user, GenericOp) and worth_joining(user) is not None:
                return miss(op, "user {} takes what is made in its place", user.label.data)
            if not isinstance(user, FusedOp):
                return miss(op, "user {} has no scalar region", user.name)
            if user.parent is not op.parent:
                return miss(op, "user {} is in another region, which may run more often", user.label.data)
            if any(operand is op.result for operand in user.operands[: fixed_operands(user)]):
                return miss(op, "user {} reads it as an operand of its anchor", user.name)
        for value in op.inputs:
            if isinstance(anchor := value.owner, FusedOp) and not is_pointwise(anchor) and absorbable(anchor) is op:
                return miss(op, "belongs into the epilogue of {}", anchor.label.data)
        targets = [user for user in users if isinstance(user, FusedOp)]
        if not targets:
            return
        if len(targets) > 1 and not self._worth_repeating(op):
            return miss(op, "{} users, and {} work on {} large operands", len(users), work(op), len(self._large(op)))
        for user in targets:
            repeat = evaluations(user, op.result) / max(elements(op.result), 1)
            if repeat > 1 and (work(op) > CHEAP_WORK or repeat > MAX_REPEAT):
                return miss(
                    op, "user {} would compute it {} times over, with {} work", user.label.data, repeat, work(op)
                )
        news = [
            merged(
                user,
                joined(*self._labels(op, user)),
                replace={op.result: generic_source(op)},
            )
            for user in targets
        ]
        if (reason := too_large(*news)) is not None:
            return miss(op, "merging it into its users gives {}", reason)
        for user, new in zip(targets, news, strict=True):
            rw.replace(user, new, absorbed=[op])

    def _large(self, op: GenericOp) -> list[object]:
        return [value for value in op.inputs if elements(value) >= SMALL]

    def _worth_repeating(self, op: GenericOp) -> bool:
        """With one large operand, reading it instead of the result costs no traffic, and cheap work is hidden by it."""
        return work(op) <= CHEAP_WORK and len(self._large(op)) <= 1

    def _labels(self, op: GenericOp, user: FusedOp) -> tuple[str, ...]:
        """Names in the order of the data: before the user's, except in an epilogue, where its operands come late."""
        if fixed_operands(user) or any(number > 0 for number, _ in loads_of(user, op.result)):
            return (user.label.data,)
        return (op.label.data, user.label.data)


@dataclass(frozen=True)
class FusePointwisePass(ModulePass):
    """Inline pointwise producers into the scalar regions that load their results.

    ```mlir
    %0 = fused.generic "Mul"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> body(%i: index, ...) {
      %a = fused.load %t0[%i] : tensor<8xf32>
      %b = fused.load %t1[%i] : tensor<8xf32>
      %m = arith.mulf %a, %b : f32
      fused.yield %m : f32
    }
    %1 = fused.generic "Tanh"(%0) : (tensor<8xf32>) -> tensor<8xf32> body(%i: index, %t: tensor<8xf32>) {
      %v = fused.load %t[%i] : tensor<8xf32>
      %h = math.tanh %v : f32
      fused.yield %h : f32
    }

    // becomes

    %1 = fused.generic "MulTanh"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> body(%i: index, ...) {
      %a = fused.load %t0[%i] : tensor<8xf32>
      %b = fused.load %t1[%i] : tensor<8xf32>
      %m = arith.mulf %a, %b : f32
      %h = math.tanh %m : f32
      fused.yield %h : f32
    }
    ```

    Index maps compose: a producer read at computed indices is computed at these. Needs: all users can take it (it
    then disappears); nothing is computed more than once unless it is cheap; reductions and anchors are never
    repeated.
    """

    name = "fused-fuse-pointwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [FuseProducer()], ctx=ctx)
