"""TBE_KERNELS: the container's kernel store holds items of ours: the code image, the index into it, a bond, and a machine.

In a portable om the text of the kernels' tile IR stands in the place of the code, under a name of its own.

An item is u32 magic, u32 name length, u32 data length, name, data. The index is u32 count, then per kernel u32 name length,
u64 offset, u64 size, name.

What code does with its arguments is its own word: an extent, a stride, a count of blocks is right for it or leads it out of
its operands. So the code is bound to the tasks it was emitted with: the bond is u64 bytes of scratch a rank, then the
SHA-256 of TASK_INFO. Whoever changes a task has to change the kernel store, and so makes another program.

Nor does code run on another machine because a file says so: the machine, which stands beside code, is u64 ABI, then the name
of the target in UTF-8. Both are what MODEL_DEF says. Files written before gecc knew the item lack it.
"""

from __future__ import annotations

import hashlib
import struct

from gecc.errors import OmError
from gecc.om.records import Buffer, KernelEntry

ITEM_MAGIC = 0x5D776EFD
BLOB_ITEM = "gecc.blob"
TILE_ITEM = "gecc.tile"
INDEX_ITEM = "gecc.index"
BOND_ITEM = "gecc.bond"
MACHINE_ITEM = "gecc.machine"

_ITEM = struct.Struct("<III")
_COUNT = struct.Struct("<I")
_KERNEL = struct.Struct("<IQQ")
_BOND = struct.Struct("<Q32s")
_ABI = struct.Struct("<Q")


def pack_store(items: list[tuple[str, Buffer]]) -> bytes:
    """Named items as a kernel store."""
    out = bytearray()
    for name, data in items:
        raw, size = name.encode(), memoryview(data).nbytes
        if size >= 1 << 32:
            raise OmError(f"kernel store item '{name}' has {size} bytes, expected fewer than {1 << 32}")
        out += _ITEM.pack(ITEM_MAGIC, len(raw), size) + raw
        out += data
    return bytes(out)


def parse_store(data: memoryview, where: str) -> dict[str, memoryview]:
    """The items of a kernel store, as views. Raises OmError."""
    items: dict[str, memoryview] = {}
    at = 0
    while at < data.nbytes:
        place = f"{where}, byte {at}"
        left = data.nbytes - at
        if left < _ITEM.size:
            raise OmError(f"a kernel store item needs {_ITEM.size} bytes, {left} are left", where=place)
        magic, name_size, size = _ITEM.unpack_from(data, at)
        if magic != ITEM_MAGIC:
            raise OmError(f"the item's magic is {magic:#010x}, expected {ITEM_MAGIC:#010x}", where=place)
        left -= _ITEM.size
        if name_size > left or size > left - name_size:
            raise OmError(f"an item of {name_size} + {size} bytes does not fit the {left} left", where=place)
        at += _ITEM.size
        name = decode_text(data[at : at + name_size], "item name", place)
        if name in items:
            raise OmError(f"kernel store item '{name}' appears twice", where=place)
        at += name_size
        items[name] = data[at : at + size]
        at += size
    return items


def pack_bond(scratch_bytes: int, tasks: Buffer) -> bytes:
    """What binds code to the partition TASK_INFO whose bytes are `tasks`."""
    return _BOND.pack(scratch_bytes, hashlib.sha256(tasks).digest())


def check_bond(bond: memoryview, scratch_bytes: int, tasks: Buffer, where: str) -> None:
    """Refuse tasks that are not those the code was emitted with. Raises OmError."""
    if bond.nbytes != _BOND.size:
        raise OmError(f"'{BOND_ITEM}' has {bond.nbytes} bytes, expected {_BOND.size}", where=where)
    scratch, digest = _BOND.unpack(bond)
    if scratch != scratch_bytes:
        raise OmError(f"the model states {scratch_bytes} bytes of scratch, its kernels {scratch}", where=where)
    found = hashlib.sha256(tasks).digest()
    if digest != found:
        raise OmError(
            f"the SHA-256 of TASK_INFO is {found.hex()}, the kernels were emitted with tasks of {digest.hex()}",
            where=where,
            hint="the tasks were changed",
        )


def pack_machine(target: str, abi: int) -> bytes:
    """What code was emitted for."""
    return _ABI.pack(abi) + target.encode()


def check_machine(machine: memoryview, target: str, abi: int, where: str) -> None:
    """Refuse a target or an ABI that is not that of the code. Raises OmError."""
    if machine.nbytes < _ABI.size:
        raise OmError(f"'{MACHINE_ITEM}' has {machine.nbytes} bytes, expected at least {_ABI.size}", where=where)
    made = (decode_text(machine[_ABI.size :], "the target", where), *_ABI.unpack_from(machine))
    if made != (target, abi):
        raise OmError(
            f"the model is for '{target}' with ABI {abi}, its kernels were emitted for '{made[0]}' with ABI {made[1]}",
            where=where,
            hint="the file was changed; compile the model for this machine",
        )


def pack_index(kernels: tuple[KernelEntry, ...]) -> bytes:
    """The index item."""
    out = bytearray(_COUNT.pack(len(kernels)))
    for k in kernels:
        raw = k.name.encode()
        out += _KERNEL.pack(len(raw), k.offset, k.size) + raw
    return bytes(out)


def parse_index(data: memoryview, where: str) -> tuple[KernelEntry, ...]:
    """The kernels of an index item. Raises OmError."""
    if data.nbytes < _COUNT.size:
        raise OmError(f"a kernel index needs {_COUNT.size} bytes, it has {data.nbytes}", where=where)
    (count,) = _COUNT.unpack_from(data)
    if count > (data.nbytes - _COUNT.size) // _KERNEL.size:
        raise OmError(f"an index of {count} kernels does not fit its {data.nbytes} bytes", where=where)
    at = _COUNT.size
    kernels: list[KernelEntry] = []
    for i in range(count):
        place = f"{where}, kernel {i} at byte {at}"
        left = data.nbytes - at - _KERNEL.size
        if left < 0:
            raise OmError(f"a kernel needs {_KERNEL.size} bytes, {left + _KERNEL.size} are left", where=place)
        name_size, offset, size = _KERNEL.unpack_from(data, at)
        if name_size > left:
            raise OmError(f"a kernel name of {name_size} bytes does not fit the {left} left", where=place)
        at += _KERNEL.size
        kernels.append(KernelEntry(decode_text(data[at : at + name_size], "kernel name", place), offset, size))
        at += name_size
    if at != data.nbytes:
        raise OmError(f"{data.nbytes - at} bytes follow the last kernel, expected none", where=f"{where}, byte {at}")
    return tuple(kernels)


def decode_text(raw: memoryview | bytes, what: str, where: str) -> str:
    """UTF-8 text. Raises OmError."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError as e:
        raise OmError(f"{what} is not UTF-8: {e.reason} at its byte {e.start}", where=where) from None
