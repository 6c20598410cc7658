"""DynamicQuantizeLSTM: an LSTM whose weights are bytes, and whose inputs and hidden states are made bytes by their range."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops._activations import Activation
from gecc.frontend.onnx.ops.quant import dynamically, integer_matmul
from gecc.frontend.onnx.ops.recurrent import (
    Layer,
    Lstm,
    add_bias,
    by_direction,
    direction_of,
    directions_of,
    run_layers,
)
from gecc.frontend.onnx.registry import onnx_op

GATES = 4


class QuantisedLstm(Lstm):
    """One direction. Weights are [1, size, gates * hidden] and [1, hidden, gates * hidden], with their parameters."""

    w: Sequence[SSAValue | None]
    r: Sequence[SSAValue | None]

    def input_products(self, x: SSAValue, direction: int) -> SSAValue:
        y = self._product(x, self.w)
        if self.bias is None:
            return y
        return self.n.add(ge.Add(y, self.n.build.reshape(self.bias, (self.gates * self.hidden,))))

    def product(self, state: SSAValue, first: int, count: int) -> SSAValue:
        assert count == self.gates
        if self.lengths is not None and self.number is not None:
            # as in ONNX Runtime, what is over counts as 0 in the range of the states
            n = self.n
            before = n.add(ge.Sub(self.number, n.build.scalar(1, self.number)))
            state = n.add(ge.Select(self.alive(before), state, n.build.scalar(0, state)))
        return self._product(state, self.r)

    def _product(self, x: SSAValue, weights: Sequence[SSAValue | None]) -> SSAValue:
        n = self.n
        values, scale, zero_point = weights
        assert values is not None
        assert scale is not None
        a, a_scale, a_zero = dynamically(n, x)
        b = n.build.reshape(values, shape(values)[1:])
        sums = integer_matmul(n, a, b, a_zero, self._parameter(zero_point))
        b_scale = self._parameter(scale)
        assert b_scale is not None
        return n.add(ge.Mul(n.build.cast(sums, f32), n.add(ge.Mul(a_scale, b_scale))))

    def _parameter(self, value: SSAValue | None) -> SSAValue | None:
        """A scale or zero point of one direction: of the whole, or of each column."""
        if value is None:
            return None
        return self.n.build.reshape(value, shape(value)[1:] if rank(value) == 2 else ())


@onnx_op("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(n: Node) -> list[SSAValue | None]:
    """Inputs: X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, W_scale, W_zero_point, R_scale, R_zero_point."""
    hidden = shape(n.input(2))[1]
    w = [n.input(1), n.input(8), n.optional(9)]
    r = [n.input(2), n.input(10), n.optional(11)]

    def layer(functions: Sequence[Activation], directions: Sequence[int], backwards: Sequence[bool]) -> Layer:
        made = QuantisedLstm(n, hidden, GATES, functions, backwards, n.optional(4))
        made.w, made.r = (
            [None if value is None else direction_of(n, value, directions[0]) for value in weights]
            for weights in (w, r)
        )
        if n.has(3):
            add_bias(made, directions_of(n, n.input(3), directions), "LSTM")
        if n.has(7):
            made.constants["peepholes"] = by_direction(made, directions_of(n, n.input(7), directions), 3)
        return made

    # a range is that of one direction
    states = [n.optional(5), n.optional(6)]
    return run_layers(n, "LSTM", hidden, n.input(0), states, layer, apart=True)
