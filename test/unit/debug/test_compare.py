"""Differences of arrays, and what passes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gecc.debug.compare import HEADER, compare, difference, table
from gecc.errors import InputError

Y = np.array([1.0, -4.0, 2.0], np.float32)


def test_figures() -> None:
    found = difference("y", Y + np.array([0, 0.04, -0.02], np.float32), Y)
    assert found.max_abs == pytest.approx(0.04, rel=1e-4) and found.max_rel == pytest.approx(0.01, rel=1e-4)
    assert 0.9999 < found.cosine < 1 and found.mismatched == 0
    assert found.within(0.011) and not found.within(0.009)


def test_equal_arrays() -> None:
    found = difference("y", Y, Y)
    assert (found.max_abs, found.max_rel, found.mismatched) == (0.0, 0.0, 0) and found.cosine == pytest.approx(1.0)
    assert found.within(0.0)


@pytest.mark.parametrize(
    ("found", "expected", "wrong"),
    [
        ([np.nan, 1, 2], [np.nan, 1, 2], 0),
        ([np.inf, 1, 2], [np.inf, 1, 2], 0),
        ([-np.inf, 1, 2], [np.inf, 1, 2], 1),
        ([np.nan, 1, 2], [0, 1, 2], 1),
        ([0, np.inf, np.nan], [np.nan, np.nan, np.nan], 2),
    ],
)
def test_non_finite(found: list[float], expected: list[float], wrong: int) -> None:
    result = difference("y", np.array(found, np.float32), np.array(expected, np.float32))
    assert result.mismatched == wrong and result.within(1.0) == (wrong == 0)


def test_integers_must_be_equal() -> None:
    a, b = np.array([1, 2, 3]), np.array([1, 2, 4])
    assert difference("y", a, a).within(0.0)
    assert not difference("y", b, a).within(10.0) and difference("y", b, a).mismatched == 1
    assert not difference("y", a == 2, a == 3).within(10.0)


def test_all_zero_reference() -> None:
    zero = np.zeros(3, np.float32)
    assert difference("y", zero, zero).within(0.0) and difference("y", zero, zero).cosine == 1.0
    assert not difference("y", zero + 1e-30, zero).within(1e-4)


def test_empty_arrays_are_equal() -> None:
    empty = np.zeros((0, 3), np.float32)
    assert difference("y", empty, empty).within(0.0)


def test_shapes_and_types() -> None:
    found = difference("y", Y[:2], Y)
    assert not found.within(1e9) and "float32[2], expected float32[3]" in found.row(1e9)[-1]
    assert not difference("y", Y.astype(np.int64), Y).within(1e9)
    assert difference("y", Y.astype(np.float64), Y).within(0.0)


def test_outputs_by_name() -> None:
    assert [d.name for d in compare({"b": Y, "a": Y}, {"a": Y, "b": Y})] == ["a", "b"]
    with pytest.raises(InputError, match=r"found the outputs \['a'\], expected \['a', 'b'\]"):
        compare({"a": Y}, {"a": Y, "b": Y})


def test_table() -> None:
    text = table(HEADER, [difference("long name", Y, Y).row(0.1), difference("y", Y + 1, Y).row(0.1)])
    assert text.splitlines()[0] == "output       max abs    max rel      cosine  verdict"
    assert text.splitlines()[2].endswith("FAIL") and text.splitlines()[1].endswith("ok")


def test_strings_are_equal_in_any_form() -> None:
    words = ["a\u00e9", "b"]
    forms = [np.array(words), np.array(words, object), np.array([word.encode() for word in words], object)]
    for found in forms:
        for expected in forms:
            assert difference("s", found, expected).within(0.0)
            wrong = difference(
                "s", found, np.array(["a\u00e9", "c"], expected.dtype if expected.dtype.kind == "U" else object)
            )
            assert (wrong.mismatched, wrong.within(1.0)) == (1, False)


def test_sequences_and_maps_are_compared_part_by_part() -> None:
    found = compare({"q": [Y, {"k": Y, 3: 1.0}], "n": None}, {"q": [Y, {3: 1.0, "k": Y + np.float32(1)}], "n": None})
    assert [(part.name, part.within(1e-6)) for part in found] == [
        ("q[0]", True), ("q[1][3]", True), ("q[1]['k']", False), ("n", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        ([Y], [Y, Y], "FAIL: a list of 1, expected a list of 2"),
        (Y, [Y], r"FAIL: float32\[3\], expected a list of 1"),
        ({"a": 1}, {"b": 1}, "FAIL: a map of 'a', expected a map of 'b'"),
        (None, Y, r"FAIL: nothing, expected float32\[3\]"),
    ],
)
def test_other_kinds_differ(found: object, expected: object, said: str) -> None:
    (part,) = compare({"q": found}, {"q": expected})
    assert not part.within(np.inf)
    assert re.fullmatch(said, part.row(1.0)[-1])
