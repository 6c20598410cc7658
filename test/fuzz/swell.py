"""Mutations that make a small file cost much: long lists beside long names, deep texts, attributes that decide how a file is
read. What is linear in the file passes the limit of time; what is not does not."""

from __future__ import annotations

import random
from typing import Any

from gecc.om.container import PartitionType
from gecc.om.fixed import KEY
from gecc.om.graph import ABI, DISPATCHER, SCHEMA_ATTR, TARGET
from gecc.om.schema import DecodeError
from gecc.runtime.narrow import INPUT_TYPES, OUTPUT_TYPES
from test.fuzz.files import Parts, messages

MAX_BYTES = 200_000
"""About what a partition may grow to."""

_TEXTS = (
    "[" * 50_000,
    '{"name":' * 20_000,
    "9" * 5_000,
    '{"name": "x", "dtype": "f32", "shape": [4611686018427387904, 0], "sha256": "", "data": ""}',
    '{"name": "x", "dtype": "f32", "shape": [1, 1, 1], "sha256": "", "data": "00"}',
    "\x1b]0;title\x07\n\u202e",
    "int4",
    "x86-64-v3",
    "aarch64",
    "",
)
_NUMBERS = (0, 1, 2, 3, 4, 5, 1 << 31, (1 << 63) - 1, -1)


def swell(parts: Parts, rng: random.Random) -> None:
    """Make fields of one message long: lists, texts and bytes, several of them at once."""
    kind, form = rng.choice(sorted(messages().items()))
    message: Any = form()
    try:
        message.ParseFromString(parts.raw[kind])
    except DecodeError:
        return
    owner = _some_message(message, rng)
    room = MAX_BYTES
    for field, value in rng.sample(owner.ListFields(), min(len(owner.ListFields()), rng.choice((1, 2, 3)))):
        room = _grow(owner, field, value, rng, room)
    parts.raw[kind] = message.SerializeToString(deterministic=True) or b"\0"


def _some_message(message: Any, rng: random.Random) -> Any:
    """A message within `message`, or itself."""
    while rng.random() < 0.8:
        inner: list[Any] = []
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if field.message_type.GetOptions().map_entry:
                if field.message_type.fields_by_name["value"].message_type is not None:
                    inner += (value[key] for key in sorted(value))
            else:
                inner += value if field.is_repeated else (value,)
        if not inner:
            break
        message = rng.choice(inner)
    return message


def _grow(owner: Any, field: Any, value: Any, rng: random.Random, room: int) -> int:
    """Make a field long; the bytes that are left for others."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return room
    if field.is_repeated and len(value):
        items = list(value)
        size = sum(item.ByteSize() if field.message_type is not None else len(str(item)) + 1 for item in items)
        count = min(room // max(size, 1), 20_000 // len(items))
        if field.message_type is None and rng.random() < 0.3:
            items = [rng.choice((0, 1, (1 << 31) - 1)) if isinstance(item, int) else item for item in items]
        for _ in range(count):
            value.extend(items)
        return room - count * size
    if isinstance(value, str | bytes) and value:
        count = min(room, rng.choice((1_000, MAX_BYTES))) // len(value)
        setattr(owner, field.name, value * count)
        return room - count * len(value)
    return room


def change_attribute(parts: Parts, rng: random.Random) -> None:
    """Give an attribute of the model that decides how the file is read another value."""
    kind = int(PartitionType.MODEL_DEF)
    message: Any = messages()[kind]()
    try:
        message.ParseFromString(parts.raw[kind])
    except DecodeError:
        return
    attr = message.attr[rng.choice((KEY, INPUT_TYPES, OUTPUT_TYPES, TARGET, DISPATCHER, SCHEMA_ATTR, ABI))]
    match rng.randrange(3):
        case 0:
            attr.i = rng.choice(_NUMBERS)
        case 1:
            attr.s = rng.choice(_TEXTS).encode()
        case _:
            attr.list.val_type = 1
            attr.list.s.extend(rng.choice(_TEXTS).encode() for _ in range(rng.choice((1, 1, 2, 9))))
    parts.raw[kind] = message.SerializeToString(deterministic=True)
