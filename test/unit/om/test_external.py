"""Weights in a file of their own: shared, checked, and never looked for anywhere else."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gecc.errors import OmError
from gecc.om.reader import from_bytes, read
from gecc.om.writer import to_bytes, write
from test.unit.om.samples import empty, mlp
from test.unit.om.test_damage import edit_graph


def side_file(folder: Path) -> Path:
    (path,) = folder.glob("*.weights")
    return path


def test_the_model_is_the_same(tmp_path: Path) -> None:
    write(mlp(), tmp_path / "m.om", external=True)
    for verify in ("fast", "full"):
        model = read(tmp_path / "m.om", verify=verify)
        assert bytes(model.weights.materialize()) == bytes(mlp().weights.materialize())
        assert model.tasks == mlp().tasks
        assert to_bytes(model) == to_bytes(mlp())
    assert (tmp_path / "m.om").stat().st_size < len(to_bytes(mlp()))


def test_models_with_the_same_weights_share_the_file(tmp_path: Path) -> None:
    write(mlp(), tmp_path / "a.om", external=True)
    before = side_file(tmp_path).stat()
    write(replace(mlp(), name="other"), tmp_path / "b.om", external=True)
    after = side_file(tmp_path).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert read(tmp_path / "b.om", verify="full").name == "other"


def test_a_broken_side_file_is_written_again(tmp_path: Path) -> None:
    write(mlp(), tmp_path / "a.om", external=True)
    path = side_file(tmp_path)
    path.write_bytes(bytes(path.stat().st_size))
    write(mlp(), tmp_path / "b.om", external=True)
    assert read(tmp_path / "a.om", verify="full").name == "mlp"


def test_a_model_without_weights_has_no_side_file(tmp_path: Path) -> None:
    write(empty(), tmp_path / "e.om", external=True)
    assert [p.name for p in tmp_path.iterdir()] == ["e.om"]
    assert read(tmp_path / "e.om").name == empty().name


def test_what_is_missing_or_changed_is_told(tmp_path: Path) -> None:
    om = tmp_path / "m.om"
    write(mlp(), om, external=True)
    path = side_file(tmp_path)
    good = path.read_bytes()
    with pytest.raises(OmError, match="which was not read from a file"):
        from_bytes(om.read_bytes())
    path.write_bytes(good[:-1])
    with pytest.raises(OmError, match="weight_size is"):
        read(om)
    path.write_bytes(good[:-1] + b"\1")
    with pytest.raises(OmError, match="the weights' SHA-256 is"):
        read(om, verify="full")
    path.unlink()
    with pytest.raises(OmError, match="No such file"):
        read(om)
    (tmp_path / "elsewhere").write_bytes(good)
    os.symlink(tmp_path / "elsewhere", path)
    with pytest.raises(OmError, match="cannot read the om file"):
        read(om)


def test_no_other_file_is_taken_for_weights(tmp_path: Path) -> None:
    """A model could give what is in it as its results."""
    write(mlp(), tmp_path / "m.om", external=True)
    data, path = (tmp_path / "m.om").read_bytes(), side_file(tmp_path)
    path.rename(tmp_path / "secrets.json")

    def other(proto) -> None:
        proto.attr["gecc_weights_file"].s = b"secrets.json"

    (tmp_path / "m.om").write_bytes(edit_graph(other, data))
    with pytest.raises(OmError, match=r"is 'secrets.json', expected the digest's first half and \.weights"):
        read(tmp_path / "m.om")


@pytest.mark.parametrize("name", ["../m.weights", "/etc/passwd", "a/b", "", ".hidden", "..", "a\0b"])
def test_only_a_plain_name_is_looked_for(tmp_path: Path, name: str) -> None:
    def outside(proto) -> None:
        proto.attr["gecc_weights_file"].s = name.encode()

    (tmp_path / "m.om").write_bytes(edit_graph(outside))
    with pytest.raises(OmError, match=r"attribute 'gecc_weights_file' is"):
        read(tmp_path / "m.om")
