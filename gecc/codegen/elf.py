"""ELF64 little-endian relocatables, read into plain records. Layouts are those of the System V ABI, chapters 4 and 5."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from gecc.errors import CodegenError

_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL = 2, 4, 8, 9
_ET_REL = 1
_STB_GLOBAL, _STB_WEAK = 1, 2


@dataclass(frozen=True, slots=True)
class Relocation:
    """A field at `offset` of a section that depends on a symbol (an index of `Elf.symbols`)."""

    offset: int
    type: int
    symbol: int
    addend: int


@dataclass(slots=True)
class Section:
    """A section: `data` is empty where the file stores no bytes (NOBITS)."""

    index: int
    name: str
    kind: int
    flags: int
    alignment: int
    size: int
    data: bytes
    relocations: list[Relocation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for `value` bytes into a section; section 0 is "defined elsewhere"."""

    name: str
    section: int
    value: int
    size: int
    binding: int

    @property
    def is_weak(self) -> bool:
        """Whether another definition may take its place."""
        return self.binding == _STB_WEAK

    @property
    def is_global(self) -> bool:
        """Whether other objects see it."""
        return self.binding in (_STB_GLOBAL, _STB_WEAK)


@dataclass(frozen=True, slots=True)
class Elf:
    """One object: `name` serves messages."""

    name: str
    machine: int
    sections: list[Section]
    symbols: list[Symbol]


def read(data: bytes, name: str) -> Elf:
    """Read an ELF64 little-endian relocatable; CodegenError when `data` is none."""
    try:
        return _read(data, name)
    except (struct.error, IndexError, ValueError) as error:
        raise CodegenError(f"damaged ELF object of {len(data)} bytes: {error}", where=name) from error


def _read(data: bytes, name: str) -> Elf:
    if data[:6] != b"\x7fELF\x02\x01":
        raise CodegenError(f"expected an ELF64 little-endian object, found bytes {data[:6].hex(' ')}", where=name)
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind != _ET_REL:
        raise CodegenError(f"expected a relocatable object (ELF type {_ET_REL}), found type {kind}", where=name)
    (header_offset,) = struct.unpack_from("<Q", data, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, header_offset + i * entry_size) for i in range(count)]

    def content(index: int) -> bytes:
        kind, offset, size = headers[index][1], headers[index][4], headers[index][5]
        if kind == _SHT_NOBITS:
            return b""
        if offset + size > len(data):
            raise ValueError(f"section {index} ends at {offset + size}")
        return data[offset : offset + size]

    def string(table: bytes, at: int) -> str:
        return table[at : table.index(b"\0", at)].decode()

    names = content(names_index)
    sections = [
        Section(i, string(names, h[0]), h[1], h[2], max(h[8], 1), h[5], content(i)) for i, h in enumerate(headers)
    ]
    symbols: list[Symbol] = []
    for header, section in zip(headers, sections, strict=True):
        if section.kind == _SHT_SYMTAB:
            strings = content(header[6])
            for at in range(0, section.size, 24):
                label, info, _, home, value, size = struct.unpack_from("<IBBHQQ", section.data, at)
                symbols.append(Symbol(string(strings, label), home, value, size, info >> 4))
    for header, section in zip(headers, sections, strict=True):
        if section.kind == _SHT_REL:
            raise ValueError(f"relocations without addends in {section.name}")
        if section.kind == _SHT_RELA:
            for at in range(0, section.size, 24):
                offset, info, addend = struct.unpack_from("<QQq", section.data, at)
                relocation = Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend)
                if relocation.symbol >= len(symbols):
                    raise ValueError(f"relocation against symbol {relocation.symbol} of {len(symbols)}")
                sections[header[7]].relocations.append(relocation)
    return Elf(name, machine, sections, symbols)
