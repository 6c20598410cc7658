"""Loading om files: runs what was written, refuses what was damaged or made for others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gecc.errors import CliError, OmError
from gecc.om.records import Operand, Space, WeightEntry, Weights
from gecc.om.writer import write
from gecc.runtime import abi
from gecc.runtime.executor import load


@pytest.fixture
def om(tmp_path: Path, make) -> Path:
    """A file whose model computes y0 = 2 w + 1 of its weight w = 0, 1, 2, .."""
    values = np.arange(make.N, dtype=np.float32).tobytes()
    weights = Weights(
        (WeightEntry("w", 512, len(values), "f32", (make.N,)),), 512 + len(values), lambda: [(512, values)]
    )
    task = make.task("affine", 0, Operand(Space.WEIGHTS, 512, len(values)), make.graph_output(0), 2)
    path = tmp_path / "model.om"
    write(replace(make.model([task], inputs=()), weights=weights), path)
    return path


@pytest.mark.parametrize("verify", ["fast", "full"])
def test_a_file_runs(om: Path, make, verify) -> None:
    with load(om, threads=2, verify=verify) as executor:
        np.testing.assert_array_equal(executor.run({})["y0"], 2 * np.arange(make.N) + 1)
        assert [io.name for io in executor.outputs] == ["y0"]
        assert executor.inputs == ()


def test_another_word_for_verify_is_refused(om: Path) -> None:
    word: Any = "none"
    with pytest.raises(CliError, match="verify is 'none', expected 'fast' or 'full'"):
        load(om, verify=word)


def test_a_path_that_none_can_be(om: Path) -> None:
    with pytest.raises(OmError, match=r"cannot read the om file: (.|\n)*x00"):
        load(f"{om}\0")


def test_weights_are_used_where_the_file_is_mapped(om: Path) -> None:
    with load(om, threads=1) as executor:
        view = executor.model.weights.view
        assert view is not None
        mapped = np.frombuffer(view, np.uint8).ctypes.data
        assert executor._table.words[0] == mapped + 512


def test_code_pages_are_executable_and_not_writable(om: Path) -> None:
    with load(om, threads=1) as executor:
        address = executor._table._records.words()[abi.TASK_KERNEL // 8]
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, permissions, _, _, inode = line.split()[:5]
            start, end = (int(text, 16) for text in span.split("-"))
            if start <= address < end:
                assert permissions == "r-xp"
                assert inode == "0", "code must not be file pages"
                return
    pytest.fail("the kernel's page is not mapped")


def test_a_changed_byte_of_code_is_refused(om: Path) -> None:
    data = bytearray(om.read_bytes())
    at = data.rindex(b"\x0f\x31")  # rdtsc
    data[at] ^= 1
    om.write_bytes(data)
    with pytest.raises(OmError, match=r"checksum is(.|\n)*model\.om"):
        load(om)


def test_a_changed_weight_is_found_when_asked_for(om: Path, make) -> None:
    data = bytearray(om.read_bytes())
    at = data.index(np.arange(make.N, dtype=np.float32).tobytes())
    data[at : at + 4] = np.float32(7).tobytes()
    om.write_bytes(data)
    with load(om) as executor:
        assert executor.run({})["y0"][0] == 15
    with pytest.raises(OmError, match="the weights' SHA-256 is"):
        load(om, verify="full")


def test_another_abi_is_refused(tmp_path: Path, make) -> None:
    path = tmp_path / "future.om"
    write(replace(make.chain(2), abi=abi.ABI + 5), path)
    with pytest.raises(OmError, match=rf"ABI is {abi.ABI + 5}, this runtime supports 1 to {abi.ABI}(.|\n)*future\.om"):
        load(path)


def test_another_machine_is_refused(tmp_path: Path, make) -> None:
    path = tmp_path / "arm.om"
    write(replace(make.chain(2), target="aarch64"), path)
    with pytest.raises(OmError, match=r"compiled for aarch64, which needs a CPU of type aarch64(.|\n)*arm\.om"):
        load(path)


def test_memory_is_given_back(om: Path) -> None:
    def maps() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    for _ in range(3):
        load(om, threads=2).close()
    before = maps()
    for _ in range(50):
        with load(om, threads=2) as executor:
            executor.run({})
    for _ in range(50):
        load(om, threads=2)  # dropped without close
    assert maps() < before + 100  # each executor has about ten maps
