"""Structured mutations: one or a few fields of a good file take the values that break readers.

Every scalar field of MODEL_DEF and TASK_INFO, every word of argument blocks and of the container's own structures, at 0, 1,
the greatest, the greatest less one, and by one off; bytes and texts cut, grown or of other characters; messages repeated,
dropped, swapped, and copied over others; partitions cut, swapped, repeated; a file cut at any length; bits flipped; lists and
names made long (`test.fuzz.swell`).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

from gecc.om.container import PartitionType
from gecc.om.schema import DecodeError
from test.fuzz.files import Parts, messages
from test.fuzz.swell import change_attribute, swell

WORDS = (
    0,
    1,
    2,
    7,
    63,
    64,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 2,
    (1 << 32) - 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)


def mutants(base: Parts, seed: int) -> Iterator[tuple[str, bytes]]:
    """Endless mutants of a file with what was done to them, the same for a seed."""
    rng = random.Random(seed)
    good = base.sealed()
    in_parts = (
        *(change_message, change_message, change_message, change_arguments, change_arguments, _partition),
        *(change_attribute, swell),
    )
    whole = (_container, _cut, _flip)
    while True:
        if rng.random() < 0.3:
            change = rng.choice(whole)
            yield change.__name__[1:], change(good, rng)
            continue
        how = rng.choice(in_parts)
        parts = base.copy()
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            how(parts, rng)
        yield how.__name__.removeprefix("_"), parts.sealed()


def cuts(base: Parts) -> Iterator[tuple[str, bytes]]:
    """The file cut at every length, with and without a header that says so."""
    good = base.sealed()
    for length in range(len(good)):
        yield f"cut at {length}", good[:length]
        if length > 256:
            yield f"cut at {length}, said so", good[:184] + struct.pack("<Q", length - 256) + good[192:length]


# ------------------------------------------------------------------------------------------------------------ messages


def change_message(parts: Parts, rng: random.Random) -> None:
    """Change a field somewhere in MODEL_DEF or TASK_INFO."""
    kind, form = rng.choice(sorted(messages().items()))
    message: Any = form()
    try:
        message.ParseFromString(parts.raw[kind])
    except DecodeError:  # an earlier mutation broke it: leave it broken
        return
    _change(message, rng)
    parts.raw[kind] = message.SerializeToString(deterministic=True) or b"\0"


def _change(message: Any, rng: random.Random) -> None:
    """Walk down at random and change what is met."""
    while True:
        fields = message.ListFields()
        if not fields:
            return
        field, value = rng.choice(fields)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            if _change_map(field, value, rng):
                return
            message = value[rng.choice(sorted(value))]
        elif field.is_repeated:
            if field.message_type is None:
                _change_scalars(field, value, rng)
                return
            if rng.random() < 0.3 or not len(value):
                _shuffle(value, rng)
                return
            message = rng.choice(value)
        elif field.message_type is not None:
            if rng.random() < 0.05:
                message.ClearField(field.name)
                return
            message = value
        else:
            setattr(message, field.name, _other(field, value, rng))
            return


def _change_map(field: Any, value: Any, rng: random.Random) -> bool:
    """Drop or rename an entry now and then; whether it did."""
    if rng.random() > 0.15 or not len(value):
        return False
    key = rng.choice(sorted(value))
    if rng.random() < 0.5 and field.message_type.fields_by_name["value"].message_type is not None:
        value[rng.choice(["x", "", key + "!", *sorted(value)])].CopyFrom(value[key])
    else:
        del value[key]
    return True


def _shuffle(items: Any, rng: random.Random) -> None:
    """Repeat, drop, swap or copy over one of repeated messages."""
    if not len(items):
        items.add()
        return
    i, j = rng.randrange(len(items)), rng.randrange(len(items))
    match rng.randrange(4):
        case 0:
            items.add().CopyFrom(items[i])
        case 1:
            del items[i]
        case 2:
            first = type(items[i])()
            first.CopyFrom(items[i])
            items[i].CopyFrom(items[j])
            items[j].CopyFrom(first)
        case _:
            items[i].CopyFrom(items[j])


def _change_scalars(field: Any, values: Any, rng: random.Random) -> None:
    match rng.randrange(3):
        case 0 if len(values):
            i = rng.randrange(len(values))
            values[i] = _other(field, values[i], rng)
        case 1 if len(values):
            del values[rng.randrange(len(values))]
        case _:
            values.append(_other(field, values[0] if len(values) else field.default_value or 0, rng))


def _other(field: Any, value: Any, rng: random.Random) -> Any:
    """Another value of a scalar field's type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return rng.choice((0.0, -1.0, float("inf"), float("nan"), 1e30))
    if isinstance(value, bytes):
        return _bytes(value, rng)
    if isinstance(value, str):
        return rng.choice(("", value + "x", value[:-1], "\0", "ü" * 40, "Data", "NetOutput", value * 3))
    greatest = {13: (1 << 32) - 1, 4: (1 << 64) - 1, 14: (1 << 31) - 1}.get(field.type, (1 << 63) - 1)
    least = 0 if field.type in (13, 4, 14) else -(1 << 63)
    found = rng.choice(
        (0, 1, greatest, greatest - 1, value + 1, value - 1, value * 2, least, value ^ (1 << rng.randrange(31)))
    )
    return min(max(found, least), greatest)


