"""The memory report: its numbers are those of the plan."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gecc.arena_report import memory_report
from gecc.context import make_context
from gecc.errors import PassError
from gecc.memory.report import Report, Row
from gecc.pipeline import run_pipeline

TEXT = """
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = tile.launch @k "A" ins(%x : tensor<16xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  %1 = tile.view %0 offset 0 : tensor<16xf32> -> tensor<4x4xf32>
  %2 = tile.launch @k "B" ins(%1 : tensor<4x4xf32>) params [] blocks 1 scratch 0 inplace [0] -> tensor<4x4xf32>
  %3 = tile.launch @k "C" ins(%2 : tensor<4x4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  %4 = tile.launch @k "D" ins(%3, %2 : tensor<16xf32>, tensor<4x4xf32>) params [] blocks 1 scratch 0 inplace [] -> tensor<16xf32>
  func.return %4 : tensor<16xf32>
}
"""


def module() -> ModuleOp:
    return Parser(make_context(), TEXT).parse_module()


def test_numbers_of_a_small_graph() -> None:
    graph = module()
    run_pipeline(make_context(), graph, "tile-bufferize,tile-schedule,tile-allocate-buffers")
    report = memory_report(graph)
    assert (report.arena, report.bound, report.total, report.reuse) == (128, 128, 192, 1.5)
    assert [(r.id, r.first, r.last, r.shares, r.views) for r in report.rows] == [
        ("b0", 0, 1, "", 1),
        ("b1", 1, 3, "b0", 0),
        ("b2", 2, 3, "", 0),
    ]
    text = str(report)
    assert "arena        128  (1.0000 of the bound" in text
    assert "in place     1 buffers of 64; without it at least 128" in text
    assert "views        1 of 64" in text
    assert len(report.table().splitlines()) == 4


def test_module_without_plan() -> None:
    with pytest.raises(PassError, match=r"the module has no tile\.memory"):
        memory_report(module())


def test_fullest_phase_and_empty_report() -> None:
    report = Report((Row("a", 64, 0, 0, 1), Row("b", 128, 64, 1, 2), Row("c", 64, 0, 2, 2)), 192, 192)
    phase, alive = report.busiest
    assert (phase, [r.id for r in alive]) == (1, ["b", "a"])
    assert report.bound_without_sharing == 192
    assert "nothing to hold" in str(Report((), 0, 0))
