"""Constant folding: values, limits, layouts and the weight store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import NoneAttr

from gecc.dialects import ge
from gecc.dialects.ge.attrs import LayoutAttr

if TYPE_CHECKING:
    from conftest import Graph


def test_chains_fold_to_one_constant(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(4, 3)).astype(np.float32))
    a = graph.const(rng.normal(size=(3, 4)).astype(np.float32))
    t = graph.add(ge.Transpose(a, (1, 0)))
    e = graph.add(ge.Exp(graph.add(ge.Mul(t, graph.const(0.5)))))
    graph.finish(graph.add(ge.Add(x, e))).check("ge-fold-constants")
    assert graph.names() == ["ge.Add"]
    assert sum(isinstance(op, ge.Const) for op in graph.block.ops) == 1


def test_results_in_the_arithmetic_of_their_type(graph: Graph) -> None:
    x = graph.input(np.zeros(3, np.float32))
    third = graph.add(ge.RealDiv(graph.const(1.0), graph.const(3.0)))
    graph.finish(graph.add(ge.Add(x, third)))
    graph.apply("ge-fold-constants")
    [result] = graph.run(double=False)
    assert result.dtype == np.float32
    assert (result == np.float32(1) / np.float32(3)).all()


def test_split_folds_every_result(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 2)).astype(np.float32))
    split = ge.Split(graph.const(rng.normal(size=(2, 6)).astype(np.float32)), 1, (2, 4))
    graph.add(split)
    wide = graph.add(ge.Slice(split.outputs[1], [1], [3], [1]))
    y = graph.add(ge.Add(graph.add(ge.Add(x, split.outputs[0])), wide))
    graph.finish(y).check("ge-fold-constants")
    assert graph.names() == ["ge.Add", "ge.Add"]


def test_large_results_go_to_the_store(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(40, 40)).astype(np.float32))
    w = graph.const(rng.normal(size=(40, 40)).astype(np.float32))
    graph.finish(graph.add(ge.Add(x, graph.add(ge.Neg(w))))).check("ge-fold-constants")
    [const] = [op for op in graph.block.ops if isinstance(op, ge.Const)]
    assert isinstance(const.value, ge.WeightAttr)


def test_an_expansion_beyond_the_limit_stays(graph: Graph) -> None:
    x = graph.input(np.ones((1,), np.float32))
    big = graph.add(ge.Expand(graph.const(1.5), (200, 100)))
    small = graph.add(ge.Expand(graph.const(2.5), (100,)))
    graph.finish(graph.add(ge.Mul(x, big)), graph.add(ge.Mul(x, small))).check("ge-fold-constants")
    assert graph.names() == ["ge.Expand", "ge.Mul", "ge.Mul"]


def test_limits_are_options(graph: Graph) -> None:
    x = graph.input(np.ones((1,), np.float32))
    small = graph.add(ge.Expand(graph.const(2.5), (100,)))
    graph.finish(graph.add(ge.Mul(x, small)))
    graph.apply("ge-fold-constants", limit=100, growth=2)
    assert graph.names() == ["ge.Expand", "ge.Mul"]
    graph.apply("ge-fold-constants", limit=100, growth=200)
    assert graph.names() == ["ge.Mul"]


def test_moving_a_constant_to_another_layout(graph: Graph, rng: np.random.Generator) -> None:
    for shape in ((1, 3, 2, 2), (1, 20, 6, 6)):
        array = rng.normal(size=shape).astype(np.float32)
        moved = graph.add(ge.TransData(graph.const(array), "NHWC"))
        graph.add(ge.TransData(moved, None))
    x = graph.input(rng.normal(size=(1, 20, 6, 6)).astype(np.float32))
    back = next(value for op in reversed(list(graph.block.ops)) for value in op.results)
    graph.finish(graph.add(ge.Add(x, back))).check("ge-fold-constants")
    assert graph.names() == ["ge.Add"]


def test_a_constant_may_be_stored_in_a_layout(graph: Graph, rng: np.random.Generator) -> None:
    array = rng.normal(size=(1, 20, 6, 6)).astype(np.float32)
    x = graph.input(rng.normal(size=(1, 20, 6, 6)).astype(np.float32))
    moved = graph.add(ge.TransData(graph.const(array), "NHWC"))
    y = graph.add(ge.Add(graph.add(ge.TransData(x, "NHWC")), moved))
    graph.finish(graph.add(ge.TransData(y, None))).check("ge-fold-constants")
    [const] = [op for op in graph.block.ops if isinstance(op, ge.Const)]
    assert ge.tensor(const.result).encoding == LayoutAttr("NHWC")
    assert not isinstance(ge.tensor(const.result).encoding, NoneAttr)
    np.testing.assert_array_equal(graph.store.array(const.value), array)


def test_what_depends_on_inputs_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3,)).astype(np.float32))
    graph.finish(graph.add(ge.Exp(x)), graph.add(ge.Neg(graph.add(ge.Mul(x, graph.const(2.0))))))
    before = graph.names()
    graph.apply("ge-fold-constants")
    assert graph.names() == before
