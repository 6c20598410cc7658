"""Functions of math, expanded: against numpy in extended precision, interpreted and as machine code."""

from __future__ import annotations

import itertools
import math as pymath
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import TensorType, f32, f64, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects.fused import Body, generic
from gecc.dialects.fused import body as scalars
from gecc.passes.tile.expand_math import UNARY, expand_math, tables
from gecc.passes.tile.to_llvm.lowering import EMITTERS
from gecc.weights import element_type
from test import fit_math
from test.unit.kernels.harness import TARGET_NAMES, Array, Suite, numbers

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # arguments are meant to overflow

LONG = np.longdouble
NONE: dict[str, Attribute] = {"fastmath": arith.FastMathFlagsAttr("none")}
FUNCTIONS: dict[type[Operation], tuple[Callable[..., Any], float, float]] = {
    math.ExpOp: (np.exp, 1.0, 1.0),
    math.Exp2Op: (np.exp2, 1.1, 1.0),
    math.ExpM1Op: (np.expm1, 2.0, 2.0),
    math.LogOp: (np.log, 1.0, 1.0),
    math.Log1pOp: (np.log1p, 2.5, 2.5),
    math.Log2Op: (np.log2, 2.0, 1.5),
    math.Log10Op: (np.log10, 2.5, 3.0),
    math.TanhOp: (np.tanh, 5.0, 3.0),
    math.ErfOp: (np.vectorize(pymath.erf), 5.5, 4.0),
    math.SinOp: (np.sin, 1.5, 1.5),
    math.CosOp: (np.cos, 1.5, 1.5),
    math.TanOp: (np.tan, 3.0, 3.0),
    math.AtanOp: (np.arctan, 1.0, 1.5),
    math.AsinOp: (np.arcsin, 1.0, 4.0),
    math.AcosOp: (np.arccos, 1.0, 4.0),
    math.SinhOp: (np.sinh, 1.0, 4.0),
    math.CoshOp: (np.cosh, 1.0, 4.0),
    math.AsinhOp: (np.arcsinh, 1.0, 4.0),
    math.AcoshOp: (np.arccosh, 1.0, 4.0),
    math.AtanhOp: (np.arctanh, 1.0, 4.0),
    math.RoundOp: (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0.0, 0.0),
    math.RsqrtOp: (lambda x: 1 / np.sqrt(x), 1.5, 1.5),
}
"""Function -> its meaning, and the error allowed in f32 and f64, in units of the last place."""


def specials(dtype: type) -> Array:
    kind = np.finfo(dtype)
    finite = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 1000.0, 2.0**23 + 1, float(kind.max), float(kind.tiny)]
    values = [*finite, *(-v for v in finite), np.inf, -np.inf, np.nan, float(kind.smallest_subnormal)]
    return np.array(values, dtype)


def grid(op: type[Operation], dtype: type) -> Array:
    """Dense arguments over what matters for a function, and special ones."""
    rng, n, kind = np.random.default_rng(0), 6000, np.finfo(dtype)
    near = np.concatenate([rng.uniform(-1, 1, n), rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-30, 0, n)])
    if op in (math.ExpOp, math.ExpM1Op, math.Exp2Op):
        top = 90.0 if dtype is np.float32 else 712.0
        x = np.concatenate([rng.uniform(-1.2 * top, top, n) * (1.45 if op is math.Exp2Op else 1.0), near])
    elif op in (math.LogOp, math.Log2Op, math.Log10Op, math.RsqrtOp):
        wide = np.exp2(rng.uniform(kind.minexp - 10, kind.maxexp - 1, n))
        x = np.concatenate([wide, rng.uniform(0.5, 2, n), rng.uniform(0.99, 1.01, n)])
    elif op is math.Log1pOp:
        x = np.concatenate([near, np.exp2(rng.uniform(0, kind.maxexp - 1, n))])
    elif op is math.RoundOp:
        x = np.concatenate([rng.uniform(-100, 100, n), np.arange(-50, 50) + 0.5, np.arange(-50, 50) + 0.49999997])
    elif op in (math.AsinOp, math.AcosOp, math.AtanhOp):
        edge = np.concatenate([1 - np.exp2(rng.uniform(-20, 0, n)), np.exp2(rng.uniform(-20, 0, n)) - 1])
        x = np.concatenate([near, edge])
    elif op in (math.SinhOp, math.CoshOp):
        top = 92.0 if dtype is np.float32 else 712.0
        x = np.concatenate([rng.uniform(-top, top, n), rng.uniform(-30, 30, n), near])
    elif op in (math.AsinhOp, math.AcoshOp, math.AtanOp):
        wide = np.exp2(rng.uniform(-20, kind.maxexp - 1, n))
        x = np.concatenate([wide, -wide, 1 + np.exp2(rng.uniform(-20, 3, n)), near])
    elif op in (math.TanhOp, math.ErfOp):
        x = np.concatenate([rng.uniform(-10, 10, n), near])
    else:  # periods: small and huge arguments, and those next to multiples of pi / 2
        huge = np.exp2(rng.uniform(-20, kind.maxexp - 1, n))
        x = np.concatenate([rng.uniform(-10, 10, n), rng.uniform(-1000, 1000, n), huge, np.arange(n) * np.pi / 2])
    return np.concatenate([x, specials(dtype)]).astype(dtype)


