"""Reductions, global pools and ArgMax/ArgMin -> fused.generic with reduction dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body, is_unsigned
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.reduce import Reduce, reduced
from gecc.dialects.ge.types import dims, elem, i1, like, normal_axes, normal_axis, rank, tensor
from gecc.passes.ge.to_fused._common import gather_map, narrow, widen
from gecc.passes.ge.to_fused.pointwise import label_of
from gecc.rewrite import Pattern, Rewriter

_COMBINERS: dict[type[Operation], str] = {
    ge.ReduceSum: "add",
    ge.ReduceMean: "add",
    ge.ReduceMax: "max",
    ge.ReduceMin: "min",
    ge.ReduceProd: "mul",
}


def flip_sign(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    """Unsigned integers with the top bit flipped order as signed ones do; other values stay."""
    if not is_unsigned(element) or element == i1:
        return value
    assert isinstance(value.type, IntegerType)
    return b.binary("xor", value, -(1 << (value.type.width.data - 1)))


def source_indices(rank: int, axes: Sequence[int], keep_dims: bool, d: Values) -> list[SSAValue]:
    """Indices into the reduced operand: parallel indices at the dimensions that stay, reduction indices at `axes`."""
    parallel, reduction = list(d[: len(d) - len(axes)]), list(d[len(d) - len(axes) :])
    if keep_dims:
        parallel = [index for i, index in enumerate(parallel) if i not in axes]
    place = {axis: reduction[position] for position, axis in enumerate(axes)}
    rest = iter(parallel)
    return [place[i] if i in place else next(rest) for i in range(rank)]


class LowerReduce(Pattern):
    """ge.ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd; a mean is a sum scaled in the epilogue."""

    ops = tuple(_COMBINERS)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, Reduce)
        element = elem(op.x)
        axes = sorted(normal_axes(op.axes.get_values(), rank(op.x)))
        keep = bool(op.keep_dims.value.data)
        if not axes:
            return rw.replace(op, gather_map(label_of(op), op.x, tensor(op.result), lambda b, d: d))
        combiner = _COMBINERS[type(op)]
        if element == i1:
            combiner = {"max": "or", "min": "and"}[combiner]
        ordered = combiner in ("max", "min")
        count = math.prod(dims(op.x)[axis] for axis in axes)
        mean = isinstance(op, ge.ReduceMean)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            value = b.load(t[0], source_indices(rank(op.x), axes, keep, d))
            if mean and isinstance(element, IntegerType):
                return b.convert(value, element, i64)
            value = widen(b, value, element)
            return flip_sign(b, value, element) if ordered else value

        def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            if ordered:
                acc = flip_sign(b, acc, element)
            if mean:
                return _mean(b, acc, count, element)
            return narrow(b, acc, element)

        rw.replace(
            op,
            fused.generic(
                label_of(op),
                tensor(op.result),
                [op.x],
                body,
                reduction=[dims(op.x)[axis] for axis in axes],
                combiner=combiner,
                epilogue=epilogue,
            ),
        )


def _mean(b: Body, total: SSAValue, count: int, element: Attribute) -> SSAValue:
    if isinstance(total.type, AnyFloat):
        return narrow(b, b.mul(total, 1 / count if count else math.nan), element)
    # the mean of no integers has no value; 0 stands for it
    quotient = b.div(total, count, unsigned=is_unsigned(element)) if count else b.constant(0, i64)
    return b.convert(quotient, i64, element)


class LowerGlobalPool(Pattern):
    """ge.GlobalAveragePool and GlobalMaxPool: reductions over all spatial dimensions."""

    ops = (ge.GlobalAveragePool, ge.GlobalMaxPool)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.GlobalAveragePool | ge.GlobalMaxPool)
        element, shape = elem(op.x), dims(op.x)
        axes = range(2, len(shape))
        average = isinstance(op, ge.GlobalAveragePool)
        count = math.prod(shape[2:])

        def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            return _mean(b, acc, count, element) if average else narrow(b, acc, element)

        rw.replace(
            op,
            fused.generic(
                label_of(op),
                tensor(op.result),
                [op.x],
                lambda b, d, t: widen(b, b.load(t[0], source_indices(len(shape), axes, True, d)), element),
                reduction=shape[2:],
                combiner="add" if average else "max",
                epilogue=epilogue,
            ),
        )


class LowerArgReduce(Pattern):
    """ge.ArgMax and ArgMin: the extreme first, then the least (or largest) index that holds it.

    NaN counts as the extreme, as in numpy.
    """

    ops = (ge.ArgMax, ge.ArgMin)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.ArgMax | ge.ArgMin)
        element, shape = elem(op.x), dims(op.x)
        axis = normal_axis(op.axis.value.data, len(shape))
        keep = bool(op.keep_dims.value.data)
        last = bool(op.select_last_index.value.data)
        largest = isinstance(op, ge.ArgMax)

        def load(b: Body, d: Values, x: SSAValue) -> SSAValue:
            value = b.load(x, source_indices(len(shape), [axis], keep, d))
            return flip_sign(b, widen(b, value, element), element)

        extreme = fused.generic(
            "ReduceMax" if largest else "ReduceMin",
            like(tensor(op.x), reduced(shape, [axis], keep)),
            [op.x],
            lambda b, d, t: load(b, d, t[0]),
            reduction=[shape[axis]],
            combiner="max" if largest else "min",
            epilogue=lambda b, d, acc, t: narrow(b, flip_sign(b, acc, element), element),
        )

        def index_of(b: Body, d: Values, t: Values) -> SSAValue:
            value, best = load(b, d, t[0]), flip_sign(b, widen(b, b.load(t[1], d[:-1]), element), element)
            hit = b.compare("eq", value, best)
            if isinstance(value.type, AnyFloat):
                hit = b.binary("or", hit, b.compare("uno", value, value))
            return b.select(hit, b.from_index(d[-1]), -1 if last else shape[axis])

        pick = fused.generic(
            label_of(op),
            tensor(op.result),
            [op.x, extreme.result],
            index_of,
            reduction=[shape[axis]],
            combiner="max" if last else "min",
        )
        rw.replace(op, [extreme, pick])


PATTERNS: Sequence[type[Pattern]] = (LowerReduce, LowerGlobalPool, LowerArgReduce)
