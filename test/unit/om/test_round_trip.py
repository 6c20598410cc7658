"""An om file gives back the model it was made from, and the same model gives the same file."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings

from gecc.errors import OmError
from gecc.om.container import PartitionType, parse_container
from gecc.om.reader import from_bytes, read
from gecc.om.records import GraphNode, OmModel, WeightEntry, Weights, kernel_entries, place_weights
from gecc.om.writer import to_bytes, write
from test.unit.om.samples import empty, mlp
from test.unit.om.strategies import models


def assert_same(found: OmModel, expected: OmModel) -> None:
    for field in dataclasses.fields(OmModel):
        if field.name == "weights":
            assert found.weights.entries == expected.weights.entries
            assert bytes(found.weights.materialize()) == bytes(expected.weights.materialize())
        elif field.name == "blob":
            assert bytes(found.blob) == bytes(expected.blob)
        else:
            assert getattr(found, field.name) == getattr(expected, field.name), field.name


@pytest.mark.parametrize("model", [mlp(), empty()], ids=["mlp", "empty"])
def test_the_model_comes_back(model: OmModel) -> None:
    data = to_bytes(model)
    again = from_bytes(data, verify="full")
    assert_same(again, model)
    assert to_bytes(again) == data


@settings(max_examples=150, deadline=None)
@given(models())
def test_any_model_comes_back(model: OmModel) -> None:
    data = to_bytes(model)
    again = from_bytes(data, verify="full")
    assert_same(again, model)
    assert to_bytes(again) == data


def test_weights_start_on_a_page_and_partitions_keep_their_order() -> None:
    data = to_bytes(mlp())
    (partitions,) = parse_container(memoryview(data), "test").models
    order = [PartitionType.MODEL_DEF, PartitionType.WEIGHTS_DATA, PartitionType.TBE_KERNELS, PartitionType.TASK_INFO]
    assert [p.type for p in partitions] == order
    assert partitions[1].offset % 4096 == 0
    assert data[partitions[1].offset + 512 + 4 :][:4] == b"\0\0\x80?"  # w[1] = 1.0


@pytest.mark.parametrize("length", range(0, 4200, 131))
def test_weights_start_on_a_page_whatever_comes_before(length: int) -> None:
    model = mlp()
    model.attrs = {"text": "x" * length}
    data = to_bytes(model)
    (partitions,) = parse_container(memoryview(data), "test").models
    assert partitions[1].offset % 4096 == 0
    assert from_bytes(data).attrs == model.attrs


def test_the_checksum_follows_its_rule() -> None:
    data = to_bytes(mlp())
    (partitions,) = parse_container(memoryview(data), "test").models
    weights = partitions[1]
    bare = bytearray(data[: weights.offset])
    bare[12:44] = bytes(32)
    inner = hashlib.sha256(data[weights.offset : weights.offset + weights.size])
    expected = hashlib.sha256(bare + inner.digest() + data[weights.offset + weights.size :])
    assert data[12:44] == expected.digest()
    assert data[44:76] == bytes(32)
    assert inner.hexdigest().encode() in data[:4096]
    assert from_bytes(data).weights.sha256 == inner.hexdigest()


def test_the_file_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "net.om"
    write(mlp(), path)
    assert path.read_bytes() == to_bytes(mlp())
    assert os.listdir(tmp_path) == ["net.om"]
    model = read(path, verify="full")
    assert_same(model, mlp())
    view = model.weights.view
    assert view is not None
    assert view.readonly
    path.unlink()  # the map outlives the name
    assert bytes(view[512 + 4 : 512 + 8]) == b"\0\0\x80?"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "net.om"
    link.symlink_to(tmp_path / "real" / "net.om")
    write(empty(), link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "net.om").read_bytes() == to_bytes(empty())


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "net.om"
    path.write_bytes(b"before")
    model = mlp()

    def broken():
        yield 512, bytes(256)
        raise RuntimeError("the disk of the compiler is on fire")

    model.weights = dataclasses.replace(model.weights, chunks=broken)
    with pytest.raises(RuntimeError, match="on fire"):
        write(model, path)
    assert os.listdir(tmp_path) == ["net.om"]
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize("chunks", [[(512, b"x" * 2000)], [(600, b"xx"), (601, b"x")], [(5000, b"")]])
def test_chunks_that_break_their_word_are_refused(chunks: list[tuple[int, bytes]]) -> None:
    model = mlp()
    model.weights = dataclasses.replace(model.weights, chunks=lambda: chunks)
    with pytest.raises(OmError, match="weights contradict themselves"):
        to_bytes(model)


def test_weights_need_not_fit_memory_at_once(tmp_path: Path) -> None:
    """One weight of 64 MiB in pieces of 1 MiB, read back without touching it."""
    piece = bytes(1 << 20)
    (offset,), size = place_weights([64 << 20])
    entry = WeightEntry("big", offset, 64 << 20, "ui8", (64 << 20,))
    model = empty()
    model.weights = Weights((entry,), size, lambda: ((offset + i * len(piece), piece) for i in range(64)))
    write(model, tmp_path / "big.om")
    assert read(tmp_path / "big.om").weights.entries == (entry,)


def test_zero_sized_weights_have_a_place() -> None:
    offsets, size = place_weights([0, 3, 0, 600, 1])
    assert offsets == [512, 512, 1024, 1024, 2048]
    assert size == 2049
    assert place_weights([]) == ([], 0)


def test_kernel_entries_reach_to_the_next() -> None:
    entries = kernel_entries({"b": 64, "a": 64, "main": 0}, 100)
    assert [(e.name, e.offset, e.size) for e in entries] == [("main", 0, 64), ("a", 64, 36), ("b", 64, 36)]


def test_names_are_made_unique_in_the_file_only() -> None:
    model = empty()
    model.nodes = tuple(
        GraphNode(name, "Exp", (), ()) for name in ("a", "a", "a_1", "", "Exp_3", "NetOutput", ":", "a")
    )
    again = from_bytes(to_bytes(model))
    assert len(again.nodes) == 8
    assert [n.name for n in again.nodes] == [n.name for n in model.nodes]
