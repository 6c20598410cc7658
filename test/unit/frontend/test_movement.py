"""Operators that move elements, pick them by index, or make shapes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from test.unit.frontend.cases import Case, Fixed, check, fixed, floats, imported, ints

X = floats(2, 3, 4)
BIG = 2**63 - 1

RESHAPES = [
    Case("Reshape", 7, [X, fixed(4, 6)]),
    Case("Reshape", 13, [X, fixed(0, -1)]),
    Case("Reshape", 13, [X, fixed(-1)]),
    Case("Reshape", 14, [floats(0, 3), fixed(3, 0)], {"allowzero": 1}),
    Case("Reshape", 14, [X, np.array([6, -1])], note="operand"),
    Case("Flatten", 9, [X]),
    Case("Flatten", 11, [X], {"axis": 0}),
    Case("Flatten", 13, [X], {"axis": -1}),
    Case("Flatten", 13, [X], {"axis": 3}),
    Case("Flatten", 13, [floats(2, 3, 2, 2)], {"axis": 2}),
    Case("Squeeze", 11, [floats(1, 3, 1)], {"axes": [0]}),
    Case("Squeeze", 13, [floats(1, 3, 1), fixed(-1)]),
    Case("Squeeze", 13, [floats(1, 3, 1)], dynamic=False),
    Case("Squeeze", 13, [floats(1, 3, 1, 2), np.array([0, 2])], rank=2, note="operand"),
    Case("Unsqueeze", 11, [X], {"axes": [0, 4]}),
    Case("Unsqueeze", 13, [X, fixed(-1, 1)]),
    Case("Unsqueeze", 13, [X, np.array([1])], rank=4, note="operand"),
    Case("Transpose", 7, [X]),
    Case("Transpose", 13, [X], {"perm": [1, 2, 0]}),
    Case("Transpose", 13, [X], {"perm": [0, 1, 2]}),
    Case("DepthToSpace", 7, [floats(1, 8, 2, 3)], {"blocksize": 2}),
    Case("DepthToSpace", 11, [floats(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}),
    Case("SpaceToDepth", 28, [floats(1, 2, 4, 6)], {"blocksize": 2, "mode": "CRD"}, reference=True),
    Case("SpaceToDepth", 7, [floats(1, 2, 4, 6)], {"blocksize": 2}),
]

PARTS = [
    Case("Concat", 7, [X, floats(2, 1, 4)], {"axis": 1}),
    Case("Concat", 13, [X, floats(2, 3, 2)], {"axis": -1}),
    Case("Concat", 13, [X], {"axis": 0}),
    Case("Split", 11, [floats(6, 2)], {"axis": 0}, outputs=3),
    Case("Split", 11, [floats(6, 2)], {"axis": 0, "split": [1, 5]}, outputs=2),
    Case("Split", 13, [floats(2, 6), fixed(4, 2)], {"axis": 1}, outputs=2),
    Case("Split", 13, [floats(2, 6)], {"axis": -1}, outputs=2),
    Case("Split", 13, [floats(2, 6), np.array([1, 3, 2])], {"axis": 1}, outputs=3, note="operand"),
    Case("Split", 18, [floats(7, 2)], {"num_outputs": 3}, outputs=3),
    Case("Slice", 9, [X], {"starts": [0, 1], "ends": [2, BIG], "axes": [0, 2]}),
    Case("Slice", 9, [X], {"starts": [-2], "ends": [-1]}),
    Case("Slice", 10, [X, fixed(1), fixed(3)]),
    Case("Slice", 11, [X, fixed(-1), fixed(-BIG), fixed(2), fixed(-2)]),
    Case("Slice", 13, [X, fixed(0, 5), fixed(100, 0), fixed(0, 1)], note="empty"),
    Case("Slice", 13, [X, np.array([1]), np.array([3]), fixed(1)], note="operand"),
    Case("Slice", 13, [X, fixed(0), fixed(2), fixed(-1, dtype=np.int64), fixed(1)]),
    Case("Pad", 7, [X], {"pads": [0, 1, 2, 0, 0, 1], "value": 1.5}),
    Case("Pad", 7, [X], {"pads": [0, 1, 2, 0, 0, 1], "mode": "reflect"}),
    Case("Pad", 11, [X, fixed(0, 1, 2, 0, 0, 1), Fixed(np.float32(-1))]),
    Case("Pad", 13, [X, fixed(0, 1, 2, 0, 0, 1)], {"mode": "edge"}),
    Case("Pad", 13, [X, fixed(0, -1, 1, 0, 0, -1)], note="negative"),
    Case("Pad", 18, [X, fixed(1, 2), Fixed(np.float32(3)), fixed(-1)]),
    Case("Pad", 19, [X, fixed(0, 1, 2, 0, 2, 1)], {"mode": "wrap"}),
    Case("Pad", 13, [X, np.array([0, 1, 0, 0, 0, 2])], note="operand"),
    Case("Expand", 8, [floats(3, 1), fixed(2, 1, 4)]),
    Case("Expand", 13, [floats(3, 4), fixed(1, 4)]),
    Case("Expand", 13, [floats(3, 1), np.array([2, 3, 2])], note="operand"),
    Case("Tile", 7, [X, fixed(1, 2, 3)]),
    Case("Tile", 13, [X, np.array([2, 1, 1])], note="operand"),
    Case("Dropout", 7, [X]),
    Case("Dropout", 10, [X]),
    Case("Dropout", 12, [X], outputs=2),
    Case("Dropout", 13, [X, Fixed(np.float32(0.5)), Fixed(np.bool_(False))], outputs=2),
]

INDEXED = [
    Case("Gather", 7, [X, ints(2, 2, low=0, high=3)], {"axis": 1}),
    Case("Gather", 13, [X, np.array([-1, 0], np.int32)], {"axis": -1}),
    Case("Gather", 13, [X, Fixed(np.int64(1))]),
    Case("GatherElements", 11, [X, ints(2, 2, 4, low=-3, high=3)], {"axis": 1}),
    Case("GatherND", 11, [X, Fixed(np.array([[0, 1], [1, -1]]))]),
    Case("GatherND", 12, [X, Fixed(np.array([[0], [2]]))], {"batch_dims": 1}),
    Case("Trilu", 14, [floats(2, 4, 5)]),
    Case("Trilu", 14, [floats(4, 5), Fixed(np.int64(1))], {"upper": 0}),
    Case("OneHot", 9, [ints(2, 3, low=-4, high=4), Fixed(np.int64(4)), fixed(0.5, 2.0, dtype=np.float32)]),
    Case("OneHot", 11, [ints(3, low=0, high=7), np.array(4), fixed(0, 1)], note="operand", dynamic=False),
    Case("OneHot", 11, [ints(3, low=0, high=7), fixed(4), fixed(0, 1)], {"axis": 0}),
    Case("EyeLike", 9, [floats(3, 4)], {"k": 1}),
    Case("EyeLike", 9, [floats(3, 4)], {"k": -1, "dtype": TensorProto.INT64}),
]

SHAPES = [
    Case("Shape", 7, [X]),
    Case("Shape", 15, [X], {"start": 1}),
    Case("Shape", 15, [X], {"start": -2, "end": -1}),
    Case("Shape", 15, [X], {"start": 2, "end": 1}, note="empty"),
    Case("Size", 13, [X]),
    Case("Range", 11, [Fixed(np.int64(2)), Fixed(np.int64(9)), Fixed(np.int64(3))]),
    Case("Range", 11, [np.array(5), np.array(0), np.array(-2)], note="operands"),
    Case("ConstantOfShape", 9, [fixed(2, 3)]),
    Case("ConstantOfShape", 9, [np.array([2, 3])], {"value": numpy_helper.from_array(np.array([7]))}),
    Case("Constant", 9, [], {"value": numpy_helper.from_array(X)}),
    Case("Constant", 12, [], {"value_int": 3}),
    Case("Constant", 12, [], {"value_ints": [3, 4]}),
    Case("Constant", 12, [], {"value_float": 0.5}),
    Case("Constant", 13, [], {"value_floats": [0.5, 1.5]}),
]


@pytest.mark.parametrize("case", [*RESHAPES, *PARTS, *INDEXED, *SHAPES], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check(case)


def test_sparse_constant() -> None:
    values = numpy_helper.from_array(np.array([1.0, 2.0], np.float32), "v")
    for indices in ([1, 5], [[0, 1], [1, 2]]):
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices), "i"), [2, 3])
        model = Case("Constant", 13, [], {"sparse_value": sparse}).model()
        np.testing.assert_array_equal(imported(model, {})[1]["o0"], [[0, 1, 0], [0, 0, 2]])
