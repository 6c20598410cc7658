"""ge-recognise-gelu: every spelling of GELU becomes one ge.Gelu."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import Powers, close, element, powers, producer, product, uniform, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, store_of

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715


class FoldGelu(Pattern):
    """`0.5 * x * (1 + erf(x / sqrt 2))` and `0.5 * x * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, in any grouping."""

    ops = (ge.Mul, ge.RealDiv)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        found = product(op, self.store)
        if len(found.factors) != 2:
            return
        gate, x = found.factors
        curve = self._one_plus_curve(gate)
        if curve is None:
            gate, x = x, gate
            curve = self._one_plus_curve(gate)
        if curve is None:
            return
        result = op.results[0]
        argument = powers(curve.operands[0], x, self.store)
        if argument is None:
            return miss(op, "the argument of {} is not a polynomial in x with single uses", curve.name)
        if not close(found.coefficient, 0.5, element(result)):
            return miss(op, "factor {} before x * (1 + {}), need 0.5", found.coefficient, curve.name)
        if result.type != x.type:
            return miss(op, "constants broadcast x from {} to {}", x.type, result.type)
        form = _form(curve, argument, element(result))
        if form is None:
            return miss(op, "argument of {} has coefficients {}, need those of GELU", curve.name, argument.of)
        add = gate.owner
        assert isinstance(add, Operation)
        absorbed = [*argument.ops[::-1], curve, add, *found.ops[:0:-1]]
        rw.replace(op, ge.Gelu(x, approximate=form), absorbed=absorbed)

    def _one_plus_curve(self, value: SSAValue) -> ge.Erf | ge.Tanh | None:
        """The Erf or Tanh of `1 + curve`, when nobody else uses either."""
        add = producer(value, ge.Add)
        if add is None:
            return None
        for curve_value, one in (add.operands, add.operands[::-1]):
            curve = curve_value.owner
            if isinstance(curve, ge.Erf | ge.Tanh) and (number := uniform(one, self.store)) is not None:
                if not close(number, 1.0, element(value)):
                    return miss(add, "adds {} to {}, need 1", number, curve.name)
                if uses(value) != 1 or uses(curve_value) != 1:
                    return miss(add, "1 + {} has other uses", curve.name)
                return curve
        return None


def _form(curve: ge.Erf | ge.Tanh, argument: Powers, kind: Attribute) -> str | None:
    """The value of `approximate`, or None when the argument is not GELU's."""
    if isinstance(curve, ge.Erf):
        return "none" if argument.has_only([1]) and close(argument[1], _SQRT_HALF, kind) else None
    matches = (
        argument.has_only([1, 3])
        and close(argument[1], _SQRT_2_OVER_PI, kind)
        and close(argument[3], _SQRT_2_OVER_PI * _CUBIC, kind)
    )
    return "tanh" if matches else None


@dataclass(frozen=True)
class RecogniseGelu(ModulePass):
    """Replace every spelling of GELU, by Erf or by Tanh, with one operator.

    ```mlir
    %a = ge.RealDiv(%x, %sqrt2) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %b = ge.Erf(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = ge.Add(%b, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %d = ge.Mul(%x, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = ge.Mul(%d, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    // becomes
    %y = ge.Gelu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Needs: constants within rounding of GELU's (relative 1e-5, one unit in the last place in 16 bits), and no other use
    of what lies between. Sigmoid(1.702 x) x stays: it is another function.
    """

    name = "ge-recognise-gelu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [FoldGelu(store_of(ctx))], ctx=ctx)
