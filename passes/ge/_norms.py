"""Parts of decomposed normalisations: means that keep their dimensions, centred values, roots with an epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge._match import close, element, producer, shape, uniform
from gecc.rewrite import Pattern, miss
from gecc.weights import WeightStore


@dataclass
class Centred:
    """`x - mean(x, axes)`, made by `ops`."""

    x: SSAValue
    axes: tuple[int, ...]
    ops: list[Operation]


@dataclass
class Root:
    """`sqrt(variance + epsilon)` or one over it, made by `ops`."""

    variance: SSAValue
    epsilon: float
    ops: list[Operation]


class NormPattern(Pattern):
    """Base of the patterns that recognise a normalisation."""

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def mean(self, value: SSAValue) -> tuple[SSAValue, tuple[int, ...], list[Operation]] | None:
        """Operand, axes and operations of a mean that keeps its dimensions, if need be by a Reshape."""
        ops: list[Operation] = []
        if (view := producer(value, ge.Reshape)) is not None:
            ops.append(view)
            value = view.operands[0]
        mean = producer(value, ge.ReduceMean)
        if mean is None:
            return None
        x = mean.operands[0]
        rank = len(shape(x))
        axes = tuple(sorted(axis % rank for axis in mean.axes.get_values()))
        kept = tuple(1 if i in axes else extent for i, extent in enumerate(shape(x)))
        if not axes or bool(mean.keep_dims.value.data) == bool(ops) or (ops and shape(ops[0].results[0]) != kept):
            return None
        return x, axes, [mean, *ops]

    def centred(self, value: SSAValue) -> Centred | None:
        sub = producer(value, ge.Sub)
        if sub is None or (mean := self.mean(sub.operands[1])) is None or mean[0] is not sub.operands[0]:
            return None
        return Centred(mean[0], mean[1], [*mean[2], sub])

    def root(self, value: SSAValue, inverse: bool) -> Root | None:
        """Sqrt(v + epsilon); with `inverse` one over it: Rsqrt, Reciprocal(Sqrt) or 1 / Sqrt."""
        ops: list[Operation] = []
        if inverse:
            if (direct := producer(value, ge.Rsqrt)) is not None:
                return self._shifted(direct.operands[0], [direct])
            if (reciprocal := producer(value, ge.Reciprocal)) is not None:
                ops, value = [reciprocal], reciprocal.operands[0]
            elif (division := producer(value, ge.RealDiv)) is not None:
                if uniform(division.operands[0], self.store) != 1.0:
                    return None
                ops, value = [division], division.operands[1]
            else:
                return None
        root = producer(value, ge.Sqrt)
        return None if root is None else self._shifted(root.operands[0], [root, *ops])

    def _shifted(self, value: SSAValue, ops: list[Operation]) -> Root | None:
        add = producer(value, ge.Add)
        if add is None:
            return miss(ops[0], "no epsilon is added under the root")
        for variance, epsilon in (add.operands, add.operands[::-1]):
            if (number := uniform(epsilon, self.store)) is not None and number >= 0:
                return Root(variance, number, [add, *ops])
        return miss(ops[0], "epsilon is not one constant number, 0 or more")

    def squared(self, value: SSAValue, op: Operation) -> tuple[SSAValue, SSAValue, Operation] | None:
        """Both factors of a square (as Pow 2 or a product) and the operation; the factors need not be one value."""
        square = value.owner
        if isinstance(square, ge.Pow):
            exponent = uniform(square.operands[1], self.store)
            if exponent is None or not close(exponent, 2.0, element(value)):
                return miss(op, "raised to {}, need 2", exponent)
            return square.operands[0], square.operands[0], square
        if isinstance(square, ge.Mul):
            return square.operands[0], square.operands[1], square
        return miss(op, "the mean under the root is not one of squares")


def other_use(inner: Sequence[Operation], root: Operation) -> Operation | None:
    """The first operation of `inner` whose result is used outside `inner` and `root`."""
    members = {id(op) for op in inner} | {id(root)}
    for op in inner:
        if any(id(use.operation) not in members for use in op.results[0].uses):
            return op
    return None
