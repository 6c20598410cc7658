"""Pooling -> fused.generic with the window as reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat, i64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, elem, tensor
from gecc.passes.ge.to_fused._common import narrow, widen, working_type
from gecc.passes.ge.to_fused.reduce import flip_sign
from gecc.rewrite import Pattern, Rewriter


@dataclass(frozen=True)
class Window:
    """One spatial dimension of a pool: input extent, output extent, kernel, stride, pads, dilation."""

    size: int
    out: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int

    @property
    def inside(self) -> bool:
        """Whether every tap of every window lies in the input."""
        last = (self.out - 1) * self.stride - self.before + (self.kernel - 1) * self.dilation
        return self.before == 0 and last < self.size

    def place(self, b: Body, index: SSAValue, tap: SSAValue) -> SSAValue:
        """The input index of a tap, which may lie outside."""
        return b.sub(b.add(b.mul(index, self.stride), b.mul(tap, self.dilation)), self.before)

    def valid(self, b: Body, place: SSAValue) -> SSAValue | None:
        """Whether a tap lies in the input; None when it always does."""
        if self.inside:
            return None
        return b.both(b.compare("ge", place, 0), b.compare("lt", place, self.size))

    def clamped(self, b: Body, place: SSAValue) -> SSAValue:
        """The nearest input index."""
        return place if self.inside else b.clamp(place, 0, self.size - 1)

    def count(self, b: Body, index: SSAValue, *, with_pads: bool) -> SSAValue:
        """How many taps count: those in the input, or in the padded input."""
        low = -self.before if with_pads else 0
        high = self.size + (self.after if with_pads else 0)
        last = (self.out - 1) * self.stride - self.before + (self.kernel - 1) * self.dilation
        start = b.sub(b.mul(index, self.stride), self.before)
        first, end = b.index(0), b.index(self.kernel)
        if low > -self.before:
            reach = b.maximum(b.sub(low + self.dilation - 1, start), 0)
            first = b.div(reach, self.dilation, unsigned=True)
        if last >= high:
            end = b.minimum(b.div(b.sub(high + self.dilation - 1, start), self.dilation, unsigned=True), self.kernel)
        return b.sub(end, first)


def windows(op: ge.MaxPool | ge.AvgPool) -> tuple[Window, Window]:
    """The vertical and the horizontal window of a pool."""
    kernel, strides, pads, dilations = (fused.ints(p) for p in (op.kernel, op.strides, op.pads, op.dilations))
    shape, out = dims(op.x), dims(op.result)
    vertical, horizontal = (
        Window(shape[2 + i], out[2 + i], kernel[i], strides[i], pads[i], pads[2 + i], dilations[i]) for i in range(2)
    )
    return vertical, horizontal


class LowerMaxPool(Pattern):
    """ge.MaxPool: taps outside repeat the edge, which is in the window too; with dilation they are masked."""

    ops = (ge.MaxPool,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.MaxPool)
        element = elem(op.x)
        both = windows(op)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            places = [window.place(b, d[2 + i], d[4 + i]) for i, window in enumerate(both)]
            near = [window.clamped(b, place) for window, place in zip(both, places, strict=True)]
            value = flip_sign(b, widen(b, b.load(t[0], [d[0], d[1], *near]), element), element)
            valid: SSAValue | None = None
            for window, place in zip(both, places, strict=True):
                if window.dilation > 1:
                    valid = b.both(valid, window.valid(b, place))
            return value if valid is None else b.select(valid, value, _least(b, value))

        rw.replace(
            op,
            fused.generic(
                "MaxPool",
                tensor(op.result),
                [op.x],
                body,
                reduction=[window.kernel for window in both],
                combiner="max",
                epilogue=lambda b, d, acc, t: narrow(b, flip_sign(b, acc, element), element),
            ),
        )


def _least(b: Body, like: SSAValue) -> SSAValue:
    """The least value of a scalar's type."""
    if isinstance(like.type, AnyFloat):
        return b.constant(-math.inf, like.type)
    return b.constant(-128, like.type)


class LowerAvgPool(Pattern):
    """ge.AvgPool: a masked sum, divided by the number of taps that count."""

    ops = (ge.AvgPool,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.AvgPool)
        element = elem(op.x)
        both = windows(op)
        with_pads = bool(op.count_include_pad.value.data)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            places = [window.place(b, d[2 + i], d[4 + i]) for i, window in enumerate(both)]
            near = [window.clamped(b, place) for window, place in zip(both, places, strict=True)]
            value = widen(b, b.load(t[0], [d[0], d[1], *near]), element)
            valid: SSAValue | None = None
            for window, place in zip(both, places, strict=True):
                valid = b.both(valid, window.valid(b, place))
            return value if valid is None else b.select(valid, value, 0)

        def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            count = b.mul(*(window.count(b, d[2 + i], with_pads=with_pads) for i, window in enumerate(both)))
            if (fixed := b.known(count)) is not None:
                return narrow(b, b.mul(acc, 1 / fixed), element)
            divisor = b.convert(b.from_index(count), i64, working_type(element))
            return narrow(b, b.div(acc, divisor), element)

        rw.replace(
            op,
            fused.generic(
                "AvgPool",
                tensor(op.result),
                [op.x],
                body,
                reduction=[window.kernel for window in both],
                combiner="add",
                epilogue=epilogue,
            ),
        )


PATTERNS: Sequence[type[Pattern]] = (LowerMaxPool, LowerAvgPool)
