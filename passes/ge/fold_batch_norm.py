"""ge-fold-batch-norm: normalisation, scales and shifts by constants go into the weights before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import constant, element, named_const, producer, shape, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, numpy_dtype, store_of

if TYPE_CHECKING:
    import numpy as np

Anchor: TypeAlias = "ge.Conv2D | ge.ConvTranspose2D | ge.MatMulV2"
ANCHORS = (ge.Conv2D, ge.ConvTranspose2D, ge.MatMulV2)


@dataclass
class Affine:
    """`scale * y + shift` per output channel (float64, one element or one per channel); None leaves as it is."""

    scale: np.ndarray | None
    shift: np.ndarray | None


class _Fold(Pattern):
    """Replace an anchor and what follows it with one anchor of other weights."""

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def _anchor(self, op: Operation, value: SSAValue) -> Anchor | None:
        """The operation that makes `value` when its weights may change for `op` alone."""
        anchor = value.owner
        if not isinstance(anchor, ANCHORS):
            return None
        if element(value) not in ge.FLOAT:
            return miss(op, "{} computes in {}, need a floating-point type", anchor.name, element(value))
        if uses(value) != 1:
            return miss(op, "the result of {} has {} uses, need 1", anchor.name, uses(value))
        if anchor.parent is not op.parent:
            return miss(op, "{} is in another region, which may run less often", anchor.name)
        if anchor.bias is not None and constant(anchor.bias, self.store) is None:
            return miss(op, "the bias of {} is not constant", anchor.name)
        return anchor

    def _fold(
        self, op: Operation, anchor: Anchor, affine: Affine, rw: Rewriter, between: ge.Reshape | None = None
    ) -> None:
        """Replace `op`, which is `affine` of the result of `anchor` (reshaped by `between`)."""
        import numpy as np

        channels = _channels(anchor)
        if channels < 0:
            return miss(op, "the number of output channels of {} is not known", anchor.name)
        x, weight_value = anchor.operands[0], anchor.operands[1]
        dtype = numpy_dtype(element(anchor.results[0]))
        new: list[Operation] = []
        bias = np.zeros(channels) if anchor.bias is None else self._read(anchor.bias, channels)
        if affine.scale is not None:
            weight = constant(weight_value, self.store)
            if weight is None:
                return miss(op, "the weight of {} is not constant", anchor.name)
            if (narrow := element(weight_value)) != element(anchor.results[0]):
                return miss(
                    op, "the weight of {} is {}, the scale is applied to sums of another type", anchor.name, narrow
                )
            scale = np.broadcast_to(affine.scale, (channels,))
            scaled = weight.astype(np.float64) * _over_weight(anchor, scale)
            with np.errstate(over="ignore"):
                rounded = scaled.astype(dtype)
            if not np.isfinite(rounded.astype(np.float64)).all():
                return miss(op, "the scaled weight of {} overflows {}", anchor.name, dtype)
            bias = bias * scale
            const = named_const(rounded, self.store, "weight")
            new.append(const)
            weight_value = const.results[0]
        if affine.shift is not None:
            bias = bias + affine.shift
        if anchor.bias is not None or affine.shift is not None:
            const = named_const(bias.astype(dtype), self.store, "bias")
            new.append(const)
            bias_value: SSAValue | None = const.results[0]
        else:
            bias_value = None
        made = _rebuilt(anchor, x, weight_value, bias_value)
        new.append(made)
        absorbed: list[Operation] = [anchor]
        if between is not None:
            absorbed.append(between)
            new.append(ge.Reshape(made, shape(between.results[0])))
        rw.replace(op, new, absorbed=absorbed)

    def _read(self, value: SSAValue, channels: int) -> np.ndarray:
        import numpy as np

        array = constant(value, self.store)
        assert array is not None
        return np.broadcast_to(array.astype(np.float64).reshape(-1), (channels,))


def _channels(anchor: Anchor) -> int:
    """The number of output channels."""
    return shape(anchor.results[0])[-1 if isinstance(anchor, ge.MatMulV2) else 1]


def _over_weight(anchor: Anchor, scale: np.ndarray) -> np.ndarray:
    """One number per output channel, shaped to multiply the weight."""
    import numpy as np

    if isinstance(anchor, ge.Conv2D):
        return scale[:, None, None, None]
    if isinstance(anchor, ge.ConvTranspose2D):  # weight [I, O / group, kh, kw]: rows of one group share its outputs
        inputs, per_group = shape(anchor.operands[1])[:2]
        group = len(scale) // per_group
        return np.repeat(scale.reshape(group, per_group), inputs // group, axis=0)[:, :, None, None]
    return scale[:, None] if anchor.transpose_x2.value.data else scale


def _rebuilt(anchor: Anchor, x: SSAValue, weight: SSAValue, bias: SSAValue | None) -> Operation:
    """The same operation with other operands."""
    operands = [x, weight] if bias is None else [x, weight, bias]
    return type(anchor).create(
        operands=operands, result_types=[anchor.results[0].type], properties=dict(anchor.properties)
    )


def _per_channel(array: np.ndarray, extents: tuple[int, ...], channel: int) -> np.ndarray | None:
    """A constant that broadcasts to `extents`, as one number or one per index of dimension `channel`; else None."""
    import numpy as np

    if array.size == 1:
        return array.reshape(1).astype(np.float64)
    full = (1,) * (len(extents) - array.ndim) + array.shape
    if any(extent != 1 for i, extent in enumerate(full) if i != channel) or full[channel] != extents[channel]:
        return None
    return array.reshape(-1).astype(np.float64)


class FoldBatchNorm(_Fold):
    """BatchNorm after a convolution, or after a matrix product whose columns are the channels."""

    ops = (ge.BatchNorm,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.BatchNorm)
        value = op.operands[0]
        between = producer(value, ge.Reshape)
        if between is not None:
            if uses(value) != 1 or shape(value)[1:] != shape(between.operands[0])[-1:]:
                return  # only a Reshape that merges leading dimensions keeps the columns apart
            value = between.operands[0]
        affine = batch_norm_affine(op, self.store)
        if affine is None:
            return miss(op, "scale, offset, mean or variance is not constant")
        anchor = self._anchor(op, value)
        if anchor is None or (between is not None and not isinstance(anchor, ge.MatMulV2)):
            return
        if isinstance(anchor, ge.MatMulV2) and between is None and len(shape(value)) != 2:
            return miss(op, "dimension 1 of the product is not its columns (rank {})", len(shape(value)))
        self._fold(op, anchor, affine, rw, between)


def batch_norm_affine(op: ge.BatchNorm, store: WeightStore) -> Affine | None:
    """BatchNorm as scale and shift: `s = scale / sqrt(var + eps)`, `offset - mean * s`; None when not constant."""
    import numpy as np

    arrays = [constant(operand, store) for operand in op.operands[1:]]
    known = [array.astype(np.float64) for array in arrays if array is not None]
    if len(known) != 4:
        return None
    scale, offset, mean, variance = known
    factor = scale / np.sqrt(variance + op.epsilon.value.data)
    return Affine(factor, offset - mean * factor)


class FoldScaleOrShift(_Fold):
    """Mul, RealDiv, Add or Sub by a constant per channel after a convolution or matrix product."""

    ops = (ge.Mul, ge.RealDiv, ge.Add, ge.Sub)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        commutes = isinstance(op, ge.Mul | ge.Add)
        for value, other in (op.operands, op.operands[::-1])[: 2 if commutes else 1]:
            if not isinstance(value.owner, ANCHORS) or (array := constant(other, self.store)) is None:
                continue
            if element(value) != element(op.results[0]) or op.results[0].type != value.type:
                return miss(op, "the constant broadcasts {} to {}", value.type, op.results[0].type)
            extents = shape(value)
            numbers = _per_channel(array, extents, len(extents) - 1 if isinstance(value.owner, ge.MatMulV2) else 1)
            if numbers is None:
                return miss(op, "constant of shape {} is not one number per channel", array.shape)
            if isinstance(op, ge.RealDiv) and not numbers.all():
                return miss(op, "divides by zero")
            if (anchor := self._anchor(op, value)) is None:
                return
            match op:
                case ge.Mul():
                    affine = Affine(numbers, None)
                case ge.RealDiv():
                    affine = Affine(1.0 / numbers, None)
                case ge.Add():
                    affine = Affine(None, numbers)
                case _:
                    affine = Affine(None, -numbers)
            return self._fold(op, anchor, affine, rw)


class SplitBatchNorm(Pattern):
    """A BatchNorm that found no weights: one Mul and one Add per element."""

    ops = (ge.BatchNorm,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.BatchNorm)
        affine = batch_norm_affine(op, self.store)
        if affine is None:
            return miss(op, "scale, offset, mean or variance is not constant")
        assert affine.scale is not None
        assert affine.shift is not None
        x = op.operands[0]
        tail = (1,) * max(len(shape(x)) - 2, 0)
        dtype = numpy_dtype(element(x))
        scale, shift = (
            named_const(array.astype(dtype).reshape(-1, *tail), self.store, name)
            for name, array in (("scale", affine.scale), ("shift", affine.shift))
        )
        scaled = ge.Mul(x, scale)
        rw.replace(op, [scale, shift, scaled, ge.Add(scaled, shift)])


@dataclass(frozen=True)
class FoldBatchNormPass(ModulePass):
    """Fold BatchNorm, and scales and shifts by constants per channel, into the weights and bias before them.

    ```mlir
    %c = ge.Conv2D(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    %y = ge.BatchNorm(%c, %scale, %offset, %mean, %var) : (tensor<1x4x8x8xf32>, ...) -> tensor<1x4x8x8xf32>
    // becomes
    %y = ge.Conv2D(%x, %w2, %b2) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```

    with `s = scale / sqrt(var + epsilon)`, `w2 = s w` per output channel and `b2 = offset + s (b - mean)`, computed in
    float64 and rounded once. The anchor may be Conv2D, ConvTranspose2D or MatMulV2. Mul, RealDiv, Add and Sub by
    constants per channel fold likewise. A BatchNorm after anything else becomes Mul and Add. Needs: constant weights
    and parameters, and no other use of the anchor's result.
    """

    name = "ge-fold-batch-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        apply_patterns(op, [FoldBatchNorm(store), FoldScaleOrShift(store)], ctx=ctx)
        apply_patterns(op, [SplitBatchNorm(store)], ctx=ctx)
