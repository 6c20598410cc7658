"""Operators that work element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, f64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.data_types import data_type_of, element_of
from gecc.frontend.onnx.model import NUMPY_DTYPES, type_name
from gecc.frontend.onnx.narrow import NARROW
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.narrow import decoded, encoded
from gecc.frontend.onnx.registry import onnx_op
from gecc.weights import element_type, item_bytes, numpy_dtype

UnaryOp: TypeAlias = Callable[[SSAValue], Operation]
BinaryOp: TypeAlias = Callable[[SSAValue, SSAValue], Operation]

UNARY: dict[str, UnaryOp] = {
    "Relu": ge.Relu,
    "Sigmoid": ge.Sigmoid,
    "Tanh": ge.Tanh,
    "Erf": ge.Erf,
    "Exp": ge.Exp,
    "Log": ge.Log,
    "Sqrt": ge.Sqrt,
    "Reciprocal": ge.Reciprocal,
    "Neg": ge.Neg,
    "Abs": ge.Abs,
    "Floor": ge.Floor,
    "Ceil": ge.Ceil,
    "Round": ge.Round,
    "Sign": ge.Sign,
    "Sin": ge.Sin,
    "Cos": ge.Cos,
    "Tan": ge.Tan,
    "Asin": ge.Asin,
    "Acos": ge.Acos,
    "Atan": ge.Atan,
    "Sinh": ge.Sinh,
    "Cosh": ge.Cosh,
    "Asinh": ge.Asinh,
    "Acosh": ge.Acosh,
    "Atanh": ge.Atanh,
    "Softplus": ge.Softplus,
    "HardSwish": ge.HardSwish,
    "Not": ge.LogicalNot,
    "BitwiseNot": ge.BitwiseNot,
    "IsNaN": ge.IsNan,
}

BINARY: dict[str, BinaryOp] = {
    "Add": ge.Add,
    "Sub": ge.Sub,
    "Mul": ge.Mul,
    "Div": ge.RealDiv,
    "Equal": ge.Equal,
    "Greater": ge.Greater,
    "GreaterOrEqual": ge.GreaterEqual,
    "Less": ge.Less,
    "LessOrEqual": ge.LessEqual,
    "And": ge.LogicalAnd,
    "Or": ge.LogicalOr,
    "Xor": ge.LogicalXor,
    "BitwiseAnd": ge.BitwiseAnd,
    "BitwiseOr": ge.BitwiseOr,
    "BitwiseXor": ge.BitwiseXor,
}

VARIADIC: dict[str, BinaryOp] = {"Sum": ge.Add, "Max": ge.Maximum, "Min": ge.Minimum}


def _register_tables() -> None:
    def unary(op: UnaryOp) -> Callable[[Node], SSAValue]:
        return lambda n: n.add(op(n.input(0)))

    def binary(op: BinaryOp) -> Callable[[Node], SSAValue]:
        return lambda n: n.add(op(n.input(0), n.input(1)))

    def variadic(op: BinaryOp) -> Callable[[Node], SSAValue]:
        return lambda n: reduce(lambda a, b: n.add(op(a, b)), n.given())

    for name, op in UNARY.items():
        onnx_op(name)(unary(op))
    for name, op in BINARY.items():
        onnx_op(name)(binary(op))
    for name, op in VARIADIC.items():
        onnx_op(name)(variadic(op))


_register_tables()


@onnx_op("Identity")
def identity(n: Node) -> SSAValue:
    """The value itself: no operation."""
    return n.input(0)


@onnx_op("Mean")
def mean(n: Node) -> SSAValue:
    """The sum of all inputs, divided by their number."""
    total = reduce(lambda a, b: n.add(ge.Add(a, b)), n.given())
    return n.add(ge.RealDiv(total, n.build.scalar(len(n.inputs), total)))


@onnx_op("Pow")
def power(n: Node) -> SSAValue:
    """The result has the base's type; an exponent of another type is converted, or the base is for a while."""
    base, exponent = n.input(0), n.input(1)
    kind = element(base)
    if not isinstance(kind, AnyFloat) and isinstance(element(exponent), AnyFloat):
        wide = n.add(ge.Pow(n.build.cast(base, f64), n.build.cast(exponent, f64)))
        return n.build.cast(wide, kind)
    return n.add(ge.Pow(base, n.build.cast(exponent, kind)))


@onnx_op("Mod", since=10)
def mod(n: Node) -> SSAValue:
    """`fmod` 1 takes the sign of the dividend; 0 that of the divisor (for floats from opset 28 on)."""
    x, y = n.input(0), n.input(1)
    if n.attr_int("fmod", 0):
        return n.add(ge.Mod(x, y, fmod=True))
    if not isinstance(element(x), AnyFloat):
        return n.add(ge.Mod(x, y, fmod=False))
    if n.opset < 28:
        n.invalid("Mod of floats needs fmod = 1 before opset 28")
    rest, zero = n.add(ge.Mod(x, y, fmod=True)), n.build.scalar(0, x)
    signs = n.add(ge.LogicalXor(n.add(ge.Less(rest, zero)), n.add(ge.Less(y, zero))))
    wrong = n.add(ge.LogicalAnd(signs, n.add(ge.LogicalNot(n.add(ge.Equal(rest, zero))))))
    return n.add(ge.Select(wrong, n.add(ge.Add(rest, y)), rest))


