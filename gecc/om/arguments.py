"""Argument blocks of tasks: what they touch, as bytes. Little-endian throughout.

operand   u32 space, u32 index, u64 offset, u64 size
KERNEL    u32 operands, u32 operands written, u32 params, u32 0; the operands; the params as i64
SWITCH    u32 labels, u32 0; the operand of the index; the labels as u32
host call u32 ins, u32 outs; the operand of the program; the ins, then the outs, each one of
              u32 0, u32 dtype, u32 rank, u32 0, operand, extents as i64      a tensor in planned memory
              u32 1, u32 slot, u32 bytes of the type, u32 0, the type in UTF-8    an object
"""

from __future__ import annotations

import struct

from gecc.errors import OmError
from gecc.om.records import HostObject, HostTask, HostTensor, HostValue, KernelTask, Operand, Space, SwitchTask
from gecc.om.schema import DATA_TYPE, DATA_TYPE_NAME

_HEAD = struct.Struct("<4I")
_PAIR = struct.Struct("<2I")
_OPERAND = struct.Struct("<IIQQ")
_SPACES = tuple(Space)
_TENSOR, _OBJECT = 0, 1

KERNEL_OPERANDS_AT = _HEAD.size
"""Where the operands of a KERNEL task start in its block."""


def _pack_operand(o: Operand) -> bytes:
    return _OPERAND.pack(o.space, o.index, o.offset, o.size)


def pack_kernel(task: KernelTask) -> bytes:
    """The argument block of a launch."""
    out = bytearray(_HEAD.pack(len(task.operands), task.n_outs, len(task.params), 0))
    for o in task.operands:
        out += _pack_operand(o)
    out += struct.pack(f"<{len(task.params)}q", *task.params)
    return bytes(out)


def parse_kernel(args: bytes, where: str) -> tuple[tuple[Operand, ...], int, tuple[int, ...]]:
    """Operands, how many are written, and params of an argument block. Raises OmError."""
    if len(args) < _HEAD.size:
        raise OmError(f"the argument block has {len(args)} bytes, expected at least {_HEAD.size}", where=where)
    n_operands, n_outs, n_params, zero = _HEAD.unpack_from(args)
    end = _HEAD.size + n_operands * _OPERAND.size
    expected = end + 8 * n_params  # exact in Python, so it cannot wrap around
    if expected != len(args):
        raise OmError(
            f"an argument block of {n_operands} operands and {n_params} params has {len(args)} bytes, expected {expected}",
            where=where,
        )
    if zero or n_outs > n_operands:
        raise OmError(f"the argument block states {n_outs} of {n_operands} operands written, flags {zero}", where=where)
    cursor = _Cursor(args, where, _HEAD.size)
    operands = tuple(cursor.operand() for _ in range(n_operands))
    return operands, n_outs, struct.unpack_from(f"<{n_params}q", args, end)


def pack_switch(task: SwitchTask) -> bytes:
    """What a switch looks at, and where it leads."""
    head = _PAIR.pack(len(task.targets), 0) + _pack_operand(task.index)
    return head + struct.pack(f"<{len(task.targets)}I", *task.targets)


def parse_switch(data: bytes, where: str) -> tuple[Operand, tuple[int, ...]]:
    """Index and labels of a switch. Raises OmError."""
    cursor = _Cursor(data, where)
    count, zero = cursor.take(_PAIR)
    index = cursor.operand()
    if zero or len(data) - cursor.at != 4 * count:
        rest = len(data) - cursor.at
        raise OmError(f"a switch of {count} labels has {rest} bytes for them, flags {zero}", where=where)
    return index, struct.unpack_from(f"<{count}I", data, cursor.at)


def pack_host(task: HostTask) -> bytes:
    """The argument block of a host call."""
    out = bytearray(_PAIR.pack(len(task.ins), len(task.outs)) + _pack_operand(task.program))
    for value in (*task.ins, *task.outs):
        if isinstance(value, HostTensor):
            out += _HEAD.pack(_TENSOR, DATA_TYPE[value.dtype], len(value.shape), 0) + _pack_operand(value.place)
            out += struct.pack(f"<{len(value.shape)}q", *value.shape)
        else:
            name = value.type.encode()
            out += _HEAD.pack(_OBJECT, value.slot, len(name), 0) + name
    return bytes(out)


def parse_host(data: bytes, where: str) -> tuple[Operand, tuple[HostValue, ...], tuple[HostValue, ...]]:
    """Program, ins and outs of a host call. Raises OmError."""
    cursor = _Cursor(data, where)
    n_ins, n_outs = cursor.take(_PAIR)
    program = cursor.operand()
    if n_ins + n_outs > len(data) // _HEAD.size:  # before anything is allocated for them
        raise OmError(f"a host call of {n_ins} + {n_outs} values has only {len(data)} bytes", where=where)
    values = [_host_value(cursor) for _ in range(n_ins + n_outs)]
    if cursor.at != len(data):
        raise OmError(f"the host call has {len(data)} bytes, expected {cursor.at}", where=where)
    return program, tuple(values[:n_ins]), tuple(values[n_ins:])


def _host_value(cursor: _Cursor) -> HostValue:
    kind, first, count, zero = cursor.take(_HEAD)
    if kind == _TENSOR and first in DATA_TYPE_NAME and not zero:
        place = cursor.operand()
        shape = struct.unpack(f"<{count}q", cursor.bytes(8 * count))
        return HostTensor(place, DATA_TYPE_NAME[first], shape)
    if kind == _OBJECT and not zero:
        raw = cursor.bytes(count)
        try:
            return HostObject(first, raw.decode())
        except UnicodeDecodeError as e:
            message = f"an object's type is no text in UTF-8: {e.reason} at byte {e.start}"
            raise OmError(message, where=cursor.where) from None
    raise OmError(
        f"a value has kind {kind}, type {first}, flags {zero}, expected 0 or 1 of a known type", where=cursor.where
    )


class _Cursor:
    """A place in bytes that are read from the front. Raises OmError when they end too early."""

    def __init__(self, data: bytes, where: str, at: int = 0) -> None:
        self.data = data
        self.where = where
        self.at = at

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes."""
        if count > len(self.data) - self.at:
            rest = len(self.data) - self.at
            raise OmError(f"the argument block ends after {rest} of {count} bytes", where=self.where)
        self.at += count
        return self.data[self.at - count : self.at]

    def take(self, form: struct.Struct) -> tuple[int, ...]:
        """The next fields."""
        return form.unpack(self.bytes(form.size))

    def operand(self) -> Operand:
        """The next operand."""
        space, index, offset, size = self.take(_OPERAND)
        if space >= len(_SPACES):
            raise OmError(f"an operand is in space {space}, expected 0 to {len(_SPACES) - 1}", where=self.where)
        return Operand(_SPACES[space], offset, size, index)
