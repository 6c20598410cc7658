"""A few seconds of what `python -m test.stress` does for a minute; killed compilers; large files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gecc.om.reader import read
from gecc.om.records import WeightEntry, Weights, place_weights
from gecc.om.writer import write
from gecc.runtime.executor import load
from test.stress import hammer


def test_threads_executors_and_forks() -> None:
    assert hammer(1.0) == []


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path, make) -> None:
    """Killed at many moments: what bears the name is always whole."""
    path = tmp_path / "m.om"
    write(make.chain(2), path)
    old = path.read_bytes()
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from gecc.om.reader import read
from gecc.om.writer import write
from dataclasses import replace
model = replace(read(sys.argv[1]), name="new", producer="p" * 200_000)
print("ready", flush=True)
while True:
    write(model, sys.argv[1])
    write(replace(model, name="other"), sys.argv[1])
"""
    seen: set[str] = set()
    for attempt in range(8):
        with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.003 * attempt)
            process.send_signal(signal.SIGKILL)
        seen.add(read(path, verify="full").name)
        for leftover in tmp_path.glob(".m.om.*"):  # what a killed process could not take away bears another name
            leftover.unlink()
    assert seen <= {"by_hand", "new", "other"}
    assert seen & {"new", "other"}
    assert old[:4] == path.read_bytes()[:4]


def large(make, count: int, size: int):
    """A model with weights of `count` times `size` bytes, most of which nothing reads."""
    offsets, total = place_weights([size] * count)
    entries = tuple(WeightEntry(f"w{i}", at, size, "ui8", (size,)) for i, at in enumerate(offsets))

    def chunks():
        for at in offsets:
            yield at, bytes(size)

    return replace(make.chain(2), weights=Weights(entries, total, chunks))


def resident(pid: int, path: Path) -> tuple[int, int]:
    """Bytes of the maps of a file that are in memory, and those of them that are this process's alone."""
    rss = private = 0
    here = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            here = line.endswith(str(path))
        elif here and line.startswith("Rss:"):
            rss += int(line.split()[1]) * 1024
        elif here and line.startswith(("Private_Clean:", "Private_Dirty:")):
            private += int(line.split()[1]) * 1024
    return rss, private


def test_a_large_file_is_mapped_not_read(tmp_path: Path, make, x: np.ndarray) -> None:
    path = tmp_path / "large.om"
    write(large(make, 8, 8 << 20), path)
    with load(path, threads=1) as executor:
        np.testing.assert_array_equal(executor.run([x])["y0"], make.shifted(x, 2))
        rss, _ = resident(os.getpid(), path)
        assert rss < 4 << 20, "the weights were read"
        assert executor.stats.weight_bytes > 64 << 20


def test_processes_share_the_pages_of_weights(tmp_path: Path, make) -> None:
    path = tmp_path / "large.om"
    write(large(make, 2, 4 << 20), path)
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from gecc.runtime.executor import load
executor = load(sys.argv[1], threads=1)
print(sum(executor.model.weights.view[::4096]), flush=True)
sys.stdin.readline()
"""
    command = [sys.executable, "-c", script, str(path)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as two,
    ):
        try:
            for process in (one, two):
                assert process.stdout is not None
                process.stdout.readline()
            for process in (one, two):
                rss, private = resident(process.pid, path)
                assert rss > 8 << 20
                assert private < 1 << 20, "each process has the weights for itself"
        finally:
            for process in (one, two):
                process.kill()


@pytest.mark.skipif(os.environ.get("GECC_LARGE_TESTS") != "1", reason="writes 5 GB; GECC_LARGE_TESTS=1 asks for it")
def test_weights_beyond_four_gigabytes(tmp_path: Path, make, x: np.ndarray) -> None:
    path = tmp_path / "huge.om"
    write(large(make, 5, 1 << 30), path)
    assert path.stat().st_size > 5 << 30
    with load(path, threads=1) as executor:
        np.testing.assert_array_equal(executor.run([x])["y0"], make.shifted(x, 2))
