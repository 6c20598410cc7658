"""How two om files differ: in their figures, interface, weights, code, tasks and graph."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from gecc.om.reader import read
from gecc.om.records import OmModel
from gecc.plain import printable

_FIGURES = (
    "name",
    "target",
    "abi",
    "portable",
    "producer",
    "dispatcher",
    "arena_bytes",
    "scratch_bytes",
    "slots",
    "phases",
)


def differences(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> list[str]:
    """A line for each difference, none for equal files. Raises OmError for a file that is damaged."""
    one, two = read(a, verify="full"), read(b, verify="full")
    return [printable(line, keep="") for line in _differences(one, two)]


def _differences(one: OmModel, two: OmModel) -> Iterator[str]:
    for name in _FIGURES:
        yield from _change(name, getattr(one, name), getattr(two, name))
    yield from _mappings("attribute", one.attrs, two.attrs)
    yield from _lists("input", one.inputs, two.inputs)
    yield from _lists("output", one.outputs, two.outputs)
    yield from _mappings("weight", _weights(one), _weights(two))
    yield from _mappings("kernel", _kernels(one), _kernels(two))
    yield from _lists("node", one.nodes, two.nodes)
    yield from _lists("task", one.tasks, two.tasks)


def _change(what: str, a: object, b: object) -> Iterator[str]:
    if a != b and repr(a) != repr(b):  # NaN is not NaN
        yield f"{what}: {a} | {b}"


def _mappings(what: str, a: Mapping[str, object], b: Mapping[str, object]) -> Iterator[str]:
    for name in [*a, *(n for n in b if n not in a)]:
        if name not in b:
            yield f"{what} '{name}': only in the first"
        elif name not in a:
            yield f"{what} '{name}': only in the second"
        else:
            yield from _change(f"{what} '{name}'", a[name], b[name])


def _lists(what: str, a: Sequence[object], b: Sequence[object]) -> Iterator[str]:
    if len(a) != len(b):
        yield f"{what}s: {len(a)} | {len(b)}"
    for number, (left, right) in enumerate(zip(a, b, strict=False)):
        if left == right:
            continue
        name = getattr(left, "name", "") or getattr(left, "label", "")
        changed = [f for f in _parts(left, right) if getattr(left, f) != getattr(right, f)]
        if not changed:
            yield f"{what} {number} '{name}': {left} | {right}"
        for field in changed:
            yield f"{what} {number} '{name}', {field}: {getattr(left, field)} | {getattr(right, field)}"


def _parts(left: object, right: object) -> list[str]:
    """The fields of two records of one class."""
    if type(left) is not type(right) or not is_dataclass(left):
        return []
    return [f.name for f in fields(left)]


def _weights(model: OmModel) -> dict[str, str]:
    """What each weight is: type, layout, place, digest of its bytes."""
    data = model.weights.materialize()
    found: dict[str, str] = {}
    for number, w in enumerate(model.weights.entries):
        digest = hashlib.sha256(data[w.offset : w.offset + w.size]).hexdigest()[:16]
        name = w.name if w.name not in found else f"{w.name}#{number}"
        found[name] = f"{w.dtype}{list(w.shape)} {w.layout} at {w.offset}, sha256 {digest}"
    return found


def _kernels(model: OmModel) -> dict[str, str]:
    """What each function of the blob is: size and digest of its code. Where it lies does not count."""
    blob = memoryview(model.blob).cast("B")
    places = {(k.offset, k.size) for k in model.kernels}  # code may have several names
    digests = {(at, size): hashlib.sha256(blob[at : at + size]).hexdigest()[:16] for at, size in places}
    return {k.name: f"{k.size} bytes, sha256 {digests[k.offset, k.size]}" for k in model.kernels}
