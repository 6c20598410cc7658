"""QuantizeLinear of a Softmax of dequantised bytes: as ONNX Runtime computes it on bytes; near misses as the standard says."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

from gecc import api


def chain(x_type: type, y_type: type, scale: float, *, per_axis: bool = False, between: str = "Softmax") -> ModelProto:
    """y = QuantizeLinear(between(DequantizeLinear(x)))."""
    x_scale = np.full(12, 0.04, np.float32) if per_axis else np.float32(0.04)
    x_zero = np.full(12, 3, x_type) if per_axis else np.asarray(3, x_type)
    y_zero = np.asarray(np.iinfo(y_type).min, y_type)
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["r"], axis=1),
        helper.make_node(between, ["r"], ["s"]),
        helper.make_node("QuantizeLinear", ["s", "ys", "yz"], ["y"]),
    ]
    constants = {"xs": x_scale, "xz": x_zero, "ys": np.float32(scale), "yz": y_zero}
    kind = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind(np.dtype(x_type)), [9, 12])],
        [helper.make_tensor_value_info("y", kind(np.dtype(y_type)), [9, 12])],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def values(x_type: type) -> np.ndarray:
    info = np.iinfo(x_type)
    return np.random.default_rng(0).integers(info.min, info.max, (9, 12), endpoint=True).astype(x_type)


def run(model: ModelProto, x: np.ndarray) -> np.ndarray:
    with api.load(api.compile(model), threads=1) as executor:
        return executor.run({"x": x})["y"]


def runtime(model: ModelProto, x: np.ndarray, level: str) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


@pytest.mark.parametrize("scale", [1 / 255, 1 / 256, 1 / 128, 0.0042])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_bytes_at_both_ends(kind: type, scale: float) -> None:
    model, x = chain(kind, kind, scale), values(kind)
    np.testing.assert_array_equal(run(model, x), runtime(model, x, "ORT_ENABLE_ALL"))


@pytest.mark.parametrize(
    "model",
    [
        chain(np.int8, np.uint8, 1 / 255),
        chain(np.uint8, np.uint8, 1 / 255, per_axis=True),
        chain(np.uint8, np.uint8, 1 / 255, between="Sigmoid"),
    ],
    ids=["types-differ", "per-axis", "another-operator"],
)
def test_near_misses_divide_by_the_scale(model: ModelProto) -> None:
    x = values(np.int8 if model.graph.input[0].type.tensor_type.elem_type == 3 else np.uint8)
    np.testing.assert_allclose(
        run(model, x).astype(int), runtime(model, x, "ORT_DISABLE_ALL").astype(int), rtol=0, atol=0
    )
