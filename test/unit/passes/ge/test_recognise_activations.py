"""Spellings of GELU, HardSwish and SiLU: each becomes one operator and keeps its values; near misses stay."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from xdsl.ir import SSAValue

from gecc.dialects import ge

if TYPE_CHECKING:
    from conftest import Graph

Spelling = Callable[["Graph", SSAValue], SSAValue]

SQRT2 = math.sqrt(2)
K = math.sqrt(2 / math.pi)


def erf_gate(g: Graph, x: SSAValue) -> SSAValue:
    curve = g.add(ge.Erf(g.add(ge.RealDiv(x, g.const(SQRT2)))))
    return g.add(ge.Add(curve, g.const(1.0)))


def e1(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(g.add(ge.Mul(x, erf_gate(g, x))), g.const(0.5)))


def e2(g: Graph, x: SSAValue) -> SSAValue:
    gate = erf_gate(g, x)
    return g.add(ge.Mul(g.add(ge.Mul(g.const(0.5), x)), gate))


def e3(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(x, g.add(ge.Mul(g.const(0.5), erf_gate(g, x)))))


def e4(g: Graph, x: SSAValue) -> SSAValue:
    half = g.add(ge.Mul(x, g.const(0.5)))
    curve = g.add(ge.Erf(g.add(ge.Mul(x, g.const(math.sqrt(0.5))))))
    return g.add(ge.Mul(g.add(ge.Add(g.const([1.0]), curve)), half))


def e5_halved_by_division(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.RealDiv(g.add(ge.Mul(erf_gate(g, x), x)), g.const(np.full((1, 1, 1), 2.0, np.float32))))


def tanh_gate(g: Graph, argument: SSAValue) -> SSAValue:
    return g.add(ge.Add(g.add(ge.Tanh(argument)), g.const(1.0)))


def t1(g: Graph, x: SSAValue) -> SSAValue:
    cube = g.add(ge.Mul(g.add(ge.Mul(x, x)), x))
    inner = g.add(ge.Add(x, g.add(ge.Mul(g.const(0.044715), cube))))
    gate = tanh_gate(g, g.add(ge.Mul(g.const(K), inner)))
    return g.add(ge.Mul(g.add(ge.Mul(x, g.const(0.5))), gate))


def t2(g: Graph, x: SSAValue) -> SSAValue:
    cube = g.add(ge.Pow(x, g.const(3.0)))
    inner = g.add(ge.Add(g.add(ge.Mul(cube, g.const(0.044715))), x))
    gate = tanh_gate(g, g.add(ge.Mul(inner, g.const(0.7978845608))))
    return g.add(ge.Mul(g.add(ge.Mul(g.const(0.5), x)), gate))


def t3(g: Graph, x: SSAValue) -> SSAValue:
    square = g.add(ge.Mul(g.add(ge.Mul(g.const(0.044715), x)), x))
    left = g.add(ge.Mul(g.const(0.79788456), x))
    gate = tanh_gate(g, g.add(ge.Mul(left, g.add(ge.Add(g.const(1.0), square)))))
    return g.add(ge.Mul(g.add(ge.Mul(x, g.const(0.5))), gate))


def t4(g: Graph, x: SSAValue) -> SSAValue:
    chain = g.add(ge.Mul(g.add(ge.Mul(g.add(ge.Mul(g.const(0.044715), x)), x)), x))
    gate = tanh_gate(g, g.add(ge.Mul(g.add(ge.Add(x, chain)), g.const(K))))
    return g.add(ge.Mul(x, g.add(ge.Mul(gate, g.const(0.5)))))


def quick_gelu(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(x, g.add(ge.Sigmoid(g.add(ge.Mul(x, g.const(1.702)))))))


def wrong_half(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(g.add(ge.Mul(x, erf_gate(g, x))), g.const(0.51)))


def wrong_root(g: Graph, x: SSAValue) -> SSAValue:
    curve = g.add(ge.Erf(g.add(ge.RealDiv(x, g.const(1.4145)))))
    return g.add(ge.Mul(g.add(ge.Mul(x, g.add(ge.Add(curve, g.const(1.0))))), g.const(0.5)))


def wrong_cubic(g: Graph, x: SSAValue) -> SSAValue:
    cube = g.add(ge.Pow(x, g.const(3.0)))
    inner = g.add(ge.Add(g.add(ge.Mul(cube, g.const(0.0447))), x))
    gate = tanh_gate(g, g.add(ge.Mul(inner, g.const(K))))
    return g.add(ge.Mul(g.add(ge.Mul(g.const(0.5), x)), gate))


def other_argument(g: Graph, x: SSAValue) -> SSAValue:
    gate = erf_gate(g, g.add(ge.Tanh(x)))
    return g.add(ge.Mul(g.add(ge.Mul(x, gate)), g.const(0.5)))


def broadcasting(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(g.add(ge.Mul(x, erf_gate(g, x))), g.const(np.full((2, 1, 1, 1), 0.5, np.float32))))


@pytest.mark.parametrize(
    ("spelling", "form"),
    [(f, "none") for f in (e1, e2, e3, e4, e5_halved_by_division)] + [(f, "tanh") for f in (t1, t2, t3, t4)],
)
@pytest.mark.parametrize("shape", [(7,), (2, 3, 5)])
def test_gelu(graph: Graph, rng: np.random.Generator, spelling: Spelling, form: str, shape: tuple[int, ...]) -> None:
    if len(shape) == 1 and spelling is e5_halved_by_division:
        shape = (1, 1, 7)  # its constant has three dimensions
    x = graph.input(rng.normal(size=shape).astype(np.float32) * 3)
    graph.finish(spelling(graph, x)).check("ge-recognise-gelu")
    assert graph.names() == ["ge.Gelu"]
    [gelu] = [op for op in graph.block.ops if isinstance(op, ge.Gelu)]
    assert gelu.approximate.data == form


@pytest.mark.parametrize(
    "spelling",
    [quick_gelu, wrong_half, wrong_root, wrong_cubic, other_argument, broadcasting],
    ids=lambda f: f.__name__,
)
def test_not_gelu(graph: Graph, rng: np.random.Generator, spelling: Spelling) -> None:
    x = graph.input(rng.normal(size=(2, 3, 5)).astype(np.float32))
    graph.finish(spelling(graph, x))
    before = graph.names()
    graph.apply("ge-recognise-gelu")
    assert graph.names() == before


def test_gelu_with_another_use_inside_stays(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(4,)).astype(np.float32))
    gate = erf_gate(graph, x)
    y = graph.add(ge.Mul(graph.add(ge.Mul(x, gate)), graph.const(0.5)))
    graph.finish(y, gate)
    before = graph.names()
    graph.apply("ge-recognise-gelu")
    assert graph.names() == before


def test_geglu_keeps_its_second_factor(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(4, 6)).astype(np.float32))
    y = graph.input(rng.normal(size=(4, 6)).astype(np.float32))
    graph.finish(graph.add(ge.Mul(e2(graph, x), y))).check("ge-recognise-gelu")
    assert graph.names() == ["ge.Gelu", "ge.Mul"]


def test_gelu_in_half_precision(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(4, 6)).astype(np.float16))

    def const(value: float) -> SSAValue:
        return graph.const(np.array(value, np.float16))

    curve = graph.add(ge.Erf(graph.add(ge.RealDiv(x, const(SQRT2)))))
    gate = graph.add(ge.Add(curve, const(1.0)))
    graph.finish(graph.add(ge.Mul(graph.add(ge.Mul(x, gate)), const(0.5))))
    graph.check("ge-recognise-gelu", rtol=4e-3, atol=2e-3)
    assert graph.names() == ["ge.Gelu"]


# -- HardSwish ----------------------------------------------------------------------------------------------------


def clipped(g: Graph, x: SSAValue, low: float = 0.0, high: float = 6.0) -> SSAValue:
    return g.add(ge.ClipByValue(x, g.const(low), g.const(high)))


def torch_op(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(x, g.add(ge.HardSigmoid(x, alpha=1 / 6, beta=0.5))))


def paddle(g: Graph, x: SSAValue) -> SSAValue:
    gate = clipped(g, g.add(ge.Add(x, g.const([3.0]))))
    return g.add(ge.RealDiv(g.add(ge.Mul(x, gate)), g.const([6.0])))


def clip_first(g: Graph, x: SSAValue) -> SSAValue:
    gate = g.add(ge.RealDiv(clipped(g, g.add(ge.Add(g.const(3.0), x))), g.const(6.0)))
    return g.add(ge.Mul(gate, x))


def scaled_before(g: Graph, x: SSAValue) -> SSAValue:
    line = g.add(ge.Add(g.add(ge.Mul(x, g.const(1 / 6))), g.const(0.5)))
    return g.add(ge.Mul(x, clipped(g, line, 0.0, 1.0)))


def relu6(g: Graph, x: SSAValue) -> SSAValue:
    gate = g.add(ge.Minimum(g.add(ge.Relu(g.add(ge.Add(x, g.const(3.0))))), g.const(6.0)))
    return g.add(ge.Mul(x, g.add(ge.Mul(gate, g.const(1 / 6)))))


def max_min(g: Graph, x: SSAValue) -> SSAValue:
    gate = g.add(ge.Maximum(g.const(0.0), g.add(ge.Minimum(g.add(ge.Add(x, g.const(3.0))), g.const(6.0)))))
    return g.add(ge.RealDiv(g.add(ge.Mul(gate, x)), g.const(6.0)))


def squeeze_gate(g: Graph, x: SSAValue) -> SSAValue:
    return g.add(ge.Mul(x, g.add(ge.HardSigmoid(x, alpha=0.2, beta=0.5))))


def wrong_high(g: Graph, x: SSAValue) -> SSAValue:
    gate = clipped(g, g.add(ge.Add(x, g.const(3.0))), 0.0, 5.0)
    return g.add(ge.RealDiv(g.add(ge.Mul(x, gate)), g.const(6.0)))


def other_factor(g: Graph, x: SSAValue) -> SSAValue:
    gate = clipped(g, g.add(ge.Add(x, g.const(3.0))))
    return g.add(ge.RealDiv(g.add(ge.Mul(g.add(ge.Neg(x)), gate)), g.const(6.0)))


def relu_of_minimum(g: Graph, x: SSAValue) -> SSAValue:
    """min(relu(x + 3), -6) is not a clip: its bounds cross."""
    gate = g.add(ge.Minimum(g.add(ge.Relu(g.add(ge.Add(x, g.const(3.0))))), g.const(-6.0)))
    return g.add(ge.Mul(x, g.add(ge.Mul(gate, g.const(1 / 6)))))


@pytest.mark.parametrize("spelling", [torch_op, paddle, clip_first, scaled_before, relu6, max_min])
@pytest.mark.parametrize("shape", [(9,), (1, 4, 3, 5)])
def test_hard_swish(graph: Graph, rng: np.random.Generator, spelling: Spelling, shape: tuple[int, ...]) -> None:
    x = graph.input(rng.normal(size=shape).astype(np.float32) * 4)
    graph.finish(spelling(graph, x)).check("ge-recognise-hard-swish")
    assert graph.names() == ["ge.HardSwish"]


@pytest.mark.parametrize("spelling", [squeeze_gate, wrong_high, other_factor, relu_of_minimum])
def test_not_hard_swish(graph: Graph, rng: np.random.Generator, spelling: Spelling) -> None:
    x = graph.input(rng.normal(size=(3, 4)).astype(np.float32))
    graph.finish(spelling(graph, x))
    before = graph.names()
    graph.apply("ge-recognise-hard-swish")
    assert graph.names() == before


# -- SiLU -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swapped", [False, True])
def test_silu(graph: Graph, rng: np.random.Generator, swapped: bool) -> None:
    x = graph.input(rng.normal(size=(3, 4)).astype(np.float32) * 5)
    gate = graph.add(ge.Sigmoid(x))
    y = graph.add(ge.Mul(gate, x) if swapped else ge.Mul(x, gate))
    graph.finish(y).check("ge-recognise-silu")
    assert graph.names() == ["ge.Silu"]


def test_sigmoid_of_another_value_is_not_silu(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3, 4)).astype(np.float32))
    y = graph.input(rng.normal(size=(3, 4)).astype(np.float32))
    gate = graph.add(ge.Sigmoid(x))
    graph.finish(graph.add(ge.Mul(y, gate)), graph.add(ge.Mul(x, graph.add(ge.Sigmoid(y)))), quick_gelu(graph, x))
    before = graph.names()
    graph.apply("ge-recognise-silu")
    assert graph.names() == before


def test_sigmoid_with_another_use_is_not_silu(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(3, 4)).astype(np.float32))
    gate = graph.add(ge.Sigmoid(x))
    graph.finish(graph.add(ge.Mul(x, gate)), gate)
    graph.apply("ge-recognise-silu")
    assert graph.names() == ["ge.Sigmoid", "ge.Mul"]
