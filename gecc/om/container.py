"""The Ascend container around the partitions: 256-byte header, partition table, partitions back to back.

Little-endian throughout. The 64-bit table is what is written; the 32-bit table of older files is read too. Readers of
the wild disagree on details, so what is written keeps to what all of them take: at least two partitions, every type once,
pad words zero, `mem_offset` the running sum of sizes from 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import IntEnum

from gecc.errors import OmError

HEADER_SIZE = 256
MAGIC = 0x444F4D49  # the bytes "IMOD"
VERSION = 0x20000000  # from this version on, `model_num` counts
CHECKSUM_AT = 12
CHECKSUM_SIZE = 32  # SHA-256, the first half of the 64-byte slot
MAX_PARTITIONS = 64  # known types end at 24; flow models, which may have more, are not for us


class PartitionType(IntEnum):
    """What a partition holds; others exist and are skipped."""

    MODEL_DEF = 0
    WEIGHTS_DATA = 1
    TASK_INFO = 2
    TBE_KERNELS = 3
    CUST_AICPU_KERNELS = 4


@dataclass(frozen=True, slots=True)
class Header:
    """ModelFileHeader, field by field, in file order."""

    magic: int = MAGIC
    headsize: int = HEADER_SIZE
    version: int = VERSION
    checksum: bytes = b""
    length: int = 0
    is_encrypt: int = 0
    is_checksum: int = 0
    modeltype: int = 0
    genmode: int = 0
    name: bytes = b""
    ops: int = 0
    userdefineinfo: bytes = b""
    om_ir_version: int = 2
    model_num: int = 1
    platform_version: bytes = b""
    platform_type: int = 0
    padd: bytes = b""
    model_length: int = 0
    need_check_os_cpu_info: int = 0
    is_unknow_model: int = 0
    reserved: bytes = b""

    def pack(self) -> bytes:
        """The 256 bytes."""
        return _HEADER.pack(*(getattr(self, f.name) for f in fields(self)))


_HEADER = struct.Struct("<3I 64s I 4B 32s I 32s 2I 20s B 3s Q 2B 62s")
_ENTRY64 = struct.Struct("<IIQQ")
_ENTRY32 = struct.Struct("<III")


@dataclass(frozen=True, slots=True)
class Partition:
    """`size` bytes of the file from byte `offset` on. `type` is a `PartitionType` where it is a known one."""

    type: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Container:
    """A header and, for each model of the file, its partitions in file order."""

    header: Header
    models: tuple[tuple[Partition, ...], ...]


def table_size(partitions: int) -> int:
    """Bytes of a 64-bit table."""
    return 8 + _ENTRY64.size * partitions


def pack_table(partitions: Iterable[tuple[PartitionType, int]]) -> bytes:
    """A 64-bit table for partitions of these types and sizes, in this order."""
    entries = list(partitions)
    out = bytearray(struct.pack("<II", len(entries), 0))
    offset = 0
    for kind, size in entries:
        out += _ENTRY64.pack(kind, 0, offset, size)
        offset += size
    return bytes(out)


def header_name(name: str) -> bytes:
    """At most 31 bytes of the name, cut between characters."""
    return name.encode()[:31].decode(errors="ignore").encode()


def parse_header(data: memoryview, where: str) -> Header:
    """The header of a file, its length rules checked. Raises OmError."""
    if data.nbytes < HEADER_SIZE:
        raise OmError(
            f"the file has {data.nbytes} bytes, fewer than the {HEADER_SIZE} of a header", where=f"{where}, byte 0"
        )
    header = Header(*_HEADER.unpack_from(data))
    if header.magic != MAGIC:
        raise OmError(
            f"not an om file: the magic is {header.magic:#010x}, expected {MAGIC:#010x}", where=f"{where}, byte 0"
        )
    if header.headsize != HEADER_SIZE:
        raise OmError(f"headsize is {header.headsize}, expected {HEADER_SIZE}", where=f"{where}, byte 4")
    if header.is_encrypt:
        raise OmError(f"is_encrypt is {header.is_encrypt}, expected 0 (not encrypted)", where=f"{where}, byte 80")
    stated, field_at = (header.model_length, 184) if header.model_length else (header.length, 76)
    actual = data.nbytes - HEADER_SIZE
    if stated != actual:
        raise OmError(
            f"the header states {stated} bytes after itself, the file has {actual}",
            where=f"{where}, byte {field_at}",
            hint="the file was cut or extended" if stated else None,
        )
    return header


def parse_container(data: memoryview, where: str) -> Container:
    """Header and partitions of a whole file given as bytes. Raises OmError.

    Every table must fit, every partition lie in the file at the running sum of sizes, and the last end at the file's end.
    """
    header = parse_header(data, where)
    count = header.model_num if header.version >= VERSION else 1
    if count < 1:
        raise OmError(f"model_num is {count}, expected at least 1", where=f"{where}, byte 156")
    at = HEADER_SIZE
    models: list[tuple[Partition, ...]] = []
    for _ in range(count):  # each turn takes bytes of the file, so the number of turns is bounded by its size
        partitions, at = _parse_table(data, at, header.model_length != 0, where)
        models.append(partitions)
    if at != data.nbytes:
        raise OmError(
            f"{data.nbytes - at} bytes follow the last partition, expected none",
            where=f"{where}, byte {at}",
        )
    return Container(header, tuple(models))


def _parse_table(data: memoryview, at: int, wide: bool, where: str) -> tuple[tuple[Partition, ...], int]:
    """Partitions of the table at byte `at`, and the byte after the last of them."""
    head, entry = (8, _ENTRY64) if wide else (4, _ENTRY32)
    left = data.nbytes - at
    if left < head:
        raise OmError(f"a partition table needs {head} bytes, {left} are left", where=f"{where}, byte {at}")
    num, pad = struct.unpack_from("<II", data, at) if wide else (*struct.unpack_from("<I", data, at), 0)
    if pad:
        raise OmError(f"the table's pad word is {pad:#x}, expected 0", where=f"{where}, byte {at + 4}")
    if not 1 <= num <= MAX_PARTITIONS:
        raise OmError(f"the table has {num} partitions, expected 1 to {MAX_PARTITIONS}", where=f"{where}, byte {at}")
    if num > (left - head) // entry.size:
        raise OmError(
            f"a table of {num} partitions needs {head + num * entry.size} bytes, {left} are left",
            where=f"{where}, byte {at}",
        )
    start = at + head + num * entry.size
    offset = 0
    partitions: list[Partition] = []
    for i in range(num):
        entry_at = at + head + i * entry.size
        kind, *pads, mem_offset, mem_size = entry.unpack_from(data, entry_at)
        place = f"{where}, table entry {i} at byte {entry_at}"
        if any(pads):
            raise OmError(f"the pad word after the type is {pads[0]:#x}, expected 0", where=place)
        if any(p.type == kind for p in partitions):
            raise OmError(f"partition type {kind} appears twice", where=place)
        if mem_offset != offset:
            raise OmError(f"mem_offset is {mem_offset}, expected {offset}, the sum of sizes before", where=place)
        room = data.nbytes - start - offset
        if not 1 <= mem_size <= room:
            raise OmError(f"mem_size is {mem_size}, expected 1 to {room}, the bytes left in the file", where=place)
        partitions.append(Partition(kind, start + offset, mem_size))
        offset += mem_size
    return tuple(partitions), start + offset