def _bytes(value: bytes, rng: random.Random) -> bytes:
    data = bytearray(value)
    match rng.randrange(5):
        case 0:
            return bytes(data[: rng.randrange(len(data) + 1)])
        case 1:
            return bytes(data) + bytes(rng.randrange(1, 40))
        case 2 if len(data) >= 8:
            at = rng.randrange(0, len(data) - 7, 4)
            data[at : at + 8] = struct.pack("<Q", rng.choice(WORDS))
        case 3 if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case _:
            return rng.choice((b"", b"\xff", b"\0" * 8))
    return bytes(data)


def change_arguments(parts: Parts, rng: random.Random) -> None:
    """Change a word of a task's argument block: a space, an offset, a size, a parameter, a label."""
    kind = int(PartitionType.TASK_INFO)
    form: Any = messages()[kind]()
    try:
        form.ParseFromString(parts.raw[kind])
    except DecodeError:
        return
    tasks = [t for t in form.task if t.kernel.args or t.kernel_ex.args or t.private_def]
    if not tasks:
        return
    task = rng.choice(tasks)
    owner, name = (task.kernel, "args") if task.kernel.args else (task.kernel_ex, "args")
    if task.private_def:
        owner, name = task, "private_def"
    data = bytearray(getattr(owner, name))
    if rng.random() < 0.1:
        setattr(owner, name, _bytes(bytes(data), rng))
    else:
        wide = rng.random() < 0.5
        at = rng.randrange(0, max(len(data) - 7, 1), 4)
        old = int.from_bytes(data[at : at + (8 if wide else 4)], "little")
        word = rng.choice((*WORDS, old + 1, old - 1, old * 2, old + 64, old ^ 1)) % (1 << (64 if wide else 32))
        data[at : at + (8 if wide else 4)] = word.to_bytes(8 if wide else 4, "little")
        setattr(owner, name, bytes(data))
        if rng.random() < 0.9 and hasattr(owner, "args_size"):
            owner.args_size = len(getattr(owner, name))
    parts.raw[kind] = form.SerializeToString(deterministic=True)


# ---------------------------------------------------------------------------------------------------------- containers


def _partition(parts: Parts, rng: random.Random) -> None:
    """Cut, grow, swap or drop a partition other than the kernels; or give one another's type."""
    kernels = int(PartitionType.TBE_KERNELS)
    free = [k for k in parts.order if k != kernels]
    kind = rng.choice(free)
    match rng.randrange(5):
        case 0:
            parts.raw[kind] = parts.raw[kind][: rng.randrange(len(parts.raw[kind]))] or b"\0"
        case 1:
            parts.raw[kind] += bytes(rng.randrange(1, 100))
        case 2:
            other = rng.choice(free)
            parts.raw[kind], parts.raw[other] = parts.raw[other], parts.raw[kind]
        case 3 if kind != int(PartitionType.MODEL_DEF):
            parts.order = tuple(k for k in parts.order if k != kind)
        case _:
            order = list(parts.order)
            rng.shuffle(order)
            parts.order = tuple(order)


def _container(good: bytes, rng: random.Random) -> bytes:
    """Change a word of header or partition table."""
    data = bytearray(good)
    at = rng.randrange(0, min(256 + 8 + 24 * 5, len(data) - 8), 4)
    data[at : at + 8] = struct.pack("<Q", rng.choice(WORDS))
    return bytes(data)


def _cut(good: bytes, rng: random.Random) -> bytes:
    return good[: rng.randrange(len(good))]


def _flip(good: bytes, rng: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)
