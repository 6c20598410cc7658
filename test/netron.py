"""What Netron sees of om files, and whether that is what their reader tells.

Needs node and the sources in netron's wheel; nothing of either is in this repository.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gecc.om.reader import read
from gecc.om.records import OmModel

DRIVER = Path(__file__).with_suffix(".mjs")
TYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i1": "boolean",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
}  # fmt: skip
"""Netron's names of element types."""
ARRAYS = {
    "f32": "f4",
    "f64": "f8",
    "i1": "?",
    "i8": "i1",
    "i16": "i2",
    "i32": "i4",
    "ui8": "u1",
    "ui16": "u2",
    "ui32": "u4",
}
"""Types whose values JSON tells exactly, as numpy's."""


def sources() -> Path | None:
    """The folder of Netron's sources, or None without them or without node."""
    found = find_spec("netron")
    return None if shutil.which("node") is None or found is None or not found.origin else Path(found.origin).parent


def look(folder: Path, paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """What Netron sees of each file: its format, graphs and weights, or why it refuses."""
    command = ["node", str(DRIVER), str(folder), *map(str, paths)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    lines = result.stdout.removesuffix("\n").split("\n")  # names may hold what Unicode calls a line's end
    if len(lines) != len(paths):
        raise RuntimeError(
            f"{' '.join(command[:3])} told of {len(lines)} files, expected {len(paths)}: {result.stderr}"
        )
    yield from map(json.loads, lines)


def fault(path: Path, seen: dict[str, Any]) -> str:
    """What Netron does not show as the file's reader tells it, or nothing."""
    if "error" in seen:
        return seen["error"]
    if seen["format"] != "DaVinci OM":
        return f"the format is {seen['format']}"
    model = read(path)
    (graph,) = seen["graphs"]
    kinds = [node["type"] for node in graph["nodes"]]
    expected = ["Data"] * len(model.inputs) + [node.type for node in model.nodes] + ["NetOutput"]
    if kinds != expected:
        return f"its nodes are {kinds}, expected {expected}"
    data = np.frombuffer(model.weights.materialize(), np.uint8)
    for node, shown in zip(model.nodes, graph["nodes"][len(model.inputs) :], strict=False):
        results = [value["type"] for port in shown["outputs"] for value in port["values"]]
        wanted = [(TYPES.get(d.dtype), list(d.shape), d.layout) for d in node.outputs]
        for i, (found, (dtype, shape, layout)) in enumerate(zip(results, wanted, strict=True)):
            same = found["shape"] == shape and found.get("layout", layout) == layout
            if dtype is not None and not (same and found["dataType"] == dtype):
                return f"result {i} of '{node.name}' is {found}, expected {dtype} {shape} {layout}"
        if missing := {a for a in node.attrs if not a.startswith("_")} - {a["name"] for a in shown["attributes"]}:
            return f"'{node.name}' is shown without its attributes {sorted(missing)}"
        constants = [value["name"] for port in shown["inputs"] for value in port["values"] if value["initializer"]]
        read_here = [s.index for s in node.inputs if s is not None and s.kind == "weight"]
        if len(constants) != len(read_here):
            return f"'{node.name}' is shown with the weights {constants}, expected {len(read_here)}"
        for name, index in zip(constants, read_here, strict=True):
            if wrong := _weight(model, data, index, seen["weights"][name]):
                return wrong
    return ""


def _weight(model: OmModel, data: np.ndarray[Any, Any], index: int, shown: dict[str, Any]) -> str:
    """Whether a weight is shown with its type and, where JSON can tell them, its values."""
    entry = model.weights.entries[index]
    if (shown["dataType"], shown["shape"]) != (TYPES[entry.dtype], list(entry.shape)):
        return f"weight '{entry.name}' is {shown['dataType']} {shown['shape']}, expected {entry.dtype} {entry.shape}"
    if "value" in shown and entry.dtype in ARRAYS:
        array = data[entry.offset : entry.offset + entry.size].view(ARRAYS[entry.dtype])
        if np.isfinite(array).all():  # JSON has no other numbers
            found = np.asarray(shown["value"], array.dtype).reshape(-1)
            if not np.array_equal(found, array):
                return f"weight '{entry.name}' is shown as {found[:8]}, expected {array[:8]}"
    return ""
