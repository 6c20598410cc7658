"""Shapes and names of inputs and outputs, locations, and the frontend in xDSL's driver."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import NameLoc
from xdsl.dialects.func import FuncOp

from gecc.context import make_context
from gecc.dialects import ge
from gecc.errors import CliError, InvalidModelError, ShapeError
from gecc.frontend.onnx import OnnxFrontend, import_onnx, parse_input_shape, require_static
from test.unit.frontend.cases import floats, imported, model_of


def model() -> ModelProto:
    """y = x + z, z = p q: dimensions named n (twice), open without a name, and known."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "?"])
    p = helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 3])
    q = helper.make_tensor_value_info("q", TensorProto.FLOAT, [3, None])
    nodes = [
        helper.make_node("MatMul", ["p", "q"], ["z"], name="product"),
        helper.make_node("Add", ["x", "z"], ["y"]),
    ]
    return model_of(nodes, [x, p, q], ["y"], 17)


def main_of(**shapes: tuple[int, ...]) -> FuncOp:
    module = import_onnx(make_context(), model(), input_shapes=shapes)
    function = next(iter(module.ops))
    assert isinstance(function, FuncOp)
    return function


def test_open_dimensions_are_named() -> None:
    function = main_of()
    assert [ge.dims(a) for a in function.args] == [(-1, -1), (-1, 3), (3, -1)]
    assert str(function.attributes["ge.input_names"]) == '["x", "p", "q"]'
    assert str(function.attributes["ge.input_dims"]) == '[["n", "?"], ["n", "3"], ["3", "?"]]'
    assert str(function.attributes["ge.output_names"]) == '["y"]'


def test_given_shapes_bind_names_everywhere() -> None:
    function = main_of(p=(5, 3), q=(3, 7))
    assert [ge.dims(a) for a in function.args] == [(5, -1), (5, 3), (3, 7)]
    assert str(function.function_type.outputs.data[0]) == "tensor<5x7xf32>"


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"w": (1,)}, r"no input is called 'w'(.|\n)*the inputs are 'x' \[n, \?\], 'p' \[n, 3\]"),
        ({"p": (1,)}, r"input 'p' has rank 2 \[n, 3\], found the shape \[1\]"),
        ({"p": (1, 4)}, "dimension 1 of input 'p' .* is 3, found 4"),
        ({"p": (2, 3), "x": (4, 1)}, "dimension 'n' is 2 in input 'p' and 4 in input 'x'"),
        ({"p": (-1, 3)}, "dimension 0 of input 'p' is given as -1"),
    ],
)
def test_shapes_that_do_not_fit(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        main_of(**shapes)


def test_require_static_names_what_is_missing() -> None:
    module = import_onnx(make_context(), model(), input_shapes={"q": (3, 7)})
    with pytest.raises(ShapeError) as caught:
        require_static(module)
    text = str(caught.value)
    assert "unknown in input 'x' [n, ?], input 'p' [n, 3]" in text
    assert "--input-shape 'x:n,?;p:n,3;q:3,7'" in text
    require_static(import_onnx(make_context(), model(), input_shapes={"x": (2, 7), "q": (3, 7)}))


def test_parse_input_shape() -> None:
    assert parse_input_shape("x:1,3,48,192;y:2,4") == {"x": (1, 3, 48, 192), "y": (2, 4)}
    assert parse_input_shape("a:b:3; scalar: ;") == {"a:b": (3,), "scalar": ()}
    assert parse_input_shape("") == {}
    for text in ("x", "x:1,b", ":1", "x:1,,2", "x:-1"):
        with pytest.raises(CliError, match="is no input shape"):
            parse_input_shape(text)
    with pytest.raises(CliError, match="given twice"):
        parse_input_shape("x:1;x:2")


def test_locations_name_nodes() -> None:
    module, _ = imported(model(), {"x": floats(2, 4), "p": floats(2, 3), "q": floats(3, 4)})
    names = {op.name: op.location.desc.data for op in module.walk() if isinstance(op.location, NameLoc)}
    assert names["ge.MatMulV2"] == "product"
    assert names["ge.Add"] == "Add_1"
    assert names["func.return"] == "graph"
    assert all(isinstance(op.location, NameLoc) for op in module.walk())


def test_initializers_may_be_inputs_too() -> None:
    """Before IR version 4 every initializer was an input as well; it is a constant all the same."""
    x, w = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xw")
    proto = model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])], [x, w], ["y"], 7, [numpy_helper.from_array(floats(2), "w")]
    )
    module, results = imported(proto, {"x": floats(2)})
    assert '["x"]' in str(module)
    np.testing.assert_array_equal(results["y"], floats(2) * 2)


