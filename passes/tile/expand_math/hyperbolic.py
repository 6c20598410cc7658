"""tanh and erf: odd functions that saturate."""

from __future__ import annotations

import math as pymath
from collections.abc import Sequence

from xdsl.ir import SSAValue

from gecc.passes.tile.expand_math import tables
from gecc.passes.tile.expand_math.calc import Calc
from gecc.passes.tile.expand_math.exponential import exp, expm1


def odd_rational(c: Calc, x: SSAValue, bound: float, parts: tuple[Sequence[float], Sequence[float]]) -> SSAValue:
    """x P(x^2) / Q(x^2) with x limited to [-bound, bound] and the result to [-1, 1]; NaN stays NaN."""
    x = c.b.clamp(x, c.c(-bound), c.c(bound))
    square = c.mul(x, x)
    value = c.div(c.mul(x, c.polynomial(square, parts[0])), c.polynomial(square, parts[1]))
    return c.b.clamp(value, c.c(-1.0), c.c(1.0))


def tanh(c: Calc, x: SSAValue) -> SSAValue:
    """In f32 a rational (relative error 3e-7), in f64 -t / (t + 2) with t = expm1(-2 |x|) (3.5e-16)."""
    if not c.wide:
        return odd_rational(c, x, 9.0, tables.TANH_F32)
    t = expm1(c, c.mul(c.abs(x), -2.0))
    return c.copysign(c.div(t, c.add(t, 2.0)), x)


def erf(c: Calc, x: SSAValue) -> SSAValue:
    """In f32 a rational (relative error 3.1e-7), in f64 Cody's three rationals (relative error 5e-16)."""
    if not c.wide:
        return odd_rational(c, x, 3.92, tables.ERF_F32)
    size = c.limit(c.abs(x), 0.0, 6.0)  # beyond 5.93 the result rounds to 1
    square = c.mul(size, size)
    inner = c.mul(size, _ratio(c, square, tables.ERF_SMALL_F64))
    middle = _ratio(c, size, tables.ERF_MIDDLE_F64)
    inverse = c.div(1.0, square)
    tail = c.mul(inverse, _ratio(c, inverse, tables.ERF_LARGE_F64))
    large = c.div(c.sub(1.0 / pymath.sqrt(pymath.pi), tail), size)
    scaled = c.select(c.is_("le", size, 4.0), middle, large)
    # exp(-x^2) with the rounding error of x^2 given on
    shrink = exp(c, c.neg(square), c.neg(c.fma(size, size, c.neg(square))))
    outer = c.sub(1.0, c.mul(shrink, scaled))
    result = c.copysign(c.select(c.is_("le", size, 0.46875), inner, outer), x)
    return c.select(c.is_("uno", x, x), x, result)


def _ratio(c: Calc, x: SSAValue, parts: tuple[Sequence[float], Sequence[float]]) -> SSAValue:
    return c.div(c.polynomial(x, parts[0]), c.polynomial(x, parts[1]))
