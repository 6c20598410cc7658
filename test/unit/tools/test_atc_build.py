"""Mode 0: what each flag changes in the om, or in what is told of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import gecc
from gecc.om.reader import read
from gecc.om.records import KernelTask, OmModel
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Outcome
from test.unit.tools.models import mlp, model, save, weights


def run(call: Call, *argv: str, path: str = "") -> Outcome:
    return call(main, "--mode=0", "--framework=5", f"--model={path or save(mlp(), Path())}", "--output=a", *argv)


def om(call: Call, *argv: str, path: str = "") -> OmModel:
    done = run(call, *argv, path=path)
    assert done.code == 0, done.err
    return read("a.om", verify="full")


def labels(model: OmModel) -> list[str]:
    return [task.label for task in model.tasks if isinstance(task, KernelTask)]


# -- inputs and outputs -----------------------------------------------------------------------------------------------


def test_input_shape(call: Call) -> None:
    path = save(mlp("batch"), Path())
    assert om(call, "--input_shape=x:7,32", path=path).inputs[0].shape == (7, 32)
    assert om(call, '--input_shape="x: 2, 32;"', path=path).inputs[0].shape == (2, 32)


def scalar() -> str:
    nodes = [helper.make_node("Mul", ["a:0", "k"], ["y"], "mul")]
    return save(model(nodes, [("a:0", ["n", 3]), ("k", [])], [("y", ["n", 3])], {}, "scalar"), Path())


def test_input_shape_of_scalars_and_names_with_colons(call: Call) -> None:
    made = om(call, "--input_shape=a:0:5,3;k:", path=scalar())
    assert [(io.name, io.shape) for io in made.inputs] == [("a:0", (5, 3)), ("k", ())]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("a:0:5,x;k:", "E10002", "'x' is no number"),
        ("a:0:5,,3;k:", "E10002", "a number is missing"),
        ("5,3", "E10002", "it names no input"),
        (":5,3", "E10002", "it names no input"),
        ("k:;k:", "E10002", "the shape of 'k' is given twice"),
        ("a:0:5,3,1;k:", "E10002", "'a:0:5,3,1' in --input_shape is no shape of an input: 3 sizes for a rank of 2"),
        ("a:0:5,3;k:1", "E10002", "'k:1' in --input_shape is no shape of an input: 1 sizes for a rank of 0"),
        ("b:5,3", "E10001", "names 'b', which is no input"),
        ("a:0:-1,3", "E10001", "leaves dimension 0 of 'a:0' open (-1)"),
        ("a:0:1~10,3", "E10048", "has the range 1~10"),
        ("a:0:-2,3", "E10011", "has the size -2"),
    ],
)
def test_bad_input_shapes(call: Call, text: str, code: str, said: str) -> None:
    done = run(call, f"--input_shape={text}", path=scalar())
    assert done.code == 2 and code in done.err and said in done.err and not Path("a.om").exists()
    if code == "E10002":
        assert "'a:0' [n, 3], 'k' []" in done.err and '--input_shape="a:0:1,3;k:"' in done.err


def test_input_shapes_that_the_model_fixes_otherwise(call: Call) -> None:
    path = save(mlp(4), Path())
    done = run(call, "--input_shape=x:6,32", path=path)
    assert done.code == 0, done.err
    assert "warning: --input_shape changes sizes that the model fixes" in done.err
    assert "dimension 0 of 'x' is 6 instead of 4" in done.err
    x = np.random.default_rng(0).standard_normal((6, 32)).astype(np.float32)
    found = gecc.load("a.om", threads=1).run({"x": x})["y"]
    run(call, "--input_shape=x:6,32", path=save(mlp("batch"), Path(), "open.onnx"))
    np.testing.assert_array_equal(found, gecc.load("a.om", threads=1).run({"x": x})["y"])
    assert run(call, "--input_shape=x:4,32", path=path).err == ""
    done = run(call, "--input_shape=x:4,33", path=path)  # which the weights do not go with
    assert done.code == 1 and "'fc1'" in done.err


@pytest.mark.parametrize("layout", ["NCHW", "ND"])
def test_input_formats_that_say_what_the_model_says(call: Call, layout: str) -> None:
    assert om(call, f"--input_format={layout}").inputs == om(call).inputs


def test_input_format_of_five_dimensions(call: Call) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], "relu")]
    path = save(model(nodes, [("x", [1, 2, 3, 4, 5])], [("y", [1, 2, 3, 4, 5])], {}, "five"), Path())
    assert om(call, "--input_format=NCDHW", path=path).inputs[0].shape == (1, 2, 3, 4, 5)
    done = run(call, "--input_format=NCDHW")
    assert done.code == 2 and "no input of 'model.onnx' has five dimensions" in done.err and "'x' [4, 32]" in done.err


@pytest.mark.parametrize("layout", ["NHWC", "NDHWC"])
def test_input_formats_that_are_refused(call: Call, layout: str) -> None:
    done = run(call, f"--input_format={layout}")
    assert done.code == 2 and f"--input_format={layout}" in done.err and "Transpose" in done.err


def test_out_nodes(call: Call) -> None:
    made = om(call, "--out_nodes=fc1:0; g")
    assert [io.name for io in made.outputs] == ["h", "g"]
    assert labels(made) == ["MatMulV2", "Gelu"]


@pytest.mark.parametrize(
    ("text", "said"), [("fc9:0", "near it are"), (";", "expected node:0;node:1"), ("fc1", "is a node")]
)
def test_bad_out_nodes(call: Call, text: str, said: str) -> None:
    done = run(call, f"--out_nodes={text}")
    assert done.code == 2 and said in done.err


@pytest.mark.parametrize("value", ["1", "2"])
def test_external_weight(call: Call, value: str) -> None:
    whole = os.path.getsize("a.om") if om(call) else 0
    done = run(call, f"--external_weight={value}")
    assert done.code == 0 and ("all weights are in one file" in done.err) == (value == "1")
    [beside] = Path().glob("*.weights")
    assert os.path.getsize("a.om") < whole and beside.stat().st_size > 10_000
    x = np.ones((4, 32), np.float32)
    first = gecc.load("a.om", threads=1).run({"x": x})["y"]
    om(call, "--external_weight=0")
    np.testing.assert_array_equal(first, gecc.load("a.om", threads=1).run({"x": x})["y"])


# -- optimisation -----------------------------------------------------------------------------------------------------


def test_oo_level(call: Call) -> None:
    assert labels(om(call, "--oo_level=O3")) == labels(om(call)) == ["MatMulV2Gelu", "MatMulV2"]
    without_gelu = labels(om(call, "--oo_level=O1"))
    assert without_gelu == labels(om(call, "-O1")) != labels(om(call))
    done = run(call, "--oo_level=O1", "-O2")
    assert done.code == 2 and "--oo_level=O1 is -O1, but -O2 is given too" in done.err
    assert run(call, "--oo_level=O1", "-O1").code == 0


def test_fusion_switch_file(call: Call) -> None:
    form = {"Switch": {"GraphFusion": {"GeluFusionPass": "off"}, "UBFusion": {"ALL": "off"}}}
    Path("f.cfg").write_text(json.dumps(form))
    made = om(call, "--fusion_switch_file=f.cfg")
    assert labels(made) == ["MatMulV2", "RealDiv", "Erf", "Add", "Mul", "Mul", "MatMulV2"]
    Path("f.cfg").write_text("GeluFusionPass:off\nTbeEltwiseFusionPass:on\n")
    assert labels(om(call, "--fusion_switch_file=f.cfg"))[0].startswith("MatMulV2") and len(read("a.om").tasks) == 2


def test_fusion_switches_that_match_nothing_are_one_warning(call: Call) -> None:
    Path("f.cfg").write_text("ConstToAttrPass:off\nGeluFusionPass:on\nZNothing:on\n")
    done = run(call, "--fusion_switch_file=f.cfg")
    assert done.code == 0
    assert done.err.splitlines() == [
        "gecc-translate: warning: --fusion_switch_file: no pass and no fusion here is called 'ConstToAttrPass', 'ZNothing'"
    ]


@pytest.mark.parametrize(
    ("text", "said"), [("{", "E10003"), ("A:x", "line 1 of 'f.cfg'"), ("to-om:off", "cannot be left out")]
)
def test_bad_fusion_switch_files(call: Call, text: str, said: str) -> None:
    Path("f.cfg").write_text(text)
    done = run(call, "--fusion_switch_file=f.cfg")
    assert done.code == 2 and said in done.err
    assert run(call, "--fusion_switch_file=none.cfg").code == 2


def test_optimization_switch(call: Call) -> None:
    assert labels(om(call, "--optimization_switch=FoldGelu:off;cse:on"))[0] != "MatMulV2Gelu"
    Path("f.cfg").write_text("FoldGelu:off")
    assert labels(om(call, "--fusion_switch_file=f.cfg", "--optimization_switch=FoldGelu:on"))[0] == "MatMulV2Gelu"
    done = run(call, "--optimization_switch=FoldGelu")
    assert done.code == 2 and "expected a name and on or off" in done.err


def test_constant_folding(call: Call) -> None:
    nodes = [
        helper.make_node("Transpose", ["w"], ["wt"], "turn"),
        helper.make_node("Add", ["x", "wt"], ["y"], "add"),
    ]
    path = save(model(nodes, [("x", [96, 64])], [("y", [96, 64])], {"w": weights(64, 96)}, "folded"), Path())
    argv = ("-O0", "--out_nodes=add:0")
    assert labels(om(call, *argv, path=path)) == ["Add"]
    assert labels(om(call, *argv, "--oo_constant_folding=false", path=path)) == ["Transpose", "Add"]
    assert labels(om(call, *argv, "--oo_constant_folding=true", path=path)) == ["Add"]


def test_dead_code_elimination(call: Call) -> None:
    options = [str(om(call, f"--oo_dead_code_elimination={value}").attrs["atc_cmdline"]) for value in ("true", "false")]
    assert "ge-dce" not in options[0] and "--disable=ge-dce" in options[1]


def test_disable_reuse_memory(call: Call) -> None:
    path = save(mlp(hidden=64), Path())
    flags = ("--out_nodes=fc2:0", "-O0")
    shared, apart = om(call, *flags, path=path), om(call, *flags, "--disable_reuse_memory=1", path=path)
    assert shared.arena_bytes < apart.arena_bytes
    assert om(call, *flags, "--disable_reuse_memory=0", path=path).arena_bytes == shared.arena_bytes


# -- what is told -----------------------------------------------------------------------------------------------------


def test_log(call: Call) -> None:
    for quiet in ("null", "error", "warning"):
        assert run(call, f"--log={quiet}").err == ""
    info = run(call, "--log=info").err.splitlines()
    assert all(line.startswith("[INFO] ") for line in info)
    assert sum("ge-recognise-gelu" in line for line in info) == 1 and " operations" in info[0]
    debug = run(call, "--log=debug").err.splitlines()
    assert sum(line.startswith("[INFO]") for line in debug) == len(info)
    assert any(line.startswith("[DEBUG] ge-fold-batch-norm: ge.RealDiv (gelu/div) refused: ") for line in debug)


def test_display_model_info(call: Call) -> None:
    page = run(call, "--display_model_info=1").out
    assert page.endswith(call(main, "--mode=6", "--om=a.om").out) and "arena:" in page
    assert "arena:" not in run(call, "--display_model_info=0").out


def test_export_compile_stat(call: Call) -> None:
    om(call, "--export_compile_stat=0")
    assert not Path("fusion_result.json").exists()
    for flags in ((), ("--export_compile_stat=1",), ("--export_compile_stat=2",)):
        om(call, *flags)
        [form] = json.loads(Path("fusion_result.json").read_text())
        Path("fusion_result.json").unlink()
        assert form["session_and_graph_id"] == "0_0"
        assert form["graph_fusion"]["GeluFusionPass"]["effect_times"] == "1"
        assert form["ub_fusion"]["TbeMatmulElemwiseFusionPass"] == {
            "match_times": "3",
            "effect_times": "1",
            "repository_hit_times": "0",
        }
        assert not any(
            name.startswith(("Lower", "Launch", "Pack")) for name in form["graph_fusion"] | form["ub_fusion"]
        )


def test_names_in_the_statistics_switch_what_they_name_off(call: Call) -> None:
    om(call)
    [form] = json.loads(Path("fusion_result.json").read_text())
    names = [*form["graph_fusion"], *form["ub_fusion"]]
    Path("f.cfg").write_text("".join(f"{name}:off\n" for name in names))
    done = run(call, "--fusion_switch_file=f.cfg")
    assert done.code == 0 and done.err == "" and names
    [form] = json.loads(Path("fusion_result.json").read_text())
    assert not set(names) & {*form["graph_fusion"], *form["ub_fusion"]}


def test_statistics_that_cannot_be_written(call: Call) -> None:
    Path("fusion_result.json").mkdir()
    done = run(call)
    assert done.code == 0 and "warning: cannot write 'fusion_result.json'" in done.err
    done = run(call, "--export_compile_stat=1")
    assert done.code == 2 and "cannot write 'fusion_result.json'" in done.err


def test_op_debug_level(call: Call) -> None:
    om(call, "--op_debug_level=0", "--debug_dir=none")
    assert not Path("none").exists()
    made = om(call, "--op_debug_level=1")
    texts = {path.stem: path.read_text() for path in Path("kernel_meta").glob("*.mlir")}
    assert set(texts) < {kernel.name for kernel in made.kernels} and len(texts) == 2
    assert all(text.startswith("tile.kernel") for text in texts.values())
    assert labels(om(call, "--op_debug_level=2", "--debug_dir=a/b"))[0] == "MatMulV2" and len(read("a.om").tasks) > 2
    assert list(Path("a/b").glob("*.mlir"))
    Path("file").write_text("")
    done = run(call, "--op_debug_level=1", "--debug_dir=file/folder")
    assert done.code == 2 and "cannot make the folder" in done.err


def test_soc_version_is_noted_and_changes_nothing(call: Call) -> None:
    om(call)
    plain = Path("a.om").read_bytes()
    done = run(call, "--soc_version=Ascend910B1")
    assert done.err.splitlines() == [
        "note: --soc_version=Ascend910B1: the om is for a CPU, not for this chip",
        "note: element types stay as in the model; atc's default, fp16, is --precision_mode_v2=fp16 here",
    ]
    assert Path("a.om").read_bytes() == plain
    assert "x86-64" in read("a.om").target


def test_what_is_told_does_not_change_the_om(call: Call) -> None:
    om(call)
    plain = Path("a.om").read_bytes()
    for flags in (["--log=debug"], ["--export_compile_stat=0"], ["--op_debug_level=1"], ["--display_model_info=1"]):
        om(call, *flags)
        assert Path("a.om").read_bytes() == plain, flags
