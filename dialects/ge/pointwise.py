"""Pointwise operators: the table of all of them.

One entry is one decorated class: the decorator names the element types allowed, the base class the arity, the body
the attributes. All broadcast as numpy does; operands of full rank share one layout, which the result keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Prop, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, float_prop, word_prop
from gecc.dialects.ge.types import (
    ANY,
    BOOL,
    FLOAT,
    INTEGER,
    NUMERIC,
    SIGNED,
    AnyTensor,
    DTypes,
    broadcast,
    check_dtype,
    check_rank,
    check_same_dtype,
    common_layout,
    dims,
    elem,
    i1,
    like,
    tensor,
    tensor_type,
)

_OpT = TypeVar("_OpT", bound="Pointwise")


class Entry(NamedTuple):
    """What the table says of an operator."""

    dtypes: DTypes
    """Element types its operands may have."""
    result: Attribute | None
    """Element type of the result, when it is not that of the operands."""


TABLE: dict[type[Pointwise], Entry] = {}
"""Every operator of this file with its entry, in order of definition."""


def entry(dtypes: DTypes, *, result: Attribute | None = None) -> Callable[[type[_OpT]], type[_OpT]]:
    """Enter a class in the table."""

    def enter(cls: type[_OpT]) -> type[_OpT]:
        TABLE[cls] = Entry(dtypes, result)
        return ge_op(cls)

    return enter


class Pointwise(GeOp):
    """Each element of the result depends on the elements at that index alone."""

    def infer(self) -> Sequence[AnyTensor]:
        allowed, result = TABLE[type(self)]
        names = [name for name, _ in self.get_irdl_definition().operands]
        values = dict(zip(names, self.operands, strict=True))
        data = {name: v for name, v in values.items() if name != "cond"}
        for name, value in data.items():
            check_dtype(name, value, allowed)
        check_same_dtype(**data)
        shape = broadcast(*(dims(v) for v in values.values()))
        encoding = common_layout(len(shape), **values)
        return [tensor_type(shape, result or elem(next(iter(data.values()))), encoding)]


class Unary(Pointwise):
    """One operand `x`; the result has its shape."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, result_type: AnyTensor | None = None, **properties: Prop) -> None:
        self.setup([x], properties, types_of(result_type))


class Binary(Pointwise):
    """Two operands `x1`, `x2` that broadcast."""

    x1 = operand_def(TensorType)
    x2 = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x1: Value, x2: Value, *, result_type: AnyTensor | None = None, **properties: Prop) -> None:
        self.setup([x1, x2], properties, types_of(result_type))


# ---- unary


@entry(FLOAT + SIGNED)
class Relu(Unary):
    """max(x, 0)"""


@entry(FLOAT)
class Sigmoid(Unary):
    """1 / (1 + exp(-x))"""


@entry(FLOAT)
class Tanh(Unary):
    """Hyperbolic tangent"""


@entry(FLOAT)
class Erf(Unary):
    """Error function"""


@entry(FLOAT)
class Exp(Unary):
    """e to the power x"""


@entry(FLOAT)
class Log(Unary):
    """Natural logarithm"""


@entry(FLOAT)
class Sqrt(Unary):
    """Square root"""


@entry(FLOAT)
class Rsqrt(Unary):
    """1 / sqrt(x)"""


@entry(FLOAT)
class Reciprocal(Unary):
    """1 / x"""


@entry(FLOAT + SIGNED)
class Neg(Unary):
    """-x"""


@entry(NUMERIC)
class Abs(Unary):
    """|x|"""


@entry(FLOAT)
class Floor(Unary):
    """Largest integer not above x"""


@entry(FLOAT)
class Ceil(Unary):
    """Smallest integer not below x"""


@entry(FLOAT)
class Round(Unary):
    """Nearest integer, halves to even"""


@entry(NUMERIC)
class Sign(Unary):
    """-1, 0 or 1"""


@entry(FLOAT)
class Sin(Unary):
    """Sine of radians"""


@entry(FLOAT)
class Cos(Unary):
    """Cosine of radians"""


@entry(FLOAT)
class Tan(Unary):
    """Tangent of radians"""


@entry(FLOAT)
class Asin(Unary):
    """Inverse sine, in radians; NaN outside [-1, 1]"""


@entry(FLOAT)
class Acos(Unary):
    """Inverse cosine, in radians; NaN outside [-1, 1]"""


@entry(FLOAT)
class Atan(Unary):
    """Inverse tangent, in radians"""


@entry(FLOAT)
class Sinh(Unary):
    """Hyperbolic sine"""


@entry(FLOAT)
class Cosh(Unary):
    """Hyperbolic cosine"""


@entry(FLOAT)
class Asinh(Unary):
    """Inverse hyperbolic sine"""


@entry(FLOAT)
class Acosh(Unary):
    """Inverse hyperbolic cosine; NaN below 1"""


@entry(FLOAT)
class Atanh(Unary):
    """Inverse hyperbolic tangent; NaN outside [-1, 1]"""


@entry(FLOAT)
class Gelu(Unary):
    """x * Phi(x); `tanh` uses 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))"""

    approximate = word_prop("none", "tanh", default="none")


@entry(FLOAT)
class HardSwish(Unary):
    """x * max(0, min(1, x/6 + 1/2))"""


