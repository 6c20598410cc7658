"""Models that were wrong once, as `python -m gecc.debug.smith` found and shrank them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto
from onnx.helper import make_graph, make_node, make_tensor_value_info
from onnx.numpy_helper import from_array

from gecc import api
from gecc.debug.smith.check import LEVELS, failure
from gecc.debug.smith.graph import make_model
from gecc.debug.smith.oracle import Array
from gecc.debug.smith.shrink import Case

FLOAT = TensorProto.FLOAT


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    """Different numbers around zero."""
    return np.random.default_rng(7).uniform(-2, 2, shape).astype(dtype)


def check(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    *,
    outputs: Sequence[str] = ("y",),
    opset: int = 21,
) -> None:
    """Compile at every level, run and compare with the oracle."""
    case = Case(opset, tuple(nodes), tuple(outputs), dict(inputs), dict(constants or {}))
    failed = failure(case.model(), case.feeds, case.values())
    assert failed is None, str(failed)


def test_small_constant_that_changes_layout() -> None:
    """A constant below the size of weights was stored in logical order, whatever its layout."""
    node = make_node("Conv", ["x", "w"], ["y"], group=7, kernel_shape=[2], pads=[1, 1])
    check([node], {"w": numbers(7, 1, 2)}, {"x": numbers(1, 7, 2)})


def test_defaults_of_float_attributes_are_f32() -> None:
    """0.2 as an f64 is not what the standard's FLOAT attribute holds."""
    check([make_node("HardSigmoid", ["x"], ["y"])], {"x": numbers(5, dtype=np.float64)})


@pytest.mark.parametrize(
    ("node", "strides"), [("Conv", [1, 1]), ("Conv", [3, 1]), ("MaxPool", [1, 1]), ("AveragePool", [1, 1])]
)
def test_no_window_fits(node: str, strides: list[int]) -> None:
    """A window that is one larger than the input gives nothing, which is a result."""
    inputs = {"x": numbers(2, 4, 2, 5)} | ({"w": numbers(3, 4, 3, 2)} if node == "Conv" else {})
    check([make_node(node, list(inputs), ["y"], kernel_shape=[3, 2], strides=strides)], inputs)


def test_reflection_of_nothing_by_nothing() -> None:
    pads = {"pads": np.array([0, 1, 0, 2])}
    check([make_node("Pad", ["x", "pads"], ["y"], mode="reflect")], {"x": numbers(0, 6)}, pads)


@pytest.mark.parametrize("constant", [False, True])
def test_means_of_nothing(constant: bool) -> None:
    """They are NaN; folding them warned. Oracles do not agree, so that nothing is compared with them."""
    x = {"x": numbers(2, 3, 0)}
    nodes = [
        make_node("ReduceMean", ["x"], ["y"], axes=[2], keepdims=0),
        make_node("GlobalAveragePool", ["x"], ["pool"]),
    ]
    outputs = [make_tensor_value_info("y", FLOAT, [2, 3]), make_tensor_value_info("pool", FLOAT, [2, 3, 1])]
    inputs = [] if constant else [make_tensor_value_info("x", FLOAT, [2, 3, 0])]
    graph = make_graph(nodes, "nothing", inputs, outputs, [from_array(x["x"], "x")] if constant else [])
    for level in LEVELS:
        with api.load(api.compile(make_model(graph, 17), opt_level=level), threads=1) as executor:
            results = executor.run({} if constant else x)
        assert all(np.isnan(a).all() and a.size == 6 for a in results.values())


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_hardmax_of_nothing(constant: bool, shape: tuple[int, ...]) -> None:
    x = {"x": numbers(*shape)}
    check([make_node("Hardmax", ["x"], ["y"])], {} if constant else x, x if constant else {})


@pytest.mark.parametrize("constant", [False, True])
def test_extremes_of_nothing(constant: bool) -> None:
    x = {"x": numbers(0, 2, 0)}
    check([make_node("ArgMin", ["x"], ["y"], axis=2)], {} if constant else x, x if constant else {})


def test_elements_gathered_from_a_part_of_the_other_dimensions() -> None:
    """Small integers are followed as shapes are, also through indices with fewer rows than the data."""
    indices = np.random.default_rng(0).integers(0, 7, (3, 2, 2))
    x = np.random.default_rng(1).integers(-9, 9, (3, 3, 7)).astype(np.int32)
    check([make_node("GatherElements", ["x", "i"], ["y"], axis=2)], {"x": x}, {"i": indices})
