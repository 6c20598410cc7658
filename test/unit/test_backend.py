"""The ONNX backend interface, and operators through it as machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.backend.base
import pytest
from ml_dtypes import bfloat16
from onnx import TensorProto, helper
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from gecc import backend
from gecc.errors import InputError
from gecc.frontend.onnx.deciding import deciding_inputs

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
OPTIONS: dict[str, Any] = {"threads": 1, "affinity": "none"}


def model(nodes: list[onnx.NodeProto], inputs: dict[str, Any], outputs: dict[str, Any]) -> onnx.ModelProto:
    given, made = (
        [helper.make_tensor_value_info(name, *kind) for name, kind in values.items()] for values in (inputs, outputs)
    )
    graph = helper.make_graph(nodes, "graph", given, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run(
    op: str, inputs: list[np.ndarray], outputs: int = 1, no_host: bool = True, **attributes: Any
) -> tuple[Any, ...]:
    node = helper.make_node(op, [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(outputs)], **attributes)
    return backend.run_node(node, inputs, opset_version=21, no_host=no_host, **OPTIONS)


RESHAPE = model(
    [helper.make_node("Reshape", ["x", "shape"], ["y"])],
    {"x": (FLOAT, ["n", 4]), "shape": (INT64, [2])},
    {"y": (FLOAT, ["a", "b"])},
)


def test_backend_is_one() -> None:
    assert issubclass(backend.GeccBackend, onnx.backend.base.Backend)
    assert backend.supports_device("CPU") and backend.supports_device("CPU:0") and not backend.supports_device("CUDA")


def test_compiles_again_for_other_shapes_and_deciding_values() -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    ready = backend.prepare(RESHAPE, **OPTIONS)
    for array, shape in ((x, [4, 2]), (x, [8, -1]), (x[:1], [2, 2]), (x, [4, 2])):
        (y,) = ready.run([array, np.array(shape)])
        np.testing.assert_array_equal(y, array.reshape(shape))
    assert len(ready._versions) == 3
    assert getattr(ready.run({"shape": np.array([1, 8]), "x": x}), "y").shape == (1, 8)  # noqa: B009


def test_fixed_shapes_compile_at_once_and_one_model_serves_all_values() -> None:
    graph = model([helper.make_node("Relu", ["x"], ["y"])], {"x": (FLOAT, [3])}, {"y": (FLOAT, [3])})
    ready = backend.prepare(graph, **OPTIONS)
    assert len(ready._versions) == 1
    for x in (np.array([-1, 0, 2], np.float32), np.array([1, -3, -2], np.float32)):
        np.testing.assert_array_equal(ready.run([x])[0], np.maximum(x, 0))
    assert len(ready._versions) == 1


def test_an_initializer_may_be_overridden() -> None:
    graph = model(
        [helper.make_node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [2]), "w": (FLOAT, [2])}, {"y": (FLOAT, [2])}
    )
    graph.graph.initializer.append(helper.make_tensor("w", FLOAT, [2], [1.0, 2.0]))
    ready, x = backend.prepare(graph, **OPTIONS), np.zeros(2, np.float32)
    np.testing.assert_array_equal(ready.run([x])[0], [1, 2])
    np.testing.assert_array_equal(ready.run([x, np.array([5, 6], np.float32)])[0], [5, 6])
    np.testing.assert_array_equal(ready.run([x])[0], [1, 2])


def test_wrong_inputs_and_options() -> None:
    ready, x, shape = backend.prepare(RESHAPE, **OPTIONS), np.zeros((2, 4), np.float32), np.array([4, 2])
    with pytest.raises(InputError, match="1 inputs given, expected 2: x, shape"):
        ready.run([x])
    with pytest.raises(InputError, match=r"inputs missing: \['x'\], unknown: \['z'\]"):
        ready.run({"z": x, "shape": shape})
    with pytest.raises(InputError, match=r"input 'x' has shape \[2, 3\], the model declares \['n', 4\]"):
        ready.run([x[:, :3], shape])
    with pytest.raises(InputError, match="input 'shape' has dtype int32, expected int64"):
        ready.run([x, shape.astype(np.int32)])
    with pytest.raises(InputError, match=r"unknown options \['cuda'\]"):
        backend.prepare(RESHAPE, cuda=True)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="device 'CUDA'"):
        backend.prepare(RESHAPE, "CUDA")


def test_what_is_refused() -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    graph = model([helper.make_node("SequenceAt", ["s", "i"], ["y"])], {"i": (INT64, [])}, {"y": (FLOAT, [2])})
    graph.graph.input.append(helper.make_value_info("s", kind))
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="sequence_type is not supported"):
        backend.prepare(graph, no_host=True)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="NonZero"):
        run("NonZero", [np.ones(3, np.float32)])
    x = np.arange(4, dtype=np.float32)
    assert backend.prepare(graph).run([np.array(1), [x[:2], x[2:]]])[0].tolist() == [2, 3]
    assert run("NonZero", [x], no_host=False)[0].tolist() == [[1, 2, 3]]


def test_deciding_values_are_followed_to_inputs_but_not_through_shapes() -> None:
    graph = model(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Mul", ["s", "k"], ["t"]),
            helper.make_node("Reshape", ["x", "t"], ["y"]),
        ],
        {"x": (FLOAT, [2, 3]), "k": (INT64, [2])},
        {"y": (FLOAT, ["a", "b"])},
    )
    assert deciding_inputs(graph.graph) == ["k"]


def test_bfloat16_in_and_out() -> None:
    x = np.array([1.5, -2.0, 3.0], bfloat16)
    (y,) = run("Relu", [x])
    assert y.dtype == bfloat16 and y.tolist() == [1.5, 0, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, np.uint64])
def test_top_k_native(dtype: type) -> None:
    x = np.random.default_rng(1).integers(0, 20, (3, 37, 5)).astype(dtype)
    for largest, axis, k in ((1, 1, 9), (0, -1, 5), (0, 1, 37)):
        values, indices = run("TopK", [x, np.array([k])], 2, axis=axis, largest=largest)
        order = np.argsort(-x.astype(np.float64) if largest else x, axis, kind="stable")
        expected = np.take(order, np.arange(k), axis)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, axis))


def test_top_k_native_of_nan() -> None:
    x = np.array([1.0, np.nan, np.inf, np.nan, -np.inf], np.float32)
    assert run("TopK", [x, np.array([5])], 2)[1].tolist() == [1, 3, 2, 0, 4]
    assert run("TopK", [x, np.array([5])], 2, largest=0)[1].tolist() == [4, 0, 2, 1, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.uint8])
def test_scatter_native(dtype: type) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(1, 200, (7, 5)).astype(dtype)
    places, updates = rng.integers(-7, 7, (9, 4)), rng.integers(0, 3, (9, 4)).astype(dtype)
    functions = {"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for reduction, function in functions.items():
        (y,) = run("ScatterElements", [x, places, updates], axis=0, reduction=reduction)
        expected = x.astype(np.float32).copy() if dtype is np.float16 else x.copy()
        for (i, j), place in np.ndenumerate(places):
            old, new = expected[place, j], updates[i, j]
            expected[place, j] = new if function is None else function(old, new)
        np.testing.assert_array_equal(y, expected.astype(dtype))


def test_cumulative_native() -> None:
    x = np.random.default_rng(3).uniform(-1, 1, (3, 100, 2)).astype(np.float32)
    (y,) = run("CumSum", [x, np.array(1)], reverse=1)
    np.testing.assert_allclose(y, np.flip(np.cumsum(np.flip(x.astype(np.float64), 1), 1), 1), atol=1e-5)
    (y,) = run("CumSum", [x, np.array(1)], exclusive=1)
    np.testing.assert_allclose(y[:, 1:], np.cumsum(x.astype(np.float64), 1)[:, :-1], atol=1e-5)


def test_an_index_out_of_range_fails_the_run() -> None:
    from gecc.errors import KernelError

    x = np.zeros((3, 2), np.float32)
    with pytest.raises(KernelError):
        run("ScatterND", [x, np.array([[3]]), x[:1]])
    with pytest.raises(KernelError):
        run("ReverseSequence", [x, np.array([4, 0])])


def test_a_norm_of_zero_gives_zeros() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]], np.float32)
    np.testing.assert_allclose(run("LpNormalization", [x], axis=1)[0], [[0, 0], [0.6, 0.8]], rtol=1e-6)


def test_a_row_is_computed_in_its_own_type_whatever_the_result_has() -> None:
    double = TensorProto.DOUBLE
    nodes = [helper.make_node("Softmax", ["x"], ["s"]), helper.make_node("Cast", ["s"], ["y"], to=FLOAT)]
    graph = model(nodes, {"x": (double, [3, 50])}, {"y": (FLOAT, [3, 50])})
    x = np.random.default_rng(4).uniform(-9, 9, (3, 50))
    e = np.exp(x)
    np.testing.assert_array_equal(
        backend.run_model(graph, [x], **OPTIONS)[0], (e / e.sum(1, keepdims=True)).astype(np.float32)
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_signed_shifts_native(dtype: type) -> None:
    x, n = np.array([-8, 4, -1, 64], dtype), np.array([-1, 2, 100, 1], dtype)
    node = helper.make_node("BitShift", ["x", "n"], ["y"], direction="RIGHT")
    assert backend.run_node(node, [x, n], opset_version=28, **OPTIONS)[0].tolist() == [-1, 1, -1, 32]
