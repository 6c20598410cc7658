"""Result types that ge operators infer, above all with unknown dimensions."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import FloatAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.dialects.ge.types import f32, f64, i64

NHWC = ge.LayoutAttr("NHWC")


def value(*shape: int, element: Any = f32, layout: Any = None) -> SSAValue:
    """A value of a tensor type; -1 is unknown."""
    return test.TestOp(result_types=[ge.tensor_type(shape, element, layout)]).res[0]


def ints(*values: int) -> SSAValue:
    """An i64 vector constant."""
    import numpy as np

    return ge.const(np.array(values, np.int64)).result


def shape(op: Operation, index: int = 0) -> list[int]:
    """The shape of a result."""
    return list(ge.dims(op.results[index]))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([2, 3], [3], [2, 3]),
        ([-1, 3], [1, 1], [-1, 3]),
        ([-1, 3], [4, 1], [4, 3]),
        ([-1], [-1], [-1]),
        ([-1], [1], [-1]),
        ([0], [1], [0]),
        ([], [2], [2]),
    ],
)
def test_broadcast(a, b, expected) -> None:
    assert shape(ge.Add(value(*a), value(*b))) == expected


@pytest.mark.parametrize(("a", "b"), [([2], [3]), ([0], [2]), ([4, 1], [3, 2])])
def test_broadcast_conflict(a, b) -> None:
    with pytest.raises(VerifyException, match="do not broadcast"):
        ge.Add(value(*a), value(*b))


def test_unknown_dimensions_flow() -> None:
    assert shape(ge.MatMulV2(value(-1, 1, 4, 8), value(5, 8, -1))) == [-1, 5, 4, -1]
    assert shape(ge.MatMulV2(value(-1, 4), value(8, -1), transpose_x1=True, transpose_x2=True)) == [4, 8]
    assert shape(ge.Conv2D(value(-1, 3, -1, 9), value(4, 3, 3, 3), strides=(2, 2))) == [-1, 4, -1, 4]
    assert shape(ge.ConvTranspose2D(value(1, 4, 5, -1), value(4, 2, 2, 2), strides=(2, 2))) == [1, 2, 10, -1]
    assert shape(ge.MaxPool(value(1, 4, -1, 5), (2, 2), strides=(2, 2), ceil_mode=True)) == [1, 4, -1, 3]
    assert shape(ge.Concat([value(-1, 3), value(2, 4)], 1)) == [2, 7]
    assert shape(ge.Concat([value(2, -1), value(2, 4)], 1)) == [2, -1]
    assert shape(ge.Slice(value(-1, 6), [0, 1], [2, -1], [0, 1])) == [-1, 4]
    assert shape(ge.Pad(value(-1, 3), [1, 1, 1, 1])) == [-1, 5]
    assert shape(ge.Gather(value(5, -1), value(-1, 2, element=i64))) == [-1, 2, -1]
    assert shape(ge.Tile(value(-1, 3), [2, 2])) == [-1, 6]
    assert shape(ge.Split(value(2, -1), 1, [3, 4]), 1) == [2, 4]
    assert shape(ge.ReduceMean(value(-1, 3, 4), [1], keep_dims=True)) == [-1, 1, 4]
    assert shape(ge.DepthToSpace(value(1, 8, -1, 3), 2)) == [1, 2, -1, 6]
    assert ge.tensor(ge.Add(value(-1), value(-1)).result) == TensorType(f32, [-(2**63)])


def test_dynamic_forms_read_constants() -> None:
    x = value(-1, 3, 4)
    assert shape(ge.DynReshape(x, ints(0, -1))) == [-1, 12]
    assert shape(ge.DynReshape(x, ints(-1, 4))) == [-1, 4]
    assert shape(ge.DynReshape(x, ints(2, -1, 6))) == [2, -1, 6]
    assert shape(ge.DynReshape(value(2, 3), ints(3, -1))) == [3, 2]
    assert shape(ge.DynExpand(x, ints(2, 1, 1, 4))) == [2, -1, 3, 4]
    assert shape(ge.DynSlice(x, ints(1), ints(3), ints(-1))) == [-1, 3, 2]
    assert shape(ge.DynSlice(x, value(1, element=i64), ints(3), ints(1))) == [-1, -1, 4]
    assert shape(ge.DynPad(x, ints(1, 2), None, ints(1))) == [-1, 6, 4]
    assert shape(ge.DynTile(x, ints(2, 2, 1))) == [-1, 6, 4]
    assert shape(ge.DynResize(x, None, ints(1, 6, 2))) == [1, 6, 2]
    assert shape(ge.DynSqueeze(value(1, -1, 1), ints(0))) == [-1, 1]
    assert shape(ge.DynSqueeze(value(1, -1, 1), ints(1))) == [1, 1]
    assert shape(ge.DynUnsqueeze(x, ints(-1, 0))) == [1, -1, 3, 4, 1]
    assert shape(ge.ConstantOfShape(ints(2, 0))) == [2, 0]
    assert shape(ge.Shape(x, start=-2)) == [2]


def test_what_decides_a_rank_must_be_known_or_declared() -> None:
    unknown = value(-1, element=i64)
    with pytest.raises(VerifyException, match="ranked tensor"):
        ge.DynReshape(value(6), unknown)
    op = ge.DynReshape(value(6), unknown, result_type=ge.tensor_type([-1, 2], f32))
    op.verify()


def test_layout_is_kept() -> None:
    x = value(1, 8, 5, 5, layout=NHWC)
    for op in (
        ge.Relu(x),
        ge.Add(x, x),
        ge.Mul(x, value(8, 1, 1)),
        ge.Cast(x, f64),
        ge.Conv2D(x, value(4, 8, 1, 1)),
        ge.MaxPool(x, (2, 2)),
        ge.GlobalAveragePool(x),
        ge.ReduceMean(x, [2, 3], keep_dims=True),
        ge.Concat([x, x], 1),
        ge.Slice(x, [0], [2], [1]),
        ge.Split(x, 1, [3, 5]),
        ge.Softmax(x, axis=1),
        ge.Resize(x, (1, 8, 10, 10)),
        ge.BatchNorm(x, *[value(8)] * 4),
    ):
        op.verify()
        assert {ge.layout(ge.tensor(r)) for r in op.results} == {NHWC}, op.name
    for op in (ge.ReduceMean(x, [2, 3]), ge.Transpose(x, (0, 2, 3, 1)), ge.TransData(x, None)):
        assert ge.layout(ge.tensor(op.results[0])) is None, op.name


def test_layout_maps_between_orders() -> None:
    assert NHWC.physical([1, 8, 5, 6]) == (1, 5, 6, 8)
    assert [NHWC.physical([1, 8, 5, 6])[i] for i in NHWC.inverse] == [1, 8, 5, 6]


def test_numbers_are_f32_when_that_is_exact() -> None:
    assert ge.float_attr(0.5) == FloatAttr(0.5, f32)
    assert ge.float_attr(0.1) == FloatAttr(0.1, f64)
    assert ge.float_attr(1e300) == FloatAttr(1e300, f64)
    assert ge.LeakyRelu(value(2)).alpha == FloatAttr(0.01, f32)


@pytest.mark.parametrize(
    ("size", "start", "end", "step"),
    [(n, s, e, p) for n in (0, 1, 5) for s in (-7, -1, 0, 2, 9) for e in (-9, -2, 0, 3, 8) for p in (-2, -1, 1, 3)],
)
def test_slice_bounds_are_those_of_python(size, start, end, step) -> None:
    if step < 0 and end == -9:  # python has no number for "before the first"; below the range it clamps as ONNX does
        expected = list(range(size))[start::step]
    else:
        expected = list(range(size))[start:end:step]
    first, step, count = ge.slice_bounds(size, start, end, step)
    assert [first + i * step for i in range(count)] == expected


def test_the_dialect_loads_without_numpy() -> None:
    code = "import sys, gecc.dialects.ge; sys.exit('numpy' in sys.modules or 'onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
