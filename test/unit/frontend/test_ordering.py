"""Cumulative sums, TopK, reversed sequences, scatters and Einsum."""

from __future__ import annotations

import numpy as np
import pytest

from gecc.errors import InvalidModelError, UnsupportedError
from test.unit.frontend.cases import Case, check, fixed, floats, imported, ints

X, Y = floats(2, 3, 4), floats(2, 4, 5)

CASES = [
    Case("CumSum", 14, [X, fixed(1)], {"exclusive": 1, "reverse": 1}),
    Case("CumSum", 11, [X, fixed(-1)]),
    Case("TopK", 1, [X], {"k": 2}, outputs=2),
    Case("TopK", 10, [X, fixed(3)], {"axis": 1}, outputs=2),
    Case("TopK", 11, [X, fixed(2)], {"largest": 0}, outputs=2),
    Case("TopK", 24, [ints(3, 6), fixed(6)], {"axis": -1}, outputs=2),
    Case("ReverseSequence", 10, [X, np.array([2, 1, 2])], dynamic=False),
    Case("ReverseSequence", 10, [X, np.array([3, 1])], {"batch_axis": 0, "time_axis": 1}),
    Case("Scatter", 9, [X, np.array([[[0, 2, 1, 1]], [[2, 0, 0, 1]]]), floats(2, 1, 4)], {"axis": 1}),
    Case("ScatterElements", 11, [X, np.array([[[0, -1, 1, 1]]]), floats(1, 1, 4)], {"axis": 1}),
    *(
        Case("ScatterElements", 18, [X, np.array([[[0, 0, 3]]]), floats(1, 1, 3)], {"axis": 2, "reduction": r})
        for r in ("add", "mul", "max", "min")
    ),
    Case("ScatterND", 11, [X, np.array([[0, 1], [1, -1]]), floats(2, 4)], dynamic=False),
    *(
        Case("ScatterND", 18, [X, np.array([[0, 1], [0, 1]]), floats(2, 4)], {"reduction": r}, dynamic=False)
        for r in ("add", "mul", "max", "min")
    ),
]

CACHE, UPDATE = floats(2, 3, 4, 5), floats(2, 3, 2, 5)
CASES += [
    Case("TensorScatter", 24, [CACHE, UPDATE, np.array([1, 2])], reference=True, dynamic=False),
    Case("TensorScatter", 24, [CACHE, UPDATE], reference=True, dynamic=False),
    Case("TensorScatter", 24, [CACHE, UPDATE, np.array([3, 2])], {"mode": "circular"}, reference=True, dynamic=False),
]

EQUATIONS = [
    ("ij->ji", [floats(2, 3)]),
    ("ij", [floats(2, 3)]),
    ("ba", [floats(2, 3)]),
    ("ij->", [floats(2, 3)]),
    ("ii->i", [floats(3, 3)]),
    ("bii->bi", [floats(2, 3, 3)]),
    ("ii", [floats(3, 3)]),
    ("i,i->", [floats(3), floats(3, low=0)]),
    ("i,j->ij", [floats(3), floats(4)]),
    ("ij,jk->ik", [floats(2, 3), floats(3, 4)]),
    ("ij,jk", [floats(2, 3), floats(3, 4)]),
    ("bij,bjk->bik", [X, Y]),
    ("bij, bjk -> kbi", [X, Y]),
    ("bhwc,hkc->bhwk", [floats(2, 3, 4, 5), floats(3, 6, 5)]),
    ("...ij,...jk->...ik", [floats(2, 1, 3, 4), floats(1, 5, 4, 2)]),
    ("...ij->...", [X]),
    ("bij,b,jk->ik", [X, floats(2), floats(4, 5)]),
    ("i...->...i", [X]),
    ("ij,ij->ij", [floats(2, 3), floats(2, 3, low=0)]),
    ("abc,ad->d", [X, floats(2, 3)]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(("equation", "operands"), EQUATIONS, ids=[e.replace(" ", "_") for e, _ in EQUATIONS])
def test_einsum(equation: str, operands: list[np.ndarray]) -> None:
    check(Case("Einsum", 12, operands, {"equation": equation}, dynamic=False, rank=len(equation)))


@pytest.mark.parametrize(
    ("equation", "operands", "message"),
    [
        ("ij,jk->ik", [floats(2, 3)], "has 2 terms, but there are 1 operands"),
        ("ijk->i", [floats(2, 3)], "does not fit an operand of rank 2"),
        ("ij->ii", [floats(2, 3)], "each once"),
        ("ij->k", [floats(2, 3)], r"the result names \['k'\]"),
        ("ij,jk->ik", [floats(2, 3), floats(2, 3)], "label j names dimensions of 3 and 2"),
    ],
)
def test_einsum_refuses(equation: str, operands: list[np.ndarray], message: str) -> None:
    case = Case("Einsum", 12, operands, {"equation": equation}, rank=2)
    with pytest.raises(InvalidModelError, match=message):
        imported(case.model(), case.feeds())


def test_what_must_be_constant() -> None:
    case = Case("TopK", 11, [floats(4), np.array([2])], outputs=2, rank=1)
    with pytest.raises(UnsupportedError, match=r"k \(input 1\) must be constant"):
        imported(case.model(), case.feeds())
    case = Case("TopK", 11, [floats(4), fixed(5)], outputs=2, rank=1)
    with pytest.raises(InvalidModelError, match="k is 5, expected 0 to 4"):
        imported(case.model(), case.feeds())
