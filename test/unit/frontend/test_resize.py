"""Resize with wide filters, cropping, integers and the forms before opset 11: in numpy and as machine code."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gecc.errors import InvalidModelError
from test.unit.frontend.cases import Case, Fixed, expected, fixed, floats, imported, ints
from test.unit.frontend.native import check_everywhere, check_native, run_native

X, V = floats(2, 3, 9, 7), floats(1, 2, 4, 5, 6)
UP = fixed(1, 1, 2, 1.5, dtype=np.float32)
DOWN = fixed(1, 1, 0.6, 0.4, dtype=np.float32)
UNEVEN = fixed(1, 1, 0.5, 2.5, dtype=np.float32)

CUBIC = [
    *(
        Case("Resize", 13, [X, None, s], {"mode": "cubic", "coordinate_transformation_mode": c}, note=note)
        for c in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
        for s, note in ((UP, "up"), (DOWN, "down"), (UNEVEN, "uneven"))
    ),
    Case("Resize", 13, [X, None, UP], {"mode": "cubic", "cubic_coeff_a": -0.5}),
    Case("Resize", 13, [X, None, DOWN], {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5}),
    Case("Resize", 19, [X, None, UP], {"mode": "cubic", "coordinate_transformation_mode": "half_pixel_symmetric"}),
    Case("Resize", 18, [X, None, None, fixed(20, 5)], {"axes": [2, 3], "mode": "cubic"}),
    Case("Resize", 18, [X, None, None, fixed(1, 1)], {"axes": [3, 2], "mode": "cubic"}),
    Case("Resize", 18, [V, None, fixed(1, 1, 2, 1.5, 0.5, dtype=np.float32)], {"mode": "cubic"}, reference=True),
]

ANTIALIASED = [
    Case("Resize", 18, [X, None, s], {"antialias": 1, "mode": mode, **more}, note=note)
    for mode, more in (("linear", {}), ("cubic", {}), ("cubic", {"cubic_coeff_a": -0.5, "exclude_outside": 1}))
    for s, note in ((UP, "up"), (DOWN, "down"), (UNEVEN, "uneven"))
] + [
    Case("Resize", 18, [floats(1, 1, 40, 3), None, None, fixed(1, 1, 3, 3)], {"antialias": 1, "mode": "linear"}),
    Case("Resize", 18, [V, None, fixed(1, 1, 0.5, 0.6, 0.5, dtype=np.float32)], {"mode": "linear", "antialias": 1},
         reference=True, tolerance=1e-5),
]  # fmt: skip

ROI = Fixed(np.array([0, 0, 0.4, -0.25, 1, 1, 0.9, 1.15], np.float32))
CROPPED = [
    Case(
        "Resize",
        13,
        [X, ROI, None, fixed(2, 3, 5, 6)],
        {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5},
        reference=mode == "cubic",
    )
    for mode in ("nearest", "linear", "cubic")
] + [
    Case("Resize", 18, [X, fixed(0.1, 0.6, dtype=np.float32), None, fixed(9)],
         {"axes": [2], "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}, reference=True),
    Case("Resize", 13, [X, ROI, fixed(1, 1, 1, 1, dtype=np.float32)],
         {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}, reference=True),
    Case("Resize", 18, [X, fixed(0.2, 0.8, dtype=np.float32), None, fixed(1)],
         {"axes": [3], "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}, reference=True),
]  # fmt: skip

MORE = [
    *(
        Case("Resize", 13, [V, None, None, fixed(1, 2, 7, 3, 9)], {"mode": m, "coordinate_transformation_mode": c})
        for m in ("nearest", "linear")
        for c in ("half_pixel", "align_corners")
    ),
    *(
        Case("Resize", 13, [ints(1, 2, 6, 7, low=0, high=100, dtype=d), None, UP], note=d.__name__, reference=True)
        for d in (np.uint8, np.int16, np.int64, np.uint32, np.float64)
    ),
    Case("Resize", 10, [X, fixed(1, 1, 0.5, 2, dtype=np.float32)], note="mixed"),
    Case("Upsample", 9, [X, fixed(1, 1, 3, 2, dtype=np.float32)]),
    Case("Upsample", 9, [V, fixed(1, 1, 2, 2, 2, dtype=np.float32)], {"mode": "linear"}),
    Case("Resize", 18, [X, None, None, fixed(14, 12)], {"axes": [2, 3], "mode": "cubic",
         "keep_aspect_ratio_policy": "not_larger"}, dynamic=False),
]  # fmt: skip


@pytest.mark.parametrize("case", [*CUBIC, *ANTIALIASED, *CROPPED, *MORE], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check_everywhere(case)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64])
@pytest.mark.parametrize("scales", [UP, DOWN], ids=["up", "down"])
def test_integers_are_rounded(dtype: Any, scales: Fixed) -> None:
    """Never further than half from the interpolated number, but for what f32 adds at a tie."""
    case = Case("Resize", 19, [ints(1, 2, 6, 7, low=0, high=100, dtype=dtype), None, scales], {"mode": "linear"})
    wide = Case("Resize", 19, [case.feeds()["i0"].astype(np.float32), None, scales], case.attributes)
    [real] = expected(wide.model(), wide.feeds())
    for found in (run_native(case)[0], imported(case.model(), case.feeds())[1]["o0"]):
        assert found.dtype == dtype
        assert np.abs(found.astype(np.float64) - real).max() <= 0.5001


def test_integers_are_cut_to_their_range() -> None:
    """A cubic filter overshoots; so does one of 64 bits at the end of its range."""
    x = np.array([[[0, 255, 0, 255, 255, 0, 0]]], np.uint8)
    case = Case("Resize", 19, [x, None, fixed(1, 1, 3, dtype=np.float32)], {"mode": "cubic"})
    wide = Case("Resize", 19, [x.astype(np.float32), *case.inputs[1:]], case.attributes, reference=True)
    [real] = expected(wide.model(), wide.feeds(), reference=True)
    assert real.min() < 0 and real.max() > 255
    for found in (run_native(case)[0], imported(case.model(), case.feeds())[1]["o0"]):
        assert np.abs(found.astype(int) - np.clip(np.rint(real), 0, 255)).max() <= 1
        assert not found[real < -1].any() and (found[real > 256] == 255).all()
    for top in (np.iinfo(np.int64).max, np.iinfo(np.int64).min):
        [found] = run_native(Case("Resize", 19, [np.full((1, 1, 4), top), *case.inputs[1:]], case.attributes))
        assert (np.sign(found) == np.sign(top)).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_dtypes(mode: str, dtype: Any) -> None:
    """Half formats stay in f32 between dimensions, so that they are rounded once."""
    x = X.astype(dtype)
    case = Case("Resize", 19, [x, None, DOWN], {"mode": mode, "antialias": 1})
    wide = Case("Resize", 19, [x.astype(np.float32), None, DOWN], case.attributes)
    [wanted] = expected(wide.model(), wide.feeds())
    [found] = run_native(case)
    limit = {2: 2.0**-8, 8: 1e-5}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=limit, atol=limit)


def test_sizes_known_at_last() -> None:
    """Sizes that follow from the shape of another operand, with a wide filter."""
    check_native(Case("Resize", 13, [X, None, np.array([1, 1, 2, 1.5], np.float32)], {"mode": "nearest"}), ways=())
    case = Case("Resize", 18, [X, None, None, np.array([2, 3, 5, 4])], {"mode": "cubic", "antialias": 1})
    [wanted] = expected(case.model(), case.feeds())
    np.testing.assert_allclose(run_native(case)[0], wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "inputs", "words"),
    [
        ({"mode": "area"}, [X, None, UP], "mode is area, expected one of nearest, linear, cubic"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, [X, None, UP], "input 1 is missing"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, [X, fixed(0.0, 1.0, dtype=np.float32), UP],
         "roi holds 2 numbers, expected 8"),
        ({"nearest_mode": "up"}, [X, None, UP], "nearest_mode is up"),
    ],
)  # fmt: skip
def test_what_contradicts_the_standard(attributes: dict[str, Any], inputs: list[Any], words: str) -> None:
    case = Case("Resize", 13, inputs, attributes, rank=4)
    with pytest.raises(InvalidModelError, match=words):
        imported(case.model(), case.feeds())
