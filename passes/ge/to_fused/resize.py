"""ge.Resize -> fused.generic whose coordinates are exact integer fractions.

A scale s is read as the simplest fraction p / q that rounds to it, so an output index i samples x at
numerator(i) / denominator with integers on both sides. No rounding of floating point decides which element is taken,
and the common cases (nearest by whole factors) become one division by a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, elem, f32, f64, tensor
from gecc.passes.ge.to_fused._common import floor_div
from gecc.rewrite import Pattern, Rewriter


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
    """ge.Resize, nearest and linear; dimensions that keep their size and scale are copied."""

    ops = (ge.Resize,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Resize)
        if op.x.type == op.result.type and all(scale == 1 for scale in op.scales.get_values()):
            return rw.replace(op, [], [op.x])
        body = self._nearest(op) if op.mode.data == "nearest" else self._linear(op)
        rw.replace(op, fused.generic("Resize", tensor(op.result), [op.x], body))

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
        compute = f64 if element == f64 else f32

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

            return b.convert(interpolate(list(lines), list(d)), compute, element)

        return body


PATTERNS: Sequence[type[Pattern]] = (LowerResize,)
