"""Grids, regions, deformable convolutions and blocks: in numpy and as machine code."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

import gecc
from gecc.errors import InvalidModelError, UnsupportedError
from test.unit.frontend.cases import Case, Fixed, expected, fixed, floats, imported, ints
from test.unit.frontend.native import check_everywhere, run_native

X, V = floats(2, 3, 5, 7), floats(2, 2, 4, 3, 5)
GRID, GRID_3D = floats(2, 4, 6, 2, low=-1.7, high=1.7), floats(2, 2, 3, 4, 3, low=-1.6, high=1.6)
GRID[0, 0, :3] = [[6e4, -6e4], [-1, 1], [1, -1]]

GRIDS = [
    *(
        Case("GridSample", 20, [X, GRID], {"mode": m, "padding_mode": p, "align_corners": a})
        for m in ("linear", "nearest", "cubic")
        for p in ("zeros", "border", "reflection")
        for a in (0, 1)
        if not (m == "cubic" and p == "reflection")
    ),
    *(
        Case("GridSample", 20, [X, np.clip(GRID, -1.5, 1.5)], {"mode": "cubic", "padding_mode": "reflection",
             "align_corners": a}, tolerance=1e-4)
        for a in (0, 1)
    ),
    *(Case("GridSample", 16, [X, GRID], {"mode": m}) for m in ("bilinear", "bicubic")),
    *(
        Case("GridSample", 20, [V, GRID_3D], {"mode": m, "padding_mode": p, "align_corners": a})
        for m, a in (("linear", 0), ("linear", 1), ("nearest", 0))
        for p in ("zeros", "border", "reflection")
    ),
    Case("GridSample", 20, [V, GRID_3D], {"mode": "cubic"}, reference=True, tolerance=1e-4),
    Case("GridSample", 20, [floats(1, 1, 1, 6), GRID[:1]], {"padding_mode": "reflection"}),
    Case("GridSample", 22, [ints(2, 3, 5, 7, dtype=np.int32), GRID], {"mode": "nearest"}, reference=True),
]  # fmt: skip

AFFINE = [
    Case("AffineGrid", 20, [floats(2, 2, 3), fixed(2, 3, 4, 5)], {"align_corners": a}, dynamic=False)
    for a in (0, 1)
] + [
    Case("AffineGrid", 20, [floats(2, 3, 4), fixed(2, 3, 4, 2, 6)], {"align_corners": a}, dynamic=False)
    for a in (0, 1)
]  # fmt: skip

ROIS = np.array(
    [[0, 0, 6, 4], [1.3, 2.1, 3.2, 2.2], [-3, -2, 20, 30], [5, 3, 2, 1], [8, 8, 9, 9], [2, 1, 12, 3]], np.float32
)
IMAGES = np.array([0, 1, 1, 0, 1, 0])
REGIONS = [
    Case(
        "RoiAlign",
        16,
        [X, ROIS, IMAGES],
        {"mode": m, "output_height": 3, "output_width": 2, "sampling_ratio": r, "spatial_scale": s,
         "coordinate_transformation_mode": c},
    )
    for m in ("avg", "max")
    for r, s in ((0, 1.0), (2, 0.5), (3, 1.0))
    for c in ("half_pixel", "output_half_pixel")
] + [
    Case("RoiAlign", 10, [X, ROIS, IMAGES], {"output_height": 2, "output_width": 2}),
    Case("RoiAlign", 16, [X, np.array([[-400, -300, 500, 800]], np.float32), np.array([1])], {"mode": "avg"}),
    Case("RoiAlign", 16, [X, np.array([[-400, -300, 500, 800]], np.float32), np.array([1])], {"mode": "max"}),
]  # fmt: skip

DEFORMED = [
    Case("DeformConv", 19, [X, Fixed(floats(4, 3, 2, 3)), floats(2, 12, 4, 5)], {"kernel_shape": [2, 3]}),
    Case(
        "DeformConv",
        22,
        [
            floats(2, 4, 6, 7), Fixed(floats(6, 2, 3, 2)), floats(2, 24, 4, 3), Fixed(floats(6)),
            floats(2, 12, 4, 3, low=0),
        ],
        {"group": 2, "offset_group": 2, "strides": [2, 3], "pads": [1, 0, 2, 1], "dilations": [1, 1]},
    ),
    Case("DeformConv", 19, [X, Fixed(floats(4, 3, 2, 2)), floats(2, 8, 3, 5)], {"dilations": [2, 2]}),
]  # fmt: skip

BLOCKS = [
    Case("Col2Im", 18, [floats(1, 5, 5), fixed(5, 5), fixed(1, 5)], dynamic=False),
    Case("Col2Im", 18, [floats(2, 12, 25), fixed(6, 7), fixed(2, 3)], dynamic=False),
    Case("Col2Im", 18, [floats(2, 12, 18), fixed(6, 7), fixed(2, 3)], {"dilations": [2, 1], "pads": [1, 0, 0, 1],
         "strides": [2, 1]}, dynamic=False),
    Case("Col2Im", 18, [floats(2, 8, 8), fixed(3, 4, 5), fixed(2, 2, 2)], {"strides": [1, 2, 2]}, dynamic=False),
    Case("Col2Im", 18, [floats(2, 6, 5), fixed(9), fixed(3)], {"strides": [2], "pads": [1, 1]}, dynamic=False,
         reference=True),
]  # fmt: skip


@pytest.mark.parametrize("case", [*GRIDS, *AFFINE, *REGIONS, *DEFORMED, *BLOCKS], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check_everywhere(case)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "case", [GRIDS[0], GRIDS[12], REGIONS[0], REGIONS[2], DEFORMED[1], BLOCKS[1]], ids=lambda c: c.id
)
def test_dtypes(case: Case, dtype: Any) -> None:
    """Near the f32 results of the same (rounded) operands, f64 far nearer."""

    def of(kind: Any) -> Case:
        def cast(value: Any) -> Any:
            if isinstance(value, Fixed):
                return Fixed(cast(value.array))
            if value is None or value.dtype.kind != "f":
                return value
            return np.asarray(value).astype(dtype).astype(kind)

        return Case(case.op, 22, [cast(x) for x in case.inputs], case.attributes)

    wide = of(np.float32)
    [wanted] = imported(wide.model(), wide.feeds())[1].values()
    [found] = run_native(of(dtype))
    assert found.dtype == dtype
    limit = {2: 2.0**-7, 8: 1e-5}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(found.astype(np.float64), wanted, atol=limit * max(1, np.abs(wanted).max()), rtol=limit)


def test_the_operator_of_onnx_runtime() -> None:
    """GridSample of com.microsoft, which models from before opset 16 have."""
    node = helper.make_node("GridSample", ["x", "g"], ["y"], domain="com.microsoft", mode="bilinear", align_corners=1)
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in (("x", X), ("g", GRID))]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3, 4, 6])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([node], "graph", infos, [result]), opset_imports=opsets, ir_version=8)
    feeds = {"x": X, "g": GRID}
    [wanted] = expected(model, feeds)
    with gecc.load(gecc.compile(model), threads=1, affinity="none") as executor:
        np.testing.assert_allclose(executor.run(feeds)["y"], wanted, atol=1e-5)


def test_numbers_that_are_none() -> None:
    """NaN and infinity in a grid or a region do not make loads go astray."""
    grid = GRID.copy()
    grid[0, 0, 0], grid[0, 1, 1], grid[1, 0, 0, 0] = np.nan, np.inf, -np.inf
    for padding in ("zeros", "border", "reflection"):
        [found] = run_native(Case("GridSample", 20, [X, grid], {"padding_mode": padding}))
        [clean] = run_native(Case("GridSample", 20, [X, GRID], {"padding_mode": padding}))
        np.testing.assert_array_equal(found[:, :, 2:], clean[:, :, 2:])
    rois = ROIS.copy()
    rois[0, 0], rois[2, 3] = np.nan, np.inf
    for mode in ("avg", "max"):
        [found] = run_native(Case("RoiAlign", 16, [X, rois, IMAGES], {"mode": mode}))
        [clean] = expected(*_of(Case("RoiAlign", 16, [X, ROIS, IMAGES], {"mode": mode})))
        np.testing.assert_allclose(found[[1, 3, 4, 5]], clean[[1, 3, 4, 5]], atol=1e-5)


def _of(case: Case) -> tuple[Any, dict[str, Any]]:
    return case.model(), case.feeds()


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case("GridSample", 20, [X, GRID], {"padding_mode": "wrap"}), "padding_mode is wrap, expected one of zeros"),
        (Case("DeformConv", 19, [floats(1, 1, 9), floats(1, 1, 2), floats(1, 2, 8)], rank=3), "rank 3"),
        (Case("AffineGrid", 20, [floats(2, 2, 3), np.array([2, 3, 4, 5])], rank=4), r"size \(input 1\) must be"),
    ],
    ids=lambda v: v.id if isinstance(v, Case) else "",
)
def test_what_cannot_be_imported(case: Case, words: str) -> None:
    with pytest.raises((InvalidModelError, UnsupportedError), match=words):
        imported(*_of(case))
