"""Rounding to integers and to narrower formats."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, bf16, f16, f32, i16, i32
from xdsl.ir import Attribute, SSAValue

from gecc.dialects.fused import Body
from gecc.passes.tile.expand_math.calc import Calc

HALVES = (Float16Type, BFloat16Type)


def round_away(c: Calc, x: SSAValue) -> SSAValue:
    """The nearest integer, ties away from zero; exact."""
    whole = c.b.math("trunc", x)
    # the difference is exact, unlike x + 0.5
    step = c.select(c.is_("ge", c.abs(c.sub(x, whole)), 0.5), 1.0, 0.0)
    return c.copysign(c.add(c.abs(whole), step), x)


def narrow_to_odd(b: Body, x: SSAValue) -> SSAValue:
    """An f64 as f32, inexact values to the neighbour with an odd last bit: rounding again then errs no more."""
    near = b.emit(arith.TruncFOp(x, f32))
    back = b.emit(arith.ExtFOp(near, x.type))  # pyright: ignore[reportArgumentType]
    bits = b.emit(arith.BitcastOp(near, i32))
    beyond = b.compare("gt", b.math("absf", back), b.math("absf", x))
    odd = b.binary("or", b.select(beyond, b.sub(bits, 1), bits), 1)
    inexact = b.emit(arith.CmpfOp(back, x, "one"))
    return b.select(inexact, b.emit(arith.BitcastOp(odd, f32)), near)


def to_bf16(b: Body, x: SSAValue) -> SSAValue:
    """An f32 as bf16, ties to even; NaN stays NaN."""
    bits = b.emit(arith.BitcastOp(x, i32))
    sixteen = b.constant(16, i32)
    last = b.binary("and", b.emit(arith.ShRUIOp(bits, sixteen)), 1)
    rounded = b.add(bits, b.add(last, 0x7FFF))
    quiet = b.binary("or", bits, 0x400000)
    kept = b.emit(arith.ShRUIOp(b.select(b.compare("uno", x, x), quiet, rounded), sixteen))
    return b.emit(arith.BitcastOp(b.emit(arith.TruncIOp(kept, i16)), bf16))


def from_bf16(b: Body, x: SSAValue) -> SSAValue:
    """A bf16 as f32: its bits are the upper ones."""
    wide = b.emit(arith.ExtUIOp(b.emit(arith.BitcastOp(x, i16)), i32))
    return b.emit(arith.BitcastOp(b.emit(arith.ShLIOp(wide, b.constant(16, i32))), f32))


def narrow(b: Body, x: SSAValue, target: Attribute) -> SSAValue:
    """An f32 or f64 as f16 or bf16, rounded once."""
    if x.type != f32:
        x = narrow_to_odd(b, x)
    return to_bf16(b, x) if target == bf16 else b.emit(arith.TruncFOp(x, f16))


def widen(b: Body, x: SSAValue) -> SSAValue:
    """An f16 or bf16 as f32, exactly; other values stay."""
    if isinstance(x.type, Float16Type):
        return b.emit(arith.ExtFOp(x, f32))
    return from_bf16(b, x) if isinstance(x.type, BFloat16Type) else x
