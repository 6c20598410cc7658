"""Spellings of layer and RMS normalisation, and what must not be taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from xdsl.ir import SSAValue

from gecc.dialects import ge

if TYPE_CHECKING:
    from conftest import Graph


def mean(g: Graph, x: SSAValue, axes: tuple[int, ...]) -> SSAValue:
    return g.add(ge.ReduceMean(x, axes, keep_dims=True))


def normal(
    g: Graph,
    x: SSAValue,
    *,
    axes: tuple[int, ...] = (-1,),
    variance_axes: tuple[int, ...] | None = None,
    square: str = "pow",
    root: str = "div",
    eps: float | SSAValue = 1e-5,
    dropped: bool = False,
    other: SSAValue | None = None,
) -> SSAValue:
    d = g.add(ge.Sub(x, mean(g, x, axes)))
    centred = d if other is None else g.add(ge.Sub(other, mean(g, other, axes)))
    match square:
        case "pow":
            s = g.add(ge.Pow(centred, g.const(2.0)))
        case "mul":
            s = g.add(ge.Mul(centred, centred))
        case "twice":
            again = g.add(ge.Sub(x, mean(g, x, axes)))
            s = g.add(ge.Mul(again, again))
        case _:
            s = g.add(ge.Pow(centred, g.const(float(square))))
    variance_axes = axes if variance_axes is None else variance_axes
    if dropped:
        v = g.add(ge.ReduceMean(s, variance_axes))
        rank = len(ge.dims(x))
        kept = [1 if i - rank in variance_axes or i in variance_axes else n for i, n in enumerate(ge.dims(x))]
        v = g.add(ge.Reshape(v, kept))
    else:
        v = mean(g, s, variance_axes)
    e = g.add(ge.Add(v, eps if isinstance(eps, SSAValue) else g.const(eps)))
    match root:
        case "div":
            return g.add(ge.RealDiv(d, g.add(ge.Sqrt(e))))
        case "rsqrt":
            return g.add(ge.Mul(g.add(ge.Rsqrt(e)), d))
        case "reciprocal":
            return g.add(ge.Mul(d, g.add(ge.Reciprocal(g.add(ge.Sqrt(e))))))
        case _:
            return g.add(ge.Mul(d, g.add(ge.RealDiv(g.const(1.0), g.add(ge.Sqrt(e))))))


def affine(g: Graph, x: SSAValue, rng: np.random.Generator, shape: tuple[int, ...]) -> SSAValue:
    gamma = g.const(rng.normal(size=shape).astype(np.float32))
    beta = g.const(rng.normal(size=shape).astype(np.float32))
    return g.add(ge.Add(beta, g.add(ge.Mul(x, gamma))))


@pytest.mark.parametrize("square", ["pow", "mul", "twice"])
@pytest.mark.parametrize("root", ["div", "rsqrt", "reciprocal", "one over"])
@pytest.mark.parametrize("dropped", [False, True])
def test_layer_norm(graph: Graph, rng: np.random.Generator, square: str, root: str, dropped: bool) -> None:
    x = graph.input(rng.normal(size=(2, 5, 16)).astype(np.float32) + 1)
    y = affine(graph, normal(graph, x, square=square, root=root, dropped=dropped), rng, (16,))
    graph.finish(y).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm"]
    [norm] = [op for op in graph.block.ops if isinstance(op, ge.LayerNorm)]
    assert norm.gamma is not None
    assert norm.beta is not None


@pytest.mark.parametrize("axes", [(-2, -1), (1, 2), (0, 1, 2)])
def test_several_axes_and_no_affine(graph: Graph, rng: np.random.Generator, axes: tuple[int, ...]) -> None:
    x = graph.input(rng.normal(size=(2, 3, 4)).astype(np.float32))
    graph.finish(normal(graph, x, axes=axes)).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm"]


def test_scale_alone(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 8)).astype(np.float32))
    gamma = graph.const(rng.normal(size=(1, 8)).astype(np.float32))
    graph.finish(graph.add(ge.Mul(gamma, normal(graph, x)))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm"]


def test_shift_without_scale(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 8)).astype(np.float32))
    beta = graph.const([0.25])
    graph.finish(graph.add(ge.Add(beta, normal(graph, x)))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm"]


def test_channels_first(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 6, 3, 5)).astype(np.float32))
    y = affine(graph, normal(graph, x, axes=(1,)), rng, (6, 1, 1))
    graph.finish(y).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.Transpose", "ge.LayerNorm", "ge.Transpose"]


def test_scale_over_other_dimensions_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 4, 8)).astype(np.float32))
    gamma = graph.const(rng.normal(size=(4, 1)).astype(np.float32))
    graph.finish(graph.add(ge.Mul(normal(graph, x), gamma))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm", "ge.Mul"]


def test_scale_that_broadcasts_the_result_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(1, 8)).astype(np.float32))
    gamma = graph.const(rng.normal(size=(3, 8)).astype(np.float32))
    graph.finish(graph.add(ge.Mul(normal(graph, x), gamma))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.LayerNorm", "ge.Mul"]


@pytest.mark.parametrize("miss", ["exponent", "other x", "eps input", "eps vector", "leading axis", "no eps"])
def test_near_misses(graph: Graph, rng: np.random.Generator, miss: str) -> None:
    x = graph.input(rng.normal(size=(3, 4, 5)).astype(np.float32))
    y = graph.input(rng.normal(size=(3, 4, 5)).astype(np.float32))
    match miss:
        case "exponent":
            out = normal(graph, x, square="4.0")
        case "other x":
            out = normal(graph, x, other=y)
        case "eps input":
            out = normal(graph, x, eps=graph.input(np.array(0.1, np.float32)))
        case "eps vector":
            out = normal(graph, x, eps=graph.const(np.linspace(0.1, 0.4, 4, dtype=np.float32).reshape(4, 1)))
        case "leading axis":
            out = normal(graph, x, axes=(0,))
        case _:
            d = graph.add(ge.Sub(x, mean(graph, x, (-1,))))
            v = mean(graph, graph.add(ge.Mul(d, d)), (-1,))
            out = graph.add(ge.RealDiv(d, graph.add(ge.Sqrt(v))))
    graph.finish(out)
    before = graph.names()
    graph.apply("ge-recognise-layer-norm")
    assert graph.names() == before


def test_standard_deviation_with_epsilon_outside_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3, 8)).astype(np.float32))
    d = graph.add(ge.Sub(x, mean(graph, x, (-1,))))
    v = mean(graph, graph.add(ge.Mul(d, d)), (-1,))
    unbiased = graph.add(ge.RealDiv(graph.add(ge.Mul(v, graph.const(8.0))), graph.const(7.0)))
    deviation = graph.add(ge.Add(graph.add(ge.Sqrt(unbiased)), graph.const(1e-6)))
    graph.finish(graph.add(ge.RealDiv(d, deviation)))
    before = graph.names()
    graph.apply("ge-recognise-layer-norm")
    assert graph.names() == before


def test_variance_over_other_axes_is_no_layer_norm(graph: Graph, rng: np.random.Generator) -> None:
    """What is left, d / sqrt(mean(d^2) + eps), is an RMS normalisation of d = x - mean(x)."""
    x = graph.input(rng.normal(size=(3, 4, 5)).astype(np.float32))
    graph.finish(normal(graph, x, variance_axes=(1, 2))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.ReduceMean", "ge.Sub", "ge.RMSNorm"]


def test_another_use_of_the_mean_keeps_it(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3, 8)).astype(np.float32))
    m = mean(graph, x, (-1,))
    d = graph.add(ge.Sub(x, m))
    v = mean(graph, graph.add(ge.Mul(d, d)), (-1,))
    y = graph.add(ge.RealDiv(d, graph.add(ge.Sqrt(graph.add(ge.Add(v, graph.const(1e-5)))))))
    graph.finish(y, m).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.ReduceMean", "ge.Sub", "ge.RMSNorm"]


def test_another_use_of_the_variance_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3, 8)).astype(np.float32))
    d = graph.add(ge.Sub(x, mean(graph, x, (-1,))))
    v = mean(graph, graph.add(ge.Mul(d, d)), (-1,))
    y = graph.add(ge.RealDiv(d, graph.add(ge.Sqrt(graph.add(ge.Add(v, graph.const(1e-5)))))))
    graph.finish(y, v)
    before = graph.names()
    graph.apply("ge-recognise-layer-norm")
    assert graph.names() == before


@pytest.mark.parametrize("root", ["div", "rsqrt", "reciprocal", "one over"])
def test_rms_norm(graph: Graph, rng: np.random.Generator, root: str) -> None:
    x = graph.input(rng.normal(size=(2, 5, 16)).astype(np.float32))
    e = graph.add(ge.Add(mean(graph, graph.add(ge.Pow(x, graph.const(2.0))), (-1,)), graph.const(1e-6)))
    match root:
        case "div":
            y = graph.add(ge.RealDiv(x, graph.add(ge.Sqrt(e))))
        case "rsqrt":
            y = graph.add(ge.Mul(x, graph.add(ge.Rsqrt(e))))
        case "reciprocal":
            y = graph.add(ge.Mul(graph.add(ge.Reciprocal(graph.add(ge.Sqrt(e)))), x))
        case _:
            y = graph.add(ge.Mul(x, graph.add(ge.RealDiv(graph.const(1.0), graph.add(ge.Sqrt(e))))))
    gamma = graph.const(rng.normal(size=(16,)).astype(np.float32))
    graph.finish(graph.add(ge.Mul(gamma, y))).check("ge-recognise-layer-norm")
    assert graph.names() == ["ge.RMSNorm"]


def test_root_mean_square_of_another_value_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 16)).astype(np.float32))
    y = graph.input(rng.normal(size=(2, 16)).astype(np.float32))
    e = graph.add(ge.Add(mean(graph, graph.add(ge.Mul(y, y)), (-1,)), graph.const(1e-6)))
    graph.finish(graph.add(ge.RealDiv(x, graph.add(ge.Sqrt(e)))))
    before = graph.names()
    graph.apply("ge-recognise-layer-norm")
    assert graph.names() == before
