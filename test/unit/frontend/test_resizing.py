"""Other sizes than those that a model fixes."""

from __future__ import annotations

import onnx

from gecc.frontend.onnx import load_model
from gecc.frontend.onnx.resizing import Resized, with_input_shapes
from test.unit.tools.models import mlp


def dims(info: onnx.ValueInfoProto) -> list[int | str]:
    shape = info.type.tensor_type.shape
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in shape.dim]


def test_sizes_are_changed_in_a_copy() -> None:
    model = load_model(onnx.shape_inference.infer_shapes(mlp(4)))
    assert len(model.graph.value_info) == 6
    changed, what = with_input_shapes(model, {"x": (9, 32)})
    assert what == [Resized("x", 0, 4, 9)]
    assert dims(changed.graph.input[0]) == [9, 32] and dims(model.graph.input[0]) == [4, 32]
    assert not any(
        info.type.tensor_type.HasField("shape") for info in (*changed.graph.value_info, *changed.graph.output)
    )
    assert all(info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT for info in changed.graph.value_info)
    assert changed.graph.node == model.graph.node and changed.opsets == model.opsets


def test_a_size_may_be_opened() -> None:
    changed, what = with_input_shapes(load_model(mlp(4)), {"x": (-1, 32)})
    assert what == [Resized("x", 0, 4, -1)] and dims(changed.graph.input[0]) == ["?", 32]


def test_nothing_to_change() -> None:
    model = load_model(mlp("batch"))
    for shapes in ({}, {"x": (3, 32)}, {"x": (3, 32, 1)}, {"no such input": (3,)}):
        assert with_input_shapes(model, shapes) == (model, [])
    assert load_model(model) is model
