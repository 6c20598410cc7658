"""fused-fuse-epilogues: pointwise work after an anchor moves into the anchor's epilogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects.fused import (
    Body,
    ConvOp,
    FusedOp,
    GenericOp,
    MatmulOp,
    NormOp,
    SoftmaxOp,
)
from gecc.passes.fused._merge import (
    Refusal,
    Values,
    absorbable,
    copy_ops,
    is_pointwise,
    is_zero,
    joined,
    loads_of,
    merged,
    too_large,
)
from gecc.passes.fused._views import RemoveView, SinkView
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss


def is_bias(consumer: GenericOp, result: SSAValue, dimension: int) -> bool:
    """Whether `consumer` adds a vector along one dimension to `result`: part of the anchor, not worth a name."""
    if consumer.label.data != "Add":
        return False
    loads = [load for value in consumer.inputs if value is not result for _, load in loads_of(consumer, value)]
    indices = [index for load in loads for index in load.indices if not is_zero(index)]
    return bool(indices) and all(isinstance(index, BlockArgument) and index.index == dimension for index in indices)


def bias_dimension(op: FusedOp) -> int | None:
    """The dimension along which the anchor's bias lies."""
    if isinstance(op, MatmulOp):
        return op.result_type.get_num_dims() - 1
    return 1 if isinstance(op, ConvOp) else None


class FuseEpilogue(Pattern):
    """A pointwise operation that alone uses an anchor's result, at the anchor's own indices."""

    ops: ClassVar[tuple[type[Operation], ...]] = (MatmulOp, ConvOp, SoftmaxOp, NormOp, GenericOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, FusedOp)
        if is_pointwise(op):
            return
        consumer = absorbable(op)
        if isinstance(consumer, Refusal):
            return miss(op, consumer.reason, *consumer.args)
        dimension = bias_dimension(op)
        silent = dimension is not None and is_bias(consumer, op.result, dimension)
        label = op.label.data if silent else joined(op.label.data, consumer.label.data)
        others = [value for value in consumer.inputs if value is not op.result]
        block = consumer.body.block

        def finish(
            b: Body, indices: Sequence[SSAValue], value: SSAValue, args: Mapping[SSAValue, SSAValue]
        ) -> SSAValue:
            mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, indices, strict=False))
            result: dict[SSAValue, Callable[[Body, Values], SSAValue]] = {}
            for arg, operand in zip(block.args[len(indices) :], consumer.inputs, strict=True):
                if operand is op.result:
                    result[arg] = lambda b, indices: value
                else:
                    mapping[arg] = args[operand]
            return copy_ops(b, block, mapping, result)

        new = merged(op, label, extra=others, finish=finish, result_type=consumer.result_type)
        if (reason := too_large(new)) is not None:
            return miss(op, "merging {} gives {}", consumer.label.data, reason)
        rw.replace(consumer, new, absorbed=[op])


@dataclass(frozen=True)
class FuseEpiloguesPass(ModulePass):
    """Merge pointwise consumers into the epilogue of matmul, conv, norm, softmax and reductions.

    ```mlir
    %0 = fused.matmul "MatMulV2"(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> epilogue(..., %acc: f32, ...) {
      fused.yield %acc : f32
    }
    %1 = fused.generic "Relu"(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32> body(%i: index, %j: index, %t: tensor<4x2xf32>) {
      %v = fused.load %t[%i, %j] : tensor<4x2xf32>
      %r = arith.maximumf %v, %zero : f32
      fused.yield %r : f32
    }

    // becomes

    %1 = fused.matmul "MatMulV2Relu"(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> epilogue(..., %acc: f32, ...) {
      %r = arith.maximumf %acc, %zero : f32
      fused.yield %r : f32
    }
    ```

    Needs: the consumer is the only user of the anchor's result, has its shape and layout, and reads it at its own
    indices, or through a view past which it can move. Its other operands (bias, residual, anything broadcast or
    gathered) become operands of the anchor.
    """

    name = "fused-fuse-epilogues"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [RemoveView(), SinkView(), FuseEpilogue()], ctx=ctx)
