"""DUMP_GE_GRAPH, DUMP_GRAPH_LEVEL, DUMP_GRAPH_PATH."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import gecc
from gecc.dumps import Dumps
from gecc.errors import CliError
from gecc.pipeline import PIPELINES
from gecc.tools.gecc_translate import main as translate
from test.unit.tools.models import mlp


def dump(monkeypatch: pytest.MonkeyPatch, folder: Path, **variables: str) -> list[str]:
    """Names of the files that compiling an MLP leaves in `folder`."""
    for name in ("DUMP_GE_GRAPH", "DUMP_GRAPH_LEVEL", "DUMP_GRAPH_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DUMP_GRAPH_PATH", str(folder))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    gecc.compile(mlp())
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("value", ["", "0", "4", "yes"])
def test_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str) -> None:
    assert dump(monkeypatch, tmp_path / "d", DUMP_GE_GRAPH=value) == []


def test_with_weights_each_compiles_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = dump(monkeypatch, tmp_path / "d", DUMP_GE_GRAPH="1")
    texts = [name for name in names if name.endswith(".mlir")]
    assert texts[0] == "ge_graph_000_import.mlir" and texts[-1] == "ge_graph_005_tile-to-om.mlir"
    assert [text.split("_")[-1].split("-")[0] for text in texts] == [
        "import.mlir",
        "ge",
        "fused",
        "tile",
        "tile",
        "tile",
    ]
    assert {f"{text}.weights" for text in texts} <= set(names)
    monkeypatch.delenv("DUMP_GE_GRAPH")
    expected = gecc.compile(mlp()).to_bytes()
    for text in texts:
        assert translate([str(tmp_path / "d" / text), "-o", str(tmp_path / "a.om")]) == 0
        assert (tmp_path / "a.om").read_bytes() == expected, text


def test_graph_levels_come_with_a_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = dump(monkeypatch, tmp_path, DUMP_GE_GRAPH="2")
    pictures = [name for name in names if name.endswith(".onnx")]
    assert [name[:12] for name in pictures] == [f"ge_graph_{i:03d}" for i in range(4)]
    assert not [name for name in names if name.endswith(".weights")]
    for name in pictures:
        assert onnx.load(tmp_path / name, load_external_data=False).graph.node


def test_without_weights_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dump(monkeypatch, tmp_path, DUMP_GE_GRAPH="2", DUMP_GRAPH_LEVEL="4")
    text = tmp_path / "ge_graph_000_import.mlir"
    assert "ge.elided" in text.read_text()
    assert translate([str(text), "-o", str(tmp_path / "a.om")]) == 1


def test_structure_shows_who_reads_what(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = dump(monkeypatch, tmp_path, DUMP_GE_GRAPH="3", DUMP_GRAPH_LEVEL="4")
    assert names == ["ge_graph_000_import.mlir"]
    lines = (tmp_path / names[0]).read_text().splitlines()
    assert lines[0] == "func.func (%arg0: tensor<4x32xf32>) {"
    assert any("ge.MatMulV2(%arg0, " in line and line.endswith("// fc1") for line in lines)
    assert not any("dense" in line for line in lines)


def test_levels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stages(select: str) -> list[str]:
        names = dump(monkeypatch, tmp_path / select.replace("|", "_"), DUMP_GE_GRAPH="3", DUMP_GRAPH_LEVEL=select)
        return [name.split("_", 3)[3].removesuffix(".mlir") for name in names]

    assert stages("1") == ["import", *(spec.partition("{")[0] for spec in PIPELINES["O2"])]
    assert stages("3") == ["tile-to-om"]
    assert stages("4") == ["import"]
    assert stages("recognise-gelu|bufferize") == ["ge-recognise-gelu", "tile-bufferize"]


def test_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CliError, match="cannot write the dump"):
        dump(monkeypatch, tmp_path / "file" / "d", DUMP_GE_GRAPH="2")


def test_dumps_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = gecc.compile(mlp()).to_bytes()
    assert gecc.compile(mlp(), dumps=Dumps("weights", "1", tmp_path)).to_bytes() == plain
