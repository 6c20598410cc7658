"""The dispatcher's code: what it exports, that its copied entries stand alone, and for which machines it exists."""

from __future__ import annotations

import re

import pytest

from gecc.codegen import dispatcher
from gecc.codegen.elf import read
from gecc.codegen.link import link
from gecc.codegen.object import compile_ir
from gecc.errors import CodegenError
from gecc.runtime import abi
from gecc.target import AARCH64, X86_64_V3, X86_64_V4, Target

TARGETS = [X86_64_V3, X86_64_V4]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_all_entries_are_there_and_it_links_alone(target: Target) -> None:
    blob = link(compile_ir(dispatcher.modules(target), target))
    assert set(abi.ENTRIES) <= set(blob.symbols)
    assert len(blob.data) < 4096


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_copied_entries_refer_to_nothing_outside_themselves(target: Target) -> None:
    _, worker = dispatcher.modules(target)
    (data,) = compile_ir([worker], target)
    elf = read(data, "worker")
    code = [section for section in elf.sections if section.name == ".text"]
    assert [section.relocations for section in code] == [[]]
    assert not [section for section in elf.sections if section.name.startswith(".rodata")]
    (assembly,) = compile_ir([worker], target, assembly=True)
    text = assembly.decode()
    assert set(re.findall(r"^(\w+):", text, re.MULTILINE)) == set(abi.COPIED)
    assert all(call.startswith("*") for call in re.findall(r"callq\s+(\S+)", text)), "a call to a function beside it"
    assert "%rip" not in text


def test_the_text_is_the_same_each_time() -> None:
    assert dispatcher.modules(X86_64_V4) == dispatcher.modules(X86_64_V3)


def test_other_machines_are_refused() -> None:
    with pytest.raises(CodegenError, match="written for x86_64, not for aarch64"):
        dispatcher.modules(AARCH64)