def unary(op: type[Operation], element: Attribute, size: int) -> Callable[[Sequence[SSAValue]], Any]:
    def body(b: Body, d: Sequence[SSAValue], t: Sequence[SSAValue]) -> SSAValue:
        return b.emit(op.create(operands=[b.load(t[0], d)], result_types=[element], properties=NONE))

    return lambda args: generic(op.name, TensorType(element, [size]), args, body)


def binary(
    op: type[Operation], element: Attribute, size: int, properties: dict[str, Attribute] = NONE
) -> Callable[[Sequence[SSAValue]], Any]:
    def body(b: Body, d: Sequence[SSAValue], t: Sequence[SSAValue]) -> SSAValue:
        operands = [b.load(x, d) for x in t]
        return b.emit(op.create(operands=operands, result_types=[element], properties=properties))

    return lambda args: generic(op.name, TensorType(element, [size]), args, body)


def assert_ulps(name: str, got: Array, exact: Array, limit: float) -> None:
    """`got` within `limit` units in the last place of `exact`; infinities, NaN and signs of zero as they must be."""
    rounded = exact.astype(got.dtype)
    finite = np.isfinite(rounded)
    assert np.array_equal(np.isnan(got), np.isnan(rounded)), name
    assert np.array_equal(got[np.isinf(rounded)], rounded[np.isinf(rounded)]), name
    zero = rounded == 0
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero])), name
    error = np.abs(got.astype(LONG)[finite] - exact[finite]) / np.spacing(np.abs(rounded[finite]))
    worst = int(np.argmax(error))
    assert error[worst] <= limit, f"{name}: {float(error[worst]):.3f} units at result {rounded[finite][worst]!r}"


@cache
def functions() -> Suite:
    suite = Suite()
    for op, (dtype, element) in itertools.product(FUNCTIONS, ((np.float32, f32), (np.float64, f64))):
        x = grid(op, dtype)
        suite.add(op.name, [x], unary(op, element, x.size))
    assert suite.module
    return suite


def check_functions(outputs: Sequence[Array]) -> None:
    for case, got in zip(functions().cases, outputs, strict=True):
        x = case.inputs[0]
        op = next(op for op in FUNCTIONS if op.name == case.name)
        meaning, single, double = FUNCTIONS[op]
        with np.errstate(all="ignore"):
            exact = meaning(x if op is math.ErfOp else x.astype(LONG)).astype(LONG)
        if op is math.RoundOp:
            exact = np.where(np.abs(x) < 0.5, np.copysign(0, x), exact)
        assert_ulps(f"{case.name} {x.dtype}", got, exact, single if x.dtype == np.float32 else double)
        if op in (math.TanhOp, math.ErfOp, math.SinOp, math.CosOp):
            assert np.nanmax(np.abs(got)) <= 1, case.name


def test_all_functions_are_tested() -> None:
    assert set(UNARY) == set(FUNCTIONS)


