"""Operators that the reference implementation lacks, against ONNX Runtime where that has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

import gecc

RNG = np.random.default_rng(5)


def model(op: str, inputs: Any, outputs: Any, domain: str = "", opset: int = 18, **attributes: Any) -> ModelProto:
    names = [[i.name for i in infos] for infos in (inputs, outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, *names, domain=domain, name=op, **attributes)], "g", inputs, outputs
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def tensor(name: str, kind: int, shape: Any) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def both(proto: ModelProto, feeds: dict[str, Any]) -> tuple[Any, Any]:
    """What gecc and ONNX Runtime give."""
    with gecc.load(gecc.compile(proto), threads=1) as executor:
        found = next(iter(executor.run(feeds).values()))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return found, session.run(None, feeds)[0]


@pytest.mark.parametrize("labels", [{"classlabels_strings": ["a", "b", "c"]}, {"classlabels_int64s": [5, -1, 7]}])
def test_zip_map(labels: dict[str, Any]) -> None:
    key = TensorProto.STRING if "classlabels_strings" in labels else TensorProto.INT64
    kind = helper.make_sequence_type_proto(
        helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    )
    x = RNG.random((4, 3)).astype(np.float32)
    proto = model(
        "ZipMap", [tensor("x", TensorProto.FLOAT, [4, 3])], [helper.make_value_info("y", kind)], "ai.onnx.ml", **labels
    )
    found, expected = both(proto, {"x": x})
    for a, b in zip(found, expected, strict=True):
        assert {k: float(v) for k, v in a.items()} == pytest.approx(b)


def test_category_mapper() -> None:
    lists = {"cats_int64s": [3, 1, 4], "cats_strings": ["x", "y", "z"], "default_int64": -7, "default_string": "?"}
    numbers = model(
        "CategoryMapper", [tensor("s", TensorProto.STRING, [2, 2])], [tensor("y", TensorProto.INT64, [2, 2])],
        "ai.onnx.ml", **lists,
    )  # fmt: skip
    found, expected = both(numbers, {"s": np.array([["x", "q"], ["z", "y"]], object)})
    assert found.tolist() == expected.tolist() == [[3, -7], [4, 1]]
    texts = model(
        "CategoryMapper", [tensor("n", TensorProto.INT64, [3])], [tensor("y", TensorProto.STRING, [3])],
        "ai.onnx.ml", **lists,
    )  # fmt: skip
    found, expected = both(texts, {"n": np.array([1, 2, 3])})
    assert found.tolist() == expected.tolist() == ["y", "?", "x"]


@pytest.mark.parametrize("attributes", [{}, {"map_form": "SPARSE", "max_map": 6, "cast_to": "TO_INT64"}])
def test_cast_map(attributes: dict[str, Any]) -> None:
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    output = TensorProto.INT64 if attributes else TensorProto.FLOAT
    proto = model(
        "CastMap", [helper.make_value_info("m", kind)], [tensor("y", output, [1, "n"])], "ai.onnx.ml", **attributes
    )
    found, expected = both(proto, {"m": {4: 2.0, 1: 7.0}})
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


@pytest.mark.parametrize(("scale", "shape"), [(1.0, [2, 3]), (0.5, [3, 3]), (0.0625, [1, 1])])
def test_max_roi_pool(scale: float, shape: list[int]) -> None:
    x = RNG.standard_normal((2, 3, 9, 11)).astype(np.float32)
    rois = np.array(
        [[0, 0, 0, 10, 8], [1, 3, 2, 5, 7], [1, 4, 4, 4, 4], [0, 6, 5, 20, 30], [0, 1.5, 2.5, 7.4, 6.6]], np.float32
    )
    proto = model(
        "MaxRoiPool",
        [tensor("x", TensorProto.FLOAT, x.shape), tensor("r", TensorProto.FLOAT, rois.shape)],
        [tensor("y", TensorProto.FLOAT, [5, 3, *shape])],
        pooled_shape=shape,
        spatial_scale=scale,
    )
    found, expected = both(proto, {"x": x, "r": rois})
    np.testing.assert_array_equal(found, expected)


def test_multinomial_draws_by_probability_and_seed() -> None:
    x = np.log(np.array([[0.1, 0.2, 0.7], [1.0, 1e-30, 1e-30]], np.float32))
    proto = model(
        "Multinomial", [tensor("x", TensorProto.FLOAT, [2, 3])], [tensor("y", TensorProto.INT64, [2, 4000])],
        dtype=TensorProto.INT64, sample_size=4000, seed=3.0,
    )  # fmt: skip
    with gecc.load(gecc.compile(proto), threads=1) as executor:
        first, second = (executor.run({"x": x})["y"] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.int64 and first.shape == (2, 4000)
    np.testing.assert_allclose(np.bincount(first[0], minlength=3) / 4000, [0.1, 0.2, 0.7], atol=0.04)
    assert not first[1].any()
