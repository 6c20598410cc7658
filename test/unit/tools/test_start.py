"""The tools as processes: their help, and that light work imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from test.unit.tools.conftest import Compiled

HEAVY = {"numpy", "onnx", "llvmlite", "xdsl", "google", "ml_dtypes", "onnxruntime"}


def loaded(code: str, cwd: Path) -> set[str]:
    """Names of HEAVY that a process running `code` has imported."""
    show = f"\nimport sys; print('HEAVY', *sorted(set(m.split('.')[0] for m in sys.modules) & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code + show], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rsplit("HEAVY", 1)[1].split())


@pytest.mark.parametrize("tool", ["gecc_translate", "gecc_run", "gecc_bench"])
def test_help_is_light(tool: str, tmp_path: Path) -> None:
    code = (
        f"from gecc.tools.{tool} import main\ntry: main(['--help'])\nexcept SystemExit as stop: assert stop.code == 0"
    )
    assert loaded(code, tmp_path) <= {"numpy"}


def test_loading_an_om_needs_nothing_of_the_compiler(compiled: Compiled, tmp_path: Path) -> None:
    code = f"""
import gecc, numpy
with gecc.load({compiled.om!r}) as executor:
    executor.run({{"x": numpy.zeros((4, 32), numpy.float32)}})
"""
    assert loaded(code, tmp_path) == {"numpy", "google"}
    code = f"from gecc.tools.gecc_run import main\nassert main([{compiled.om!r}, '--profile']) == 0"
    assert loaded(code, tmp_path) == {"numpy", "google"}
    for argv in (["--mode=6", f"--om={compiled.om}"], ["--mode=1", f"--om={compiled.om}", "--json=a.json"]):
        code = f"from gecc.tools.gecc_translate import main\nassert main({argv!r}) == 0"
        assert loaded(code, tmp_path) <= {"numpy", "google"}


def test_a_wrong_line_for_atc_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    code = "from gecc.tools.gecc_translate import main\nassert main(['--mode=7']) == 2"
    assert loaded(code, tmp_path) == set()


@pytest.mark.parametrize("tool", ["gecc-opt", "gecc-translate", "gecc-run", "gecc-bench"])
def test_console_scripts(tool: str, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name(tool)
    done = subprocess.run([script, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith(f"usage: {tool}")
    done = subprocess.run([script, "--frobnicate"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "error: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("gecc_opt", ["model.mlir"]),
        ("gecc_translate", ["model.onnx", "-o", "model.om"]),
        ("gecc_translate", ["--model=model.onnx", "--framework=5", "--output=model"]),
        ("gecc_run", ["model.onnx"]),
        ("gecc_bench", ["model.onnx"]),
    ],
)
def test_without_the_compiler_the_tools_say_what_to_install(tool: str, arguments: list[str], tmp_path: Path) -> None:
    """As after a plain `pip install gecc`: the packages of the compiler cannot be imported."""
    hide = "import sys\nfor name in ('xdsl', 'onnx', 'llvmlite', 'ml_dtypes'): sys.modules[name] = None\n"
    code = hide + f"from gecc.tools.{tool} import main\nsys.exit(main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: this needs the package xdsl" in done.stderr and "pip install 'gecc[compile]'" in done.stderr
    assert "Traceback" not in done.stderr and list(tmp_path.iterdir()) == []