@onnx_op("BitShift", since=11)
def bit_shift(n: Node) -> SSAValue:
    """x shifted LEFT or RIGHT."""
    direction = n.attr_str("direction")
    if direction not in ("LEFT", "RIGHT"):
        n.invalid(f"direction is '{direction}', expected LEFT or RIGHT")
    return n.add(ge.BitShift(n.input(0), n.input(1), direction=direction))


@onnx_op("Cast")
def cast(n: Node) -> SSAValue:
    """Conversion to the element type `to`."""
    return converted(n, n.attr_int("to"))


@onnx_op("BitCast", since=26)
def bit_cast(n: Node) -> SSAValue:
    """The bits as the element type `to`, which is as wide."""
    x, data_type = n.input(0), n.attr_int("to")
    widths = [NARROW[k].bits if k in NARROW else 0 for k in (n.build.narrow.get(x, 0), data_type)]
    if any(widths):
        return _narrow_bits(n, x, data_type, widths)
    to = cast_target(n, data_type)
    if item_bytes(element(x)) != item_bytes(to):
        n.invalid(f"{to} is not as wide as {element(x)}")
    return n.add(ge.BitCast(x, to))


@onnx_op("CastLike", since=15)
def cast_like(n: Node) -> SSAValue:
    """Conversion to the element type of the second input."""
    return converted(n, data_type_of(n.build, n.input(1)))


def converted(n: Node, data_type: int) -> SSAValue:
    """Input 0 converted to ONNX's element type of a number."""
    x = n.input(0)
    if data_type in NARROW:
        saturate = bool(n.attr_int("saturate", 1))
        return encoded(n, x, data_type, saturate=saturate, round_mode=n.attr_str("round_mode", "up"))
    to = cast_target(n, data_type)
    return decoded(n, x, to) if x in n.build.narrow else n.build.cast(x, to)


def _narrow_bits(n: Node, x: SSAValue, data_type: int, widths: Sequence[int]) -> SSAValue:
    """The bits of x as another type of that width, one of them narrow."""
    to = element_of(data_type)
    if to is None:
        n.refuse(f"element type {type_name(data_type)} is not supported")
    found, wanted = widths[0] or 8 * item_bytes(element(x)), widths[1] or 8 * item_bytes(to)
    if found != wanted:
        n.invalid(f"{type_name(data_type)} has {wanted} bits, input 0 has {found}")
    x = n.add(ge.BitCast(x, to)) if element(x) != to else n.add(ge.Identity(x))
    return n.build.mark(x, data_type) if data_type in NARROW else x


def cast_target(n: Node, data_type: int) -> Attribute:
    """The element type of an ONNX type number; refused when gecc does not know it."""
    if data_type not in NUMPY_DTYPES:
        n.refuse(f"element type {type_name(data_type)} is not supported")
    return element_type(NUMPY_DTYPES[data_type])


@onnx_op("Where", since=9)
def where(n: Node) -> SSAValue:
    """The second input where the first holds, else the third."""
    return n.add(ge.Select(n.input(0), n.input(1), n.input(2)))


@onnx_op("PRelu")
def prelu(n: Node) -> SSAValue:
    """x, or slope times x below zero; the slope broadcasts to x, but below opset 7 it is one per channel."""
    x, slope = n.input(0), n.input(1)
    if n.model.written_as < 7 and rank(slope) == 1 and shape(slope) != (1,):
        slope = n.build.unsqueeze(slope, list(range(1, rank(x) - 1)))
    return n.add(ge.PRelu(x, slope))


@onnx_op("LeakyRelu")
def leaky_relu(n: Node) -> SSAValue:
    """x, or alpha x below zero."""
    return n.add(ge.LeakyRelu(n.input(0), alpha=n.attr_float("alpha", 0.01)))


@onnx_op("Elu")
def elu(n: Node) -> SSAValue:
    """x, or alpha (e^x - 1) below zero."""
    return n.add(ge.Elu(n.input(0), alpha=n.attr_float("alpha", 1.0)))


@onnx_op("Selu")
def selu(n: Node) -> SSAValue:
    """gamma elu(x)."""
    x = n.input(0)
    inner = n.add(ge.Elu(x, alpha=n.attr_float("alpha", 1.6732632423543772)))
    return n.add(ge.Mul(inner, n.build.scalar(n.attr_float("gamma", 1.0507009873554805), x)))


@onnx_op("Celu", since=12)
def celu(n: Node) -> SSAValue:
    """alpha elu(x / alpha)."""
    x = n.input(0)
    alpha = n.build.scalar(n.attr_float("alpha", 1.0), x)
    return n.add(ge.Mul(n.add(ge.Elu(n.add(ge.RealDiv(x, alpha)), alpha=1.0)), alpha))


