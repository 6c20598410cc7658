"""Compiled once for all tests of the tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gecc import api
from test.unit.tools.models import mlp, save


@dataclass(frozen=True)
class Compiled:
    """An MLP as ONNX and as om."""

    onnx: str
    om: str


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = tmp_path_factory.mktemp("compiled")
    path = save(mlp(), folder, "mlp.onnx")
    api.compile(path).save(folder / "mlp.om")
    return Compiled(path, str(folder / "mlp.om"))


@dataclass(frozen=True)
class Outcome:
    """What a tool did."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that tools write to the current folder stay out of the repository."""
    monkeypatch.chdir(tmp_path)


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls a tool's main with arguments."""

    def run(main: Callable[[list[str]], int], *argv: str | Path) -> Outcome:
        capsys.readouterr()
        try:
            code = main([str(a) for a in argv])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run
