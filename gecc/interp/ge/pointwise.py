"""Pointwise operators. Formulas avoid overflow and cancellation, so that float32 is a fair comparison."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import MEANINGS, Array, Env, wide
from gecc.interp.special import erf, normal_cdf


def _simple(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of the operands alone; 16-bit floats are computed in f32."""
    return lambda env, op, *xs: function(*(wide(x) for x in xs))


def _with_op(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of the operation and its operands."""
    return lambda env, op, *xs: function(op, *(wide(x) for x in xs))


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def gelu(op: ge.Gelu, x: Array) -> Array:
    """The Gaussian error linear unit, or its tanh form."""
    if op.approximate.data == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return x * normal_cdf(x).astype(x.dtype)


def hard_sigmoid(op: ge.HardSigmoid, x: Array) -> Array:
    """A straight line clipped to [0, 1]."""
    return np.clip(op.alpha.value.data * x + op.beta.value.data, 0, 1)


def leaky_relu(op: ge.LeakyRelu, x: Array) -> Array:
    """A smaller slope below zero."""
    return np.where(x >= 0, x, op.alpha.value.data * x)


def elu(op: ge.Elu, x: Array) -> Array:
    """An exponential below zero."""
    return np.where(x >= 0, x, op.alpha.value.data * np.expm1(np.minimum(x, 0)))


def divide(a: Array, b: Array) -> Array:
    """a / b; for integers rounded toward zero, and 0 where b is 0."""
    if a.dtype.kind == "f":
        return a / b
    quotient = np.floor_divide(a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0)) & (b != 0)
    return quotient + inexact.astype(a.dtype)


def power(a: Array, b: Array) -> Array:
    """a to the power b; an integer power below zero is rounded toward zero."""
    if a.dtype.kind == "f" or not np.any(b < 0):
        return np.power(a, b)
    whole = np.power(a, np.maximum(b, 0))
    inverse = np.where(np.abs(a) == 1, np.power(a, np.abs(b) % 2), 0)
    return np.where(b < 0, inverse, whole).astype(a.dtype)


def modulo(op: ge.Mod, a: Array, b: Array) -> Array:
    """The remainder with the sign of b, or (fmod) of a."""
    return np.fmod(a, b) if op.fmod.value.data else np.mod(a, b)


def shift(op: ge.BitShift, a: Array, b: Array) -> Array:
    """a shifted by b bits; for b below 0, or the width and more, what a shift of all bits gives."""
    width = 8 * a.dtype.itemsize
    within = (b >= 0) & (b < width)
    if op.direction.data == "RIGHT" and a.dtype.kind == "i":
        return np.right_shift(a, np.where(within, b, width - 1).astype(b.dtype))
    move = np.left_shift if op.direction.data == "LEFT" else np.right_shift
    return np.where(within, move(a, np.where(within, b, 0).astype(b.dtype)), a.dtype.type(0))


def cast(env: Env, op: ge.Cast, x: Array) -> Array:
    """Conversion of element types: floats to integers toward zero, anything to bool as not zero."""
    target = env.dtype(ge.elem(op.result))
    if target == np.bool_:
        return x != 0
    if target.kind in "iu" and x.dtype.kind not in "iub" and target != np.uint64:
        x = wide(x).astype(np.int64)
    return x.astype(target)


def bit_cast(env: Env, op: ge.BitCast, x: Array) -> Array:
    """The same bytes as another type; bool is 0 or 1."""
    target = env.dtype(ge.elem(op.result))
    return x != 0 if target == np.bool_ else np.ascontiguousarray(x).view(target).reshape(x.shape)


MEANINGS.update(
    {
        ge.Relu: _simple(lambda x: np.maximum(x, x.dtype.type(0))),
        ge.Sigmoid: _simple(sigmoid),
        ge.Tanh: _simple(np.tanh),
        ge.Erf: _simple(erf),
        ge.Exp: _simple(np.exp),
        ge.Log: _simple(np.log),
        ge.Sqrt: _simple(np.sqrt),
        ge.Rsqrt: _simple(lambda x: 1 / np.sqrt(x)),
        ge.Reciprocal: _simple(lambda x: 1 / x),
        ge.Neg: _simple(np.negative),
        ge.Abs: _simple(np.abs),
        ge.Floor: _simple(np.floor),
        ge.Ceil: _simple(np.ceil),
        ge.Round: _simple(np.rint),
        ge.Sign: _simple(np.sign),
        ge.Sin: _simple(np.sin),
        ge.Cos: _simple(np.cos),
        ge.Tan: _simple(np.tan),
        ge.Asin: _simple(np.arcsin),
        ge.Acos: _simple(np.arccos),
        ge.Atan: _simple(np.arctan),
        ge.Sinh: _simple(np.sinh),
        ge.Cosh: _simple(np.cosh),
        ge.Asinh: _simple(np.arcsinh),
        ge.Acosh: _simple(np.arccosh),
        ge.Atanh: _simple(np.arctanh),
        ge.Gelu: _with_op(gelu),
        ge.HardSwish: _simple(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
        ge.HardSigmoid: _with_op(hard_sigmoid),
        ge.LeakyRelu: _with_op(leaky_relu),
        ge.Elu: _with_op(elu),
        ge.Softplus: _simple(lambda x: np.logaddexp(x, x.dtype.type(0))),
        ge.Silu: _simple(lambda x: x * sigmoid(x)),
        ge.LogicalNot: _simple(np.logical_not),
        ge.BitCast: bit_cast,
        ge.BitwiseNot: _simple(np.bitwise_not),
        ge.BitwiseAnd: _simple(np.bitwise_and),
        ge.BitwiseOr: _simple(np.bitwise_or),
        ge.BitwiseXor: _simple(np.bitwise_xor),
        ge.BitShift: _with_op(shift),
        ge.IsNan: _simple(np.isnan),
        ge.Identity: lambda env, op, x: x,
        ge.Add: _simple(np.add),
        ge.Sub: _simple(np.subtract),
        ge.Mul: _simple(np.multiply),
        ge.RealDiv: _simple(divide),
        ge.Pow: _simple(power),
        ge.Maximum: _simple(np.maximum),
        ge.Minimum: _simple(np.minimum),
        ge.Mod: _with_op(modulo),
        ge.Equal: _simple(np.equal),
        ge.Greater: _simple(np.greater),
        ge.GreaterEqual: _simple(np.greater_equal),
        ge.Less: _simple(np.less),
        ge.LessEqual: _simple(np.less_equal),
        ge.LogicalAnd: _simple(np.logical_and),
        ge.LogicalOr: _simple(np.logical_or),
        ge.LogicalXor: _simple(np.logical_xor),
        ge.PRelu: _simple(lambda x, slope: np.where(x >= 0, x, x * slope)),
        ge.Select: lambda env, op, cond, x1, x2: np.where(cond, x1, x2),
        ge.ClipByValue: _simple(lambda x, low, high: np.minimum(np.maximum(x, low), high)),
        ge.Cast: cast,
    }
)
