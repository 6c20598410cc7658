"""Other outputs than the model's own."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

import gecc
from gecc import api
from gecc.errors import CliError, UnsupportedError
from test.unit.tools.models import mlp, model


def split() -> ModelProto:
    """A Split whose parts go different ways, with a name met twice and inputs that only one output needs."""
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b:0"], "parts", axis=1, num_outputs=2),
        helper.make_node("Relu", ["a"], ["c"], "same"),
        helper.make_node("Relu", ["b:0"], ["d"], "same"),
        helper.make_node("Cast", ["c"], ["e"], "to_int", to=TensorProto.INT32),
        helper.make_node("Add", ["d", "z"], ["y"], "sum"),
    ]
    proto = model(nodes, [("x", [2, 6]), ("z", [2, 3])], [("y", [2, 3])], {}, "split")
    proto.opset_import[0].version = 18
    return proto


def expected(proto: ModelProto, names: list[str], feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    copy = ModelProto()
    copy.CopyFrom(proto)
    for number, node in enumerate(copy.graph.node):
        node.name = str(number)  # ONNX Runtime wants them to differ
    del copy.graph.output[:]
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    session = onnxruntime.InferenceSession(copy.SerializeToString(), providers=["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(names, feeds)]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (["to_int:0"], ["e"]),
        (["e"], ["e"]),
        (["parts:1", "parts:0"], ["b:0", "a"]),
        (["b:0"], ["b:0"]),
        (["sum:0", "d", "e"], ["y", "d", "e"]),
    ],
)
@pytest.mark.parametrize("level", ["O0", "O2"])
def test_results(wanted: list[str], names: list[str], level: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 6)).astype(np.float32)
    feeds = {"x": 3 * x, "z": x[:, :3]}
    made = api.compile(split(), outputs=wanted, opt_level=level)
    assert [io.name for io in made.outputs] == names
    assert [io.name for io in made.inputs] == ["x", "z"]  # who feeds the model goes on feeding it
    found = gecc.load(made, threads=1).run(feeds)
    for name, value in zip(names, expected(split(), names, feeds), strict=True):
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def test_nodes_without_a_name_are_called_as_messages_call_them() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    made = api.compile(model(nodes, [("x", [2])], [("y", [2])], {}, "nameless"), outputs=["Relu_0:0"])
    assert [io.name for io in made.outputs] == ["a"]


def test_a_tensor_that_looks_like_an_output_of_nodes() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["n:0"], "n"), helper.make_node("Neg", ["n:0"], ["y"], "n")]
    made = api.compile(model(nodes, [("x", [2])], [("y", [2])], {}, "twice"), outputs=["n:0"])
    assert [io.name for io in made.outputs] == ["n:0"]


def test_what_is_not_needed_goes() -> None:
    whole, part = api.compile(mlp(), opt_level="O0").om, api.compile(mlp(), outputs=["fc1:0"], opt_level="O0").om
    assert len(whole.tasks) == 7 and len(part.tasks) == 1 and part.weights.size < whole.weights.size


def test_a_node_that_cannot_run_behind_the_cut_does_not_matter() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "first"),
        helper.make_node("NoSuchOperator", ["a"], ["y"], "second"),
    ]
    proto = model(nodes, [("x", [2])], [("y", [2])], {}, "half")
    with pytest.raises(UnsupportedError, match="NoSuchOperator"):
        api.compile(proto)
    assert api.compile(proto, outputs=["first:0"]).outputs[0].shape == (2,)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (["sun:0"], ["E10016", "called 'sun:0'", "near it are sum:0"]),
        (["same:0"], ["2 nodes are called 'same'", "name the tensor: c, d"]),
        (["sum"], ["'sum' is a node", "'sum:0' is the first"]),
        (["parts:2"], ["no output of the Split 'parts'", "parts:0, parts:1"]),
        (["x"], ["'x' is not computed by the model"]),
        (["sum:0", "y"], ["'y' is given twice, as 'sum:0' and 'y'"]),
        (["@@@"], ["called '@@@'", "expected node:0, or the name of a tensor"]),
    ],
)
def test_names_that_are_none(wanted: list[str], said: list[str]) -> None:
    with pytest.raises(CliError) as caught:
        api.compile(split(), outputs=wanted)
    assert all(text in str(caught.value) for text in said), caught.value
