"""gecc-translate: every form to every other, and what it says when it cannot."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gecc
from gecc.errors import InputError
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled
from test.unit.tools.models import mlp, save, unsupported

STAGES = ("ge", "fused", "tile", "buffer", "om")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_onnx_to_om(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, compiled.onnx, "-o", tmp_path / "a.om")
    assert done.code == 0
    assert "a.om: om for x86-64" in done.out and "2 tasks" in done.out
    assert names(tmp_path) == ["a.om"]
    assert (tmp_path / "a.om").read_bytes() == Path(compiled.om).read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_text_of_every_stage_compiles_on_to_the_same_om(
    call: Call, compiled: Compiled, tmp_path: Path, stage: str
) -> None:
    text, om = tmp_path / f"{stage}.mlir", tmp_path / "a.om"
    assert call(main, compiled.onnx, "--stage", stage, "-o", text).code == 0
    assert names(tmp_path) == [text.name, f"{text.name}.weights"]
    done = call(main, text, "-o", om)
    assert done.code == 0, done.err
    assert om.read_bytes() == Path(compiled.om).read_bytes()


def test_imported_text_is_not_changed_by_passes(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    assert call(main, compiled.onnx, "-o", tmp_path / "a.mlir").code == 0
    text = (tmp_path / "a.mlir").read_text()
    assert "ge.Erf" in text and "ge.Gelu" not in text
    assert call(main, tmp_path / "a.mlir", "--stage", "ge", "-o", tmp_path / "b.mlir").code == 0
    assert "ge.Gelu" in (tmp_path / "b.mlir").read_text()


def test_om_to_text_and_back(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    assert call(main, compiled.om, "-o", tmp_path / "a.mlir").code == 0
    assert "om.model" in (tmp_path / "a.mlir").read_text()
    assert call(main, tmp_path / "a.mlir", "-o", tmp_path / "b.om").code == 0
    assert (tmp_path / "b.om").read_bytes() == Path(compiled.om).read_bytes()


def test_text_to_stdout_has_no_weights(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--to", "mlir")
    assert done.code == 0
    assert done.out.startswith("builtin.module") and "ge.elided" in done.out


def test_forms_by_option(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    odd = tmp_path / "model.bin"
    odd.write_bytes(Path(compiled.onnx).read_bytes())
    done = call(main, odd, "-o", tmp_path / "text")
    assert done.code == 2 and "--from names one of onnx, mlir, om" in done.err
    done = call(main, odd, "--from", "onnx", "-o", tmp_path / "text")
    assert done.code == 2 and "--to names one of onnx, mlir, om" in done.err
    assert call(main, odd, "--from", "onnx", "--to", "mlir", "-o", tmp_path / "text").code == 0
    assert (tmp_path / "text").read_text().startswith("builtin.module")


def test_onnx_from_ge_runs(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    import onnxruntime

    path = tmp_path / "back.onnx"
    done = call(main, compiled.onnx, "--stage", "ge", "-O1", "-o", path)
    assert done.code == 0 and "runnable ONNX" in done.out and "not runnable" not in done.out
    feeds = {"x": np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)}
    provider = ["CPUExecutionProvider"]
    expected = onnxruntime.InferenceSession(compiled.onnx, providers=provider).run(None, feeds)
    found = onnxruntime.InferenceSession(str(path), providers=provider).run(None, feeds)
    np.testing.assert_allclose(np.asarray(found[0]), np.asarray(expected[0]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stage", STAGES[1:])
def test_onnx_from_later_stages_is_a_picture(call: Call, compiled: Compiled, tmp_path: Path, stage: str) -> None:
    done = call(main, compiled.onnx, "--stage", stage, "-o", tmp_path / "view.onnx")
    assert done.code == 0, done.err
    assert "not runnable" in done.out
    view = onnx.load(tmp_path / "view.onnx", load_external_data=False)
    assert any(node.op_type.startswith("MatMulV2") for node in view.graph.node)


def test_sizes_of_open_dimensions(call: Call, tmp_path: Path) -> None:
    model = save(mlp("batch"), tmp_path)
    done = call(main, model, "-o", tmp_path / "a.om")
    assert done.code == 1
    assert "input 'x' [batch, 32]" in done.err and "--input-shape 'x:batch,32'" in done.err
    assert names(tmp_path) == ["model.onnx"]
    assert call(main, model, "--input-shape", "x:3,32", "-o", tmp_path / "a.om").code == 0
    for shapes, code, said in (
        ("x:3,31", 1, "dimension 1 of input 'x' [batch, 32] is 32, found 31"),
        ("z:3", 1, "no input is called 'z'"),
        ("x:3", 1, "has rank 2"),
        ("x=3", 2, "'x=3' is no input shape"),
        ("x:3,32;x:3,32", 2, "given twice"),
    ):
        done = call(main, model, "--input-shape", shapes, "-o", tmp_path / "b.om")
        assert (done.code, said in done.err) == (code, True), done.err
    assert not (tmp_path / "b.om").exists()


def test_sizes_are_for_onnx(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, compiled.om, "--input-shape", "x:1", "-o", tmp_path / "a.mlir")
    assert done.code == 2 and "input shapes are for ONNX models" in done.err


def test_all_unsupported_nodes_at_once(call: Call, tmp_path: Path) -> None:
    done = call(main, save(unsupported(), tmp_path), "--no-host", "-o", tmp_path / "a.om")
    assert done.code == 1
    assert done.err.startswith("error: ") and "first_draw" in done.err and "second_draw" in done.err
    assert names(tmp_path) == ["model.onnx"]


def test_what_runs_on_the_host_is_said(call: Call, tmp_path: Path) -> None:
    model = save(unsupported(), tmp_path)
    done = call(main, model, "-o", tmp_path / "a.om")
    assert done.code == 0
    assert (
        "2 of" in done.err
        and "ai.onnx::RandomUniformLike 'first_draw'" in done.err
        and "there is no native form of it" in done.err
    )
    done = call(main, model, "--check")
    assert done.code == 0 and "2 host" in done.out and "native" in done.out and "estimated work" in done.out
    done = call(main, model, "--check", "--no-host")
    assert (
        done.code == 1
        and "nowhere  ai.onnx::RandomUniformLike 'second_draw'" in done.out
        and "cannot be compiled" in done.err
    )
    assert call(main, model, "--check", "-o", tmp_path / "b.om").code == 2
    assert call(main, tmp_path / "a.om", "--check").code == 2


def test_values_that_decide_shapes(call: Call, tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6])
    s = helper.make_tensor_value_info("s", TensorProto.INT64, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="reshape")
    graph = helper.make_graph([node], "g", [x, s], [y])
    model = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path)
    om = tmp_path / "a.om"
    assert "'reshape'" in call(main, model, "-o", om).err
    np.save(tmp_path / "s.npy", np.array([3, 4]))
    for text, last in (("s=3,4", 4), ("s=[3, -1]", -1), (f"s={tmp_path / 's.npy'}", 4)):
        done = call(main, model, "--no-host", "--input-value", text, "-o", om)
        assert (done.code, done.err) == (0, "")
        with gecc.load(om, threads=1) as executor:
            assert [io.name for io in executor.inputs] == ["x"]
            value = np.array([3, last])
            assert executor.run({"x": np.zeros((2, 6), np.float32), "s": value})["y"].shape == (3, 4)
            with pytest.raises(InputError, match=r"'s' was fixed to .* when the model was compiled"):
                executor.run({"x": np.zeros((2, 6), np.float32), "s": np.array([4, 3])})
    for text, code, said in (
        ("s", 2, "expected NAME=VALUE"),
        ("s=a", 2, "'a' is no value for input 's'"),
        ("t=1", 1, "no input is called 't'"),
        ("s=1.5,2", 1, "expected numbers of int64"),
        ("s=3", 1, "has shape [], expected [2]"),
        ("x=3", 1, "has shape [], expected [2, 6]"),
    ):
        done = call(main, model, "--input-value", text, "-o", om)
        assert (done.code, said in done.err) == (code, True), done.err
    assert call(main, om, "--input-value", "s=1", "-o", tmp_path / "a.mlir").code == 2


def test_elided_text_is_not_compiled(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    assert call(main, compiled.onnx, "--elide", "-o", tmp_path / "a.mlir").code == 0
    assert names(tmp_path) == ["a.mlir"]
    done = call(main, tmp_path / "a.mlir", "-o", tmp_path / "a.om")
    assert done.code == 1 and "without its weights" in done.err and "--elide" in done.err


def test_no_way_back(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, compiled.om, "--stage", "ge", "-o", tmp_path / "a.mlir")
    assert done.code == 2 and "stage 'om', which lies behind 'ge'" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["-O3", "-o", "a.om"], "invalid choice: '3'"),
        (["--stage", "everything", "-o", "a.mlir"], "invalid choice: 'everything'"),
        ([], "no file to write"),
        (["--to", "om"], "no file to write"),
        (["--elide", "-o", "a.om"], "--elide is about text"),
        (["--stage", "ge", "-o", "a.om"], "--stage is about text and ONNX"),
        (["-o", "/no/such/folder/a.om"], "cannot write '/no/such/folder/a.om': No such file or directory"),
        (["-o", "/no/such/folder/a.mlir"], "cannot write '/no/such/folder/a.mlir': No such file or directory"),
        (["-o", "/no/such/folder/a.onnx"], "cannot write '/no/such/folder/a.onnx': No such file or directory"),
    ],
)
def test_wrong_command_lines(
    call: Call, compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(main, compiled.onnx, *options)
    assert done.code == 2
    assert said in done.err and "gecc-translate: error: " in done.err
    assert names(tmp_path) == []


def test_unknown_target(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, compiled.onnx, "--target", "z80", "-o", tmp_path / "a.om")
    assert done.code == 1 and "target 'z80' is not known" in done.err and "x86-64-v3" in done.err


@pytest.mark.parametrize("name", ["a.om", "a.mlir", "a.onnx"])
def test_a_folder_in_the_way(call: Call, compiled: Compiled, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    done = call(main, compiled.onnx, "-o", tmp_path / name)
    assert done.code == 2 and f"cannot write '{tmp_path / name}'" in done.err
    assert names(tmp_path) == [name] and names(tmp_path / name) == []


@pytest.mark.parametrize("name", ["model.onnx", "model.mlir", "model.om"])
def test_missing_and_damaged_inputs(call: Call, tmp_path: Path, name: str) -> None:
    done = call(main, tmp_path / name, "-o", tmp_path / "out.om")
    assert done.code == 1 and "No such file or directory" in done.err and name in done.err
    (tmp_path / name).write_bytes(b"\xff\xfe this is no model of any kind")
    done = call(main, tmp_path / name, "-o", tmp_path / "out.om")
    assert done.code == 1 and "Traceback" not in done.err and done.err
    assert names(tmp_path) == [name]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("func.func @main() {", "a.mlir:1:20"),
        (
            "builtin.module { func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> { func.return %x : tensor<2xf32> } }",
            "",
        ),
        ('builtin.module { "no.such"() : () -> () }', "no.such"),
    ],
)
def test_wrong_text(call: Call, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.mlir"
    path.write_text(text)
    done = call(main, path, "-o", tmp_path / "b.mlir")
    assert done.code == 1 and said.lower() in done.err.lower() and "Traceback" not in done.err
    assert names(tmp_path) == ["a.mlir"]


def test_a_failed_write_keeps_what_was_there(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    """A weight is missing while the om is written: the old file stays whole and no temporary one is left."""
    assert call(main, compiled.onnx, "-o", tmp_path / "a.mlir").code == 0
    side = tmp_path / "a.mlir.weights"
    side.write_bytes(side.read_bytes()[:200])
    (tmp_path / "a.om").write_bytes(b"old")
    done = call(main, tmp_path / "a.mlir", "-o", tmp_path / "a.om")
    assert done.code == 1 and "a.mlir.weights" in done.err
    assert (tmp_path / "a.om").read_bytes() == b"old"
    assert names(tmp_path) == ["a.mlir", "a.mlir.weights", "a.om"]


def test_a_device_is_never_replaced(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    """A named pipe stands for /dev/null, which a test should not risk."""
    pipe = tmp_path / "pipe.om"
    os.mkfifo(pipe)
    done = call(main, compiled.onnx, "-o", pipe)
    assert done.code == 2 and "it is no regular file" in done.err
    assert stat.S_ISFIFO(os.stat(pipe).st_mode) and names(tmp_path) == ["pipe.om"]
    text = tmp_path / "pipe.mlir"
    os.mkfifo(text)
    reader = os.open(text, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert call(main, compiled.onnx, "-o", text).code == 0
        assert os.read(reader, 1 << 16).startswith(b"builtin.module attributes")
    finally:
        os.close(reader)
    assert names(tmp_path) == ["pipe.mlir", "pipe.om"]


def test_a_signed_om_runs_where_its_key_is_trusted(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from gecc.tools.gecc_run import main as run
    from test.unit.om.test_signature import keys

    secret, public = keys(tmp_path, "a")
    done = call(main, compiled.onnx, "-o", tmp_path / "m.om", "--sign", secret)
    assert done.code == 0, done.err
    assert call(run, tmp_path / "m.om", "--trust", public).code == 0
    signatures = [
        next(line for line in call(main, om, "--info").out.splitlines() if line.startswith("signature:")).split()[1]
        for om in (tmp_path / "m.om", compiled.om)
    ]
    assert signatures == ["there;", "none"]
    _, other = keys(tmp_path, "b")
    refused = call(run, tmp_path / "m.om", "--trust", other)
    assert refused.code == 1
    assert "by none of the trusted keys" in refused.err
    assert call(run, compiled.om, "--trust", public).code == 1
    assert call(run, compiled.onnx, "--trust", public).code == 2
    assert call(main, compiled.onnx, "-o", tmp_path / "m.mlir", "--sign", secret).code == 2


def test_weights_in_a_file_of_their_own_run_alike(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    from gecc import api

    done = call(main, compiled.onnx, "-o", tmp_path / "m.om", "--external-weight")
    assert done.code == 0, done.err
    assert len(list(tmp_path.glob("*.weights"))) == 1
    x = np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)
    with api.load(tmp_path / "m.om", verify="full") as apart, api.load(compiled.om) as inside:
        np.testing.assert_array_equal(apart.run({"x": x})["y"], inside.run({"x": x})["y"])
    assert call(main, compiled.onnx, "-o", tmp_path / "m.mlir", "--external-weight").code == 2


@pytest.mark.parametrize(
    "option", ["-O1", "--target=x86-64-v3", "--precision=fp16", "--memory-limit=8M", "--memory-effort=best"]
)
def test_options_about_compiling_are_refused_where_nothing_is_compiled(
    call: Call, compiled: Compiled, tmp_path: Path, option: str
) -> None:
    for result in ("m.om", "m.mlir"):
        done = call(main, compiled.om, "-o", tmp_path / result, option)
        assert done.code == 2
        assert f"{option.partition('=')[0]} is about what is still to be compiled, the input is an om" in done.err
    if option != "-O1":
        done = call(main, compiled.onnx, "-o", tmp_path / "m.mlir", option)
        assert done.code == 2
        assert f"{option.partition('=')[0]} takes effect when passes run" in done.err
    assert not list(tmp_path.glob("m.*"))
