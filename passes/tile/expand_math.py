"""Expand functions of `math` to arithmetic: our polynomials and rationals, never a call."""

from __future__ import annotations

import math as pymath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp, f32, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import tile
from gecc.dialects.fused import Body
from gecc.rewrite import Pattern, Rewriter, apply_patterns

TANH = (
    (0.9999999987, 0.1367994003, 0.003868358768, 2.800806786e-05, 3.058641135e-08, -1.220442043e-11),
    (1.0, 0.4701327209, 0.02724595301, 0.0003938685226, 1.28740817e-06),
)
"""tanh(x) = x P(x^2) / Q(x^2) for |x| <= 9, beyond which it rounds to 1: relative error at most 3.3e-7 in f32.

Coefficients of this and the next are least-squares fits in double at 4,000 Chebyshev nodes, reweighted towards the
largest relative error (Lawson's method); errors are those of the f32 evaluation on 200,001 points.
"""
TANH_BOUND = 9.0
ERF = (
    (1.128379145, 0.1907768717, 0.05278938824, 0.003779318575, 0.0002848030418, 2.042033661e-06),
    (1.0, 0.5024043215, 0.1142546654, 0.01499685322, 0.00116514425, 3.800444578e-05),
)
"""erf(x) = x P(x^2) / Q(x^2) for |x| <= 3.92: relative error at most 3.6e-7."""
ERF_BOUND = 3.92
EXP = (0.5000000028557864, 0.16666573360989378, 0.041666363630278314, 0.008363776150199974, 0.0013942146640099388)
"""(exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2: absolute error at most 6.6e-8."""
LOG = (
    0.33333326544156505, -0.2500028090079829, 0.20001879122279598, -0.16643485488322485,
    0.14190259419161466, -0.12943479008435876, 0.12798741366090083, -0.08304986895329482,
)  # fmt: skip
"""(log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)]: absolute error at most 1.4e-7."""
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4
"""ln 2 in two parts: the first has few bits, so that its product with a small integer is exact."""


def _constant(b: Body, value: float) -> SSAValue:
    return b.constant(value, f32)


