"""Every om of the test suite: through text and back with the same bytes, and opened by Netron.

    pytest -p test.every_om --keep-oms FOLDER      run tests, and keep each om that they compile or write
    python -m test.every_om FOLDER [--netron]      check those that were kept; exit code 1 when one fails

Files are kept by the SHA-256 of their bytes, so that what many tests compile is checked once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

LARGEST = 1 << 28
"""Bytes of the largest file to keep."""
CHECK = Path(__file__).resolve().parents[2] / "shared" / "tools" / "netron_check.mjs"
"""A script that opens a file with Netron's sources, without a browser."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep-oms", metavar="FOLDER", help="keep every om that is compiled or written")


@pytest.fixture(autouse=True, scope="session")
def _keep_oms(request: pytest.FixtureRequest) -> Iterator[None]:
    folder = request.config.getoption("--keep-oms")
    if folder is None:
        yield
        return
    os.makedirs(folder, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        _watch(Path(folder), patch)
        yield


def _watch(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Keep what is compiled, written or not, and what is written, however it came about."""
    from gecc import api
    from gecc.om import writer

    to_bytes = writer.to_bytes

    def keep(model: Any) -> None:
        if model.weights.size + len(model.blob) < LARGEST:
            data = to_bytes(model)
            (folder / f"{hashlib.sha256(data).hexdigest()}.om").write_bytes(data)

    def compiling(compile_module: Callable[..., api.Model]) -> Callable[..., api.Model]:
        def compile_and_keep(*args: Any, **kwargs: Any) -> api.Model:
            made = compile_module(*args, **kwargs)
            keep(made.om)
            return made

        return compile_and_keep

    def writing(write: Callable[..., None]) -> Callable[..., None]:
        def write_and_keep(model: Any, *args: Any, **kwargs: Any) -> None:
            write(model, *args, **kwargs)
            keep(model)

        return write_and_keep

    patch.setattr(api, "compile_module", compiling(api.compile_module))
    patch.setattr(writer, "write", writing(writer.write))


def fault(path: Path, netron: Path | None) -> str:
    """What is wrong with an om, or nothing."""
    try:
        through_text(path)
    except Exception as error:  # any exception is a finding
        return f"text: {type(error).__name__}: {error}"
    return "" if netron is None else unseen(path, netron)


def through_text(path: Path) -> None:
    """Read an om, print it with its weights beside it, read that, write it: the bytes must be those of the file."""
    from gecc import om_ir, translate
    from gecc.context import make_context
    from gecc.om.reader import read
    from gecc.om.writer import to_bytes
    from gecc.text import save_weights
    from gecc.verify import verify_module
    from gecc.weights import store_of

    ctx = make_context()
    with tempfile.TemporaryDirectory() as folder:
        module = om_ir.from_model(read(path, verify="full"), store_of(ctx))
        verify_module(module)
        text = Path(folder) / "net.mlir"
        save_weights(ctx, [module], text)
        text.write_text(str(module))
        other = make_context()
        again = translate.read_text(other, str(text))
        verify_module(again)
        found = to_bytes(om_ir.to_model(again, store_of(other)))
    if found != path.read_bytes():
        raise AssertionError("the bytes differ")


def unseen(path: Path, netron: Path) -> str:
    """What Netron does not show of an om as its reader tells it, or nothing."""
    from gecc.om.reader import read

    command = ["node", str(CHECK), str(path), "--netron", str(netron), "--render", "--compact"]
    result = subprocess.run([*command, "--expect-format", "DaVinci OM"], capture_output=True, text=True, timeout=600)
    if result.returncode:
        return f"netron: {result.stdout}{result.stderr}"
    model = read(path)
    (graph,) = json.loads(result.stdout)["graphs"]
    shown = [node["type"] for node in graph["nodes"]]
    expected = ["Data"] * len(model.inputs) + [node.type for node in model.nodes] + ["NetOutput"]
    if shown != expected:
        return f"netron: nodes are {shown}, expected {expected}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser("python -m test.every_om", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--netron", action="store_true", help="open each with Netron; needs node and the netron wheel")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    netron: Path | None = None
    if args.netron:
        found = find_spec("netron")
        if shutil.which("node") is None or found is None or found.origin is None or not CHECK.exists():
            parser.error("--netron needs node, the netron wheel and the check script")
        netron = Path(found.origin).parent
    paths = sorted(args.folder.glob("*.om"))
    if not paths:
        parser.error(f"no om in {args.folder}")
    faults = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for path, wrong in zip(paths, pool.map(partial(fault, netron=netron), paths, chunksize=8), strict=True):
            if wrong:
                faults += 1
                print(f"{path}: {wrong}")
    print(f"{len(paths)} files, {faults} with a fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
