"""Cumulative sums, TopK and reversed sequences against ONNX."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.errors import KernelError


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_cumulative(check, rng, dtype, exclusive, reverse) -> None:
    x = rng.integers(-9, 9, (2, 5, 3)).astype(dtype)
    for axis in (0, 1, -1):
        check(
            lambda v, a=axis: ge.CumSum(v, a, exclusive=bool(exclusive), reverse=bool(reverse)),
            "CumSum",
            [x],
            {"exclusive": exclusive, "reverse": reverse},
            operands=[x, np.array(axis)],
        )


def test_cumulative_products(check) -> None:
    x = np.array([[2.0, 3.0, 4.0], [1.0, 0.5, -1.0]], np.float32)
    product = check.run(lambda v: ge.CumProd(v, 1, exclusive=True), [x])[0]
    np.testing.assert_array_equal(product, [[1, 2, 6], [1, 1, 0.5]])
    product = check.run(lambda v: ge.CumProd(v, 1, reverse=True), [x])[0]
    np.testing.assert_array_equal(product, [[24, 12, 4], [-0.5, -0.5, -1]])
    assert check.run(lambda v: ge.CumSum(v, 0, exclusive=True), [x[:0]])[0].shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8])
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(check, rng, dtype, largest) -> None:
    x = rng.integers(0, 20, (3, 7, 4)).astype(dtype)  # with equal values
    for axis, k in ((-1, 3), (1, 7), (0, 1), (1, 0)):
        build = lambda v, a=axis, n=k: ge.TopK(v, n, axis=a, largest=bool(largest))  # noqa: E731
        values, indices = check.run(build, [x])
        order = np.argsort(-x.astype(np.float64) if largest else x, axis, kind="stable")
        expected = np.take(order, np.arange(k), axis)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, axis))
        assert values.dtype == dtype and indices.dtype == np.int64


def test_top_k_puts_nan_above_all(check) -> None:
    x = np.array([1.0, np.nan, np.inf, np.nan, -np.inf], np.float32)
    assert check.run(lambda v: ge.TopK(v, 5), [x])[1].tolist() == [1, 3, 2, 0, 4]
    assert check.run(lambda v: ge.TopK(v, 5, largest=False), [x])[1].tolist() == [4, 0, 2, 1, 3]


def test_reverse_sequence(check, rng) -> None:
    x = rng.normal(size=(4, 3, 2)).astype(np.float32)
    for batch, time, lengths in ((1, 0, [4, 0, 2]), (0, 1, [3, 1, 2, 0])):
        given = np.array(lengths)
        attributes = {"batch_axis": batch, "time_axis": time}
        check(lambda a, b, k=attributes: ge.ReverseSequence(a, b, **k), "ReverseSequence", [x, given], attributes)
    with pytest.raises(KernelError, match="lengths are"):
        check.run(ge.ReverseSequence, [x, np.array([5, 0, 0])])


def test_verifiers(check) -> None:
    x = ge.const(np.zeros((2, 3), np.float32))
    with pytest.raises(VerifyException, match="k is 4, expected 0 to 3, the size of dimension 1"):
        ge.TopK(x, 4)
    with pytest.raises(VerifyException, match="batch_axis and time_axis are both 1"):
        ge.ReverseSequence(x, ge.const(np.zeros(3, np.int64)), batch_axis=1, time_axis=-1)
    with pytest.raises(VerifyException, match="lengths has 2 elements, expected 3"):
        ge.ReverseSequence(x, ge.const(np.zeros(2, np.int64)))
    with pytest.raises(VerifyException, match="x has element type i1"):
        ge.CumSum(ge.const(np.zeros(3, np.bool_)), 0)
