"""Nodes without a native form become host operators, and native work resumes behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gecc.context import make_context
from gecc.debug import verify_numerics
from gecc.debug.launches import LaunchRunner
from gecc.dialects import ge
from gecc.errors import UnsupportedError
from gecc.frontend.onnx import Placement, import_onnx
from gecc.frontend.onnx.export import export_onnx
from gecc.interp import run_module
from gecc.interp.tile_graph import find_graph, run_graph
from gecc.pipeline import run_pipeline, specs_until
from gecc.target import host
from gecc.weights import store_of

F, INT, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def info(name: str, kind: int, shape: Any) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name: str, kind: int, shape: Any) -> Any:
    return helper.make_tensor_sequence_value_info(name, kind, shape)


def model(nodes: Any, inputs: Any, outputs: Any, initializers: Any = (), opset: int = 17) -> ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, inputs.split(), outputs.split(), name=op.lower(), **attributes)


def mixed() -> ModelProto:
    """Data-dependent shapes, then numbers again, and a sequence."""
    nodes = [
        node("Relu", "x", "r"),
        node("NonZero", "r", "nz"),
        node("Transpose", "nz", "t"),
        node("Shape", "t", "s"),
        node("Mul", "s s", "squared"),
        node("GatherND", "r t", "g"),
        node("ReduceSum", "g", "sum", keepdims=0),
        node("Add", "sum r", "y"),
        node("SequenceConstruct", "r x", "seq"),
        node("ConcatFromSequence", "seq", "z", axis=0),
    ]
    outputs = [
        *(info("y", F, [3, 4]), info("squared", INT, [2]), info("t", INT, ["n", 2])),
        *(info("z", F, ["m", 4]), sequence("seq", F, ["k", 4])),
    ]
    return model(nodes, [info("x", F, [3, 4])], outputs)


def imported(proto: ModelProto, **options: Any) -> tuple[Any, ModuleOp, dict[str, Placement]]:
    placements: list[Placement] = []
    ctx = make_context()
    module = import_onnx(ctx, proto, host=True, placements=placements, **options)
    return ctx, module, {p.name: p for p in placements}


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert isinstance(found, list)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    elif expected is None:
        assert found is None
    elif expected.dtype.kind in "OU":
        np.testing.assert_array_equal(found, expected)
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_only_what_must_runs_on_the_host() -> None:
    _, _, placed = imported(mixed())
    engines = {name: p.engine for name, p in placed.items()}
    native = ["add", "mul", "relu"]
    assert sorted(n for n, e in engines.items() if e == "native") == native
    assert {e for n, e in engines.items() if n not in native} == {"host"}
    assert placed["transpose"].reason == "input 0 'nz' is tensor(int64), whose shape depends on data"
    assert placed["gathernd"].inputs == "r: f32[3, 4], t: tensor(int64)"


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("stage", ["ge", "fused", "buffer"])
def test_every_stage_means_the_same_and_reads_back(level: str, stage: str) -> None:
    proto = mixed()
    ctx, module, _ = imported(proto)
    run_pipeline(ctx, module, specs_until(level, stage), locations=True)
    text = str(module)
    again = Parser(ctx, text).parse_module()
    again.verify()
    assert str(again) == text
    if stage == "buffer":
        runner = LaunchRunner(again, host(), set())
        results = run_graph(find_graph(again), [X], runner, store_of(ctx))
    else:
        results = list(run_module(again, {"x": X}, store=store_of(ctx)).values())
    expected = ReferenceEvaluator(proto).run(None, {"x": X})
    assert isinstance(expected, list)
    for a, b in zip(results, expected, strict=True):
        same(a, b)


def test_exports_to_onnx_that_runs() -> None:
    proto = mixed()
    ctx, module, _ = imported(proto)
    run_pipeline(ctx, module, specs_until("O2", "ge"))
    exported, runnable = export_onnx(ctx, module)
    assert runnable
    expected, found = (ReferenceEvaluator(p).run(None, {"x": X}) for p in (proto, exported))
    assert isinstance(expected, list) and isinstance(found, list)
    for a, b in zip(found, expected, strict=True):
        same(a, b)
    picture, runnable = export_onnx(ctx, lowered(proto, ctx))
    assert not runnable
    host_node = next(n for n in picture.graph.node if n.op_type == "HostOp" or "NonZero" in str(n))
    assert any(a.name == "reason" for a in host_node.attribute)


def lowered(proto: ModelProto, ctx: Any) -> ModuleOp:
    module = import_onnx(ctx, proto, host=True)
    run_pipeline(ctx, module, specs_until("O2", "fused"))
    return module


def test_passes_are_checked_through_objects() -> None:
    ctx, module, _ = imported(mixed())
    steps = verify_numerics.run(ctx, module, specs_until("O2"))
    assert steps[-1].stage == "om" and max(step.ratio for step in steps) <= 1


def test_shapes_known_along_the_way_keep_nodes_native() -> None:
    """k of TopK comes from a shape, and the operand of NonZero is constant: nothing is left for the host."""
    nodes = [
        node("Shape", "x", "s"),
        helper.make_node("Gather", ["s", "last"], ["k"], name="k"),
        node("TopK", "x k", "v i"),
        node("ConstantOfShape", "s", "ones", value=numpy_helper.from_array(np.ones(1, np.int64))),
        node("NonZero", "ones", "nz"),
        node("Transpose", "nz", "t"),
        node("GatherND", "x t", "g"),
    ]
    last = numpy_helper.from_array(np.array([1], np.int64), "last")
    outputs = [info("v", F, [3, 4]), info("i", INT, [3, 4]), info("g", F, [12])]
    ctx, module, placed = imported(
        model(nodes, [info("x", F, ["a", "b"])], outputs, [last]), input_shapes={"x": (3, 4)}
    )
    assert "host" not in {p.engine for p in placed.values()}
    assert placed["nonzero"].engine == "constant"
    assert not any(isinstance(op, ge.HostOp) for op in module.walk())
    results = run_module(module, {"x": X}, store=store_of(ctx))
    same(results["g"], X.reshape(-1))
    same(results["v"], -np.sort(-X, axis=1))


def test_strings_sequences_and_optionals_as_inputs_and_outputs() -> None:
    nodes = [
        node("StringNormalizer", "s", "upper", case_change_action="UPPER"),
        node("SequenceInsert", "q x", "q2"),
        node("SequenceLength", "q2", "n"),
        helper.make_node("Identity", ["words"], ["w"], name="words_out"),
    ]
    inputs = [info("s", S, [2]), sequence("q", F, [3, 4]), info("x", F, [3, 4])]
    outputs = [info("upper", S, [2]), sequence("q2", F, [3, 4]), info("n", INT, []), info("w", S, [2])]
    words = numpy_helper.from_array(np.array(["a", "b"], object), "words")
    ctx, module, placed = imported(model(nodes, inputs, outputs, [words]))
    feeds = {"s": np.array(["x", "yz"], object), "q": [X, -X], "x": 2 * X}
    results = run_module(module, feeds, store=store_of(ctx))
    assert list(results["upper"]) == ["X", "YZ"]
    same(results["q2"], [X, -X, 2 * X])
    assert int(results["n"]) == 3
    assert list(results["w"]) == ["a", "b"]
    assert placed["words_out"].reason == "initializer 'words' has element type STRING"


def test_subgraphs_bring_what_they_capture() -> None:
    """A control-flow node on the host is one operator; captured values, constants too, are its operands."""
    body = helper.make_graph(
        [helper.make_node("SequenceInsert", ["seq_in", "x"], ["seq_out"]), helper.make_node("Identity", ["c"], ["c2"])],
        "body",
        [info("i", INT, []), info("c", TensorProto.BOOL, []), sequence("seq_in", F, None)],
        [info("c2", TensorProto.BOOL, []), sequence("seq_out", F, None)],
    )
    nodes = [
        node("SequenceEmpty", "", "empty"),
        helper.make_node("Loop", ["trips", "", "empty"], ["seq"], name="loop", body=body),
        node("ConcatFromSequence", "seq", "y", axis=0),
    ]
    trips = numpy_helper.from_array(np.array(2, np.int64), "trips")
    proto = model(nodes, [info("x", F, [3, 4])], [info("y", F, ["n", 4])], [trips])
    ctx, module, placed = imported(proto)
    assert placed["loop"].engine == "host"
    loop = next(op for op in module.walk() if isinstance(op, ge.HostOp) and op.op_type.data == "Loop")
    assert len(loop.inputs) == 3
    same(run_module(module, {"x": X}, store=store_of(ctx))["y"], np.concatenate([X, X]))


def test_what_nothing_runs_is_reported_with_why() -> None:
    proto = model(
        [helper.make_node("Mystery", ["x"], ["y"], name="m", domain="acme")], [info("x", F, [3])], [info("y", F, [3])]
    )
    proto.opset_import.append(helper.make_opsetid("acme", 1))
    with pytest.raises(UnsupportedError, match=r"acme::Mystery 'm' .*the host cannot run it.*\n(.*\n)*.*custom_op"):
        imported(proto)


def test_open_sizes_are_asked_for() -> None:
    proto = model([node("NonZero", "x", "y")], [info("x", F, ["n"])], [info("y", INT, [1, "m"])])
    with pytest.raises(UnsupportedError, match="give the shapes of all inputs"):
        imported(proto)
    assert imported(proto, input_shapes={"x": (3,)})[2]["nonzero"].engine == "host"


def test_chance_is_never_folded_nor_merged() -> None:
    nodes = [node("RandomNormal", "", "a", shape=[8]), helper.make_node("RandomNormal", [], ["b"], name="b", shape=[8])]
    ctx, module, placed = imported(model(nodes, [], [info("a", F, [8]), info("b", F, [8])]))
    assert {p.engine for p in placed.values()} == {"host"}
    run_pipeline(ctx, module, specs_until("O2", "ge"))
    results = run_module(module, {}, store=store_of(ctx))
    assert not np.array_equal(results["a"], results["b"])


def test_giving_up_leaves_nothing_behind() -> None:
    """The native attempt at the second node fails after operations were built: they go, and count as no use."""
    nodes = [node("Relu", "x", "r"), node("Reshape", "r s", "y"), node("Neg", "r", "n")]
    proto = model(nodes, [info("x", F, [3, 4]), info("s", INT, [2])], [info("y", F, ["a", "b"]), info("n", F, [3, 4])])
    _, module, placed = imported(proto)
    assert [p.engine for p in placed.values()] == ["native", "host", "native"]
    names = [op.name for op in module.walk() if op.name.startswith("ge.")]
    assert names == ["ge.Relu", "ge.HostOp", "ge.Neg"]
    relu = next(op for op in module.walk() if op.name == "ge.Relu")
    assert len(list(relu.results[0].uses)) == 2
