"""What is known of one element of a small tensor: a number, a polynomial over dynamic sizes, or nothing.

Numbers are Python numbers (exact; rounding to an element type is left to the interpreter, which evaluates everything
that is fully known). The functions here serve pairs of integers of which one is symbolic, and answer None when the
result cannot be said; the caller then makes an atom of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge.infer_shapes.polynomial import Integer, Polynomial, add, divide, multiply, sign, subtract


@dataclass(frozen=True)
class Unknown:
    """An element that depends on data known at run time only; `origin` is the value where that data comes in."""

    origin: SSAValue


Element: TypeAlias = int | float | bool | Polynomial | Unknown


def is_number(x: Element) -> bool:
    """Whether the element is a plain number."""
    return isinstance(x, int | float)


def is_integer(x: Element) -> bool:
    """Whether the element is an integer, known or symbolic."""
    return isinstance(x, int | Polynomial)


def _pick(x: Integer, y: Integer, largest: bool) -> Element | None:
    order = sign(subtract(x, y))
    if order is None:
        return None
    return x if (order >= 0) == largest else y


def _compare(test: Callable[[int], bool]) -> Callable[[Integer, Integer], Element | None]:
    def compare(x: Integer, y: Integer) -> Element | None:
        order = sign(subtract(x, y))
        return None if order is None else test(order)

    return compare


BINARY: dict[type[Operation], Callable[[Integer, Integer], Element | None]] = {
    ge.Add: add,
    ge.Sub: subtract,
    ge.Mul: multiply,
    ge.RealDiv: divide,
    ge.Maximum: lambda x, y: _pick(x, y, True),
    ge.Minimum: lambda x, y: _pick(x, y, False),
    ge.Equal: _compare(lambda order: order == 0),
    ge.Greater: _compare(lambda order: order > 0),
    ge.GreaterEqual: _compare(lambda order: order >= 0),
    ge.Less: _compare(lambda order: order < 0),
    ge.LessEqual: _compare(lambda order: order <= 0),
}
"""The meaning of operators on a pair of integers of which at least one is symbolic."""

NEVER_NEGATIVE: tuple[type[Operation], ...] = (ge.Add, ge.Mul, ge.RealDiv, ge.Maximum, ge.Minimum, ge.Mod)
"""Operators that make no negative number of numbers that are not negative."""
