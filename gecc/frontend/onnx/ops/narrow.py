"""Numbers of narrow types (see `gecc/frontend/onnx/narrow.py`) from their bits, and bits from numbers.

A float is decoded by a table of all its bytes. It is encoded by integer arithmetic on the bits of an f32: rounding to
nearest, halves to even, is an addition that carries into the bits that stay; for subnormal results it is the addition
of a float so large that its last bit has the weight of the result's last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat, Float64Type, f32, f64, i8, i32
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element
from gecc.frontend.onnx.model import type_name
from gecc.frontend.onnx.narrow import KNOWS, MOVES, NARROW, READS, Narrow
from gecc.frontend.onnx.node import Node
from gecc.weights import element_type

UI8 = element_type(np.dtype(np.uint8))


def admit(n: Node) -> None:
    """Refuse a node that has narrow inputs but does not know them; give numbers to one that only reads."""
    narrow = [value for value in n.inputs if value is not None and value in n.build.narrow]
    if not narrow or n.proto.op_type in KNOWS:
        return
    if n.proto.op_type in READS:
        n.inputs = [decoded(n, v, f32) if v in narrow else v for v in n.inputs if v is not None]
    elif n.proto.op_type not in MOVES or n.proto.domain not in ("", "ai.onnx"):
        kinds = sorted({type_name(n.build.narrow[value]) for value in narrow})
        n.refuse(
            f"{n.proto.op_type} of {', '.join(kinds)} is not supported", hint="convert the inputs with Cast before"
        )


def inherit(n: Node, results: Sequence[SSAValue | None]) -> None:
    """The first result of an operator that moves elements is of the first input's type."""
    first, result = n.optional(0), results[0] if results else None
    if n.proto.op_type in MOVES and first is not None and result is not None:
        n.build.mark_like(result, first)


SIGN, INFINITY = 0x7FFFFFFF, 0x7F800000
"""All bits of an f32 but the sign; those of infinity."""


def decode(n: Node, x: SSAValue, kind: Narrow) -> SSAValue:
    """The numbers that the bytes of x stand for: of f32, i8 or ui8. It is a value of its own even where none changes."""
    if kind.is_float:
        import ml_dtypes

        table = (np.arange(256) & (2**kind.bits - 1)).astype(np.uint8).view(getattr(ml_dtypes, kind.name))
        with np.errstate(invalid="ignore"):
            numbers = n.build.const(table.astype(np.float32))
        return n.add(ge.Gather(numbers, n.build.cast(x, i32)))
    if not kind.is_signed:
        return n.add(ge.BitwiseAnd(x, n.build.scalar(2**kind.bits - 1, x)))
    x = n.build.cast(x, i8)
    places = n.build.scalar(8 - kind.bits, x)
    return n.add(ge.BitShift(n.add(ge.BitShift(x, places, direction="LEFT")), places, direction="RIGHT"))


def decoded(n: Node, x: SSAValue, to: Attribute) -> SSAValue:
    """A narrow value converted to an element type."""
    return n.build.cast(decode(n, x, NARROW[n.build.narrow[x]]), to)


def encoded(n: Node, x: SSAValue, data_type: int, *, saturate: bool = True, round_mode: str = "up") -> SSAValue:
    """x (of any type) converted to a narrow type, whose bits the result holds."""
    kind = NARROW[data_type]
    if x in n.build.narrow:
        if n.build.narrow[x] == data_type:
            return x
        x = decode(n, x, NARROW[n.build.narrow[x]])
    if not kind.is_float:
        y = _integer(n, x, kind)
    elif kind.mantissa:
        y = _float(n, _as_f32(n, x), kind, saturate)
    else:
        y = _power(n, n.build.cast(x, f32), saturate, round_mode)
    return n.build.mark(y, data_type)


def _integer(n: Node, x: SSAValue, kind: Narrow) -> SSAValue:
    """The lowest bits; a float is rounded toward zero before."""
    if isinstance(element(x), AnyFloat):
        x = n.build.cast(x, i32)
    x = n.build.cast(x, UI8)
    return n.add(ge.BitwiseAnd(x, n.build.scalar(2**kind.bits - 1, x)))


def _as_f32(n: Node, x: SSAValue) -> SSAValue:
    """x as f32, from f64 rounded to odd: rounding that once more is rounding the f64 once."""
    if not isinstance(element(x), Float64Type):
        return n.build.cast(x, f32)
    near = n.build.cast(x, f32)
    back = n.build.cast(near, f64)
    bits = n.add(ge.BitCast(near, i32))
    one, zero = n.build.scalar(1, bits), n.build.scalar(0, bits)
    even = n.add(ge.Equal(n.add(ge.BitwiseAnd(bits, one)), zero))
    inexact = n.add(ge.LogicalAnd(even, n.add(ge.LogicalNot(n.add(ge.Equal(back, x))))))
    short = n.add(ge.Less(n.add(ge.Abs(back)), n.add(ge.Abs(x))))
    step = n.add(ge.Select(short, one, n.build.scalar(-1, bits)))
    return n.add(ge.BitCast(n.add(ge.Add(bits, n.add(ge.Select(inexact, step, zero)))), f32))


