"""Relocatable ELF objects to one flat image that runs wherever it is placed.

The image holds code, then read-only data, each section on a 64-byte boundary. What refers from one to the other is
relative to the program counter and resolved here, so the loader only copies the image and makes it executable. Whatever
would need a loader (an outside symbol, an absolute address, writable data) is an error that names it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gecc.codegen.elf import Elf, Relocation, Section, read
from gecc.errors import CodegenError

SECTION_ALIGNMENT = 64
"""Least alignment of a section in the image."""

_SHT_NOBITS = 8
_SHF_WRITE, _SHF_ALLOC, _SHF_EXEC = 1, 2, 4
_INT3 = b"\xcc"


@dataclass(frozen=True, slots=True)
class Blob:
    """A linked image: its bytes, and (offset, size) of every global function or datum by name, in order of offset."""

    data: bytes
    symbols: dict[str, tuple[int, int]]

    @property
    def offsets(self) -> dict[str, int]:
        """Offset of every symbol by name."""
        return {name: offset for name, (offset, _) in self.symbols.items()}


@dataclass(frozen=True, slots=True)
class Fixup:
    """How one type of relocation is resolved: width in bytes of its field, and the value from S, A and P of the ABI."""

    width: int
    value: Callable[[int, int, int], int]


def _relative(symbol: int, addend: int, place: int) -> int:
    return symbol + addend - place


EM_X86_64 = 62
FIXUPS: dict[int, dict[int, Fixup]] = {
    EM_X86_64: {
        2: Fixup(4, _relative),  # R_X86_64_PC32
        4: Fixup(4, _relative),  # R_X86_64_PLT32: without a dynamic linker the call goes straight to the function
        24: Fixup(8, _relative),  # R_X86_64_PC64
    },
}
"""Relocations that need no loader, by ELF machine and type."""

RELOCATION_NAMES: dict[int, dict[int, str]] = {
    EM_X86_64: {
        1: "R_X86_64_64", 3: "R_X86_64_GOT32", 9: "R_X86_64_GOTPCREL", 10: "R_X86_64_32", 11: "R_X86_64_32S",
        25: "R_X86_64_GOTOFF64", 26: "R_X86_64_GOTPC32", 41: "R_X86_64_GOTPCRELX", 42: "R_X86_64_REX_GOTPCRELX",
    },
}  # fmt: skip
"""Names, for messages, of relocations that are refused."""


def link(objects: Sequence[bytes]) -> Blob:
    """Link ELF64 relocatables, in the order given, into one position-independent image.

    Raises CodegenError naming the symbol or relocation when an object is damaged or for another machine, a symbol is
    defined twice or nowhere, a reference is not relative to the program counter, or an object has writable data.
    """
    files = [read(data, f"object {number}") for number, data in enumerate(objects)]
    _check_machines(files)
    places, image = _place(files)
    symbols = _define(files, places)
    for number, file in enumerate(files):
        for section in file.sections:
            if (start := places.get((number, section.index))) is not None:
                for relocation in section.relocations:
                    _resolve(image, file, section, relocation, start, number, places, symbols)
    order = sorted(symbols.items(), key=lambda item: (item[1][0], item[0]))
    return Blob(bytes(image), dict(order))


def _check_machines(files: Sequence[Elf]) -> None:
    for file in files:
        if file.machine not in FIXUPS:
            raise CodegenError(f"cannot link code for ELF machine {file.machine}", where=file.name)
        if file.machine != files[0].machine:
            raise CodegenError(f"objects for ELF machines {files[0].machine} and {file.machine}", where=file.name)


def _is_loaded(file: Elf, section: Section) -> bool:
    if not section.flags & _SHF_ALLOC or section.name.startswith(".eh_frame"):  # nothing unwinds through kernels
        return False
    if section.flags & _SHF_WRITE and section.size:
        raise CodegenError(
            f"section {section.name} of {section.size} bytes is writable, expected code and constants only",
            where=file.name,
            hint="a kernel keeps its state in scratch and in its operands; constants may not hold addresses",
        )
    return section.size > 0


def _place(files: Sequence[Elf]) -> tuple[dict[tuple[int, int], int], bytearray]:
    """Where each loaded section starts in the image, and the image before relocation."""
    loaded = [(n, file, s) for n, file in enumerate(files) for s in file.sections if _is_loaded(file, s)]
    places: dict[tuple[int, int], int] = {}
    image = bytearray()
    for executable in (True, False):
        for number, _, section in loaded:
            if bool(section.flags & _SHF_EXEC) == executable:
                alignment = max(SECTION_ALIGNMENT, section.alignment)
                image += (_INT3 if executable else b"\0") * (-len(image) % alignment)
                places[number, section.index] = len(image)
                image += bytes(section.size) if section.kind == _SHT_NOBITS else section.data
    return places, image


def _define(files: Sequence[Elf], places: dict[tuple[int, int], int]) -> dict[str, tuple[int, int]]:
    symbols: dict[str, tuple[int, int]] = {}
    weak: set[str] = set()
    for number, file in enumerate(files):
        for symbol in file.symbols:
            start = places.get((number, symbol.section))
            if not symbol.is_global or start is None:
                continue
            place = (start + symbol.value, symbol.size)
            if symbol.name not in symbols or symbol.name in weak:
                if not (symbol.is_weak and symbol.name in symbols):
                    symbols[symbol.name] = place
                    (weak.add if symbol.is_weak else weak.discard)(symbol.name)
            elif not symbol.is_weak:
                raise CodegenError(f"symbol '{symbol.name}' is defined twice", where=file.name)
    return symbols


def _resolve(
    image: bytearray,
    file: Elf,
    section: Section,
    relocation: Relocation,
    start: int,
    number: int,
    places: dict[tuple[int, int], int],
    symbols: dict[str, tuple[int, int]],
) -> None:
    symbol = file.symbols[relocation.symbol]
    name = symbol.name or f"{section.name}+{relocation.offset}"
    fixup = FIXUPS[file.machine].get(relocation.type)
    if fixup is None:
        kind = RELOCATION_NAMES[file.machine].get(relocation.type, f"type {relocation.type}")
        raise CodegenError(
            f"relocation {kind} against '{name}' in {section.name} is not relative to the program counter",
            where=file.name,
            hint="declare functions of other modules `hidden`, and keep addresses out of constants",
        )
    if (number, symbol.section) in places:
        target = places[number, symbol.section] + symbol.value
    elif symbol.name in symbols:
        target = symbols[symbol.name][0]
    else:
        raise CodegenError(
            f"symbol '{name}' is not defined",
            where=f"{file.name} ({section.name})",
            hint="a kernel may not call outside the image: no library function such as memcpy or expf",
        )
    place = start + relocation.offset
    value = fixup.value(target, relocation.addend, place)
    bits = 8 * fixup.width
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise CodegenError(f"reference to '{name}' spans {value} bytes, more than {bits} bits hold", where=file.name)
    struct.pack_into("<i" if fixup.width == 4 else "<q", image, place, value)
