"""gecc-translate with atc's flags: what each mode does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled

ATC = ("--framework=5", "--soc_version=Ascend310P3")


def test_mode_0_writes_an_om(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, *ATC, f"--model={compiled.onnx}", f"--output={tmp_path / 'a'}")
    assert done.code == 0, done.err
    assert done.err.count("\n") == 1 and "for a CPU, not for this chip" in done.err
    assert (tmp_path / "a.om").read_bytes() == Path(compiled.om).read_bytes()
    assert call(main, *ATC, f"--model={compiled.onnx}", f"--output={tmp_path / 'b.om'}").code == 0
    assert sorted(path.name for path in tmp_path.glob("*.om")) == ["a.om", "b.om"]


def test_own_options_go_with_atcs(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, *ATC, f"--model={compiled.onnx}", f"--output={tmp_path / 'a'}", "-O0")
    assert done.code == 0
    assert "-O0" in call(main, "--mode=6", f"--om={tmp_path / 'a.om'}").out


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
        (["--mode=6"], "E10004: --om is missing"),
        (["--mode=30"], "--mode=30 is not supported"),
    ],
)
def test_what_is_missing(call: Call, argv: list[str], said: str) -> None:
    done = call(main, *argv)
    assert done.code == 2 and said in done.err and done.out == ""


def test_mode_1_writes_json(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, "--mode=1", f"--om={compiled.om}", f"--json={tmp_path / 'a.json'}")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "a.json").read_text())["name"] == "mlp"
