"""Whatever is wrong with a file is an OmError that says what."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.errors import OmError
from gecc.om import container
from gecc.om.container import HEADER_SIZE, Header, PartitionType, parse_container
from gecc.om.digest import file_digest
from gecc.om.kernel_store import pack_store, parse_store
from gecc.om.reader import from_bytes, read
from gecc.om.records import SCHEMA, OmModel
from gecc.om.schema import DecodeError, ModelDef, ModelTaskDef
from gecc.om.writer import to_bytes
from test.unit.om.samples import empty, mlp

DATA = to_bytes(mlp())
SMALL = to_bytes(empty())


def parts_of(data: bytes) -> list[tuple[int, bytes]]:
    """Partitions of a file: type and bytes."""
    (partitions,) = parse_container(memoryview(data), "test").models
    return [(p.type, data[p.offset : p.offset + p.size]) for p in partitions]


def seal(parts: list[tuple[int, bytes]], *, wide: bool = True) -> bytes:
    """A file of these partitions with a right checksum, with the 64-bit or the 32-bit table."""
    payload = b"".join(data for _, data in parts)
    offsets = [sum(len(data) for _, data in parts[:i]) for i in range(len(parts))]
    if wide:
        table = struct.pack("<II", len(parts), 0)
        table += b"".join(struct.pack("<IIQQ", t, 0, at, len(d)) for (t, d), at in zip(parts, offsets, strict=True))
        header = Header(model_length=len(table) + len(payload))
    else:
        table = struct.pack("<I", len(parts))
        table += b"".join(struct.pack("<III", t, at, len(d)) for (t, d), at in zip(parts, offsets, strict=True))
        header = Header(length=len(table) + len(payload), version=0x10000000)
    kinds = [t for t, _ in parts]
    cut = kinds.index(PartitionType.WEIGHTS_DATA) if PartitionType.WEIGHTS_DATA in kinds else kinds.index(0) + 1
    before = b"".join(data for _, data in parts[:cut])
    after = b"".join(data for t, data in parts[cut:] if t != PartitionType.WEIGHTS_DATA)
    model_def = ModelDef.FromString(dict(parts)[PartitionType.MODEL_DEF])
    inner = bytes.fromhex(model_def.attr["gecc_weights_sha256"].s.decode())
    checksum = file_digest(header.pack() + table + before, inner, after)
    return replace(header, checksum=checksum).pack() + table + payload


def edit(kind: PartitionType, change: Callable[[bytes], bytes], data: bytes = DATA) -> bytes:
    """The file with one partition changed, resealed."""
    return seal([(t, change(d) if t == kind else d) for t, d in parts_of(data)])


def edit_graph(change: Callable[..., object], data: bytes = DATA) -> bytes:
    """The file with its ModelDef changed."""

    def apply(raw: bytes) -> bytes:
        proto = ModelDef.FromString(raw)
        change(proto)
        return proto.SerializeToString(deterministic=True)

    return edit(PartitionType.MODEL_DEF, apply, data)


def edit_tasks(change: Callable[..., object]) -> bytes:
    """The file with its ModelTaskDef changed."""

    def apply(raw: bytes) -> bytes:
        proto = ModelTaskDef.FromString(raw)
        change(proto)
        return proto.SerializeToString(deterministic=True)

    return edit(PartitionType.TASK_INFO, apply)


def refused(data: bytes, message: str) -> None:
    with pytest.raises(OmError) as e:
        from_bytes(data, verify="full")
    assert message in str(e.value)


# ----------------------------------------------------------------------------------------------- truncation, bit flips


def test_every_shorter_file_is_refused() -> None:
    for length in range(len(SMALL)):
        with pytest.raises(OmError):
            from_bytes(SMALL[:length])
    for length in range(0, len(DATA), 7):
        with pytest.raises(OmError):
            from_bytes(DATA[:length])


def test_a_longer_file_is_refused() -> None:
    refused(DATA + b"\0", "the header states")


def test_every_flipped_bit_is_noticed() -> None:
    for at in range(len(SMALL)):
        damaged = bytearray(SMALL)
        damaged[at] ^= 1 << at % 8
        with pytest.raises(OmError):
            from_bytes(damaged, verify="full")


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(DATA) * 8 - 1))
def test_any_flipped_bit_is_noticed(bit: int) -> None:
    damaged = bytearray(DATA)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(OmError):
        from_bytes(damaged, verify="full")


def test_fast_leaves_out_the_bytes_of_weights_alone() -> None:
    (partitions,) = parse_container(memoryview(DATA), "test").models
    damaged = bytearray(DATA)
    damaged[partitions[1].offset + 600] ^= 1
    assert from_bytes(damaged).name == "mlp"
    with pytest.raises(OmError, match="the weights' SHA-256 is"):
        from_bytes(damaged, verify="full")


def test_an_attribute_name_that_cannot_be_written_is_refused() -> None:
    damaged = edit(PartitionType.MODEL_DEF, lambda raw: raw.replace(b"transpose", b"\0ranspose", 1))
    with pytest.raises(OmError, match="expected a name of printable ASCII"):
        from_bytes(damaged, verify="full")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(list(PartitionType)[:4]), st.data())
def test_resealed_damage_is_an_error_or_a_valid_model(kind: PartitionType, data: st.DataObject) -> None:
    """Bytes changed under a right checksum: the verifier is all there is."""

    def change(raw: bytes) -> bytes:
        out = bytearray(raw)
        for _ in range(data.draw(st.integers(1, 3))):
            out[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        return bytes(out)

    try:
        damaged = edit(kind, change)
    except (ValueError, DecodeError):
        return  # the digest itself was hit, or the message no longer parses: the file cannot be sealed
    try:
        model = from_bytes(damaged)
        assert len(list(model.nodes)) == len(model.nodes)
    except OmError:
        return
    to_bytes(model)  # which verifies it


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=600))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(OmError):
        from_bytes(noise)
    with pytest.raises(OmError):
        from_bytes(SMALL[:HEADER_SIZE] + noise)


# --------------------------------------------------------------------------------------------------- container variants


@pytest.mark.parametrize("wide", [True, False])
def test_both_tables_any_order_and_unknown_partitions_are_read(wide: bool) -> None:
    parts = parts_of(DATA)
    for order in (parts, parts[::-1], [*parts[2:], *parts[:2]], [(24, b"bundle"), *parts], [*parts, (31, b"?")]):
        model = from_bytes(seal(order, wide=wide), verify="full")
        assert to_bytes(model) == DATA


def _table(*entries: tuple[int, int, int, int], num: int | None = None, pad: int = 0, tail: int = 64) -> bytes:
    table = struct.pack("<II", len(entries) if num is None else num, pad)
    table += b"".join(struct.pack("<IIQQ", *entry) for entry in entries)
    return Header(model_length=len(table) + tail).pack() + table + bytes(tail)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "fewer than the 256 of a header"),
        (b"PICO" + DATA[4:], "not an om file: the magic is 0x4f434950, expected 0x444f4d49"),
        (replace(Header(), headsize=128).pack(), "headsize is 128, expected 256"),
        (replace(Header(), is_encrypt=1).pack(), "is_encrypt is 1"),
        (replace(Header(), model_length=9).pack(), "the header states 9 bytes after itself, the file has 0"),
        (replace(Header(), model_length=4).pack() + bytes(4), "a partition table needs 8 bytes, 4 are left"),
        (replace(Header(), length=2).pack() + bytes(2), "a partition table needs 4 bytes, 2 are left"),
        (_table(), "the table has 0 partitions"),
        (_table(num=65), "the table has 65 partitions, expected 1 to 64"),
        (_table(num=1 << 31), "partitions, expected 1 to 64"),
        (_table(num=9), "a table of 9 partitions needs 224 bytes, 72 are left"),
        (_table((0, 0, 0, 64), pad=1), "the table's pad word is 0x1, expected 0"),
        (_table((0, 7, 0, 64)), "the pad word after the type is 0x7"),
        (_table((0, 0, 0, 32), (0, 0, 32, 32)), "partition type 0 appears twice"),
        (_table((0, 0, 0, 32), (2, 0, 40, 24)), "mem_offset is 40, expected 32"),
        (_table((0, 0, 0, 65)), "mem_size is 65, expected 1 to 64"),
        (_table((0, 0, 0, (1 << 64) - 1)), "expected 1 to 64"),
        (_table((0, 0, 0, 0), (2, 0, 0, 64)), "mem_size is 0"),
        (_table((0, 0, 0, 60)), "4 bytes follow the last partition"),
        (_table((0, 0, 0, 64)), "the file has no TASK_INFO partition, found types [0]"),
        (replace(Header(), model_num=0, model_length=8).pack() + bytes(8), "model_num is 0"),
    ],
)
def test_containers_are_refused(data: bytes, message: str) -> None:
    refused(data, message)


def test_several_models_are_parsed_and_refused_as_an_om() -> None:
    body = DATA[HEADER_SIZE:]
    two = Header(model_num=2, model_length=2 * len(body)).pack() + body + body
    assert len(container.parse_container(memoryview(two), "test").models) == 2
    refused(two, "the file holds 2 models, expected 1")


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.om", tmp_path):
        with pytest.raises(OmError, match=str(tmp_path)):
            read(path)
    short = tmp_path / "short.om"
    short.write_bytes(b"IMOD")
    with pytest.raises(OmError, match="the file has 4 bytes"):
        read(short)


# --------------------------------------------------------------------------------------------------- resealed contents


def test_a_newer_schema_or_abi_is_refused_with_both_numbers() -> None:
    def newer(proto) -> None:
        proto.attr["gecc_schema"].i = SCHEMA + 3

    refused(edit_graph(newer), f"the file's schema is {SCHEMA + 3}, this reader supports 1 to {SCHEMA}")
    from_bytes(DATA, abi=range(1, 3))
    with pytest.raises(
        OmError, match=r"the file's ABI is 1, this runtime supports 2 to 3(.|\n)*compile the model again"
    ):
        from_bytes(DATA, abi=range(2, 4))
    with pytest.raises(OmError, match=r"the file's ABI is 1, this runtime supports 0(.|\n)*newer gecc"):
        from_bytes(DATA, abi=range(0, 1))


def _set(path: str, value: object) -> Callable[..., object]:
    """A change that assigns to a field: dots go into messages, numbers into lists, [k] into maps."""

    def change(proto) -> None:
        *steps, last = path.split(".")
        for step in steps:
            proto = proto[int(step)] if step.isdecimal() else getattr(proto, step)
        if isinstance(value, list):
            del getattr(proto, last)[:]
            getattr(proto, last).extend(value)
        else:
            setattr(proto, last, value)

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("graph.0.op.0.id", 9, "has id 9, expected 0"),
        ("graph.0.op.1.name", "x", "op name 'x' appears at 0 and at 1"),
        ("graph.0.op.5.type", "Exp", "the graph ends in 'Exp', expected 'NetOutput'"),
        ("graph.0.op.4.type", "Const", "of type Const stands among the nodes"),
        ("graph.0.op.3.input", ["x:1", "w:0", ""], "input 0 is 'x:1', but op 0 has 1 outputs"),
        ("graph.0.op.3.input", ["dense_1:0", "w:0", ""], "must come before op 3"),
        ("graph.0.op.3.input", ["x", "w:0", ""], "input 0 is 'x', expected 'op:number'"),
        ("graph.0.op.3.input", ["x:9999999999999999999999", "w:0", ""], "but op 0 has 1 outputs"),
        ("graph.0.op.0.output_desc.0.dtype", 13, "dtype is 13"),
        ("graph.0.op.0.output_desc.0.shape.dim", [-1], "expected extents of at least 0"),
        ("graph.0.op.0.output_desc.0.shape.dim", [1 << 40, 1 << 40], "expected at most"),
        ("graph.0.op.3.output_desc.0.data_offset", 100, "32 bytes at 100 do not fit the 128 of ARENA"),
        ("graph.0.op.3.output_desc.0.data_offset", -64, "32 bytes at -64 do not fit"),
        ("name", "other", None),
    ],
)
def test_wrong_graphs_are_refused(path: str, value: object, message: str | None) -> None:
    data = edit_graph(_set(path, value))
    if message is None:
        assert from_bytes(data).name == value
    else:
        refused(data, message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("memory_size", 64, "memory_size is 128, expected 64"),
        ("memory_size", -1, "is -1, expected at least 0"),
        ("weight_size", 4, "weight_size is 4, WEIGHTS_DATA has 1056 bytes"),
        ("gecc_scratch_bytes", 1 << 62, "scratch_bytes is 4611686018427387904"),
        ("gecc_dispatcher", b"nobody", "the dispatcher 'nobody' is not among the 3 kernels"),
        ("gecc_dispatcher", b"\xff", "is not UTF-8"),
        ("gecc_abi", b"one", "is 'one', expected int"),
        ("gecc_weights_sha256", b"A" * 64, "expected 64 hex digits"),
    ],
)
def test_wrong_figures_are_refused(name: str, value: int | bytes, message: str) -> None:
    def change(proto) -> None:
        setattr(proto.attr[name], "s" if isinstance(value, bytes) else "i", value)

    refused(edit_graph(change), message)


def test_a_const_out_of_the_weights_is_refused() -> None:
    def move(proto) -> None:
        proto.graph[0].op[2].attr["value"].t.desc.data_offset = 1 << 40

    refused(edit_graph(move), "32 bytes at 1099511627776 do not fit the 1056 of WEIGHTS_DATA")

    def grow(proto) -> None:
        proto.graph[0].op[2].attr["value"].t.desc.weight_size = 64

    refused(edit_graph(grow), "size is 64, expected 32 for shape [8] of f32")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "task.0.type",
            13,
            "the task has type 13, expected KERNEL, KERNEL_EX, LABEL_SET, LABEL_GOTO, STREAM_LABEL_SWITCH_BY_INDEX or EVENT_RECORD",
        ),
        ("task.1.event_id", 4, "the event is 4, expected 0"),
        ("task.1.type", 0, "kernel_type is 0, expected 8"),
        ("task.2.type", 1, "the task has type 1, expected EVENT_WAIT after EVENT_RECORD"),
        ("task.0.kernel.kernel_name", "run", "kernel 'run' is not among the 3 kernels it may launch"),
        ("task.0.kernel.context.op_index", 0, "op_index is 0, which is no computing node"),
        ("task.0.kernel.context.op_index", 5, "op_index is 5, which is no computing node"),
        ("task.0.kernel.context.args_count", 9, "args_count is 9, the block has 3 operands"),
        ("task.0.kernel.context.args_offset", b"\0\0", "args_offset is 0000"),
        ("task.0.kernel.args_size", 1, "args_size is 1"),
        ("event_num", 3, "event_num is 3, expected 1"),
        ("version", "9", "TASK_INFO has version '9', expected '1.0'"),
        ("task", [], "event_num is 1, expected 0"),
    ],
)
def test_wrong_tasks_are_refused(path: str, value: object, message: str) -> None:
    refused(edit_tasks(_set(path, value)), message)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"", "the argument block has 0 bytes"),
        (struct.pack("<4I", 1 << 31, 0, 0, 0), "expected 51539607568"),
        (struct.pack("<4I", 0, 0, (1 << 32) - 1, 0), "has 16 bytes, expected 34359738376"),
        (struct.pack("<4I", 0, 1, 0, 0), "1 of 0 operands written"),
        (struct.pack("<4I", 0, 0, 0, 5), "flags 5"),
        (struct.pack("<4I2I2Q", 1, 0, 0, 0, 9, 0, 0, 0), "an operand is in space 9"),
        (struct.pack("<4I2I2Q", 1, 0, 0, 0, 2, 1, 0, 0), "is in INPUT 1, the model has 1"),
        (struct.pack("<4I2I2Q", 1, 0, 0, 0, 0, 3, 0, 0), "has index 3 in ARENA, expected 0"),
        (struct.pack("<4I2I2Q", 1, 0, 0, 0, 0, 0, (1 << 64) - 8, 16), "do not fit the 128 of ARENA"),
        (struct.pack("<4I2I2Q", 1, 0, 0, 0, 0, 0, 8, (1 << 64) - 1), "do not fit the 128 of ARENA"),
        (struct.pack("<4I2I2Q", 1, 1, 0, 0, 1, 0, 512, 4), "operand 0 is written in WEIGHTS"),
    ],
)
def test_wrong_arguments_are_refused(block: bytes, message: str) -> None:
    def change(proto) -> None:
        kernel = proto.task[0].kernel
        kernel.args = block
        kernel.args_size = len(block)
        kernel.context.args_count = struct.unpack_from("<I", block)[0] if block else 0

    refused(edit_tasks(change), message)


def _item(name: str, data: bytes) -> bytes:
    return pack_store([(name, data)])


_BLOB = _item("gecc.blob", bytes(200))
_BOND = _item("gecc.bond", bytes(40))


@pytest.mark.parametrize(
    ("store", "message"),
    [
        (b"\0" * 11, "a kernel store item needs 12 bytes, 11 are left"),
        (b"\0" * 12, "the item's magic is 0x00000000"),
        (struct.pack("<III", 0x5D776EFD, 1 << 31, 1 << 31), "does not fit the 0 left"),
        (_BLOB, "the kernel store has no item 'gecc.index', found ['gecc.blob']"),
        (_BLOB + _BLOB, "item 'gecc.blob' appears twice"),
        (_BLOB + _BOND + _item("gecc.index", b"\1"), "a kernel index needs 4 bytes, it has 1"),
        (
            _BLOB + _BOND + _item("gecc.index", struct.pack("<I", 1 << 31)),
            "an index of 2147483648 kernels does not fit",
        ),
        (
            _BLOB + _BOND + _item("gecc.index", struct.pack("<IIQQ", 1, 9, 0, 1)),
            "a kernel name of 9 bytes does not fit",
        ),
        (_BLOB + _BOND + _item("gecc.index", struct.pack("<IIQQ", 1, 1, 0, 1) + b"\xff"), "kernel name is not UTF-8"),
        (
            _BLOB + _BOND + _item("gecc.index", struct.pack("<IIQQ", 1, 1, 150, 51) + b"k"),
            "51 bytes of code at 150 do not fit",
        ),
        (
            _BLOB + _BOND + _item("gecc.index", struct.pack("<IIQQ", 1, 1, 1 << 63, 1) + b"k"),
            "do not fit the blob's 200",
        ),
        (_BLOB + _BOND + _item("gecc.index", struct.pack("<I", 0) + b"?"), "1 bytes follow the last kernel"),
        (
            _BLOB + _item("gecc.index", struct.pack("<I", 0)),
            "has no item 'gecc.bond', found ['gecc.blob', 'gecc.index']",
        ),
    ],
)
def test_wrong_kernel_stores_are_refused(store: bytes, message: str) -> None:
    refused(edit(PartitionType.TBE_KERNELS, lambda _: store), message)


def _stored(change: Callable[[dict[str, bytes]], object]) -> bytes:
    """The file with the items of its kernel store changed."""

    def apply(raw: bytes) -> bytes:
        items = {name: bytes(data) for name, data in parse_store(memoryview(raw), "test").items()}
        change(items)
        return pack_store(list(items.items()))

    return edit(PartitionType.TBE_KERNELS, apply)


def test_code_is_bound_to_its_tasks() -> None:
    """A parameter that is a number like any other to the verifier leads a kernel out of its memory."""

    def longer(proto) -> None:
        args = proto.task[0].kernel.args
        proto.task[0].kernel.args = args[:-24] + struct.pack("<q", 1 << 20) + args[-16:]

    refused(edit_tasks(longer), "the kernels were emitted with tasks of")
    refused(
        edit_graph(lambda proto: setattr(proto.attr["gecc_scratch_bytes"], "i", 0)), "bytes of scratch, its kernels"
    )
    refused(_stored(lambda items: items.update({"gecc.bond": bytes(39)})), "'gecc.bond' has 39 bytes, expected 40")
    refused(_stored(lambda items: items.pop("gecc.bond")), "has no item 'gecc.bond'")


def test_code_is_for_the_machine_that_it_was_emitted_for() -> None:
    """Else a file that says x86-64-v3 would stop that machine with an instruction that it does not have."""

    def changed(name: str, **fields: object) -> bytes:
        def change(proto) -> None:
            for field, value in fields.items():
                setattr(proto.attr[name], field, value)

        return edit_graph(change)

    expected = "its kernels were emitted for 'x86-64-v4' with ABI 1"
    refused(changed("soc_version", s=b"x86-64-v3"), f"the model is for 'x86-64-v3' with ABI 1, {expected}")
    refused(changed("gecc_abi", i=2), f"the model is for 'x86-64-v4' with ABI 2, {expected}")
    refused(_stored(lambda items: items.update({"gecc.machine": b"1234567"})), "has 7 bytes, expected at least 8")
    refused(_stored(lambda items: items.update({"gecc.machine": b"12345678\xff"})), "the target is not UTF-8")
    older = from_bytes(_stored(lambda items: items.pop("gecc.machine")))  # as files were before
    assert to_bytes(older) == DATA


def test_an_older_schema_does_not_free_code_of_its_bond() -> None:
    def older(proto) -> None:
        proto.attr["gecc_schema"].i = 1
        proto.attr["gecc_scratch_bytes"].i = 0

    refused(edit_graph(older), "bytes of scratch, its kernels")


# ---------------------------------------------------------------------------------------------- models never written


def _task(**changes: object) -> Callable[[OmModel], None]:
    def change(model: OmModel) -> None:
        model.tasks = (replace(model.tasks[0], **changes), model.tasks[1])

    return change


def _swap(model: OmModel) -> None:
    model.tasks = model.tasks[::-1]


def _same_phase(model: OmModel) -> None:
    model.tasks = (model.tasks[0], replace(model.tasks[1], phase=0))


def _attr(name: str, value: Any) -> Callable[[OmModel], None]:
    def change(model: OmModel) -> None:
        model.attrs = {name: value}

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_task(phase=1), "phase is 1 after -1"),
        (_task(blocks=-1), "blocks is -1"),
        (_task(op_index=2), "op_index is 2, expected one of the 2 nodes"),
        (_task(params=(1 << 63,)), "param 0 is 9223372036854775808"),
        (_task(n_outs=4), "n_outs is 4, expected 0 to 3"),
        (_swap, "phase is 1 after -1, expected -1 or 0"),
        (_same_phase, "tasks 0 and 1 of phase 0 both touch ARENA from 64 on, and one writes"),
        (_attr("gecc_abi", 1), "a name the format itself uses"),
        (_attr("a", 1 << 70), "expected a signed 64-bit integer"),
        (_attr("a", (1, "b")), "expected values of one kind"),
        (_attr("a", None), "of type NoneType"),
        (_attr("a", 1e300), "too great for single precision"),
        (_attr("ä", 1), "printable ASCII"),
        (_attr("a", ((1,), (2.0,))), "expected rows of ints"),
    ],
)
def test_wrong_models_are_not_written(change: Callable[[OmModel], None], message: str) -> None:
    model = mlp()
    change(model)
    with pytest.raises(OmError) as e:
        to_bytes(model)
    assert message in str(e.value)