def test_everything_regions_hold_has_machine_code() -> None:
    """Every operation that a region can be written with is an instruction or is expanded."""
    tables_of_ops = (scalars.UNARY, scalars._FLOAT, scalars._SIGNED, scalars._UNSIGNED)
    written = {cls for table in tables_of_ops for cls in table.values()}
    assert len(written) > 30
    expanded = {*UNARY, math.PowFOp, math.FPowIOp, math.IPowIOp}
    assert not [cls for cls in written if cls not in EMITTERS and cls not in expanded]


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_functions_native(target: str) -> None:
    check_functions(functions().native(target, 1))


def test_functions_interpreted() -> None:
    check_functions(functions().interpreted(TARGET_NAMES[0], "tile-expand-math"))


@cache
def powers() -> Suite:
    rng, n = np.random.default_rng(0), 6000
    x = np.concatenate(
        [rng.uniform(0, 3, n), 10.0 ** rng.uniform(-30, 30, n), rng.uniform(0.9, 1.1, n), -rng.uniform(0, 5, n)]
    )
    y = np.concatenate(
        [rng.uniform(-10, 10, n), rng.uniform(-3, 3, n), rng.uniform(-800, 800, n), np.rint(rng.uniform(-30, 30, n))]
    )
    special = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 1e30, 2.0**52 + 1, 2.0**53 + 2, np.inf]
    pairs = np.array(list(itertools.product([*special, *(-v for v in special), np.nan], repeat=2)))
    suite = Suite()
    for dtype, element in ((np.float32, f32), (np.float64, f64)):
        a = np.concatenate([x, pairs[:, 0]]).astype(dtype)
        b = np.concatenate([y, pairs[:, 1]]).astype(dtype)
        suite.add("powf", [a, b], binary(math.PowFOp, element, a.size))
        whole = np.rint(np.clip(b[np.isfinite(b)], -60, 60)).astype(np.int32)
        suite.add("fpowi", [a[np.isfinite(b)], whole], binary(math.FPowIOp, element, whole.size))
    assert suite.module
    return suite


def check_powers(outputs: Sequence[Array]) -> None:
    for case, got in zip(powers().cases, outputs, strict=True):
        x, y = case.inputs
        with np.errstate(all="ignore"):
            exact = np.power(x.astype(LONG), y.astype(LONG))
        assert_ulps(f"{case.name} {x.dtype}", got, exact, 0.51 if x.dtype == np.float32 else 1.2)


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_powers_native(target: str) -> None:
    check_powers(powers().native(target, 1))


def test_powers_interpreted() -> None:
    check_powers(powers().interpreted(TARGET_NAMES[0], "tile-expand-math"))


def int_power(x: int, n: int, bits: int) -> int:
    """x^n wrapped; the reciprocal of a negative power, rounded towards zero."""
    if n < 0:
        return (x if n % 2 else 1) if abs(x) == 1 else 0
    value = pow(x, n, 1 << bits)
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_integer_powers(target: str) -> None:
    suite = Suite()
    values = [0, 1, -1, 2, -2, 3, 7, -10, 100, 2**30]
    pairs = np.array(list(itertools.product(values, [0, 1, 2, 3, 10, 31, 63, 64, 101, -1, -2, -3])))
    for dtype, element in ((np.int32, i32), (np.int64, i64)):
        x, n = pairs[:, 0].astype(dtype), pairs[:, 1].astype(dtype)
        suite.add("ipowi", [x, n], binary(math.IPowIOp, element, len(x), {}))
    assert suite.module
    for outputs in (suite.native(target, 1), suite.interpreted(target, "tile-expand-math"), suite.expected()):
        for case, got in zip(suite.cases, outputs, strict=True):
            bits = got.dtype.itemsize * 8
            wanted = [int_power(int(x), int(n), bits) for x, n in zip(*case.inputs, strict=True)]
            assert got.tolist() == wanted


HALVES = ("float16", "bfloat16")


