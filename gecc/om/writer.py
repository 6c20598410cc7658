"""OmModel -> om file. The same model gives the same bytes.

    header (256) | table | MODEL_DEF ... padding | WEIGHTS_DATA (at a multiple of 4096) | TBE_KERNELS | TASK_INFO

The header's checksum is the SHA-256 of the file with those 32 bytes zero and WEIGHTS_DATA replaced by its own SHA-256.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from gecc.errors import OmError
from gecc.files import new_file
from gecc.om.container import HEADER_SIZE, Header, PartitionType, header_name, pack_table, table_size
from gecc.om.digest import file_digest
from gecc.om.graph import DIGEST, EXTERNAL, encode_graph, first_node_id, weights_file
from gecc.om.kernel_store import (
    BLOB_ITEM,
    BOND_ITEM,
    INDEX_ITEM,
    MACHINE_ITEM,
    TILE_ITEM,
    pack_bond,
    pack_index,
    pack_machine,
    pack_store,
)
from gecc.om.records import Buffer, OmModel
from gecc.om.schema import Message
from gecc.om.tasks import encode_tasks
from gecc.om.verifier import verify

WEIGHTS_FILE_ALIGNMENT = 4096
"""A page, so that the mapped weights are aligned."""

_PADDING_TAG = bytes((0xA2, 0x06))  # field 100, length-delimited: every parser skips it


def to_bytes(model: OmModel) -> bytes:
    """The file's bytes. Raises OmError when the model is wrong or has no form in the container."""
    out = io.BytesIO()
    _emit(model, out)
    return out.getvalue()


def write(
    model: OmModel,
    path: str | os.PathLike[str],
    *,
    external: bool = False,
    finish: Callable[[str], None] | None = None,
) -> None:
    """Write the file, all or nothing: it appears under its name only when complete.

    With `external` the weights go into a file beside it, named by their SHA-256, which models with the same weights share;
    it is there before the om is. `finish` is called with the path of the whole file before it has its name, to sign it.
    Weights stream through, so a model larger than memory can be written. Raises OmError as `to_bytes`, OSError when the
    disk refuses.
    """
    if not external or not model.weights.size:
        return _whole(path, lambda file: _emit(model, file), finish)
    verify(model)
    digest = model.weights.digest()
    name = weights_file(digest)
    beside = os.path.join(os.path.dirname(os.path.realpath(path)), name)
    if not _holds(beside, model.weights.size, digest):
        _whole(beside, lambda file: file.writelines(model.weights.stream()))
    _whole(path, lambda file: _emit(model, file, (name, bytes.fromhex(digest))), finish)


def _holds(path: str, size: int, digest: str) -> bool:
    """Whether the file is there with these contents."""
    try:
        if os.path.islink(path) or os.path.getsize(path) != size:
            return False
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def _whole(
    path: str | os.PathLike[str], emit: Callable[[BinaryIO], object], finish: Callable[[str], None] | None = None
) -> None:
    """Write a file, all or nothing."""
    if os.path.exists(path) and not os.path.isfile(path):  # a folder, or a device such as /dev/null
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
    with new_file(path) as file:
        emit(file)
        if finish is not None:
            file.flush()
            finish(file.name)


def _emit(model: OmModel, out: BinaryIO, external: tuple[str, bytes] | None = None) -> None:
    """Write to `out`. `external` are name and SHA-256 of the file that holds the weights, when `out` shall not."""
    verify(model)
    base = first_node_id(model)
    tasks = encode_tasks(model, lambda index: base + index)
    bond = pack_bond(model.scratch_bytes, tasks)
    form = TILE_ITEM if model.portable else BLOB_ITEM
    items: list[tuple[str, Buffer]] = [(form, model.blob), (INDEX_ITEM, pack_index(model.kernels)), (BOND_ITEM, bond)]
    if not model.portable:
        items.append((MACHINE_ITEM, pack_machine(model.target, model.abi)))
    store = pack_store(items)
    size = 0 if external is not None else model.weights.size
    proto = encode_graph(model, (size, len(store), 0, len(tasks)))
    if external is not None:
        proto.attr[EXTERNAL].s = external[0].encode()
    digest_size = len(_serialize(proto))
    parts = [(PartitionType.TBE_KERNELS, len(store)), (PartitionType.TASK_INFO, len(tasks))]
    if size:
        parts.insert(0, (PartitionType.WEIGHTS_DATA, size))
    start = HEADER_SIZE + table_size(len(parts) + 1)
    padding = _padding(start + digest_size) if size else b""
    model_def_size = digest_size + len(padding)
    weights_at = start + model_def_size

    out.seek(weights_at)
    weights_hash = hashlib.sha256()
    try:
        for piece in model.weights.stream() if external is None else ():
            weights_hash.update(piece)
            out.write(piece)
    except ValueError as e:
        raise OmError(f"the model's weights contradict themselves: {e}") from e
    out.write(store)
    out.write(tasks)

    weights_digest = weights_hash.digest() if external is None else external[1]
    proto.attr[DIGEST].s = weights_digest.hex().encode()
    header = Header(name=header_name(model.name), model_length=out.tell() - HEADER_SIZE)
    table = pack_table([(PartitionType.MODEL_DEF, model_def_size), *parts])
    model_def = _serialize(proto) + padding
    if len(model_def) != model_def_size:
        raise AssertionError(f"MODEL_DEF grew from {model_def_size} to {len(model_def)} bytes with the weights' digest")
    head = header.pack() + table + model_def
    checksum = file_digest(head, weights_digest, store + tasks)
    out.seek(0)
    out.write(replace(header, checksum=checksum).pack())
    out.write(head[HEADER_SIZE:])


def _serialize(proto: Message) -> bytes:
    return proto.SerializeToString(deterministic=True)


def _padding(end: int) -> bytes:
    """An unknown field that brings `end` to a page's edge. At least 132 bytes, so that its length always takes two."""
    size = -end % WEIGHTS_FILE_ALIGNMENT
    if size < 132:
        size += WEIGHTS_FILE_ALIGNMENT
    length = size - 4
    return _PADDING_TAG + bytes((length & 0x7F | 0x80, length >> 7)) + bytes(length)
