"""The same model gives the same bytes: in another directory, with other hash seeds, from a cold cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test.unit.tools.models import DIGITS, mlp, save

COMPILE = """
import sys, gecc
for level in ("O0", "O2"):
    gecc.compile(sys.argv[1], input_shapes=eval(sys.argv[2]), opt_level=level).save(f"{level}.om")
"""


def digests(model: str, shapes: str, folder: Path, **environment: str) -> list[str]:
    """Digests of what a process compiles in `folder`."""
    folder.mkdir()
    copy = folder / "net.onnx"
    shutil.copy(model, copy)
    subprocess.run(
        [sys.executable, "-c", COMPILE, str(copy), shapes], cwd=folder, env=os.environ | environment, check=True
    )
    return [hashlib.sha256((folder / f"{level}.om").read_bytes()).hexdigest() for level in ("O0", "O2")]


@pytest.mark.parametrize("name", ["mlp", "digits"])
def test_bytes_are_the_same(name: str, tmp_path: Path) -> None:
    model = save(mlp(), tmp_path) if name == "mlp" else str(DIGITS)
    shapes = "{}" if name == "mlp" else "{'image': (3, 1, 8, 8)}"
    first = digests(model, shapes, tmp_path / "one", PYTHONHASHSEED="0")
    home = tmp_path / "home"  # an empty cache of objects
    home.mkdir()
    assert digests(model, shapes, tmp_path / "another", PYTHONHASHSEED="12345", HOME=str(home)) == first
    assert first[0] != first[1]
