"""Operators that users add: decomposed and compiled, or run on the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import gecc
import gecc.errors
from gecc.dialects import ge
from gecc.errors import InputError, OmError, UnsupportedError
from gecc.runtime.custom import REGISTRY, forget

NAME = "acme::Scale"
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    forget(NAME)
    assert not REGISTRY


def model(outputs: Any = None, **attributes: Any) -> ModelProto:
    """relu(scale(x))."""
    nodes = [
        helper.make_node("Scale", ["x"], ["s"], name="scale", domain="acme", **attributes),
        helper.make_node("Relu", ["s"], ["y"], name="relu"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, outputs or [2, 3])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("acme", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets)


def run(made: gecc.Model) -> Any:
    with gecc.load(made, threads=1) as executor:
        return executor.run({"x": X})["y"]


def test_a_decomposition_is_compiled() -> None:
    @gecc.custom_op(NAME)
    class Scale:
        @staticmethod
        def decompose(node: Any) -> Any:
            x = node.input(0)
            return node.add(ge.Mul(x, node.build.scalar(node.attr_float("factor"), x)))

    assert Scale.decompose
    made = gecc.compile(model(factor=-2.0), host="forbid")
    assert made.report is not None and not made.report.host
    np.testing.assert_array_equal(run(made), np.maximum(X * -2, 0))


def test_numpy_runs_on_the_host_between_native_operators(tmp_path: Path) -> None:
    @gecc.custom_op(NAME)
    class Scale:
        @staticmethod
        def infer(x: Any, *, factor: float, mode: str) -> Any:
            assert x == (np.dtype(np.float32), (2, 3)) and mode == "plain"
            return [x]

        @staticmethod
        def compute(x: Any, *, factor: float, mode: str) -> Any:
            assert mode == "plain"
            return x * np.float32(factor)

    assert Scale.infer
    made = gecc.compile(model(factor=3.0, mode="plain"))
    assert made.report is not None
    assert [(p.engine, p.op_type) for p in made.report.placements] == [("host", "Scale"), ("native", "Relu")]
    assert made.report.placements[0].reason == "it is registered with a numpy implementation alone"
    np.testing.assert_array_equal(run(made), np.maximum(X * 3, 0))
    with pytest.raises(UnsupportedError, match="numpy implementation alone"):
        gecc.compile(model(factor=3.0, mode="plain"), host="forbid")
    made.save(tmp_path / "a.om")
    forget(NAME)
    with pytest.raises(OmError, match=r"does not take the program(.|\n)*'scale'(.|\n)*@gecc.custom_op"):
        gecc.load(tmp_path / "a.om")


def test_what_infer_tells_wrong_is_said() -> None:
    @gecc.custom_op(NAME)
    class Scale:
        @staticmethod
        def infer(x: Any, *, many: int) -> Any:
            return [x] * many

        @staticmethod
        def compute(x: Any, *, many: int) -> Any:
            return x[:1]

    assert Scale.infer
    with pytest.raises(UnsupportedError, match="tells 2 types, the node has 1 outputs"):
        gecc.compile(model(many=2))
    with pytest.raises(gecc.errors.GeccError, match=r"output 0 is float32\[1, 3\], expected float32\[2, 3\]"):
        run(gecc.compile(model(many=1)))


def test_without_infer_results_are_objects() -> None:
    """The element type is told by a run on zeros; the shape may be any, so what follows runs on the host as well."""

    @gecc.custom_op(NAME)
    class Scale:
        @staticmethod
        def compute(x: Any) -> Any:
            return x[: int(x[0, 0])]

    assert Scale.compute
    made = gecc.compile(model(["n", 3]))
    assert made.report is not None and [p.engine for p in made.report.placements] == ["host", "host"]
    np.testing.assert_array_equal(run(made), np.maximum(X[:1], 0))


def test_without_infer_a_type_that_zeros_do_not_tell_is_asked_for() -> None:
    @gecc.custom_op(NAME)
    class Scale:
        @staticmethod
        def compute(x: Any) -> Any:
            raise ValueError("no zeros")

    assert Scale.compute
    with pytest.raises(UnsupportedError, match=r"tell the type of output 's'(.|\n)*give the operator a function infer"):
        gecc.compile(model())


@pytest.mark.parametrize(
    ("name", "said"),
    [("Scale", "expected domain::Name"), ("ai.onnx.ml::Scale", "belongs to the standard"), ("::Scale", "no operator")],
)
def test_names(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        gecc.custom_op(name)


def test_what_is_registered() -> None:
    with pytest.raises(InputError, match="no function decompose and no function compute"):
        gecc.custom_op(NAME)(type("Scale", (), {}))
    whole = type("Scale", (), {"compute": staticmethod(lambda x: x)})
    assert gecc.custom_op(NAME)(whole) is whole
    with pytest.raises(InputError, match="registered already"):
        gecc.custom_op(NAME)(whole)
