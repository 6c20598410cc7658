"""gecc-opt --list-ops: every operator of the standard, and what runs it."""

from __future__ import annotations

from onnx import defs

from gecc.tools.gecc_opt import main
from test.unit.tools.conftest import Call


def test_list_ops(call: Call) -> None:
    done = call(main, "--list-ops")
    assert done.code == 0
    header, *lines, summary = done.out.splitlines()
    assert header.split() == ["operator", "opsets", "engine", "element", "types"]
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert len(rows) == len(lines) and summary.startswith(f"{len(lines)} operators: ")
    newest = defs.onnx_opset_version()
    assert rows["ai.onnx::Relu"][:2] == [f"1-{newest}", "native"] and "bf16" in rows["ai.onnx::Relu"]
    assert {"int4", "float8_e4m3fn"} <= set(rows["ai.onnx::Cast"]) and "int4" not in rows["ai.onnx::Add"]
    assert rows["ai.onnx::NonZero"] == [f"9-{newest}", "host"]
    assert rows["ai.onnx::Upsample"][:2] == ["1-9", "native"]
    assert rows["ai.onnx.ml::ZipMap"][1] == "host"
    assert rows["ai.onnx.preview.training::Gradient"][1] == "none"
    assert rows["com.microsoft::FusedMatMul"][1] == "native"
    current = {f"{s.domain or 'ai.onnx'}::{s.name}" for s in defs.get_all_schemas() if not s.deprecated}
    assert current <= set(rows)
