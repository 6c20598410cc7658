"""Quantised operators of the domain com.microsoft, which ONNX Runtime's quantiser writes.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. All are composed: dequantise,
the operator in f32, quantise; products sum integers. QLinearAdd and QLinearMul round after the zero point is added,
as ONNX Runtime's kernels do (onnxruntime/core/mlas/lib/qladd.cpp, qlmul.cpp).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.pool import average
from gecc.frontend.onnx.ops.quant import (
    UI8,
    centred,
    dequantize,
    dynamically,
    integer_matmul,
    parameter,
    per_row,
    qlinear_conv,
    quantize,
    quantize_softmax,
    requantize,
    scalar,
)
from gecc.frontend.onnx.registry import onnx_op

DOMAIN = "com.microsoft"

Real: TypeAlias = Callable[[Node, SSAValue], SSAValue]
"""What an operator does to real numbers."""

onnx_op("QLinearConv", domain=DOMAIN)(qlinear_conv)


def _one(n: Node, i: int) -> SSAValue:
    """Input `i`, which is one number."""
    return scalar(n, n.input(i), f"input {i}")


def _maybe(n: Node, i: int) -> SSAValue | None:
    """Input `i`, which is one number when given."""
    return _one(n, i) if n.has(i) else None


# -- products ----------------------------------------------------------------------------------------------------------


def _to_float(n: Node, sums: SSAValue, a_scale: SSAValue, b_scale: SSAValue, bias: SSAValue | None) -> SSAValue:
    """Sums of integers times both scales, plus bias."""
    factor = n.add(ge.Mul(parameter(n, a_scale), parameter(n, b_scale)))
    y = n.add(ge.Mul(n.build.cast(sums, element(factor)), factor))
    return y if bias is None else n.add(ge.Add(y, bias))


@onnx_op("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(n: Node) -> SSAValue:
    """Inputs: A, B, a_scale, b_scale, a_zero_point?, b_zero_point?, bias?."""
    a = n.input(0)
    sums = integer_matmul(n, a, n.input(1), n.optional(4), n.optional(5))
    a_scale = per_row(n, n.input(2), a)
    assert a_scale is not None
    return _to_float(n, sums, a_scale, n.input(3), n.optional(6))


@onnx_op("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(n: Node) -> SSAValue:
    """Inputs: A (real), B, b_scale, b_zero_point?, bias?. A is quantised by its range."""
    a, scale, zero_point = dynamically(n, n.input(0))
    sums = integer_matmul(n, a, n.input(1), zero_point, n.optional(3))
    return _to_float(n, sums, scale, n.input(2), n.optional(4))


@onnx_op("QGemm", domain=DOMAIN)
def qgemm(n: Node) -> SSAValue:
    """Inputs: A, a_scale, a_zero, B, b_scale, b_zero, C? (i32, in units of alpha * a_scale * b_scale), y_scale?,
    y_zero?. Without y_scale the result is real."""
    a, b, c = n.input(0), n.input(3), n.optional(6)
    for i, value in ((0, a), (3, b)):
        if rank(value) != 2:
            n.invalid(f"input {i} has rank {rank(value)}, expected a matrix")
    transpose_a, transpose_b = bool(n.attr_int("transA", 0)), bool(n.attr_int("transB", 0))
    b_zero = n.input(5)
    if transpose_b and rank(b_zero) == 1 and shape(b_zero) != (1,):
        b_zero = n.build.unsqueeze(b_zero, [1])
    wide_a, wide_b = centred(n, a, _one(n, 2)), centred(n, b, b_zero)
    sums = n.add(ge.MatMulV2(wide_a, wide_b, transpose_x1=transpose_a, transpose_x2=transpose_b, sums=i32))
    if c is not None:
        sums = n.add(ge.Add(sums, n.build.cast(c, i32)))
    factors = [_one(n, 1), parameter(n, n.input(4))]
    alpha = n.attr_float("alpha", 1.0)
    if alpha != 1:
        factors.insert(0, n.build.scalar(alpha, factors[0]))
    if n.has(7):
        kind = element(n.input(8)) if n.has(8) else UI8
        return requantize(n, sums, factors, _one(n, 7), _maybe(n, 8), kind)
    y = n.build.cast(sums, f32)
    ratio = factors[0]
    for factor in factors[1:]:
        ratio = n.add(ge.Mul(ratio, factor))
    return n.add(ge.Mul(y, ratio))


# -- element by element ------------------------------------------------------------------------------------------------


def _zero(n: Node, i: int) -> SSAValue:
    """Zero point `i` as f32, 0 when it is not given."""
    zero = _maybe(n, i)
    return n.build.const(np.array(0, np.float32)) if zero is None else n.build.cast(zero, f32)


def _rounded(n: Node, y: SSAValue) -> SSAValue:
    """y, a number in units of the result with its zero point added, rounded to the element type of input 0."""
    return quantize(n, y, n.build.const(np.array(1, np.float32)), None, element(n.input(0)))


@onnx_op("QLinearAdd", domain=DOMAIN)
def qlinear_add(n: Node) -> SSAValue:
    """Inputs: A, a_scale, a_zero?, B, b_scale, b_zero?, c_scale, c_zero?. All zero points are in one number."""
    a_ratio, b_ratio = (n.add(ge.RealDiv(_one(n, i), _one(n, 6))) for i in (1, 4))
    moved = n.add(ge.Add(n.add(ge.Mul(a_ratio, _zero(n, 2))), n.add(ge.Mul(b_ratio, _zero(n, 5)))))
    fixed = n.add(ge.Sub(_zero(n, 7), moved))
    a, b = n.build.cast(n.input(0), f32), n.build.cast(n.input(3), f32)
    y = n.add(ge.Add(n.add(ge.Mul(b, b_ratio)), fixed))
    return _rounded(n, n.add(ge.Add(n.add(ge.Mul(a, a_ratio)), y)))


@onnx_op("QLinearMul", domain=DOMAIN)
def qlinear_mul(n: Node) -> SSAValue:
    """Inputs: A, a_scale, a_zero?, B, b_scale, b_zero?, c_scale, c_zero?. The product of integers is exact."""
    a, b = (n.build.cast(centred(n, n.input(i), _maybe(n, i + 2)), f32) for i in (0, 3))
    ratio = n.add(ge.RealDiv(n.add(ge.Mul(_one(n, 1), _one(n, 4))), _one(n, 6)))
    scaled = n.add(ge.Mul(n.add(ge.Mul(a, b)), ratio))
    return _rounded(n, n.add(ge.Add(scaled, _zero(n, 7))))


def _unary(real: Real) -> Callable[[Node], SSAValue]:
    """Inputs: X, x_scale, x_zero?, y_scale, y_zero?."""

    def build(n: Node) -> SSAValue:
        y = real(n, dequantize(n, n.input(0), _one(n, 1), _maybe(n, 2)))
        return quantize(n, y, _one(n, 3), _maybe(n, 4), element(n.input(0)))

    return build


def _softmax(n: Node, x: SSAValue) -> SSAValue:
    """Below opset 13 (attribute `opset`), all dimensions from `axis` on are one row."""
    if n.attr_int("opset") >= 13:
        return n.add(ge.Softmax(x, axis=n.axis(n.attr_int("axis", -1), rank(x))))
    axis = n.axis(n.attr_int("axis", -1), rank(x), upto=rank(x))
    if axis == rank(x) - 1:
        return n.add(ge.Softmax(x, axis=axis))
    return n.build.reshape_like(n.add(ge.Softmax(n.build.flatten(x, axis, rank(x)), axis=axis)), x)


onnx_op("QLinearSigmoid", domain=DOMAIN)(_unary(lambda n, x: n.add(ge.Sigmoid(x))))
onnx_op("QLinearLeakyRelu", domain=DOMAIN)(
    _unary(lambda n, x: n.add(ge.LeakyRelu(x, alpha=n.attr_float("alpha", 0.01))))
)


@onnx_op("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(n: Node) -> SSAValue:
    """Inputs: X, x_scale, x_zero?, y_scale, y_zero."""
    y = _softmax(n, dequantize(n, n.input(0), _one(n, 1), _maybe(n, 2)))
    return quantize_softmax(n, y, _one(n, 3), _maybe(n, 4), element(n.input(0)))


@onnx_op("QLinearGlobalAveragePool", domain=DOMAIN)
def qlinear_global_average_pool(n: Node) -> SSAValue:
    """Inputs: X, x_scale, x_zero, y_scale, y_zero. The sum is exact; the mean is in its factor."""
    x = n.input(0)
    spatial = list(range(1, rank(x) - 1)) if n.attr_int("channels_last", 0) else list(range(2, rank(x)))
    if not spatial:
        n.invalid(f"input 0 has rank {rank(x)}, expected 3 or more")
    if -1 in [shape(x)[i] for i in spatial]:
        real = dequantize(n, x, _one(n, 1), _maybe(n, 2))
        mean = n.add(ge.ReduceMean(real, spatial, keep_dims=True))
        return quantize(n, mean, _one(n, 3), _maybe(n, 4), element(x))
    count = 1
    for i in spatial:
        count *= shape(x)[i]
    sums = n.add(ge.ReduceSum(n.build.cast(centred(n, x, _maybe(n, 2)), i32), spatial, keep_dims=True))
    y_scale = _one(n, 3)
    divisor = n.add(ge.Mul(y_scale, n.build.scalar(count, y_scale)))
    return requantize(n, sums, [_one(n, 1)], divisor, _maybe(n, 4), element(x))


@onnx_op("QLinearConcat", domain=DOMAIN)
def qlinear_concat(n: Node) -> SSAValue:
    """Inputs: y_scale, y_zero, then X, x_scale, x_zero for each part. Each part is brought to the result's scale."""
    if len(n.inputs) < 5 or len(n.inputs) % 3 != 2:
        n.invalid(
            f"has {len(n.inputs)} inputs, expected y_scale, y_zero_point and triples of tensor, scale, zero point"
        )
    y_scale, y_zero = _one(n, 0), _one(n, 1)
    parts: list[SSAValue] = []
    for i in range(2, len(n.inputs), 3):
        x = n.input(i)
        if n.input(i + 1) is not n.input(0) or n.input(i + 2) is not n.input(1):
            real = dequantize(n, x, _one(n, i + 1), _one(n, i + 2))
            x = quantize(n, real, y_scale, y_zero, element(n.input(1)))
        parts.append(x)
    return n.add(ge.Concat(parts, axis=n.axis(n.attr_int("axis"), rank(parts[0]))))


