"""Netron opens what is written and shows the graph, its types and the values of constants.

Needs node and the netron wheel (its sources), and the check script that drives them without a browser.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from gecc.om.records import OmModel
from gecc.om.writer import write
from test.unit.om.samples import empty, mlp

CHECK = Path(__file__).parents[3].parent / "shared" / "tools" / "netron_check.mjs"
NETRON = find_spec("netron")


def opened(model: OmModel, path: Path) -> dict:
    """What Netron sees of a model."""
    node = shutil.which("node")
    if node is None or NETRON is None or NETRON.origin is None or not CHECK.exists():
        pytest.skip("needs node, the netron wheel and the check script")
    write(model, path)
    command = [node, str(CHECK), str(path), "--netron", str(Path(NETRON.origin).parent), "--render", "--compact"]
    result = subprocess.run([*command, "--expect-format", "DaVinci OM"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout
    return json.loads(result.stdout)


def test_the_graph_is_shown(tmp_path: Path) -> None:
    seen = opened(mlp(), tmp_path / "net.om")
    (graph,) = seen["graphs"]
    assert [(n["type"], n["name"]) for n in graph["nodes"]] == [
        ("Data", "x"),
        ("MatMulV2Relu", "dense"),
        ("Add", "dense_1"),
        ("NetOutput", "NetOutput"),
    ]
    dense = graph["nodes"][1]
    values = [value for port in dense["inputs"] for value in port["values"]]
    assert [value["name"] for value in values] == ["x:0", "w:0"]
    assert values[0]["type"] == {"dataType": "float32", "shape": [1, 8], "layout": "ND"}
    shown = {attr["name"]: attr["value"] for attr in dense["attributes"]}
    assert shown["strides"] == [1, 2]
    assert shown["alpha"] == 0.5
    assert seen["weights"]["w:0"]["value"] == [float(i) for i in range(64)]
    assert seen["weights"]["b:0"]["value"] == [0.0] * 7 + [1.0]


def test_a_model_without_inputs_and_weights_is_shown(tmp_path: Path) -> None:
    (graph,) = opened(empty(), tmp_path / "empty.om")["graphs"]
    assert [n["type"] for n in graph["nodes"]] == ["NetOutput"]
