"""The flags about forms of inputs and outputs, from a command line to an om that runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gecc import api
from gecc.errors import CliError
from gecc.frontend.onnx import load_model
from gecc.tools.atc.borders import names, output_types
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call


def save(folder: Path) -> str:
    """x, a picture, and s, scores: y = x * 2 through node `double`, t = s + 1."""
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "x"], ["y"], name="double"),
            helper.make_node("Add", ["s", "one"], ["t"], name="more"),
            helper.make_node("Relu", ["y"], ["z"], name="last"),
        ],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 2, 4]),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [5]),
        ],
        [
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 3, 2, 4]),
            helper.make_tensor_value_info("t", TensorProto.FLOAT, [5]),
        ],
        [helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])],
    )
    path = folder / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def build(call: Call, folder: Path, *flags: str) -> api.OmModel:
    done = call(main, f"--model={save(folder)}", "--framework=5", f"--output={folder / 'net'}", *flags)
    assert done.code == 0, done.err
    from gecc.om.reader import read

    return read(folder / "net.om")


def test_types_of_inputs_and_outputs(call: Call, tmp_path: Path) -> None:
    om = build(call, tmp_path, "--input_fp16_nodes=s", "--output_type=last:0:UINT8;t:FP16")
    assert [(d.name, d.dtype) for d in om.inputs] == [("x", "f32"), ("s", "f16")]
    assert [(d.name, d.dtype) for d in om.outputs] == [("z", "ui8"), ("t", "f16")]
    x = np.linspace(-5, 300, 24, dtype=np.float32).reshape(1, 3, 2, 4)
    x[0, 0, 0, 1] = np.nan
    s = np.array([0.1, 2049, -1, 7, 6e4], np.float16)
    with api.load(str(tmp_path / "net.om"), threads=1) as executor:
        found = executor.run({"x": x, "s": s})
    wanted = np.nan_to_num(np.clip(np.nan_to_num(x) * 2, 0, 255)).astype(np.uint8)
    assert np.array_equal(found["z"], wanted)
    assert np.array_equal(found["t"], (s.astype(np.float32) + 1).astype(np.float16))


def test_one_type_for_all_outputs(call: Call, tmp_path: Path) -> None:
    om = build(call, tmp_path, "--output_type=FP16", "--out_nodes=more:0;double:0")
    assert [(d.name, d.dtype) for d in om.outputs] == [("t", "f16"), ("y", "f16")]


def test_a_picture(call: Call, tmp_path: Path) -> None:
    config = tmp_path / "aipp.cfg"
    config.write_text("aipp_op {\n aipp_mode: static\n input_format: RGB888_U8\n mean_chn_1: 3\n crop_size_w: 2\n}\n")
    done = call(
        main, f"--model={save(tmp_path)}", "--framework=5", f"--output={tmp_path / 'net'}", f"--insert_op_conf={config}"
    )
    assert done.code == 0 and f"warning: {config}, line 5: crop_size_w has no effect without crop" in done.err
    picture = np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3)
    with api.load(str(tmp_path / "net.om"), threads=1) as executor:
        found = executor.run({"x": picture, "s": np.zeros(5, np.float32)})["z"]
    wanted = picture.transpose(0, 3, 1, 2).astype(np.float32)
    wanted[:, 1] -= 3
    assert np.array_equal(found, np.maximum(2 * wanted, 0))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--input_fp16_nodes=q"], "E10016: no input is called 'q'"),
        (["--input_fp16_nodes=;"], "expected names of inputs"),
        (["--output_type=FP12"], "'FP12' in 'FP12' is no element type"),
        (["--output_type=z:FP12"], "'FP12' in 'z:FP12' is no element type"),
        (["--output_type=double:0:FP16"], "'double:0' in --output_type is the tensor 'y', which is no output"),
        (["--output_type=doubl:0:FP16"], "E10016: no node and no tensor"),
        (["--output_type=z:FP16;FP16"], "'FP16' in --output_type names no output"),
        (["--output_type=z:FP16;last:0:FP32"], "gives 'z' the types FP16 and FP32"),
        (["--insert_op_conf=/no/such"], "cannot read"),
        (["--insert_op_conf=aipp.cfg", "--input_fp16_nodes=x"], "E10034: input 'x' is a picture"),
        (["--insert_op_conf=bad.cfg"], "bad.cfg, line 1"),
    ],
)
def test_bad_flags(call: Call, tmp_path: Path, flags: list[str], said: str) -> None:
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    (tmp_path / "bad.cfg").write_text("aipp_op { aipp_mode: dynamic }")
    done = call(main, f"--model={save(tmp_path)}", "--framework=5", f"--output={tmp_path / 'net'}", *flags)
    assert done.code == 2 and said in done.err, done.err
    assert not (tmp_path / "net.om").exists()


def test_syntax(tmp_path: Path) -> None:
    model = load_model(save(tmp_path))
    assert names(None, "x") == [] and names(" a ; b;a", "x") == ["a", "b"]
    assert output_types("'FP16'", model, ["a"]) == "FP16" and output_types(None, model, []) is None
    assert output_types("a:b:FP16;c:INT8", model, ["a:b", "c"]) == {"a:b": "FP16", "c": "INT8"}
    with pytest.raises(CliError, match="expected FP16"):
        output_types(";", model, [])
