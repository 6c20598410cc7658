"""Every patch of the reference implementation: that it is right, and that the reference is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from gecc.runtime.patches import PATCHES
from gecc.runtime.reference import Program

F = TensorProto.FLOAT
RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 3, 4)).astype(np.float32)


def model(op: str, opset: int, inputs: Sequence[Any], **attributes: Any) -> ModelProto:
    names = [f"x{i}" for i in range(len(inputs))]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)], op, infos, [helper.make_tensor_value_info("y", F, None)]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def by_runtime(proto: ModelProto, inputs: Sequence[Any]) -> Any:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: x for i, x in zip(proto.graph.input, inputs, strict=True)})[0]


def by_reference(proto: ModelProto, inputs: Sequence[Any]) -> Any:
    """What the unpatched reference gives; None when it fails."""
    try:
        feeds = {i.name: x for i, x in zip(proto.graph.input, inputs, strict=True)}
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(proto).run(None, feeds)
    except Exception:
        return None
    return results[0] if isinstance(results, list) else None


STATISTICS = [RNG.random(3).astype(np.float32) + 1 for _ in range(4)]
Q = RNG.integers(0, 255, (2, 3, 4)).astype(np.uint8)
SCALES = np.array([0.5, 0.25, 2], np.float32)
ZEROS = np.array([1, 128, 7], np.uint8)

CASES = [
    ("BatchNormalization", 9, [X, *STATISTICS], {}),
    ("BatchNormalization", 13, [X, *STATISTICS], {"epsilon": 0.1}),
    ("Softmax", 11, [X], {}),
    ("Softmax", 12, [X], {"axis": 0}),
    ("LogSoftmax", 11, [X], {"axis": 1}),
    ("LogSoftmax", 13, [X * 200], {"axis": 1}),
    ("Hardmax", 11, [X], {"axis": 1}),
    ("DequantizeLinear", 10, [Q, SCALES[:1].reshape(()), ZEROS[:1].reshape(())], {}),
    ("DequantizeLinear", 13, [Q, SCALES, ZEROS], {"axis": 1}),
    ("Pad", 13, [X, np.array([0, -1, 2, 1, 0, -3])], {}),
    ("Pad", 18, [X, np.array([-1, 2, 0, -1]), np.array(5, np.float32), np.array([1, -1])], {}),
]


@pytest.mark.parametrize(("op", "opset", "inputs", "attributes"), CASES, ids=lambda v: str(v) if np.isscalar(v) else "")
def test_against_onnxruntime(op: str, opset: int, inputs: Sequence[Any], attributes: dict[str, Any]) -> None:
    proto = model(op, opset, inputs, **attributes)
    expected = by_runtime(proto, inputs)
    [found] = Program(proto.SerializeToString()).run(inputs)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    unpatched = by_reference(proto, inputs)
    wrong = unpatched is None or unpatched.shape != expected.shape or not np.allclose(unpatched, expected, atol=1e-6)
    assert wrong, "the reference is right by now: drop the patch"


def test_every_patch_has_a_case() -> None:
    tested = {(op, opset) for op, opset, *_ in CASES}
    control = {"Identity", "If", "Loop", "Optional"}
    for cls, first, last in PATCHES:
        assert issubclass(cls, OpRun)
        name = cls.__name__
        assert name in control or any(op == name and first <= opset <= last for op, opset in tested), name


def run(nodes: Any, inputs: Any, outputs: Any, values: Sequence[Any]) -> list[Any]:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    return Program(proto.SerializeToString()).run(values)


def info(name: str, kind: int = F, shape: Any = None) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def looped(names: Sequence[str], trips: int) -> list[Any]:
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Add", ["a", "x"], ["a2"])],
        "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("a")],
        [info("c2", TensorProto.BOOL, []), info("a2"), info("a2", F, [2, 2])],
    )
    node = helper.make_node("Loop", names, ["last", "all"], body=body)
    x = np.ones((2, 2), np.float32)
    inputs = [info("m", TensorProto.INT64, []), info("x")]
    return run([node], inputs, [info("last"), info("all")], [np.array(trips), x])


def test_loops_without_condition_stack_their_rows() -> None:
    last, rows = looped(["m", "", "x"], 3)
    assert last.tolist() == [[4, 4], [4, 4]]
    assert rows.shape == (3, 2, 2) and rows[:, 0, 0].tolist() == [2, 3, 4]


def test_loops_that_do_not_run_give_no_rows() -> None:
    last, rows = looped(["m", "", "x"], 0)
    assert last.tolist() == [[1, 1], [1, 1]] and rows.shape == (0, 2, 2)


def test_optionals_are_their_element_or_nothing() -> None:
    kind = helper.make_tensor_type_proto(F, [2])
    optional = helper.make_optional_type_proto(kind)
    x = np.array([1, 2], np.float32)
    output = helper.make_value_info("y", optional)
    assert run([helper.make_node("Optional", ["x"], ["y"])], [info("x")], [output], [x])[0].tolist() == [1, 2]
    assert run([helper.make_node("Optional", [], ["y"], type=kind)], [], [output], []) == [None]
    given = helper.make_value_info("o", optional)
    assert run([helper.make_node("Identity", ["o"], ["y"])], [given], [output], [None]) == [None]
    then = helper.make_graph([helper.make_node("Optional", [], ["t"], type=kind)], "then", [], [output])
    then.output[0].name = "t"
    other = helper.make_graph([helper.make_node("Optional", ["x"], ["e"])], "else", [], [output])
    other.output[0].name = "e"
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    flags = [info("c", TensorProto.BOOL, []), info("x")]
    assert run([node], flags, [output], [np.array(True), x]) == [None]
    assert run([node], flags, [output], [np.array(False), x])[0].tolist() == [1, 2]
