"""Host calls: tensors in and out of planned memory, objects in slots, between native work and inside loops."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gecc.errors import GeccError, InputError, InvalidModelError, OmError
from gecc.om.reader import from_bytes
from gecc.om.records import (
    GotoTask,
    HostObject,
    HostTask,
    HostTensor,
    HostValue,
    IoDesc,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    Task,
    WeightEntry,
    Weights,
)
from gecc.om.writer import to_bytes, write
from gecc.runtime.executor import Executor
from gecc.runtime.profile import Profile, chrome_trace
from gecc.runtime.reference import Program

STRINGS = "tensor(string)"


def program(
    nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
) -> bytes:
    """A serialised model of these nodes."""
    graph = helper.make_graph(nodes, "program", inputs, outputs)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 4)]
    return helper.make_model(graph, opset_imports=opsets).SerializeToString()


def value(name: str, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, None)


def with_calls(make, tasks: list[Task], programs: list[bytes], **changes: object) -> OmModel:
    """A model of these tasks, a phase each, whose host calls have the programs in order as weights."""
    at, entries, calls = 512, [], 0
    data = bytearray()
    for number, code in enumerate(programs):
        entries.append(WeightEntry(f"p{number}", at, len(code), "ui8", (len(code),)))
        data[at:] = bytes(at - len(data)) + code
        at += -(-len(code) // 512) * 512
    done: list[Task] = []
    for phase, task in enumerate(tasks):
        task = replace(task, phase=phase, op_index=0)
        if isinstance(task, HostTask):
            task = replace(task, program=Operand(Space.WEIGHTS, entries[calls].offset, entries[calls].size))
            calls += 1
        done.append(task)
    base = make.model([make.task("affine", 0, make.graph_input(0), make.arena(0), 1)])
    weights = Weights.of_view(entries, memoryview(bytes(data)))
    return replace(base, tasks=tuple(done), weights=weights, **changes)


def call(label: str, ins: list[HostValue], outs: list[HostValue]) -> HostTask:
    return HostTask(label, 0, 0, Operand(Space.WEIGHTS, 0, 0), tuple(ins), tuple(outs))


def vector(place: Operand, n: int) -> HostTensor:
    return HostTensor(place, "f32", (n,))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_native_work_goes_on_behind_a_call(make, x: np.ndarray, ranks: int) -> None:
    n = make.N
    tasks: list[Task] = [
        make.task("affine", 0, make.graph_input(0), make.arena(0), 2),
        call("CumSum", [vector(make.arena(0), n)], [vector(make.arena(1), n)]),
        make.task("affine", 0, make.arena(1), make.arena(2), 3),
        call("Neg", [vector(make.arena(2), n)], [vector(make.graph_output(0), n)]),
    ]
    axis = helper.make_node("Constant", [], ["axis"], value_int=0)
    first = program([axis, helper.make_node("CumSum", ["a", "axis"], ["b"])], [value("a")], [value("b")])
    second = program([helper.make_node("Neg", ["a"], ["b"])], [value("a")], [value("b")])
    model = from_bytes(to_bytes(with_calls(make, tasks, [first, second])))
    with Executor(model, threads=ranks, affinity="none") as executor:
        for factor in (1, 2):
            found = executor.run([x * np.float32(factor)])["y0"]
            expected = -(np.cumsum(x * np.float32(factor) * 2 + 1, dtype=np.float32) * 3 + 1)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
        profile = Profile()
        executor.run([x], profile=profile)
        spans = [task.ranks[0] for task in profile.last]
        assert all(span is not None for span in spans), "every task is timed, host calls as well"
        starts, ends = zip(*filter(None, spans), strict=True)
        assert all(end <= start for end, start in zip(ends, starts[1:], strict=False)), "by one clock, in order"
        assert profile.last[1].wall_ns > 10_000, "what Python does takes more than ten microseconds"
        events = [e["name"] for e in chrome_trace(profile.runs)["traceEvents"] if e["ph"] == "X" and e["tid"] == 0]
        assert events == ["Affine", "CumSum", "Affine", "Neg"]


def test_results_are_the_callers_own(make) -> None:
    """The program's constants, and the objects given to it, stay as they are when a result is changed."""
    kinds = ["tensor(string)", "seq(tensor(float))"]
    code = program(
        [
            helper.make_node("Constant", [], ["c"], value_strings=["a", "b"]),
            helper.make_node("Identity", ["s"], ["t"]),
        ],
        [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
        [value("c", TensorProto.STRING), helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)],
    )
    tasks: list[Task] = [call("Both", [HostObject(0, kinds[1])], [HostObject(1, kinds[0]), HostObject(2, kinds[1])])]
    model = with_calls(
        make,
        tasks,
        [code],
        inputs=(IoDesc("s", kinds[1], (), None, 0),),
        outputs=(IoDesc("c", kinds[0], (), None, 1), IoDesc("t", kinds[1], (), None, 2)),
        slots=3,
    )
    given = [np.ones(2, np.float32)]
    with Executor(model, threads=1) as executor:
        found = executor.run([given])
        found["c"][0] = "changed"
        found["t"][0][:] = 7
        found["t"].append(None)
        again = executor.run([given])
    assert again["c"].tolist() == ["a", "b"]
    assert [array.tolist() for array in again["t"]] == [array.tolist() for array in given] == [[1, 1]]


