"""Objects from IR text: order, errors in words, dying workers, and the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gecc.codegen import object as objects
from gecc.codegen.cache import ObjectCache
from gecc.codegen.elf import read
from gecc.codegen.object import compile_ir
from gecc.errors import CodegenError
from gecc.target import AARCH64, X86_64_V3, X86_64_V4


def kernel(name: str, factor: str = "2.0") -> str:
    return f"""
define void @{name}(ptr %args) {{
  %p = load ptr, ptr %args
  %v = load float, ptr %p
  %r = fmul float %v, {factor}
  store float %r, ptr %p
  ret void
}}
"""


def defined(data: bytes) -> list[str]:
    return [symbol.name for symbol in read(data, "test").symbols if symbol.is_global and symbol.section]


def test_objects_come_in_the_order_of_the_texts() -> None:
    names = [f"k{i}" for i in range(7)]
    texts = [kernel(name) + "\n; padding" * (i % 3) for i, name in enumerate(names)]
    assert [defined(data) for data in compile_ir(texts, X86_64_V4, cache=None)] == [[name] for name in names]


def test_same_text_same_bytes() -> None:
    text = kernel("k")
    first, second = compile_ir([text, text], X86_64_V4, cache=None)
    assert first == second == compile_ir([text], X86_64_V4, cache=None)[0]


def test_assembly_follows_the_target() -> None:
    text = "define <16 x float> @k(<16 x float> %a) { %b = fadd <16 x float> %a, %a\n ret <16 x float> %b }"
    wide, narrow = (compile_ir([text], t, assembly=True, cache=None)[0] for t in (X86_64_V4, X86_64_V3))
    assert b"zmm" in wide
    assert b"zmm" not in narrow
    assert b"ymm" in narrow


def test_bad_text_is_an_error_with_llvms_words() -> None:
    with pytest.raises(CodegenError, match=r"doesn't match function result type(.|\n)*in LLVM IR module of bad"):
        compile_ir([kernel("good"), "define void @bad() { ret i32 1 }"], X86_64_V4, cache=None)


def test_bad_inline_assembly_is_an_error() -> None:
    text = 'define void @k() {\n  call void asm sideeffect "bogus", ""()\n  ret void\n}'
    with pytest.raises(CodegenError, match="invalid instruction mnemonic 'bogus'"):
        compile_ir([text], X86_64_V4, cache=None)


def test_a_fatal_llvm_error_ends_the_worker_only() -> None:
    text = """
define void @dies() {
  %x = call i64 @llvm.read_register.i64(metadata !0)
  ret void
}
declare i64 @llvm.read_register.i64(metadata)
!0 = !{!"nonesuch"}
"""
    with pytest.raises(CodegenError, match=r'invalid register "nonesuch"(.|\n)*dies'):
        compile_ir([text], X86_64_V4, cache=None)
    assert defined(compile_ir([kernel("after")], X86_64_V4, cache=None)[0]) == ["after"]


def test_a_description_cannot_be_compiled_for() -> None:
    with pytest.raises(CodegenError, match="no code generation for target 'aarch64'"):
        compile_ir([kernel("k")], AARCH64)


def test_a_hit_gives_the_bytes_of_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ObjectCache(tmp_path)
    text = "define <16 x float> @k(<16 x float> %a) { %b = fadd <16 x float> %a, %a\n ret <16 x float> %b }"
    miss = compile_ir([text], X86_64_V4, cache=cache)
    with monkeypatch.context() as patched:
        patched.setattr(objects, "_compile", lambda *_: pytest.fail("compiled again"))
        assert compile_ir([text], X86_64_V4, cache=cache) == miss
    assert compile_ir([text], X86_64_V4, cache=None) == miss
    assert compile_ir([text], X86_64_V3, cache=cache) != miss


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_corrupt_entry_is_ignored_and_rewritten(tmp_path: Path, damage: str) -> None:
    cache = ObjectCache(tmp_path)
    text = kernel("k")
    good = compile_ir([text], X86_64_V4, cache=cache)
    (entry,) = tmp_path.glob("*/*")
    whole = entry.read_bytes()
    broken = {"flip": whole[:-1] + bytes([whole[-1] ^ 1]), "cut": whole[:-9], "empty": b""}[damage]
    entry.write_bytes(broken)
    assert cache.get(entry.name) is None
    assert compile_ir([text], X86_64_V4, cache=cache) == good
    assert entry.read_bytes() == whole


def test_pruning_takes_what_was_unused_longest(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    keys = [cache.key(str(i)) for i in range(4)]
    for age, key in enumerate(keys):
        cache.put(key, bytes(1000))
        os.utime(cache.path(key), (age, age))
    assert cache.get(keys[0]) == bytes(1000)  # used just now
    cache.prune(limit=2200)
    assert [cache.get(key) is not None for key in keys] == [True, False, False, True]


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    cache = ObjectCache(blocker)
    assert compile_ir([kernel("k")], X86_64_V4, cache=cache) == compile_ir([kernel("k")], X86_64_V4, cache=None)


def test_the_parent_does_not_import_llvmlite() -> None:
    code = f"""
import sys
from gecc.codegen.object import compile_ir
from gecc.target import X86_64_V4
assert compile_ir([{kernel("k")!r}], X86_64_V4, cache=None)
assert not [name for name in sys.modules if name.startswith("llvmlite")]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
