"""Mode 3: whether a model can be compiled, and all that stands against it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from gecc.errors import InvalidModelError, ShapeError, UnsupportedError
from gecc.tools.atc.command import Command, make_folder_of
from gecc.tools.atc.model import model_file, read_model
from gecc.tools.cli import FAILED

if TYPE_CHECKING:
    from gecc.frontend.onnx.placement import Placement
    from gecc.report import Report

UNSUPPORTED = "E19010"
"""The code of a node that nothing here can run."""

_RESULTS = {"nowhere": "failed", "unchecked": "unchecked"}
"""Engines to results, where that is not success."""


def check(command: Command) -> int:
    """Write the findings; returns the exit code, 1 when a node cannot be compiled. Raises GeccError otherwise."""
    from gecc import api
    from gecc.debug.inspect.json_form import json_text
    from gecc.files import write_whole
    from gecc.report import Report

    path = model_file(command, "mode 3 checks it")
    target = command["check_report"] or "check_result.json"
    make_folder_of(target)
    try:
        model, shapes, options = read_model(command, path)
        report, error = api.check(model, input_shapes=shapes, **options)
    except (InvalidModelError, ShapeError, UnsupportedError) as problem:
        write_whole(target, json_text(findings(path, Report((), None), str(problem))))
        raise
    write_whole(target, json_text(findings(path, report, None if error is None else error.message)))
    refused = [p for p in report.placements if p.engine == "nowhere"]
    unchecked = sum(p.engine == "unchecked" for p in report.placements)
    print(
        f"{target}: {len(report.placements)} nodes, {len(refused)} cannot be compiled, {len(report.host)} run on the host"
        + (f", {unchecked} cannot be told, as they come after these" if unchecked else "")
    )
    for p in refused:
        print(
            f"error: {UNSUPPORTED}: {p.operator} '{p.name}' (node {p.index}, opset {p.opset}): {p.reason}",
            file=sys.stderr,
        )
        print(f"  inputs: {p.inputs or 'not known'}", file=sys.stderr)
        if p.hint:
            print(f"  hint: {p.hint}", file=sys.stderr)
    if error is not None and not refused:
        print(f"error: {error}", file=sys.stderr)
    return 0 if error is None else FAILED


def findings(path: str, report: Report, error: str | None) -> dict[str, Any]:
    """The findings in GE's form, with more about each node: domain, opset, element types and shapes, where it runs."""
    results = Counter(_RESULTS.get(p.engine, "success") for p in report.placements)
    form: dict[str, Any] = {
        "name": path,
        "result": "success" if error is None else "failed",
        "total": len(report.placements),
        "pass": results["success"],
        "fail": results["failed"],
    }
    if error is not None and not results["failed"]:
        form["cause"] = [{"code": UNSUPPORTED, "message": error}]
    return {**form, "op": [_node(p) for p in report.placements]}


def _node(p: Placement) -> dict[str, Any]:
    form: dict[str, Any] = {
        "name": p.name,
        "type": p.op_type,
        "result": _RESULTS.get(p.engine, "success"),
        "domain": p.domain or "ai.onnx",
        "opset": p.opset,
        "inputs": p.inputs,
        "outputs": p.outputs,
        "engine": p.engine,
    }
    if p.reason:
        form["cause"] = [{"code": UNSUPPORTED if p.engine == "nowhere" else "0", "message": p.reason}]
    if p.hint:
        form["hint"] = p.hint
    return form
