"""Fourier transforms, spectrograms, the mel scale, determinants, batch statistics: in numpy and as machine code."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gecc.errors import InvalidModelError, UnsupportedError
from test.unit.frontend.cases import Case, Fixed, expected, floats, imported
from test.unit.frontend.native import check_everywhere, check_native, run_native

REAL, COMPLEX = floats(2, 10, 3, 1), floats(2, 10, 3, 2)


def signal(case: Case) -> Case:
    """Lengths decide tables, so they must be known; the reference is exact, ONNX Runtime is not."""
    return Case(case.op, case.opset, case.inputs, case.attributes, dynamic=False, reference=True, note=case.note)


TRANSFORMS = [
    signal(c)
    for c in (
        Case("DFT", 17, [REAL]),
        Case("DFT", 17, [COMPLEX], {"axis": 2, "inverse": 1}),
        Case("DFT", 17, [REAL, Fixed(np.int64(16))], {"onesided": 1}),
        Case("DFT", 20, [COMPLEX]),
        Case("DFT", 20, [REAL, None, Fixed(np.int64(1))], {"onesided": 1}),
        Case("DFT", 20, [COMPLEX, Fixed(np.int64(7)), Fixed(np.int64(1))], note="cut"),
        Case("DFT", 20, [COMPLEX, Fixed(np.int64(13)), Fixed(np.int64(-3))], note="padded"),
        Case("DFT", 20, [COMPLEX, None, Fixed(np.int64(0))], note="batch"),
        Case("DFT", 20, [floats(2, 6, 2)], {"inverse": 1, "onesided": 1}),
        Case("DFT", 20, [floats(2, 6, 2), Fixed(np.int64(9))], {"inverse": 1, "onesided": 1}, note="odd"),
        Case("DFT", 20, [floats(2, 6, 2), Fixed(np.int64(14))], {"inverse": 1, "onesided": 1}, note="longer"),
        Case("DFT", 20, [floats(3, 240, 1)], {"onesided": 1}, note="composite"),
        Case("DFT", 20, [floats(1, 1024, 2)], {"inverse": 1}, note="power"),
        Case("DFT", 20, [floats(2, 67, 2)], note="prime"),
        Case("DFT", 20, [floats(1, 1031, 1)], note="bluestein"),
        Case("DFT", 20, [floats(1, 1031, 2)], {"inverse": 1}, note="bluestein"),
        Case("DFT", 20, [floats(4, 4, 2).astype(np.float64)]),
    )
]

SPECTRA = [
    signal(c)
    for c in (
        Case("STFT", 17, [floats(2, 32, 1), Fixed(np.int64(5)), Fixed(floats(8))]),
        Case("STFT", 17, [floats(2, 32, 1), Fixed(np.int64(5)), None, Fixed(np.int64(9))], {"onesided": 0}),
        Case("STFT", 17, [floats(1, 33, 2), Fixed(np.int64(4)), Fixed(floats(16)), Fixed(np.int64(16))],
             {"onesided": 0}),
        Case("STFT", 17, [floats(1, 300, 1), Fixed(np.int64(50)), Fixed(floats(128, low=0))], note="composite"),
    )
]  # fmt: skip

DETERMINANTS = [
    Case("Det", 11, [floats(3, 3)]),
    Case("Det", 11, [floats(2, 3, 4, 4)]),
    Case("Det", 11, [floats(5, 1, 1)]),
    Case("Det", 22, [floats(2, 7, 7).astype(np.float64)], reference=True),
    Case("Det", 11, [np.array([[[0, 1, 0], [1, 0, 0], [0, 0, 2]], [[1, 2, 3], [2, 4, 6], [1, 1, 1]]], np.float32)]),
    Case("Det", 11, [floats(1, 12, 12)], tolerance=1e-4),
]
DETERMINANTS = [Case(c.op, c.opset, c.inputs, dynamic=False, reference=c.reference, tolerance=c.tolerance)
                for c in DETERMINANTS]  # fmt: skip

STATISTICS = [floats(3), floats(3, low=0.5), floats(3), floats(3, low=0.5)]
NORMS = [
    Case("BatchNormalization", 15, [floats(2, 3, 4, 5), *STATISTICS], {"training_mode": 1}, outputs=3),
    Case("BatchNormalization", 15, [floats(6, 3), *STATISTICS], {"training_mode": 1, "momentum": 0.5}, outputs=3,
         reference=True),
    Case("BatchNormalization", 14, [floats(2, 3, 7), *STATISTICS], {"training_mode": 1, "epsilon": 0.1}, outputs=1,
         reference=True),
    Case("BatchNormalization", 7, [floats(2, 3, 4), *(floats(3, 4, low=0.5) for _ in range(4))], {"spatial": 0}),
]  # fmt: skip


@pytest.mark.parametrize("case", [*TRANSFORMS, *SPECTRA, *DETERMINANTS, *NORMS], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check_everywhere(case)


def test_batch_statistics_before_opset_14() -> None:
    """Five outputs: y, the running statistics, then those of x."""
    x = floats(2, 3, 4, 5)
    results = run_native(Case("BatchNormalization", 9, [x, *STATISTICS], {"momentum": 0.7}, outputs=5))
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    wanted = [STATISTICS[2] * 0.7 + mean * 0.3, STATISTICS[3] * 0.7 + var * 0.3, mean, var]
    for found, right in zip(results[1:], wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5)
    newer = Case("BatchNormalization", 15, [x, *STATISTICS], {"training_mode": 1})
    np.testing.assert_allclose(results[0], expected(newer.model(), newer.feeds(), reference=True)[0], atol=1e-5)


@pytest.mark.parametrize(("opset", "kind"), [(7, np.float32), (10, np.bool_), (13, np.bool_)])
def test_masks_of_dropout(opset: int, kind: Any) -> None:
    """Outside training all is kept."""
    x = floats(3, 4)
    y, mask = run_native(Case("Dropout", opset, [x], outputs=2))
    np.testing.assert_array_equal(y, x)
    assert mask.dtype == kind and mask.shape == x.shape and mask.all()


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("op", ["DFT", "Det", "BatchNormalization"])
def test_dtypes(op: str, dtype: Any) -> None:
    inputs: list[Any] = [floats(2, 12, 2)] if op == "DFT" else [floats(4, 4)]
    if op == "BatchNormalization":
        inputs = [floats(2, 3, 5), *STATISTICS]
    attributes = {"training_mode": 1} if op == "BatchNormalization" else {}
    rounded = [x.astype(dtype) for x in inputs]
    wide = Case(op, 22, [x.astype(np.float32) for x in rounded], attributes)
    [wanted] = expected(wide.model(), wide.feeds(), reference=True)
    [found] = run_native(Case(op, 22, rounded, attributes))
    assert found.dtype == dtype
    limit = {2: 2.0**-7, 8: 1e-4}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(found.astype(np.float64), wanted, atol=limit * np.abs(wanted).max())


@pytest.mark.parametrize("kind", [1, 11, 10])
def test_mel_scale(kind: int) -> None:
    operands = [Fixed(np.int64(v)) for v in (8, 64, 8192)] + [Fixed(np.float32(v)) for v in (20, 4096)]
    check_native(Case("MelWeightMatrix", 17, operands, {"output_datatype": kind}, reference=True))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case("DFT", 20, [COMPLEX], {"onesided": 1}), "onesided is 1 for a complex signal"),
        (Case("DFT", 20, [COMPLEX, None, Fixed(np.int64(3))], rank=4), "axis is 3, the dimension that holds complex"),
        (Case("DFT", 20, [COMPLEX, np.array(4)], rank=4), r"dft_length \(input 1\) must be constant"),
        (Case("STFT", 17, [floats(1, 8, 1), Fixed(np.int64(2)), Fixed(floats(9))], rank=4), "do not fit"),
    ],
    ids=lambda v: v.id if isinstance(v, Case) else "",
)
def test_what_cannot_be_imported(case: Case, words: str) -> None:
    with pytest.raises((InvalidModelError, UnsupportedError), match=words):
        imported(case.model(), case.feeds())
