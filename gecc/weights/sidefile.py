"""The side file `<name>.weights` of a text module: a digest table, then bytes.

    offset  bytes
    0       8      magic `GECCWGT1`
    8       8      number of entries n, little-endian
    16      48 n   per entry: digest (32), offset from the start of the file (8), size in bytes (8)
    ...            bytes of the entries, each at a multiple of 64

A digest is the entry's name in the module. For a recipe that is the digest of its description, not of its bytes.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gecc.errors import WeightError

if TYPE_CHECKING:
    import numpy as np

MAGIC = b"GECCWGT1"
ALIGNMENT = 64
_HEADER = struct.Struct("<8sQ")
_ROW = struct.Struct("<32sQQ")


def write_side_file(path: Path, entries: Sequence[tuple[str, int, Callable[[], np.ndarray]]]) -> None:
    """Write `(digest, bytes, function giving the bytes)` in order. The file appears whole or not at all."""
    offset = _HEADER.size + _ROW.size * len(entries)
    rows: list[tuple[int, int]] = []
    for _, size, _ in entries:
        offset = -(-offset // ALIGNMENT) * ALIGNMENT
        rows.append((offset, size))
        offset += size
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as out:
            out.write(_HEADER.pack(MAGIC, len(entries)))
            for (digest, _, _), (start, size) in zip(entries, rows, strict=True):
                out.write(_ROW.pack(bytes.fromhex(digest), start, size))
            for (digest, size, read), (start, _) in zip(entries, rows, strict=True):
                out.write(b"\0" * (start - out.tell()))
                data = read()
                if data.nbytes != size:
                    raise WeightError(f"weight {digest} holds {data.nbytes} bytes, expected {size}")
                out.write(data.data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_side_file(path: Path) -> dict[str, np.ndarray]:
    """Map a side file: digest to bytes (uint8, read-only). Raises WeightError when it is missing or damaged."""
    import numpy as np

    try:
        with open(path, "rb", opener=_open) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise WeightError("expected a regular file of weights", where=str(path))
            size = status.st_size
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size or not header.startswith(MAGIC):
                raise WeightError(
                    f"not a file of weights: starts with {header[:8]!r}, expected {MAGIC!r}", where=str(path)
                )
            count = _HEADER.unpack(header)[1]
            if _HEADER.size + count * _ROW.size > size:
                raise WeightError(f"{count} entries do not fit a file of {size} bytes", where=str(path))
            table = file.read(count * _ROW.size)
            mapped = np.memmap(file, np.uint8, "r")
    except OSError as error:
        raise WeightError(f"cannot read the file of weights: {error.strerror}", where=str(path)) from error
    entries: dict[str, np.ndarray] = {}
    for digest, offset, length in _ROW.iter_unpack(table):
        if offset % ALIGNMENT or offset + length > size:
            raise WeightError(
                f"weight {digest.hex()} lies at {offset}..{offset + length}, "
                f"expected a multiple of {ALIGNMENT} within {size} bytes",
                where=str(path),
            )
        entries[digest.hex()] = mapped[offset : offset + length]
    return entries


def _open(path: str, flags: int) -> int:
    """Text may name anything beside it: a pipe would wait here for who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)
