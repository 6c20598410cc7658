"""Models with parts on the host, whole: compiled, written, read, run, and what is said about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import gecc
import gecc.api
import gecc.errors
from gecc.context import make_context
from gecc.errors import CliError, KernelError, OmError, UnsupportedError
from gecc.om.fixed import KEY
from gecc.om.reader import from_bytes
from gecc.om.records import HostTask
from test.unit.frontend.test_host import INT, F, S, X, info, mixed, model, node, same, sequence


def run(made: gecc.Model, feeds: Any, ranks: int = 1) -> dict[str, Any]:
    with gecc.load(from_bytes(made.to_bytes()), threads=ranks, affinity="none") as executor:
        return executor.run(feeds)


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_kernels_and_host_calls_together(level: str, ranks: int) -> None:
    proto = mixed()
    made = gecc.compile(proto, opt_level=level)
    assert sum(isinstance(t, HostTask) for t in made.om.tasks) == 7
    expected = ReferenceEvaluator(proto).run(None, {"x": X})
    assert isinstance(expected, list)
    for a, b in zip(run(made, {"x": X}, ranks).values(), expected, strict=True):
        same(a, b)


def test_the_report_says_what_runs_where_and_why() -> None:
    made = gecc.compile(mixed())
    report = made.report
    assert report is not None
    assert [p.op_type for p in report.placements if p.engine == "native"] == ["Relu", "Mul", "Add"]
    assert report.host_share is not None and 0.5 < report.host_share < 1
    nonzero = report.host[0]
    assert (nonzero.operator, nonzero.opset, nonzero.inputs) == ("ai.onnx::NonZero", 17, "r: f32[3, 4]")
    short, full = report.short(), report.full()
    assert short.startswith("7 of 10 nodes run on the host, ") and "'gathernd'" in short
    assert full.startswith("10 nodes: 3 native, 7 host") and "-> squared: i64[2]" in full
    node_attrs = next(n.attrs for n in made.om.nodes if n.type == "NonZero")
    assert node_attrs["host_operator"] == "ai.onnx::NonZero" and node_attrs["host_reason"] == nonzero.reason
    plain = gecc.compile(model([node("Relu", "x", "y")], [info("x", F, [2])], [info("y", F, [2])]))
    assert plain.report is not None and plain.report.short() == "" and plain.report.host_share == 0


def test_text_says_what_runs_on_the_host_too(tmp_path: Path) -> None:
    from gecc.translate import Subject, read, write_text

    ctx = make_context()
    write_text(Subject(ctx, gecc.api.import_model(ctx, mixed())), str(tmp_path / "a.mlir"), elide=False)
    report = read(str(tmp_path / "a.mlir"), "mlir").report
    assert report is not None
    assert report.short().startswith("7 nodes run on the host, ")
    assert "ai.onnx::NonZero 'nonzero' (opset 17): there is no native form of it" in report.short()


def test_forbidding_the_host_reports_every_node_at_once() -> None:
    nodes = [node("NonZero", "x", "n"), node("Unique", "x", "u")]
    proto = model(nodes, [info("x", F, [4])], [info("n", INT, [1, "a"]), info("u", F, ["b"])])
    with pytest.raises(UnsupportedError, match=r"2 parts of the model(.|\n)*'nonzero'(.|\n)*'unique'"):
        gecc.compile(proto, host="forbid")
    with pytest.raises(CliError, match="expected 'allow' or 'forbid'"):
        gecc.compile(proto, host="perhaps")  # pyright: ignore[reportArgumentType]
    results = run(gecc.compile(proto), {"x": np.array([0, 3, 0, 3], np.float32)})
    assert results["n"].tolist() == [[1, 3]] and results["u"].tolist() == [0, 3]


def test_objects_come_and_go(tmp_path: Path) -> None:
    nodes = [
        node("StringConcat", "s s", "t"),
        node("SequenceAt", "q i", "e"),
        node("Mul", "e x", "y"),
        node("SequenceInsert", "q y", "r"),
    ]
    inputs = [info("s", S, ["n"]), sequence("q", F, [3, 4]), info("i", INT, []), info("x", F, [3, 4])]
    outputs = [info("t", S, ["n"]), info("y", F, [3, 4]), sequence("r", F, [3, 4])]
    made = gecc.compile(model(nodes, inputs, outputs, opset=20))
    made.save(tmp_path / "a.om")
    with gecc.load(tmp_path / "a.om", threads=2) as executor:
        for factor in (1, 2):
            feeds = {"s": np.array(["a", "b"], object), "q": [X, X * factor], "i": np.array(1), "x": X}
            results = executor.run(feeds)
            assert results["t"].tolist() == ["aa", "bb"]
            same(results["y"], X * X * factor)
            same(results["r"], [X, X * factor, X * X * factor])


@pytest.mark.parametrize("op", ["RandomNormalLike", "RandomUniformLike", "Bernoulli"])
def test_seeds_are_honoured(op: str) -> None:
    x = np.full(64, 0.5, np.float32)

    def drawn(**attributes: Any) -> Any:
        nodes = [helper.make_node(op, ["x"], ["a"], name="a", **attributes), node("Neg", "a", "y")]
        made = gecc.compile(model(nodes, [info("x", F, [64])], [info("y", F, [64])]))
        with gecc.load(made, threads=1) as executor:
            return [executor.run({"x": x})["y"].tobytes() for _ in range(2)]

    seeded = drawn(seed=3.0)
    assert seeded[0] == seeded[1] == drawn(seed=3.0)[0]
    assert seeded[0] != drawn(seed=4.0)[0]
    free = drawn()
    assert free[0] != free[1]


def test_a_failing_call_names_the_node_and_the_executor_lives_on() -> None:
    nodes = [node("SequenceConstruct", "x x", "q"), node("SequenceAt", "q i", "y")]
    proto = model(nodes, [info("x", F, [2]), info("i", INT, [])], [info("y", F, [2])])
    with gecc.load(gecc.compile(proto), threads=1) as executor:
        x = np.ones(2, np.float32)
        with pytest.raises(KernelError, match=r"the host engine failed: IndexError(.|\n)*'sequenceat'"):
            executor.run({"x": x, "i": np.array(7)})
        assert executor.run({"x": x, "i": np.array(1)})["y"].tolist() == [1, 1]


def test_fixed_inputs_are_in_the_file_and_in_text(tmp_path: Path) -> None:
    from gecc.translate import Subject, read, write_om, write_text

    nodes = [node("Tile", "x n", "y")]
    proto = model(nodes, [info("x", F, [2]), info("n", INT, [1])], [info("y", F, ["m"])])
    made = gecc.compile(proto, input_values={"n": 3 * np.ones(1, np.int64)}, host="forbid")
    assert run(made, {"x": np.ones(2, np.float32)})["y"].shape == (6,)
    ctx = make_context()
    module = gecc.api.import_model(ctx, proto, input_values={"n": [3]})
    write_text(Subject(ctx, module), str(tmp_path / "a.mlir"), elide=False)
    assert (found := read(str(tmp_path / "a.mlir"), "mlir").report) is not None and found.short() == ""
    write_om(read(str(tmp_path / "a.mlir"), "mlir"), str(tmp_path / "a.om"), opt_level="O2", target="host")
    with gecc.load(tmp_path / "a.om", threads=1) as executor:
        with pytest.raises(gecc.errors.InputError, match=r"'n' was fixed to \[3\]"):
            executor.run({"x": np.ones(2, np.float32), "n": np.array([4])})
        with pytest.raises(gecc.errors.InputError, match="'n' is no array"):
            executor.run({"x": np.ones(2, np.float32), "n": [[1], [1, 2]]})
    om = made.om
    for line in ("", "3", '{"name": "n"}', '{"name": 1, "dtype": "i64", "shape": [], "sha256": ""}'):
        om.attrs = {KEY: (line,)}
        with pytest.raises(OmError, match="expected a fixed input"):
            gecc.load(om, threads=1)


def test_native_work_resumes_behind_a_classical_model() -> None:
    """ONNX infers no shape for the regressor's result; a run on zeros tells it."""
    attributes = {"coefficients": [1.0, -2.0, 3.0, 0.5], "intercepts": [0.25], "targets": 1}
    nodes = [
        helper.make_node("LinearRegressor", ["x"], ["r"], name="linear", domain="ai.onnx.ml", **attributes),
        node("Exp", "r", "y"),
    ]
    made = gecc.compile(model(nodes, [info("x", F, [3, 4])], [info("y", F, [3, 1])]))
    assert made.report is not None
    assert [(p.engine, p.outputs) for p in made.report.placements] == [
        ("host", "r: f32[3, 1]"),
        ("native", "y: f32[3, 1]"),
    ]
    expected = np.exp(X @ np.array([[1.0], [-2.0], [3.0], [0.5]], np.float32) + np.float32(0.25))
    np.testing.assert_allclose(run(made, {"x": X})["y"], expected, rtol=1e-5)


def test_values_that_no_one_uses_are_not_computed() -> None:
    nodes = [node("NonZero", "x", "n"), node("Relu", "x", "y")]
    proto = model(nodes, [info("x", F, [4])], [info("y", F, [4])])
    made = gecc.compile(proto)
    assert not any(isinstance(t, HostTask) for t in made.om.tasks)


def test_low_bit_types_pass_through() -> None:
    """An element type that has no native form is an object; casting to and from it is the host's."""
    kind = TensorProto.FLOAT8E4M3FN
    nodes = [helper.make_node("Cast", ["x"], ["q"], to=kind), helper.make_node("Cast", ["q"], ["y"], to=F)]
    proto = model(nodes, [info("x", F, [3])], [info("y", F, [3])], opset=21)
    x = np.array([1.03, -448, 0.1], np.float32)
    expected = ReferenceEvaluator(proto).run(None, {"x": x})
    assert isinstance(expected, list)
    same(run(gecc.compile(proto), {"x": x})["y"], expected[0])
