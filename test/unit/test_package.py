"""What is installed: the wheel holds every module once, under gecc, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("gecc", "dialects", "passes", "tools")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree."""
    folder = tmp_path_factory.mktemp("package")
    tree = folder / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree / name)
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("gecc-*.whl"))


def test_every_module_is_in_the_wheel_once(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = sorted(name for name in archive.namelist() if ".dist-info/" not in name)
    expected = {"gecc/py.typed"}
    for name in FOLDERS:
        prefix = "" if name == "gecc" else "gecc/"
        for path in (ROOT / name).rglob("*.py"):
            if not path.is_relative_to(ROOT / "gecc") or not any(
                path.is_relative_to(ROOT / "gecc" / link) for link in FOLDERS
            ):
                expected.add(prefix + str(path.relative_to(ROOT)))
    assert found == sorted(expected)


def test_the_wheel_works_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """Unpacked, without the checkout on the path: registry of passes, dialects, tools."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, 'site')\n"
        "import gecc, gecc.tools.gecc_translate\n"
        "from gecc.passes import load_pass, pass_files\n"
        "from gecc.context import make_context\n"
        "assert gecc.__file__.startswith(sys.argv[1]), gecc.__file__\n"
        "for name in pass_files(): load_pass(name)\n"
        "assert make_context().get_dialect('ge')\n"
        "print(len(pass_files()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("METADATA"))
        metadata = archive.read(name).decode()
        scripts = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert "License-Expression: Apache-2.0 WITH LLVM-exception" in metadata
    plain = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra" not in line]
    assert [line.split(": ")[1].split(">")[0] for line in plain] == ["numpy", "protobuf"]
    for tool in ("opt", "translate", "run", "bench"):
        assert f"gecc-{tool} = gecc.tools.gecc_{tool}:main" in scripts


def test_console_scripts_are_installed() -> None:
    found = {e.name for e in entry_points(group="console_scripts") if e.value.startswith("gecc.tools.")}
    assert found == {"gecc-opt", "gecc-translate", "gecc-run", "gecc-bench"}
