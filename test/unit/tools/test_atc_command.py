"""Reading an atc command line by the table of flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from gecc.errors import CliError
from gecc.switches import FUSIONS
from gecc.tools.atc.command import is_atc, read
from gecc.tools.atc.flags import FLAGS, SWITCH, TEXT, TRUTH, State
from gecc.tools.atc.help import help_text
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled

IGNORED = [name for name, flag in FLAGS.items() if flag.state is State.IGNORED]
REFUSED = [name for name, flag in FLAGS.items() if flag.state is State.REFUSED]


def test_who_is_spoken_to() -> None:
    assert is_atc(["--mode=0"]) and is_atc(["--output=x", "--om", "a.om"]) and is_atc(["-framework=5"])
    assert not is_atc(["net.onnx", "--output", "net.om"]) and not is_atc(["--help"]) and not is_atc([])
    assert not is_atc(["net.onnx", "-o", "net.om", "--memory-effort=best", "--input-shape=x:1"])


def test_values_as_atc_takes_them() -> None:
    command = read(["--model=a.onnx", "-framework=5", "--output", "d", "-O1"])
    assert command["model"] == "a.onnx" and command["framework"] == "5" and command["output"] == "d"
    assert command["mode"] == "0" and "mode" not in command and command["json"] is None
    assert command.own.level == "1"
    assert read(["--mode=1", "--mode=6"])["mode"] == "6"
    quoted = read(['--input_shape="x:1,3"', "--out_nodes=' a:0;b '", "--model='"])
    assert (quoted["input_shape"], quoted["out_nodes"], quoted["model"]) == ("x:1,3", "a:0;b", "'")


@pytest.mark.parametrize(
    ("argument", "code", "said"),
    [
        ("--mode=7", "E10007", "--mode is '7', expected one of 0, 1, 3, 5, 6"),
        ("--framework=9", "E10007", "expected one of 0, 1, 3, 5"),
        ("--dump_mode=true", "E10006", "expected 0 or 1"),
        ("--oo_constant_folding=1", "E10005", "expected true or false"),
        ("--model=", "E10004", "--model has no value"),
        ("--model", "E10004", "--model has no value"),
        ("--input_format=CHW", "E10007", "expected one of NCHW, NHWC, ND"),
    ],
)
def test_bad_values(argument: str, code: str, said: str) -> None:
    with pytest.raises(CliError) as caught:
        read([argument])
    assert code in str(caught.value) and said in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("--modle=a", "did you mean --mode"),
        ("--soc_verison=a", "did you mean --soc_version"),
        ("--memory-efort=best", "did you mean --memory-effort"),
        ("--zzz", "--help lists the flags"),
        ("net.onnx", "--model=FILE names the model"),
    ],
)
def test_unknown_flags_name_the_nearest(argument: str, hint: str) -> None:
    with pytest.raises(CliError) as caught:
        read(["--mode=0", argument])
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", IGNORED)
def test_an_ignored_flag_is_one_line(name: str, call: Call, compiled: Compiled) -> None:
    plain = call(main, "--mode=6", f"--om={compiled.om}")
    done = call(main, "--mode=6", f"--om={compiled.om}", f"--{name}=anything")
    assert done.code == 0 and done.out == plain.out and plain.err == ""
    lines = done.err.splitlines()
    assert len(lines) == 1 and f"warning: --{name} is ignored: " in lines[0]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_flag_is_an_error(name: str, call: Call, compiled: Compiled) -> None:
    done = call(main, "--mode=6", f"--om={compiled.om}", f"--{name}=anything")
    assert done.code == 2 and f"--{name} cannot be followed" in done.err and done.out == ""


def test_help_names_every_flag(call: Call) -> None:
    text = help_text()
    assert all(f"--{name}" in text for name in FLAGS)
    assert text in call(main, "--help").out
    assert text in call(main, "--mode=0", "--help").out
    assert max(map(len, text.splitlines())) <= 100


def test_the_table_is_sound() -> None:
    for flag in FLAGS.values():
        assert isinstance(flag.takes, tuple) or flag.takes in (TEXT, SWITCH, TRUTH)
        if isinstance(flag.takes, tuple) and flag.default is not None:
            assert flag.default in flag.takes


def test_the_docs_tell_of_every_flag_and_fusion() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "atc.md").read_text()
    followed, _, rest = text.partition("## Flags that are ignored")
    ignored, _, refused = rest.partition("## Flags that are refused")
    places = {State.FOLLOWED: followed, State.IGNORED: ignored, State.REFUSED: refused}
    for name, flag in FLAGS.items():
        assert [state for state, place in places.items() if f"`--{name}`" in place] == [flag.state] or name == "mode"
    assert all(fusion.name in followed for fusion in FUSIONS)
