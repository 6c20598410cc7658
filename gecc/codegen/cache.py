"""A cache of objects on disk, one for each user: the same text for the same target is compiled once.

The key is the digest of everything that decides the bytes. An entry carries the digest of its payload; one that does
not match (a torn disk, a meddling hand) counts as absent and is written anew. Entries appear by renaming, so that
processes may share the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_MAGIC = b"gecc-object-1\n"
_LIMIT = 256 << 20
_PRUNE_EVERY = 256


LOWERING = (
    *("passes/tile/expand_math", "passes/tile/to_llvm"),
    *("codegen/llvm_text.py", "dialects/llvm.py", "dialects/fused/body.py"),
)
"""The sources that turn tile IR into LLVM IR."""


def sources_digest(*paths: str) -> str:
    """Digest of source files, and of those in folders, below the package: cached code of another lowering is never used."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in paths:
        place = root / path
        for file in sorted(place.glob("*.py")) if place.is_dir() else [place]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class ObjectCache:
    """Objects by key in a folder (default `~/.cache/gecc/objects`), at most 256 MiB of them.

    A folder that cannot be read or written makes every look-up a miss: only time is lost.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._stores = 0

    @property
    def folder(self) -> Path:
        """Where entries lie."""
        return self._folder or Path.home() / ".cache" / "gecc" / "objects"

    @staticmethod
    def key(*parts: str) -> str:
        """The digest that names an entry, of strings that decide its bytes."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        return digest.hexdigest()

    def path(self, key: str) -> Path:
        """The file of the entry `key`."""
        return self.folder / key[:2] / key

    def get(self, key: str) -> bytes | None:
        """The payload stored under `key`, or None when there is none that is whole."""
        path = self.path(key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        head = len(_MAGIC) + 32
        payload = entry[head:]
        if entry[:head] != _MAGIC + hashlib.sha256(payload).digest():
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # so that pruning takes the entries longest unused
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Store `payload` under `key`, replacing what is there."""
        path = self.path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
                os.replace(name, path)
            except OSError:
                os.unlink(name)
                raise
        if self._stores % _PRUNE_EVERY == 0:
            self.prune()
        self._stores += 1

    def prune(self, limit: int = _LIMIT) -> None:
        """Remove the entries longest unused until at most `limit` bytes remain."""
        entries: list[tuple[float, int, Path]] = []
        with contextlib.suppress(OSError):
            for path in self.folder.glob("*/*"):
                with contextlib.suppress(OSError):
                    status = path.stat()
                    entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= limit:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
