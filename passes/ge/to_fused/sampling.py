"""Sampling at computed places -> fused.generic that loads all neighbours; blocks -> the sum of those that overlap.

A coordinate is a float until it is known to lie near x; only then is it made an index, and clamped into x, so that
no number in the data can make a load go astray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, elem, f32, f64, row_major, tensor
from gecc.passes.ge.to_fused._common import narrow, widen
from gecc.passes.ge.to_fused.conv import Meeting, joined
from gecc.passes.ge.to_fused.indexing import checked
from gecc.passes.ge.to_fused.resize import int_limits
from gecc.rewrite import Pattern, Rewriter


def whole(b: Body, value: SSAValue) -> SSAValue:
    """A float without fraction as an index."""
    return b.to_index(b.convert(value, value.type, i64))


@dataclass(frozen=True)
class Tap:
    """One neighbour along one dimension: its index in x, its weight, whether it lies in x (None: always)."""

    place: SSAValue
    weight: SSAValue | None
    valid: SSAValue | None


class Load:
    """A load of x at indices of its last dimensions, in the type of the computation."""

    def __init__(self, b: Body, x: SSAValue, first: Sequence[SSAValue], source: Attribute, compute: Attribute) -> None:
        self.b, self.x, self.first, self.source, self.compute = b, x, first, source, compute

    def __call__(self, places: Sequence[SSAValue]) -> SSAValue:
        return self.b.convert(self.b.load(self.x, [*self.first, *places]), self.source, self.compute)


def interpolated(b: Body, taps: Sequence[Sequence[Tap]], load: Load, zero: SSAValue) -> SSAValue:
    """The sum over all combinations of neighbours of value times weights, outer dimensions outermost."""

    def inner(axis: int, places: list[SSAValue], valid: SSAValue | None) -> SSAValue:
        if axis == len(taps):
            value = load(places)
            return value if valid is None else b.select(valid, value, zero)
        total: SSAValue | None = None
        for tap in taps[axis]:
            part = inner(axis + 1, [*places, tap.place], b.both(valid, tap.valid))
            part = part if tap.weight is None else b.mul(part, tap.weight)
            total = part if total is None else b.add(total, part)
        assert total is not None
        return total

    return inner(0, [], None)


def bilinear(b: Body, at: SSAValue, size: int) -> list[Tap]:
    """The two neighbours of a coordinate, nothing outside."""
    base = b.math("floor", b.clamp(at, -4.0, size + 4.0))
    rest = b.sub(b.clamp(at, -4.0, size + 4.0), base)
    index = whole(b, base)
    return [
        _bounded(b, index, b.sub(1.0, rest), size),
        _bounded(b, b.add(index, 1), rest, size),
    ]


def _bounded(b: Body, index: SSAValue, weight: SSAValue | None, size: int) -> Tap:
    valid = b.both(b.compare("ge", index, 0), b.compare("lt", index, size))
    return Tap(b.clamp(index, 0, size - 1), weight, valid)


class LowerGridSample(Pattern):
    """ge.GridSample."""

    ops = (ge.GridSample,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.GridSample)
        sizes, kind, kind_of_grid = dims(op.x)[2:], elem(op.x), elem(op.grid)
        nearest = op.mode.data == "nearest"
        wide = isinstance(kind, IntegerType) and kind.width.data > 16
        compute = kind if nearest else f64 if kind == f64 or wide else f32

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            taps: list[list[Tap]] = []
            for i, size in enumerate(sizes):
                number = b.load(t[1], [d[0], *d[2:], b.index(len(sizes) - 1 - i)])
                at = widen(b, number, kind_of_grid)
                taps.append([self._in(b, tap, compute, at.type) for tap in self._taps(b, op, at, size)])
            scalar = fused.scalar_type(compute)
            value = interpolated(b, taps, Load(b, t[0], d[:2], kind, compute), b.constant(0, scalar))
            if isinstance(kind, IntegerType) and not nearest:
                low, high = int_limits(kind)
                value = b.math("roundeven", value)
                value = b.clamp(value, b.constant(low, compute), b.constant(high, compute))
            return b.convert(value, compute, kind)

        rw.replace(op, fused.generic("GridSample", tensor(op.result), [op.x, op.grid], body))

    def _in(self, b: Body, tap: Tap, compute: Attribute, kind: Attribute) -> Tap:
        """A tap with its weight in the type of the computation."""
        if tap.weight is None:
            return tap
        return Tap(tap.place, b.convert(tap.weight, kind, compute), tap.valid)

    def _taps(self, b: Body, op: ge.GridSample, number: SSAValue, size: int) -> list[Tap]:
        """The neighbours that a number of the grid names in a dimension."""
        aligned, padding, mode = bool(op.align_corners.value.data), op.padding_mode.data, op.mode.data
        shifted = b.add(number, 1.0)
        at = b.mul(shifted, (size - 1) / 2) if aligned else b.mul(b.sub(b.mul(shifted, float(size)), 1.0), 0.5)
        low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
        if mode == "nearest":
            at = b.math("roundeven", at)
        if padding == "border" and mode != "cubic":
            outside = b.binary("or", b.compare("lt", at, low), b.compare("gt", at, high))
            at = b.select(outside, b.clamp(at, 0.0, size - 1.0), at)
        elif padding == "reflection":
            at = self._reflected(b, at, low, high)
        else:
            at = b.clamp(at, -4.0, size + 4.0)
        base = b.math("floor", at)
        rest, index = b.sub(at, base), whole(b, base)
        steps: list[tuple[int, SSAValue | None]] = [(0, None)]
        if mode == "linear":
            steps = [(0, b.sub(1.0, rest)), (1, rest)]
        elif mode == "cubic":
            steps = [(i, self._cubic(b, rest, i)) for i in (-1, 0, 1, 2)]
        result: list[Tap] = []
        for step, weight in steps:
            place = b.add(index, step)
            if padding == "zeros":
                result.append(_bounded(b, place, weight, size))
            else:
                place = self._mirrored(b, place, size, aligned) if padding == "reflection" else place
                result.append(Tap(b.clamp(place, 0, size - 1), weight, None))
        return result

    def _reflected(self, b: Body, at: SSAValue, low: float, high: float) -> SSAValue:
        """A coordinate folded into [low, high]."""
        if high <= low:
            return b.constant(low, at.type)
        width = high - low
        distance = b.math("absf", b.sub(at, low))
        turns = b.math("trunc", b.div(distance, width))
        rest = b.sub(distance, b.mul(turns, width))
        half = b.mul(turns, 0.5)
        even = b.compare("eq", b.math("trunc", half), half)
        folded = b.select(even, b.add(rest, low), b.sub(high, rest))
        outside = b.binary("or", b.compare("lt", at, low), b.compare("gt", at, high))
        return b.select(outside, folded, at)

    def _mirrored(self, b: Body, place: SSAValue, size: int, aligned: bool) -> SSAValue:
        """An index that is at most two outside x, folded into it."""
        if size == 1:
            return b.index(0)
        period = 2 * (size - 1) if aligned else 2 * size
        turns = -(-4 // period)
        place = b.rem(b.maximum(b.add(place, turns * period), 0), period, unsigned=True)
        return b.select(b.compare("lt", place, size), place, b.sub(period - int(not aligned), place))

    def _cubic(self, b: Body, rest: SSAValue, step: int, a: float = -0.75) -> SSAValue:
        """The weight of the tap `step` elements after the one before the coordinate."""
        x = b.add(rest, -float(step)) if step <= 0 else b.sub(float(step), rest)
        if step in (0, 1):
            return b.add(b.mul(b.mul(b.sub(b.mul(x, a + 2), a + 3), x), x), 1.0)
        return b.sub(b.mul(b.add(b.mul(b.sub(b.mul(x, a), 5 * a), x), 8 * a), x), 4 * a)


@dataclass(frozen=True)
class Bins:
    """One dimension of a region, in bins: where it starts, the distance of bins, and of samples, and their number."""

    start: SSAValue
    step: SSAValue
    distance: SSAValue
    count: SSAValue
    size: int

    def sample(self, b: Body, index: SSAValue, number: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The coordinate of a sample of bin `index`, in x, and whether it counts."""
        kind = self.start.type
        base = b.add(self.start, b.mul(b.convert(b.from_index(index), i64, kind), self.step))
        at = b.add(base, b.mul(b.add(number, 0.5), self.distance))
        inside = b.binary("and", b.compare("ge", at, -1.0), b.compare("le", at, float(self.size)))
        return b.clamp(at, 0.0, self.size - 1.0), b.binary("and", inside, b.compare("lt", number, self.count))

    def first(self, b: Body, index: SSAValue) -> SSAValue:
        """The number of the first sample of bin `index` that may count."""
        kind = self.start.type
        base = b.add(self.start, b.mul(b.convert(b.from_index(index), i64, kind), self.step))
        number = b.sub(b.div(b.sub(-1.5, base), self.distance), 1.0)
        return b.math("floor", b.maximum(b.select(b.compare("uno", number, number), 0.0, number), 0.0))