def test_models_below_opset_7_are_converted() -> None:
    """Opset 6 says by an attribute that w broadcasts, and means one slope per channel in PRelu."""
    sizes = {"x": [2, 3, 3], "w": [3], "s": [3]}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in sizes.items()]
    add = helper.make_node("Add", ["x", "w"], ["z"], name="add", broadcast=1)
    proto = model_of([add, helper.make_node("PRelu", ["z", "s"], ["y"], name="prelu")], infos, ["y"], 6)
    feeds = {name: floats(*shape) for name, shape in sizes.items()}
    module, found = imported(proto, feeds)
    z = feeds["x"] + feeds["w"]
    np.testing.assert_allclose(found["y"], np.where(z < 0, feeds["s"][:, None] * z, z), rtol=1e-6)
    assert {"add", "prelu"} <= {op.location.desc.data for op in module.walk() if isinstance(op.location, NameLoc)}


def test_output_of_a_wrong_type() -> None:
    proto = model()
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
    with pytest.raises(InvalidModelError, match="declares INT32, but the node that makes it gives FLOAT"):
        import_onnx(make_context(), proto)


def test_an_input_may_be_an_output() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    proto = model_of([helper.make_node("Identity", ["x"], ["y"])], [x], ["y"], 17)
    np.testing.assert_array_equal(imported(proto, {"x": floats(2)})[1]["y"], floats(2))


def test_model_functions_are_inlined() -> None:
    proto = model()
    double = helper.make_function(
        "local", "Double", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    proto.functions.append(double)
    proto.opset_import.append(helper.make_opsetid("local", 1))
    proto.graph.node.append(helper.make_node("Double", ["y"], ["twice"], domain="local"))
    proto.graph.output[0].name = "twice"
    feeds = {"x": floats(2, 4), "p": floats(2, 3), "q": floats(3, 4)}
    wanted = 2 * (feeds["x"] + feeds["p"] @ feeds["q"])
    np.testing.assert_allclose(imported(proto, feeds)[1]["twice"], wanted, rtol=1e-5)


def test_frontend_reads_streams_and_files(tmp_path: Path) -> None:
    proto = model()
    frontend = OnnxFrontend(input_shape="x:2,7;q:3,7")
    module = frontend.parse(make_context(), io.BytesIO(proto.SerializeToString()), "stdin")
    require_static(module)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    with path.open("rb") as file:
        assert str(frontend.parse(make_context(), file, str(path))) == str(module)


def test_import_is_deterministic() -> None:
    assert len({str(import_onnx(make_context(), model())) for _ in range(2)}) == 1


def test_a_scalar_may_be_given_as_a_vector_of_one() -> None:
    from gecc import api

    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "k"], ["y"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]),
            helper.make_tensor_value_info("k", TensorProto.FLOAT, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    for shape in ((), (1,)):
        made = api.compile(model, input_shapes={"k": shape})
        assert made.inputs[1].shape == shape
        with api.load(made, threads=1) as executor:
            found = executor.run({"x": np.arange(3, dtype=np.float32), "k": np.full(shape, 2, np.float32)})["y"]
        np.testing.assert_array_equal(found, [0, 2, 4])
    for wrong in ((2,), (1, 1)):
        with pytest.raises(ShapeError, match=r"input 'k' has rank 0 \[\], found the shape"):
            api.compile(model, input_shapes={"k": wrong})
