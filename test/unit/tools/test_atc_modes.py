"""gecc-translate with atc's flags: what each mode does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from onnx import helper

from gecc import api
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled
from test.unit.tools.models import mlp, model, save

ATC = ("--framework=5", "--soc_version=Ascend310P3")


# -- mode 0: what the flags change is in test_atc_build ---------------------------------------------------------------


def test_mode_0_writes_an_om(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, *ATC, f"--model={compiled.onnx}", "--output=a")
    assert done.code == 0, done.err
    assert done.err.count("\n") == 2 and "for a CPU, not for this chip" in done.err
    assert (tmp_path / "a.om").read_bytes() == Path(compiled.om).read_bytes()
    assert call(main, *ATC, "--mode=0", f"--model={compiled.onnx}", "--output=b.om").code == 0
    assert sorted(path.name for path in tmp_path.glob("*.om")) == ["a.om", "b.om"]


def test_values_as_separate_arguments(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, "--framework", "5", "--model", compiled.onnx, "-output", "a", "--input-shape", "x:4,32")
    assert done.code == 0, done.err
    assert (tmp_path / "a.om").exists()


def test_folders_are_made(call: Call, compiled: Compiled) -> None:
    assert call(main, *ATC, f"--model={compiled.onnx}", "--output=a/b/net").code == 0
    assert call(main, "--mode=1", "--om=a/b/net.om", "--json=c/d.json").code == 0
    assert call(main, "--mode=3", *ATC, f"--model={compiled.onnx}", "--check_report=e/f.json").code == 0
    assert all(Path(name).is_file() for name in ("a/b/net.om", "c/d.json", "e/f.json"))
    done = call(main, *ATC, f"--model={compiled.onnx}", "--output=e/f.json/net")
    assert done.code == 2 and "cannot make the folder 'e/f.json' for 'e/f.json/net.om'" in done.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--framework=5", "--output=x"], "E10004: --model is missing"),
        (["--model=x", "--output=x"], "E10004: --framework is missing"),
        (["--model=x", "--framework=5"], "E10004: --output is missing"),
        (["--model=x", "--framework=0", "--output=x"], "--framework=0 is Caffe; only ONNX"),
        (["--model=x", "--framework=1", "--output=x"], "--framework=1 is MindSpore; only ONNX"),
        (["--model=x", "--framework=3", "--output=x"], "--framework=3 is TensorFlow; only ONNX"),
        (["--model=x", "--framework=5", "--output=x/"], "expected a file without .om"),
        (["--model=x", "--framework=5", "--output=.om"], "expected a file without .om"),
        (["--model=x", "--framework=5", "--output=."], "expected a file without .om"),
        (["--mode=1", "--om=x"], "E10004: --json is missing"),
        (["--mode=1", "--json=x"], "E10004: --om is missing"),
        (["--mode=1", "--om=x", "--json=y", "--dump_mode=1"], "--dump_mode=1 is for models"),
        (["--mode=1", "--om=x", "--json=y", "--framework=3"], "--framework=3 is TensorFlow"),
        (["--mode=3", "--framework=5"], "E10004: --model is missing"),
        (["--mode=5", "--json=x"], "E10004: --om is missing"),
        (["--mode=5", "--om=x"], "E10004: --json is missing"),
        (["--mode=5", "--om=none.txt", "--json=x"], "cannot read 'none.txt'"),
        (["--mode=6"], "E10004: --om is missing"),
        (["--mode=30"], "--mode=30 is not supported"),
    ],
)
def test_what_is_missing(call: Call, argv: list[str], said: str) -> None:
    done = call(main, *argv)
    assert done.code == 2 and said in done.err and done.out == ""


def test_a_model_that_is_not_there(call: Call) -> None:
    done = call(main, *ATC, "--model=none.onnx", "--output=a")
    assert done.code == 1 and "cannot read the model: No such file" in done.err


def test_flags_that_a_mode_does_not_heed_are_said(call: Call, compiled: Compiled) -> None:
    done = call(
        main, "--mode=6", f"--om={compiled.om}", "--out_nodes=a:0", "--soc_version=Ascend310", "--log=info", "-O1"
    )
    assert done.code == 0
    assert done.err.splitlines() == [
        "gecc-translate: warning: --out_nodes has no effect with --mode=6",
        "gecc-translate: warning: --log has no effect with --mode=6",
        "gecc-translate: warning: -O1 has no effect with --mode=6",
    ]


# -- mode 1 -----------------------------------------------------------------------------------------------------------


def test_mode_1_of_an_om(call: Call, compiled: Compiled) -> None:
    done = call(main, "--mode=1", f"--om={compiled.om}", "--json=a.json")
    assert done.code == 0, done.err
    form = json.loads(Path("a.json").read_text())
    assert form["name"] == "mlp"
    assert [t["kernel"]["stub_func"] for t in form["task_info"]["task"] if "kernel" in t] == [
        "MatMulV2Gelu",
        "MatMulV2",
    ]


@pytest.mark.parametrize("flag", ["--om", "--model"])
def test_mode_1_of_a_model(call: Call, compiled: Compiled, flag: str) -> None:
    done = call(main, "--mode=1", f"{flag}={compiled.onnx}", "--framework=5", "--json=a.json")
    assert done.code == 0, done.err
    form = json.loads(Path("a.json").read_text())
    assert [node["op_type"] for node in form["graph"]["node"]][:2] == ["Gemm", "Div"]
    weights = {tensor["name"]: tensor for tensor in form["graph"]["initializer"]}
    assert "raw_data" not in weights["w1"] and weights["w1"]["doc_string"] == "6144 bytes of raw_data left out"
    assert weights["half"]["raw_data"] == "AAAAPw=="  # 0.5
    assert "value_info" not in form["graph"]


def test_mode_1_with_shapes_and_other_outputs(call: Call) -> None:
    path = save(mlp("batch"), Path())
    shapes = ["--dump_mode=1", "--input_shape=x:3,32"]
    done = call(main, "--mode=1", f"--om={path}", "--framework=5", "--json=a.json", *shapes, "--out_nodes=fc1:0")
    assert done.code == 0, done.err
    graph = json.loads(Path("a.json").read_text())["graph"]
    assert [info["name"] for info in graph["output"]] == ["h"]
    known = {info["name"]: info["type"]["tensor_type"] for info in (*graph["value_info"], *graph["output"])}
    assert [dim["dim_value"] for dim in known["m"]["shape"]["dim"]] == ["3", "48"]
    assert [dim["dim_value"] for dim in known["h"]["shape"]["dim"]] == ["3", "48"]


def test_mode_1_with_sizes_left_open(call: Call) -> None:
    path = save(mlp("batch"), Path())
    flags = ["--framework=5", "--json=a.json", "--dump_mode=1", "--input_shape=x:-1,32"]
    assert call(main, "--mode=1", f"--om={path}", *flags).code == 0
    [output] = json.loads(Path("a.json").read_text())["graph"]["output"]
    assert output["type"]["tensor_type"]["shape"]["dim"] == [{"dim_param": "batch"}, {"dim_value": "32"}]


def test_mode_1_with_shapes_that_the_model_fixes_otherwise(call: Call, compiled: Compiled) -> None:
    flags = ["--framework=5", "--json=a.json", "--dump_mode=1", "--input_shape=x:3,32"]
    done = call(main, "--mode=1", f"--om={compiled.onnx}", *flags)
    assert done.code == 0 and "instead of 4" in done.err
    [output] = json.loads(Path("a.json").read_text())["graph"]["output"]
    assert [dim["dim_value"] for dim in output["type"]["tensor_type"]["shape"]["dim"]] == ["3", "32"]


# -- mode 3 -----------------------------------------------------------------------------------------------------------


def hopeless() -> str:
    nodes = [
        helper.make_node("FooBar", ["x"], ["a"], "first"),
        helper.make_node("RandomUniformLike", ["x"], ["b"], "draw"),
        helper.make_node("Relu", ["b"], ["c"], "fine"),
        helper.make_node("Mystery", ["c"], ["d"], "second", domain="my.own"),
        helper.make_node("Sum", ["a", "c", "d"], ["y"], "sum"),
    ]
    proto = model(nodes, [("x", [2, 3])], [("y", [2, 3])], {}, "hopeless")
    proto.opset_import.append(helper.make_opsetid("my.own", 3))
    return save(proto, Path(), "hopeless.onnx")


def test_mode_3_lists_every_node_that_cannot_run(call: Call) -> None:
    done = call(main, "--mode=3", *ATC, f"--model={hopeless()}")
    assert done.code == 1
    assert "2 cannot be compiled, 1 run on the host" in done.out
    assert "E19010: ai.onnx::FooBar 'first' (node 0, opset 17): the ONNX standard has no" in done.err
    assert "E19010: my.own::Mystery 'second' (node 3, opset 3): " in done.err
    assert "inputs: x: f32[2, 3]" in done.err and "inputs: c: f32[2, 3]" in done.err and "hint: " in done.err
    form = json.loads(Path("check_result.json").read_text())
    assert (form["result"], form["fail"], form["pass"]) == ("failed", 2, 2)
    assert form["total"] == 5 and "1 cannot be told" in done.out
    nodes = {node["name"]: node for node in form["op"]}
    assert nodes["sum"]["result"] == "unchecked"
    assert "comes from a node that cannot be imported" in nodes["sum"]["cause"][0]["message"]
    assert nodes["first"]["result"] == nodes["second"]["result"] == "failed"
    assert nodes["draw"]["result"] == nodes["fine"]["result"] == "success"
    assert nodes["second"]["domain"] == "my.own" and nodes["second"]["opset"] == 3
    assert nodes["second"]["inputs"] == "c: f32[2, 3]" and "hint" in nodes["second"]
    assert nodes["first"]["cause"] == [
        {"code": "E19010", "message": "the ONNX standard has no operator FooBar at opset 17"}
    ]
    assert nodes["draw"]["engine"] == "host" and nodes["draw"]["cause"][0]["code"] == "0"


def test_mode_3_without_the_host(call: Call) -> None:
    done = call(main, "--mode=3", *ATC, f"--model={hopeless()}", "--no-host", "--check_report=r.json")
    assert done.code == 1
    assert [n["name"] for n in json.loads(Path("r.json").read_text())["op"] if n["result"] == "failed"] == [
        "first",
        "draw",
        "second",
    ]


def test_mode_3_of_the_part_that_can(call: Call) -> None:
    done = call(main, "--mode=3", *ATC, f"--model={hopeless()}", "--out_nodes=fine:0")
    assert done.code == 0, done.err
    form = json.loads(Path("check_result.json").read_text())
    assert (form["result"], form["total"], form["fail"]) == ("success", 2, 0)


def test_mode_3_of_a_model_that_contradicts_itself(call: Call) -> None:
    nodes = [helper.make_node("MatMul", ["x", "x"], ["y"], "product")]
    path = save(model(nodes, [("x", [2, 3])], [("y", [2, 3])], {}, "misfit"), Path(), "misfit.onnx")
    done = call(main, "--mode=3", *ATC, f"--model={path}")
    assert done.code == 1 and "'product'" in done.err
    form = json.loads(Path("check_result.json").read_text())
    assert form["result"] == "failed" and form["total"] == 0 and "'product'" in form["cause"][0]["message"]


def test_mode_3_compiles_nothing(call: Call, compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "compile_module", None)
    assert call(main, "--mode=3", *ATC, f"--model={compiled.onnx}", "--check_report=r.json").code == 0
    assert [path.name for path in Path().iterdir()] == ["r.json"]


# -- mode 5 -----------------------------------------------------------------------------------------------------------

GE_DUMP = """
name: "net"
version: 2
graph {
  name: "g"
  op { name: "x" type: "Data" output_desc { name: "" dtype: DT_FLOAT shape { dim: 2 dim: 3 } layout: "NCHW" } }
  op { name: "r" type: "Relu" input: "x:0" attr { key: "one" value { i: 1 } } no_such_field: 3 }
}
"""


def test_mode_5_of_a_dump_of_ge(call: Call) -> None:
    Path("ge_proto_00000_Build.txt").write_text(GE_DUMP)
    done = call(main, "--mode=5", "--om=ge_proto_00000_Build.txt", "--json=a.json")
    assert done.code == 0, done.err
    data, relu = json.loads(Path("a.json").read_text())["graph"][0]["op"]
    assert data["output_desc"][0]["shape"]["dim"] == [2, 3] and data["output_desc"][0]["dtype"] == "DT_FLOAT"
    assert relu["input"] == ["x:0"] and relu["attr"]["one"]["i"] == 1


@pytest.mark.parametrize("suffix", [".mlir", ".onnx"])
def test_mode_5_of_a_dump_of_gecc(call: Call, compiled: Compiled, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setenv("DUMP_GE_GRAPH", "1")
    monkeypatch.setenv("DUMP_GRAPH_LEVEL", "fold-constants")
    assert call(main, *ATC, f"--model={compiled.onnx}", "--output=a").code == 0
    [dumped] = Path().glob(f"ge_graph_*{suffix}")
    done = call(main, "--mode=5", f"--om={dumped}", "--json=a.json")
    assert done.code == 0, done.err
    kinds = {node["op_type"] for node in json.loads(Path("a.json").read_text())["graph"]["node"]}
    assert "Erf" in kinds


def test_mode_5_of_a_dump_without_weights(call: Call, compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    monkeypatch.setenv("DUMP_GRAPH_LEVEL", "fold-constants")
    assert call(main, *ATC, f"--model={compiled.onnx}", "--output=a").code == 0
    [text] = Path().glob("ge_graph_*.mlir")
    done = call(main, "--mode=5", f"--om={text}", "--json=a.json")
    assert done.code == 2 and "dumped without its weights" in done.err and "DUMP_GE_GRAPH=1" in done.err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe", "no text in UTF-8"),
        (b"graph { op", "is no dumped graph: "),
        (b'name: "x"', "it holds no graph"),
        (b"", "it holds no graph"),
    ],
)
def test_mode_5_of_what_is_no_dump(call: Call, data: bytes, said: str) -> None:
    Path("a.txt").write_bytes(data)
    done = call(main, "--mode=5", "--om=a.txt", "--json=a.json")
    assert done.code == 2 and said in done.err and not Path("a.json").exists()


# -- mode 6 -----------------------------------------------------------------------------------------------------------


def test_mode_6(call: Call, compiled: Compiled) -> None:
    done = call(main, "--mode=6", f"--om={compiled.om}")
    assert done.code == 0 and done.out == call(main, compiled.om, "--info").out and "arena:" in done.out
