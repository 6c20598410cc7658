"""ge.Quantize and ge.Dequantize mean the same after ge-to-fused, and fuse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type, IntegerType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.interp import run_module
from gecc.weights import element_type
from test.unit.interp.fused_cases import Array, check, labels, module_of, random

QUANTISED = ("int8", "uint8", "int16", "uint16")
FLOATS = {"float16": Float16Type(), "float32": Float32Type(), "float64": Float64Type()}
SHAPES = [((), 1, 0), ((4,), 1, 0), ((6,), -1, 0), ((3, 2, 6), 1, 2), ((3, 4, 2), 2, 4)]
"""Shape of scale and zero point for x [3, 4, 6], axis, block size."""


def parameters(shape: Sequence[int], scale: str, dtype: str) -> tuple[Array, Array]:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(len(shape))
    zero = rng.integers(max(info.min, -200), min(info.max, 200), shape).astype(dtype)
    return random(shape, scale, 5, 0.01, 0.1), np.array(zero)


@pytest.mark.parametrize("dtype", QUANTISED)
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("shape", "axis", "block"), SHAPES)
def test_quantize(dtype: str, kind: str, shape: tuple[int, ...], axis: int, block: int) -> None:
    scale, zero = parameters(shape, kind, dtype)
    x = random((3, 4, 6), kind, 1, -20, 20)
    to = element_type(np.dtype(dtype))
    check(lambda x, s, z: ge.Quantize(x, s, z, to, axis=axis, block_size=block), x, scale, zero)
    check(lambda x, s: ge.Quantize(x, s, None, to, axis=axis, block_size=block), x, scale)


@pytest.mark.parametrize("dtype", [*QUANTISED, "int32"])
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("shape", "axis", "block"), SHAPES)
def test_dequantize(dtype: str, kind: str, shape: tuple[int, ...], axis: int, block: int) -> None:
    scale, zero = parameters(shape, kind, dtype)
    x = random((3, 4, 6), dtype, 1, -1000, 1000) if dtype == "int32" else random((3, 4, 6), dtype, 1, -99, 99)
    for to in FLOATS.values():
        check(lambda x, s, z, to=to: ge.Dequantize(x, s, z, to, axis=axis, block_size=block), x, scale, zero)
        check(lambda x, s, to=to: ge.Dequantize(x, s, None, to, axis=axis, block_size=block), x, scale)


def test_constants_and_hard_numbers() -> None:
    """Scalars become constants of the region; halves go to even, what is out of range saturates, NaN is the least."""
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 126.4, 126.5], np.float32)

    def build(x: SSAValue) -> list[Operation]:
        scale = ge.Const(ge.dense(np.array(1, np.float32)))
        zero = ge.Const(ge.dense(np.array(3, np.int8)))
        return [scale, zero, ge.Quantize(x, scale, zero, element_type(np.dtype(np.int8)))]

    lowered = check(build, x)
    assert [len(op.operands) for op in lowered.walk() if op.name == "fused.generic"] == [1]
    assert not [op for op in lowered.walk() if op.name == "arith.divf"]  # by one


def test_channels_last() -> None:
    x = random((2, 5, 3, 4), "float32", 1, -20, 20)
    scale, zero = parameters((5,), "float32", "uint8")
    to = element_type(np.dtype(np.uint8))
    check(lambda x, s, z: ge.Quantize(x, s, z, to), x, scale, zero, layouts=["NHWC"])


def test_dequantise_operator_quantise_is_one_kernel() -> None:
    scale, zero = parameters((), "float32", "uint8")
    to = element_type(np.dtype(np.uint8))

    def build(x: SSAValue, s: SSAValue, z: SSAValue) -> list[Operation]:
        real = ge.Dequantize(x, s, z, Float32Type())
        curve = ge.HardSwish(real)
        return [real, curve, ge.Quantize(curve, s, z, to)]

    lowered = check(build, random((7, 9), "uint8", 1, 0, 255), scale, zero, passes=["fused-fuse-pointwise"])
    assert labels(lowered) == ["DequantizeHardSwishQuantize"]


def test_quantise_joins_the_epilogue_of_a_product() -> None:
    scale, zero = parameters((6,), "float32", "int8")
    to = element_type(np.dtype(np.int8))

    def build(a: SSAValue, b: SSAValue, s: SSAValue, z: SSAValue) -> list[Operation]:
        product = ge.MatMulV2(a, b)
        return [product, ge.Quantize(product, s, z, to)]

    inputs = [random((5, 8), seed=1), random((8, 6), seed=2)]
    lowered = check(build, *inputs, scale, zero, passes=["fused-fuse-epilogues"])
    assert labels(lowered) == ["MatMulV2Quantize"]


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_products_of_narrow_integers(dtype: str) -> None:
    """Summed in i32, where those of the operands' own type would wrap."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(3)
    a, b = (rng.integers(info.min, info.max + 1, shape).astype(dtype) for shape in ((5, 9), (9, 4)))
    bias = rng.integers(-9999, 9999, 4).astype(np.int32)
    check(lambda a, b, c: ge.MatMulV2(a, b, c, sums=IntegerType(32)), a, b, bias)
    (product,) = run_module(module_of(lambda a, b: ge.MatMulV2(a, b, sums=IntegerType(32)), [a, b]), [a, b]).values()
    np.testing.assert_array_equal(product, a.astype(np.int32) @ b.astype(np.int32))
    x, w = (rng.integers(info.min, info.max + 1, s).astype(dtype) for s in ((2, 4, 6, 5), (6, 2, 3, 3)))
    check(lambda x, w: ge.Conv2D(x, w, pads=(1, 1, 1, 1), group=2, sums=IntegerType(32)), x, w)
