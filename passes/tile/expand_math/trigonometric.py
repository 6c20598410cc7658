"""sin, cos and tan of any argument.

The argument is taken modulo one turn exactly, after Payne and Hanek: 1 / (2 pi) is cut into groups of bits so short
that their products with x are exact, and of each product only the fraction is kept.
"""

from __future__ import annotations

import math as pymath

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import SSAValue

from gecc.passes.tile.expand_math import tables
from gecc.passes.tile.expand_math.calc import Calc

WINDOW = 7
"""Groups of bits that matter to one f64: those before them are whole turns, those behind too small."""


TWO_PI_LOW = 2.4492935982947064e-16
"""2 pi beyond its f64."""


def _products_f32(c: Calc, x: SSAValue) -> list[SSAValue]:
    """Products of an f32, given as f64, with all groups: 24 + 29 bits."""
    bits = tables.TURN_F32_BITS
    return [c.mul(x, pymath.ldexp(v, -bits * (k + 1))) for k, v in enumerate(tables.TURN_F32)]


def _products_f64(c: Calc, x: SSAValue) -> list[SSAValue]:
    """Products of the halves of an f64 with the groups that matter: 27 + 26 bits.

    x = X 2^E with a whole X; groups before E / 26 give whole turns. The window is chosen by halving.
    """
    b, size = c.b, tables.TURN_F64_BITS
    bits = c.to_bits(x)
    field = b.binary("and", b.emit(arith.ShRUIOp(bits, b.constant(52, i64))), 0x7FF)
    exponent = b.maximum(b.sub(b.emit(arith.TruncIOp(field, i32)), 1075), 0)
    # E // 26 for 0 <= E < 1024 as a product and a shift
    first = b.emit(arith.ShRUIOp(b.mul(exponent, 1261), b.constant(15, i32)))
    shift = b.emit(arith.ShLIOp(b.emit(arith.ExtUIOp(b.mul(first, size), i64)), b.constant(52, i64)))
    scaled = b.sub(bits, shift)
    group: list[SSAValue] = [c.c(float(v)) for v in tables.TURN_F64]
    step = 32
    while step:
        taken = b.compare("ne", b.binary("and", first, step), 0)
        moved = [
            group[i + step] if i + step < len(group) else c.c(0.0) for i in range(min(len(group), WINDOW + step - 1))
        ]
        group = [b.select(taken, after, before) for after, before in zip(moved, group, strict=False)]
        step //= 2
    whole = c.from_bits(scaled)
    high = c.from_bits(b.binary("and", scaled, -(1 << 27)))
    out: list[SSAValue] = []
    for k, value in enumerate(group):
        value = c.mul(value, pymath.ldexp(1.0, -size * (k + 1)))
        out += [c.mul(high, value), c.mul(c.sub(whole, high), value)]
    return out


def reduce(c: Calc, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """q (an i32) and r with x = q pi / 2 + r up to whole turns, |r| <= pi / 4, in the format of x."""
    wide = Calc(c.b, f64)
    products = _products_f64(wide, x) if c.wide else _products_f32(wide, c.b.convert(x, f32, f64))
    turns = [wide.sub(p, wide.round(p)) for p in products]
    total = turns[-1]
    for part in reversed(turns[:-1]):
        total = wide.add(total, part)
    q = wide.round(wide.mul(total, 4.0))
    # summed again from the largest down, so that what cancels does so exactly
    rest = wide.fma(q, -0.25, turns[0])
    if not c.wide:
        for part in turns[1:]:
            rest = wide.add(rest, part)
        return wide.to_int(q), c.b.convert(wide.mul(rest, 2 * pymath.pi), f64, f32)
    error = wide.c(0.0)
    for part in turns[1:]:
        rest, lost = _two_sum(wide, rest, part)
        error = wide.add(error, lost)
    r = wide.fma(rest, 2 * pymath.pi, wide.fma(rest, TWO_PI_LOW, wide.mul(error, 2 * pymath.pi)))
    return wide.to_int(q), r


def _two_sum(c: Calc, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """x + y as a sum and its rounding error, whichever is larger (Knuth)."""
    total = c.add(x, y)
    part = c.sub(total, x)
    return total, c.add(c.sub(x, c.sub(total, part)), c.sub(y, part))


def sin_reduced(c: Calc, r: SSAValue) -> SSAValue:
    """sin(r) for |r| <= pi / 4."""
    square = c.mul(r, r)
    return c.fma(c.mul(square, r), c.polynomial(square, tables.SIN_F64 if c.wide else tables.SIN_F32), r)


def cos_reduced(c: Calc, r: SSAValue) -> SSAValue:
    """cos(r) for |r| <= pi / 4."""
    square = c.mul(r, r)
    rest = c.mul(c.mul(square, square), c.polynomial(square, tables.COS_F64 if c.wide else tables.COS_F32))
    # 1 - r^2 / 2 with its rounding error put back
    half = c.mul(square, 0.5)
    head = c.sub(1.0, half)
    return c.add(head, c.add(c.sub(c.sub(1.0, head), half), rest))


def _odd(c: Calc, q: SSAValue, bit: int) -> SSAValue:
    return c.b.compare("ne", c.b.binary("and", q, c.b.constant(bit, i32)), 0)


def _finite(c: Calc, x: SSAValue, value: SSAValue) -> SSAValue:
    """`value`, or NaN where x is infinite or NaN."""
    return c.select(c.is_("lt", c.abs(x), pymath.inf), value, pymath.nan) if c.wide else value


def _small(c: Calc, x: SSAValue, value: SSAValue) -> SSAValue:
    """`value` of an odd function of slope 1, or x where they are the same (down to denormals and the sign of zero)."""
    return c.select(c.is_("lt", c.abs(x), 2.0**-28), x, value)


def sin(c: Calc, x: SSAValue) -> SSAValue:
    """1.4 units in the last place in f32, 1.1 in f64, for every x."""
    q, r = reduce(c, x)
    value = c.select(_odd(c, q, 1), cos_reduced(c, r), sin_reduced(c, r))
    value = c.select(_odd(c, q, 2), c.neg(value), value)
    return _finite(c, x, _small(c, x, value))


def cos(c: Calc, x: SSAValue) -> SSAValue:
    """As accurate as sin."""
    q, r = reduce(c, x)
    value = c.select(_odd(c, q, 1), sin_reduced(c, r), cos_reduced(c, r))
    return _finite(c, x, c.select(_odd(c, c.b.add(q, 1), 2), c.neg(value), value))


def tan(c: Calc, x: SSAValue) -> SSAValue:
    """sin / cos: 3 units in the last place for every x."""
    q, r = reduce(c, x)
    sine, cosine = sin_reduced(c, r), cos_reduced(c, r)
    odd = _odd(c, q, 1)
    value = c.div(c.select(odd, c.neg(cosine), sine), c.select(odd, sine, cosine))
    return _finite(c, x, _small(c, x, value))