@onnx_op("HardSigmoid")
def hard_sigmoid(n: Node) -> SSAValue:
    """max(0, min(1, alpha x + beta))."""
    alpha, beta = n.attr_float("alpha", 0.2), n.attr_float("beta", 0.5)
    return n.add(ge.HardSigmoid(n.input(0), alpha=alpha, beta=beta))


@onnx_op("Gelu", since=20)
def gelu(n: Node) -> SSAValue:
    """x times the normal distribution at x, by erf or by tanh."""
    return n.add(ge.Gelu(n.input(0), approximate=n.attr_str("approximate", "none")))


@onnx_op("Swish", since=24)
def swish(n: Node) -> SSAValue:
    """x sigmoid(alpha x)."""
    x, alpha = n.input(0), n.attr_float("alpha", 1.0)
    if alpha == 1.0:
        return n.add(ge.Silu(x))
    return n.add(ge.Mul(x, n.add(ge.Sigmoid(n.add(ge.Mul(x, n.build.scalar(alpha, x)))))))


@onnx_op("Mish", since=18)
def mish(n: Node) -> SSAValue:
    """x tanh(softplus(x))."""
    x = n.input(0)
    return n.add(ge.Mul(x, n.add(ge.Tanh(n.add(ge.Softplus(x))))))


@onnx_op("Softsign")
def softsign(n: Node) -> SSAValue:
    """x / (1 + |x|)."""
    x = n.input(0)
    return n.add(ge.RealDiv(x, n.add(ge.Add(n.add(ge.Abs(x)), n.build.scalar(1, x)))))


@onnx_op("ThresholdedRelu", since=10)
def thresholded_relu(n: Node) -> SSAValue:
    """x where it exceeds alpha, else 0."""
    x = n.input(0)
    above = n.add(ge.Greater(x, n.build.scalar(n.attr_float("alpha", 1.0), x)))
    return n.add(ge.Select(above, x, n.build.scalar(0, x)))


@onnx_op("Shrink", since=9)
def shrink(n: Node) -> SSAValue:
    """x + bias below -lambd, x - bias above lambd, 0 between; both numbers in the type of x."""
    x, bias, limit = n.input(0), n.attr_float("bias", 0.0), n.attr_float("lambd", 0.5)
    above = n.add(ge.Greater(x, n.build.scalar(limit, x)))
    high = n.add(ge.Select(above, n.add(ge.Sub(x, n.build.scalar(bias, x))), n.build.scalar(0, x)))
    if ge.numpy_dtype(element(x)).kind == "u":  # nothing is below
        return high
    below = n.add(ge.Less(x, n.build.scalar(-limit, x)))
    return n.add(ge.Select(below, n.add(ge.Add(x, n.build.scalar(bias, x))), high))


@onnx_op("IsInf", since=10)
def is_inf(n: Node) -> SSAValue:
    """Whether x is infinite; either sign can be left out."""
    x = n.input(0)
    positive, negative = bool(n.attr_int("detect_positive", 1)), bool(n.attr_int("detect_negative", 1))
    infinity = n.build.scalar(np.inf if positive else -np.inf, x)
    if positive and negative:
        return n.add(ge.Equal(n.add(ge.Abs(x)), infinity))
    if positive or negative:
        return n.add(ge.Equal(x, infinity))
    return n.add(ge.LogicalAnd(never := n.add(ge.IsNan(x)), n.add(ge.LogicalNot(never))))


@onnx_op("Clip", since=1)
def clip_by_attributes(n: Node) -> SSAValue:
    """Bounds are attributes."""
    x = n.input(0)
    lower, upper = (n.build.scalar(n.attr_float(a), x) if n.has_attr(a) else None for a in ("min", "max"))
    return _clip(n, lower, upper)


@onnx_op("Clip", since=11)
def clip(n: Node) -> SSAValue:
    """Bounds are optional inputs of one element."""
    return _clip(n, _bound(n, 1), _bound(n, 2))


def _bound(n: Node, i: int) -> SSAValue | None:
    bound = n.optional(i)
    if bound is None:
        return None
    if rank(bound) and set(shape(bound)) - {1, -1}:
        n.invalid(f"bound (input {i}) must have one element")
    return n.build.reshape(bound, ())


def _clip(n: Node, lower: SSAValue | None, upper: SSAValue | None) -> SSAValue:
    x = n.input(0)
    if lower is not None and upper is not None:
        return n.add(ge.ClipByValue(x, lower, upper))
    if lower is not None:
        return n.add(ge.Maximum(x, lower))
    if upper is not None:
        return n.add(ge.Minimum(x, upper))
    return x


def lowest(kind: Attribute) -> float | int:
    """The smallest value of an element type (minus infinity for floats)."""
    if isinstance(kind, IntegerType):
        info = np.iinfo(numpy_dtype(kind))
        return 0 if kind.signedness.data == Signedness.UNSIGNED else int(info.min)
    return -np.inf
