"""Convolutions, pools and resizes."""

from __future__ import annotations

import numpy as np
import pytest

from test.unit.frontend.cases import Case, Fixed, check, fixed, floats
from test.unit.frontend.native import check_native

X, L = floats(2, 4, 9, 7), floats(2, 4, 11)
W, WL = Fixed(floats(6, 4, 3, 3)), Fixed(floats(6, 4, 3))
B = Fixed(floats(6))

CONVS = [
    Case("Conv", 7, [X, W]),
    Case("Conv", 11, [X, W, B], {"pads": [1, 0, 2, 1], "strides": [2, 1], "kernel_shape": [3, 3]}),
    Case("Conv", 11, [X, W, B], {"dilations": [2, 1], "auto_pad": "NOTSET"}),
    Case("Conv", 11, [X, Fixed(floats(8, 1, 3, 3))], {"group": 4}),
    Case("Conv", 11, [X, Fixed(floats(6, 2, 3, 3)), B], {"group": 2}),
    *(Case("Conv", 11, [X, W], {"auto_pad": m, "strides": [2, 3]}) for m in ("SAME_UPPER", "SAME_LOWER", "VALID")),
    Case("Conv", 11, [L, WL, B], {"pads": [1, 2], "strides": [2]}),
    Case("Conv", 11, [L, WL], {"auto_pad": "SAME_LOWER", "strides": [2]}),
    Case("Conv", 11, [X, floats(6, 4, 3, 3)], {"kernel_shape": [3, 3]}, note="weight-operand"),
    Case("ConvTranspose", 7, [X, Fixed(floats(4, 5, 3, 3))], {"strides": [2, 2]}),
    Case(
        "ConvTranspose",
        11,
        [X, Fixed(floats(4, 3, 3, 2)), B],
        {"group": 2, "strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 1]},
    ),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 5, 3, 3))], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    Case(
        "ConvTranspose",
        11,
        [X, Fixed(floats(4, 5, 4, 4))],
        {"strides": [2, 2], "output_shape": [17, 15]},
        dynamic=False,
    ),
    Case("ConvTranspose", 11, [L, Fixed(floats(4, 5, 3))], {"strides": [2], "pads": [1, 0]}),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 5, 2, 3)), Fixed(floats(5))], {"strides": [2, 3]}, note="apart"),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 3, 3, 2)), B], {"group": 2, "strides": [3, 2]}, note="apart-groups"),
    Case(
        "ConvTranspose", 11, [X, Fixed(floats(4, 5, 2, 2))], {"strides": [2, 2], "output_padding": [1, 0]}, note="gap"
    ),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 5, 2, 2))], {"strides": [2, 2], "pads": [0, 0, 1, 1]}, note="cut"),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 5, 1, 2))], {"strides": [1, 2], "dilations": [3, 1]}, note="one-tap"),
]

POOLS = [
    Case("MaxPool", 8, [X], {"kernel_shape": [3, 2]}),
    Case("MaxPool", 10, [X], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    Case("MaxPool", 12, [X], {"kernel_shape": [2, 2], "dilations": [2, 2], "pads": [1, 1, 0, 1]}),
    *(
        Case("MaxPool", 11, [X - 5], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": m})
        for m in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    Case("MaxPool", 12, [L], {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    Case("AveragePool", 7, [X], {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0]}),
    Case("AveragePool", 7, [X], {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0], "count_include_pad": 1}),
    Case("AveragePool", 19, [X], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    Case("AveragePool", 19, [X], {"kernel_shape": [2, 2], "dilations": [2, 1]}),
    Case("AveragePool", 11, [X], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}, dynamic=False),
    Case("AveragePool", 11, [L], {"kernel_shape": [4], "strides": [3]}),
    Case("GlobalAveragePool", 7, [X]),
    Case("GlobalMaxPool", 7, [X]),
    Case("GlobalAveragePool", 7, [L]),
]

NONE = Fixed(np.zeros(0, np.float32))
SCALES = fixed(1, 1, 2, 1.5, dtype=np.float32)
DOWN = fixed(1, 1, 0.5, 0.6, dtype=np.float32)

RESIZES = [
    Case("Upsample", 7, [X], {"scales": [1.0, 1.0, 2.0, 3.0]}),
    Case("Upsample", 9, [X, fixed(1, 1, 2, 3, dtype=np.float32)], {"mode": "linear"}),
    Case("Resize", 10, [X, fixed(1, 1, 2, 3, dtype=np.float32)]),
    Case("Resize", 10, [X, fixed(1, 1, 0.5, 0.5, dtype=np.float32)], note="down"),
    Case("Resize", 10, [X, SCALES], {"mode": "linear"}),
    *(
        Case("Resize", 13, [X, None, s], {"mode": mode, "coordinate_transformation_mode": c}, note=note)
        for mode in ("nearest", "linear")
        for c in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
        for s, note in ((SCALES, "up"), (DOWN, "down"))
    ),
    Case("Resize", 19, [X, None, SCALES], {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}),
    *(
        Case("Resize", 13, [X, None, SCALES], {"nearest_mode": m, "coordinate_transformation_mode": "asymmetric"})
        for m in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    ),
    Case("Resize", 11, [X, NONE, NONE, fixed(2, 4, 5, 9)], {"mode": "linear"}),
    Case("Resize", 13, [X, None, None, fixed(2, 4, 18, 14)], {"mode": "linear"}),
    Case("Resize", 18, [X, None, None, fixed(18, 5)], {"axes": [2, 3], "mode": "linear"}),
    Case("Resize", 18, [X, None, fixed(2.0, dtype=np.float32)], {"axes": [3]}),
    Case(
        "Resize",
        18,
        [X, None, None, fixed(18, 18)],
        {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"},
        dynamic=False,
    ),
    Case(
        "Resize",
        18,
        [X, None, None, fixed(12, 12)],
        {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller", "mode": "linear"},
        dynamic=False,
    ),
    Case("Resize", 13, [X, None, np.array([1, 1, 2, 1.5], np.float32)], {"mode": "linear"}, note="operand"),
    Case("Resize", 13, [floats(1, 2, 5), None, fixed(1, 1, 2, dtype=np.float32)], {"mode": "linear"}, note="1d"),
]


@pytest.mark.parametrize("case", [*CONVS, *POOLS, *RESIZES], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("groups", [8, 16, 32])
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("constant", [True, False])
def test_as_many_groups_as_outputs(groups: int, depth: int, constant: bool) -> None:
    """Depthwise only where each group has one input channel; the panels may be as wide as there are groups."""
    w = floats(groups, depth, 3, 2)
    weights = Fixed(w) if constant else w
    check_native(Case("Conv", 11, [floats(2, groups * depth, 5, 4), weights], {"group": groups}))
