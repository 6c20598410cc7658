"""The same model gives the same bytes: in another directory, with other hash seeds, locales and numbers of workers, from a
cold cache."""

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
import os, sys, gecc
model, shapes, gears, workers = sys.argv[1], *map(eval, sys.argv[2:])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
gecc.compile(model, input_shapes=shapes, opt_level="O0").save("O0.om")
gecc.compile(model, input_shapes=shapes).save("O2.om", external_weights=True)
gecc.compile(model, input_shapes=shapes, kernels="portable").save("portable.om")
gecc.compile(model, gears=gears).save("gears.om")
gecc.compile(model, input_shapes=shapes, precision="fp16").save("fp16.om")
"""


def digests(
    model: str, shapes: dict, gears: list[dict], folder: Path, workers: int, **environment: str
) -> dict[str, str]:
    """Digests of what a process writes in `folder`, by the names of the files."""
    folder.mkdir()
    copy = folder / "net.onnx"
    shutil.copy(model, copy)
    command = [sys.executable, "-c", COMPILE, str(copy), repr(shapes), repr(gears), str(workers)]
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=True)
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", ["mlp", "digits"])
def test_bytes_are_the_same(name: str, tmp_path: Path) -> None:
    model = save(mlp("n"), tmp_path) if name == "mlp" else str(DIGITS)
    sizes = [{"x": (n, 32)} if name == "mlp" else {"image": (n, 1, 8, 8)} for n in (3, 5)]
    utf8 = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    first = digests(model, sizes[0], sizes, tmp_path / "one", 2, **utf8)
    home = tmp_path / "home"  # an empty cache of objects
    home.mkdir()
    ascii = {
        "PYTHONHASHSEED": "12345",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "TZ": "Asia/Tokyo",
    }
    assert digests(model, sizes[0], sizes, tmp_path / "Ünother", 1, HOME=str(home), **ascii) == first
    oms = [digest for file, digest in first.items() if file.endswith(".om")]
    assert len(set(oms)) == 5
