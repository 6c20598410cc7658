"""ge-split-joined-conv: a convolution of joined tensors becomes a sum of convolutions, and nothing is joined."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import constant, element, named_const, producer, shape, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, store_of


class SplitJoinedConv(Pattern):
    """`Conv2D(Concat(a, b), w)` over channels is `Conv2D(a, w_a) + Conv2D(b, w_b)`."""

    ops = (ge.Conv2D,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Conv2D)
        join = producer(op.x, ge.Concat)
        if join is None or join.axis.value.data not in (1, -3) or len(join.xs) < 2:
            return
        if uses(op.x) != 1:
            return miss(op, "the Concat has {} uses, need 1", uses(op.x))
        if op.group.value.data != 1:
            return miss(op, "group is {}, need 1", op.group.value.data)
        if not isinstance(element(op.result), Float32Type | Float64Type):
            return miss(op, "sums of {} would be rounded between the parts", element(op.result))
        if any(min(shape(x)) < 0 for x in (*join.xs, op.result)):
            return miss(op, "shapes are open")
        channels = [shape(x)[1] for x in join.xs]
        made = (len(channels) - 1) * shape(op.result)[1] * _pixels(op.result)
        joined = sum(channels) * _pixels(op.x)
        if made > joined:
            return miss(op, "partial sums of {} elements, the Concat has {}", made, joined)
        import numpy as np

        weight = constant(op.w, self.store)
        if weight is None:
            return miss(op, "the weight is no constant")
        total: SSAValue | None = None
        new: list[Operation] = []
        start = 0
        name = op.w.name_hint or "weight"
        for number, x in enumerate(join.xs):
            piece = np.ascontiguousarray(weight[:, start : start + channels[number]])
            part = named_const(piece, self.store, f"{name}_{number}")
            start += channels[number]
            conv = ge.Conv2D(
                x,
                part.result,
                op.bias if number == 0 else None,
                strides=[int(v) for v in op.strides.get_values()],
                pads=[int(v) for v in op.pads.get_values()],
                dilations=[int(v) for v in op.dilations.get_values()],
                result_type=op.result.type,
            )
            new += [part, conv]
            if total is None:
                total = conv.result
            else:
                add = ge.Add(total, conv.result)
                new.append(add)
                total = add.result
        assert total is not None
        rw.replace(op, new, [total], absorbed=[join])


def _pixels(value: SSAValue) -> int:
    n, _, height, width = shape(value)
    return n * height * width


@dataclass(frozen=True)
class SplitJoinedConvPass(ModulePass):
    """Convolve the parts of a Concat of channels instead of the whole.

    ```mlir
    %j = ge.Concat(%a, %b) axis 1 : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x16x16x16xf32>
    %y = ge.Conv2D(%j, %w) : (tensor<1x16x16x16xf32>, tensor<8x16x1x1xf32>) -> tensor<1x8x16x16xf32>
    // becomes
    %0 = ge.Conv2D(%a, %wa) : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
    %1 = ge.Conv2D(%b, %wb) : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
    %y = ge.Add(%0, %1) : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    ```

    The joined tensor, which is the peak of a U-Net's memory, is never made, and its bytes are neither written nor read. In
    exchange partial sums are: the addition becomes the epilogue of the next convolution, in place. Done when these are no
    more elements than the joined tensor has.

    Needs: a constant weight of float type, one group, no other use of the Concat, static shapes.
    """

    name = "ge-split-joined-conv"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [SplitJoinedConv(store_of(ctx))], ctx=ctx)
