"""Structured mutations of portable oms: the text of their kernels, and the tasks that launch them, resealed and bound anew.

In the text one or a few lines change: a number becomes one that breaks arithmetic, an operand becomes another value, an
operation one of its family, a type another, lines are dropped, repeated or swapped. Most mutants still are kernels, and do
other things than the task they are launched by expects.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from gecc.om.container import PartitionType
from gecc.om.graph import SCRATCH
from gecc.om.kernel_store import (
    BOND_ITEM,
    INDEX_ITEM,
    TILE_ITEM,
    pack_bond,
    pack_index,
    pack_store,
    parse_index,
    parse_store,
)
from gecc.om.records import KernelEntry
from gecc.om.schema import DecodeError, ModelDef
from test.fuzz.files import Parts
from test.fuzz.mutate import change_arguments, change_message
from test.fuzz.swell import swell

NUMBERS = (
    *(0, 1, -1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 4096),
    *((1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 32, 1 << 46, 1 << 61, 1 << 62, (1 << 63) - 1, -(1 << 63)),
)

_FAMILIES = (
    (
        "arith.addi",
        "arith.subi",
        "arith.muli",
        "arith.divsi",
        "arith.remsi",
        "arith.divui",
        "arith.remui",
        "arith.maxsi",
    ),
    ("arith.minsi", "arith.maxsi", "arith.floordivsi", "arith.ceildivsi", "arith.shli", "arith.shrui", "arith.andi"),
    ("arith.addf", "arith.mulf", "arith.divf", "arith.subf", "arith.maximumf"),
    ("tile.load", "tile.store"),
)
_TYPES = ("f32", "f64", "i32", "i8", "i64", "i1", "f16", "bf16", "index", "i128")
_CONSTANT = re.compile(r"(arith\.constant )(-?\d+)( : (?:index|i\d+))")
_VALUE = re.compile(r"%[A-Za-z0-9_]+")
_TYPE = re.compile(r"\b(?:f32|f64|i32|i8|i64|i1|f16|bf16|index)\b")
_SHAPE = re.compile(r"vector<(\d+)x(\d+)x")
_RANK = r"(?<=rows )%\w+|(?<=depth )%\w+|(?<=by )%\w+|(?<=outer\()%\w+|(?<=step )%\w+|(?<=to )%\w+|(?<=\[)%\w+"
_EXTENT = re.compile(_RANK)


def portable_mutants(base: Parts, seed: int) -> Iterator[tuple[str, bytes]]:
    """Endless mutants of a portable file with what was done to them, the same for a seed."""
    rng = random.Random(seed)
    ways = (change_kernel, change_kernel, change_kernel, change_arguments, change_arguments, change_message, swell)
    while True:
        how = rng.choice(ways)
        parts = base.copy()
        for _ in range(rng.choice((1, 1, 2, 4))):
            how(parts, rng)
        if rng.random() < 0.98:
            bind(parts)
        yield how.__name__, parts.sealed()


def change_kernel(parts: Parts, rng: random.Random) -> None:
    """Change the text of one kernel."""
    kind = int(PartitionType.TBE_KERNELS)
    items = parse_store(memoryview(parts.raw[kind]), "fuzz")
    blob = bytes(items[TILE_ITEM])
    entries = parse_index(items[INDEX_ITEM], "fuzz")
    texts = {e.name: blob[e.offset : e.offset + e.size].decode() for e in entries}
    name = rng.choice(sorted(texts))
    texts[name] = changed(texts[name], rng) or " "
    out, places = b"", []
    for entry in entries:
        data = texts[entry.name].encode()
        places.append(KernelEntry(entry.name, len(out), len(data)))
        out += data
    store = {**{n: bytes(v) for n, v in items.items()}, TILE_ITEM: out, INDEX_ITEM: pack_index(tuple(places))}
    parts.raw[kind] = pack_store(list(store.items()))


def changed(text: str, rng: random.Random) -> str:
    """Another text."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    match rng.randrange(9):
        case 0:
            return _replace(_CONSTANT, text, rng, lambda m: f"{m[1]}{rng.choice((*NUMBERS, int(m[2]) + 1))}{m[3]}")
        case 1:
            names = sorted(set(_VALUE.findall(text)))
            return _replace(_VALUE, text, rng, lambda _: rng.choice(names))
        case 2:
            family = rng.choice(_FAMILIES)
            found = re.compile("|".join(map(re.escape, family)))
            return _replace(found, text, rng, lambda _: rng.choice(family))
        case 3:
            return _replace(_TYPE, text, rng, lambda _: rng.choice(_TYPES))
        case 4:
            return _replace(
                _SHAPE, text, rng, lambda m: f"vector<{rng.choice((1, int(m[1]) * 2))}x{rng.choice((16, 32, 8, 7))}x"
            )
        case 5:
            del lines[at]
            return "\n".join(lines)
        case 6:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
            return "\n".join(lines)
        case 7:  # a fresh constant in the place of an extent, an offset or a stride: always a kernel
            fresh = f"%fuzz{rng.randrange(1 << 30)}"
            number = rng.choice((*NUMBERS, rng.randrange(1 << 12)))
            start = text.index("{\n") + 2
            body = _replace(_EXTENT, text[start:], rng, lambda _: fresh)
            return f"{text[:start]}  {fresh} = arith.constant {number} : index\n{body}"
        case _:
            place = rng.randrange(len(text))
            return text[:place] + rng.choice('%{}()[]<>"\n@:,-0') + text[place + 1 :]


def _replace(pattern: re.Pattern[str], text: str, rng: random.Random, new: Callable[[re.Match[str]], str]) -> str:
    """Replace one match, chosen at random."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + new(match) + text[match.end() :]


def bind(parts: Parts) -> None:
    """Bind the kernels to the tasks as they are now."""
    kernels, tasks, model = (
        int(kind) for kind in (PartitionType.TBE_KERNELS, PartitionType.TASK_INFO, PartitionType.MODEL_DEF)
    )
    items = {name: bytes(data) for name, data in parse_store(memoryview(parts.raw[kernels]), "fuzz").items()}
    try:
        scratch = ModelDef.FromString(parts.raw[model]).attr[SCRATCH].i
    except DecodeError:
        return
    items[BOND_ITEM] = pack_bond(max(scratch, 0), parts.raw[tasks])
    parts.raw[kernels] = pack_store(list(items.items()))
