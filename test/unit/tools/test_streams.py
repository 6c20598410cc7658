"""Files and streams that gecc-translate writes: full disks, pipes, names in any language, keys of no use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gecc.errors import CliError
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled
from test.unit.tools.models import lookup, save

ROOT = Path(__file__).resolve().parents[3]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("view", [["--to", "mlir"], ["--to", "json"], ["--info"], ["--disassemble"]])
def test_text_goes_to_stdout(call: Call, compiled: Compiled, tmp_path: Path, view: list[str]) -> None:
    plain = call(main, compiled.om, *view)
    assert plain.code == 0 and plain.out
    assert call(main, compiled.om, *view, "-o", "-").out == plain.out
    assert names(tmp_path) == []


def test_an_om_goes_to_no_stdout(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--to", "om", "-o", "-")
    assert done.code == 2 and "no file to write" in done.err


@pytest.mark.parametrize("form", ["mlir", "json", "info", "onnx", "om"])
def test_a_disk_that_is_full_is_told_in_words(call: Call, compiled: Compiled, form: str) -> None:
    options = ["--info"] if form == "info" else ["--to", form]
    done = call(main, compiled.onnx if form in ("onnx", "om") else compiled.om, *options, "-o", "/dev/full")
    why = "it is no regular file" if form == "om" else "No space left on device"
    assert done.code == 2 and f"cannot write '/dev/full': {why}" in done.err, done.err


def run_in_shell(line: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command line of the shell, in which $T is gecc-translate and $1 .. are arguments."""
    line = line.replace("$T", f"{sys.executable} -m gecc.tools.gecc_translate")
    return subprocess.run(["sh", "-c", line, "sh", *arguments], capture_output=True, timeout=120, cwd=ROOT)


@pytest.mark.parametrize("buffered", ["", "1"])
def test_stdout_that_takes_no_more_is_told_in_words(compiled: Compiled, buffered: str) -> None:
    done = run_in_shell(f"PYTHONUNBUFFERED={buffered} $T $1 --info >/dev/full", compiled.om)
    said = b"gecc-translate: error: cannot write to stdout: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_pipes_take_text_and_give_models(compiled: Compiled, tmp_path: Path) -> None:
    plain = run_in_shell("$T $1 --to mlir", compiled.om)
    assert run_in_shell("$T $1 --to mlir -o /dev/stdout | cat", compiled.om).stdout.startswith(plain.stdout)
    done = run_in_shell("$T $1 --to om -o /dev/stdout | cat", compiled.onnx)
    assert b"cannot write '/dev/stdout': it is no regular file" in done.stderr
    done = run_in_shell("cat $1 | $T /dev/stdin --from onnx -o $2", compiled.onnx, str(tmp_path / "m.om"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.om").read_bytes() == Path(compiled.om).read_bytes()


def test_names_in_any_language_read_back(call: Call, tmp_path: Path) -> None:
    """Names of nodes, inputs, weights, the graph and files with letters that xDSL prints as escaped bytes."""
    folder = tmp_path / "ü ñ"
    folder.mkdir()
    model = lookup()
    for node in model.graph.node:
        node.name = f'узел "{node.op_type}" \\ 100% 🚀\n'
        for ends in (node.input, node.output):
            ends[:] = [end and f"中 {end}" for end in ends]
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        value.name = f"中 {value.name}"
    model.graph.name = "граф"
    source = save(model, folder, "é.onnx")
    assert call(main, source, "-o", folder / "é.om").code == 0
    expected = (folder / "é.om").read_bytes()
    for number, options in enumerate(([source], [source, "-O2", "--stage", "fused"], [folder / "é.om"])):
        text = folder / f"{number} é.mlir"
        done = call(main, *options, "-o", text)
        assert done.code == 0, done.err
        done = call(main, text, "-o", folder / "again.om")
        assert done.code == 0, done.err
        assert (folder / "again.om").read_bytes() == expected


def test_a_key_of_no_use_leaves_no_unsigned_om(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    (tmp_path / "key.pem").write_text("no key")
    (tmp_path / "old.om").write_bytes(b"old")
    for name in ("new.om", "old.om"):
        done = call(main, compiled.onnx, "-o", tmp_path / name, "--sign", tmp_path / "key.pem")
        assert done.code == 2 and "key.pem' is no private key" in done.err
    assert names(tmp_path) == ["key.pem", "old.om"]
    assert (tmp_path / "old.om").read_bytes() == b"old"


def test_an_om_has_its_name_only_when_it_is_signed(tmp_path: Path) -> None:
    """Who kills the compiler at any moment finds the old file or the signed one."""
    from gecc.om.writer import write
    from test.unit.om.samples import mlp as sample

    seen: list[tuple[bool, bytes]] = []
    path = tmp_path / "m.om"
    write(sample(), path, finish=lambda file: seen.append((path.exists(), Path(file).read_bytes())))
    assert seen == [(False, path.read_bytes())]

    def fail(_: str) -> None:
        raise CliError("no")

    path.write_bytes(b"old")
    with pytest.raises(CliError):
        write(sample(), path, finish=fail)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["m.om"]
