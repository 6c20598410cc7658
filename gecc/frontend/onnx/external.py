"""External data: bytes of tensors in files beside the model, mapped and kept inside the model's folder."""

from __future__ import annotations

import os
import stat
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto

from gecc.errors import InvalidModelError


def mapped_external(tensor: TensorProto, dtype: np.dtype[Any], folder: Path | None, what: str) -> np.ndarray:
    """The values of a tensor with external data, as a read-only map of its file.

    The location must be a relative path that stays inside `folder` with every link resolved, and name a regular
    file with no second hard link. Raises InvalidModelError otherwise, or when the file is too short.
    """
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    where = f"external data '{location}' of {what}"
    if folder is None:
        raise InvalidModelError(
            "the model has external data, but no folder is known", where=where, hint="load the model from its file"
        )
    path = _contained(location, folder, where)
    shape = tuple(tensor.dims)
    size = prod(shape) * dtype.itemsize
    offset = _number(entries, "offset", 0, where)
    length = _number(entries, "length", size, where)
    if length != size:
        raise InvalidModelError(f"length is {length} bytes, expected {size} for {dtype}{list(shape)}", where=where)
    present = path.stat().st_size
    if offset + length > present:
        raise InvalidModelError(f"bytes {offset}..{offset + length} lie beyond the file's {present}", where=where)
    if length == 0:
        return np.empty(shape, dtype)
    mapped = np.memmap(path, np.uint8, "r", offset=offset, shape=(length,))
    return mapped.view(dtype).reshape(shape)


def _contained(location: str, folder: Path, where: str) -> Path:
    given = Path(location)
    if not location or given.is_absolute() or ".." in given.parts or "\0" in location:
        raise InvalidModelError("expected a relative path without '..'", where=where)
    root = folder.resolve()
    try:
        path = (root / given).resolve(strict=True)
        status = os.lstat(path)
    except OSError as error:
        raise InvalidModelError(f"cannot open the file in {root}: {error.strerror}", where=where) from error
    if not path.is_relative_to(root):
        raise InvalidModelError(f"a link leads out of the model's folder {root}", where=where)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidModelError("expected a regular file", where=where)
    if status.st_nlink > 1:
        raise InvalidModelError(f"the file has {status.st_nlink} hard links, expected one", where=where)
    return path


def _number(entries: dict[str, str], key: str, default: int, where: str) -> int:
    text = entries.get(key, str(default))
    if not text.isdecimal():
        raise InvalidModelError(f"{key} is '{text}', expected a number of bytes", where=where)
    return int(text)
