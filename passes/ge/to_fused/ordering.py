"""Cumulative sums and reversed sequences -> fused.generic."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.ordering import Cumulative
from gecc.dialects.ge.types import dims, elem, like, normal_axis, rank, tensor
from gecc.passes.ge.to_fused._common import narrow, widen, working_type
from gecc.passes.ge.to_fused.pointwise import label_of
from gecc.rewrite import Pattern, Rewriter


class LowerCumulative(Pattern):
    """ge.CumSum and CumProd: log2(n) steps, each adding the element 1, 2, 4, ... places before (Hillis and Steele).

    Half formats stay in f32 between steps.
    """

    ops = (ge.CumSum, ge.CumProd)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, Cumulative)
        axis = normal_axis(op.axis.value.data, rank(op.x))
        size, kind = dims(op.x)[axis], elem(op.x)
        exclusive = bool(op.exclusive.value.data)
        steps = [1 << i for i in range(max(size - 1, 0).bit_length())]
        stages = [(1, True), *((s, False) for s in steps)] if exclusive else [(s, False) for s in steps]
        if not stages:
            return rw.replace(op, [], [op.x])
        made: list[Operation] = []
        value: SSAValue = op.x
        for i, (step, shift) in enumerate(stages):
            target = kind if i == len(stages) - 1 else working_type(kind)
            body = self._stage(op, axis, step, shift, elem(value), target)
            stage = fused.generic(label_of(op), like(tensor(op.result), element=target), [value], body)
            made.append(stage)
            value = stage.results[0]
        rw.replace(op, made)

    def _stage(
        self, op: Cumulative, axis: int, step: int, shift: bool, source: Attribute, target: Attribute
    ) -> fused.BodyFn:
        """x[i] with x[i - step], or (`shift`) x[i - step] alone; what lies outside is neutral."""
        size, reverse = dims(op.x)[axis], bool(op.reverse.value.data)
        product = isinstance(op, ge.CumProd)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            i = d[axis]
            if reverse:
                inside, at = b.compare("lt", i, size - step), b.minimum(b.add(i, step), size - 1)
            else:
                inside, at = b.compare("ge", i, step), b.maximum(b.sub(i, step), 0)
            other = widen(b, b.load(t[0], [*d[:axis], at, *d[axis + 1 :]]), source)
            other = b.select(inside, other, int(product))
            if shift:
                return narrow(b, other, target)
            own = widen(b, b.load(t[0], d), source)
            return narrow(b, b.binary("mul" if product else "add", own, other), target)

        return body


class LowerReverseSequence(Pattern):
    """ge.ReverseSequence: a load from the mirrored place; a length out of range fails the run."""

    ops = (ge.ReverseSequence,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ReverseSequence)
        batch, time = (normal_axis(p.value.data, rank(op.x)) for p in (op.batch_axis, op.time_axis))
        size = dims(op.x)[time]

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            length = b.check_index(b.to_index(b.load(t[1], [d[batch]])), size + 1)
            at = b.select(b.compare("lt", d[time], length), b.sub(b.sub(length, 1), d[time]), d[time])
            return b.load(t[0], [*d[:time], b.check_index(at, size), *d[time + 1 :]])

        rw.replace(op, fused.generic("ReverseSequence", tensor(op.result), [op.x, op.lengths], body))


PATTERNS: Sequence[type[Pattern]] = (LowerCumulative, LowerReverseSequence)