@cache
def halves() -> Suite:
    """Arithmetic directly on half formats, and their conversions, with ties and values beyond their range."""
    suite = Suite()
    for dtype in HALVES:
        x, y = numbers((100,), dtype), numbers((100,), dtype, 2)
        element = element_type(x.dtype)
        for op in (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp, arith.MinimumfOp):
            suite.add(op.name, [x, y], binary(op, element, 100))
        for op in (
            math.ExpOp,
            math.TanhOp,
            math.SinOp,
            math.FloorOp,
            math.CeilOp,
            math.RoundEvenOp,
            math.AbsFOp,
            math.ErfOp,
        ):
            suite.add(op.name, [x], unary(op, element, 100))
        suite.add("sqrt", [np.abs(x)], unary(math.SqrtOp, element, 100))
        suite.add("copysign", [x, y], binary(math.CopySignOp, element, 100))
        for source in ("float32", "float64"):
            edges = np.array(
                [0.0, -0.0, 65504, 65519, 65520, 1e38, 3.4e38, -1e300, 6e-8, 2.9e-8, 1e-40, np.inf, -np.inf, np.nan]
            )
            near = x.astype(np.float64)[:20]
            step = np.concatenate([near * (1 + k * 2.0**-e) for k in (-1, 1) for e in (8, 9, 11, 12, 30, 50)])
            wide = np.concatenate([edges, near, step]).astype(source)
            kind, back = element_type(wide.dtype), TensorType(element, [wide.size])
            cast = lambda b, d, t, s=kind, e=element: b.convert(b.load(t[0], d), s, e)  # noqa: E731
            suite.add(f"{source} to {dtype}", [wide], lambda t, r=back, c=cast: generic("Cast", r, t, c))
            cast = lambda b, d, t, s=kind, e=element: b.convert(b.load(t[0], d), e, s)  # noqa: E731
            wider = TensorType(kind, [100])
            suite.add(f"{dtype} to {source}", [x], lambda t, r=wider, c=cast: generic("Cast", r, t, c))
    assert suite.module
    return suite


def check_halves(outputs: Sequence[Array]) -> None:
    """Correctly rounded results for what is exact in f32, one unit in the last place for functions."""
    for case, got, want in zip(halves().cases, outputs, halves().expected(wide=False), strict=True):
        a, b = got.astype(np.float64), want.astype(np.float64)
        if case.name in ("math.exp", "math.tanh", "math.sin", "math.erf"):
            limit = 2.0**-10 if got.dtype == np.float16 else 2.0**-7
            np.testing.assert_allclose(a, b, rtol=limit, err_msg=case.name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=case.name)
            assert np.array_equal(np.signbit(a[a == 0]), np.signbit(b[a == 0])), case.name


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_halves_native(target: str) -> None:
    check_halves(halves().native(target, 1))


def test_halves_interpreted() -> None:
    check_halves(halves().interpreted(TARGET_NAMES[0], "tile-expand-math"))


def test_nothing_is_left_to_expand() -> None:
    """Expanding what has been expanded changes nothing."""
    module = functions().tiled(TARGET_NAMES[0])
    expand_math(module)
    assert not any(type(op) in UNARY for op in module.walk())
    again = module.clone()
    expand_math(again)
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("name", ["EXP_F32", "LOG_F32", "SIN_F32", "COS_F32", "COS_F64"])
def test_polynomials_are_reproduced(name: str) -> None:
    found, _ = fit_math.remez(*fit_math.POLYNOMIALS[name])
    assert tuple(found) == getattr(tables, name)


@pytest.mark.parametrize("name", ["TANH_F32", "ERF_F32"])
def test_rationals_are_reproduced(name: str) -> None:
    """Least squares in double may differ in late digits from machine to machine; the error of the function may not."""
    function, top, p, q = fit_math.RATIONALS[name]
    *_, error = fit_math.rational(function, top, p, q, rounds=40, points=500)
    t = np.linspace(0, top, 2000)
    given = [np.polyval(part[::-1], t) for part in getattr(tables, name)]
    exact = np.array([function(float(v)) for v in t])
    assert np.max(np.abs(given[0] / given[1] / exact - 1)) <= 1.2 * error


def test_turns_are_reproduced() -> None:
    assert tuple(fit_math.chunks(fit_math.inverse_turn(300), tables.TURN_F32_BITS, 7)) == tables.TURN_F32
    assert tuple(fit_math.chunks(fit_math.inverse_turn(1300), tables.TURN_F64_BITS, 45)) == tables.TURN_F64
