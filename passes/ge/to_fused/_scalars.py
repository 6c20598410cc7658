"""The table of pointwise operators: each ge operator to the scalar formula of its elements.

Adding an operator is one entry. Floats arrive in f32 or f64, integers in their own width, bool as i1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, f64, i1
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.dialects.fused import Body, is_unsigned

Formula: TypeAlias = Callable[[Body, Any, Attribute, Sequence[SSAValue]], SSAValue]
"""(body, ge operation, element type of the data operands, scalars) -> scalar."""


def _fn(name: str) -> Formula:
    return lambda b, op, e, v: b.math(name, v[0])


def _binary(kind: str) -> Formula:
    return lambda b, op, e, v: b.binary(kind, v[0], v[1], unsigned=is_unsigned(e))


def _compare(predicate: str) -> Formula:
    return lambda b, op, e, v: b.compare(predicate, v[0], v[1], unsigned=is_unsigned(e))


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, AnyFloat)


def _sigmoid(b: Body, x: SSAValue) -> SSAValue:
    one = b.constant(1.0, x.type)
    return b.div(one, b.add(one, b.math("exp", b.neg(x))))


def _absolute(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    if is_unsigned(e):
        return v[0]
    return b.math("absf" if _is_float(v[0]) else "absi", v[0])


def _sign(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x = v[0]
    one = b.constant(1, x.type)
    positive = b.compare("gt", x, 0, unsigned=is_unsigned(e))
    if is_unsigned(e):
        return b.select(positive, one, 0)
    # the last branch keeps NaN, and is 0 otherwise
    return b.select(positive, one, b.select(b.compare("lt", x, 0), b.constant(-1, x.type), x))


def _gelu(b: Body, op: ge.Gelu, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x = v[0]
    if op.approximate.data == "tanh":
        cube = b.mul(b.mul(x, x), x)
        inner = b.mul(b.add(x, b.mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        curve = b.math("tanh", inner)
    else:
        curve = b.math("erf", b.mul(x, math.sqrt(0.5)))
    return b.mul(b.mul(x, 0.5), b.add(curve, 1.0))


def _unit_clamp(b: Body, x: SSAValue) -> SSAValue:
    return b.clamp(x, b.constant(0.0, x.type), b.constant(1.0, x.type))


def _hard_sigmoid(b: Body, op: ge.HardSigmoid, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    return _unit_clamp(b, b.add(b.mul(v[0], op.alpha.value.data), op.beta.value.data))


def _hard_swish(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    return b.mul(v[0], _unit_clamp(b, b.add(b.mul(v[0], 1 / 6), 0.5)))


def _leaky(b: Body, op: ge.LeakyRelu, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    return b.select(b.compare("ge", v[0], 0), v[0], b.mul(v[0], op.alpha.value.data))


def _prelu(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    return b.select(b.compare("ge", v[0], 0, unsigned=is_unsigned(e)), v[0], b.mul(v[0], v[1]))


def _elu(b: Body, op: ge.Elu, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x = v[0]
    # exp(x) - 1 = tanh(x / 2) (exp(x) + 1) does not cancel near 0
    expm1 = b.mul(b.math("tanh", b.mul(x, 0.5)), b.add(b.math("exp", x), 1.0))
    return b.select(b.compare("ge", x, 0), x, b.mul(expm1, op.alpha.value.data))


def _softplus(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x = v[0]
    tail = b.math("log1p", b.math("exp", b.neg(b.math("absf", x))))
    return b.add(b.maximum(x, 0), tail)


def _divide(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x, y = v
    return b.div(x, y) if _is_float(x) else _safe_integer(b, "div", x, y, is_unsigned(e))


def _safe_integer(b: Body, kind: str, x: SSAValue, y: SSAValue, unsigned: bool) -> SSAValue:
    """Quotient or remainder that never traps: 0 for a zero divisor, and INT_MIN / -1 wraps."""
    zero = b.compare("eq", y, 0)
    if unsigned:
        return b.select(zero, 0, b.binary(kind, x, b.select(zero, 1, y), unsigned=True))
    minus_one = b.compare("eq", y, -1)
    bad = b.binary("or", zero, minus_one)
    plain = b.binary(kind, x, b.select(bad, 1, y))
    by_minus_one = b.neg(x) if kind == "div" else b.constant(0, x.type)
    return b.select(zero, 0, b.select(minus_one, by_minus_one, plain))


def _mod(b: Body, op: ge.Mod, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x, y = v
    unsigned = is_unsigned(e)
    rest = _fmod(b, x, y) if _is_float(x) else _safe_integer(b, "rem", x, y, unsigned)
    if op.fmod.value.data or unsigned:
        return rest
    opposite = b.binary("xor", b.compare("lt", rest, 0), b.compare("lt", y, 0))
    fix = b.binary("and", opposite, b.compare("ne", rest, 0))
    return b.select(fix, b.add(rest, y), rest)


def _fmod(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """C fmod; exact while |x / y| < 2^53, computed in f64."""
    element = x.type
    wide_x, wide_y = b.convert(x, element, f64), b.convert(y, element, f64)
    size = b.math("absf", wide_y)
    magnitude = b.math("absf", wide_x)
    rest = b.fma(b.neg(b.math("trunc", b.div(magnitude, size))), size, magnitude)
    # the rounded quotient may be one off either way
    rest = b.select(b.compare("lt", rest, 0), b.add(rest, size), rest)
    rest = b.select(b.compare("ge", rest, size), b.sub(rest, size), rest)
    rest = b.select(b.compare("lt", wide_x, 0), b.neg(rest), rest)
    infinite = b.binary("and", b.compare("eq", size, math.inf), b.compare("lt", magnitude, math.inf))
    return b.convert(b.select(infinite, wide_x, rest), f64, element)


def _power(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x, y = v
    exponent = _constant_of(b, y)
    if _is_float(x):
        return _float_power(b, x, y, exponent)
    if isinstance(exponent, int) and 0 <= exponent <= 64:
        return _repeated(b, x, exponent)
    return _integer_power(b, x, y, is_unsigned(e))


def _constant_of(b: Body, value: SSAValue) -> float | int | None:
    from xdsl.dialects import arith
    from xdsl.dialects.builtin import FloatAttr, IntegerAttr

    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, FloatAttr | IntegerAttr):
        return value.owner.value.value.data
    return None


def _float_power(b: Body, x: SSAValue, y: SSAValue, exponent: float | None) -> SSAValue:
    one = b.constant(1.0, x.type)
    if exponent is None or abs(exponent) > 4 or exponent * 2 != int(exponent * 2):
        return b.binary("pow", x, y)
    if exponent == int(exponent):
        power = _repeated(b, x, int(abs(exponent)))
        return power if exponent >= 0 else b.div(one, power)
    if exponent == 0.5:
        # pow(-0, 0.5) is +0, pow(-inf, 0.5) is +inf
        root = b.math("sqrt", b.add(x, 0.0))
        return b.select(b.compare("eq", x, -math.inf), math.inf, root)
    return b.binary("pow", x, y)


def _repeated(b: Body, x: SSAValue, exponent: int) -> SSAValue:
    result, square = b.constant(1, x.type), x
    first = True
    while exponent:
        if exponent & 1:
            result = square if first else b.mul(result, square)
            first = False
        exponent >>= 1
        if exponent:
            square = b.mul(square, square)
    return result


def _integer_power(b: Body, x: SSAValue, y: SSAValue, unsigned: bool) -> SSAValue:
    """Square and multiply over the low 6 bits of the exponent, wrapping; beyond 63 only -1, 0 and 1 do not overflow."""
    result, square = b.constant(1, x.type), x
    for bit in range(min(6, _width(x) - 1)):
        taken = b.compare("ne", b.binary("and", y, 1 << bit), 0)
        result = b.mul(result, b.select(taken, square, 1))
        if bit < 5:
            square = b.mul(square, square)
    if unsigned:
        return result
    unit = b.binary("or", b.compare("eq", x, 1), b.compare("eq", x, -1))
    vanishes = b.binary("and", b.compare("lt", y, 0), b.binary("xor", unit, b.constant(1, i1)))
    return b.select(vanishes, 0, result)


def _width(value: SSAValue) -> int:
    assert isinstance(value.type, IntegerType)
    return value.type.width.data


def _shift(b: Body, op: ge.BitShift, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    x, y = v
    width, unsigned = _width(x), is_unsigned(e)
    within = b.compare("lt", y, width, unsigned=True)  # a negative number of bits counts as too many
    if op.direction.data == "RIGHT" and not unsigned:
        return b.binary("shr", x, b.select(within, y, width - 1))
    kind = "shl" if op.direction.data == "LEFT" else "shr"
    return b.select(within, b.binary(kind, x, b.select(within, y, 0), unsigned=True), 0)


def _clip(b: Body, op: Any, e: Attribute, v: Sequence[SSAValue]) -> SSAValue:
    unsigned = is_unsigned(e)
    return b.minimum(b.maximum(v[0], v[1], unsigned=unsigned), v[2], unsigned=unsigned)


FORMULAS: dict[type[ge.GeOp], Formula] = {
    ge.Relu: lambda b, op, e, v: b.maximum(v[0], 0),
    ge.Sigmoid: lambda b, op, e, v: _sigmoid(b, v[0]),
    ge.Tanh: _fn("tanh"),
    ge.Erf: _fn("erf"),
    ge.Exp: _fn("exp"),
    ge.Log: _fn("log"),
    ge.Sqrt: _fn("sqrt"),
    ge.Rsqrt: _fn("rsqrt"),
    ge.Reciprocal: lambda b, op, e, v: b.div(1.0, v[0]),
    ge.Neg: lambda b, op, e, v: b.neg(v[0]),
    ge.Abs: _absolute,
    ge.Floor: _fn("floor"),
    ge.Ceil: _fn("ceil"),
    ge.Round: _fn("roundeven"),
    ge.Sign: _sign,
    ge.Sin: _fn("sin"),
    ge.Cos: _fn("cos"),
    ge.Tan: _fn("tan"),
    ge.Asin: _fn("asin"),
    ge.Acos: _fn("acos"),
    ge.Atan: _fn("atan"),
    ge.Sinh: _fn("sinh"),
    ge.Cosh: _fn("cosh"),
    ge.Asinh: _fn("asinh"),
    ge.Acosh: _fn("acosh"),
    ge.Atanh: _fn("atanh"),
    ge.Gelu: _gelu,
    ge.HardSwish: _hard_swish,
    ge.HardSigmoid: _hard_sigmoid,
    ge.LeakyRelu: _leaky,
    ge.Elu: _elu,
    ge.Softplus: _softplus,
    ge.Silu: lambda b, op, e, v: b.mul(v[0], _sigmoid(b, v[0])),
    ge.LogicalNot: lambda b, op, e, v: b.binary("xor", v[0], b.constant(1, i1)),
    ge.IsNan: lambda b, op, e, v: b.compare("uno", v[0], v[0]),
    ge.Add: _binary("add"),
    ge.Sub: _binary("sub"),
    ge.Mul: _binary("mul"),
    ge.RealDiv: _divide,
    ge.Pow: _power,
    ge.Maximum: _binary("max"),
    ge.Minimum: _binary("min"),
    ge.Mod: _mod,
    ge.Equal: _compare("eq"),
    ge.Greater: _compare("gt"),
    ge.GreaterEqual: _compare("ge"),
    ge.Less: _compare("lt"),
    ge.LessEqual: _compare("le"),
    ge.LogicalAnd: _binary("and"),
    ge.LogicalOr: _binary("or"),
    ge.LogicalXor: _binary("xor"),
    ge.BitwiseNot: lambda b, op, e, v: b.binary("xor", v[0], -1),
    ge.BitwiseAnd: _binary("and"),
    ge.BitwiseOr: _binary("or"),
    ge.BitwiseXor: _binary("xor"),
    ge.BitShift: _shift,
    ge.PRelu: _prelu,
    ge.Select: lambda b, op, e, v: b.select(v[0], v[1], v[2]),
    ge.ClipByValue: _clip,
}
"""Every pointwise operator but Identity (which vanishes) and Cast (whose formula is `Body.convert`)."""
