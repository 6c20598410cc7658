"""The linker: images run where they are placed, and whatever would need a loader is refused by name."""

from __future__ import annotations

import ctypes
import mmap

import pytest

from gecc.codegen.link import SECTION_ALIGNMENT, Blob, link
from gecc.codegen.object import compile_ir
from gecc.errors import CodegenError
from gecc.target import X86_64_V3


def build(*texts: str) -> Blob:
    return link(compile_ir(texts, X86_64_V3))


class Image:
    """An image placed in memory, for calling into."""

    def __init__(self, blob: Blob) -> None:
        self.blob = blob
        self.pages = mmap.mmap(-1, len(blob.data), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.pages.write(blob.data)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))

    def call(self, name: str, *arguments: int) -> int:
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))
        return kind(self.base + self.blob.offsets[name])(*arguments)


TABLE = """
@table = internal constant [4 x i64] [i64 3, i64 1, i64 4, i64 15], align 32
define i64 @pick(i64 %i) {
  %p = getelementptr i64, ptr @table, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}
"""
CALLER = """
declare i64 @pick(i64)
define i64 @twice(i64 %i) {
  %v = call i64 @pick(i64 %i)
  %r = mul i64 %v, 2
  ret i64 %r
}
"""


def test_constants_and_calls_across_objects() -> None:
    for blob in (build(TABLE, CALLER), build(CALLER, TABLE)):
        image = Image(blob)
        assert [image.call("pick", i) for i in range(4)] == [3, 1, 4, 15]
        assert [image.call("twice", i) for i in range(4)] == [6, 2, 8, 30]


def test_objects_with_equal_local_names_do_not_meet() -> None:
    other = TABLE.replace("@pick", "@choose").replace("i64 15", "i64 16")
    image = Image(build(TABLE, other))
    assert (image.call("pick", 3), image.call("choose", 3)) == (15, 16)


def test_symbols_lie_in_order_and_sections_are_aligned() -> None:
    blob = build(TABLE, CALLER)
    assert list(blob.symbols) == ["pick", "twice"]
    assert all(offset % SECTION_ALIGNMENT == 0 for offset in blob.offsets.values())
    end = 0
    for offset, size in blob.symbols.values():
        assert offset >= end
        assert size > 0
        end = offset + size
    assert end <= len(blob.data)


def test_linking_is_deterministic() -> None:
    assert build(TABLE, CALLER) == build(TABLE, CALLER)


def test_no_objects_make_an_empty_image() -> None:
    assert link([]) == Blob(b"", {})


def test_an_undefined_symbol_is_named() -> None:
    with pytest.raises(CodegenError, match=r"symbol 'pick' is not defined(.|\n)*object 0 \(\.text\)"):
        build(CALLER)


def test_a_library_call_is_named() -> None:
    text = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @k(ptr %a, ptr %b, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)
  ret void
}
"""
    with pytest.raises(CodegenError, match="symbol 'memcpy' is not defined"):
        build(text)


def test_a_symbol_defined_twice_is_named() -> None:
    with pytest.raises(CodegenError, match=r"symbol 'pick' is defined twice(.|\n)*object 1"):
        build(TABLE, TABLE)


def test_writable_data_is_refused() -> None:
    text = "@state = internal global i64 7\ndefine i64 @k() { %v = load i64, ptr @state\n store i64 %v, ptr @state\n"
    with pytest.raises(CodegenError, match=r"section \.data of 8 bytes is writable"):
        build(text + "ret i64 %v }")


def test_an_address_in_a_constant_is_refused() -> None:
    text = "define i64 @f() { ret i64 1 }\n@pointers = constant [1 x ptr] [ptr @f]\n"
    with pytest.raises(CodegenError, match=r"section \.data\.rel\.ro\S* of 8 bytes is writable"):
        build(text)


def test_a_reference_through_a_table_of_addresses_is_named() -> None:
    text = "@outside = external constant i64\ndefine i64 @k() { %v = load i64, ptr @outside\n ret i64 %v }"
    with pytest.raises(CodegenError, match=r"R_X86_64_\w*GOTPCRELX against 'outside'"):
        build(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "expected an ELF64 little-endian object"),
        (lambda data: data[:200], "damaged ELF object of 200 bytes"),
        (lambda data: data[:16] + b"\x02\x00" + data[18:], r"expected a relocatable object .* found type 2"),
        (lambda data: data[:18] + b"\xb7\x00" + data[20:], "cannot link code for ELF machine 183"),
    ],
)
def test_objects_that_are_none(change, message: str) -> None:
    (data,) = compile_ir([TABLE], X86_64_V3)
    with pytest.raises(CodegenError, match=message):
        link([change(data)])
