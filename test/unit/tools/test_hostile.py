"""Text and om files of strangers, given to the tools: whatever they hold is an error in words or a result, in time, and no
terminal obeys what they say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from xdsl.utils.exceptions import DiagnosticException, ParseError

from gecc import api, translate
from gecc.errors import InputError, InvalidModelError, OmError, WeightError
from gecc.om.records import GotoTask, GraphNode, IoDesc, KernelEntry, KernelTask, LabelTask, OmModel, Source, TensorDesc
from gecc.om.writer import to_bytes, write
from gecc.plain import MOST, printable, shortened
from gecc.tools.gecc_run import main as run
from gecc.tools.gecc_translate import main
from test.unit.tools.models import mlp, save

ODD = 'a\x1b]0;title\x07\n"quote"\\\u202e\u2028\x9b31m\U0010ffff\x00'
"""What a terminal obeys, what turns the direction of text, what ends a line or a string."""


def attribute(text: str) -> str:
    return f"builtin.module attributes {{a = {text}}} {{}}"


# ---------------------------------------------------------------------------------------------------------------- text


def read(folder: Path, text: str) -> translate.Subject:
    path = folder / "x.mlir"
    path.write_text(text)
    return translate.read(str(path), "mlir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (attribute("[" * 100_000), "nested too deeply"),
        (attribute("[" * 3000 + "]" * 3000), "nested too deeply"),
        (attribute("tuple<" * 3000 + "i1" + ">" * 3000), "nested too deeply"),
        ("builtin.module {" * 3000 + "}" * 3000, "nested too deeply"),
        (attribute("9" * 5000), "says nothing that IR can hold: ValueError"),
        (attribute("0x" + "f" * 5000), "says nothing that IR can hold: ValueError"),
        (attribute("1 : i" + "9" * 20), "says nothing that IR can hold"),
        (attribute("tensor<" + "9" * 5000 + "xf32>"), "says nothing that IR can hold: ValueError"),
        (attribute("array<i640: 1>"), "says nothing that IR can hold: NotImplementedError"),
        (attribute("tensor<" + "9x" * 50_000 + "f32>"), "a word has more than 4096 characters"),
    ],
    ids=lambda text: text[:50],
)
def test_text_that_no_module_is(tmp_path: Path, text: str, message: str) -> None:
    start = time.process_time()
    with pytest.raises((InvalidModelError, ParseError), match=message):
        read(tmp_path, text)
    assert time.process_time() - start < 3


def om_text(body: str) -> str:
    head = 'om.model "m" target "x86-64-v3" abi 2 arena 64 scratch 0 producer "p"'
    return f"builtin.module {{ {head} {{\n{body}\n}} }}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("om.goto 0 node 0\nom.label 0 node 0\n" + 'om.input "x" : tensor<4xf32>', "comes after the first task"),
        ('om.output "y" : tensor<4xf32>\nom.input "x" : tensor<4xf32>', "comes after 'om.output'"),
        (
            '%1 = om.node "Exp" "n"(%0 : tensor<4xf32>) onnx [] -> tensor<4xf32>\n'
            '%0 = om.node "Exp" "n"() onnx [] -> tensor<4xf32>',
            "uses a value of type tensor<4xf32> that no operation before makes",
        ),
        ('om.output "y" : tensor<4xf32> = %9 : tensor<4xf32>', "%9"),
    ],
)
def test_om_text_out_of_order(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises((DiagnosticException, ParseError), match=message):
        read(tmp_path, om_text(body))


@pytest.mark.parametrize("name", ["../x", "a\\00b", "", "..", "x/y"])
def test_side_files_are_beside_the_text(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeightError, match="expected the name of a file in the same folder"):
        read(tmp_path, f'builtin.module attributes {{ge.weights = "{name}"}} {{}}')


def test_a_pipe_is_no_side_file(tmp_path: Path) -> None:
    """Opened as a file, it would wait for who writes to it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WeightError, match="expected a regular file of weights"):
        read(tmp_path, 'builtin.module attributes {ge.weights = "pipe"} {}')


# ------------------------------------------------------------------------------------------------------------ terminals


def test_what_does_not_print_is_escaped() -> None:
    assert printable("ü 漢 \n\tx") == "ü 漢 \n\tx"
    assert printable("a\x1b[0m\x9b\u202e\ud800", keep="") == "a\\x1b[0m\\x9b\\u202e\\ud800"
    assert printable("a\nb", keep="") == "a\\nb"
    assert shortened("x" * MOST) == "x" * MOST
    cut = shortened("x" * (10 * MOST))
    assert len(cut) < MOST and "characters) .. x" in cut


