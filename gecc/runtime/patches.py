"""Operators that `onnx.reference` gets wrong or lacks, done right. Every entry says what is wrong."""

from __future__ import annotations

from onnx.reference.op_run import OpRun

PATCHES: tuple[type[OpRun], ...] = ()
"""Taken before the implementations of onnx; an entry serves every version of its operator."""
