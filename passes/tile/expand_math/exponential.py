"""Exponentials and logarithms."""

from __future__ import annotations

import math as pymath

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gecc.passes.tile.expand_math import tables
from gecc.passes.tile.expand_math.calc import Calc


def exp_reduced(c: Calc, r: SSAValue) -> SSAValue:
    """exp(r) - 1 for |r| <= ln(2) / 2."""
    return c.fma(c.mul(r, r), c.polynomial(r, tables.EXP_F64 if c.wide else tables.EXP_F32), r)


def reduce(c: Calc, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """n (a whole float) and r with x = n ln(2) + r and |r| <= ln(2) / 2, after Cody and Waite."""
    n = c.round(c.mul(x, 1.0 / pymath.log(2.0)))
    r = c.fma(n, -c.format.ln2_high, x)
    return n, c.fma(n, -c.format.ln2_low, r)


def exp(c: Calc, x: SSAValue, tail: SSAValue | None = None) -> SSAValue:
    """exp(x) = 2^n exp(r): 1 unit in the last place, denormal results too.

    `tail` is a part of x too small for its format, as a second number.
    """
    limited, vanishes = _limit(c, x, *((-745.2, 710.0) if c.wide else (-104.0, 90.0)))
    n, r = reduce(c, limited)
    if tail is not None:
        r = c.add(r, tail)
    result = c.scale(c.add(exp_reduced(c, r), 1.0), c.to_int(n))
    return c.select(c.is_("uno", x, x), x, c.select(vanishes, 0.0, result))


def _limit(c: Calc, x: SSAValue, low: float, high: float) -> tuple[SSAValue, SSAValue]:
    """x where its exponential is neither 0 nor infinite, and whether it is below, where the result is 0.

    What is below becomes 0: a product that underflows takes a hundred times as long as another, and masked scores of
    attention all would. NaN takes the upper bound and must come back at the end.
    """
    vanishes = c.is_("lt", x, low)
    x = c.select(vanishes, 0.0, x)
    return c.select(c.is_("lt", x, high), x, high), vanishes


def exp2(c: Calc, x: SSAValue) -> SSAValue:
    """2^x = 2^n exp((x - n) ln 2): as accurate as exp."""
    limited, vanishes = _limit(c, x, *((-1075.0, 1025.0) if c.wide else (-150.0, 129.0)))
    n = c.round(limited)
    result = c.scale(c.add(exp_reduced(c, c.mul(c.sub(limited, n), pymath.log(2.0))), 1.0), c.to_int(n))
    return c.select(c.is_("uno", x, x), x, c.select(vanishes, 0.0, result))


def expm1(c: Calc, x: SSAValue) -> SSAValue:
    """exp(x) - 1 = 2^n (exp(r) - 1 + (1 - 2^-n)): 2 units in the last place, also where it is tiny."""
    limited = c.limit(x, *((-40.0, 710.0) if c.wide else (-20.0, 90.0)))
    n, r = reduce(c, limited)
    whole = c.to_int(n)
    # 1 - 2^-n is exact up to the mantissa's bits, and 1 beyond
    rest = c.sub(1.0, c.power_of_two(c.b.sub(0, c.b.minimum(whole, c.b.constant(100, i32)))))
    result = c.scale(c.add(exp_reduced(c, r), rest), whole)
    keeps = c.b.binary("or", c.is_("uno", x, x), c.is_("eq", x, 0.0))  # NaN, and the sign of zero
    return c.select(keeps, x, result)


def log_reduced(c: Calc, f: SSAValue, n: SSAValue | None = None) -> SSAValue:
    """n ln(2) + log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]."""
    high, low = c.format.ln2_high, c.format.ln2_low
    if c.wide:
        # as in fdlibm: log(1 + f) = f - s (f - s^2 L(s^2)), of which f^2 / 2 is taken out to be rounded apart
        s = c.div(f, c.add(f, 2.0))
        z = c.mul(s, s)
        half = c.mul(c.mul(f, f), 0.5)
        rest = c.mul(s, c.fma(z, c.polynomial(z, tables.LOG_F64), half))
        if n is None:
            return c.sub(f, c.sub(half, rest))
        return c.fma(n, high, c.neg(c.sub(c.sub(half, c.fma(n, low, rest)), f)))
    square = c.mul(f, f)
    y = c.mul(c.mul(square, f), c.polynomial(f, tables.LOG_F32))
    if n is not None:
        y = c.fma(n, low, y)
    y = c.add(f, c.fma(square, -0.5, y))
    return y if n is None else c.fma(n, high, y)


def special_log(c: Calc, x: SSAValue, y: SSAValue) -> SSAValue:
    """The logarithm `y` of x put right where x is not positive and finite."""
    y = c.select(c.is_("eq", x, pymath.inf), pymath.inf, y)
    y = c.select(c.is_("eq", x, 0.0), -pymath.inf, y)
    return c.select(c.is_("ge", x, 0.0), y, pymath.nan)


def log(c: Calc, x: SSAValue) -> SSAValue:
    """log(x) = n ln(2) + log(m): 1 unit in the last place."""
    n, m = c.split(x)
    return special_log(c, x, log_reduced(c, c.sub(m, 1.0), n))


def log_to(c: Calc, x: SSAValue, base: float) -> SSAValue:
    """The logarithm to base 2 (2 units in the last place) or 10 (3 units); exact for powers of 2 to base 2."""
    n, m = c.split(x)
    y = c.fma(log_reduced(c, c.sub(m, 1.0)), 1.0 / pymath.log(base), c.mul(n, pymath.log(2.0) / pymath.log(base)))
    return special_log(c, x, y)


def log1p(c: Calc, x: SSAValue) -> SSAValue:
    """log(1 + x) = log(u) x / (u - 1) with u = 1 + x rounded (Kahan): 3 units in the last place, also near 0."""
    u = c.add(x, 1.0)
    y = c.mul(log(c, u), c.div(x, c.sub(u, 1.0)))
    y = c.select(c.is_("eq", u, 1.0), x, y)
    return c.select(c.is_("eq", x, pymath.inf), pymath.inf, y)
