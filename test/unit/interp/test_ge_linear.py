"""Matrix products, convolutions and pools against ONNX."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gecc.dialects import ge


def normal(rng, *shape: int, dtype=np.float32):
    """A standard normal array."""
    return rng.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 5), (5, 7)), ((2, 3, 5), (5, 7)), ((2, 1, 3, 5), (4, 5, 1)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3))],
)  # fmt: skip
def test_matmul(check, rng, a, b, dtype) -> None:
    x, y = normal(rng, *a, dtype=dtype), normal(rng, *b, dtype=dtype)
    check(ge.MatMulV2, "MatMul", [x, y])


def test_matmul_of_integers(check, rng) -> None:
    a, b = rng.integers(-9, 9, (3, 4)).astype(np.int32), rng.integers(-9, 9, (4, 2)).astype(np.int32)
    check(ge.MatMulV2, "MatMul", [a, b])


@pytest.mark.parametrize(("ta", "tb"), list(itertools.product([False, True], repeat=2)))
def test_gemm(check, rng, ta, tb) -> None:
    a = normal(rng, *((5, 3) if ta else (3, 5)))
    b = normal(rng, *((7, 5) if tb else (5, 7)))
    attrs = {"transA": int(ta), "transB": int(tb)}
    check(lambda x, y, c: ge.MatMulV2(x, y, c, transpose_x1=ta, transpose_x2=tb), "Gemm", [a, b, normal(rng, 7)], attrs)


CONV = [
    # x, w, attributes of Conv2D
    ((1, 3, 8, 9), (4, 3, 3, 3), {}),
    ((2, 3, 7, 5), (4, 3, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ((1, 4, 9, 6), (6, 2, 3, 2), {"group": 2, "pads": [0, 1, 2, 0]}),
    ((1, 5, 11, 8), (5, 1, 3, 3), {"group": 5, "pads": [1, 1, 1, 1], "strides": [2, 1]}),
    ((2, 3, 8, 8), (6, 1, 3, 3), {"group": 3}),
    ((1, 2, 12, 13), (3, 2, 3, 3), {"dilations": [2, 3], "pads": [2, 3, 2, 3]}),
    ((1, 3, 4, 4), (5, 3, 1, 1), {"strides": [3, 3]}),
    ((0, 3, 4, 4), (5, 3, 1, 1), {}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("x", "w", "attrs"), CONV)
def test_conv(check, rng, x, w, attrs, dtype) -> None:
    a, b, c = (normal(rng, *s, dtype=dtype) for s in (x, w, w[:1]))
    check(lambda i, k: ge.Conv2D(i, k, **attrs), "Conv", [a, b], attrs)
    check(lambda i, k, o: ge.Conv2D(i, k, o, **attrs), "Conv", [a, b, c], attrs)


DECONV = [
    ((1, 3, 5, 4), (3, 2, 3, 3), {}),
    ((2, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 3], "pads": [1, 0, 1, 2], "output_padding": [1, 2]}),
    ((1, 4, 5, 4), (4, 3, 2, 3), {"group": 2, "strides": [2, 2]}),
    ((1, 3, 5, 4), (3, 2, 3, 3), {"dilations": [2, 1], "pads": [1, 1, 1, 1]}),
    ((1, 1, 1, 1), (1, 1, 2, 2), {"strides": [2, 2]}),
]


@pytest.mark.parametrize(("x", "w", "attrs"), DECONV)
def test_conv_transpose(check, rng, x, w, attrs) -> None:
    a, b = normal(rng, *x), normal(rng, *w)
    c = normal(rng, w[1] * attrs.get("group", 1))
    check(lambda i, k, o: ge.ConvTranspose2D(i, k, o, **attrs), "ConvTranspose", [a, b, c], attrs, ort=True)


POOL = [
    ((1, 2, 8, 9), {"kernel": [2, 2], "strides": [2, 2]}),
    ((2, 3, 7, 7), {"kernel": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((1, 1, 10, 7), {"kernel": [3, 2], "strides": [3, 2], "pads": [0, 1, 2, 0], "ceil_mode": True}),
    ((1, 2, 9, 9), {"kernel": [2, 3], "dilations": [3, 2]}),
    ((1, 2, 6, 5), {"kernel": [2, 2], "strides": [3, 3], "ceil_mode": True}),
    ((1, 2, 5, 5), {"kernel": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": True}),
]


def pool_attrs(attrs):
    """The ONNX spelling of pool attributes."""
    return {("kernel_shape" if k == "kernel" else k): int(v) if isinstance(v, bool) else v for k, v in attrs.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8])
@pytest.mark.parametrize(("shape", "attrs"), POOL)
def test_max_pool(check, rng, shape, attrs, dtype) -> None:
    x = (
        (rng.normal(size=shape) * 40 - 50).astype(dtype)
        if dtype is not np.uint8
        else rng.integers(0, 9, shape).astype(dtype)
    )
    check(lambda v: ge.MaxPool(v, **attrs), "MaxPool", [x], pool_attrs(attrs), ort=True)


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize(("shape", "attrs"), POOL)
def test_avg_pool(check, rng, shape, attrs, include) -> None:
    x = normal(rng, *shape)
    spelled = pool_attrs({**attrs, "count_include_pad": include})
    check(lambda v: ge.AvgPool(v, **attrs, count_include_pad=include), "AveragePool", [x], spelled, ort=True)


def test_avg_pool_divides_by_what_counts(check) -> None:
    x = np.ones((1, 1, 5, 5))
    pool = {"kernel": [3, 3], "strides": [2, 2], "pads": [1, 1, 0, 0], "ceil_mode": True}
    np.testing.assert_array_equal(check.run(lambda v: ge.AvgPool(v, **pool), [x])[0], np.ones((1, 1, 3, 3)))
    # a window beyond the padded input: its padding counts, what lies beyond does not
    got = check.run(lambda v: ge.AvgPool(v, **pool, count_include_pad=True), [x])[0]
    np.testing.assert_allclose(got[0, 0], np.outer([2 / 3, 1, 1], [2 / 3, 1, 1]))


@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (1, 2, 7), (1, 2, 3, 2, 2)])
def test_global_pool(check, rng, shape) -> None:
    x = normal(rng, *shape)
    check(ge.GlobalAveragePool, "GlobalAveragePool", [x])
    check(ge.GlobalMaxPool, "GlobalMaxPool", [x], ort=True)


def test_batch_norm(check, rng) -> None:
    for shape in ((2, 3), (2, 3, 5), (1, 3, 4, 5)):
        parts = [normal(rng, 3) for _ in range(3)] + [rng.uniform(0.1, 2, 3).astype(np.float32)]
        attrs = {"epsilon": 1e-3}
        check(
            lambda x, s, o, m, v: ge.BatchNorm(x, s, o, m, v, epsilon=1e-3),
            "BatchNormalization",
            [normal(rng, *shape), *parts],
            attrs,
        )


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_layer_norm(check, rng, axis) -> None:
    shape = (2, 3, 4, 5)
    x, gamma, beta = normal(rng, *shape), normal(rng, *shape[axis:]), normal(rng, *shape[axis:])
    check(lambda a, g, b: ge.LayerNorm(a, g, b, axis=axis), "LayerNormalization", [x, gamma, beta], {"axis": axis})
    check(lambda a, g: ge.LayerNorm(a, g, axis=axis), "LayerNormalization", [x, gamma], {"axis": axis})
    got = check.run(lambda a, b: ge.LayerNorm(a, None, b, axis=axis), [x, beta])[0]
    full = check.run(lambda a, g, b: ge.LayerNorm(a, g, b, axis=axis), [x, np.ones_like(beta), beta])[0]
    np.testing.assert_array_equal(got, full)


def test_rms_norm(check, rng) -> None:
    x, gamma = rng.normal(size=(2, 3, 4)), rng.normal(size=(4,))
    got = check.run(lambda a, g: ge.RMSNorm(a, g, epsilon=1e-6), [x, gamma])[0]
    np.testing.assert_allclose(got, x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)) * gamma, rtol=1e-8)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(check, rng, axis) -> None:
    x = normal(rng, 3, 4, 5) * 30
    x[0, 0, 0] = -np.inf
    check(lambda v: ge.Softmax(v, axis=axis), "Softmax", [x], {"axis": axis})
    check(lambda v: ge.LogSoftmax(v, axis=axis), "LogSoftmax", [x], {"axis": axis}, ort=True)


def test_softmax_of_nothing_but_minus_infinity_is_nan(check) -> None:
    x = np.full((1, 3), -np.inf, np.float32)
    assert np.isnan(check.run(ge.Softmax, [x])[0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [[0], [1, -1], [0, 1, 2]])
def test_reduce(check, rng, axes, keep, dtype) -> None:
    x = (rng.normal(size=(3, 4, 5)) * 5).astype(dtype)
    for op, name in (
        (ge.ReduceSum, "ReduceSum"), (ge.ReduceMax, "ReduceMax"), (ge.ReduceMin, "ReduceMin"),
        (ge.ReduceProd, "ReduceProd"), (ge.ReduceMean, "ReduceMean"),
    ):  # fmt: skip
        check(
            lambda v, op=op: op(v, axes, keep_dims=keep),
            name,
            [x],
            {"keepdims": int(keep)},
            operands=[x, np.array(axes, np.int64)],
        )


def test_reduce_of_special_inputs(check) -> None:
    empty = np.zeros((2, 0), np.float32)
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceSum(v, [1]), [empty])[0], [0, 0])
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceMax(v, [1]), [empty])[0], [-np.inf, -np.inf])
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceProd(v, [1]), [empty])[0], [1, 1])
    nan = np.array([[1, np.nan]], np.float32)
    assert np.isnan(check.run(lambda v: ge.ReduceMax(v, [1]), [nan])[0]).all()
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceMax(v, [0]), [np.array([True, False])])[0], True)
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceMean(v, [0]), [np.array([-3, 2, -1])])[0], 0)
    np.testing.assert_array_equal(check.run(lambda v: ge.ReduceSum(v, []), [nan])[0], nan)


@pytest.mark.parametrize(("keep", "last"), list(itertools.product([False, True], repeat=2)))
def test_arg_extremes(check, rng, keep, last) -> None:
    for dtype in (np.float32, np.int32, np.uint8):
        x = rng.integers(0, 4, (3, 6)).astype(dtype)
        attrs = {"axis": 1, "keepdims": int(keep), "select_last_index": int(last)}
        for op, name in ((ge.ArgMax, "ArgMax"), (ge.ArgMin, "ArgMin")):
            check(lambda v, op=op: op(v, 1, keep_dims=keep, select_last_index=last), name, [x], attrs)
