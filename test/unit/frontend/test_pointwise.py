"""Element-wise operators."""

from __future__ import annotations

import numpy as np
import pytest

from test.unit.frontend.cases import Case, Fixed, check, fixed, floats, ints

X, Y = floats(2, 3, 4), floats(3, 1, low=0.5)
SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 0.5], np.float32)

UNARY = [
    *(Case(op, 13, [X]) for op in ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Neg", "Abs", "Floor", "Ceil", "Sign")),
    *(Case(op, 7, [X]) for op in ("Sin", "Cos", "Softplus", "Softsign", "Identity")),
    *(Case(op, 7, [X]) for op in ("Tan", "Atan")),
    *(Case(op, 9, [X]) for op in ("Sinh", "Cosh", "Asinh")),
    *(Case(op, 22, [floats(3, 4, low=-0.99, high=0.99)]) for op in ("Asin", "Acos", "Atanh")),
    Case("Acosh", 9, [floats(3, 4, low=1.0, high=4.0)]),
    *(Case("BitwiseNot", 18, [ints(5, dtype=t)], reference=True) for t in (np.int8, np.int64)),
    *(Case(op, 13, [floats(5, low=0.1)]) for op in ("Log", "Sqrt", "Reciprocal")),
    Case("Round", 11, [np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4], np.float32)]),
    Case("Relu", 14, [ints(5, dtype=np.int32)]),
    Case("Abs", 13, [ints(5)]),
    Case("Not", 7, [ints(4, low=0, high=2).astype(bool)]),
    Case("IsNaN", 13, [SPECIAL]),
    Case("IsInf", 10, [SPECIAL]),
    Case("IsInf", 10, [SPECIAL], {"detect_negative": 0}),
    Case("IsInf", 10, [SPECIAL], {"detect_positive": 0}),
    Case("IsInf", 10, [SPECIAL], {"detect_positive": 0, "detect_negative": 0}),
    Case("LeakyRelu", 7, [X]),
    Case("LeakyRelu", 16, [X], {"alpha": 0.3}),
    Case("Elu", 7, [X], {"alpha": 1.5}),
    Case("Selu", 7, [X]),
    Case("Celu", 12, [X], {"alpha": 2.0}),
    Case("HardSigmoid", 7, [X], {"alpha": 1 / 6}),
    Case("HardSwish", 14, [X]),
    Case("Gelu", 20, [X]),
    Case("Gelu", 20, [X], {"approximate": "tanh"}),
    Case("Mish", 18, [X]),
    Case("Swish", 24, [X], {"alpha": 1.5}, reference=True),
    Case("Swish", 24, [X], reference=True),
    Case("ThresholdedRelu", 10, [X], {"alpha": 0.4}),
    Case("Shrink", 9, [X], {"lambd": 0.7, "bias": 0.2}),
    Case("Shrink", 9, [ints(2, 5, low=0, dtype=np.uint8)], {"lambd": 3.0, "bias": 1.0}),
    Case("Clip", 7, [X], {"min": -0.5, "max": 1.0}),
    Case("Clip", 7, [X], {"max": 1.0}),
    Case("Clip", 7, [X]),
    Case("Clip", 11, [X, Fixed(np.float32(-0.5)), Fixed(np.float32(0.5))]),
    Case("Clip", 12, [X, None, Fixed(np.float32(0.5))]),
    Case("Clip", 13, [X, np.array(0.1, np.float32)]),
    Case("Clip", 13, [ints(5, dtype=np.int32), Fixed(np.int32(-3)), Fixed(np.int32(3))]),
]

BINARY = [
    *(Case(op, 7, [X, Y]) for op in ("Add", "Sub", "Mul", "Div")),
    *(Case(op, 14, [ints(2, 3), ints(3, low=1)]) for op in ("Add", "Sub", "Mul", "Div")),
    Case("Div", 14, [np.array([-7, 7, -7, 7]), np.array([2, -2, -2, 2])], note="truncates"),
    *(Case(op, 9, [X, Y]) for op in ("Greater", "Less")),
    *(Case(op, 16, [X, Y]) for op in ("GreaterOrEqual", "LessOrEqual")),
    Case("Equal", 7, [ints(2, 3, low=0, high=3), ints(3, low=0, high=3)]),
    Case("Equal", 13, [X, X]),
    *(
        Case(op, 18, [ints(2, 3, dtype=t), ints(3, dtype=t)], reference=True)
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
        for t in (np.int8, np.int64)
    ),
    *(
        Case("BitShift", 11, [ints(2, 3, low=0, high=99, dtype=t), ints(3, low=0, high=8, dtype=t)], {"direction": d})
        for d in ("LEFT", "RIGHT")
        for t in (np.uint8, np.uint32)
    ),
    *(
        Case(op, 7, [ints(2, 3, low=0, high=2).astype(bool), ints(3, low=0, high=2).astype(bool)])
        for op in ("And", "Or", "Xor")
    ),
    Case("Pow", 7, [floats(2, 3, low=0.1), fixed(2.0, dtype=np.float32)]),
    Case("Pow", 13, [X, Fixed(np.int64(3))], note="float-int"),
    Case("Pow", 13, [ints(4, dtype=np.int32), Fixed(np.float32(2))], note="int-float"),
    Case("Pow", 15, [ints(4, low=0, high=4), ints(4, low=0, high=4, dtype=np.int32)], note="int-int"),
    Case("Mod", 10, [ints(8), np.array([3, -3, 4, -4, 5, -5, 2, 7])]),
    Case("Mod", 13, [ints(8), np.array([3, -3, 4, -4, 5, -5, 2, 7])], {"fmod": 1}),
    Case("Mod", 13, [floats(6), floats(6, low=0.5)], {"fmod": 1}),
    Case("Mod", 28, [floats(9), floats(9, low=0.5) * np.sign(floats(9, low=-1))], reference=True, dynamic=False),
    Case("PRelu", 7, [X, floats(4)]),
    Case("PRelu", 16, [X, floats(3, 1)]),
    Case("Sum", 8, [X, Y, floats(4)]),
    Case("Sum", 8, [X]),
    Case("Mean", 8, [X, Y, floats(4)]),
    Case("Max", 8, [X, Y]),
    Case("Min", 13, [X, Y, floats(4)]),
    Case("Max", 13, [ints(4), ints(4, low=-3)]),
    Case("Where", 9, [ints(3, 1, low=0, high=2).astype(bool), X, floats(4)]),
    Case("Where", 16, [ints(3, low=0, high=2).astype(bool), ints(3), ints(2, 3)]),
]

CASTS = [
    Case("Cast", 9, [floats(5, low=-3, high=3)], {"to": 7}),
    Case("Cast", 13, [ints(5)], {"to": 1}),
    Case("Cast", 13, [ints(5, low=-1, high=2)], {"to": 9}),
    Case("Cast", 13, [floats(5)], {"to": 11}),
    Case("Cast", 13, [floats(5)], {"to": 10}),
    Case("Cast", 19, [floats(5)], {"to": 1}, note="same"),
    Case("CastLike", 15, [floats(5), Fixed(np.zeros(1, np.int32))]),
]


@pytest.mark.parametrize("case", [*UNARY, *BINARY, *CASTS], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check(case)