def _float(n: Node, x: SSAValue, kind: Narrow, saturate: bool) -> SSAValue:
    """The nearest float; what is too large becomes the largest one, or infinity or NaN unless `saturate`."""
    bits = n.add(ge.BitCast(x, i32))

    def number(value: int) -> SSAValue:
        return n.build.scalar(value, bits)

    def shifted(value: SSAValue, places: int) -> SSAValue:
        return n.add(ge.BitShift(value, number(places), direction="RIGHT"))

    size = n.add(ge.BitwiseAnd(bits, number(SIGN)))
    gone = 23 - kind.mantissa
    odd = n.add(ge.BitwiseAnd(shifted(size, gone), number(1)))
    rounded = n.add(ge.Add(size, n.add(ge.Add(odd, number(2 ** (gone - 1) - 1)))))
    normal = n.add(ge.Sub(shifted(rounded, gone), number((127 - kind.bias) << kind.mantissa)))
    weight = np.float32(2.0 ** (1 - kind.bias - kind.mantissa + 23))
    total = n.add(ge.Add(n.add(ge.BitCast(size, f32)), n.build.const(np.array(weight))))
    subnormal = n.add(ge.Sub(n.add(ge.BitCast(total, i32)), number(int(weight.view(np.int32)))))
    least = int(np.float32(2.0 ** (1 - kind.bias)).view(np.int32))
    code = n.add(ge.Select(n.add(ge.Less(size, number(least))), subnormal, normal))
    if saturate or kind.nan is None:
        code = n.add(ge.Minimum(code, number(kind.most)))
    else:
        beyond = kind.nan if kind.infinity is None else kind.infinity
        code = n.add(ge.Select(n.add(ge.Greater(code, number(kind.most))), number(beyond), code))
    is_nan = n.add(ge.Greater(size, number(INFINITY)))
    sign = n.add(ge.BitwiseAnd(shifted(bits, 32 - kind.bits), number(2 ** (kind.bits - 1))))
    if kind.no_negative_zero:  # whose bits are NaN
        sign = n.add(ge.Select(n.add(ge.Equal(code, number(0))), number(0), sign))
    code = n.add(ge.BitwiseOr(code, sign))
    if kind.no_negative_zero:
        code = n.add(ge.Select(is_nan, number(0x80), code))
    elif kind.nan is not None:
        code = n.add(ge.Select(is_nan, n.add(ge.BitwiseOr(number(kind.nan), sign)), code))
    else:  # without NaN, one becomes a zero of the opposite sign, as in ml_dtypes
        code = n.add(ge.Select(is_nan, n.add(ge.BitwiseXor(sign, number(2 ** (kind.bits - 1)))), code))
    return n.build.cast(code, UI8)


def _power(n: Node, x: SSAValue, saturate: bool, round_mode: str) -> SSAValue:
    """The exponent of |x| rounded to a power of two (FLOAT8E8M0)."""
    # of a fraction of 23 bits, from which on the exponent is one more; numbers below 2^-126 have no leading one, and
    # the least power, 2^-127, is their 2^22
    points = {"up": (1, 0x400001), "nearest": (0x400000, 0x600000), "down": (1 << 23, 1 << 23)}
    if round_mode not in points:
        n.invalid(f"round_mode is '{round_mode}', expected up, down or nearest")
    bits = n.add(ge.BitCast(x, i32))

    def number(value: int) -> SSAValue:
        return n.build.scalar(value, bits)

    size = n.add(ge.BitwiseAnd(bits, number(SIGN)))
    exponent = n.add(ge.BitShift(size, number(23), direction="RIGHT"))
    fraction = n.add(ge.BitwiseAnd(size, number(0x7FFFFF)))
    zero, one = number(0), number(1)
    point = n.add(ge.Select(n.add(ge.Equal(exponent, zero)), *(number(p) for p in points[round_mode][::-1])))
    code = n.add(ge.Add(exponent, n.add(ge.Select(n.add(ge.GreaterEqual(fraction, point)), one, zero))))
    code = n.add(ge.Minimum(code, number(0xFE if saturate else 0xFF)))
    lost = n.add(ge.Greater(size, number(INFINITY)))
    if not saturate:
        lost = n.add(ge.LogicalOr(lost, n.add(ge.Less(size, number(0x400000)))))
    return n.build.cast(n.add(ge.Select(lost, number(0xFF), code)), UI8)
