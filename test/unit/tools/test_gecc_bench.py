"""gecc-bench: what it prints, that wrong values stop it, and its arithmetic."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gecc.debug import bench
from gecc.debug.bench import Settings, Timing, WrongValues
from gecc.tools.gecc_bench import main
from test.unit.tools.conftest import Call, Compiled

FAST = Settings(rounds=3, per_turn=4, settle=0.0)


class Fake:
    """A runtime that returns what it is told, and counts."""

    def __init__(self, name: str, value: float) -> None:
        self.name = name
        self.value = value
        self.runs = 0

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        self.runs += 1
        return {"y": np.full(3, self.value, np.float32)}

    def close(self) -> None:
        self.runs = -1


def test_json(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--threads", "1,2", "--rounds", "2", "--json")
    assert done.code == 0, done.err
    timings = json.loads(done.out)
    assert [(t["runtime"], t["threads"]) for t in timings] == [
        ("gecc", 1),
        ("onnxruntime", 1),
        ("gecc", 2),
        ("onnxruntime", 2),
    ]
    for t in timings:
        assert 0 < t["lower"] <= t["median"] <= t["upper"] < 10 and t["runs"] >= 2
    assert timings[0]["ratio"] == 1.0
    assert timings[1]["ratio"] > 0


def test_ratios_are_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The peer takes twice as long in each round, also where the machine is slow, and was slow for the peer alone once."""
    ours, peer = Fake("gecc", 1.0), Fake("peer", 1.0)
    times = {ours: [[1.0, 1.0], [8.0, 8.0], [9.0]], peer: [[2.0, 2.0], [50.0, 50.0], [18.0]]}
    monkeypatch.setattr(bench, "_turn", lambda runner, *_: times[runner].pop(0))
    found = bench.measure([ours, peer], {}, 1, FAST)
    assert [(t.median, t.ratio) for t in found] == [(8.0, 1.0), (18.0, 2.0)]


def test_table(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--rounds", "1")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["threads", "runtime", "median", "quartiles", "peer", "/", "gecc"]
    assert [line.split()[1] for line in lines[1:]] == ["gecc", "onnxruntime"]


def test_openvino(call: Call, compiled: Compiled) -> None:
    pytest.importorskip("openvino")
    done = call(main, compiled.onnx, "--peers", "openvino", "--rounds", "1")
    assert done.code == 0 and "openvino" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threads", "0"], "--threads is '0'"),
        (["--threads", "1;2"], "--threads is '1;2'"),
        (["--peers", "tensorflow"], "unknown peer 'tensorflow', expected onnxruntime, openvino"),
        (["--rounds", "0"], "'0' is no number from 1 on"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_wrong_command_lines(call: Call, compiled: Compiled, options: list[str], said: str) -> None:
    done = call(main, compiled.onnx, *options)
    assert done.code == 2 and said in done.err


def test_values_are_checked_first(call: Call, compiled: Compiled) -> None:
    done = call(main, compiled.onnx, "--tolerance", "1e-13")
    assert done.code == 1 and "gecc and onnxruntime differ: 'y' by" in done.err and done.out == ""


def test_check_compares_each_with_the_first() -> None:
    bench.check([Fake("a", 1.0), Fake("b", 1.0)], {}, 1e-6)
    with pytest.raises(WrongValues, match="a and c differ: 'y' by 5"):
        bench.check([Fake("a", 1.0), Fake("b", 1.0), Fake("c", 2.0)], {}, 1e-6)


def test_turns() -> None:
    runners = [Fake("a", 1.0), Fake("b", 1.0)]
    timings = bench.measure(runners, {}, 7, FAST)
    assert [(t.runtime, t.threads, t.runs) for t in timings] == [("a", 7, 12), ("b", 7, 12)]
    assert [r.runs for r in runners] == [15, 15]  # and one run a round that is not counted


def test_units_of_time() -> None:
    def row(median: float, lower: float, upper: float, ratio: float) -> tuple[str, ...]:
        return bench.rows([Timing("gecc", 2, median, lower, upper, 5, ratio)])[0]

    assert row(12.34e-6, 9e-6, 15e-6, 1.0) == ("2", "gecc", "12.3 us", "9.0 us - 15.0 us", "1.00")
    assert row(0.0021, 0.0009, 0.5, 1.256) == ("2", "gecc", "2.10 ms", "900.0 us - 500.00 ms", "1.26")


def test_a_peer_that_is_not_installed(call: Call, compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    done = call(main, compiled.onnx, "--peers", "openvino")
    assert (
        done.code == 2 and "the package openvino cannot be imported" in done.err and "pip install openvino" in done.err
    )