class LowerRoiAlign(Pattern):
    """ge.RoiAlign.

    A fixed number of samples is a reduction over them. With as many samples as the region has elements, the mean is
    two contractions, with the sums of weights that each row and each column of x has in each bin; for the maximum
    all samples that may lie in x are tried.
    """

    ops = (ge.RoiAlign,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.RoiAlign)
        largest, ratio = op.mode.data == "max", op.sampling_ratio.value.data
        if 0 in (*dims(op.x), *dims(op.result)):
            kind = fused.scalar_type(elem(op.x))
            return rw.replace(op, fused.generic("RoiAlign", tensor(op.result), [], lambda b, d, t: b.constant(0, kind)))
        images = self._images(op)
        if ratio or largest:
            return rw.replace(op, [images, self._direct(op, images.result)])
        shares = [self._shares(op, axis) for axis in range(2)]
        rows, columns = (share.results[0] for share in shares)
        rw.replace(op, [images, *shares, *self._contract(op, rows, columns, images.result)])

    def _images(self, op: ge.RoiAlign) -> fused.GenericOp:
        """Which image each region is of, checked once."""
        count = dims(op.x)[0]
        return fused.generic(
            "RoiAlign",
            row_major((dims(op.rois)[0],), i64),
            [op.batch_indices],
            lambda b, d, t: b.from_index(checked(b, b.load(t[0], d), count)),
        )

    def _image(self, b: Body, op: ge.RoiAlign, images: SSAValue, region: SSAValue) -> SSAValue:
        """The image of a region, which is in range already."""
        count = dims(op.x)[0]
        return b.index(0) if count == 1 else b.clamp(b.to_index(b.load(images, [region])), 0, count - 1)

    def _bins(self, b: Body, op: ge.RoiAlign, roi: SSAValue, region: SSAValue, axis: int) -> Bins:
        """The bins of region `region` along rows (0) or columns (1)."""
        kind, half = elem(op.x), bool(op.half_pixel.value.data)
        start, end = (
            b.mul(widen(b, b.load(roi, [region, b.index(1 - axis + 2 * side)]), kind), op.spatial_scale.value.data)
            for side in range(2)
        )
        if half:
            start, end = b.sub(start, 0.5), b.sub(end, 0.5)
        extent = b.sub(end, start) if half else b.maximum(b.sub(end, start), 1.0)
        step = b.div(extent, float((op.height, op.width)[axis].value.data))
        ratio = op.sampling_ratio.value.data
        count = b.constant(float(ratio), step.type) if ratio else b.math("ceil", step)
        return Bins(start, step, b.div(step, count), count, dims(op.x)[2 + axis])

    def _reach(self, op: ge.RoiAlign, axis: int) -> int:
        """At most how many samples of a bin lie in x: they are more than half an element apart, or only one."""
        return op.sampling_ratio.value.data or 2 * dims(op.x)[2 + axis] + 6

    def _number(self, b: Body, op: ge.RoiAlign, bins: Bins, index: SSAValue, tap: SSAValue) -> SSAValue:
        """The number of the sample that reduction index `tap` stands for."""
        number = b.convert(b.from_index(tap), i64, bins.start.type)
        return number if op.sampling_ratio.value.data else b.add(number, bins.first(b, index))

    def _direct(self, op: ge.RoiAlign, images: SSAValue) -> Operation:
        largest, kind = op.mode.data == "max", elem(op.x)

        def neighbours(b: Body, at: SSAValue, size: int) -> list[Tap]:
            low = b.math("floor", at)
            rest, index = b.sub(at, low), b.clamp(whole(b, low), 0, size - 1)
            return [
                Tap(index, b.sub(1.0, rest), None),
                Tap(b.minimum(b.add(index, 1), size - 1), rest, None),
            ]

        def value(b: Body, d: Values, t: Values) -> SSAValue:
            region, channel = d[0], d[1]
            image = self._image(b, op, t[2], region)
            taps: list[list[Tap]] = []
            valid: SSAValue | None = None
            taken: SSAValue | None = None
            for axis in range(2):
                bins = self._bins(b, op, t[1], region, axis)
                number = self._number(b, op, bins, d[2 + axis], d[4 + axis])
                at, inside = bins.sample(b, d[2 + axis], number)
                valid = b.both(valid, inside)
                taken = b.both(taken, b.compare("lt", number, bins.count))
                taps.append(neighbours(b, at, bins.size))
            assert valid is not None
            assert taken is not None
            compute = widen(b, b.constant(0, kind), kind).type
            load = Load(b, t[0], [image, channel], kind, compute)
            if not largest:
                return b.select(valid, interpolated(b, taps, load, b.constant(0, compute)), 0.0)
            best: SSAValue | None = None
            for row in taps[0]:
                for column in taps[1]:
                    assert row.weight is not None
                    assert column.weight is not None
                    part = b.mul(load([row.place, column.place]), b.mul(row.weight, column.weight))
                    best = part if best is None else b.maximum(best, part)
            assert best is not None
            # a sample outside x counts as 0, one beyond the number of samples not at all
            return b.select(taken, b.select(valid, best, 0.0), float("-inf"))

        def finish(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            if not largest:
                return narrow(b, b.mul(acc, 1 / op.sampling_ratio.value.data**2), kind)
            if not op.sampling_ratio.value.data:
                acc = self._outside_is_zero(b, op, d, acc, t)
            return narrow(b, acc, kind)

        return fused.generic(
            "RoiAlign",
            tensor(op.result),
            [op.x, op.rois, images],
            value,
            reduction=[self._reach(op, axis) for axis in range(2)],
            combiner="max" if largest else "add",
            epilogue=finish,
        )

    def _outside_is_zero(self, b: Body, op: ge.RoiAlign, d: Values, best: SSAValue, t: Values) -> SSAValue:
        """A bin with more samples than were tried has some outside x, which count as 0; one without any is 0."""
        tried: SSAValue | None = None
        empty: SSAValue | None = None
        for axis in range(2):
            bins = self._bins(b, op, t[1], d[0], axis)
            reach = float(self._reach(op, axis))
            all_tried = b.both(b.compare("eq", bins.first(b, d[2 + axis]), 0.0), b.compare("le", bins.count, reach))
            none = b.compare("lt", bins.count, 1.0)
            tried, empty = b.both(tried, all_tried), none if empty is None else b.binary("or", empty, none)
        assert tried is not None
        assert empty is not None
        return b.select(empty, 0.0, b.select(tried, best, b.maximum(best, 0.0)))

    def _shares(self, op: ge.RoiAlign, axis: int) -> Operation:
        """[regions, bins, size]: the mean weight that each row (or column) of x has among the samples of each bin."""
        count, size = (op.height, op.width)[axis].value.data, dims(op.x)[2 + axis]
        kind = f64 if elem(op.x) == f64 else f32

        def weight(b: Body, d: Values, t: Values) -> SSAValue:
            bins = self._bins(b, op, t[0], d[0], axis)
            at, valid = bins.sample(b, d[1], self._number(b, op, bins, d[1], d[3]))
            distance = b.math("absf", b.sub(at, b.convert(b.from_index(d[2]), i64, kind)))
            return b.select(valid, b.maximum(b.sub(1.0, distance), 0.0), 0.0)

        def mean(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
            return b.div(acc, b.maximum(self._bins(b, op, t[0], d[0], axis).count, 1.0))

        return fused.generic(
            "RoiAlign",
            row_major((dims(op.rois)[0], count, size), kind),
            [op.rois],
            weight,
            reduction=[self._reach(op, axis)],
            combiner="add",
            epilogue=mean,
        )

    def _contract(self, op: ge.RoiAlign, rows: SSAValue, columns: SSAValue, images: SSAValue) -> list[Operation]:
        regions, channels, height, _ = dims(op.result)
        kind, compute, width = elem(op.x), elem(rows), dims(op.x)[3]

        def over_rows(b: Body, d: Values, t: Values) -> SSAValue:
            image = self._image(b, op, t[2], d[0])
            value = b.convert(b.load(t[0], [image, d[1], d[4], d[3]]), kind, compute)
            return b.mul(value, b.load(t[1], [d[0], d[2], d[4]]))

        partial = fused.generic(
            "RoiAlign",
            row_major((regions, channels, height, width), compute),
            [op.x, rows, images],
            over_rows,
            reduction=[dims(op.x)[2]],
            combiner="add",
        )
        result = fused.generic(
            "RoiAlign",
            tensor(op.result),
            [partial.result, columns],
            lambda b, d, t: b.mul(b.load(t[0], [*d[:3], d[4]]), b.load(t[1], [d[0], d[3], d[4]])),
            reduction=[width],
            combiner="add",
            epilogue=lambda b, d, acc, t: b.convert(acc, compute, kind),
        )
        return [partial, result]


class LowerDeformableOffsets(Pattern):
    """ge.DeformableOffsets: each tap of each window is a bilinear sample."""

    ops = (ge.DeformableOffsets,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.DeformableOffsets)
        kind, channels, sizes = elem(op.x), dims(op.x)[1], dims(op.x)[2:]
        kernel, strides, pads, dilations = (fused.ints(p) for p in (op.kernel, op.strides, op.pads, op.dilations))
        share = channels // op.groups.value.data

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            windows = [b.div(d[2 + i], kernel[i], unsigned=True) for i in range(2)]
            taps = [b.rem(d[2 + i], kernel[i], unsigned=True) for i in range(2)]
            group = b.div(d[1], share, unsigned=True)
            number = joined(b, [group, *taps], (op.groups.value.data, *kernel))
            neighbours: list[list[Tap]] = []
            for i in range(2):
                place = b.add(b.mul(windows[i], strides[i]), b.mul(taps[i], dilations[i]))
                offset = widen(b, b.load(t[1], [d[0], b.add(b.mul(number, 2), i), *windows]), kind)
                at = b.add(b.convert(b.from_index(b.sub(place, pads[i])), i64, offset.type), offset)
                neighbours.append(bilinear(b, at, sizes[i]))
            compute = widen(b, b.constant(0, kind), kind).type
            value = interpolated(b, neighbours, Load(b, t[0], d[:2], kind, compute), b.constant(0, compute))
            if op.mask is not None:
                value = b.mul(value, widen(b, b.load(t[2], [d[0], number, *windows]), kind))
            return narrow(b, value, kind)

        operands = [op.x, op.offsets] if op.mask is None else [op.x, op.offsets, op.mask]
        rw.replace(op, fused.generic("DeformableOffsets", tensor(op.result), operands, body))


class LowerCol2Im(Pattern):
    """ge.Col2Im: each element of the image collects the blocks that cover it."""

    ops = (ge.Col2Im,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Col2Im)
        kind, block, counts = elem(op.x), fused.ints(op.block), op.counts()
        n = len(block)
        meetings = [
            Meeting(*numbers)
            for numbers in zip(
                counts, block, fused.ints(op.strides), fused.ints(op.dilations), fused.ints(op.pads)[:n], strict=True
            )
        ]

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            met = [meeting.meet(b, d[2 + i], d[2 + n + i]) for i, meeting in enumerate(meetings)]
            row = b.add(b.mul(d[1], prod(block)), joined(b, [tap for tap, _, _ in met], block))
            column = joined(b, [source for _, source, _ in met], counts)
            valid: SSAValue | None = None
            for _, _, inside in met:
                valid = b.both(valid, inside)
            assert valid is not None
            return b.select(valid, widen(b, b.load(t[0], [d[0], row, column]), kind), 0)

        if 0 in (*counts, *dims(op.x)):
            scalar = fused.scalar_type(kind)
            return rw.replace(op, fused.generic("Col2Im", tensor(op.result), [], lambda b, d, t: b.constant(0, scalar)))
        rw.replace(
            op,
            fused.generic(
                "Col2Im",
                tensor(op.result),
                [op.x],
                body,
                reduction=[meeting.steps for meeting in meetings],
                combiner="add",
                epilogue=lambda b, d, acc, t: narrow(b, acc, kind),
            ),
        )


PATTERNS: Sequence[type[Pattern]] = (LowerGridSample, LowerRoiAlign, LowerDeformableOffsets, LowerCol2Im)