def polynomial(b: Body, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """c0 + x (c1 + x (c2 + ...)), by Horner's rule with fused multiply-adds."""
    result = _constant(b, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = b.fma(result, x, _constant(b, c))
    return result


def rational(b: Body, x: SSAValue, bound: float, parts: tuple[Sequence[float], Sequence[float]]) -> SSAValue:
    """x P(x^2) / Q(x^2) with x limited to [-bound, bound]; NaN stays NaN."""
    x = b.minimum(b.maximum(x, _constant(b, -bound)), _constant(b, bound))
    square = b.mul(x, x)
    return b.div(b.mul(x, polynomial(b, square, parts[0])), polynomial(b, square, parts[1]))


def exp(b: Body, x: SSAValue) -> SSAValue:
    """exp(x) = 2^n exp(r) with |r| <= ln(2) / 2 (Cody and Waite): relative error about 1.5e-7, denormal results too."""
    from xdsl.dialects import arith

    # beyond these bounds the result is 0 or infinity; NaN takes a bound here and comes back at the end
    limited = b.select(b.compare("lt", x, _constant(b, 90.0)), x, _constant(b, 90.0))
    limited = b.select(b.compare("gt", limited, _constant(b, -105.0)), limited, _constant(b, -105.0))
    n = b.math("floor", b.fma(limited, _constant(b, 1.0 / pymath.log(2.0)), _constant(b, 0.5)))
    r = b.fma(n, _constant(b, -LN2_HIGH), limited)
    r = b.fma(n, _constant(b, -LN2_LOW), r)
    p = b.fma(b.mul(r, r), polynomial(b, r, EXP), b.add(r, _constant(b, 1.0)))
    # 2^n as a product of two, so that neither leaves the exponent's range
    whole = b.emit(arith.FPToSIOp(n, i32))
    half = b.emit(arith.ShRSIOp(whole, b.constant(1, i32)))
    result = b.mul(b.mul(p, _power_of_two(b, half)), _power_of_two(b, b.sub(whole, half)))
    return b.select(b.compare("uno", x, x), x, result)


def _power_of_two(b: Body, n: SSAValue) -> SSAValue:
    """2^n for an i32 in [-126, 127], made from its bits."""
    from xdsl.dialects import arith

    bits = b.emit(arith.ShLIOp(b.add(n, b.constant(127, i32)), b.constant(23, i32)))
    return b.emit(arith.BitcastOp(bits, f32))


def log(b: Body, x: SSAValue) -> SSAValue:
    """log(x) = n ln(2) + log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)]: error about 1 unit in the last place."""
    from xdsl.dialects import arith

    tiny = b.compare("lt", x, _constant(b, pymath.ldexp(1.0, -126)))
    scaled = b.select(tiny, b.mul(x, _constant(b, pymath.ldexp(1.0, 25))), x)
    bits = b.emit(arith.BitcastOp(scaled, i32))
    # subtracting the bits of sqrt(1/2) makes the exponent field count from there
    shifted = b.sub(bits, b.constant(0x3F3504F3, i32))
    exponent = b.emit(arith.ShRSIOp(shifted, b.constant(23, i32)))
    mantissa = b.sub(bits, b.emit(arith.ShLIOp(exponent, b.constant(23, i32))))
    f = b.sub(b.emit(arith.BitcastOp(mantissa, f32)), _constant(b, 1.0))
    n = b.emit(arith.SIToFPOp(exponent, f32))
    n = b.sub(n, b.select(tiny, _constant(b, 25.0), _constant(b, 0.0)))
    square = b.mul(f, f)
    y = b.mul(b.mul(square, f), polynomial(b, f, LOG))
    y = b.fma(n, _constant(b, LN2_LOW), y)
    y = b.fma(square, _constant(b, -0.5), y)
    y = b.fma(n, _constant(b, LN2_HIGH), b.add(f, y))
    infinity = _constant(b, float("inf"))
    y = b.select(b.compare("eq", x, infinity), infinity, y)
    y = b.select(b.compare("eq", x, _constant(b, 0.0)), _constant(b, float("-inf")), y)
    good = b.compare("ge", x, _constant(b, 0.0))
    return b.select(good, y, _constant(b, float("nan")))


def _expand(b: Body, op: Operation, x: SSAValue) -> SSAValue:
    match op:
        case math.ExpOp():
            return exp(b, x)
        case math.LogOp():
            return log(b, x)
        case math.TanhOp():
            return rational(b, x, TANH_BOUND, TANH)
        case math.ErfOp():
            return rational(b, x, ERF_BOUND, ERF)
        case math.RsqrtOp():
            return b.div(_constant(b, 1.0), b.math("sqrt", x))
        case _:
            raise AssertionError(op.name)


class ExpandUnary(Pattern):
    """A function of one f32, f16 or bf16 (computed in f32)."""

    ops: ClassVar = (math.ExpOp, math.LogOp, math.TanhOp, math.ErfOp, math.RsqrtOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        type_ = op.results[0].type
        if not isinstance(type_, Float32Type | Float16Type | BFloat16Type):
            return
        block = Block()
        b = Body(block)
        x = b.convert(op.operands[0], type_, f32)
        result = b.convert(_expand(b, op, x), f32, type_)
        new = list(block.ops)
        for made in new:
            made.detach()
        rw.replace(op, new, [result])


EXPANDED: tuple[type[Operation], ...] = ExpandUnary.ops


def expand_math(root: Operation) -> None:
    """Expand everything inside `root`."""
    apply_patterns(root, [ExpandUnary()])


@dataclass(frozen=True)
class ExpandMath(ModulePass):
    """Replace functions of `math` inside kernels by arithmetic.

    ```mlir
    %y = math.tanh %x : f32
    // becomes
    %0 = arith.maximumf %x, %cst : f32
    %1 = arith.minimumf %0, %cst_0 : f32
    %2 = arith.mulf %1, %1 : f32
    ...
    %y = arith.divf %p, %q : f32
    ```

    f16 and bf16 are computed in f32. What the machine has as an instruction (sqrt, floor, fma, ...) stays.
    """

    name = "tile-expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, tile.KernelOp):
                expand_math(kernel)


__all__ = ["Attribute", "ExpandMath", "expand_math"]