@entry(FLOAT)
class HardSigmoid(Unary):
    """max(0, min(1, alpha x + beta))"""

    alpha = float_prop(0.2)
    beta = float_prop(0.5)


@entry(FLOAT)
class LeakyRelu(Unary):
    """x where x >= 0, else alpha x"""

    alpha = float_prop(0.01)


@entry(FLOAT)
class Elu(Unary):
    """x where x >= 0, else alpha (exp(x) - 1)"""

    alpha = float_prop(1.0)


@entry(FLOAT)
class Softplus(Unary):
    """log(1 + exp(x))"""


@entry(FLOAT)
class Silu(Unary):
    """x / (1 + exp(-x))"""


@entry(BOOL)
class LogicalNot(Unary):
    """not x"""


@entry(INTEGER)
class BitwiseNot(Unary):
    """Every bit of x flipped"""


@entry(FLOAT, result=i1)
class IsNan(Unary):
    """Whether x is not a number"""


@entry(ANY)
class Identity(Unary):
    """x"""


# ---- binary


@entry(NUMERIC)
class Add(Binary):
    """x1 + x2"""


@entry(NUMERIC)
class Sub(Binary):
    """x1 - x2"""


@entry(NUMERIC)
class Mul(Binary):
    """x1 * x2"""


@entry(NUMERIC)
class RealDiv(Binary):
    """x1 / x2; integers round toward zero"""


@entry(NUMERIC)
class Pow(Binary):
    """x1 to the power x2"""


@entry(NUMERIC)
class Maximum(Binary):
    """The larger; NaN when either is NaN"""


@entry(NUMERIC)
class Minimum(Binary):
    """The smaller; NaN when either is NaN"""


@entry(NUMERIC)
class Mod(Binary):
    """Remainder with the sign of x2 (integers), or with the sign of x1 when fmod"""

    fmod = bool_prop()

    def infer(self) -> Sequence[AnyTensor]:
        if elem(self.x1) in FLOAT and not self.fmod.value.data:
            raise VerifyException(f"x1 has element type {elem(self.x1)}, for which fmod must be true")
        return super().infer()


@entry(ANY, result=i1)
class Equal(Binary):
    """x1 == x2"""


@entry(NUMERIC, result=i1)
class Greater(Binary):
    """x1 > x2"""


@entry(NUMERIC, result=i1)
class GreaterEqual(Binary):
    """x1 >= x2"""


@entry(NUMERIC, result=i1)
class Less(Binary):
    """x1 < x2"""


@entry(NUMERIC, result=i1)
class LessEqual(Binary):
    """x1 <= x2"""


@entry(BOOL)
class LogicalAnd(Binary):
    """x1 and x2"""


@entry(BOOL)
class LogicalOr(Binary):
    """x1 or x2"""


@entry(BOOL)
class LogicalXor(Binary):
    """x1 xor x2"""


@entry(INTEGER)
class BitwiseAnd(Binary):
    """Bits set in both"""


@entry(INTEGER)
class BitwiseOr(Binary):
    """Bits set in either"""


@entry(INTEGER)
class BitwiseXor(Binary):
    """Bits set in one alone"""


@entry(INTEGER)
class BitShift(Binary):
    """x1 shifted by x2 bits; to the right signed integers keep their sign. All bits leave for x2 beyond the width"""

    direction = word_prop("LEFT", "RIGHT", default="LEFT")


@entry(NUMERIC)
class PRelu(Binary):
    """x1 where x1 >= 0, else x1 * x2 (the slope)"""


# ---- ternary


@entry(ANY)
class Select(Pointwise):
    """x1 where cond, else x2"""

    cond = operand_def(TensorType)
    x1 = operand_def(TensorType)
    x2 = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, cond: Value, x1: Value, x2: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([cond, x1, x2], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("cond", self.cond, BOOL)
        return super().infer()


@entry(NUMERIC)
class ClipByValue(Pointwise):
    """min(max(x, lower), upper); the bounds are rank-0 tensors"""

    x = operand_def(TensorType)
    min = operand_def(TensorType)
    max = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, min: Value, max: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x, min, max], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, TABLE[type(self)].dtypes)
        check_same_dtype(x=self.x, min=self.min, max=self.max)
        check_rank("min", self.min, 0)
        check_rank("max", self.max, 0)
        return [like(tensor(self.x))]


@ge_op
class Cast(GeOp):
    """x converted to the result's element type, as ONNX Cast does (to integers: toward zero)."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, to: Attribute) -> None:
        from xdsl.ir import SSAValue

        self.setup([x], {}, [like(tensor(SSAValue.get(x)), element=to)])

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_dtype("result", self.result, ANY)
        return [like(tensor(self.x), element=elem(self.result))]


@ge_op
class BitCast(GeOp):
    """The bits of x read as the result's element type, which is as wide."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, to: Attribute) -> None:
        from xdsl.ir import SSAValue

        self.setup([x], {}, [like(tensor(SSAValue.get(x)), element=to)])

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_dtype("result", self.result, ANY)
        from gecc.weights import item_bytes

        if item_bytes(elem(self.x)) != item_bytes(elem(self.result)):
            raise VerifyException(f"x has element type {elem(self.x)}, which is not as wide as {elem(self.result)}")
        return [like(tensor(self.x), element=elem(self.result))]
