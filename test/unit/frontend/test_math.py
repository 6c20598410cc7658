"""Matrix products, reductions, softmax and normalisations."""

from __future__ import annotations

import numpy as np
import pytest

from test.unit.frontend.cases import Case, Fixed, check, fixed, floats, imported, ints

X = floats(2, 3, 4)
C = floats(2, 6, 5, 3)

PRODUCTS = [
    Case("MatMul", 9, [floats(3, 4), floats(4, 5)]),
    Case("MatMul", 13, [floats(2, 1, 3, 4), floats(5, 4, 2)]),
    Case("MatMul", 13, [floats(4), floats(4, 5)]),
    Case("MatMul", 13, [floats(2, 3, 4), floats(4)]),
    Case("MatMul", 13, [floats(4), floats(4, low=0)]),
    Case("MatMul", 13, [ints(3, 4, dtype=np.int32), ints(4, 2, dtype=np.int32)]),
    Case("Gemm", 7, [floats(3, 4), floats(4, 5), floats(5)]),
    Case("Gemm", 9, [floats(4, 3), Fixed(floats(5, 4)), Fixed(floats(5))], {"transA": 1, "transB": 1}),
    Case("Gemm", 11, [floats(3, 4), Fixed(floats(4, 5))], {"alpha": 0.5}),
    Case("Gemm", 11, [floats(3, 4), Fixed(floats(4, 5)), Fixed(floats(3, 1))], {"alpha": 0.5, "beta": 2.0}),
    Case("Gemm", 13, [floats(3, 4), Fixed(floats(4, 5)), Fixed(floats(1, 5))], {"beta": 2.0}),
    Case("Gemm", 13, [floats(3, 4), Fixed(floats(4, 5)), Fixed(np.float32(3))]),
    Case("Gemm", 13, [floats(3, 4), Fixed(floats(4, 5)), floats(3, 5)], {"beta": 0.0}),
]

REDUCES = [
    *(
        Case(op, 11, [X], {"axes": [1], "keepdims": 0})
        for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2")
    ),
    *(Case(op, 13, [X], {"axes": [-1, 0]}) for op in ("ReduceMean", "ReduceSumSquare", "ReduceLogSumExp", "ReduceL2")),
    Case("ReduceLogSum", 13, [floats(2, 3, low=0.1)], {"axes": [1]}),
    Case("ReduceLogSumExp", 13, [X + 500], {"axes": [1], "keepdims": 0}, note="large"),
    Case("ReduceLogSumExp", 13, [np.array([[-np.inf, -np.inf], [0, -np.inf]], np.float32)], {"axes": [1]}, note="inf"),
    Case("ReduceSum", 13, [X, fixed(0, 2)], {"keepdims": 0}),
    Case("ReduceSum", 13, [X]),
    Case("ReduceSum", 13, [X], {"noop_with_empty_axes": 1}),
    Case("ReduceMean", 18, [X, fixed(-1)]),
    Case("ReduceMax", 18, [X, fixed(1)], {"keepdims": 0}),
    Case("ReduceMax", 20, [ints(2, 3, low=0, high=2).astype(bool), fixed(1)]),
    Case("ReduceSum", 13, [ints(2, 3), fixed(1)]),
    Case("ReduceMax", 13, [ints(2, 3)], {"axes": [1]}),
    Case("ArgMax", 7, [X], {"axis": 1}),
    Case("ArgMax", 12, [ints(3, 5, low=0, high=2)], {"axis": -1, "keepdims": 0, "select_last_index": 1}),
    Case("ArgMin", 13, [X]),
]

SOFTMAXES = [
    *(Case(op, 13, [X], {"axis": axis}) for op in ("Softmax", "LogSoftmax", "Hardmax") for axis in (-1, 0, 1)),
    *(Case(op, 11, [X], {"axis": axis}) for op in ("Softmax", "LogSoftmax", "Hardmax") for axis in (2, 1, 0)),
    Case("Softmax", 13, [X], note="default"),
    Case("Softmax", 7, [X], note="default"),
    Case("Softmax", 11, [X], {"axis": -1}),
]

STATISTICS = [Fixed(floats(6, low=0.5)), Fixed(floats(6)), Fixed(floats(6, low=-1)), Fixed(floats(6, low=0.2))]

NORMS = [
    Case("BatchNormalization", 7, [C, *STATISTICS]),
    Case("BatchNormalization", 9, [C, *STATISTICS], {"epsilon": 1e-2}),
    Case("BatchNormalization", 14, [floats(3, 6), *STATISTICS]),
    Case("BatchNormalization", 15, [C, *STATISTICS]),
    Case("InstanceNormalization", 7, [C, STATISTICS[0], STATISTICS[1]]),
    Case("GroupNormalization", 21, [C, STATISTICS[0], STATISTICS[1]], {"num_groups": 2}),
    Case("LayerNormalization", 17, [X, Fixed(floats(4)), Fixed(floats(4, low=0))]),
    Case("LayerNormalization", 17, [X, Fixed(floats(3, 4))], {"axis": 1, "epsilon": 1e-3}),
    Case("LayerNormalization", 17, [X, Fixed(floats(4))], outputs=3),
    Case("RMSNormalization", 23, [X, Fixed(floats(4))]),
    Case("MeanVarianceNormalization", 13, [C]),
    Case("LpNormalization", 7, [X]),
    Case("LpNormalization", 7, [X], {"p": 1, "axis": 1}),
    Case("MeanVarianceNormalization", 9, [X], {"axes": [1]}),
    Case("LRN", 13, [C], {"size": 3, "alpha": 0.1, "beta": 0.6, "bias": 2.0}, dynamic=False),
]


Q, K, V = floats(2, 4, 5, 8), floats(2, 2, 6, 8), floats(2, 2, 6, 8, low=-1)

DEFINED = [
    Case("Attention", 23, [Q, K, V]),
    Case("Attention", 23, [Q, K, V, floats(5, 6)], {"is_causal": 1, "scale": 0.3}),
    Case("Attention", 23, [Q, K, V, ints(5, 6, low=0, high=2).astype(bool)], {"softcap": 2.0}),
    Case("RotaryEmbedding", 23, [Q, floats(2, 5, 4), floats(2, 5, 4, low=-1)], reference=True),
    Case("NegativeLogLikelihoodLoss", 13, [X, ints(2, 4, low=0, high=3)], {"reduction": "mean"}, reference=True),
]
"""Operators that the standard defines by others."""


@pytest.mark.parametrize("case", [*PRODUCTS, *REDUCES, *SOFTMAXES, *NORMS, *DEFINED], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check(case)


def test_lrn_of_even_size() -> None:
    """Neither oracle has it: ONNX Runtime refuses it, onnx.reference counts the channels of the wrong dimension."""
    case = Case("LRN", 13, [C], {"size": 4, "alpha": 0.5})
    squares = np.stack([(C[:, max(0, c - 1) : c + 3] ** 2).sum(axis=1) for c in range(C.shape[1])], axis=1)
    wanted = C / (1 + 0.5 / 4 * squares) ** 0.75
    np.testing.assert_allclose(imported(case.model(), case.feeds())[1]["o0"], wanted, rtol=1e-5)
