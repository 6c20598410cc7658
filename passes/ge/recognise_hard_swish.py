"""ge-recognise-hard-swish: x * clip(x / 6 + 1/2, 0, 1) in every spelling becomes ge.HardSwish."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.passes.ge._match import close, element, powers, producer, product, uniform, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, store_of


@dataclass
class Ramp:
    """`clip(slope * x + shift, low, high)`, made by `ops`."""

    slope: float
    shift: float
    low: float
    high: float
    ops: list[Operation]


class FoldHardSwish(Pattern):
    """A product of x, a ramp of x and a number that together are `x * clip(x / 6 + 1/2, 0, 1)`."""

    ops = (ge.Mul, ge.RealDiv)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        found = product(op, self.store)
        if len(found.factors) != 2:
            return
        for gate, x in (found.factors, found.factors[::-1]):
            ramp = self._ramp(gate, x)
            if ramp is not None:
                break
        else:
            return
        result = op.results[0]
        kind = element(result)
        if uses(gate) != 1:
            return miss(op, "the gate has {} uses, need 1", uses(gate))
        scale = found.coefficient
        wanted = ((ramp.slope, 1 / 6), (ramp.shift, 0.5), (ramp.low, 0.0), (ramp.high, 1.0))
        if not all(close(scale * number, expected, kind) for number, expected in wanted):
            return miss(
                op,
                "x * {} * clip({} * x + {}, {}, {}) is not HardSwish",
                *(scale, ramp.slope, ramp.shift, ramp.low, ramp.high),
            )
        if result.type != x.type:
            return miss(op, "constants broadcast x from {} to {}", x.type, result.type)
        rw.replace(op, ge.HardSwish(x), absorbed=[*ramp.ops, *found.ops[:0:-1]])

    def _ramp(self, value: SSAValue, x: SSAValue) -> Ramp | None:
        if (gate := producer(value, ge.HardSigmoid)) is not None and gate.operands[0] is x:
            return Ramp(gate.alpha.value.data, gate.beta.value.data, 0.0, 1.0, [gate])
        clipped = self._clip(value)
        if clipped is None:
            return None
        inner, low, high, ops = clipped
        line = powers(inner, x, self.store)
        if line is None or not line.has_only([0, 1]):
            return None
        if inner is not x and uses(inner) != 1:
            return miss(ops[-1], "x + 3 has {} uses, need 1", uses(inner))
        return Ramp(line[1], line[0], low, high, [*line.ops[::-1], *ops])

    def _clip(self, value: SSAValue) -> tuple[SSAValue, float, float, list[Operation]] | None:
        """Value, low, high and operations (innermost first) of a clip by numbers."""
        if (clip := producer(value, ge.ClipByValue)) is not None:
            inner, low_value, high_value = clip.operands
            low, high = uniform(low_value, self.store), uniform(high_value, self.store)
            return None if low is None or high is None else (inner, low, high, [clip])
        for outer, inner_cls in ((ge.Minimum, ge.Maximum), (ge.Maximum, ge.Minimum)):
            outer_op = producer(value, outer)
            if outer_op is None or (half := self._bound(outer_op)) is None:
                continue
            between, outer_bound = half
            inner_op = producer(between, ge.Relu) or producer(between, inner_cls)
            if inner_op is None or uses(between) != 1:
                return None
            if isinstance(inner_op, ge.Relu):
                bounds = (inner_op.operands[0], 0.0) if outer is ge.Minimum else None
            else:
                bounds = self._bound(inner_op)
            if bounds is None:
                return None
            inner, inner_bound = bounds
            low, high = sorted((outer_bound, inner_bound))
            expected = (inner_bound, outer_bound) if outer is ge.Minimum else (outer_bound, inner_bound)
            return (inner, low, high, [inner_op, outer_op]) if (low, high) == expected else None
        return None

    def _bound(self, op: Operation) -> tuple[SSAValue, float] | None:
        """Operand and number of a Minimum or Maximum with one number."""
        for x, bound in (op.operands, op.operands[::-1]):
            if (number := uniform(bound, self.store)) is not None:
                return x, number
        return None


@dataclass(frozen=True)
class RecogniseHardSwish(ModulePass):
    """Replace every spelling of HardSwish with one operator.

    ```mlir
    %a = ge.Add(%x, %three) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %b = ge.ClipByValue(%a, %zero, %six) : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
    %c = ge.Mul(%x, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = ge.RealDiv(%c, %six) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    // becomes
    %y = ge.HardSwish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Also from HardSigmoid(1/6, 1/2) * x, from Minimum and Maximum or Relu instead of a clip, and with the division
    anywhere. Needs: constants within rounding, and no other use of what lies between. HardSigmoid with alpha 0.2, the
    gate of squeeze-and-excitation blocks, stays.
    """

    name = "ge-recognise-hard-swish"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [FoldHardSwish(store_of(ctx))], ctx=ctx)
