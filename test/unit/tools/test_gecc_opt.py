"""gecc-opt around the IR: weights beside text, provenance, ONNX by extension, xDSL's own driver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest

from gecc.context import make_context
from gecc.text import ELIDED, SIDE_FILE, attach_weights, weight_digests
from gecc.tools.gecc_opt import main
from gecc.weights import store_of
from test.unit.tools.models import mlp, save


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """x [2, 64] @ w [64, 32] + b, w and b over 1 kB."""
    rng = np.random.default_rng(0)
    weights = [
        onh.from_array(rng.normal(size=(64, 32)).astype(np.float32), "w"),
        onh.from_array(rng.normal(size=(2, 32, 8)).astype(np.float32), "b"),
    ]
    nodes = [
        oh.make_node("MatMul", ["x", "w"], ["p"], name="layer/MatMul"),
        oh.make_node("Reshape", ["p", "s"], ["q"], name="layer/Reshape"),
        oh.make_node("Add", ["q", "b"], ["y"], name="layer/Add"),
    ]
    shape = onh.from_array(np.array([2, 32, 1], np.int64), "s")
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 64])],
        [oh.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 32, 8])],
        [*weights, shape],
    )
    path = tmp_path / "net.onnx"
    onnx.save(oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def parse(path: Path):
    from xdsl.parser import Parser

    ctx = make_context()
    return ctx, Parser(ctx, path.read_text(encoding="utf-8")).parse_module()


def test_onnx_by_extension_with_weights_beside(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "out" / "net.mlir"
    text.parent.mkdir()
    assert main([str(model), "-p", "ge-infer-shapes", "--print-debuginfo", "-o", str(text)]) == 0
    assert 'loc("layer/MatMul")' in text.read_text(encoding="utf-8")
    ctx, module = parse(text)
    assert str(module.attributes[SIDE_FILE]) == '"net.mlir.weights"'
    attach_weights(ctx, module, text.parent)
    digests = weight_digests([module])
    assert len(digests) == 2
    original = onh.to_array(onnx.load(str(model)).graph.initializer[0])
    first = [d for d in digests if store_of(ctx).array(d).nbytes == original.nbytes]
    assert any(np.array_equal(store_of(ctx).array(d).view(np.float32), original.ravel()) for d in first)


def test_open_sizes_are_told_before_a_pass_needs_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(mlp("N"), tmp_path, "open.onnx")
    assert main([path, "-O2", "--stage", "ge"]) == 0
    capsys.readouterr()
    assert main([path, "-O2"]) == 1
    said = capsys.readouterr().err
    assert "the size of every dimension must be known; unknown in input 'x' [N, 32]" in said
    assert """-f 'onnx{input-shape="x:N,32"}'""" in said
    assert main([path, "-f", 'onnx{input-shape="x:3,32"}', "-O2"]) == 0


def test_text_read_back_is_compiled_further(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, again = tmp_path / "a.mlir", tmp_path / "b.mlir"
    assert main([str(model), "-o", str(text)]) == 0
    assert main([str(text), "-O1", "--stage", "ge", "-o", str(again)]) == 0
    assert main([str(again)]) == 0
    assert "ge.MatMulV2" in capsys.readouterr().out
    assert (tmp_path / "b.mlir.weights").is_file()


def test_missing_side_file(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "a.mlir"
    assert main([str(model), "-o", str(text)]) == 0
    (tmp_path / "a.mlir.weights").unlink()
    assert main([str(text)]) == 1
    assert "cannot read the file of weights: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../a.mlir.weights", "/etc/passwd", "..", ""])
def test_side_file_outside_the_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "a.mlir"
    text.write_text(f'builtin.module attributes {{{SIDE_FILE} = "{name}"}} {{}}', encoding="utf-8")
    assert main([str(text)]) == 1
    assert "expected the name of a file in the same folder" in capsys.readouterr().err


def test_elide(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "a.mlir"
    assert main([str(model), "--elide", "-o", str(text)]) == 0
    assert not (tmp_path / "a.mlir.weights").exists()
    _, module = parse(text)
    assert ELIDED in module.attributes
    assert SIDE_FILE not in module.attributes


def test_lost_provenance_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input whose operations all have locations keeps them through every pass."""
    from xdsl.dialects.builtin import UnknownLoc

    from gecc.passes import load_pass

    def forget(self: object, ctx: object, op: object) -> None:
        for inner in op.walk():  # pyright: ignore[reportAttributeAccessIssue]
            inner.location = UnknownLoc()

    monkeypatch.setattr(load_pass("ge-dce"), "apply", forget)
    graph = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>{}\n  func.return %0 : tensor<4xf32>\n}}"
    path = tmp_path / "graph.mlir"
    path.write_text(graph.format(' loc("exp")'), encoding="utf-8")
    assert main([str(path), "-p", "ge-dce"]) == 1
    assert "1 operations have lost their location: ge.Exp\n  found after pass 'ge-dce'" in capsys.readouterr().err
    path.write_text(graph.format(""), encoding="utf-8")
    assert main([str(path), "-p", "ge-dce"]) == 0


def test_printed_pipeline_is_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    from gecc.pipeline import PIPELINES

    for level in PIPELINES:
        assert main(["--print-pipeline", f"-{level}", "--stage", "ge"]) == 0
        text = capsys.readouterr().out.strip()
        assert main(["--print-pipeline", "-p", text]) == 0
        assert capsys.readouterr().out.strip() == text


def test_universe_adds_to_xdsl_without_clash() -> None:
    from xdsl.universe import XDSL_UNIVERSE

    from gecc.universe import GECC

    assert not set(GECC.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(GECC.all_passes) & set(XDSL_UNIVERSE.all_passes)
    assert GECC.all_passes["ge-cse"]().name == "ge-cse"
    assert GECC.all_dialects["ge"]().name == "ge"
    assert GECC.all_frontends["onnx"]().name == "onnx"
