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


def windows(op: ge.Pool) -> list[Window]:
    """The windows of a pool, one for each spatial dimension."""
    kernel, strides, pads, dilations = (fused.ints(p) for p in (op.kernel, op.strides, op.pads, op.dilations))
    shape, out, n = dims(op.x)[2:], dims(op.result)[2:], len(kernel)
    return [Window(shape[i], out[i], kernel[i], strides[i], pads[i], pads[n + i], dilations[i]) for i in range(n)]


@dataclass(frozen=True)
class Tap:
    """One element under a window: where it lies, clamped into the input, and whether it is in it (None: always)."""

    inside: list[SSAValue]
    valid: SSAValue | None


def tap(b: Body, all_windows: Sequence[Window], d: Values, *, mask_all: bool) -> Tap:
    """The element at the window and reduction indices `d`.

    Without `mask_all`, a tap that repeats an element of its own window counts as valid: no matter to a maximum.
    """
    n = len(all_windows)
    places = [window.place(b, d[2 + i], d[2 + n + i]) for i, window in enumerate(all_windows)]
    near = [window.clamped(b, place) for window, place in zip(all_windows, places, strict=True)]
    valid: SSAValue | None = None
    for window, place in zip(all_windows, places, strict=True):
        if mask_all or window.dilation > 1:
            valid = b.both(valid, window.valid(b, place))
    return Tap(near, valid)


class LowerMaxPool(Pattern):
    """ge.MaxPool: taps outside repeat the edge, which is in the window too; with dilation they are masked.

    The places of ge.MaxPoolWithArgmax are found by a second reduction, over the taps that hold the largest element.
    """

    ops = (ge.MaxPool, ge.MaxPoolWithArgmax)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.MaxPool | ge.MaxPoolWithArgmax)
        element = elem(op.x)
        every = windows(op)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            at = tap(b, every, d, mask_all=False)
            value = flip_sign(b, widen(b, b.load(t[0], [d[0], d[1], *at.inside]), element), element)
            return value if at.valid is None else b.select(at.valid, value, _least(b, value))

        pool = fused.generic(
            "MaxPool",
            tensor(op.result),
            [op.x],
            body,
            reduction=[window.kernel for window in every],
            combiner="max",
            epilogue=lambda b, d, acc, t: narrow(b, flip_sign(b, acc, element), element),
        )
        if isinstance(op, ge.MaxPool):
            return rw.replace(op, pool)
        places = self._places(op, every, pool.result)
        rw.replace(op, [pool, places], [pool.result, places.result])

    def _places(self, op: ge.MaxPoolWithArgmax, every: Sequence[Window], largest: SSAValue) -> fused.GenericOp:
        element, shape = elem(op.x), dims(op.x)
        n = len(every)
        size = math.prod(shape[2:])

        def number(b: Body, d: Values, t: Values) -> SSAValue:
            """The place of a tap that holds the largest element, else a number beyond all places."""
            at = tap(b, every, d, mask_all=True)
            value = widen(b, b.load(t[0], [d[0], d[1], *at.inside]), element)
            hit = b.compare("eq", value, widen(b, b.load(t[1], d[: 2 + n]), element))
            if isinstance(value.type, AnyFloat):
                hit = b.binary("or", hit, b.compare("uno", value, value))
            hit = hit if at.valid is None else b.binary("and", hit, at.valid)
            place = b.index(0)
            for index, extent in zip(at.inside, shape[2:], strict=True):
                place = b.add(b.mul(place, extent), index)
            return b.select(hit, b.from_index(place), size)

        def numbered(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            place = b.minimum(b.to_index(acc), size - 1)
            if op.column_major.value.data:
                rest, place, stride = place, b.index(0), size
                for i, extent in enumerate(shape[2:]):
                    stride //= extent
                    index = b.div(rest, stride, unsigned=True)
                    rest = b.rem(rest, stride, unsigned=True)
                    place = b.add(place, b.mul(index, math.prod(shape[2 : 2 + i])))
            plane = b.add(b.mul(d[0], shape[1]), d[1])
            return b.from_index(b.add(b.mul(plane, size), place))

        return fused.generic(
            "MaxPoolWithArgmax",
            tensor(op.indices),
            [op.x, largest],
            number,
            reduction=[window.kernel for window in every],
            combiner="min",
            epilogue=numbered,
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
        every = windows(op)
        with_pads = bool(op.count_include_pad.value.data)
        divisor = op.divisor.value.data

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            at = tap(b, every, d, mask_all=True)
            value = widen(b, b.load(t[0], [d[0], d[1], *at.inside]), element)
            return value if at.valid is None else b.select(at.valid, value, 0)

        def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            count = b.index(divisor or 1)
            for i, window in enumerate(every if not divisor else ()):
                count = b.mul(count, window.count(b, d[2 + i], with_pads=with_pads))
            if (fixed := b.known(count)) is not None:
                return narrow(b, acc if fixed == 1 else b.mul(acc, 1 / fixed), element)
            number = b.convert(b.from_index(count), i64, working_type(element))
            return narrow(b, b.div(acc, number), element)

        rw.replace(
            op,
            fused.generic(
                "AvgPool",
                tensor(op.result),
                [op.x],
                body,
                reduction=[window.kernel for window in every],
                combiner="add",
                epilogue=epilogue,
            ),
        )


PATTERNS: Sequence[type[Pattern]] = (LowerMaxPool, LowerAvgPool)
