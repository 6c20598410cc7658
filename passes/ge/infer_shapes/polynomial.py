"""Integers known up to the sizes of dynamic dimensions: polynomials with integer coefficients over atoms.

An atom is a number that is fixed once the dynamic dimensions are: a dimension itself, or the result of arithmetic that
polynomials cannot express (a division with remainder, a comparison). Two polynomials are equal as objects exactly when
they are the same polynomial, so equality of sizes can be seen without knowing them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, order=True)
class Atom:
    """A number that is fixed, but not known yet. `serial` tells atoms apart; a dimension is never negative."""

    serial: int
    name: str
    nonnegative: bool = True


Monomial: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of `coefficient * product of atoms`, with at least one atom in one term; terms are sorted.

    A polynomial without atoms is a plain `int` everywhere, so build with `polynomial()`, never directly.
    """

    terms: tuple[tuple[Monomial, int], ...]

    def __str__(self) -> str:
        def term(monomial: Monomial, coefficient: int) -> str:
            names = [atom.name for atom in monomial]
            return "*".join(names if coefficient == 1 and names else [str(coefficient), *names])

        return " + ".join(term(monomial, coefficient) for monomial, coefficient in self.terms)


Integer: TypeAlias = int | Polynomial


def polynomial(terms: dict[Monomial, int]) -> Integer:
    """The polynomial of `terms`, or an int when no atom remains."""
    kept = sorted((monomial, coefficient) for monomial, coefficient in terms.items() if coefficient)
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return Polynomial(tuple(kept))


def variable(atom: Atom) -> Polynomial:
    """The polynomial that is one atom."""
    return Polynomial((((atom,), 1),))


def _terms(value: Integer) -> dict[Monomial, int]:
    return dict(value.terms) if isinstance(value, Polynomial) else {(): value}


def add(x: Integer, y: Integer) -> Integer:
    """x + y, exactly."""
    terms = _terms(x)
    for monomial, coefficient in _terms(y).items():
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return polynomial(terms)


def multiply(x: Integer, y: Integer) -> Integer:
    """x * y, exactly."""
    terms: dict[Monomial, int] = {}
    for first, a in _terms(x).items():
        for second, b in _terms(y).items():
            monomial = tuple(sorted(first + second))
            terms[monomial] = terms.get(monomial, 0) + a * b
    return polynomial(terms)


def subtract(x: Integer, y: Integer) -> Integer:
    """x - y, exactly."""
    return add(x, multiply(y, -1))


def divide(x: Integer, y: Integer) -> Integer | None:
    """x / y when the quotient is an integer for every value of the atoms, else None.

    Only a divisor of one term is tried; its atoms cancel, which is right wherever the division is defined.
    """
    if y == 0:
        return None
    divisor = _terms(y)
    if len(divisor) != 1:
        return 1 if x == y else None
    [(atoms, factor)] = divisor.items()
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in _terms(x).items():
        rest = list(monomial)
        for atom in atoms:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % factor:
            return None
        terms[tuple(rest)] = coefficient // factor
    return polynomial(terms)


def lower_bound(x: Integer) -> int | None:
    """A number that x is never below, or None when none is known."""
    if isinstance(x, int):
        return x
    bound = 0
    for monomial, coefficient in x.terms:
        if not monomial:
            bound += coefficient
        elif coefficient < 0 or not all(atom.nonnegative for atom in monomial):
            return None
    return bound


def sign(x: Integer) -> int | None:
    """-1, 0 or 1 when the sign of x is known for every value of the atoms, else None."""
    if isinstance(x, int):
        return (x > 0) - (x < 0)
    below = lower_bound(x)
    if below is not None and below > 0:
        return 1
    above = lower_bound(multiply(x, -1))
    if above is not None and above > 0:
        return -1
    return None
