"""CPUs: siblings counted once, quotas of both versions of control groups, plans."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gecc.om.records import KernelTask
from gecc.runtime import claims, cpus
from gecc.runtime.schedule import shares, useful_ranks


def topology(root: Path, siblings: dict[int, str]) -> Path:
    for cpu, text in siblings.items():
        folder = root / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(text + "\n")
    return root


def test_siblings_count_once(tmp_path: Path) -> None:
    sysfs = topology(tmp_path, {0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5", 2: "2"})
    assert cpus.cores([5, 4, 2, 1, 0], sysfs) == [0, 1, 2]
    assert cpus.cores([4, 5], sysfs) == [4, 5]
    assert cpus.cores([7, 9], sysfs) == [7, 9]  # nothing known of them


@pytest.mark.parametrize(
    ("groups", "files", "want"),
    [
        ("0::/a/b\n", {"a/b/cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000"}, 3.0),
        ("0::/a/b\n", {"a/b/cpu.max": "400000 100000", "a/cpu.max": "200000 100000"}, 2.0),
        ("0::/not/here\n", {"cpu.max": "50000 100000"}, 0.5),
        ("0::/\n", {}, None),
        ("3:cpu,cpuacct:/x\n1:name=systemd:/y\n", {"cpu/x/cpu.cfs_quota_us": "250000", "cpu/x/cpu.cfs_period_us": "100000"}, 2.5),
        ("3:cpu:/x\n", {"cpu/x/cpu.cfs_quota_us": "-1", "cpu/x/cpu.cfs_period_us": "100000"}, None),
        ("4:memory:/x\n", {"memory/x/cpu.max": "1 1"}, None),
    ],
)  # fmt: skip
def test_quota(tmp_path: Path, groups: str, files: dict[str, str], want: float | None) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert cpus.quota(groups, tmp_path) == want


@pytest.mark.parametrize(("limit", "want"), [(None, 4), (2.5, 2), (0.3, 1), (64.0, 4)])
def test_default_ranks(monkeypatch: pytest.MonkeyPatch, limit: float | None, want: int) -> None:
    monkeypatch.setattr(cpus, "cores", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(cpus, "quota", lambda: limit)
    assert cpus.default_ranks() == want


def test_auto_pins_only_ranks_that_get_a_core_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "cores", lambda: [3, 5, 6])
    monkeypatch.setattr(cpus, "claim", lambda available, count: available[:count])
    assert [cpus.plan(ranks, "auto") for ranks in (1, 2, 3, 4)] == [(), (3, 5), (3, 5, 6), ()]
    assert cpus.plan(2, "none") == ()


def in_another_process(folder: Path, code: str) -> subprocess.Popen[str]:
    code = f"from pathlib import Path\nfrom gecc.runtime import claims\nfolder = Path({str(folder)!r})\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def test_processes_prefer_cpus_that_none_other_claimed(tmp_path: Path) -> None:
    code = "print(claims.claim([0, 1, 2, 3], 2, folder), flush=True)\ninput()"
    claims.release()  # what executors of other tests hold
    try:
        with in_another_process(tmp_path / "claims", code) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "[0, 1]\n"
            assert claims.claim([0, 1, 2, 3], 1, tmp_path / "claims") == [2]
            assert claims.claim([0, 1, 2, 3], 2, tmp_path / "claims") == [2, 3]
            assert claims.claim([0, 1, 2, 3], 3, tmp_path / "claims") == [0, 2, 3]
            other.communicate("\n")
        claims.release()
        assert claims.claim([0, 1, 2, 3], 2, tmp_path / "claims") == [0, 1]
    finally:
        claims.release()


def test_a_forked_child_does_not_hold_its_parents_claims(tmp_path: Path) -> None:
    code = """
import os
assert claims.claim([0, 1], 1, folder) == [0]
child = os.fork()
if child == 0:
    os._exit(0 if claims.claim([0, 1], 1, folder) == [1] else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
child = os.fork()
if child == 0:
    os._exit(0 if claims.claim([0, 1], 1, folder) == [1] else 1)  # the first child's claim is gone with it
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    with in_another_process(tmp_path, code) as process:
        assert process.wait(30) == 0


def test_a_folder_that_cannot_be_used_means_no_claims(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert claims.claim([4, 5, 6], 2, tmp_path / "file") == [4, 5]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "4").symlink_to(tmp_path / "victim")
    try:
        assert claims.claim([4, 5, 6], 1, tmp_path / "folder") == [5]
        assert not (tmp_path / "victim").exists()
    finally:
        claims.release()


def test_a_list_is_taken_as_it_is() -> None:
    cpu = max(os.sched_getaffinity(0))
    assert cpus.plan(2, iter([cpu, cpu, cpu])) == (cpu, cpu)
    assert cpus.plan(1, {cpu}) == (cpu,)


@pytest.mark.parametrize("cpu", [0, 1, 63, 64, 200])
def test_masks(cpu: int) -> None:
    bits = np.unpackbits(np.frombuffer(cpus.mask(cpu), np.uint8), bitorder="little")
    assert bits.nonzero()[0].tolist() == [cpu]
    assert len(bits) % 64 == 0


def tasks(*phases: list[int]) -> list[KernelTask]:
    return [KernelTask("k", "K", 0, phase, blocks, ()) for phase, group in enumerate(phases) for blocks in group]


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 40])
def test_shares_cover_every_block_once_and_evenly(ranks: int) -> None:
    phases = ([7], [0], [3, 0, 5, 1], [1], [1, 1, 1, 1, 1], [1000, 1])
    table = shares(tasks(*phases), ranks)
    assert table.shape == (ranks, sum(map(len, phases)), 2)
    at = 0
    for group in phases:
        counts = np.zeros(ranks, int)
        position = []
        for i, blocks in enumerate(group, start=at):
            covered = [b for begin, end in table[:, i] for b in range(begin, end)]
            assert covered == list(range(blocks))
            counts += np.maximum(table[:, i, 1] - table[:, i, 0], 0)
            position.append(table[:, i])
        assert counts.max() - counts.min() <= 1
        at += len(group)


def test_useful_ranks() -> None:
    assert useful_ranks([]) == 1
    assert useful_ranks(tasks([0])) == 1
    assert useful_ranks(tasks([2], [3, 4], [5])) == 7
