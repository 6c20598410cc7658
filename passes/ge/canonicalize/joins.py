"""Concat and Split: joins of joins, and parts that are put together again."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.types import dims, normal_axis, rank
from gecc.passes.ge.canonicalize.types import result_type
from gecc.rewrite import Pattern, Rewriter, miss


def patterns() -> list[Pattern]:
    """The rules of this file."""
    return [FlattenConcats(), DropEmptyOperands(), ConcatOfSplit(), SplitOfConcat()]


def _axis(op: ge.Concat | ge.Split) -> int:
    """The axis of a Concat or Split, counted from the front."""
    return normal_axis(op.axis.value.data, rank(op.operands[0]))


class FlattenConcats(Pattern):
    """`Concat(Concat(a, b), c)` along one axis: `Concat(a, b, c)`."""

    ops = (ge.Concat,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Concat)
        axis = _axis(op)
        flat: list[SSAValue] = []
        inner: list[Operation] = []
        for x in op.xs:
            owner = x.owner
            if isinstance(owner, ge.Concat) and _axis(owner) == axis and len(owner.xs) > 1:
                if x.has_one_use():
                    flat.extend(owner.xs)
                    inner.append(owner)
                    continue
                miss(op, "the inner Concat has other uses, its elements would be moved twice")
            flat.append(x)
        if inner:
            rw.replace(op, ge.Concat(flat, axis, result_type=result_type(op)), absorbed=inner)


class DropEmptyOperands(Pattern):
    """A Concat with operands of no extent along the axis: a Concat of the others."""

    ops = (ge.Concat,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Concat)
        axis = _axis(op)
        full = [x for x in op.xs if dims(x)[axis] != 0]
        if full and len(full) < len(op.xs):
            rw.replace(op, ge.Concat(full, axis, result_type=result_type(op)))


class ConcatOfSplit(Pattern):
    """A Concat of all parts of a Split, in order along the same axis: what was split."""

    ops = (ge.Concat,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Concat)
        split = op.xs[0].owner
        if not isinstance(split, ge.Split) or tuple(op.xs) != tuple(split.outputs):
            return
        if _axis(split) != _axis(op):
            return miss(op, "split along axis {}, joined along axis {}", _axis(split), _axis(op))
        if split.x.type != op.results[0].type:
            return miss(op, "joined {} is not of the type {} that was split", op.results[0].type, split.x.type)
        rw.replace(op, (), [split.x])


class SplitOfConcat(Pattern):
    """A Split into just the operands of a Concat along the same axis: those operands."""

    ops = (ge.Split,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Split)
        concat = op.x.owner
        if not isinstance(concat, ge.Concat) or _axis(concat) != _axis(op):
            return
        if [x.type for x in concat.xs] != list(op.result_types):
            return miss(op, "parts {} are not the operands that were joined", list(op.sizes.get_values()))
        rw.replace(op, (), list(concat.xs))
