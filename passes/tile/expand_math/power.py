"""Powers: of floats to floats and to integers, of integers to integers."""

from __future__ import annotations

import math as pymath

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, f32, f64, i1
from xdsl.ir import Block, Region, SSAValue

from gecc.dialects.fused import Body
from gecc.passes.tile.expand_math import tables
from gecc.passes.tile.expand_math.calc import Calc
from gecc.passes.tile.expand_math.exponential import exp, log


def _two_sum(c: Calc, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """x + y as a sum and its rounding error, for |x| >= |y|."""
    total = c.add(x, y)
    return total, c.sub(y, c.sub(total, x))


def _two_product(c: Calc, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """x * y as a product and its rounding error."""
    product = c.mul(x, y)
    return product, c.fma(x, y, c.neg(product))


def log_double(c: Calc, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """log(x) of a positive finite f64 as the sum of two numbers, to 2^-65 of it."""
    n, m = c.split(x)
    below, above = c.sub(m, 1.0), c.add(m, 1.0)
    above_low = c.sub(m, c.sub(above, 1.0))
    # s = (m - 1) / (m + 1)
    s = c.div(below, above)
    s_low = c.div(c.fma(c.neg(s), above_low, c.fma(c.neg(s), above, below)), above)
    # log(m) = 2 s + s^3 (2/3 + z M(z)), z = s^2
    z, z_low = _two_product(c, s, s)
    z_low = c.fma(c.mul(s, 2.0), s_low, z_low)
    rest = c.mul(z, c.polynomial(z, tables.LOG_REST_F64))
    u, u_low = _two_sum(c, c.c(2.0 / 3.0), rest)
    u_low = c.add(u_low, 2.0**-54 * 2.0 / 3.0)  # 2/3 beyond its rounding
    cube, cube_low = _two_product(c, z, s)
    cube_low = c.fma(z, s_low, c.fma(z_low, s, cube_low))
    t, t_low = _two_product(c, cube, u)
    t_low = c.fma(cube, u_low, c.fma(cube_low, u, t_low))
    high, low = _two_sum(c, c.mul(s, 2.0), t)
    low = c.add(low, c.fma(s_low, 2.0, t_low))
    whole, whole_low = _two_sum(c, c.mul(n, c.format.ln2_high), high)
    return whole, c.add(whole_low, c.fma(n, c.format.ln2_low, low))


def pow(c: Calc, x: SSAValue, y: SSAValue) -> SSAValue:
    """x^y with all special cases of IEEE 754, to 1 unit in the last place.

    An f32 is computed in f64; in f64 log(x) is carried as two numbers.
    """
    if c.wide:
        return _power(c, x, y, single=False)
    wide = Calc(c.b, f64)
    x, y = (c.b.convert(v, f32, f64) for v in (x, y))
    return c.b.convert(_power(wide, x, y, single=True), f64, f32)


def _power(c: Calc, x: SSAValue, y: SSAValue, *, single: bool) -> SSAValue:
    b, size = c.b, c.abs(x)
    if single:
        value = exp(c, c.mul(y, log(c, size)))
    else:
        finite = c.limit(size, 5e-324, 1.7976931348623157e308)
        high, low = log_double(c, finite)
        bound = c.limit(y, -1e300, 1e300)
        z, z_low = _two_product(c, bound, high)
        z_low = c.fma(bound, low, z_low)
        z_low = c.select(c.is_("lt", c.abs(z), 800.0), z_low, 0.0)
        value = exp(c, z, z_low)
        # |x| is 0 or infinite: so is the power, whichever way y points
        grows = b.compare("eq", c.is_("gt", size, 1.0), c.is_("gt", y, 0.0))
        extreme = b.binary("or", c.is_("eq", size, 0.0), c.is_("eq", size, pymath.inf))
        value = c.select(extreme, c.select(grows, pymath.inf, 0.0), value)
    half = c.mul(y, 0.5)
    whole = c.is_("eq", c.b.math("floor", y), y)
    odd = b.binary("and", whole, c.is_("ne", c.b.math("floor", half), half))
    negative = c.is_("lt", c.copysign(c.c(1.0), x), 0.0)
    value = c.select(b.binary("and", odd, negative), c.neg(value), value)
    # a negative number has only whole powers
    finite_negative = b.binary("and", c.is_("lt", x, 0.0), c.is_("gt", x, -pymath.inf))
    value = c.select(b.binary("and", finite_negative, b.binary("xor", whole, b.constant(1, i1))), pymath.nan, value)
    unit = b.binary("and", c.is_("eq", size, 1.0), c.is_("eq", c.abs(y), pymath.inf))
    value = c.select(unit, 1.0, value)
    value = c.select(c.is_("uno", x, y), pymath.nan, value)
    one = b.binary("or", c.is_("eq", x, 1.0), c.is_("eq", y, 0.0))
    return c.select(one, 1.0, value)


def pow_of_int(c: Calc, x: SSAValue, n: SSAValue) -> SSAValue:
    """x^n for an integer n, exact in f64 (|n| <= 2^53)."""
    wide = Calc(c.b, f64)
    base = c.b.convert(x, c.format.type, f64)
    power = _power(wide, base, c.b.emit(arith.SIToFPOp(n, f64)), single=not c.wide)
    return c.b.convert(power, f64, c.format.type)


def int_pow(b: Body, x: SSAValue, n: SSAValue) -> SSAValue:
    """x^n of integers, wrapping; for n < 0 it is 1 / x^-n rounded towards zero, and 0 for x = 0.

    Square and multiply over all bits of n, in a loop.
    """
    type_ = x.type
    assert isinstance(type_, IntegerType)
    one = b.constant(1, type_)
    block = Block(arg_types=[IndexType(), type_, type_, type_])
    inner = Body(block)
    _, result, square, left = block.args
    unit = inner.constant(1, type_)
    odd = inner.compare("ne", inner.binary("and", left, unit), inner.constant(0, type_))
    result = inner.mul(result, inner.select(odd, square, unit))
    block.add_op(scf.YieldOp(result, inner.mul(square, square), inner.emit(arith.ShRUIOp(left, unit))))
    loop = scf.ForOp(b.index(0), b.index(type_.width.data), b.index(1), [one, x, n], Region(block))
    b.block.add_op(loop)
    sign = b.select(b.compare("ne", b.binary("and", n, 1), 0), x, one)
    reciprocal = b.select(b.compare("eq", x, 1), one, b.select(b.compare("eq", x, -1), sign, 0))
    return b.select(b.compare("lt", n, 0), reciprocal, loop.results[0])
