"""RNN, GRU and LSTM as loops over time.

The products of all inputs with W are one product before the loop; a step is a product of the hidden state with R and
work by elements. Both directions of a bidirectional layer are one loop, in which the products are batched: the second
one's inputs are turned round before it, and its outputs behind it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops._activations import Activation, activations
from gecc.frontend.onnx.ops.control import loop
from gecc.frontend.onnx.registry import onnx_op
from gecc.weights import item_bytes

DIRECTIONS = ("forward", "reverse", "bidirectional")
DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}


@dataclass
class Layer:
    """One or both directions of a recurrent layer. Tensors have a leading dimension for directions if there are two.

    `hidden` is the size of the state; `backwards` says of each direction whether time runs backwards.
    """

    n: Node
    hidden: int
    gates: int
    activations: Sequence[Activation]
    backwards: Sequence[bool]
    lengths: SSAValue | None
    steps: int = 0
    batch: int = 0
    bias: SSAValue | None = None
    """What the products with W get added: of all gates."""
    recurrent_bias: SSAValue | None = None
    """What is added in the loop: GRU's, when the reset gate comes after the product."""
    constants: dict[str, SSAValue] = field(default_factory=dict)
    number: SSAValue | None = None
    """That of the iteration, while `step` builds one."""

    @property
    def lead(self) -> list[int]:
        """The leading dimensions of tensors."""
        return [len(self.backwards)] if len(self.backwards) > 1 else []

    def part(self, x: SSAValue, number: int, size: int | None = None) -> SSAValue:
        """Part `number` of the last dimension, cut in parts of `size` (by default that of the state)."""
        size = self.hidden if size is None else size
        axis = rank(x) - 1
        if shape(x)[axis] == size:
            return x
        return self.n.add(ge.Slice(x, [number * size], [(number + 1) * size], [axis], [1]))

    # -- what layers differ in ------------------------------------------------------------------------------------

    @abstractmethod
    def step(self, inputs: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        """The next states, the hidden one first, from the input's share of all gates and the states before."""

    @abstractmethod
    def product(self, state: SSAValue, first: int, count: int) -> SSAValue:
        """`state` times `count` gates of R from number `first` on."""

    @abstractmethod
    def input_products(self, x: SSAValue, direction: int) -> SSAValue:
        """All inputs [steps * batch, size] times W of a direction."""

    # -- what all do ----------------------------------------------------------------------------------------------

    def run(self, x: SSAValue, initial: Sequence[SSAValue], rows: bool) -> tuple[SSAValue | None, list[SSAValue]]:
        """Hidden states of all steps [steps, directions, batch, hidden], if wanted, and the states at the end."""
        n, build = self.n, self.n.build
        inputs = self._all_inputs(x)
        trips = build.const(np.array(self.steps, np.int64))

        def step(
            number: SSAValue, states: Sequence[SSAValue]
        ) -> tuple[SSAValue | None, list[SSAValue], list[SSAValue]]:
            self.number = number
            now = n.add(ge.Gather(inputs, number, axis=0))
            after = self.step(now, states)
            row = after[0]
            if self.lengths is not None:
                alive = self.alive(number)
                row = n.add(ge.Select(alive, row, build.scalar(0, row)))
                after = [n.add(ge.Select(alive, new, old)) for new, old in zip(after, states, strict=True)]
            return None, after, [row]

        ends, [stacked] = loop(n, trips, None, initial, step, [rows])
        return (None if stacked is None else self._all_outputs(stacked)), ends

    def _all_inputs(self, x: SSAValue) -> SSAValue:
        """The share of the input in all gates, in the order of the loop: [steps, (directions,) batch, gates]."""
        build = self.n.build
        flat = build.reshape(x, (self.steps * self.batch, shape(x)[2]))
        parts: list[SSAValue] = []
        for direction, backward in enumerate(self.backwards):
            made = self.input_products(flat, direction)
            made = build.reshape(made, (self.steps, self.batch, self.gates * self.hidden))
            parts.append(self._turned(made) if backward else made)
        return parts[0] if len(parts) == 1 else self._side_by_side(parts)

    def _side_by_side(self, parts: Sequence[SSAValue]) -> SSAValue:
        return self.n.add(ge.Concat([self.n.build.unsqueeze(part, [1]) for part in parts], axis=1))

    def _turned(self, x: SSAValue) -> SSAValue:
        """[steps, batch, ..] with time running backwards; of each batch only the part that is not padding."""
        if self.lengths is not None:
            return self.n.add(ge.ReverseSequence(x, self.lengths, batch_axis=1, time_axis=0))
        return self.n.add(ge.Slice(x, [-1], [-(2**63) + 1], [0], [-1]))

    def _all_outputs(self, rows: SSAValue) -> SSAValue:
        build = self.n.build
        whole = (self.steps, len(self.backwards), self.batch, self.hidden)
        if not any(self.backwards):
            return build.reshape(rows, whole)
        if len(self.backwards) == 1:
            return build.reshape(self._turned(rows), whole)
        parts: list[SSAValue] = []
        for direction, backward in enumerate(self.backwards):
            part = self.n.add(ge.Slice(rows, [direction], [direction + 1], [1], [1]))
            part = build.reshape(part, (self.steps, self.batch, self.hidden))
            parts.append(self._turned(part) if backward else part)
        return self._side_by_side(parts)

    def alive(self, number: SSAValue) -> SSAValue:
        """Which sequences of the batch are not over yet in step `number`: [batch, 1]."""
        assert self.lengths is not None
        lengths = self.n.build.reshape(self.n.build.cast(self.lengths, i64), (self.batch, 1))
        return self.n.add(ge.Less(number, lengths))


def clipped(n: Node, x: SSAValue) -> SSAValue:
    """The input of a gate's activation, within what the attribute `clip` allows. As in ONNX Runtime, LSTM's cell state is
    not clipped before its own activation."""
    limit = n.attr_float("clip", 0.0)
    if limit <= 0:
        return x
    return n.add(ge.ClipByValue(x, n.build.scalar(-limit, x), n.build.scalar(limit, x)))


class Rnn(Layer):
    """`h = f(x W + h R + b)`."""

    def step(self, inputs: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        n = self.n
        total = n.add(ge.Add(self.product(states[0], 0, 1), inputs))
        return [self.activations[0](n, clipped(n, total))]


class Gru(Layer):
    """`z = f(..), r = f(..), c = g(x W + (r h) R + b), h = (1 - z) c + z h`; gates in the order z, r, c."""

    def step(self, inputs: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        n, state = self.n, states[0]
        f, g = self.activations
        later = bool(n.attr_int("linear_before_reset", 0))
        products = self.product(state, 0, 3 if later else 2)
        if later and self.recurrent_bias is not None:
            products = n.add(ge.Add(products, self.recurrent_bias))
        update, reset = (
            f(n, clipped(n, n.add(ge.Add(self.part(products, i), self.part(inputs, i))))) for i in range(2)
        )
        if later:
            share = n.add(ge.Mul(reset, self.part(products, 2)))
        else:
            share = self.product(n.add(ge.Mul(reset, state)), 2, 1)
        fresh = g(n, clipped(n, n.add(ge.Add(share, self.part(inputs, 2)))))
        kept = n.add(ge.Mul(update, state))
        rest = n.add(ge.Sub(n.build.scalar(1, update), update))
        return [n.add(ge.Add(n.add(ge.Mul(rest, fresh)), kept))]


class Lstm(Layer):
    """Gates in the order i, o, f, c; peepholes p in the order i, o, f: `i = f(.. + p c)`, `c' = f c + i g(..)`, `h = o h(c')`."""

    def step(self, inputs: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        n, (state, cell) = self.n, states
        f, g, h = self.activations
        gates = n.add(ge.Add(self.product(state, 0, 4), inputs))

        def gate(number: int, seen: SSAValue) -> SSAValue:
            value = self.part(gates, number)
            if "peepholes" in self.constants:
                share = self.part(self.constants["peepholes"], number)
                value = n.add(ge.Add(value, n.add(ge.Mul(share, seen))))
            return f(n, clipped(n, value))

        enter = gate(0, cell)
        if n.attr_int("input_forget", 0):
            forget = n.add(ge.Sub(n.build.scalar(1, enter), enter))
        else:
            forget = gate(2, cell)
        candidate = g(n, clipped(n, self.part(gates, 3)))
        new = n.add(ge.Add(n.add(ge.Mul(forget, cell)), n.add(ge.Mul(enter, candidate))))
        out = gate(1, new)
        return [n.add(ge.Mul(out, h(n, new))), new]


class RealWeights(Layer):
    """Products of real numbers: `w` [directions, gates * hidden, size], `r` [directions, gates * hidden, hidden]."""

    w: SSAValue
    r: SSAValue

    def input_products(self, x: SSAValue, direction: int) -> SSAValue:
        w = self.n.build.reshape(direction_of(self.n, self.w, direction), shape(self.w)[1:])
        bias = self.bias
        if bias is not None:
            bias = self.n.build.reshape(direction_of(self.n, bias, direction), (self.gates * self.hidden,))
        return self.n.add(ge.MatMulV2(x, w, bias, transpose_x2=True))

    def product(self, state: SSAValue, first: int, count: int) -> SSAValue:
        r = self.r
        if count < self.gates:
            r = self.n.add(ge.Slice(r, [first * self.hidden], [(first + count) * self.hidden], [1], [1]))
        r = self.n.build.reshape(r, (*self.lead, count * self.hidden, self.hidden))
        return self.n.add(ge.MatMulV2(state, r, transpose_x2=True))


class RealRnn(RealWeights, Rnn):
    """RNN of real numbers."""


class RealGru(RealWeights, Gru):
    """GRU of real numbers."""


class RealLstm(RealWeights, Lstm):
    """LSTM of real numbers."""


def direction_of(n: Node, x: SSAValue, direction: int) -> SSAValue:
    """One direction of a tensor whose first dimension they are."""
    return x if shape(x)[0] == 1 else n.add(ge.Slice(x, [direction], [direction + 1], [0], [1]))


def recurrent(n: Node, kind: type[RealRnn | RealGru | RealLstm], op: str, gates: int) -> list[SSAValue | None]:
    """The outputs of a recurrent node of real numbers: Y, Y_h and, of an LSTM, Y_c."""
    wide = [None if i == 4 or value is None else _wide(n, value) for i, value in enumerate(n.inputs)]
    x, w, r = n.input(0), wide[1], wide[2]
    if w is None or r is None:
        n.invalid("input 1 (W) or 2 (R) is missing")
    hidden = shape(r)[2]

    def layer(functions: Sequence[Activation], directions: Sequence[int], backwards: Sequence[bool]) -> Layer:
        made = kind(n, hidden, gates, functions, backwards, n.optional(4))
        made.w, made.r = directions_of(n, w, directions), directions_of(n, r, directions)
        bias = wide[3] if len(wide) > 3 else None
        if bias is not None:
            add_bias(made, directions_of(n, bias, directions), op)
        peepholes = wide[7] if op == "LSTM" and len(wide) > 7 else None
        if peepholes is not None:
            made.constants["peepholes"] = by_direction(made, directions_of(n, peepholes, directions), 3)
        return made

    states = [wide[i] if len(wide) > i else None for i in ((5, 6) if op == "LSTM" else (5,))]
    results = run_layers(n, op, hidden, _wide(n, x), states, layer)
    to = element(x)
    return [None if value is None else n.build.cast(value, to) for value in results]


def _wide(n: Node, x: SSAValue) -> SSAValue:
    """16-bit floats as f32: rounding after each step would add up."""
    return n.build.cast(x, f32) if item_bytes(element(x)) == 2 else x


def directions_of(n: Node, x: SSAValue, directions: Sequence[int]) -> SSAValue:
    return x if len(directions) == shape(x)[0] else direction_of(n, x, directions[0])


def by_direction(layer: Layer, x: SSAValue, parts: int) -> SSAValue:
    """[directions, parts * hidden] so that it meets [(directions,) batch, parts * hidden]."""
    lead = [*layer.lead, 1] if layer.lead else [1]
    return layer.n.build.reshape(x, (*lead, parts * layer.hidden))


def add_bias(layer: Layer, bias: SSAValue, op: str) -> None:
    """Both halves of B, [directions, 2 * gates * hidden], join, but for GRU's product that is reset afterwards."""
    n, size = layer.n, layer.gates * layer.hidden
    ours, theirs = layer.part(bias, 0, size), layer.part(bias, 1, size)
    if op == "GRU" and n.attr_int("linear_before_reset", 0):
        layer.bias = ours
        layer.recurrent_bias = by_direction(layer, theirs, layer.gates)
    else:
        layer.bias = n.add(ge.Add(ours, theirs))


Make = Callable[[Sequence[Activation], Sequence[int], Sequence[bool]], Layer]
"""(activations, directions, of each whether time runs backwards) -> the layer of these directions."""


def run_layers(
    n: Node,
    op: str,
    hidden: int,
    x: SSAValue,
    states: Sequence[SSAValue | None],
    make: Make,
    *,
    apart: bool = False,
) -> list[SSAValue | None]:
    """Run the directions of a node, together if their activations agree, unless they are to be kept `apart`; outputs as
    the node's `layout` wants them."""
    direction = n.attr_str("direction", "forward")
    if direction not in DIRECTIONS:
        n.invalid(f"direction is '{direction}', expected one of {', '.join(DIRECTIONS)}")
    if rank(x) != 3 or -1 in shape(x):
        n.refuse(f"{op} needs an input X of known shape and rank 3", hint="give input shapes")
    build, batchwise = n.build, bool(n.attr_int("layout", 0))
    if batchwise:
        x = build.transpose(x, [1, 0, 2])
    steps, batch, _ = shape(x)
    backwards = [False, True] if direction == "bidirectional" else [direction == "reverse"]
    count = len(DEFAULTS[op])
    functions = activations(n, count * len(backwards), DEFAULTS[op])
    per_direction = [functions[i * count : (i + 1) * count] for i in range(len(backwards))]
    together = not apart and all(each == per_direction[0] for each in per_direction)
    groups = [list(range(len(backwards)))] if together else [[i] for i in range(len(backwards))]
    given = [_initial(n, value, len(backwards), batch, hidden, batchwise, x) for value in states]
    rows: list[SSAValue | None] = []
    ends: list[list[SSAValue]] = []
    for group in groups:
        layer: Layer = make(per_direction[group[0]], group, [backwards[i] for i in group])
        layer.steps, layer.batch = steps, batch
        initial = [build.reshape(directions_of(n, value, group), (*layer.lead, batch, hidden)) for value in given]
        made, last = layer.run(x, initial, n.wants(0))
        rows.append(made)
        ends.append([build.reshape(value, (len(group), batch, hidden)) for value in last])
    y = None if rows[0] is None else _joined(n, rows, 1)
    finals = [_joined(n, column, 0) for column in zip(*ends, strict=True)]
    if batchwise:
        y = None if y is None else build.transpose(y, [2, 0, 1, 3])
        finals = [build.transpose(value, [1, 0, 2]) for value in finals]
    return [y, *finals]


def _joined(n: Node, parts: Sequence[SSAValue | None], axis: int) -> SSAValue:
    values = [part for part in parts if part is not None]
    return values[0] if len(values) == 1 else n.add(ge.Concat(values, axis=axis))


def _initial(
    n: Node, value: SSAValue | None, directions: int, batch: int, hidden: int, batchwise: bool, like: SSAValue
) -> SSAValue:
    """The state before the first step, [directions, batch, hidden]; zeros when none is given."""
    if value is None:
        zero = n.build.scalar(0, like)
        return n.add(ge.Expand(zero, (directions, batch, hidden)))
    return n.build.transpose(value, [1, 0, 2]) if batchwise else value


@onnx_op("RNN")
def rnn(n: Node) -> list[SSAValue | None]:
    """A simple recurrent layer."""
    return recurrent(n, RealRnn, "RNN", 1)


@onnx_op("GRU")
def gru(n: Node) -> list[SSAValue | None]:
    """A layer of gated recurrent units."""
    return recurrent(n, RealGru, "GRU", 3)


@onnx_op("LSTM")
def lstm(n: Node) -> list[SSAValue | None]:
    """A layer of long short-term memories."""
    return recurrent(n, RealLstm, "LSTM", 4)
