"""Every om of the test suite: through text and back with the same bytes, opened by Netron, run between poison.

    python -m pytest -p test.every_om --keep-oms FOLDER   run tests, and keep each om that they compile or write
    python -m pytest -p test.every_om --poison            do every run of what was compiled again between poison: the same bits must come out
    python -m test.every_om FOLDER [--netron]             check those that were kept; exit code 1 when one fails

Files are kept by the SHA-256 of their bytes, so that what many tests compile is checked once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from test import netron

LARGEST = 1 << 28
"""Bytes of the largest file to keep."""
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
PART = 16
"""Files that one process of Netron opens."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep-oms", metavar="FOLDER", help="keep every om that is compiled or written")
    parser.addoption("--poison", action="store_true", help="repeat every run between poison, and compare the bits")


@pytest.fixture(autouse=True, scope="session")
def _poison(request: pytest.FixtureRequest) -> Iterator[None]:
    if not request.config.getoption("--poison"):
        yield
        return
    from gecc.om.graph import COMMAND
    from gecc.om.records import HostTask
    from gecc.runtime.executor import Executor

    run = Executor.run

    def run_twice(self: Executor, inputs: Any, **options: Any) -> dict[str, Any]:
        results = run(self, inputs, **options)
        by_chance = any(isinstance(task, HostTask) and task.label in RANDOM for task in self.model.tasks)
        if self._poison is None and COMMAND in self.model.attrs and not by_chance:  # those made by hand may lie
            with Executor(self.model, threads=1, poison=True) as other:
                again = run(other, inputs)
            for name, value in results.items():
                assert same(value, again[name]), f"'{name}' read memory that holds nothing"
        return results

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executor, "run", run_twice)
        yield


def same(one: Any, two: Any) -> bool:
    """Whether two results are the same, arrays bit for bit; those that a caller gave may name the bits by another type."""
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return np.array_equal(one, two)
        return one.shape == two.shape and one.tobytes() == two.tobytes()
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return one == two


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


def faults(paths: Sequence[Path], sources: Path | None) -> list[tuple[Path, str]]:
    """What is wrong with some oms."""
    found: list[tuple[Path, str]] = []
    for path in paths:
        try:
            through_text(path)
        except Exception as error:  # any exception is a finding
            found.append((path, f"text: {type(error).__name__}: {error}"))
    if sources is not None:
        for path, seen in zip(paths, netron.look(sources, paths), strict=True):
            if wrong := netron.fault(path, seen):
                found.append((path, f"netron: {wrong}"))
    return found


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


def main() -> int:
    parser = argparse.ArgumentParser("python -m test.every_om", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--netron", action="store_true", help="open each with Netron; needs node and the netron wheel")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    sources = netron.sources() if args.netron else None
    if args.netron and sources is None:
        parser.error("--netron needs node and the netron wheel")
    paths = sorted(args.folder.glob("*.om"))
    if not paths:
        parser.error(f"no om in {args.folder}")
    parts = [paths[i : i + PART] for i in range(0, len(paths), PART)]
    wrong = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for found in pool.map(partial(faults, sources=sources), parts):
            for path, fault in found:
                wrong += 1
                print(f"{path}: {fault}", flush=True)
    print(f"{len(paths)} files, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