@onnx_op("QLinearWhere", domain=DOMAIN)
def qlinear_where(n: Node) -> SSAValue:
    """Inputs: condition, X, x_scale, x_zero, Y, y_scale, y_zero, z_scale, z_zero. Both sides in units of the result."""
    z_scale, z_zero, kind = _one(n, 7), _one(n, 8), element(n.input(8))
    sides = [
        quantize(n, dequantize(n, n.input(i), _one(n, i + 1), _one(n, i + 2)), z_scale, z_zero, kind) for i in (1, 4)
    ]
    return n.add(ge.Select(n.input(0), *sides))


@onnx_op("QLinearAveragePool", domain=DOMAIN)
def qlinear_average_pool(n: Node) -> SSAValue:
    """Inputs: X, x_scale, x_zero?, y_scale, y_zero?. AveragePool of the numbers that X stands for."""
    last, include_pads = bool(n.attr_int("channels_last", 0)), bool(n.attr_int("count_include_pad", 0))
    x = dequantize(n, n.input(0), _one(n, 1), _maybe(n, 2))
    if last:
        x = n.build.transpose(x, [0, rank(x) - 1, *range(1, rank(x) - 1)])
    y = average(n, x, include_pads=include_pads)
    y = n.build.transpose(y, [0, *range(2, rank(y)), 1]) if last else y
    return quantize(n, y, _one(n, 3), _maybe(n, 4), element(n.input(0)))
