"""Softmax and normalisations -> fused.softmax and fused.norm; scale and offset in the epilogue."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import elem, normal_axis, rank, tensor
from gecc.passes.ge.to_fused._common import narrow, widen
from gecc.passes.ge.to_fused.pointwise import label_of
from gecc.rewrite import Pattern, Rewriter


def load_prologue(element: Attribute) -> fused.BodyFn:
    """The prologue that loads the first operand."""
    return lambda b, d, t: widen(b, b.load(t[0], d), element)


class LowerSoftmax(Pattern):
    """ge.Softmax and ge.LogSoftmax."""

    ops = (ge.Softmax, ge.LogSoftmax)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Softmax | ge.LogSoftmax)
        element, result = elem(op.x), tensor(op.result)
        count = result.get_num_dims()
        rw.replace(
            op,
            fused.SoftmaxOp(
                label_of(op),
                [op.x],
                result,
                fused.region(count, [op.x.type], load_prologue(element)),
                fused.epilogue_region(
                    count, fused.compute_type(element), [op.x.type], lambda b, d, acc, t: narrow(b, acc, element)
                ),
                axis=normal_axis(op.axis.value.data, count),
                log=isinstance(op, ge.LogSoftmax),
            ),
        )


class LowerNorm(Pattern):
    """ge.LayerNorm and ge.RMSNorm."""

    ops = (ge.LayerNorm, ge.RMSNorm)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.LayerNorm | ge.RMSNorm)
        element, result = elem(op.x), tensor(op.result)
        gamma, beta = op.gamma, op.beta if isinstance(op, ge.LayerNorm) else None
        inputs = [value for value in (op.x, gamma, beta) if value is not None]
        count = rank(op.x)

        def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            parts = list(t[1:])
            if gamma is not None:
                acc = b.mul(acc, widen(b, fused.broadcast_load(b, parts.pop(0), d, result.get_shape()), element))
            if beta is not None:
                acc = b.add(acc, widen(b, fused.broadcast_load(b, parts.pop(0), d, result.get_shape()), element))
            return narrow(b, acc, element)

        types = [value.type for value in inputs]
        rw.replace(
            op,
            fused.NormOp(
                label_of(op),
                inputs,
                result,
                fused.region(count, types, load_prologue(element)),
                fused.epilogue_region(count, fused.compute_type(element), types, epilogue),
                axis=normal_axis(op.axis.value.data, count),
                epsilon=op.epsilon,
                kind="layer" if isinstance(op, ge.LayerNorm) else "rms",
            ),
        )


PATTERNS: Sequence[type[Pattern]] = (LowerSoftmax, LowerNorm)
