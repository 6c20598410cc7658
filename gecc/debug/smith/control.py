"""Loops with branches in them, and recurrent layers."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from gecc.debug.smith.graph import F32, Graph
from gecc.debug.smith.oracle import Rejected, Value


def loop(g: Graph) -> None:
    """A Loop of a few iterations that carries one or two values and hands out rows."""
    x = g.floats(1, 4)
    if x.array.size > 1000:
        raise Rejected("too large a value to carry")
    two = g.chance(0.4)
    carried = [x, g.beside(x.shape, x.dtype)] if two else [x]
    trips = g.rng.choice((1, 1, 2, 3, 5))
    body = _body(g, x, len(carried))
    condition = g.constant(np.array(True)) if g.chance(0.5) else None
    count = g.constant(np.array(trips, np.int64))
    g.nodes_of("Loop", count, condition, *carried, count=len(carried) + 1, body=body)


def _body(g: Graph, x: Value, carried: int) -> GraphProto:
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    nodes: list[NodeProto] = [
        helper.make_node("Identity", ["go"], ["go_on"]),
        helper.make_node("Cast", ["i"], ["f"], to=kind),
        _number("k", g.rng.choice((0.5, 0.75, -0.5)), x),
    ]
    value = "u0"
    for step in range(g.rng.randint(1, 4)):
        name = f"s{step}"
        other = g.rng.choice(["k", "f", "u0", f"u{carried - 1}"])
        match g.rng.randrange(5):
            case 0:
                nodes.append(helper.make_node("Tanh", [value], [name]))
            case 1:
                nodes.append(helper.make_node("Mul", [value, "k"], [name]))
            case 2:
                nodes.append(helper.make_node("Add", [value, other], [name]))
            case 3:  # a difference may cancel, and amplify roundings that the oracle does not see
                nodes.append(helper.make_node("Max", [other, value], [name]))
            case _:
                nodes += _branch(name, value, x)
        value = name
    # the first becomes what was computed, the second what the first was
    later = [value, "u0"][:carried]
    nodes += [helper.make_node("Identity", [name], [f"n{i}"]) for i, name in enumerate(later)]
    nodes.append(helper.make_node("Sigmoid", [g.rng.choice([value, "u0"])], ["row"]))
    scalar = helper.make_tensor_value_info
    return helper.make_graph(
        nodes,
        "body",
        [
            scalar("i", TensorProto.INT64, []),
            scalar("go", TensorProto.BOOL, []),
            *(scalar(f"u{i}", kind, x.shape) for i in range(carried)),
        ],
        [
            scalar("go_on", TensorProto.BOOL, []),
            *(scalar(f"n{i}", kind, x.shape) for i in range(carried)),
            scalar("row", kind, x.shape),
        ],
    )


def _branch(name: str, value: str, x: Value) -> list[NodeProto]:
    """Even iterations go one way, odd ones the other."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    branches = [
        helper.make_graph(nodes, label, [], [helper.make_tensor_value_info(f"{name}_{label}", kind, x.shape)])
        for label, nodes in (
            ("then", [helper.make_node("Mul", [value, "k"], [f"{name}_then"])]),
            ("else", [helper.make_node("Add", [value, "f"], [f"{name}_else"])]),
        )
    ]
    two = numpy_helper.from_array(np.array(2, np.int64))
    zero = numpy_helper.from_array(np.array(0, np.int64))
    return [
        helper.make_node("Constant", [], [f"{name}_two"], value=two),
        helper.make_node("Constant", [], [f"{name}_zero"], value=zero),
        helper.make_node("Mod", ["i", f"{name}_two"], [f"{name}_rest"]),
        helper.make_node("Equal", [f"{name}_rest", f"{name}_zero"], [f"{name}_even"]),
        helper.make_node("If", [f"{name}_even"], [name], then_branch=branches[0], else_branch=branches[1]),
    ]


def _number(name: str, number: float, x: Value) -> NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(number, x.dtype)))


def recurrent(g: Graph) -> None:
    """An RNN, a GRU or an LSTM."""
    op, gates = g.rng.choice((("RNN", 1), ("GRU", 3), ("LSTM", 4), ("LSTM", 4)))
    steps, batch, size = g.rng.randint(1, 6), g.rng.choice((1, 1, 2, 3)), g.rng.choice((1, 2, 5, 8))
    hidden = g.rng.choice((1, 3, 4, 8, 13, 17))
    direction = g.rng.choice(("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1

    def maybe(*shape: int) -> Value | None:
        return g.fresh(shape, F32, low=-1, high=1) if g.chance(0.5) else None

    x = g.beside((steps, batch, size), F32)
    w = g.fresh((directions, gates * hidden, size), F32, low=-1, high=1)
    r = g.fresh((directions, gates * hidden, hidden), F32, low=-1, high=1)
    operands = [x, w, r, maybe(directions, 2 * gates * hidden), None, maybe(directions, batch, hidden)]
    if op == "LSTM":
        operands += [maybe(directions, batch, hidden), maybe(directions, 3 * hidden)]
    later = g.rng.randrange(2) if op == "GRU" else None
    g.nodes_of(
        op,
        *operands,
        count=3 if op == "LSTM" else 2,
        hidden_size=hidden,
        direction=direction,
        linear_before_reset=later,
    )
