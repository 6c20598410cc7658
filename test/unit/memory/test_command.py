"""`python -m gecc.memory`: columns, numbers, exit status."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gecc.memory.__main__ import main

CSV = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"


@pytest.fixture
def instance(tmp_path: Path) -> str:
    path = tmp_path / "input.csv"
    path.write_text(CSV)
    return str(path)


def test_adds_a_column(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([instance, "--capacity", "12"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(out.splitlines()))
    assert [r["id"] for r in rows] == ["b1", "b2", "b3", "b4", "b5"]
    assert max(int(r["offset"]) + int(r["size"]) for r in rows) == 12
    assert "peak 12  lower bound 12" in err
    assert "cpu" in err


def test_capacity_not_met(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([instance, "--capacity", "11"]) == 1
    assert "needs 12 bytes, expected at most 11" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,lower,size\na,0,1\n", "no column upper"),
        ("id,lower,upper,size\na,0,x,1\n", "line 2"),
        ("id,lower,upper,size\na,5,5,1\n", "expected lower < upper"),
    ],
)
def test_malformed(tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert main([str(path)]) == 2
    assert message in capsys.readouterr().err
    assert main([str(tmp_path / "absent.csv")]) == 2
