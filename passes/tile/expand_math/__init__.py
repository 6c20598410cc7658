"""Expand functions of `math`, and what the machine cannot do with half formats, to arithmetic: never a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type, ModuleOp, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import tile
from gecc.dialects.fused import Body
from gecc.passes.tile.expand_math import exponential, hyperbolic, inverse, power, rounding, trigonometric
from gecc.passes.tile.expand_math.calc import Calc
from gecc.passes.tile.expand_math.rounding import HALVES, narrow, widen
from gecc.rewrite import Pattern, Rewriter, apply_patterns

UNARY: dict[type[Operation], Callable[[Calc, SSAValue], SSAValue]] = {
    math.ExpOp: exponential.exp,
    math.Exp2Op: exponential.exp2,
    math.ExpM1Op: exponential.expm1,
    math.LogOp: exponential.log,
    math.Log1pOp: exponential.log1p,
    math.Log2Op: lambda c, x: exponential.log_to(c, x, 2.0),
    math.Log10Op: lambda c, x: exponential.log_to(c, x, 10.0),
    math.TanhOp: hyperbolic.tanh,
    math.ErfOp: hyperbolic.erf,
    math.SinOp: trigonometric.sin,
    math.CosOp: trigonometric.cos,
    math.TanOp: trigonometric.tan,
    math.AtanOp: inverse.atan,
    math.AsinOp: inverse.asin,
    math.AcosOp: inverse.acos,
    math.SinhOp: inverse.sinh,
    math.CoshOp: inverse.cosh,
    math.AsinhOp: inverse.asinh,
    math.AcoshOp: inverse.acosh,
    math.AtanhOp: inverse.atanh,
    math.RoundOp: rounding.round_away,
    math.RsqrtOp: lambda c, x: c.div(1.0, c.b.math("sqrt", x)),
}
"""Functions of one f32 or f64."""

NATIVE: tuple[type[Operation], ...] = (
    arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, arith.CmpfOp, arith.MaximumfOp,
    arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp,
    arith.FPToUIOp, math.AbsFOp, math.CeilOp, math.CopySignOp, math.FloorOp, math.FmaOp, math.RoundEvenOp,
    math.SqrtOp, math.TruncOp,
)  # fmt: skip
"""What is an instruction or a few on f32 and f64; half formats pass through f32."""


def _replace(op: Operation, rw: Rewriter, write: Callable[[Body], SSAValue]) -> None:
    """Put what `write` writes in the place of `op`."""
    block = Block()
    result = write(Body(block))
    new = list(block.ops)
    for made in new:
        made.detach()
    rw.replace(op, new, [result])


class ExpandHalf(Pattern):
    """An operation on f16 or bf16 is done in f32 and rounded."""

    ops: ClassVar = (*NATIVE, *UNARY, math.PowFOp, math.FPowIOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        result = op.results[0].type
        if not any(isinstance(t, HALVES) for t in (*op.operand_types, result)):
            return

        def write(b: Body) -> SSAValue:
            new = type(op).create(
                operands=[widen(b, v) for v in op.operands],
                result_types=[f32 if isinstance(result, HALVES) else result],
                properties=dict(op.properties),
            )
            value = b.emit(new)
            return narrow(b, value, result) if isinstance(result, HALVES) else value

        _replace(op, rw, write)


class ExpandFloatCast(Pattern):
    """Between formats, only f32 <-> f64 and f32 <-> f16 are instructions."""

    ops: ClassVar = (arith.ExtFOp, arith.TruncFOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, target = op.operands[0], op.results[0].type
        pair = (type(x.type), type(target))
        both = ((Float32Type, Float16Type), (Float32Type, Float64Type))
        if pair in both or pair[::-1] in both:
            return
        if isinstance(op, arith.TruncFOp):
            _replace(op, rw, lambda b: narrow(b, x, target))
        elif isinstance(target, Float64Type):
            _replace(op, rw, lambda b: b.convert(widen(b, x), f32, target))
        else:
            _replace(op, rw, lambda b: widen(b, x))


class ExpandUnary(Pattern):
    """A function of one f32 or f64."""

    ops: ClassVar = tuple(UNARY)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x = op.operands[0]
        if isinstance(x.type, Float32Type | Float64Type):
            _replace(op, rw, lambda b: UNARY[type(op)](Calc(b, x.type), x))


class ExpandPower(Pattern):
    """Powers of floats and of integers."""

    ops: ClassVar = (math.PowFOp, math.FPowIOp, math.IPowIOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, y = op.operands
        if isinstance(op, math.IPowIOp):
            _replace(op, rw, lambda b: power.int_pow(b, x, y))
        elif isinstance(x.type, Float32Type | Float64Type):
            write = power.pow if isinstance(op, math.PowFOp) else power.pow_of_int
            _replace(op, rw, lambda b: write(Calc(b, x.type), x, y))


def expand_math(root: Operation) -> None:
    """Expand everything inside `root`."""
    apply_patterns(root, [ExpandHalf(), ExpandFloatCast(), ExpandUnary(), ExpandPower()])


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

    Arithmetic on f16 and bf16 is done in f32 and rounded after each operation; conversions to them round once. What
    the machine has as an instruction on f32 and f64 (sqrt, floor, fma, ...) stays. Errors are stated function by
    function; all take every argument, infinities, NaN and denormals included.
    """

    name = "tile-expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, tile.KernelOp):
                expand_math(kernel)
