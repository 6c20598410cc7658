"""Scatters against ONNX."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.errors import KernelError

REDUCTIONS = ("none", "add", "mul", "max", "min")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_scatter_elements(check, rng, reduction, dtype) -> None:
    x = rng.integers(1, 9, (3, 5)).astype(dtype)
    for axis, indices in ((1, [[1, -1], [0, 4]]), (0, [[0, 2, 1], [-1, 0, 2]])):
        places = np.array(indices)
        updates = rng.integers(1, 9, places.shape).astype(dtype)
        attributes = {"axis": axis, "reduction": reduction}
        check(
            lambda a, b, c, k=attributes: ge.ScatterElements(a, b, c, **k),
            "ScatterElements",
            [x, places, updates],
            attributes,
        )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_nd(check, rng, reduction) -> None:
    x = rng.integers(1, 9, (4, 3, 2)).astype(np.float32)
    for indices in ([[1], [3]], [[0, 1], [2, 2]], [[[0, 1, 1]], [[2, 2, 0]]], [2]):
        places = np.array(indices)
        updates = rng.integers(1, 9, (*places.shape[:-1], *x.shape[places.shape[-1] :])).astype(np.float32)
        attributes = {"reduction": reduction}
        check(lambda a, b, c, k=attributes: ge.ScatterND(a, b, c, **k), "ScatterND", [x, places, updates], attributes)


def test_the_last_of_several_wins_and_reductions_take_all(check) -> None:
    x, places = np.zeros(3, np.float32), np.array([1, 1, 1])
    updates = np.array([5, 7, 6], np.float32)
    assert check.run(ge.ScatterElements, [x, places, updates])[0].tolist() == [0, 6, 0]
    for reduction, expected in (("add", 18), ("mul", 0), ("max", 7), ("min", 0)):
        got = check.run(lambda *v, r=reduction: ge.ScatterElements(*v, reduction=r), [x, places, updates])[0]
        assert got[1] == expected


def test_refusals(check) -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(KernelError, match="index 3 is out of range"):
        check.run(lambda *v: ge.ScatterElements(*v, axis=1), [x, np.array([[3]]), x[:1, :1]])
    c = ge.const
    with pytest.raises(VerifyException, match=r"indices .* and updates .* differ in shape"):
        ge.ScatterElements(c(x), c(np.zeros((1, 1), np.int64)), c(x))
    with pytest.raises(VerifyException, match="exceed x"):
        ge.ScatterElements(c(x), c(np.zeros((3, 1), np.int64)), c(np.zeros((3, 1), np.float32)), axis=1)
    with pytest.raises(VerifyException, match="updates have shape"):
        ge.ScatterND(c(x), c(np.zeros((1, 1), np.int64)), c(x))
    with pytest.raises(VerifyException, match="indices pick 3 dimensions, expected 1 to 2"):
        ge.ScatterND(c(x), c(np.zeros((1, 3), np.int64)), c(np.zeros(1, np.float32)))
    flags = c(np.zeros(2, np.bool_))
    with pytest.raises(VerifyException, match="x has element type i1"):
        ge.ScatterElements(flags, c(np.zeros(2, np.int64)), flags, reduction="add")
