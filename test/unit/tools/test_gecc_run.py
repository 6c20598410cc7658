"""gecc-run: inputs of every kind, comparison with a peer, profiles, and wrong command lines."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from gecc import api
from gecc.tools.gecc_run import main
from test.unit.tools.conftest import Call, Compiled
from test.unit.tools.models import lookup, mlp, save

X = np.random.default_rng(5).standard_normal((4, 32)).astype(np.float32)


@pytest.fixture
def expected(compiled: Compiled) -> np.ndarray:
    with api.load(compiled.om, threads=1) as executor:
        return executor.run({"x": X})["y"]


def outputs(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def write_input(path: Path) -> Path:
    match path.suffix:
        case ".npy":
            np.save(path, X)
        case ".npz":
            np.savez(path, x=X)
        case _:
            path.write_bytes(numpy_helper.from_array(X, "x").SerializeToString())
    return path


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".pb"])
@pytest.mark.parametrize("named", [True, False])
def test_inputs_from_files(
    call: Call, compiled: Compiled, tmp_path: Path, expected: np.ndarray, suffix: str, named: bool
) -> None:
    file = write_input(tmp_path / f"in{suffix}")
    done = call(main, compiled.om, "--input", f"x={file}" if named else file, "-o", tmp_path / "out.npz")
    assert done.code == 0, done.err
    found = outputs(tmp_path / "out.npz")
    assert list(found) == ["y"]
    np.testing.assert_array_equal(found["y"], expected)


def test_random_inputs_depend_on_the_seed_alone(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    results = []
    for number, seed in enumerate((3, 3, 4)):
        path = tmp_path / f"{number}.npz"
        assert call(main, compiled.om, "--seed", str(seed), "-o", path).code == 0
        results.append(outputs(path)["y"])
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_outputs_are_summed_up(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.om)
    assert done.code == 0
    assert re.fullmatch(r"y: float32\[4, 32\] min \S+ mean \S+ max \S+\n", done.out)


def test_onnx_is_compiled_first_and_compared(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--compare", "onnxruntime")
    assert done.code == 0, done.err
    assert re.search(r"^y +\d\.\d+e-\d+ +\d\.\d+e-\d+ +(0\.9999|1\.0000)\d+ +ok$", done.out, re.MULTILINE)


def test_beyond_the_tolerance_is_a_failure(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.om, "--compare", "onnxruntime", "--model", compiled.onnx, "--tolerance", "1e-12")
    assert done.code == 1 and "FAIL" in done.out


def test_another_model_does_not_pass_for_this_one(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    other = mlp()
    other.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.ones(48, np.float32), "b1"))
    done = call(main, compiled.om, "--compare", "onnxruntime", "--model", save(other, tmp_path))
    assert done.code == 1 and "FAIL" in done.out


def test_open_dimensions(call: Call, tmp_path: Path) -> None:
    model = save(mlp("batch"), tmp_path)
    done = call(main, model)
    assert done.code == 1 and "input 'x' [batch, 32]" in done.err
    done = call(main, model, "--input-shape", "x:2,32", "-O1", "--compare", "onnxruntime")
    assert done.code == 0, done.err


def test_random_inputs_of_onnx_fit_the_graph(call: Call, tmp_path: Path) -> None:
    """Ids are rows of the table, so no kernel complains, and with seven rows not only 0 and 1."""
    model = save(lookup(), tmp_path)
    done = call(main, model, "--compare", "onnxruntime")
    assert done.code == 0, done.err


def test_an_index_out_of_range_names_the_node(call: Call, tmp_path: Path) -> None:
    ids = tmp_path / "ids.npy"
    np.save(ids, np.array([0, 1, 2, 3, 7]))
    done = call(main, save(lookup(), tmp_path), "--input", f"ids={ids}")
    assert done.code == 1
    assert "index 7 is out of range, expected -7 <= index < 7" in done.err and "embed" in done.err


def test_repeat_and_profile(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.om, "--repeat", "5", "--threads", "2", "--profile")
    assert done.code == 0
    lines = done.out.splitlines()
    assert re.fullmatch(r"5 runs on 2 ranks: median \S+ us, least \S+, greatest \S+", lines[0])
    assert lines[1].split()[:3] == ["task", "kernel", "time"]
    assert lines[2].startswith("0 MatMulV2Gelu ") and lines[2].endswith(
        "fc1, gelu/div, gelu/erf, gelu/add, gelu/mul, gelu/half"
    )
    assert lines[3].startswith("1 MatMulV2 ") and lines[3].endswith("fc2")
    shares = [float(share) for line in lines[2:4] for share in re.findall(r"([\d.]+)%", line)]
    assert abs(sum(shares) - 100) < 0.2
    assert lines[4].startswith("all tasks")


def test_threads_do_not_change_results(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    found = []
    for threads in (1, 2, 3):
        path = tmp_path / f"{threads}.npz"
        assert call(main, compiled.om, "--threads", str(threads), "--affinity", "none", "-o", path).code == 0
        found.append(outputs(path)["y"])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--frobnicate"], "unrecognized arguments"),
        (["--seed", "-1"], "'-1' is no number from 0 on"),
        (["--threads", "0"], "'0' is no number from 1 on"),
        (["--repeat", "many"], "'many' is no number from 1 on"),
        (["--compare", "onnxruntime"], "the peer needs the ONNX model"),
        (["--compare", "tensorflow", "--model", "MODEL"], "unknown peer 'tensorflow'"),
        (["--compare", "onnxruntime,openvino", "--model", "MODEL"], "takes one peer"),
        (["--model", "MODEL"], "are for --compare"),
        (["--tolerance", "1"], "are for --compare"),
        (["--affinity", "cores"], "--affinity is 'cores'"),
        (["-o", "/no/such/folder/out.npz"], "cannot write '/no/such/folder/out.npz': No such file"),
    ],
)
def test_wrong_command_lines(call: Call, compiled: Compiled, options: list[str], said: str) -> None:
    done = call(main, compiled.om, *(compiled.onnx if o == "MODEL" else o for o in options))
    assert done.code == 2 and said in done.err, done.err


def test_bf16_is_told_as_numbers(call: Call, tmp_path: Path) -> None:
    infos = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, [3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "bf16", infos[:1], infos[1:])
    path = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path, "bf16.onnx")
    x = helper.make_tensor("x", TensorProto.BFLOAT16, [3], [1, 2, 6])
    (tmp_path / "x.pb").write_bytes(x.SerializeToString())
    done = call(main, path, "--input", tmp_path / "x.pb")
    assert done.code == 0 and "y: bfloat16[3] min -6 mean -3 max -1" in done.out, done.out + done.err


def test_strings_and_sequences_are_compared(call: Call, tmp_path: Path) -> None:
    strings, floats = TensorProto.STRING, TensorProto.FLOAT
    nodes = [
        helper.make_node("StringConcat", ["s", "s"], ["t"]),
        helper.make_node("Cast", ["k"], ["u"], to=strings),
        helper.make_node("SequenceConstruct", ["x", "x"], ["q"]),
    ]
    inputs = [
        helper.make_tensor_value_info("s", strings, [2]),
        helper.make_tensor_value_info("k", TensorProto.INT64, [2]),
        helper.make_tensor_value_info("x", floats, [2]),
    ]
    outputs = [
        helper.make_tensor_value_info("t", strings, [2]),
        helper.make_tensor_value_info("u", strings, [2]),
        helper.make_tensor_sequence_value_info("q", floats, [2]),
    ]
    graph = helper.make_graph(nodes, "objects", inputs, outputs)
    path = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), tmp_path, "objects.onnx")
    np.savez(tmp_path / "in.npz", s=np.array(["aé", "b"]), k=np.array([5, -7]), x=np.ones(2, np.float32))
    done = call(main, path, "--input", tmp_path / "in.npz", "--compare", "onnxruntime")
    assert done.code == 0, done.out + done.err
    assert [line.split()[0] for line in done.out.splitlines()[-4:]] == ["t", "u", "q[0]", "q[1]"]


def test_nothing_is_said_in_vain_about_compiling(call: Call, compiled: Compiled) -> None:
    options = ["-O0", "--input-shape", "x:4,32", "--input-value", "x=1", "--no-host", "--kernels=native"]
    done = call(main, compiled.om, *options)
    assert done.code == 2
    assert "-O0, --input-shape, --input-value, --no-host, --kernels: for ONNX models" in done.err
    done = call(main, compiled.om, "--target", "z80")
    assert done.code == 2 and "target is 'z80', but the om has kernels for" in done.err


def test_wrong_inputs(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    np.save(tmp_path / "short.npy", X[:3])
    np.save(tmp_path / "wide.npy", X.astype(np.float64))
    np.savez(tmp_path / "two.npz", x=X, y=X)
    (tmp_path / "torn.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:100])
    (tmp_path / "torn.pb").write_bytes(b"\xff\xff")
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04")
    (tmp_path / "text.txt").write_text("1 2 3")
    for argument, code, said in (
        ("x=short.npy", 1, "'x' has shape [3, 32], expected [4, 32]"),
        ("x=wide.npy", 1, "'x' has element type float64, expected float32"),
        ("z=short.npy", 1, "'z' is not an input of the model"),
        ("two.npz", 1, "'y' is not an input of the model"),
        ("x=two.npz", 1, "2 arrays, expected one"),
        ("x=torn.npy", 1, "cannot read the array"),
        ("x=torn.pb", 1, "cannot read the tensor"),
        ("x=torn.npz", 1, "cannot read the arrays"),
        ("x=text.txt", 1, "expected a file .npy, .npz or .pb"),
        ("x=none.npy", 1, "No such file or directory"),
    ):
        name, equals, file = argument.rpartition("=")
        done = call(main, compiled.om, "--input", f"{name}{equals}{tmp_path / file}")
        assert (done.code, said in done.err) == (code, True), f"{argument}: {done.err}"


def test_which_input_must_be_said_when_there_are_two(call: Call, tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", np.arange(5))
    model = save(lookup(), tmp_path)
    done = call(main, model, "--input", tmp_path / "ids.npy")
    assert done.code == 2 and "expected name=file, the inputs are ids, mask" in done.err
    done = call(main, model, "--input", f"ids={tmp_path / 'ids.npy'}", "--input", f"ids={tmp_path / 'ids.npy'}")
    assert done.code == 2 and "'ids' is given twice" in done.err


def test_damaged_om(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    data = bytearray(Path(compiled.om).read_bytes())
    path = tmp_path / "bad.om"
    path.write_bytes(data[: len(data) // 2])
    done = call(main, path)
    assert done.code == 1 and done.err.startswith("error: ") and "bad.om" in done.err
    data[-20] ^= 4
    path.write_bytes(data)
    done = call(main, path)
    assert done.code == 1 and "bad.om" in done.err
    done = call(main, tmp_path / "none.om")
    assert done.code == 1 and "No such file or directory" in done.err
