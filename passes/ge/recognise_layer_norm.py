"""ge-recognise-layer-norm: means, squares and a root become one ge.LayerNorm or ge.RMSNorm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import constant, named_const, producer, shape, uses
from gecc.passes.ge._norms import Centred, NormPattern, Root, other_use
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, store_of

if TYPE_CHECKING:
    import numpy as np


Norm: TypeAlias = "ge.LayerNorm | ge.RMSNorm"


class FoldLayerNorm(NormPattern):
    """`(x - mean) / sqrt(mean((x - mean)^2) + epsilon)` over trailing dimensions, or over dimension 1 (channels)."""

    ops = (ge.RealDiv, ge.Mul)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        orders = [tuple(op.operands)] if isinstance(op, ge.RealDiv) else [op.operands, op.operands[::-1]]
        for top, bottom in orders:
            centred = self.centred(top)
            root = self.root(bottom, inverse=isinstance(op, ge.Mul)) if centred else None
            if centred is not None and root is not None:
                return self._fold(op, centred, root, rw)

    def _fold(self, op: Operation, centred: Centred, root: Root, rw: Rewriter) -> None:
        x, rank = centred.x, len(shape(centred.x))
        spread = self._variance(root.variance, op)
        if spread is None:
            return
        square, ops = spread
        if square.x is not x:
            return miss(op, "the variance is that of another value than the one centred")
        if square.axes != centred.axes:
            return miss(op, "mean over axes {}, but variance over {}", centred.axes, square.axes)
        if op.results[0].type != x.type:
            return miss(op, "result {} is not of the type of x, {}", op.results[0].type, x.type)
        absorbed = list(dict.fromkeys([*centred.ops, *square.ops, *ops, *root.ops]))
        if (user := other_use(absorbed, op)) is not None:
            return miss(op, "{} inside the normalisation has other uses", user.name)
        axes = centred.axes
        if axes == tuple(range(rank - len(axes), rank)):
            return rw.replace(op, ge.LayerNorm(x, axis=axes[0], epsilon=root.epsilon), absorbed=absorbed)
        if axes == (1,) and rank > 2:  # channels first: normalise them as the last dimension
            last = (0, *range(2, rank), 1)
            back = (0, rank - 1, *range(1, rank - 1))
            moved = ge.Transpose(x, perm=last)
            norm = ge.LayerNorm(moved, axis=rank - 1, epsilon=root.epsilon)
            return rw.replace(op, [moved, norm, ge.Transpose(norm, perm=back)], absorbed=absorbed)
        return miss(op, "normalises axes {} of rank {}, need the last ones or 1", axes, rank)

    def _variance(self, value: SSAValue, op: Operation) -> tuple[Centred, list[Operation]] | None:
        """What is centred, squared and averaged to give `value`, and the operations that do it."""
        mean = self.mean(value)
        if mean is None:
            return miss(op, "what stands under the root is not a mean that keeps its dimensions")
        squared, axes, ops = mean
        if (parts := self.squared(squared, op)) is None:
            return None
        first, second = self.centred(parts[0]), self.centred(parts[1])
        if first is None or second is None:
            return miss(op, "what is squared is not x - mean(x)")
        if (first.x, first.axes) != (second.x, second.axes):
            return miss(op, "the mean under the root is that of a product of two values, need a square")
        if first.axes != axes:
            return miss(op, "mean over axes {}, but variance over {}", first.axes, axes)
        return first, [*first.ops, *second.ops, parts[2], *ops]


class FoldRmsNorm(NormPattern):
    """`x / sqrt(mean(x^2) + epsilon)` over trailing dimensions."""

    ops = (ge.RealDiv, ge.Mul)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        orders = [tuple(op.operands)] if isinstance(op, ge.RealDiv) else [op.operands, op.operands[::-1]]
        for x, bottom in orders:
            root = self.root(bottom, inverse=isinstance(op, ge.Mul))
            mean = self.mean(root.variance) if root else None
            if root is None or mean is None or (parts := self.squared(mean[0], op)) is None:
                continue
            if parts[0] is not x or parts[1] is not x:
                miss(op, "the mean under the root is not that of the square of x")
                continue
            rank, axes = len(shape(x)), mean[1]
            if axes != tuple(range(rank - len(axes), rank)):
                return miss(op, "normalises axes {} of rank {}, need the last ones", axes, rank)
            if op.results[0].type != x.type:
                return miss(op, "result {} is not of the type of x, {}", op.results[0].type, x.type)
            absorbed = [parts[2], *mean[2], *root.ops]
            if (user := other_use(absorbed, op)) is not None:
                return miss(op, "{} inside the normalisation has other uses", user.name)
            return rw.replace(op, ge.RMSNorm(x, axis=axes[0], epsilon=root.epsilon), absorbed=absorbed)


class _Affine(Pattern):
    """What scale and shift have in common: a constant over the normalised dimensions beside a normalisation."""

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def _split(self, op: Operation) -> tuple[Norm, np.ndarray, ge.Transpose | None] | None:
        """The normalisation, the constant in the shape of its normalised dimensions, and a Transpose in between.

        That Transpose brings normalised channels back to dimension 1.
        """
        for normed, other in (op.operands, op.operands[::-1]):
            value = normed
            if (transpose := producer(value, ge.Transpose)) is not None:
                value = transpose.operands[0]
            norm = value.owner
            if not isinstance(norm, ge.LayerNorm | ge.RMSNorm) or (array := constant(other, self.store)) is None:
                continue
            if op.results[0].type != normed.type:
                return miss(op, "the constant broadcasts the normalised value to {}", op.results[0].type)
            if uses(normed) != 1 or uses(value) != 1:
                return miss(op, "the normalised value has other uses")
            extents = shape(value)
            axis = norm.axis.value.data % len(extents)
            perm = None if transpose is None else tuple(transpose.perm.get_values())
            inner = _over_dims(array, extents, axis, perm)
            if inner is None:
                return miss(op, "constant {} varies outside the normalised dimensions", array.shape)
            return norm, inner, transpose
        return None

    def _finish(
        self, op: Operation, norm: Norm, new: list[Operation], transpose: ge.Transpose | None, rw: Rewriter
    ) -> None:
        """Replace `op` by `new`, moved as `transpose` says."""
        absorbed: list[Operation] = [norm]
        if transpose is not None:
            new.append(ge.Transpose(new[-1], perm=transpose.perm.get_values()))
            absorbed.append(transpose)
        rw.replace(op, new, absorbed=absorbed)


def _over_dims(
    array: np.ndarray, extents: tuple[int, ...], axis: int, perm: tuple[int, ...] | None
) -> np.ndarray | None:
    """`array`, which broadcasts against the normalised value (transposed by `perm`), over its dimensions from `axis`.

    None when it varies elsewhere, or when an extent is not known.
    """
    import numpy as np

    rank = len(extents)
    if -1 in extents[axis:] or array.ndim > rank:
        return None
    full = array.reshape((1,) * (rank - array.ndim) + array.shape)
    if perm is not None:
        full = full.transpose([perm.index(i) for i in range(rank)])
    if any(extent != 1 for extent in full.shape[:axis]):
        return None
    return np.ascontiguousarray(np.broadcast_to(full.reshape(full.shape[axis:]), extents[axis:]))


class FoldScale(_Affine):
    """`LayerNorm(x) * constant` or `RMSNorm(x) * constant`: the constant becomes gamma."""

    ops = (ge.Mul,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        if (found := self._split(op)) is None:
            return
        norm, array, transpose = found
        if norm.gamma is not None or (isinstance(norm, ge.LayerNorm) and norm.beta is not None):
            return miss(op, "{} has a scale or shift already", norm.name)
        gamma = named_const(array, self.store, "gamma")
        made = type(norm)(norm.x, gamma, axis=norm.axis.value.data, epsilon=norm.epsilon.value.data)
        self._finish(op, norm, [gamma, made], transpose, rw)


class FoldShift(_Affine):
    """`LayerNorm(x, gamma) + constant`: the constant becomes beta."""

    ops = (ge.Add,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        if (found := self._split(op)) is None:
            return
        norm, array, transpose = found
        if not isinstance(norm, ge.LayerNorm):
            return miss(op, "{} has no shift", norm.name)
        if norm.beta is not None:
            return miss(op, "the LayerNorm has a shift already")
        beta = named_const(array, self.store, "beta")
        made = ge.LayerNorm(norm.x, norm.gamma, beta, axis=norm.axis.value.data, epsilon=norm.epsilon.value.data)
        self._finish(op, norm, [beta, made], transpose, rw)


@dataclass(frozen=True)
class RecogniseLayerNorm(ModulePass):
    """Replace a decomposed layer normalisation, and the scale and shift by constants after it, with one operator.

    ```mlir
    %m = ge.ReduceMean(%x) axes [-1] : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %d = ge.Sub(%x, %m) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %p = ge.Pow(%d, %two) : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5x8xf32>
    %v = ge.ReduceMean(%p) axes [-1] : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %e = ge.Add(%v, %eps) : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
    %s = ge.Sqrt(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %n = ge.RealDiv(%d, %s) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %g = ge.Mul(%n, %gamma) : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
    %y = ge.Add(%g, %beta) : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
    // becomes
    %y = ge.LayerNorm(%x, %gamma, %beta) axis 2 epsilon 1.0e-5 : ...
    ```

    Spellings: the square as Pow 2 or as a product, two means and two differences of the same x, a mean that drops its
    dimension and a Reshape that brings it back, division or multiplication by Rsqrt or a reciprocal, normalisation of
    channels (axis 1, between two Transposes then). Needs: one constant epsilon under the root, mean and variance of
    the same x over the same axes, and no other use of what lies between. An unbiased standard deviation with epsilon
    outside the root is another function and stays. Without centring it is ge.RMSNorm, over trailing dimensions only.
    """

    name = "ge-recognise-layer-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        apply_patterns(op, [FoldLayerNorm(store), FoldRmsNorm(store), FoldScale(store), FoldShift(store)], ctx=ctx)
