"""Concats whose operands are made where they lie in the result, and those that are near it: values, poison, all levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from test.unit.models.harness import Arrays, assert_close, compiled, kernel_names, reference, results

DTYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i8": TensorProto.INT8, "f64": TensorProto.DOUBLE}
NUMPY = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "f64": np.float64}


@dataclass
class Graph:
    """Nodes over named tensors; `inputs` are shapes, `outputs` ranks."""

    inputs: dict[str, tuple[int, ...]]
    outputs: dict[str, int]
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    constants: dict[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])

    def node(self, kind: str, inputs: Sequence[str], outputs: str | Sequence[str], **attributes: Any) -> Graph:
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return self

    def model(self, dtype: str) -> ModelProto:
        element = DTYPES[dtype]
        graph = helper.make_graph(
            self.nodes,
            "joins",
            [helper.make_tensor_value_info(n, element, s) for n, s in self.inputs.items()],
            [helper.make_tensor_value_info(n, element, [f"{n}{i}" for i in range(r)]) for n, r in self.outputs.items()],
            [helper.make_tensor(n, TensorProto.INT64, (len(v),), v) for n, v in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def feeds(self, dtype: str) -> Arrays:
        rng = np.random.default_rng(1)
        kind = NUMPY[dtype]
        if dtype == "i8":
            return {n: rng.integers(-100, 100, s).astype(kind) for n, s in self.inputs.items()}
        return {n: rng.standard_normal(s).astype(kind) for n, s in self.inputs.items()}


def check(graph: Graph, dtype: str, copies: int) -> None:
    """Values at all levels; at the highest one `copies` launches that copy a part."""
    model, feeds = graph.model(dtype), graph.feeds(dtype)
    wanted = reference(model, feeds)
    for level in ("O0", "O1", "O2"):
        made = compiled(model, feeds, level=level)
        assert_close(results(made, feeds), wanted, {"f16": 3e-3, "f64": 1e-12}.get(dtype, 3e-6))
    labels = [node.type for node in made.om.nodes]
    joined = [
        n for i, n in enumerate(made.om.nodes) if n.type == "Concat" and i not in {t.op_index for t in made.om.tasks}
    ]
    assert joined, labels
    assert sum(label == "Concat" for label in labels) - len(joined) == copies, kernel_names(made.om)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8", "f64"])
@pytest.mark.parametrize("sizes", [(31, 17, 63), (64, 128, 32)], ids=["odd", "even"])
def test_parts_of_all_sizes(dtype: str, sizes: tuple[int, ...]) -> None:
    """Three makers, an input between them, and a reader of one part that comes before the others are made."""
    a, b, c = sizes
    g = Graph({"x": (1, a, 9), "y": (1, b, 9), "z": (1, c, 9), "w": (1, 5, 9)}, {"o": 3, "p": 3})
    g.node("Abs", ["x"], "a").node("Mul", ["a", "a"], "early").node("Neg", ["early"], "p")
    g.node("Add", ["y", "y"], "b").node("Sub", ["z", "w0"], "c").node("Split", ["z", "cuts"], ["w0", "w1"], axis=2)
    g.nodes.insert(3, g.nodes.pop())
    g.constants["cuts"] = [1, 8]
    g.node("Concat", ["a", "w", "b", "c"], "j", axis=1).node("Abs", ["j"], "k").node("Add", ["k", "j"], "o")
    check(g, dtype, 1)


def test_the_same_value_twice_and_in_two_joins() -> None:
    g = Graph({"x": (40, 9), "y": (30, 9)}, {"o": 2, "p": 2})
    g.node("Softmax", ["x"], "a", axis=1).node("Softmax", ["y"], "b", axis=1)
    g.node("Concat", ["a", "b", "a"], "j", axis=0).node("Softmax", ["j"], "o", axis=1)
    g.node("Concat", ["b", "a"], "k", axis=0).node("Softmax", ["k"], "p", axis=1)
    check(g, "f32", 3)


def test_a_join_in_a_join_and_reshaped_parts() -> None:
    g = Graph({"x": (40, 9), "y": (60, 6), "z": (36, 10)}, {"o": 2})
    g.node("Softmax", ["x"], "a", axis=1).node("Softmax", ["y"], "b", axis=1).node("Softmax", ["z"], "c", axis=1)
    g.node("Reshape", ["b", "to"], "b9").node("Reshape", ["c", "to"], "c9")
    g.constants["to"] = [-1, 9]
    g.node("Concat", ["a", "b9"], "i", axis=0).node("Softmax", ["i"], "d", axis=0)
    g.node("Concat", ["i", "c9", "d"], "j", axis=0).node("Softmax", ["j"], "o", axis=1)
    check(g, "f32", 0)


def test_a_joined_output_whose_parts_are_read() -> None:
    g = Graph({"x": (40, 9), "y": (30, 9)}, {"j": 2, "p": 2, "b": 2})
    g.node("Softmax", ["x"], "a", axis=1).node("Softmax", ["y"], "b", axis=1)
    g.node("Softmax", ["a"], "c", axis=0).node("Concat", ["a", "b", "c"], "j", axis=0).node("Neg", ["a"], "p")
    check(g, "f32", 1)


def test_parts_of_a_split_and_parts_read_as_panels() -> None:
    """A part of another tensor is copied; a part that a product reads as its right side is packed elsewhere first."""
    g = Graph({"x": (64, 16)}, {"o": 2, "p": 2})
    g.node("Softmax", ["x"], "a", axis=1).node("Split", ["a"], ["u", "v"], axis=0, num_outputs=2)
    g.nodes[-1].attribute.pop()
    g.node("Softmax", ["v"], "w", axis=1).node("MatMul", ["u", "t"], "p").node("Transpose", ["w"], "t")
    g.nodes[-1], g.nodes[-2] = g.nodes[-2], g.nodes[-1]
    g.node("Concat", ["w", "u", "a"], "j", axis=0).node("Softmax", ["j"], "o", axis=1)
    check(g, "f32", 1)
