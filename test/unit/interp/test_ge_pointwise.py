"""Pointwise ge operators against ONNX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.dialects.ge.types import bf16, f16, f32, f64, i8, i32, i64, ui8, ui32
from gecc.interp.special import erf, erfc

SHAPES = [(), (7,), (3, 1, 5), (0, 4), (2, 3, 5, 7)]
FLOATS = [np.float32, np.float64, np.float16]

# operator, ONNX name, attributes, lowest and highest argument
UNARY: list[tuple[type[ge.Unary], str, dict[str, Any], float, float]] = [
    (ge.Relu, "Relu", {}, -3, 3),
    (ge.Sigmoid, "Sigmoid", {}, -12, 12),
    (ge.Tanh, "Tanh", {}, -5, 5),
    (ge.Erf, "Erf", {}, -4, 4),
    (ge.Exp, "Exp", {}, -5, 5),
    (ge.Log, "Log", {}, 0.01, 9),
    (ge.Sqrt, "Sqrt", {}, 0, 9),
    (ge.Reciprocal, "Reciprocal", {}, 0.1, 5),
    (ge.Neg, "Neg", {}, -3, 3),
    (ge.Abs, "Abs", {}, -3, 3),
    (ge.Floor, "Floor", {}, -3, 3),
    (ge.Ceil, "Ceil", {}, -3, 3),
    (ge.Round, "Round", {}, -3, 3),
    (ge.Sign, "Sign", {}, -3, 3),
    (ge.Sin, "Sin", {}, -7, 7),
    (ge.Cos, "Cos", {}, -7, 7),
    (ge.Tan, "Tan", {}, -1.4, 1.4),
    (ge.Asin, "Asin", {}, -1, 1),
    (ge.Acos, "Acos", {}, -1, 1),
    (ge.Atan, "Atan", {}, -9, 9),
    (ge.Sinh, "Sinh", {}, -5, 5),
    (ge.Cosh, "Cosh", {}, -5, 5),
    (ge.Asinh, "Asinh", {}, -9, 9),
    (ge.Acosh, "Acosh", {}, 1, 9),
    (ge.Atanh, "Atanh", {}, -0.9, 0.9),
    (ge.Gelu, "Gelu", {}, -5, 5),
    (ge.Gelu, "Gelu", {"approximate": "tanh"}, -5, 5),
    (ge.HardSwish, "HardSwish", {}, -5, 5),
    (ge.HardSigmoid, "HardSigmoid", {}, -5, 5),
    (ge.HardSigmoid, "HardSigmoid", {"alpha": 0.5, "beta": 0.25}, -5, 5),
    (ge.LeakyRelu, "LeakyRelu", {}, -5, 5),
    (ge.LeakyRelu, "LeakyRelu", {"alpha": 0.125}, -5, 5),
    (ge.Elu, "Elu", {}, -5, 5),
    (ge.Elu, "Elu", {"alpha": 1.5}, -5, 5),
    (ge.Softplus, "Softplus", {}, -9, 9),
    (ge.Identity, "Identity", {}, -5, 5),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("op", "name", "attrs", "low", "high"), UNARY, ids=lambda v: getattr(v, "name", None))
def test_unary(check, rng, op, name, attrs, low, high, dtype) -> None:
    # onnx.reference rounds every step of an f16 function (ours once), has erf in f32, and defaults in f64
    coarse = name in ("Erf", "Gelu", "HardSigmoid", "LeakyRelu", "HardSwish")
    tolerance = 1e-2 if dtype is np.float16 else 3e-7 if dtype is np.float64 and coarse else None
    for shape in SHAPES if dtype is np.float32 else SHAPES[1:3]:
        x = rng.uniform(low, high, shape).astype(dtype)
        check(lambda a: op(a, **attrs), name, [x], attrs, tolerance=tolerance)


def test_unary_of_special_values(check) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 88.8, -104.0], np.float32)
    for op, name in ((ge.Relu, "Relu"), (ge.Tanh, "Tanh"), (ge.Exp, "Exp"), (ge.Abs, "Abs"), (ge.IsNan, "IsNaN")):
        check(op, name, [x])
    got = check.run(ge.Sigmoid, [x])[0]
    np.testing.assert_allclose(got, [np.nan, 1, 0, 0.5, 0.5, 1, math.exp(-104.0)], rtol=1e-6, atol=1e-40)
    got = check.run(ge.Softplus, [x])[0]
    np.testing.assert_allclose(got, [np.nan, np.inf, 0, math.log(2), math.log(2), 88.8, 0], rtol=1e-6, atol=1e-40)


def test_unary_integers(check, rng) -> None:
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        x = rng.integers(-100, 100, (3, 5)).astype(dtype)
        for op, name in ((ge.Neg, "Neg"), (ge.Abs, "Abs"), (ge.Sign, "Sign")):
            check(op, name, [x])
    check(ge.LogicalNot, "Not", [np.array([True, False])])


def test_bits(check, rng) -> None:
    for dtype in (np.int8, np.int32, np.int64, np.uint8, np.uint16, np.uint64):
        low = 0 if np.dtype(dtype).kind == "u" else -100
        x, y = rng.integers(low, 100, (2, 3, 5)).astype(dtype)
        check(ge.BitwiseNot, "BitwiseNot", [x])
        for op, name in ((ge.BitwiseAnd, "BitwiseAnd"), (ge.BitwiseOr, "BitwiseOr"), (ge.BitwiseXor, "BitwiseXor")):
            check(op, name, [x, y[:1]])
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        x, y = rng.integers(0, 256, (3, 5)).astype(dtype), rng.integers(0, 8, (5,)).astype(dtype)
        for direction in ("LEFT", "RIGHT"):
            check(
                lambda a, b, d=direction: ge.BitShift(a, b, direction=d), "BitShift", [x, y], {"direction": direction}
            )
            far = np.array([8 * dtype().itemsize, 255], dtype)
            # all bits leave
            assert not check.run(lambda a, b, d=direction: ge.BitShift(a, b, direction=d), [x[:1, :2], far])[0].any()


def test_signed_shifts(check) -> None:
    x, n = np.array([-8, 4, -1, -128], np.int8), np.array([-1, -8, 9, 1], np.int8)
    shift = lambda d: check.run(lambda a, b: ge.BitShift(a, b, direction=d), [x, n])[0].tolist()  # noqa: E731
    assert shift("RIGHT") == [-1, 0, -1, -64]
    assert shift("LEFT") == [0, 0, 0, 0]


def test_bit_cast(check) -> None:
    x = np.array([[1.0, -0.0], [np.inf, 1e-45]], np.float32)
    for target in (i32, ui32):
        got = check.run(lambda a, t=target: ge.BitCast(a, t), [x])[0]
        assert got.view(np.float32).tobytes() == x.tobytes()
    assert check.run(lambda a: ge.BitCast(a, ui8), [np.array([True, False])])[0].tolist() == [1, 0]
    with pytest.raises(VerifyException, match="x has element type f32, which is not as wide as i64"):
        ge.BitCast(ge.const(x), i64).verify()


def test_silu_and_rsqrt_are_their_definitions(check, rng) -> None:
    x = rng.uniform(0.1, 6, (5, 3))
    np.testing.assert_allclose(check.run(ge.Rsqrt, [x])[0], x**-0.5, rtol=1e-14)
    np.testing.assert_allclose(check.run(ge.Silu, [-x])[0], -x / (1 + np.exp(x)), rtol=1e-14)


def test_gelu_is_precise_in_double(check) -> None:
    x = np.linspace(-9, 9, 301)
    exact = [v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x]
    np.testing.assert_allclose(check.run(ge.Gelu, [x])[0], exact, rtol=1e-14, atol=0)


BINARY_SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((5,), ()), ((2, 1, 4), (3, 1)), ((0, 3), (1, 3))]


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (ge.Add, "Add"), (ge.Sub, "Sub"), (ge.Mul, "Mul"), (ge.RealDiv, "Div"), (ge.Maximum, "Max"),
        (ge.Minimum, "Min"), (ge.Equal, "Equal"), (ge.Greater, "Greater"), (ge.GreaterEqual, "GreaterOrEqual"),
        (ge.Less, "Less"), (ge.LessEqual, "LessOrEqual"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8])
def test_binary(check, rng, op, name, dtype) -> None:
    for a, b in BINARY_SHAPES:
        if np.dtype(dtype).kind == "f":
            x, y = rng.normal(size=a).astype(dtype), rng.uniform(0.5, 2, b).astype(dtype)
        else:
            x, y = rng.integers(0, 9, a).astype(dtype), rng.integers(1, 9, b).astype(dtype)
        check(op, name, [x, y])


def test_integer_division_is_toward_zero(check) -> None:
    a, b = np.array([7, -7, 7, -7, 6, 0], np.int32), np.array([2, 2, -2, -2, 3, 5], np.int32)
    np.testing.assert_array_equal(check.run(ge.RealDiv, [a, b])[0], [3, -3, -3, 3, 2, 0])
    check(ge.RealDiv, "Div", [a, b], ort=True)


def test_power(check, rng) -> None:
    x = rng.uniform(0.1, 3, (4, 5)).astype(np.float32)
    check(ge.Pow, "Pow", [x, rng.normal(size=5).astype(np.float32)])
    a, b = np.array([2, -3, 1, -1, 5], np.int64), np.array([5, 3, -2, -3, -1], np.int64)
    np.testing.assert_array_equal(check.run(ge.Pow, [a, b])[0], [32, -27, 1, -1, 0])


def test_modulo(check, rng) -> None:
    a, b = np.array([5, -5, 5, -5, 6], np.int32), np.array([3, 3, -3, -3, 3], np.int32)
    check(ge.Mod, "Mod", [a, b])
    check(lambda x, y: ge.Mod(x, y, fmod=True), "Mod", [a, b], {"fmod": 1})
    x = rng.normal(size=(3, 4)).astype(np.float32)
    check(lambda p, q: ge.Mod(p, q, fmod=True), "Mod", [x, np.float32(0.3) + np.abs(x)], {"fmod": 1})


def test_extremes_propagate_nan(check) -> None:
    a, b = np.array([np.nan, 1, 2], np.float32), np.array([1, np.nan, 3], np.float32)
    check(ge.Maximum, "Max", [a, b])
    check(ge.Minimum, "Min", [a, b])


def test_logic(check, rng) -> None:
    a, b = rng.integers(0, 2, (2, 3)) > 0, rng.integers(0, 2, 3) > 0
    for op, name in ((ge.LogicalAnd, "And"), (ge.LogicalOr, "Or"), (ge.LogicalXor, "Xor"), (ge.Equal, "Equal")):
        check(op, name, [a, b])


def test_prelu(check, rng) -> None:
    x = rng.normal(size=(2, 3, 4)).astype(np.float32)
    check(ge.PRelu, "PRelu", [x, rng.normal(size=(3, 1)).astype(np.float32)])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_select(check, rng, dtype) -> None:
    cond = rng.integers(0, 2, (2, 1, 3)) > 0
    x, y = rng.integers(0, 5, (4, 3)).astype(dtype), rng.integers(0, 5, ()).astype(dtype)
    check(ge.Select, "Where", [cond, x, y])


def test_clip(check, rng) -> None:
    x = rng.normal(size=(3, 5)).astype(np.float32)
    check(ge.ClipByValue, "Clip", [x, np.array(-0.5, np.float32), np.array(0.25, np.float32)])
    check(ge.ClipByValue, "Clip", [x, np.array(1, np.float32), np.array(-1, np.float32)])
    n = rng.integers(-9, 9, 7).astype(np.int32)
    check(ge.ClipByValue, "Clip", [n, np.array(-2, np.int32), np.array(3, np.int32)])


@pytest.mark.parametrize("target", [f32, f64, f16, i8, i32, i64, ui8, ge.BOOL[0]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.bool_])
def test_cast(check, rng, dtype, target) -> None:
    x = rng.uniform(0, 100, (3, 5)).astype(dtype)
    to = int(__import__("onnx").helper.np_dtype_to_tensor_dtype(ge.numpy_dtype(target)))
    check(lambda v: ge.Cast(v, target), "Cast", [x], {"to": to})


def test_cast_truncates_and_keeps_nan_true(check) -> None:
    x = np.array([-2.7, 2.7, -0.5, 0.5], np.float32)
    np.testing.assert_array_equal(check.run(lambda v: ge.Cast(v, i32), [x])[0], [-2, 2, 0, 0])
    special = np.array([np.nan, 0.0, -0.0, 0.25], np.float32)
    np.testing.assert_array_equal(check.run(lambda v: ge.Cast(v, ge.BOOL[0]), [special])[0], [True, False, False, True])


def test_bfloat16_rounds_once(check, rng) -> None:
    x = rng.normal(size=(4, 5)).astype(np.float32)
    half = check.run(lambda v: ge.Cast(v, bf16), [x])[0]
    got = check.run(lambda v: ge.Gelu(v), [half])[0]
    exact = check.run(lambda v: ge.Gelu(v), [half.astype(np.float32)])[0]
    np.testing.assert_array_equal(got, exact.astype(got.dtype))


def test_erf_is_precise_to_double() -> None:
    x = np.concatenate([np.linspace(-6.5, 6.5, 20001), np.geomspace(1e-300, 1, 500), [0.46875, 4.0, np.inf]])
    np.testing.assert_allclose(erf(x), [math.erf(v) for v in x], rtol=1e-15, atol=0)
    y = np.linspace(-6, 26, 20001)
    np.testing.assert_allclose(erfc(y), [math.erfc(v) for v in y], rtol=2e-15, atol=0)


def test_every_operator_has_an_entry_and_a_meaning() -> None:
    from gecc.interp.base import MEANINGS

    assert set(ge.TABLE) <= set(ge.OPS)
    regions = (ge.If, ge.While)  # run by the interpreter itself, since their bodies are
    assert [op.name for op in ge.OPS if op not in MEANINGS and op not in regions] == []
