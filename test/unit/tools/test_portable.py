"""The command lines on portable oms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gecc.om.reader import read
from gecc.om.records import SCHEMA_OF_PAIRS
from gecc.tools.gecc_run import main as run
from gecc.tools.gecc_translate import main as translate
from test.unit.tools.conftest import Call, Compiled


@pytest.fixture
def portable(call: Call, compiled: Compiled, tmp_path: Path) -> Path:
    """The model of `compiled` as a portable om."""
    path = tmp_path / "portable.om"
    done = call(translate, compiled.onnx, "-o", path, "--kernels=portable")
    assert done.code == 0, done.err
    return path


def test_it_runs_as_the_native_one(call: Call, compiled: Compiled, portable: Path, tmp_path: Path) -> None:
    for number, path in enumerate((compiled.om, portable)):
        done = call(run, path, "--seed", "3", "-o", tmp_path / f"{number}.npz")
        assert done.code == 0, done.err
    with np.load(tmp_path / "0.npz") as native, np.load(tmp_path / "1.npz") as found:
        for name in native:
            np.testing.assert_array_equal(found[name], native[name])
    assert call(run, compiled.onnx, "--kernels=portable", "--seed", "3", "--profile").code == 0
    done = call(run, portable, "--kernels=portable")
    assert done.code == 2
    assert "--kernels: for ONNX models, which are compiled here" in done.err


def test_text_and_back_is_the_same_file(call: Call, portable: Path, tmp_path: Path) -> None:
    assert call(translate, portable, "-o", tmp_path / "m.mlir").code == 0
    text = (tmp_path / "m.mlir").read_text()
    (line,) = (line for line in text.splitlines() if "om.model " in line)
    assert "> portable values" in line
    assert call(translate, tmp_path / "m.mlir", "-o", tmp_path / "back.om").code == 0
    assert (tmp_path / "back.om").read_bytes() == portable.read_bytes()
    assert call(translate, portable, "-o", tmp_path / "again.om", "--kernels=portable").code == 0
    assert (tmp_path / "again.om").read_bytes() == portable.read_bytes()


def test_views(call: Call, compiled: Compiled, portable: Path) -> None:
    info = call(translate, portable, "--info").out
    model = read(portable)
    size = memoryview(model.blob).nbytes
    assert f"{len(model.kernels)} in {size} bytes of tile IR, portable: compiled where it is loaded" in info
    assert "--kernels=portable" in info
    code = call(translate, portable, "--disassemble").out
    for kernel in model.kernels:
        assert f"{kernel.name}:  ; {kernel.size} bytes at {kernel.offset}" in code
        assert f"tile.kernel @{kernel.name}(" in code
    assert "; task 0" in code
    form = json.loads(call(translate, portable, "--to", "json").out)
    assert form["attr"]["gecc_schema"]["i"] == SCHEMA_OF_PAIRS
    done = call(translate, compiled.om, "--diff", portable)
    assert done.code == 1
    assert "portable: False | True" in done.out
    assert "kernel 'gecc_run': only in the first" in done.out
    assert call(translate, portable, "--diff", portable).out == "no difference\n"


def test_the_one_form_is_not_made_of_the_other(call: Call, compiled: Compiled, portable: Path, tmp_path: Path) -> None:
    for path, form, found in ((compiled.om, "portable", "native"), (portable, "native", "portable")):
        done = call(translate, path, "-o", tmp_path / "x.om", f"--kernels={form}")
        assert done.code == 1
        assert f"the om's kernels are {found}, asked for were {form}" in done.err
    done = call(translate, compiled.onnx, "-o", tmp_path / "x.mlir", "--kernels=portable")
    assert done.code == 2
    assert "--kernels is about om files" in done.err


def test_text_of_the_last_stage_becomes_either(call: Call, compiled: Compiled, portable: Path, tmp_path: Path) -> None:
    assert call(translate, compiled.onnx, "-O2", "--stage", "om", "-o", tmp_path / "m.mlir").code == 0
    assert call(translate, tmp_path / "m.mlir", "-o", tmp_path / "p.om", "--kernels=portable").code == 0
    assert read(tmp_path / "p.om").portable
    assert bytes(read(tmp_path / "p.om").blob) == bytes(read(portable).blob)
