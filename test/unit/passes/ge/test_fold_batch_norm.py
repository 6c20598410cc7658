"""Normalisations, scales and shifts folded into weights keep the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from xdsl.ir import SSAValue

from gecc.dialects import ge

if TYPE_CHECKING:
    from conftest import Graph


def random(g: Graph, rng: np.random.Generator, *shape: int) -> SSAValue:
    return g.const(rng.normal(size=shape).astype(np.float32))


def batch_norm(g: Graph, rng: np.random.Generator, x: SSAValue, channels: int) -> SSAValue:
    scale, offset, mean = (random(g, rng, channels) for _ in range(3))
    var = g.const(rng.uniform(0.1, 2.0, size=channels).astype(np.float32))
    return g.add(ge.BatchNorm(x, scale, offset, mean, var, epsilon=1e-3))


def anchor(g: Graph, rng: np.random.Generator, kind: str, bias: bool) -> tuple[SSAValue, int]:
    """A convolution or product with constant weights, and its number of channels."""
    image = rng.normal(size=(2, 6, 5, 7)).astype(np.float32)
    match kind:
        case "conv":
            w, channels = random(g, rng, 8, 6, 3, 3), 8
            made = ge.Conv2D(g.input(image), w, random(g, rng, 8) if bias else None, pads=(1, 1, 1, 1))
        case "grouped":
            w, channels = random(g, rng, 9, 2, 3, 3), 9
            made = ge.Conv2D(g.input(image), w, random(g, rng, 9) if bias else None, group=3, strides=(2, 1))
        case "transposed":
            w, channels = random(g, rng, 6, 4, 2, 2), 4
            made = ge.ConvTranspose2D(g.input(image), w, random(g, rng, 4) if bias else None, strides=(2, 2))
        case "transposed grouped":
            w, channels = random(g, rng, 6, 4, 2, 2), 8
            made = ge.ConvTranspose2D(g.input(image), w, random(g, rng, 8) if bias else None, group=2)
        case _:
            x = g.input(rng.normal(size=(5, 6)).astype(np.float32))
            transposed, channels = kind == "product transposed", 8
            w = random(g, rng, *((8, 6) if transposed else (6, 8)))
            made = ge.MatMulV2(x, w, random(g, rng, 8) if bias else None, transpose_x2=transposed)
    return g.add(made), channels


KINDS = ["conv", "grouped", "transposed", "transposed grouped", "product", "product transposed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bias", [False, True])
def test_batch_norm_goes_into_the_weights(graph: Graph, rng: np.random.Generator, kind: str, bias: bool) -> None:
    y, channels = anchor(graph, rng, kind, bias)
    graph.finish(batch_norm(graph, rng, y, channels)).check("ge-fold-batch-norm", rtol=1e-4, atol=1e-5)
    assert len(graph.names()) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", [ge.Mul, ge.RealDiv, ge.Add, ge.Sub])
@pytest.mark.parametrize("scalar", [False, True])
def test_scale_or_shift(graph: Graph, rng: np.random.Generator, kind: str, op: type[ge.Binary], scalar: bool) -> None:
    y, channels = anchor(graph, rng, kind, bias=True)
    tail = () if kind.startswith("product") else (1, 1)
    numbers = rng.uniform(0.5, 2.0, size=1 if scalar else (channels, *tail)).astype(np.float32)
    graph.finish(graph.add(op(y, graph.const(numbers)))).check("ge-fold-batch-norm", rtol=1e-4, atol=1e-5)
    assert len(graph.names()) == 1


def test_paddle_chain_ends_as_one_convolution(graph: Graph, rng: np.random.Generator) -> None:
    y, channels = anchor(graph, rng, "conv", bias=False)
    y = graph.add(ge.Add(y, random(graph, rng, 1, channels, 1, 1)))
    y = batch_norm(graph, rng, y, channels)
    y = graph.add(ge.Mul(random(graph, rng, channels, 1, 1), y))
    graph.finish(y).check("ge-fold-batch-norm", rtol=1e-4, atol=1e-5)
    assert graph.names() == ["ge.Conv2D"]


def test_product_of_rank_three_through_a_reshape(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 3, 6)).astype(np.float32))
    y = graph.add(ge.MatMulV2(x, random(graph, rng, 6, 8)))
    flat = graph.add(ge.Reshape(y, (6, 8)))
    graph.finish(graph.add(ge.Reshape(batch_norm(graph, rng, flat, 8), (2, 3, 8))))
    graph.check("ge-fold-batch-norm", rtol=1e-4, atol=1e-5)
    assert graph.names() == ["ge.MatMulV2", "ge.Reshape", "ge.Reshape"]


def test_channels_of_a_product_of_rank_three_are_not_its_columns(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 8, 6)).astype(np.float32))
    y = graph.add(ge.MatMulV2(x, random(graph, rng, 6, 8)))
    graph.finish(batch_norm(graph, rng, y, 8)).check("ge-fold-batch-norm", rtol=1e-4, atol=1e-5)
    assert graph.names() == ["ge.MatMulV2", "ge.Mul", "ge.Add"]


def test_batch_norm_alone_becomes_mul_and_add(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 6, 3, 3)).astype(np.float32))
    graph.finish(batch_norm(graph, rng, x, 6)).check("ge-fold-batch-norm", rtol=1e-5, atol=1e-6)
    assert graph.names() == ["ge.Mul", "ge.Add"]


def test_batch_norm_before_a_convolution_becomes_mul_and_add(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 6, 5, 5)).astype(np.float32))
    y = graph.add(ge.Relu(batch_norm(graph, rng, x, 6)))
    graph.finish(graph.add(ge.Conv2D(y, random(graph, rng, 4, 6, 3, 3))))
    graph.check("ge-fold-batch-norm", rtol=1e-5, atol=1e-5)
    assert graph.names() == ["ge.Mul", "ge.Add", "ge.Relu", "ge.Conv2D"]


def test_variance_zero(graph: Graph, rng: np.random.Generator) -> None:
    y, channels = anchor(graph, rng, "conv", bias=True)
    ones, zeros = graph.const(np.ones(channels, np.float32)), graph.const(np.zeros(channels, np.float32))
    graph.finish(graph.add(ge.BatchNorm(y, ones, zeros, ones, zeros, epsilon=1e-5)))
    graph.check("ge-fold-batch-norm", rtol=1e-4, atol=1e-3)
    assert graph.names() == ["ge.Conv2D"]


def test_another_use_of_the_result_stays(graph: Graph, rng: np.random.Generator) -> None:
    y, channels = anchor(graph, rng, "conv", bias=False)
    graph.finish(batch_norm(graph, rng, y, channels), y).check("ge-fold-batch-norm", rtol=1e-5, atol=1e-6)
    assert graph.names() == ["ge.Conv2D", "ge.Mul", "ge.Add"]


def test_weights_from_an_input_stay_under_a_scale_but_take_a_shift(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(1, 3, 4, 4)).astype(np.float32))
    w = graph.input(rng.normal(size=(5, 3, 1, 1)).astype(np.float32))
    y = graph.add(ge.Conv2D(x, w))
    shifted = graph.add(ge.Add(y, random(graph, rng, 5, 1, 1)))
    graph.finish(graph.add(ge.Mul(shifted, graph.const(2.0)))).check("ge-fold-batch-norm", rtol=1e-5, atol=1e-6)
    assert graph.names() == ["ge.Conv2D", "ge.Mul"]


@pytest.mark.parametrize(
    ("op", "shape"), [(ge.Add, (1, 8, 5, 7)), (ge.Add, (7,)), (ge.Mul, (2, 1, 1, 1)), (ge.Add, (3, 1, 1, 1, 1))]
)
def test_constants_that_are_not_per_channel_stay(
    graph: Graph, rng: np.random.Generator, op: type[ge.Binary], shape: tuple[int, ...]
) -> None:
    y, _ = anchor(graph, rng, "conv", bias=False)
    graph.finish(graph.add(op(y, random(graph, rng, *shape)))).check("ge-fold-batch-norm")
    assert len(graph.names()) == 2


def test_number_divided_by_the_result_stays(graph: Graph, rng: np.random.Generator) -> None:
    y, _ = anchor(graph, rng, "conv", bias=True)
    graph.finish(graph.add(ge.Sub(graph.const(1.0), y))).check("ge-fold-batch-norm")
    assert graph.names() == ["ge.Conv2D", "ge.Sub"]


def test_scale_that_overflows_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 3)).astype(np.float32))
    y = graph.add(ge.MatMulV2(x, graph.const(np.full((3, 2), 1e30, np.float32))))
    graph.finish(graph.add(ge.Mul(y, graph.const(1e20))))
    graph.apply("ge-fold-batch-norm")
    assert graph.names() == ["ge.MatMulV2", "ge.Mul"]
