"""What the recognising passes share: constants, uses, products and polynomials of one value.

Exporters spell one function in many orders. So a product is compared as a bag of factors with one number in front, and
the argument of Erf, Tanh or Clip as a polynomial in x: every order and grouping of Mul, Div, Add, Sub and Pow with
constants is then the same thing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import ge
from gecc.weights import WeightStore

if TYPE_CHECKING:
    import numpy as np

OpT = TypeVar("OpT", bound=Operation)

_MAX_FACTORS = 8
_MAX_DEGREE = 4


def producer(value: SSAValue, cls: type[OpT]) -> OpT | None:
    """The operation of class `cls` that makes `value`, else None."""
    return value.owner if isinstance(value.owner, cls) else None


def uses(value: SSAValue) -> int:
    """The number of uses of a value."""
    return sum(1 for _ in value.uses)


def element(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.element_type


def shape(value: SSAValue) -> tuple[int, ...]:
    """The logical shape of a tensor value; an unknown dimension is -1."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def tolerance(kind: Attribute) -> float:
    """How far, relatively, a constant of element type `kind` may be off and still be the one meant.

    Exporters write 1.41421, 0.79788 or 0.7978846: five digits in full precision. In 16 bits it is one unit in the last
    place (2^-10 of float16, 2^-7 of bfloat16).
    """
    if isinstance(kind, Float16Type):
        return 2.0**-10
    if isinstance(kind, BFloat16Type):
        return 2.0**-7
    return 1e-5


def close(found: float, expected: float, kind: Attribute) -> bool:
    """Whether a constant (or a product of constants) of element type `kind` is `expected` up to rounding."""
    return math.isclose(found, expected, rel_tol=tolerance(kind), abs_tol=0.0 if expected else 1e-12)


def constant(value: SSAValue, store: WeightStore) -> np.ndarray | None:
    """The values of a constant, else None. Looks through Identity."""
    owner = value.owner
    while isinstance(owner, ge.Identity):
        owner = owner.operands[0].owner
    if not isinstance(owner, ge.Const):
        return None
    return store.array(owner.value)


def uniform(value: SSAValue, store: WeightStore) -> float | None:
    """The number that all elements of a constant are, else None."""
    if (array := constant(value, store)) is None or array.size == 0 or array.dtype == bool:
        return None
    first = array.flat[0]
    if array.size > 1 and not (array == first).all():
        return None
    return float(first)


def named_const(array: np.ndarray, store: WeightStore, name: str) -> ge.Const:
    """A constant whose value prints as `%name`."""
    const = ge.Const(store.attr_for(array))
    const.result.name_hint = name
    return const


@dataclass
class Product:
    """`coefficient * factors[0] * factors[1] * ...`; `ops` are the operations that say so, the root first."""

    coefficient: float = 1.0
    factors: list[SSAValue] = field(default_factory=list)
    ops: list[Operation] = field(default_factory=list)

    def take(self, value: SSAValue) -> bool:
        """Remove one factor that is `value`; False when there is none."""
        if value in self.factors:
            self.factors.remove(value)
            return True
        return False


def product(root: Operation, store: WeightStore) -> Product:
    """`root`, a Mul or RealDiv, as a product.

    Goes through Mul and division by a number as long as inner results have no other use. Division by a tensor is a
    factor of its own.
    """
    result = Product()

    def visit(value: SSAValue) -> None:
        owner = value.owner
        if (number := uniform(value, store)) is not None:
            result.coefficient *= number
        elif isinstance(owner, ge.Mul | ge.RealDiv) and uses(value) == 1 and len(result.ops) < _MAX_FACTORS:
            expand(owner, value)
        else:
            result.factors.append(value)

    def expand(op: Operation, value: SSAValue) -> None:
        first, second = op.operands
        if isinstance(op, ge.Mul):
            result.ops.append(op)
            visit(first)
            visit(second)
        elif (number := uniform(second, store)) is not None and number:
            result.ops.append(op)
            visit(first)
            result.coefficient /= number
        else:
            result.factors.append(value)

    expand(root, root.results[0])
    return result


@dataclass
class Powers:
    """A polynomial in one value: exponent to coefficient."""

    of: dict[int, float]
    ops: list[Operation]

    def __getitem__(self, exponent: int) -> float:
        return self.of.get(exponent, 0.0)

    def has_only(self, exponents: Iterable[int]) -> bool:
        """Whether no other exponent than these has a coefficient."""
        allowed = frozenset(exponents)
        return all(exponent in allowed for exponent in self.of)


def powers(value: SSAValue, x: SSAValue, store: WeightStore) -> Powers | None:
    """`value` as a polynomial in `x` with constant coefficients, degree at most 4; None when it is none.

    Inner values may have only one use, except x itself and powers of x that appear twice in the same expression.
    """
    ops: list[Operation] = []

    def build(current: SSAValue, depth: int) -> dict[int, float] | None:
        if current is x:
            return {1: 1.0}
        if (number := uniform(current, store)) is not None:
            return {0: number}
        op = current.owner
        if depth == 0 or not isinstance(op, ge.Add | ge.Sub | ge.Mul | ge.RealDiv | ge.Pow | ge.Neg):
            return None
        parts = [build(operand, depth - 1) for operand in op.operands]
        terms = [part for part in parts if part is not None]
        if len(terms) != len(parts) or (made := _combine(op, terms)) is None:
            return None
        if op not in ops:
            ops.append(op)
        return made

    found = build(value, 8)
    if found is None:
        return None
    inner = [op for op in ops if op.results[0] is not value]
    users = {id(op) for op in ops}
    if any(id(use.operation) not in users for op in inner for use in op.results[0].uses):
        return None
    return Powers({exponent: number for exponent, number in found.items() if number}, ops)


def _combine(op: Operation, terms: list[dict[int, float]]) -> dict[int, float] | None:
    """The polynomial of an arithmetic operation on polynomials."""
    result: dict[int, float] = {}
    first = terms[0]
    second = terms[1] if len(terms) > 1 else {}
    if isinstance(op, ge.Neg):
        return {exponent: -number for exponent, number in first.items()}
    if isinstance(op, ge.Add | ge.Sub):
        sign = 1.0 if isinstance(op, ge.Add) else -1.0
        for exponent in [*first, *(e for e in second if e not in first)]:
            result[exponent] = first.get(exponent, 0.0) + sign * second.get(exponent, 0.0)
        return result
    if isinstance(op, ge.Mul):
        for a, x in first.items():
            for b, y in second.items():
                result[a + b] = result.get(a + b, 0.0) + x * y
        return result if max(result, default=0) <= _MAX_DEGREE else None
    if [*second] != [0] or not second[0]:  # what follows needs a number other than zero on the right
        return None
    if isinstance(op, ge.RealDiv):
        return {exponent: number / second[0] for exponent, number in first.items()}
    exponent = second[0]
    if len(first) != 1 or exponent != int(exponent) or not 1 <= exponent <= _MAX_DEGREE:
        return None
    [(base, number)] = first.items()
    return {base * int(exponent): number ** int(exponent)} if base * int(exponent) <= _MAX_DEGREE else None
