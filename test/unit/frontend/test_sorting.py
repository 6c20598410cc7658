"""TopK of long axes, and scatters of many updates: merged runs, in numpy and as machine code."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from test.unit.frontend.cases import Array, Case, Fixed, floats, imported, ints
from test.unit.frontend.native import check_native, run_native


def odd(*shape: int) -> Array:
    """Numbers with many ties, NaN, infinities and zeros of both signs."""
    x = np.round(floats(*shape), 1)
    for step, value in ((37, np.nan), (41, np.inf), (43, -np.inf), (29, -0.0), (31, 0.0)):
        x.ravel()[step % 7 :: step] = value
    return x


def same(found: Any, wanted: Any) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.astype(np.float64), b.astype(np.float64))


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(
    ("shape", "axis", "k"),
    [
        ((3, 128), -1, 5),
        ((3, 129), -1, 129),
        ((2, 1000), -1, 7),
        ((2, 130, 3), 1, 130),
        ((250, 2), 0, 65),
        ((2, 400), 1, 1),
        ((2, 400), 1, 0),
    ],
)
def test_top_k(shape: tuple[int, ...], axis: int, k: int, largest: int) -> None:
    """The meaning in numpy is a stable sort with NaN as the largest."""
    case = Case("TopK", 11, [odd(*shape), Fixed(np.array([k]))], {"axis": axis, "largest": largest}, outputs=2)
    same(run_native(case), imported(case.model(), case.feeds())[1].values())


@pytest.mark.parametrize(
    "dtype",
    [np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64],
)
@pytest.mark.parametrize("size", [20, 130])
def test_top_k_of_every_type(size: int, dtype: Any) -> None:
    """The ends of the range and ties; elements of 64 bits take another way."""
    x = np.round(floats(2, size, low=0, high=120)).astype(dtype)
    if x.dtype.kind in "iu":
        x[:, [3, 11]], x[:, [5, 13]] = np.iinfo(dtype).max, np.iinfo(dtype).min
    for largest in (0, 1) if size == 20 else (1,):
        case = Case("TopK", 24, [x, Fixed(np.array([size // 2]))], {"largest": largest}, outputs=2)
        same(run_native(case), imported(case.model(), case.feeds())[1].values())


REDUCTIONS = ("none", "add", "mul", "max", "min")


def scatters(reduction: str, dtype: Any = np.float32) -> list[Case]:
    """More than 256 updates, many of them for the same place, negative indices among them."""

    def data(*shape: int) -> Array:
        return (floats(*shape) * 10).astype(dtype) if np.dtype(dtype).kind != "u" else ints(*shape, low=0, dtype=dtype)

    vectors = np.stack([ints(300, low=-20, high=20), ints(300, low=0, high=30)], -1)
    attributes = {"reduction": reduction}
    return [
        Case("ScatterElements", 18, [data(90, 4), ints(300, 3, low=-90, high=90), data(300, 3)], attributes),
        Case("ScatterElements", 18, [data(2, 400), ints(2, 300, low=0, high=400), data(2, 300)],
             {**attributes, "axis": 1}),
        Case("ScatterND", 18, [data(20, 30, 5), vectors.reshape(3, 100, 2), data(3, 100, 5)], attributes),
        Case("ScatterND", 18, [data(50), ints(400, 1, low=0, high=50), data(400)], attributes),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [*scatters("none"), *scatters("add"), *(scatters(r)[i] for i, r in enumerate(REDUCTIONS[2:]))],
    ids=lambda c: c.id,
)
def test_many_updates(case: Case) -> None:
    check_native(Case(case.op, case.opset, case.inputs, case.attributes, tolerance=1e-4), ways=(("O2", 2),))


def test_the_last_update_counts() -> None:
    """Of updates for one place the last one, as ONNX Runtime does it, however they are sorted."""
    x, places, updates = np.zeros(3, np.float32), np.array([1] * 400), np.arange(400, dtype=np.float32)
    [y] = run_native(Case("ScatterElements", 18, [x, places, updates]))
    np.testing.assert_array_equal(y, [0, 399, 0])


def test_few_updates_of_large_rows() -> None:
    """Rows are found once, not for each of their elements."""
    indices = np.stack([ints(64, low=-4, high=4), ints(64, low=0, high=100)], -1)
    case = Case("ScatterND", 18, [floats(4, 100, 300), indices, floats(64, 300)])
    same(run_native(case), imported(case.model(), case.feeds())[1].values())


@pytest.mark.parametrize(
    ("reduction", "dtype"),
    [
        *(("add", d) for d in (np.float16, ml_dtypes.bfloat16, np.float64, np.uint8, np.int64)),
        *(("max", d) for d in (np.float16, np.uint64, np.int8)),
        ("none", ml_dtypes.bfloat16),
    ],
)
def test_types(reduction: str, dtype: Any) -> None:
    for case in scatters(reduction, dtype)[3:]:
        found = run_native(case)[0].astype(np.float64)
        wanted = imported(case.model(), case.feeds())[1]["o0"].astype(np.float64)
        limit = 2.0**-6 if np.dtype(dtype).itemsize == 2 else 1e-9
        np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit * np.abs(wanted).max())
