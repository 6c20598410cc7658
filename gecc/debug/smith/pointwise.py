"""Random nodes that work element by element, and conversions."""

from __future__ import annotations

import numpy as np
from onnx import helper

from gecc.debug.smith.graph import BOOL, F16, F32, F64, I32, I64, INTEGERS, Graph
from gecc.debug.smith.oracle import Rejected, Value

FLOAT_UNARY = (
    *("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Sin", "Cos", "Floor", "Ceil", "Round", "Softplus", "HardSwish"),
    *("LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "Gelu", "Mish", "Softsign", "ThresholdedRelu", "Shrink"),
    *("Neg", "Abs", "Sign", "Identity", "Relu", "Sigmoid", "Tanh", "Swish"),
)
WITH_ALPHA = ("LeakyRelu", "Elu", "Celu", "HardSigmoid", "ThresholdedRelu", "Selu", "Swish")
SINCE = {"Gelu": 20, "Swish": 24, "Mish": 18}


def unary(g: Graph) -> None:
    """An operator of one operand of floats."""
    x = g.floats()
    op = g.rng.choice(FLOAT_UNARY)
    if g.opset < SINCE.get(op, 0):
        op = "Relu"
    attributes: dict[str, float | str] = {}
    if op in WITH_ALPHA and g.chance(0.5):
        attributes["alpha"] = g.rng.choice((0.1, 0.3, 1.0, 1.7))
    if op == "Gelu":
        attributes["approximate"] = g.rng.choice(("none", "tanh"))
    if op == "Shrink":
        attributes |= {"bias": 0.3, "lambd": 0.7}
    g.node(op, x, **attributes)


def integer_unary(g: Graph) -> None:
    """An operator of one operand of integers."""
    x = g.pick(lambda v: v.dtype.kind in "iu")
    op = g.rng.choice(("Abs", "Sign", "Neg", "Relu", "Identity"))
    if op in ("Neg", "Relu") and x.dtype.kind == "u":
        op = "Sign"
    g.node(op, x)


def positive(g: Graph) -> None:
    """An operator that is defined above zero."""
    x = g.floats()
    inner = g.node("Add", g.node("Abs", x), g.constant(g.rng.choice((0.1, 0.5, 1.0)), x.dtype))
    g.node(g.rng.choice(("Log", "Sqrt", "Reciprocal")), inner)


def binary(g: Graph) -> None:
    """Arithmetic with broadcasting."""
    x = g.any()
    if x.dtype == BOOL:
        return logical(g)
    op = g.rng.choice(("Add", "Sub", "Mul", "Add", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu", "Pow", "Mod"))
    if op in ("Sum", "Mean", "Max", "Min"):
        if op in ("Sum", "Mean") and not x.floating:
            op = "Max"
        g.node(op, x, *(g.partner(x) for _ in range(g.rng.choice((0, 1, 1, 2)))))
    elif op == "PRelu":
        g.node(op, x, g.partner(x, grow=False))
    elif op == "Div":
        low = 1 if x.dtype.kind in "iu" else 0.5
        g.node(op, x, g.partner(x, low=low, high=5))
    elif op == "Mod":
        low = 1 if x.dtype.kind in "iu" else 0.5
        g.node(op, x, g.partner(x, low=low, high=5), fmod=int(x.floating or g.chance(0.5)))
    elif op == "Pow":
        _pow(g, x)
    else:
        y = g.partner(x)
        g.node(op, *((x, y) if g.chance(0.7) else (y, x)))


def _pow(g: Graph, x: Value) -> None:
    if g.chance(0.6):
        exponent = g.rng.choice((2.0, 2.0, 3.0, 1.0, 0.0) if not x.floating else (2.0, 3.0, 2.0, 1.0, 0.0, -1.0))
        dtype = x.dtype if g.chance(0.6) else g.rng.choice((F32, I64, I32))
        g.node("Pow", x, g.constant(exponent, dtype))
    elif x.floating:
        g.node("Pow", g.node("Abs", x), g.partner(x, low=0.5, high=2.0))
    else:
        g.node("Pow", x, g.partner(x, low=0, high=3))


def logical(g: Graph) -> None:
    """Operators of booleans."""
    x = g.pick(lambda v: v.dtype == BOOL)
    op = g.rng.choice(("And", "Or", "Xor", "Not"))
    g.node(op, x) if op == "Not" else g.node(op, x, g.partner(x))


def comparison(g: Graph) -> None:
    """Comparisons, and tests of numbers."""
    x = g.any()
    ops = ("Equal",) if x.dtype == BOOL else ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    if x.floating and g.chance(0.15):
        g.node(g.rng.choice(("IsNaN", "IsInf")), x)
        return
    g.node(g.rng.choice(ops), x, g.partner(x))


def where(g: Graph) -> None:
    """A choice between two values, by a condition that is there or compares."""
    x = g.any()
    condition = g.partner(x, BOOL)
    y = g.partner(x)
    if g.chance(0.3):
        y = g.constant(g.rng.choice((0, 1, -1) if x.dtype.kind != "u" else (0, 1)), x.dtype)
    g.node("Where", condition, *((x, y) if g.chance(0.5) else (y, x)))


def clip(g: Graph) -> None:
    """Clip by two bounds, one or none."""
    x = g.any()
    if x.dtype == BOOL:
        raise Rejected("Clip of bool")
    low = None if g.chance(0.3) else g.constant(-1 if x.dtype.kind != "u" else 1, x.dtype)
    high = None if g.chance(0.3) else g.constant(g.rng.choice((1, 3)), x.dtype)
    g.node("Clip", x, low, high)


def cast(g: Graph) -> None:
    """A conversion to any type, at times and back."""
    x = g.any()
    to = g.rng.choice((F32, F32, F64, F16, BOOL, *INTEGERS))
    y = g.node("Cast", x, to=helper.np_dtype_to_tensor_dtype(to))
    if g.chance(0.5):
        if g.chance(0.3):
            y = g.node("Abs", y) if y.dtype != BOOL else y
        g.node("Cast", y, to=helper.np_dtype_to_tensor_dtype(x.dtype))


def cast_around(g: Graph) -> None:
    """Integers through floats: pointwise work between two conversions."""
    x = g.pick(lambda v: v.dtype.kind in "iub" and v.dtype != I64)
    y = g.node("Cast", x, to=helper.np_dtype_to_tensor_dtype(F32))
    y = g.node("Mul", y, g.constant(np.float32(0.37)))
    g.node("Cast", g.node("Round", y), to=helper.np_dtype_to_tensor_dtype(g.rng.choice((I32, I64, F32))))
