"""ge.Resize -> fused.generic whose coordinates are exact integer fractions.

A scale s is read as the simplest fraction p / q that rounds to it, so an output index i samples x at
numerator(i) / denominator with integers on both sides. No rounding of floating point decides which element is taken,
and the common cases (nearest by whole factors) become one division by a constant. What has more taps (cubic,
antialiasing) or another grid (tf_crop_and_resize) is looked up in constant tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body, is_unsigned
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import AnyTensor, dims, elem, f32, f64, like, tensor
from gecc.passes.ge.to_fused._common import floor_div, gather_map
from gecc.rewrite import Pattern, Rewriter

if TYPE_CHECKING:
    from gecc.interp.ge.resize import Taps
    from gecc.weights import WeightStore


@dataclass(frozen=True)
class Line:
    """The sampled coordinate of output index i: `(slope * i + offset) / denominator`."""

    slope: int
    offset: int
    denominator: int

    def numerator(self, b: Body, index: SSAValue) -> SSAValue:
        """slope * i + offset."""
        return b.add(b.mul(index, self.slope), self.offset)

    @property
    def least(self) -> int:
        """The smallest numerator, at i = 0."""
        return self.offset


def line(slope: Fraction, offset: Fraction) -> Line:
    """`slope * i + offset` over one denominator."""
    denominator = slope.denominator * offset.denominator // gcd(slope.denominator, offset.denominator)
    return Line(int(slope * denominator), int(offset * denominator), denominator)


def exact_scale(scale: float, size: int, out: int) -> Fraction:
    """The scale as a fraction: out / size when it is that number up to f32 rounding, else the simplest nearby one."""
    ratio = Fraction(out, size)
    if abs(scale - float(ratio)) <= abs(scale) * 2.0**-23:
        return ratio
    simple = Fraction(scale).limit_denominator(1 << 16)
    return simple if abs(scale - float(simple)) <= abs(scale) * 2.0**-23 else Fraction(scale).limit_denominator(1 << 30)


def coordinate(mode: str, scale: float, size: int, out: int) -> Line:
    """ONNX coordinate_transformation_mode: which coordinate of x output index i samples."""
    s = exact_scale(scale, size, out)
    half = Fraction(1, 2)
    if mode == "asymmetric":
        return line(1 / s, Fraction(0))
    if mode == "align_corners":
        return line(Fraction(size - 1, out - 1) if out > 1 else Fraction(0), Fraction(0))
    if mode == "pytorch_half_pixel" and out == 1:
        return line(Fraction(0), Fraction(0))
    if mode == "half_pixel_symmetric":
        # the sampled window is centred: adjustment = out / (scale * size)
        centre = Fraction(size, 2)
        shift = centre * (1 - Fraction(out) / (s * size))
        return line(1 / s, shift + half / s - half)
    return line(1 / s, half / s - half)


def nearest_line(mode: str, at: Line) -> Line:
    """The line whose floor is the nearest index: rounding modes as offsets before a floor."""
    n, d = at.denominator, 2 * at.denominator
    slope, offset = 2 * at.slope, 2 * at.offset
    shift = {"floor": 0, "ceil": 2 * n - 1, "round_prefer_ceil": n, "round_prefer_floor": n - 1}[mode]
    if mode == "ceil":  # ceil(a / n) = floor((a + n - 1) / n)
        return Line(at.slope, at.offset + n - 1, n)
    return Line(slope, offset + shift, d)


def simplest(at: Line, size: int, out: int) -> Line:
    """An equal index map without offset, when `floor(i * p / q)` gives the same clamped index for every i."""
    wanted = [min(max((at.slope * i + at.offset) // at.denominator, 0), size - 1) for i in range(out)]
    for p, q in (Fraction(at.slope, at.denominator).as_integer_ratio(), Fraction(size, out).as_integer_ratio()):
        if [i * p // q for i in range(out)] == wanted:
            return Line(p, 0, q)
    return at


class LowerResize(Pattern):
    """ge.Resize: nearest and linear by exact coordinates in one operation; all else one dimension after the other,
    by tables of places and weights. Dimensions that keep their size and scale are copied."""

    ops = (ge.Resize,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Resize)
        crop = op.coordinate_mode.data == ge.CROP
        if op.x.type == op.result.type and all(scale == 1 for scale in op.scales.get_values()) and not crop:
            return rw.replace(op, [], [op.x])
        if 0 not in (*dims(op.x), *dims(op.result)) and (crop or self._is_wide(op)):
            return rw.replace(op, self._by_tables(op))
        body = self._nearest(op) if op.mode.data == "nearest" else self._linear(op)
        rw.replace(op, fused.generic("Resize", tensor(op.result), [op.x], body))

    def _is_wide(self, op: ge.Resize) -> bool:
        """Whether more than two neighbours count."""
        shrinks = min(op.scales.get_values(), default=1) < 1
        return op.mode.data == "cubic" or (op.mode.data == "linear" and shrinks and bool(op.antialias.value.data))

    def _by_tables(self, op: ge.Resize) -> list[Operation]:
        from gecc.interp.ge.resize import taps_of

        shape, out, kind = list(dims(op.x)), dims(op.result), elem(op.x)
        axes = sorted(range(len(shape)), key=lambda i: out[i] / shape[i])  # what shrinks first leaves least to do
        stages = [(axis, taps_of(op, axis, shape[axis], out[axis], op.scales.get_values()[axis])) for axis in axes]
        used = [(axis, taps) for axis, taps in stages if taps is not None]
        if not used:
            return [gather_map("Resize", op.x, tensor(op.result), lambda b, d: d)]
        made: list[Operation] = []
        value: SSAValue = op.x
        for number, (axis, taps) in enumerate(used):
            shape[axis] = out[axis]
            last = number == len(used) - 1
            target = kind if last else self._compute(op)
            made += self._stage(op, value, axis, taps, like(tensor(op.result), shape, target))
            value = made[-1].results[0]
        return made

    def _compute(self, op: ge.Resize) -> Attribute:
        """The element type between stages."""
        kind = elem(op.x)
        if op.mode.data == "nearest":
            return kind
        wide = isinstance(kind, IntegerType) and kind.width.data > 16
        return f64 if kind == f64 or wide else f32

    def _stage(self, op: ge.Resize, x: SSAValue, axis: int, taps: Taps, result: AnyTensor) -> list[Operation]:
        """One dimension: the sum over taps of element times weight."""
        import numpy as np

        compute, nearest, count = self._compute(op), op.mode.data == "nearest", taps.places.shape[1]
        extent, source, target = dims(x)[axis], elem(x), result.element_type
        # a row for each tap, so that neighbours in the result find neighbours in the tables
        tables = [ge.const(np.ascontiguousarray(taps.places.T).astype(np.int64), self.store)]
        if not nearest:
            weights = np.ascontiguousarray(taps.weights.T)
            tables.append(ge.const(weights.astype(np.float64 if compute == f64 else np.float32), self.store))
        if taps.outside is not None:
            tables.append(ge.const(taps.outside, self.store))

        def element(b: Body, d: Values, t: Values) -> SSAValue:
            tap = d[-1] if count > 1 else b.index(0)
            place = b.clamp(b.to_index(b.load(t[1], [tap, d[axis]])), 0, extent - 1)  # in range already
            value = b.load(t[0], [*d[:axis], place, *d[axis + 1 : len(out)]])
            return value if nearest else b.mul(b.convert(value, source, compute), b.load(t[2], [tap, d[axis]]))

        def finish(b: Body, d: Values, value: SSAValue, t: Values) -> SSAValue:
            if taps.outside is not None:
                fill = b.constant(op.extrapolation_value.value.data, value.type)
                value = b.select(b.load(t[-1], [d[axis]]), fill, value)
            return value if nearest else self._convert(b, value, compute, target)

        out = result.get_shape()
        operands = [x, *(table.results[0] for table in tables)]
        if count == 1:
            sample = fused.generic("Resize", result, operands, lambda b, d, t: finish(b, d, element(b, d, t), t))
        else:
            sample = fused.generic(
                "Resize", result, operands, element, reduction=[count], combiner="add", epilogue=finish
            )
        return [*tables, sample]

    def _convert(self, b: Body, value: SSAValue, compute: Attribute, target: Attribute) -> SSAValue:
        """The result's element; integers are rounded and cut to their range."""
        if isinstance(target, IntegerType):
            value = b.math("roundeven", value)
            low, high = int_limits(target)
            value = b.clamp(value, b.constant(low, compute), b.constant(high, compute))
        return b.convert(value, compute, target)

    def _lines(self, op: ge.Resize) -> dict[int, Line]:
        """The coordinate of each dimension that is resized."""
        shape, out = dims(op.x), dims(op.result)
        return {
            i: coordinate(op.coordinate_mode.data, scale, shape[i], out[i])
            for i, scale in enumerate(op.scales.get_values())
            if (shape[i] != out[i] or scale != 1) and 0 not in (shape[i], out[i])
        }

    def _nearest(self, op: ge.Resize) -> fused.BodyFn:
        shape, out = dims(op.x), dims(op.result)
        lines = {
            i: simplest(nearest_line(op.nearest_mode.data, at), shape[i], out[i]) for i, at in self._lines(op).items()
        }

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            indices = list(d)
            for i, at in lines.items():
                index = floor_div(b, at.numerator(b, d[i]), at.denominator, at.least)
                last = (at.slope * (out[i] - 1) + at.offset) // at.denominator
                if at.least < 0:
                    index = b.maximum(index, 0)
                indices[i] = b.minimum(index, shape[i] - 1) if last >= shape[i] else index
            return b.load(t[0], indices)

        return body

    def _linear(self, op: ge.Resize) -> fused.BodyFn:
        shape, lines, element = dims(op.x), self._lines(op), elem(op.x)
        compute = self._compute(op)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            low, high, weight = list(d), list(d), dict[int, SSAValue]()
            for i, at in lines.items():
                numerator = at.numerator(b, d[i])
                floor = floor_div(b, numerator, at.denominator, at.least)
                rest = b.from_index(b.sub(numerator, b.mul(floor, at.denominator)))
                weight[i] = b.mul(b.convert(rest, i64, compute), 1 / at.denominator)
                low[i] = b.clamp(floor, 0, shape[i] - 1)
                high[i] = b.clamp(b.add(floor, 1), 0, shape[i] - 1)

            def interpolate(axes: Sequence[int], indices: list[SSAValue]) -> SSAValue:
                if not axes:
                    return b.convert(b.load(t[0], indices), element, compute)
                axis, rest = axes[0], axes[1:]
                left = interpolate(rest, [*indices[:axis], low[axis], *indices[axis + 1 :]])
                right = interpolate(rest, [*indices[:axis], high[axis], *indices[axis + 1 :]])
                return b.add(left, b.mul(b.sub(right, left), weight[axis]))

            return self._convert(b, interpolate(list(lines), list(d)), compute, element)

        return body


def int_limits(kind: IntegerType) -> tuple[float, float]:
    """The least and the largest value of an integer type that a float of its computations can hold."""
    width, unsigned = kind.width.data, is_unsigned(kind)
    low, high = (0, 2**width - 1) if unsigned else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    return float(low), float(high) if width < 64 else math.nextafter(float(high), 0)


PATTERNS: Sequence[type[Pattern]] = ()
STORED: Sequence[type[LowerResize]] = (LowerResize,)
"""Patterns that make constants."""