def strings(make) -> OmModel:
    """t = s + s, and whether its first string equals that of the constant "ab"."""
    tasks: list[Task] = [call("StringConcat", [HostObject(0, STRINGS)], [HostObject(1, STRINGS)])]
    code = program(
        [helper.make_node("StringConcat", ["s", "s"], ["t"])],
        [value("s", TensorProto.STRING)],
        [value("t", TensorProto.STRING)],
    )
    inputs = (IoDesc("s", STRINGS, (-1,), None, 0),)
    outputs = (IoDesc("t", STRINGS, (-1,), None, 1),)
    return with_calls(make, tasks, [code], inputs=inputs, outputs=outputs, slots=2)


def test_objects_pass_through_slots(make) -> None:
    with Executor(strings(make), threads=2, affinity="none") as executor:
        assert executor.run({"s": np.array(["a", "bc"])})["t"].tolist() == ["aa", "bcbc"]
        assert executor.run([["x"]])["t"].tolist() == ["xx"]
        with pytest.raises(InputError, match=r"'s' has element type float64, expected strings"):
            executor.run({"s": np.zeros(3)})
        with pytest.raises(InputError, match=r"'s' has shape \[1, 1\], expected \[-1\]"):
            executor.run({"s": [["x"]]})
        with pytest.raises(InputError, match=r"'s' is missing.*'t' is not an input(.|\n)*'s' tensor\(string\)\[-1\]"):
            executor.run({"t": ["x"]})


def test_sequences_and_data_dependent_shapes(make) -> None:
    kinds = ["seq(tensor(float))", "tensor(int64)"]
    tasks: list[Task] = [
        call("ConcatFromSequence", [HostObject(0, kinds[0])], [HostObject(1, "tensor(float)")]),
        call("NonZero", [HostObject(1, "tensor(float)")], [HostObject(0, kinds[1])]),
    ]
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    first = program([helper.make_node("ConcatFromSequence", ["s"], ["t"], axis=0)], [sequence], [value("t")])
    second = program([helper.make_node("NonZero", ["t"], ["u"])], [value("t")], [value("u", TensorProto.INT64)])
    inputs = (IoDesc("s", kinds[0], (), None, 0),)
    outputs = (IoDesc("u", kinds[1], (1, -1), None, 0),)
    model = with_calls(make, tasks, [first, second], inputs=inputs, outputs=outputs, slots=2)
    with Executor(model, threads=1, affinity="none") as executor:
        found = executor.run({"s": [np.array([0, 2], np.float32), np.array([3], np.float32)]})["u"]
        np.testing.assert_array_equal(found, [[1, 2]])
        with pytest.raises(InputError, match=r"'s' is int, expected a list for seq\(tensor\(float\)\)"):
            executor.run({"s": 3})


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_call_inside_a_loop(make, x: np.ndarray, ranks: int) -> None:
    n = make.N
    counter = Operand(Space.ARENA, 4 * n * 4, 4)
    tasks: list[Task] = [
        make.task("affine", 0, make.graph_input(0), make.arena(0), 1),
        LabelTask(0, 0, 0),
        call("Neg", [vector(make.arena(0), n)], [vector(make.arena(1), n)]),
        make.task("affine", 0, make.arena(1), make.arena(0), 1),
        make.task("count", 0, counter, counter, 0, 1),
        SwitchTask(counter, (0, 0, 0, 1), 0, 0),
        GotoTask(0, 0, 0),
        LabelTask(1, 0, 0),
        make.task("affine", 0, make.arena(0), make.graph_output(0), 1),
        make.task("reset", 0, counter, counter, 0, 1),
    ]
    code = program([helper.make_node("Neg", ["a"], ["b"])], [value("a")], [value("b")])
    with Executor(with_calls(make, tasks, [code]), threads=ranks, affinity="none") as executor:
        for _ in range(2):
            expected = x + np.float32(1)
            for _ in range(3):
                expected = -expected + np.float32(1)
            np.testing.assert_array_equal(executor.run([x])["y0"], expected + np.float32(1))


