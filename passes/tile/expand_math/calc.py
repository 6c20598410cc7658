"""What the formulas in this package are written with: constants and bits of one float format."""

from __future__ import annotations

import math as pymath
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float64Type, IntegerType, f32, f64, i32, i64
from xdsl.ir import SSAValue

from gecc.dialects.fused import Body


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the stored mantissa, bias of the exponent, and ln 2 in two parts.

    The first part of ln 2 has so few bits that its product with an exponent is exact.
    """

    type: AnyFloat
    bits: IntegerType
    mantissa: int
    bias: int
    ln2_high: float
    ln2_low: float


F32 = Format(f32, i32, 23, 127, 0.693359375, -2.12194440054690583e-4)
F64 = Format(f64, i64, 52, 1023, 6.93147180369123816490e-01, 1.90821492927058770002e-10)


class Calc:
    """Writes arithmetic of one format, f32 or f64. Numbers may stand for values."""

    def __init__(self, b: Body, type: object) -> None:
        self.b = b
        self.format = F64 if isinstance(type, Float64Type) else F32
        self.wide = self.format is F64

    # --- floats

    def c(self, value: float) -> SSAValue:
        """A constant."""
        return self.b.constant(value, self.format.type)

    def add(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        return self.b.add(self._float(x), self._float(y))

    def sub(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        return self.b.sub(self._float(x), self._float(y))

    def mul(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        return self.b.mul(self._float(x), self._float(y))

    def div(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        return self.b.div(self._float(x), self._float(y))

    def fma(self, x: SSAValue | float, y: SSAValue | float, z: SSAValue | float) -> SSAValue:
        """x * y + z, rounded once."""
        return self.b.fma(self._float(x), self._float(y), self._float(z))

    def neg(self, x: SSAValue) -> SSAValue:
        return self.b.neg(x)

    def abs(self, x: SSAValue) -> SSAValue:
        return self.b.math("absf", x)

    def round(self, x: SSAValue) -> SSAValue:
        """The nearest integer, ties to even."""
        return self.b.math("roundeven", x)

    def copysign(self, size: SSAValue, sign: SSAValue) -> SSAValue:
        """`size` with the sign bit of `sign`."""
        none = {"fastmath": arith.FastMathFlagsAttr("none")}
        return self.b.emit(math.CopySignOp.create(operands=[size, sign], result_types=[size.type], properties=none))

    def is_(self, predicate: str, x: SSAValue, y: SSAValue | float) -> SSAValue:
        """A comparison of floats."""
        return self.b.compare(predicate, x, self._float(y))

    def select(self, condition: SSAValue, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        return self.b.select(condition, self._float(x), self._float(y))

    def limit(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """`x` between two bounds; NaN becomes the lower one."""
        x = self.select(self.is_("gt", x, low), x, low)
        return self.select(self.is_("lt", x, high), x, high)

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """c0 + x (c1 + x (c2 + ...)), by Horner's rule with fused multiply-adds."""
        result = self.c(coefficients[-1])
        for value in reversed(coefficients[:-1]):
            result = self.fma(result, x, value)
        return result

    def _float(self, x: SSAValue | float) -> SSAValue:
        return x if isinstance(x, SSAValue) else self.c(x)

    # --- bits

    def to_bits(self, x: SSAValue) -> SSAValue:
        return self.b.emit(arith.BitcastOp(x, self.format.bits))

    def from_bits(self, bits: SSAValue) -> SSAValue:
        return self.b.emit(arith.BitcastOp(bits, self.format.type))

    def to_int(self, x: SSAValue) -> SSAValue:
        """A small whole number as i32."""
        return self.b.emit(arith.FPToSIOp(x, i32))

    def from_int(self, n: SSAValue) -> SSAValue:
        """An i32 as a float."""
        return self.b.emit(arith.SIToFPOp(n, self.format.type))

    def power_of_two(self, n: SSAValue) -> SSAValue:
        """2^n for an i32 within the exponents of normal numbers, made from its bits."""
        biased = self.b.add(n, self.format.bias)
        if self.wide:
            biased = self.b.emit(arith.ExtSIOp(biased, i64))
        shift = self.b.constant(self.format.mantissa, self.format.bits)
        return self.from_bits(self.b.emit(arith.ShLIOp(biased, shift)))

    def scale(self, x: SSAValue, n: SSAValue) -> SSAValue:
        """x * 2^n for an i32 up to twice the largest exponent: two products, of which only the second may round."""
        half = self.b.emit(arith.ShRSIOp(n, self.b.constant(1, i32)))
        return self.mul(self.mul(x, self.power_of_two(half)), self.power_of_two(self.b.sub(n, half)))

    def split(self, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        """n and m with x = m 2^n and m in [sqrt(1/2), sqrt(2)], both as floats; x must be positive and finite."""
        f, b = self.format, self.b
        smallest = pymath.ldexp(1.0, 1 - f.bias)
        tiny = self.is_("lt", x, smallest)
        bits = self.to_bits(self.select(tiny, self.mul(x, pymath.ldexp(1.0, f.mantissa)), x))
        # subtracting the bits of sqrt(1/2) makes the exponent field count from there
        shift = b.constant(f.mantissa, f.bits)
        exponent = b.emit(arith.ShRSIOp(b.sub(bits, SQRT_HALF[f.mantissa]), shift))
        m = self.from_bits(b.sub(bits, b.emit(arith.ShLIOp(exponent, shift))))
        n = self.from_int(b.emit(arith.TruncIOp(exponent, i32)) if self.wide else exponent)
        return self.sub(n, self.select(tiny, float(f.mantissa), 0.0)), m


SQRT_HALF = {23: 0x3F3504F3, 52: 0x3FE6A09E667F3BCD}
"""The bits of sqrt(1/2) by the size of the mantissa."""
