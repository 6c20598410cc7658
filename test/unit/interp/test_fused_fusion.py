"""Fusion changes names and the number of kernels, never results: chains, residuals, views, layouts, in both orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.rewrite import Miss, listen
from test.unit.interp.fused_cases import Array, apply, check, compare, labels, module_of, random, value

EPILOGUES_FIRST = ("fused-fold-views", "fused-fuse-epilogues", "fused-fuse-pointwise", "fused-fuse-epilogues")
POINTWISE_FIRST = ("fused-fold-views", "fused-fuse-pointwise", "fused-fuse-epilogues", "fused-fuse-pointwise")
Ops = list[Operation]


def mlp(x: SSAValue, w1: SSAValue, b1: SSAValue, w2: SSAValue, b2: SSAValue) -> Ops:
    a = ge.MatMulV2(x, w1)
    b = ge.Add(a, b1)
    c = ge.Gelu(b)
    return [a, b, c, ge.MatMulV2(c, w2, b2)]


def residual(x: SSAValue, w: SSAValue, b: SSAValue, r: SSAValue) -> Ops:
    a = ge.Conv2D(x, w, b, pads=(1, 1, 1, 1))
    c = ge.Add(a, r)
    return [a, c, ge.Relu(c)]


def shared(x: SSAValue, w: SSAValue, v: SSAValue) -> Ops:
    a = ge.MatMulV2(x, w)
    r = ge.Relu(a)
    y = ge.MatMulV2(r, v)
    return [a, r, y, ge.Add(r, y)]


def masked(x: SSAValue, m: SSAValue) -> Ops:
    a = ge.Mul(x, m)
    b = ge.Add(a, m)
    c = ge.Softmax(b)
    return [a, b, c, ge.Mul(c, x)]


def add_norm(x: SSAValue, y: SSAValue, g: SSAValue, b: SSAValue) -> Ops:
    a = ge.Add(x, y)
    n = ge.LayerNorm(a, g, b)
    return [a, n, ge.Add(a, n)]


def transposed(x: SSAValue, y: SSAValue) -> Ops:
    a = ge.Tanh(x)
    t = ge.Transpose(a, (1, 0))
    return [a, t, ge.Add(t, y)]


def dear_pool(x: SSAValue) -> Ops:
    a = ge.Tanh(x)
    p = ge.MaxPool(a, (3, 3))
    return [a, p, ge.Relu(p)]


def variance(x: SSAValue, y: SSAValue) -> Ops:
    a = ge.Mul(x, y)
    m = ge.ReduceMean(a, (1,), keep_dims=True)
    s = ge.Sqrt(ge_abs := ge.Abs(m))
    return [a, m, ge_abs, s, ge.Sub(x, s)]


def gathered(x: SSAValue, i: SSAValue) -> Ops:
    t = ge.Gather(x, i)
    return [t, ge.Relu(t)]


def reshaped(x: SSAValue, w: SSAValue, b: SSAValue, r: SSAValue) -> Ops:
    a = ge.Reshape(x, (6, 4))
    m = ge.MatMulV2(a, w)
    v = ge.Reshape(m, (2, 3, 5))
    s = ge.Add(v, b)
    t = ge.Add(s, r)
    return [a, m, v, s, t, ge.Relu(t)]


def concatenated(x: SSAValue, y: SSAValue) -> Ops:
    a, c = ge.Relu(x), ge.Neg(y)
    d = ge.Concat([a, c], 1)
    return [a, c, d, ge.Sigmoid(d)]


def padded(x: SSAValue) -> Ops:
    a = ge.Relu(x)
    p = ge.Pad(a, (1, 1, 0, -1))
    s = ge.Slice(p, (1,), (4,), (1,))
    return [a, p, s, ge.Exp(s)]


def unit_view(x: SSAValue, y: SSAValue) -> Ops:
    a = ge.Tanh(x)
    v = ge.Reshape(a, (3, 1, 4))
    return [a, v, ge.Mul(v, y)]


def half(x: SSAValue, w: SSAValue) -> Ops:
    a = ge.MatMulV2(x, w)
    r = ge.Relu(a)
    return [a, r, ge.Mul(r, r)]


S = random
CASES: dict[str, tuple[Callable[..., Ops], Sequence[Array], list[str]]] = {
    "mlp": (mlp, [S((4, 5)), S((5, 7)), S((7,)), S((7, 3)), S((3,))], ["MatMulV2Gelu", "MatMulV2"]),
    "residual": (residual, [S((2, 3, 5, 6)), S((4, 3, 3, 3)), S((4,)), S((2, 4, 5, 6))], ["Conv2DAddRelu"]),
    "shared": (shared, [S((4, 5)), S((5, 5)), S((5, 5))], ["MatMulV2Relu", "MatMulV2Add"]),
    "masked": (masked, [S((2, 3, 5)), S((2, 1, 5))], ["MulAddSoftmaxMul"]),
    "transposed": (transposed, [S((3, 5)), S((5, 3))], ["TanhTransposeAdd"]),
    "dear_pool": (dear_pool, [S((1, 2, 5, 7))], ["Tanh", "MaxPoolRelu"]),
    "variance": (variance, [S((4, 7)), S((4, 7))], ["MulReduceMeanAbsSqrt", "Sub"]),
    "gathered": (gathered, [S((4, 7)), S((9,), "int64", low=-4)], ["GatherRelu"]),
    "reshaped": (reshaped, [S((2, 3, 4)), S((4, 5)), S((5,)), S((2, 3, 5))], ["MatMulV2AddRelu"]),
    "concatenated": (concatenated, [S((3, 4)), S((3, 2))], ["NegReluConcatSigmoid"]),
    "padded": (padded, [S((3, 6))], ["ReluPadSliceExp"]),
    "unit_view": (unit_view, [S((3, 4)), S((3, 1, 4))], ["TanhMul"]),
    "half": (half, [S((3, 4), "float16"), S((4, 5), "float16")], ["MatMulV2ReluMul"]),
}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("passes", [EPILOGUES_FIRST, POINTWISE_FIRST], ids=["epilogues first", "pointwise first"])
def test_fusion(name: str, passes: Sequence[str]) -> None:
    build, inputs, names = CASES[name]
    if name == "reshaped" and passes is POINTWISE_FIRST:
        names = ["MatMulV2AddAddRelu"]  # the bias is merged with the residual before it could be told apart
    assert labels(check(build, *inputs, passes=passes)) == names


def test_residual_in_channels_last() -> None:
    build, inputs, names = CASES["residual"]
    layouts = ["NHWC", None, None, "NHWC"]
    assert labels(check(build, *inputs, layouts=layouts, passes=EPILOGUES_FIRST)) == names


def test_sum_used_by_a_norm_and_after_it() -> None:
    inputs = [S((20, 16)), S((20, 16), seed=1), S((16,)), S((16,))]
    assert labels(check(add_norm, *inputs, passes=EPILOGUES_FIRST)) == ["LayerNormAdd"]


def test_long_names_end_in_etc() -> None:
    def chain(x: SSAValue) -> Ops:
        ops: Ops = [ge.Sigmoid(x)]
        for _ in range(20):
            ops.append(ge.Sigmoid(ops[-1].results[0]))
        return ops

    (name,) = labels(check(chain, S((5,)), passes=EPILOGUES_FIRST))
    assert name == "Sigmoid" * 8 + "Etc"


def test_merging_stops_at_too_many_operands() -> None:
    def total(*xs: SSAValue) -> Ops:
        ops: Ops = [ge.Add(xs[0], xs[1])]
        for x in xs[2:]:
            ops.append(ge.Add(ops[-1].results[0], x))
        return ops

    misses: list[Miss] = []
    inputs = [S((3,), seed=i) for i in range(40)]
    with listen(misses.append):
        module = check(total, *inputs, passes=EPILOGUES_FIRST, tolerance=1e-5)
    assert len(labels(module)) == 2
    assert max(len(op.operands) for op in value(module, "fused.generic")) <= 24
    assert any("operands, limit 24" in str(m) for m in misses)


def test_misses_say_why() -> None:
    misses: list[Miss] = []
    inputs = [S((4, 5)), S((5, 5)), S((5, 5))]
    with listen(misses.append):
        apply(module_of(shared, inputs), "ge-to-fused", *EPILOGUES_FIRST)
    texts = [str(m) for m in misses]
    assert "result has 2 users, need 1" in texts
    assert "user is func.return, need a pointwise fused.generic" in texts


UNARY = (ge.Relu, ge.Tanh, ge.Neg, ge.Sigmoid, ge.Abs)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int) -> None:
    """Graphs of everything that fusion looks at, on one small shape; every order of passes gives the same numbers."""
    rng = np.random.default_rng(seed)

    def build(x: SSAValue, y: SSAValue, w: SSAValue, g: SSAValue) -> Ops:
        values: list[SSAValue] = [x, y]
        ops: Ops = []

        def pick() -> SSAValue:
            return values[-1 - int(min(rng.geometric(0.5) - 1, len(values) - 1))]

        makers: list[Callable[[], list[Any]]] = [
            lambda: [UNARY[rng.integers(len(UNARY))](pick())],
            lambda: [ge.Add(pick(), pick())],
            lambda: [ge.Mul(pick(), g)],
            lambda: [ge.MatMulV2(pick(), w)],
            lambda: [ge.Transpose(pick(), (1, 0))],
            lambda: [ge.Softmax(pick())],
            lambda: [ge.LayerNorm(pick(), g)],
            lambda: [a := ge.ReduceMax(pick(), (1,), keep_dims=True), ge.Sub(pick(), a)],
            lambda: [a := ge.Reshape(pick(), (2, 3, 6)), b := ge.Relu(a), ge.Reshape(b, (6, 6))],
            lambda: [a := ge.Slice(pick(), (1,), (4,), (0,)), b := ge.Slice(pick(), (0,), (3,), (0,)),
                     ge.Concat([a, b], 0)],
            lambda: [ge.Pad(pick(), (1, -1, -1, 1), mode="constant")],
        ]  # fmt: skip
        for _ in range(14):
            made = makers[rng.integers(len(makers))]()
            ops += made
            values.append(made[-1].results[0])
        return [*ops, ge.Add(values[-1], values[-2])]

    inputs = [S((6, 6), seed=seed), S((6, 6), seed=seed + 1), S((6, 6), seed=2, low=-0.5, high=0.5), S((6,), seed=3)]
    module = module_of(build, inputs)
    from gecc.interp import run_module

    want = run_module(module, inputs)["out0"]
    scale = float(np.abs(want).max()) or 1.0
    lowered = apply(module, "ge-to-fused")
    steps = ("fused-fold-views", "fused-fuse-epilogues", "fused-fuse-pointwise")
    for order in itertools.permutations(steps):
        fused = apply(lowered, *order, *order)
        assert len(labels(fused)) <= len(labels(lowered))
        compare(run_module(fused, inputs)["out0"] / scale, want / scale, 1e-4)