def test_a_result_of_another_shape_is_an_error_and_the_executor_goes_on(make, x: np.ndarray) -> None:
    n = make.N
    tasks: list[Task] = [call("Compress", [vector(make.graph_input(0), n)], [vector(make.graph_output(0), n)])]
    nodes = [
        helper.make_node("Constant", [], ["zero"], value_float=-1e9),
        helper.make_node("Greater", ["a", "zero"], ["mask"]),
        helper.make_node("Compress", ["a", "mask"], ["b"]),
    ]
    code = program(nodes, [value("a")], [value("b")])
    with Executor(with_calls(make, tasks, [code]), threads=1, affinity="none") as executor:
        np.testing.assert_array_equal(executor.run([x])["y0"], x)
        bad = x.copy()
        bad[3] = -np.inf
        with pytest.raises(
            GeccError, match=rf"output 0 is float32\[{n - 1}\], expected float32\[{n}\](.|\n)*'Compress'"
        ):
            executor.run([bad])
        np.testing.assert_array_equal(executor.run([x])["y0"], x)


def test_what_the_evaluator_raises_names_the_node(make, x: np.ndarray) -> None:
    n = make.N
    tasks: list[Task] = [call("Reshape", [vector(make.graph_input(0), n)], [vector(make.graph_output(0), n)])]
    nodes = [
        helper.make_node("Constant", [], ["shape"], value_ints=[7, -1]),
        helper.make_node("Reshape", ["a", "shape"], ["b"]),
    ]
    code = program(nodes, [value("a")], [value("b")])
    with Executor(with_calls(make, tasks, [code]), threads=1, affinity="none") as executor:
        with pytest.raises(GeccError, match=r"the host engine failed: (.|\n)*task 0 'Reshape' of 'by_hand'.*'onnx/0'"):
            executor.run([x])


def test_a_program_that_onnx_does_not_read_is_refused_at_load(make) -> None:
    tasks: list[Task] = [call("Neg", [], [])]
    with pytest.raises(OmError, match="does not take the program"):
        Executor(with_calls(make, tasks, [b"\xff\xff\xff"]), threads=1)
    code = program([helper.make_node("Neg", ["a"], ["b"])], [value("a")], [value("b")])
    with pytest.raises(OmError, match="the program has 1 inputs and 1 outputs, expected 0 inputs and 0 outputs"):
        Executor(with_calls(make, tasks, [code]), threads=1)


def test_without_onnx_only_models_with_host_calls_are_refused(tmp_path: Path, make) -> None:
    write(strings(make), tmp_path / "strings.om")
    write(make.chain(2), tmp_path / "plain.om")
    script = """
import sys
sys.modules["onnx"] = None
import gecc.runtime.executor as e
e.load(sys.argv[1]).close()
try:
    e.load(sys.argv[2])
except e.GeccError as error:
    print(error)
"""
    run = [sys.executable, "-c", script, str(tmp_path / "plain.om"), str(tmp_path / "strings.om")]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "the host engine needs the package onnx" in found
    assert "'StringConcat'" in found
    assert "pip install onnx" in found


@pytest.mark.parametrize("nested", [False, True])
def test_a_program_reads_no_files(nested: bool) -> None:
    """Weights of a program are its own, also those of branches and attributes."""
    outside = onnx.TensorProto(
        name="w", data_type=onnx.TensorProto.FLOAT, dims=[2], data_location=onnx.TensorProto.EXTERNAL
    )
    outside.external_data.add(key="location", value="secret")
    const = helper.make_node("Constant", [], ["y"], value=outside)
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
    inside = helper.make_graph([const], "inside", [], [result])
    if nested:
        const = helper.make_node("If", ["c"], ["y"], then_branch=inside, else_branch=inside)
    flag = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    graph = helper.make_graph([const], "outer", [flag], [result])
    with pytest.raises(InvalidModelError, match="tensor 'w' of the program is kept in another file"):
        Program(helper.make_model(graph).SerializeToString())
