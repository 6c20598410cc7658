"""Quantisation and the integer products of the standard.

Integer products are products of i16, summed in i32, with zero points subtracted before. What follows them is floating point until a
`ge.Quantize`, in the order in which ONNX Runtime rounds, so that results agree to the bit but for ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, f64, i16, i32
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.model import type_name
from gecc.frontend.onnx.narrow import NARROW
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.conv import convolve
from gecc.frontend.onnx.ops.narrow import decode, encoded
from gecc.frontend.onnx.ops.pointwise import cast_target
from gecc.frontend.onnx.registry import onnx_op
from gecc.weights import element_type

UI8, I8 = element_type(np.dtype(np.uint8)), element_type(np.dtype(np.int8))


# -- quantise, dequantise ----------------------------------------------------------------------------------------------


def parameter(n: Node, value: SSAValue) -> SSAValue:
    """A scale or zero point; one of a single element has rank 0."""
    return n.build.reshape(value, ()) if shape(value) == (1,) else value


def quantize(
    n: Node,
    x: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | None,
    to: Attribute,
    *,
    axis: int = 1,
    block_size: int = 0,
) -> SSAValue:
    """x, divided by `scale` in the element type of `scale`, as integers of type `to`."""
    x = n.build.cast(x, element(scale))
    zero = None if zero_point is None else parameter(n, zero_point)
    return n.add(ge.Quantize(x, parameter(n, scale), zero, to, axis=axis, block_size=block_size))


def dequantize(
    n: Node,
    x: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | None,
    to: Attribute | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
) -> SSAValue:
    """The real numbers that x stands for, in the type of `scale` or `to`."""
    zero = None if zero_point is None else parameter(n, zero_point)
    kind = to or element(scale)
    return n.add(ge.Dequantize(x, parameter(n, scale), zero, kind, axis=axis, block_size=block_size))


def _scale(n: Node) -> SSAValue:
    """The scale, of a power of two (FLOAT8E8M0) as f32."""
    scale = n.input(1)
    return decode(n, scale, NARROW[n.build.narrow[scale]]) if scale in n.build.narrow else scale


def _axis_and_block(n: Node) -> tuple[int, int]:
    """The axis of scales (0 when there is one scale alone), and the size of blocks, 0 for none."""
    x, scale = n.input(0), n.input(1)
    block = n.attr_int("block_size", 0)
    if block < 0:
        n.invalid(f"block_size is {block}, expected at least 0")
    if rank(scale) == 0 or (shape(scale) == (1,) and not block):
        return 0, 0
    return n.axis(n.attr_int("axis", 1), rank(x)), block


def _typed(n: Node, attribute: str, default: Attribute) -> Attribute:
    """The element type an attribute names; `default` when it is 0 or absent."""
    number = n.attr_int(attribute, 0)
    return cast_target(n, number) if number else default


def _quantize_linear(n: Node) -> SSAValue:
    """round(x / scale) + zero point, saturated; the quotient is rounded to `precision`, else to the scale's type, or
    to f32 for a scale of i32."""
    x, scale, zero_point = n.input(0), _scale(n), n.optional(2)
    scale = n.build.cast(scale, f32) if element(scale) == i32 else scale
    axis, block = _axis_and_block(n)
    data_type = n.attr_int("output_dtype", 0)
    if zero_point is not None and zero_point in n.build.narrow:
        if data_type not in (0, n.build.narrow[zero_point]):
            n.invalid(f"output_dtype is {type_name(data_type)}, which is not the zero point's type")
        data_type = n.build.narrow[zero_point]
    if data_type in NARROW:
        scale = n.build.cast(scale, _typed(n, "precision", element(scale)))
        return _quantize_narrow(n, x, scale, zero_point, data_type, axis, block)
    to = element(zero_point) if zero_point is not None else _typed(n, "output_dtype", UI8)
    if n.attr_int("output_dtype", 0) and _typed(n, "output_dtype", to) != to:
        n.invalid(f"output_dtype is {_typed(n, 'output_dtype', to)}, but the zero point is {to}")
    scale = n.build.cast(scale, _typed(n, "precision", element(scale)))
    if _is_softmax_of_bytes(x, scale, to):
        return quantize_softmax(n, x, parameter(n, scale), zero_point, to)
    return quantize(n, x, scale, zero_point, to, axis=axis, block_size=block)


def _is_softmax_of_bytes(x: SSAValue, scale: SSAValue, to: Attribute) -> bool:
    """Whether x is the f32 Softmax of dequantised bytes of type `to`, all quantised per tensor."""
    softmax = x.owner
    real = softmax.operands[0].owner if isinstance(softmax, ge.Softmax) else None
    if not isinstance(real, ge.Dequantize) or to not in (UI8, I8) or element(real.x) != to:
        return False
    return element(x) == element(scale) == f32 and all(shape(s) in ((), (1,)) for s in (scale, real.scale))


def quantize_softmax(n: Node, y: SSAValue, scale: SSAValue, zero_point: SSAValue | None, to: Attribute) -> SSAValue:
    """A Softmax y, quantised as ONNX Runtime's Softmax on bytes does, which models with bytes at both ends were measured
    with: it multiplies by the whole part of 1 / scale instead of dividing by the scale. For 1 / 255 that is 254, as the
    f32 is a little larger than the fraction, so results are up to one step below those of the standard."""
    factor = n.add(ge.Floor(n.add(ge.Reciprocal(scale))))
    one = n.build.const(np.array(1, np.float32))
    return quantize(n, n.add(ge.Mul(y, factor)), one, zero_point, to)


def _dequantize_linear(n: Node) -> SSAValue:
    """(x - zero point) * scale."""
    axis, block = _axis_and_block(n)
    scale = _scale(n)
    to = _typed(n, "output_dtype", element(scale))
    if n.input(0) in n.build.narrow:
        return _dequantize_narrow(n, scale, to, axis, block)
    return dequantize(n, n.input(0), scale, n.optional(2), to, axis=axis, block_size=block)


def _quantize_narrow(
    n: Node, x: SSAValue, scale: SSAValue, zero_point: SSAValue | None, data_type: int, axis: int, block: int
) -> SSAValue:
    """Quantised to a type below a byte, as to bytes and then clamped; or to a float, by its own rounding."""
    kind = NARROW[data_type]
    zero = None if zero_point is None else decode(n, zero_point, kind)
    if kind.is_float:
        y = n.add(ge.RealDiv(n.build.cast(x, element(scale)), spread(n, scale, x, axis, block)))
        if zero is not None and not _is_zero(n, zero_point):
            y = n.add(ge.Add(y, n.build.cast(spread(n, zero, x, axis, block), element(y))))
        return encoded(n, y, data_type, saturate=bool(n.attr_int("saturate", 1)))
    y = quantize(n, x, scale, zero, I8 if kind.is_signed else UI8, axis=axis, block_size=block)
    least, most = kind.range
    y = n.add(ge.ClipByValue(y, n.build.scalar(least, y), n.build.scalar(most, y)))
    return encoded(n, y, data_type)


def _dequantize_narrow(n: Node, scale: SSAValue, to: Attribute, axis: int, block: int) -> SSAValue:
    """The real numbers that narrow ones stand for."""
    x, zero_point = n.input(0), n.optional(2)
    kind = NARROW[n.build.narrow[x]]
    zero = None if zero_point is None else decode(n, zero_point, kind)
    if not kind.is_float:
        return dequantize(n, decode(n, x, kind), scale, zero, to, axis=axis, block_size=block)
    y = decode(n, x, kind)
    if zero is not None and not _is_zero(n, zero_point):
        y = n.add(ge.Sub(y, spread(n, zero, x, axis, block)))
    work = f64 if f64 in (to, element(scale)) else f32
    y = n.add(ge.Mul(n.build.cast(y, work), n.build.cast(spread(n, scale, x, axis, block), work)))
    return n.build.cast(y, to)


def _is_zero(n: Node, value: SSAValue | None) -> bool:
    """Whether the bits of a narrow value are known to be zeros."""
    bits = None if value is None else n.build.constant(value)
    return bits is not None and not bits.any()


def spread(n: Node, value: SSAValue, x: SSAValue, axis: int, block: int) -> SSAValue:
    """A scale or zero point so that it broadcasts against x."""
    value = parameter(n, value) if not block else value
    if not rank(value):
        return value
    if not block:
        return n.build.unsqueeze(value, list(range(1, rank(x) - axis)))
    if shape(x)[axis] == -1:
        n.refuse("blocks of a dimension of unknown size are not supported", hint="give input shapes")
    places = np.arange(shape(x)[axis], dtype=np.int64) // block
    return n.add(ge.Gather(value, n.build.const(places), axis=axis))


for _domain, _since in (("", 10), ("com.microsoft", 1)):
    onnx_op("QuantizeLinear", since=_since, domain=_domain)(_quantize_linear)
    onnx_op("DequantizeLinear", since=_since, domain=_domain)(_dequantize_linear)


def dynamically(n: Node, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """x as ui8 with the scale that its range, widened to hold 0, asks for; that scale (1 for an empty range), and the
    zero point."""
    zero = n.build.scalar(0, x)
    every = list(range(rank(x)))
    low = n.add(ge.Minimum(n.add(ge.ReduceMin(x, every, keep_dims=False)), zero))
    high = n.add(ge.Maximum(n.add(ge.ReduceMax(x, every, keep_dims=False)), zero))
    spread = n.add(ge.RealDiv(n.add(ge.Sub(high, low)), n.build.scalar(255, x)))
    scale = n.add(ge.Select(n.add(ge.Equal(low, high)), n.build.scalar(1, x), spread))
    zero_point = n.add(ge.Quantize(n.add(ge.Neg(low)), scale, None, UI8))
    return quantize(n, x, scale, zero_point, UI8), scale, zero_point


@onnx_op("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(n: Node) -> Sequence[SSAValue]:
    """ui8 values, their scale and their zero point."""
    return dynamically(n, n.input(0))


# -- integer products --------------------------------------------------------------------------------------------------


def centred(n: Node, x: SSAValue, zero_point: SSAValue | None) -> SSAValue:
    """x - zero point, of bytes in i16, which holds every difference; the zero point broadcasts against x."""
    kind = element(x)
    to = i16 if kind in (UI8, I8) else i32
    wide = n.build.cast(x, to)
    if zero_point is None:
        return wide
    if shape(zero_point) == (1,):
        zero_point = n.build.reshape(zero_point, ())
    value = n.build.constant(zero_point)
    if value is not None and not value.any():
        return wide
    return n.add(ge.Sub(wide, n.build.cast(zero_point, to)))


def per_row(n: Node, value: SSAValue | None, side: SSAValue) -> SSAValue | None:
    """A parameter of the left side: a vector has one element for each row, unless `side` has no rows."""
    if value is None or rank(value) != 1 or shape(value) == (1,) or rank(side) < 2:
        return value
    return n.build.unsqueeze(value, [1])


def integer_matmul(
    n: Node,
    a: SSAValue,
    b: SSAValue,
    a_zero: SSAValue | None,
    b_zero: SSAValue | None,
    bias: SSAValue | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> SSAValue:
    """The product of a and b in i32; a side of one dimension is a row or a column, as in MatMul."""
    row, column = rank(a) == 1, rank(b) == 1
    if not rank(a) or not rank(b):
        n.invalid("operands must have at least one dimension")
    a = centred(n, a, per_row(n, a_zero, a))
    b = centred(n, b, b_zero)
    a = n.build.unsqueeze(a, [0]) if row else a
    b = n.build.unsqueeze(b, [1]) if column else b
    y = n.add(ge.MatMulV2(a, b, bias, transpose_x1=transpose_a, transpose_x2=transpose_b, sums=i32))
    gone = [rank(y) - 2] * row + [rank(y) - 1] * column
    return n.build.squeeze(y, gone) if gone else y


def per_channel(n: Node, value: SSAValue | None, dims: int) -> SSAValue | None:
    """A parameter of output channels, so that it broadcasts over `dims` dimensions that follow the channel."""
    if value is None or rank(value) == 0:
        return value
    if shape(value) == (1,):
        return n.build.reshape(value, ())
    return n.build.unsqueeze(value, list(range(1, dims + 1)))


@onnx_op("MatMulInteger", since=10)
def matmul_integer(n: Node) -> SSAValue:
    """The product of (A - its zero point) and (B - its zero point)."""
    return integer_matmul(n, n.input(0), n.input(1), n.optional(2), n.optional(3))


@onnx_op("ConvInteger", since=10)
def conv_integer(n: Node) -> SSAValue:
    """The convolution of (x - its zero point) with (w - its zero point); padding is that zero point."""
    x, w = n.input(0), n.input(1)
    w_zero = per_channel(n, n.optional(3), rank(w) - 1)
    return convolve(n, centred(n, x, n.optional(2)), centred(n, w, w_zero), None, sums=i32)


def requantize(
    n: Node,
    sums: SSAValue,
    factors: Sequence[SSAValue],
    y_scale: SSAValue,
    y_zero: SSAValue | None,
    to: Attribute,
) -> SSAValue:
    """round(sums * (product of factors / y_scale)) + y_zero, saturated; factors broadcast against the sums."""
    ratio = factors[0]
    for factor in factors[1:]:
        ratio = n.add(ge.Mul(ratio, factor))
    ratio = n.add(ge.RealDiv(ratio, y_scale))
    scaled = n.add(ge.Mul(n.build.cast(sums, f32), n.build.cast(ratio, f32)))
    return quantize(n, scaled, n.build.const(np.array(1, np.float32)), y_zero, to)


def scalar(n: Node, value: SSAValue, what: str) -> SSAValue:
    """A parameter that is one number."""
    if rank(value) and set(shape(value)) - {1, -1}:
        n.invalid(f"{what} has shape {list(shape(value))}, expected one element")
    return n.build.reshape(value, ())


@onnx_op("QLinearMatMul", since=10)
def qlinear_matmul(n: Node) -> SSAValue:
    """The product of what a and b stand for, quantised."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (n.input(i) for i in range(8))
    y_scale, y_zero = per_row(n, y_scale, a), parameter(n, y_zero)
    if rank(y_zero) > 1:
        n.refuse(f"a zero point of the result of rank {rank(y_zero)} is not supported, expected at most 1")
    assert y_scale is not None
    sums = integer_matmul(n, a, b, a_zero, b_zero)
    factors = [f for f in (per_row(n, a_scale, a), b_scale) if f is not None]
    factors = [parameter(n, f) for f in factors]
    kind = element(n.input(7))
    if rank(y_zero) == 0:
        return requantize(n, sums, factors, parameter(n, y_scale), y_zero, kind)
    ratio = n.add(ge.RealDiv(n.add(ge.Mul(factors[0], factors[1])), y_scale))
    scaled = n.add(ge.Mul(n.build.cast(sums, f32), n.build.cast(ratio, f32)))
    ones = n.build.const(np.ones(shape(y_zero), np.float32))
    return n.add(ge.Quantize(scaled, ones, y_zero, kind, axis=rank(sums) - 2))


def qlinear_conv(n: Node) -> SSAValue:
    """The convolution of what x and w stand for, quantised; the bias is i32 in units of x_scale * w_scale."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (n.input(i) for i in range(8))
    bias = n.optional(8)
    if bias is not None and element(bias) != i32:
        n.invalid(f"the bias is {element(bias)}, expected i32")
    outer = rank(w) - 1
    centred_w = centred(n, w, per_channel(n, w_zero, outer))
    sums = convolve(n, centred(n, x, scalar(n, x_zero, "x_zero_point")), centred_w, bias, sums=i32)
    factor = per_channel(n, w_scale, outer - 1)
    assert factor is not None
    factors = [scalar(n, x_scale, "x_scale"), factor]
    return requantize(
        n, sums, factors, scalar(n, y_scale, "y_scale"), scalar(n, y_zero, "y_zero_point"), element(y_zero)
    )


onnx_op("QLinearConv", since=10)(qlinear_conv)
