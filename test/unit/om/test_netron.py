"""Netron opens what is written and shows the graph, its types and the values of constants.

Needs node and the netron wheel (its sources).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gecc.om.records import OmModel
from gecc.om.writer import write
from test import netron
from test.unit.om.samples import empty, mlp
from test.unit.om.test_gears import two


def opened(model: OmModel, path: Path) -> dict[str, Any]:
    """What Netron sees of a model."""
    sources = netron.sources()
    if sources is None:
        pytest.skip("needs node and the netron wheel")
    write(model, path)
    (seen,) = netron.look(sources, [path])
    assert netron.fault(path, seen) == ""
    return seen


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


def test_portable_kernels_change_nothing_that_is_shown(tmp_path: Path) -> None:
    portable = replace(mlp(), portable=True, dispatcher="")
    seen, native = opened(portable, tmp_path / "portable.om"), opened(mlp(), tmp_path / "net.om")
    assert seen["graphs"] == native["graphs"]
    assert seen["weights"] == native["weights"]


def test_gears_are_shown(tmp_path: Path) -> None:
    (graph,) = opened(two(), tmp_path / "gears.om")["graphs"]
    data = graph["nodes"][0]
    assert data["outputs"][0]["values"][0]["type"]["shape"] == [-1, 3]
    shown = {attr["name"]: attr["value"] for attr in data["attributes"]}
    assert shown["_all_origin_gears_inputs"] == [[2, 3], [4, 3]]
    assert shown["_mbatch_origin_input_dims"] == [-1, 3]
