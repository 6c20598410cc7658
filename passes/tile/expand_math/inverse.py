"""Inverse trigonometric, hyperbolic and inverse hyperbolic functions, all computed in f64.

An f32 passes through f64, so its result is rounded once; in f64 the errors are a few units in the last place.
"""

from __future__ import annotations

import math as pymath
from collections.abc import Callable

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from gecc.passes.tile.expand_math.calc import Calc
from gecc.passes.tile.expand_math.exponential import exp, expm1, log, log1p

Function = Callable[[Calc, SSAValue], SSAValue]

ATAN_P = (-64.85021904942025, -122.88666844901361, -75.00855792314705, -16.157537187333652, -0.8750608600031904)
ATAN_Q = (194.5506571482614, 485.3903996359137, 432.88106049129027, 165.02700983169885, 24.858464901423062, 1.0)
"""atan(x) = x + x z P(z) / Q(z) with z = x^2, for |x| <= 0.66 (Cephes, S. L. Moshier)."""

HALF_PI_LOW = 6.123233995736766e-17
"""pi / 2 beyond its f64."""

TAN_3_8 = 1 + pymath.sqrt(2)
"""tan(3 pi / 8)."""

LARGE = 2.0**28
"""Beyond it x^2 + 1 and x^2 are the same number."""


def _in_f64(function: Function) -> Function:
    """`function` of an f64, for an f32 too."""

    def convert(c: Calc, x: SSAValue) -> SSAValue:
        if c.wide:
            return function(c, x)
        return c.b.convert(function(Calc(c.b, f64), c.b.convert(x, f32, f64)), f64, f32)

    return convert


def _sqrt(c: Calc, x: SSAValue) -> SSAValue:
    return c.b.math("sqrt", x)


def _atan(c: Calc, x: SSAValue) -> SSAValue:
    size = c.abs(x)
    far, middle = c.is_("gt", size, TAN_3_8), c.is_("gt", size, 0.66)
    turned = c.select(far, c.div(-1.0, size), c.div(c.sub(size, 1.0), c.add(size, 1.0)))
    r = c.select(middle, turned, size)
    square = c.mul(r, r)
    ratio = c.div(c.polynomial(square, ATAN_P), c.polynomial(square, ATAN_Q))
    value = c.fma(c.mul(r, square), ratio, r)
    start = c.select(far, pymath.pi / 2, c.select(middle, pymath.pi / 4, 0.0))
    low = c.select(far, HALF_PI_LOW, c.select(middle, HALF_PI_LOW / 2, 0.0))
    return c.copysign(c.add(start, c.add(value, low)), x)


def _asin(c: Calc, x: SSAValue) -> SSAValue:
    return _atan(c, c.div(x, _sqrt(c, c.mul(c.sub(1.0, x), c.add(1.0, x)))))


def _acos(c: Calc, x: SSAValue) -> SSAValue:
    return c.mul(_atan(c, _sqrt(c, c.div(c.sub(1.0, x), c.add(1.0, x)))), 2.0)


def _half_of_large_exp(c: Calc, size: SSAValue) -> SSAValue:
    """exp(size) / 2, which overflows only where the result does."""
    root = exp(c, c.mul(size, 0.5))
    return c.mul(c.mul(root, 0.5), root)


def _sinh(c: Calc, x: SSAValue) -> SSAValue:
    size = c.abs(x)
    t = expm1(c, size)
    small = c.mul(c.add(t, c.div(t, c.add(t, 1.0))), 0.5)
    return c.copysign(c.select(c.is_("gt", size, 22.0), _half_of_large_exp(c, size), small), x)


def _cosh(c: Calc, x: SSAValue) -> SSAValue:
    size = c.abs(x)
    e = exp(c, size)
    small = c.add(c.mul(e, 0.5), c.div(0.5, e))
    return c.select(c.is_("gt", size, 22.0), _half_of_large_exp(c, size), small)


def _log_of_twice(c: Calc, x: SSAValue) -> SSAValue:
    return c.add(log(c, x), pymath.log(2.0))


def _asinh(c: Calc, x: SSAValue) -> SSAValue:
    size = c.abs(x)
    square = c.mul(size, size)
    small = log1p(c, c.add(size, c.div(square, c.add(_sqrt(c, c.add(square, 1.0)), 1.0))))
    return c.copysign(c.select(c.is_("gt", size, LARGE), _log_of_twice(c, size), small), x)


def _acosh(c: Calc, x: SSAValue) -> SSAValue:
    t = c.sub(x, 1.0)
    small = log1p(c, c.add(t, _sqrt(c, c.mul(t, c.add(t, 2.0)))))
    value = c.select(c.is_("gt", x, LARGE), _log_of_twice(c, x), small)
    return c.select(c.is_("ge", x, 1.0), value, pymath.nan)


def _atanh(c: Calc, x: SSAValue) -> SSAValue:
    size = c.abs(x)
    return c.copysign(c.mul(log1p(c, c.div(c.mul(size, 2.0), c.sub(1.0, size))), 0.5), x)


atan: Function = _in_f64(_atan)
"""Cephes: the argument is turned by pi / 4 or pi / 2 until it is below 0.66."""
asin: Function = _in_f64(_asin)
"""atan(x / sqrt((1 - x) (1 + x)))."""
acos: Function = _in_f64(_acos)
"""2 atan(sqrt((1 - x) / (1 + x))), which is accurate next to 1 too."""
sinh: Function = _in_f64(_sinh)
"""(t + t / (t + 1)) / 2 with t = expm1(|x|), where exp would cancel."""
cosh: Function = _in_f64(_cosh)
"""(e + 1 / e) / 2 with e = exp(|x|)."""
asinh: Function = _in_f64(_asinh)
"""log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))."""
acosh: Function = _in_f64(_acosh)
"""log1p(t + sqrt(t (t + 2))) with t = x - 1."""
atanh: Function = _in_f64(_atanh)
"""log1p(2 |x| / (1 - |x|)) / 2."""
