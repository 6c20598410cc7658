"""Small ONNX models for tests of the tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

DIGITS = Path(__file__).resolve().parents[2] / "digits" / "digits.onnx"


def weights(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Random f32 of a size that keeps products of them near one."""
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def mlp(batch: int | str = 4, inputs: int = 32, hidden: int = 48) -> ModelProto:
    """Linear, GELU with erf as exporters spell it, Linear."""
    constants = {
        "w1": weights(hidden, inputs),
        "b1": weights(hidden),
        "w2": weights(inputs, hidden),
        "b2": weights(inputs),
        "root": np.array(np.sqrt(2), np.float32),
        "one": np.array(1, np.float32),
        "half": np.array(0.5, np.float32),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], "fc1", transB=1),
        helper.make_node("Div", ["h", "root"], ["d"], "gelu/div"),
        helper.make_node("Erf", ["d"], ["e"], "gelu/erf"),
        helper.make_node("Add", ["e", "one"], ["a"], "gelu/add"),
        helper.make_node("Mul", ["h", "a"], ["m"], "gelu/mul"),
        helper.make_node("Mul", ["m", "half"], ["g"], "gelu/half"),
        helper.make_node("Gemm", ["g", "w2", "b2"], ["y"], "fc2", transB=1),
    ]
    return model(nodes, [("x", [batch, inputs])], [("y", [batch, inputs])], constants, "mlp")


def lookup(rows: int = 7) -> ModelProto:
    """Rows of a table picked by ids, scaled by a mask; two inputs that are no floats."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], "embed"),
        helper.make_node("Cast", ["mask"], ["scale"], "to_float", to=TensorProto.FLOAT),
        helper.make_node("Mul", ["rows", "scale"], ["y"], "apply_mask"),
    ]
    return model(
        nodes,
        [("ids", [5], TensorProto.INT64), ("mask", [5, 1], TensorProto.INT64)],
        [("y", [5, 8])],
        {"table": weights(rows, 8)},
        "lookup",
    )


def unsupported() -> ModelProto:
    """Two nodes that have no native form, and never will."""
    nodes = [
        helper.make_node("RandomUniformLike", ["x"], ["a"], "first_draw"),
        helper.make_node("RandomUniformLike", ["x"], ["b"], "second_draw"),
        helper.make_node("Add", ["a", "b"], ["y"], "sum"),
    ]
    return model(nodes, [("x", [2, 3])], [("y", [2, 3])], {}, "unsupported")


def model(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: dict[str, np.ndarray[Any, Any]], name: str
) -> ModelProto:
    """A model of opset 17; inputs and outputs are (name, shape) or (name, shape, type), f32 by default."""

    def info(name: str, shape: list[int | str], kind: int = TensorProto.FLOAT) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        nodes,
        name,
        [info(*x) for x in inputs],
        [info(*x) for x in outputs],
        [numpy_helper.from_array(array, key) for key, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def save(proto: ModelProto, folder: Path, name: str = "model.onnx") -> str:
    """Write a model; returns its path."""
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return str(path)
