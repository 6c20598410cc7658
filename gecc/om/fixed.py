"""How an om says which inputs were fixed when it was compiled, and to which values."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gecc.errors import OmError
from gecc.om.records import ITEMSIZE, MAX_RANK, AttrValue

KEY = "fixed_inputs"
"""Attribute of the model: a line of JSON for each input."""

SHOWN_BYTES = 1024
"""Larger values are named by their digest alone."""


@dataclass(frozen=True, slots=True)
class FixedInput:
    """An input that has one value: `data` its bytes, row-major, or None when only their sha256 is kept."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    data: bytes | None

    @classmethod
    def of(cls, name: str, dtype: str, shape: tuple[int, ...], data: bytes) -> FixedInput:
        """From the bytes of the value."""
        digest = hashlib.sha256(data).hexdigest()
        return cls(name, dtype, shape, digest, data if len(data) <= SHOWN_BYTES else None)

    def text(self) -> str:
        """The line that says it."""
        shown = {} if self.data is None else {"data": self.data.hex()}
        fields = {"name": self.name, "dtype": self.dtype, "shape": list(self.shape), "sha256": self.sha256, **shown}
        return json.dumps(fields, sort_keys=True)

    def accepts(self, dtype: str, shape: tuple[int, ...], data: bytes) -> bool:
        """Whether a value is the one that was compiled for."""
        return (dtype, shape) == (self.dtype, self.shape) and hashlib.sha256(data).hexdigest() == self.sha256


def fixed_inputs(attrs: Mapping[str, AttrValue]) -> tuple[FixedInput, ...]:
    """The fixed inputs of a model by its attributes. Raises OmError for lines that this module did not write."""
    lines = attrs.get(KEY, ())
    if not isinstance(lines, tuple):
        raise OmError(f"attribute {KEY} is {lines!r}, expected a list of lines")
    return tuple(map(_parsed, lines))


def _parsed(line: object) -> FixedInput:
    try:
        fields: dict[str, Any] = json.loads(line) if isinstance(line, str) else {}
        name, dtype, shape, digest = (fields[key] for key in ("name", "dtype", "shape", "sha256"))
        data = bytes.fromhex(fields["data"]) if "data" in fields else None
        found = FixedInput(name, dtype, tuple(shape), digest, data)
        if all(isinstance(x, str) for x in (name, dtype, digest)) and dtype in ITEMSIZE:
            if all(type(n) is int and n >= 0 for n in found.shape) and _agrees(found):
                return found
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise OmError(f"attribute {KEY} holds {line!r}, expected a fixed input")


def _agrees(value: FixedInput) -> bool:
    """Whether the bytes that stand there are those of the shape and of the digest."""
    if value.data is None:
        return True
    if len(value.data) > SHOWN_BYTES or len(value.shape) > MAX_RANK:
        return False
    size = math.prod(value.shape) * ITEMSIZE[value.dtype]
    return len(value.data) == size and hashlib.sha256(value.data).hexdigest() == value.sha256
