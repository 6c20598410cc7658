"""Gathers -> fused.generic; indices are made non-negative and checked, so a bad one ends the run, not the process."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, normal_axis, rank, tensor
from gecc.rewrite import Pattern, Rewriter


def checked(b: Body, index: SSAValue, size: int) -> SSAValue:
    """An integer from data as an index into a dimension: negative counts from the end, out of range fails the run."""
    index = b.to_index(index)
    return b.check_index(b.select(b.compare("lt", index, 0), b.add(index, size), index), size)


class LowerGather(Pattern):
    """ge.Gather: the dimensions of `indices` take the place of `axis`."""

    ops = (ge.Gather,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Gather)
        axis = normal_axis(op.axis.value.data, rank(op.x))
        depth = rank(op.indices)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            picked = checked(b, b.load(t[1], d[axis : axis + depth]), dims(op.x)[axis])
            return b.load(t[0], [*d[:axis], picked, *d[axis + depth :]])

        rw.replace(op, fused.generic("Gather", tensor(op.result), [op.x, op.indices], body))


class LowerGatherElements(Pattern):
    """ge.GatherElements: each element has its own index along `axis`."""

    ops = (ge.GatherElements,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.GatherElements)
        axis = normal_axis(op.axis.value.data, rank(op.x))

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            picked = checked(b, b.load(t[1], d), dims(op.x)[axis])
            return b.load(t[0], [*d[:axis], picked, *d[axis + 1 :]])

        rw.replace(op, fused.generic("GatherElements", tensor(op.result), [op.x, op.indices], body))


class LowerGatherND(Pattern):
    """ge.GatherND: the last dimension of `indices` holds an index vector."""

    ops = (ge.GatherND,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.GatherND)
        batch = op.batch_dims.value.data
        lead, depth = rank(op.indices) - 1, dims(op.indices)[-1]

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            vector = [
                checked(b, b.load(t[1], [*d[:lead], position]), dims(op.x)[batch + position])
                for position in range(depth)
            ]
            return b.load(t[0], [*d[:batch], *vector, *d[lead:]])

        rw.replace(op, fused.generic("GatherND", tensor(op.result), [op.x, op.indices], body))


PATTERNS: Sequence[type[Pattern]] = (LowerGather, LowerGatherElements, LowerGatherND)