def test_messages_quote_files_without_harm() -> None:
    error = OmError(f"op name '{ODD}'", where=f"'f.om', op {ODD}", hint="h")
    lines = str(error).split("\n")
    assert len(lines) == 3 and all(line.isprintable() for line in lines)
    assert "\\x1b]0;title" in lines[0] and "\\n" in lines[0]
    assert len(str(OmError("x" * 1_000_000))) < MOST
    assert str(InputError("one\ntwo\x1b")) == "one\ntwo\\x1b"  # messages of ours may have lines


def odd() -> OmModel:
    """A model whose every name is odd."""
    return OmModel(
        name=ODD,
        target=ODD,
        abi=2,
        inputs=(IoDesc(ODD, "f32", (4,)),),
        outputs=(IoDesc(ODD, "f32", (4,)),),
        nodes=(GraphNode(ODD, ODD, (Source("input", 0),), (TensorDesc("f32", (4,), ODD),), (ODD,), {"a": ODD}),),
        blob=b"\x1b[0m\xff" * 4,
        kernels=(KernelEntry(ODD, 0, 20),),
        portable=True,
        tasks=(KernelTask(ODD, ODD, 0, 0, 1, ()),),
        producer=ODD,
        attrs={"atc_cmdline": ODD, "b": (ODD, "")},
    )


@pytest.mark.parametrize(
    "view", [["--info"], ["--to", "json"], ["--disassemble"], ["--diff", "other.om"], ["--to", "mlir"]]
)
def test_no_terminal_obeys_a_file(
    tmp_path: Path, view: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = replace(odd(), tasks=(replace(odd().tasks[0], n_outs=0),))
    write(model, "odd.om")
    write(replace(model, name=f"{ODD}2", nodes=(replace(model.nodes[0], name=f"{ODD}2"),)), "other.om")
    assert main(["odd.om", *view]) == (1 if "--diff" in view else 0)
    text = capsys.readouterr().out
    assert text
    assert all(line.isprintable() for line in text.replace("\t", "").split("\n"))
    if "json" in view:
        assert json.loads(text)["name"] == ODD


def test_odd_names_survive_text(tmp_path: Path) -> None:
    model = replace(odd(), tasks=(replace(odd().tasks[0], n_outs=0),))
    write(model, tmp_path / "odd.om")
    assert main([str(tmp_path / "odd.om"), "-o", str(tmp_path / "odd.mlir")]) == 0
    assert main([str(tmp_path / "odd.mlir"), "-o", str(tmp_path / "back.om")]) == 0
    assert (tmp_path / "back.om").read_bytes() == to_bytes(model)


def test_objects_of_any_type_are_drawn(tmp_path: Path) -> None:
    """An om with objects becomes a picture for Netron, also when a type is none of ONNX's."""
    kinds = ("tensor(string)", "seq(tensor(float))", "tensor(nothing)", "seq(" * 500 + "x" + ")" * 500)
    nodes = tuple(GraphNode(f"n{i}", "Op", (), (TensorDesc(kind, ()),)) for i, kind in enumerate(kinds))
    write(OmModel("m", "x86-64-v3", 2, nodes=nodes), tmp_path / "o.om")
    assert main([str(tmp_path / "o.om"), "--to", "onnx", "-o", str(tmp_path / "o.onnx")]) == 0


# ------------------------------------------------------------------------------------------------------- no end, no bound


def test_an_input_that_no_memory_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = api.compile(save(mlp(), tmp_path, "mlp.onnx")).om
    great = (*model.inputs, IoDesc("great", "f32", (1 << 44,)))
    write(replace(model, inputs=great), tmp_path / "great.om")
    assert run([str(tmp_path / "great.om")]) == 1
    assert capsys.readouterr().err.startswith("error: not enough memory: Unable to allocate")


def test_a_run_without_end_can_be_interrupted(tmp_path: Path) -> None:
    """Tasks that jump back for ever are native code that never returns to Python."""
    model = api.compile(save(mlp(), tmp_path, "mlp.onnx")).om
    tasks = (LabelTask(0, 0, 0), GotoTask(0, 0, 1))
    write(replace(model, tasks=tasks), tmp_path / "endless.om")
    command = [sys.executable, "-m", "gecc.tools.gecc_run", str(tmp_path / "endless.om"), "--threads", "1"]
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # who starts the tests in the background ignores it
    with subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=listen) as process:
        try:
            stat = Path(f"/proc/{process.pid}/stat")
            until = time.monotonic() + 60
            ticks = 4 * os.sysconf("SC_CLK_TCK")  # more than all takes but the loop
            while process.poll() is None and int(stat.read_text().rpartition(")")[2].split()[11]) < ticks:
                assert time.monotonic() < until
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == -signal.SIGINT
        finally:
            process.kill()
