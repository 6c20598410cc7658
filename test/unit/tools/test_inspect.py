"""gecc-translate's views of an om: --info, --to json, --disassemble, --diff."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gecc import api
from gecc.om.reader import read
from gecc.om.records import KernelTask
from gecc.om.writer import write
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled


class TestInfo:
    def test_it_tells_what_the_file_holds(self, call: Call, compiled: Compiled) -> None:
        done = call(main, compiled.om, "--info")
        assert done.code == 0, done.err
        lines = dict(line.split(":", 1) for line in done.out.splitlines())
        found = {name: value.strip() for name, value in lines.items()}
        model = read(compiled.om)
        assert found["options"] == f"-O2 --target={model.target}"
        assert found["file size"] == f"{Path(compiled.om).stat().st_size} bytes"
        assert found["arena"] == f"{model.arena_bytes} bytes"
        assert found["weights"] == f"{len(model.weights.entries)} in {model.weights.size} bytes"
        assert found["tasks"] == f"{len(model.tasks)} kernel"
        assert found["WEIGHTS_DATA size"] == f"{model.weights.size} bytes"
        assert found["input"] == "x f32[4, 32]"

    def test_it_is_about_om_files(self, call: Call, compiled: Compiled) -> None:
        done = call(main, compiled.onnx, "--info")
        assert done.code == 2
        assert f"--info looks into an om file, '{compiled.onnx}' is onnx" in done.err

    def test_a_damaged_file_is_refused(self, call: Call, compiled: Compiled, tmp_path: Path) -> None:
        (tmp_path / "bad.om").write_bytes(Path(compiled.om).read_bytes()[:-1])
        for option in ("--info", "--disassemble"):
            assert call(main, tmp_path / "bad.om", option).code == 1
        assert call(main, tmp_path / "bad.om", "--to", "json").code == 1
        assert call(main, compiled.om, "--diff", tmp_path / "bad.om").code == 1


class TestJson:
    @pytest.mark.parametrize("to_file", [True, False])
    def test_it_has_the_fields_of_the_messages(
        self, call: Call, compiled: Compiled, tmp_path: Path, to_file: bool
    ) -> None:
        if to_file:
            assert call(main, compiled.om, "-o", tmp_path / "m.json").code == 0
            text = (tmp_path / "m.json").read_text()
        else:
            text = call(main, compiled.om, "--to", "json").out
        form = json.loads(text)
        model = read(compiled.om)
        ops = form["graph"][0]["op"]
        assert [op["type"] for op in ops][-1] == "NetOutput"
        assert sum(op["type"] == "Const" for op in ops) == len(model.weights.entries)
        assert form["attr"]["memory_size"] == {"i": model.arena_bytes}
        assert form["attr"]["soc_version"] == {"s": model.target}
        assert ops[0]["output_desc"][0]["dtype"] == "DT_FLOAT"
        assert ops[0]["output_desc"][0]["shape"] == {"dim": [4, 32]}
        kernels = [task["kernel"]["kernel_name"] for task in form["task_info"]["task"] if "kernel" in task]
        assert kernels == [task.kernel for task in model.tasks if isinstance(task, KernelTask)]

    def test_it_is_not_read_back(self, call: Call, compiled: Compiled) -> None:
        assert call(main, compiled.onnx, "--to", "json").code == 2


class TestDisassembly:
    def test_each_kernel_is_shown(self, call: Call, compiled: Compiled) -> None:
        pytest.importorskip("capstone")
        done = call(main, compiled.om, "--disassemble")
        assert done.code == 0, done.err
        model = read(compiled.om)
        for kernel in model.kernels:
            assert f"{kernel.name}:  ; {kernel.size} bytes at {kernel.offset}" in done.out
        assert "vfmadd" in done.out
        assert "ret" in done.out
        assert "; task 0 'MatMulV2" in done.out

    def test_tile_ir_stands_beside_the_code_of_a_model(self, call: Call, compiled: Compiled) -> None:
        pytest.importorskip("capstone")
        done = call(main, compiled.onnx, "--disassemble")
        assert done.code == 0, done.err
        assert "; tile.kernel @MatMulV2" in done.out
        assert "vfmadd" in done.out

    def test_the_code_of_a_model_is_what_the_options_make_it(self, call: Call, compiled: Compiled) -> None:
        done = call(main, compiled.onnx, "--disassemble", "--kernels=portable", "--precision=fp16", "--memory-limit=8M")
        assert done.code == 0, done.err
        assert "tile.kernel @MatMulV2" in done.out and "vfmadd" not in done.out
        assert "memref<?xf16>" in done.out and "precision fp16: " in done.err
        done = call(main, compiled.onnx, "--disassemble", "--kernels=portable", "--memory-limit=1")
        assert done.code == 1 and "more than the limit of 1;" in done.err


class TestDiff:
    def test_equal_files(self, call: Call, compiled: Compiled) -> None:
        done = call(main, compiled.om, "--diff", compiled.om)
        assert (done.code, done.out) == (0, "no difference\n")

    def test_each_kind_of_difference_is_told(self, call: Call, compiled: Compiled, tmp_path: Path) -> None:
        model = read(compiled.om)
        first = model.tasks[0]
        assert isinstance(first, KernelTask)
        blob = bytearray(model.blob)
        last = model.kernels[-1]
        blob[last.offset] ^= 1
        weights = bytearray(model.weights.materialize())
        weights[model.weights.entries[0].offset] ^= 1
        changed = replace(
            model,
            name="other",
            arena_bytes=model.arena_bytes + 64,
            attrs={**model.attrs, "note": "new"},
            blob=bytes(blob),
            inputs=tuple(replace(io, name="z") for io in model.inputs),
            weights=type(model.weights).of_view(model.weights.entries, memoryview(weights)),
            tasks=(replace(first, blocks=first.blocks + 1), *model.tasks[1:]),
        )
        write(changed, tmp_path / "b.om")
        done = call(main, compiled.om, "--diff", tmp_path / "b.om")
        assert done.code == 1
        for line in (
            f"name: {model.name} | other",
            f"arena_bytes: {model.arena_bytes} | {model.arena_bytes + 64}",
            "attribute 'note': only in the second",
            "input 0 'x', name: x | z",
            f"task 0 '{first.label}', blocks: {first.blocks} | {first.blocks + 1}",
        ):
            assert line in done.out
        assert f"kernel '{last.name}': {last.size} bytes, sha256" in done.out
        assert f"weight '{model.weights.entries[0].name}': f32" in done.out
        assert len(done.out.splitlines()) == 7

    def test_levels_differ(self, call: Call, compiled: Compiled, tmp_path: Path) -> None:
        api.compile(compiled.onnx, opt_level="O0").save(tmp_path / "o0.om")
        done = call(main, compiled.om, "--diff", tmp_path / "o0.om")
        assert done.code == 1
        assert "attribute 'atc_cmdline': -O2" in done.out
        assert any(line.startswith("tasks: ") for line in done.out.splitlines())


def test_the_options_are_the_same_for_the_same_bytes(compiled: Compiled, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        api.compile(compiled.onnx).save(tmp_path / name / f"{name}.om")
    one, two = ((tmp_path / n / f"{n}.om").read_bytes() for n in ("a", "b"))
    assert one == two == Path(compiled.om).read_bytes()
    assert np.frombuffer(one, np.uint8).size
