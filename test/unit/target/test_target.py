"""Targets: the descriptions hold together, and this CPU is asked truthfully."""

from __future__ import annotations

import dataclasses

import pytest

from gecc.errors import UnsupportedError
from gecc.target import TARGETS, X86_64_V3, X86_64_V4, host, load, supports
from gecc.target import cpu as cpu_module


def test_load_names_the_known_targets() -> None:
    assert load("x86-64-v4") is X86_64_V4
    with pytest.raises(UnsupportedError, match="target 'pdp11' is not known") as error:
        load("pdp11")
    assert error.value.hint is not None
    for name in TARGETS:
        assert name in error.value.hint


def test_lanes() -> None:
    assert (X86_64_V4.f32_lanes, X86_64_V4.lanes(64), X86_64_V4.vector_bytes) == (16, 8, 64)
    assert (X86_64_V3.f32_lanes, X86_64_V3.vector_registers) == (8, 16)


def test_cpuinfo_keeps_what_all_cpus_have() -> None:
    text = "processor\t: 0\nflags\t\t: fpu avx2 fma\n\nprocessor\t: 1\nflags\t\t: fpu avx2\n"
    assert cpu_module.parse_cpuinfo(text) == {"fpu", "avx2"}
    assert cpu_module.parse_cpuinfo("Features\t: fp asimd\n") == {"fp", "asimd"}
    assert cpu_module.parse_cpuinfo("") == frozenset()


def test_missing_features_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = frozenset(X86_64_V3.cpu_flags)
    monkeypatch.setattr(cpu_module, "cpu_flags", lambda: flags)
    monkeypatch.setattr(cpu_module.platform, "machine", lambda: "x86_64")
    assert supports(X86_64_V3) == []
    assert supports(X86_64_V4) == ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
    assert host() is X86_64_V3
    monkeypatch.setattr(cpu_module, "cpu_flags", lambda: flags - {"fma"})
    with pytest.raises(UnsupportedError, match="x86-64-v3 needs fma"):
        host()


def test_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_module.platform, "machine", lambda: "riscv64")
    assert supports(X86_64_V4) == ["a CPU of type x86_64 (this one is riscv64)"]


def test_targets_are_values() -> None:
    assert dataclasses.replace(X86_64_V4) == X86_64_V4
    assert hash(dataclasses.replace(X86_64_V4)) == hash(X86_64_V4)
