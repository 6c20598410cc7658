"""Models that cannot be imported: what the errors say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from gecc import api
from gecc.context import make_context
from gecc.errors import InvalidModelError, ShapeError, UnsupportedError
from gecc.frontend.onnx import import_onnx, load_model
from test.unit.frontend.cases import Case, Fixed, assert_close, expected, fixed, floats, imported, model_of

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])


def chain(*nodes: onnx.NodeProto, opset: int = 17, outputs: tuple[str, ...] = ("y",)) -> ModelProto:
    return model_of(list(nodes), [X], outputs, opset)


def node(op: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def test_one_report_lists_every_node() -> None:
    """Two unknown operators and one refused attribute, the last two behind the first: all are named."""
    model = chain(
        node("RandomNormalLike", "x", "a", "first"),
        node("Relu", "a", "b"),
        node("RandomUniformLike", "b", "c"),
        node("Unsqueeze", "c axes", "d"),
        node("Unsqueeze", "d axes", "e"),
        node("AveragePool", "e", "y", "last", kernel_shape=[1, 1], pads=[1, 1, 1, 1]),
    )
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "axes"))
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(make_context(), model)
    text = str(caught.value)
    assert text.startswith("3 parts of the model cannot be compiled:")
    assert "RandomNormalLike 'first' (node 0, opset 17): operator ai.onnx::RandomNormalLike of opset 17 is not" in text
    assert "inputs x: f32[?, 4]" in text
    assert "RandomUniformLike 'RandomUniformLike_2' (node 2, opset 17)" in text
    assert "AveragePool 'last' (node 5, opset 17)" in text


def test_refused_attributes_name_rule_and_hint() -> None:
    model = Case("Dropout", 13, [floats(3), Fixed(np.float32(0.5)), Fixed(np.bool_(True))]).model()
    with pytest.raises(UnsupportedError, match=r"training mode is not supported(.|\n)*hint: export the model"):
        import_onnx(make_context(), model)


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        (Case("MaxPool", 12, [floats(1, 2, 4, 4)], {"kernel_shape": [2, 2], "pads": [2, 0, 0, 0]}), "not smaller"),
        (
            Case(
                "Resize",
                11,
                [floats(1, 1, 2, 2), Fixed(np.zeros(0, np.float32)), fixed(1, 1, 2, 2, dtype=np.float32)],
                {"mode": "linear", "coordinate_transformation_mode": "tf_half_pixel_for_nn"},
            ),
            "tf_half_pixel_for_nn",
        ),
        (Case("Cast", 19, [floats(3)], {"to": TensorProto.COMPLEX64}), "COMPLEX64 is not supported"),
        (Case("ReduceSum", 13, [floats(2, 3), np.array([1])]), r"axes \(input 1\) must be constant"),
        (Case("Dropout", 13, [floats(3), Fixed(np.float32(0.5)), Fixed(np.bool_(True))]), "training mode"),
    ],
    ids=lambda v: v.id if isinstance(v, Case) else "",
)
def test_refusals(case: Case, rule: str) -> None:
    with pytest.raises(UnsupportedError, match=rule):
        import_onnx(make_context(), case.model())


def test_refusals_in_subgraphs_name_both_nodes() -> None:
    branch = helper.make_graph(
        [helper.make_node("NonZero", ["x"], ["z"], name="inner")],
        "branch",
        [],
        [helper.make_tensor_value_info("z", TensorProto.INT64, [2, "n"])],
    )
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    choose = helper.make_node("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch)
    with pytest.raises(UnsupportedError, match=r"If 'choose' \(node 0, opset 17\): its subgraph's NonZero 'inner'"):
        import_onnx(make_context(), model_of([choose], [X, condition], ["y"], 17))


def test_strings_and_sequences_are_reported_by_input() -> None:
    text = helper.make_tensor_value_info("s", TensorProto.STRING, [2])
    model = model_of([helper.make_node("Identity", ["s"], ["y"])], [text], ["y"], 17)
    with pytest.raises(UnsupportedError, match="input 's': element type STRING is not supported"):
        import_onnx(make_context(), model)


def test_opsets_out_of_range() -> None:
    model = chain(node("Relu", "x", "y"))
    model.opset_import[0].version = 999
    with pytest.raises(UnsupportedError, match=r"opset 999(.|\n)*install a newer onnx"):
        load_model(model)


def test_operator_unknown_to_the_standard() -> None:
    model = chain(node("Relu", "x", "y"))
    model.graph.node[0].op_type = "ScaledRelu"
    with pytest.raises(UnsupportedError, match="no operator ScaledRelu at opset 17"):
        import_onnx(make_context(), model)


@pytest.mark.parametrize("data", [b"", b"not a model", b"\x08\x07"], ids=["empty", "text", "no-graph"])
def test_no_model(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(InvalidModelError, match=r"not an ONNX model(.|\n)*m.onnx"):
        load_model(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidModelError, match="cannot read the model: No such file"):
        load_model(tmp_path / "none.onnx")


def test_checker_errors_name_the_model() -> None:
    model = chain(node("Relu", "x", "y"))
    model.graph.node[0].input[0] = "nowhere"
    with pytest.raises(InvalidModelError, match=r"breaks the ONNX standard(.|\n)*nowhere(.|\n)*in <ModelProto>"):
        load_model(model)


def test_element_types_are_checked() -> None:
    model = chain(node("Relu", "x", "a"), node("Add", "a k", "y"))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "k"))
    with pytest.raises(InvalidModelError, match=r"input 1 \(B\) is tensor\(int64\), but input 0 is tensor\(float\)"):
        import_onnx(make_context(), model)


def test_contradicting_shapes() -> None:
    model = chain(node("Relu", "x", "a"), node("MatMul", "a k", "y", "product"))
    model.graph.initializer.append(numpy_helper.from_array(floats(5, 2), "k"))
    with pytest.raises(InvalidModelError) as caught:
        import_onnx(make_context(), model)
    text = str(caught.value)
    assert "inner dimensions differ" in text
    assert "a: f32[?, 4], k: f32[5, 2]" in text
    assert "MatMul 'product' (node 1, opset 17)" in text


def test_contradicting_shapes_after_input_shapes() -> None:
    y = helper.make_tensor_value_info("b", TensorProto.FLOAT, ["n"])
    model = model_of(
        [helper.make_node("Add", ["a", "b"], ["y"])], [helper.make_tensor_value_info("a", 1, ["m"]), y], ["y"], 17
    )
    with pytest.raises(ShapeError, match=r"do not broadcast(.|\n)*hint: the input shapes given are a: \[2\]; b: \[3\]"):
        import_onnx(make_context(), model, input_shapes={"a": (2,), "b": (3,)})


def test_only_what_outputs_need_is_imported() -> None:
    module, _ = imported(chain(node("Tan", "x", "unused"), node("Relu", "x", "y")), {"x": floats(2, 4)})
    assert "ge.Relu" in str(module)


def test_nodes_out_of_order_are_sorted() -> None:
    model = chain(node("Relu", "x", "a"), node("Neg", "a", "b"), node("Abs", "b", "y"))
    ordered = ModelProto()
    ordered.CopyFrom(model)
    model.graph.node.reverse()  # pyright: ignore[reportAttributeAccessIssue]
    assert [n.op_type for n in load_model(model).graph.node] == ["Relu", "Neg", "Abs"]
    assert_close(imported(model, {"x": floats(2, 4)})[1], expected(ordered, {"x": floats(2, 4)}), 1e-6)


def test_cycles_are_named() -> None:
    model = chain(node("Relu", "x", "a"), node("Add", "a y", "b", "one"), node("Abs", "b", "y", "two"))
    with pytest.raises(InvalidModelError, match=r"cycle among Add 'one' \(node 1\), Abs 'two' \(node 2\)"):
        load_model(model)


# -- external data ----------------------------------------------------------------------------------------------------


def external(folder: Path, location: str = "weights.bin") -> Path:
    """A model `y = x + w` in `folder` whose w lies in weights.bin; its entry says `location`."""
    folder.mkdir(exist_ok=True)
    model = chain(node("Add", "x w", "y"))
    model.graph.initializer.append(numpy_helper.from_array(np.arange(400, dtype=np.float32)[:4], "w"))
    path = folder / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    stored = onnx.load(path, load_external_data=False)
    stored.graph.initializer[0].external_data[0].value = location
    path.write_bytes(stored.SerializeToString())
    return path


def test_external_data_is_mapped(tmp_path: Path) -> None:
    path = external(tmp_path)
    ctx = make_context()
    assert "ge.Add" in str(import_onnx(ctx, path))
    model = load_model(path)
    array = model.array(model.graph.initializer[0])
    np.testing.assert_array_equal(array, np.arange(4, dtype=np.float32))
    base = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_external_data_of_a_proto_needs_a_folder(tmp_path: Path) -> None:
    proto = onnx.load(external(tmp_path), load_external_data=False)
    with pytest.raises(InvalidModelError, match=r"no folder is known(.|\n)*hint: load the model from its file"):
        load_model(proto)
    model = load_model(proto, folder=tmp_path)
    np.testing.assert_array_equal(model.array(model.graph.initializer[0]), np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("location", ["../outside/weights.bin", "/etc/hostname", "a/../../outside/weights.bin", ""])
def test_external_data_may_not_leave_the_folder(tmp_path: Path, location: str) -> None:
    external(tmp_path / "outside")
    path = external(tmp_path / "inside", location)
    with pytest.raises(InvalidModelError, match="expected a relative path without"):
        load_model(path)


def test_external_data_may_not_follow_links_out(tmp_path: Path) -> None:
    external(tmp_path / "outside")
    path = external(tmp_path / "inside", "link.bin")
    (tmp_path / "inside" / "link.bin").symlink_to(tmp_path / "outside" / "weights.bin")
    with pytest.raises(InvalidModelError, match="a link leads out of the model's folder"):
        load_model(path)
    (tmp_path / "inside" / "link.bin").unlink()
    os.link(tmp_path / "outside" / "weights.bin", tmp_path / "inside" / "link.bin")
    with pytest.raises(InvalidModelError, match="2 hard links"):
        load_model(path)


def test_external_data_may_not_follow_a_folder_out(tmp_path: Path) -> None:
    external(tmp_path / "outside")
    path = external(tmp_path / "inside", "sub/weights.bin")
    (tmp_path / "inside" / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(InvalidModelError, match="a link leads out"):
        load_model(path)


def test_external_data_must_fit(tmp_path: Path) -> None:
    path = external(tmp_path)
    os.truncate(tmp_path / "weights.bin", 8)
    with pytest.raises(InvalidModelError, match=r"bytes 0..16 lie beyond the file's 8"):
        load_model(path)


def test_all_operators_that_the_standard_has_not_are_named() -> None:
    nodes = [
        helper.make_node("FooBar", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "between"),
        helper.make_node("BarFoo", ["b"], ["y"], "second"),
    ]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("y", 1, [2])
    graph = helper.make_graph(nodes, "g", [info[0]], [info[1]])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    report, error = api.check(proto)
    assert error is not None and "2 parts of the model" in str(error) and "@gecc.custom_op" in str(error)
    refused = {p.name: p.reason for p in report.placements if p.engine == "nowhere"}
    assert refused == {
        "first": "the ONNX standard has no operator FooBar at opset 17",
        "second": "the ONNX standard has no operator BarFoo at opset 17",
    }
