"""Operators that move elements, and shape arithmetic, against ONNX."""

from __future__ import annotations

import numpy as np
import pytest

from gecc.dialects import ge
from gecc.dialects.ge.types import f32
from gecc.errors import GeccError, InputError, InvalidModelError, KernelError
from gecc.interp import run_module

DTYPES = [np.float32, np.int64, np.bool_, np.uint8]


def vector(*values: int):
    """An i64 vector."""
    return np.array(values, np.int64)


def const(*values: int) -> ge.Const:
    """An i64 vector in the IR."""
    return ge.const(vector(*values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reshape_and_transpose(check, rng, dtype) -> None:
    x = rng.integers(0, 9, (2, 3, 4)).astype(dtype)
    check(lambda v: ge.Reshape(v, (4, 6)), "Reshape", [x], operands=[x, vector(4, 6)])
    check(lambda v: ge.Transpose(v, (2, 0, 1)), "Transpose", [x], {"perm": [2, 0, 1]})
    check(lambda v: ge.Transpose(v, ()), "Identity", [x[0, 0, 0]])


def test_dynamic_reshape(check, rng) -> None:
    x = rng.normal(size=(2, 3, 4)).astype(np.float32)
    for shape in ((0, -1), (6, 4), (-1,), (2, 0, 2, 2)):
        check(lambda v, s=shape: ge.DynReshape(v, const(*s)), "Reshape", [x], operands=[x, vector(*shape)])
    empty = np.zeros((0, 3), np.float32)
    check(
        lambda v: ge.DynReshape(v, const(3, 0), allowzero=True), "Reshape", [empty], {"allowzero": 1},
        operands=[empty, vector(3, 0)],
    )  # fmt: skip


def test_concat_and_split(check, rng) -> None:
    parts = [rng.normal(size=(2, n, 3)).astype(np.float32) for n in (1, 4, 0, 2)]
    check(lambda *v: ge.Concat(v, 1), "Concat", parts, {"axis": 1})
    check(lambda *v: ge.Concat(v, -2), "Concat", parts, {"axis": -2})
    x = rng.normal(size=(2, 7)).astype(np.float32)
    check(lambda v: ge.Split(v, 1, [3, 0, 4]), "Split", [x], {"axis": 1}, operands=[x, vector(3, 0, 4)])


SLICES = [
    ([1], [3], [0], [1]), ([-3], [-1], [1], [1]), ([0, 1], [100, 100], [0, 1], [2, 3]), ([-1], [-100], [1], [-1]),
    ([5, 4], [0, -100], [0, 1], [-2, -3]), ([100], [-100], [0], [-1]), ([3], [2], [0], [1]),
    ([-100], [2**63 - 1], [1], [2]), ([0], [0], [1], [1]), ([2], [-(2**63)], [0], [-1]),
]  # fmt: skip


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slice(check, rng, starts, ends, axes, steps) -> None:
    x = rng.normal(size=(6, 5)).astype(np.float32)
    operands = [x, vector(*starts), vector(*ends), vector(*axes), vector(*steps)]
    check(lambda v: ge.Slice(v, starts, ends, axes, steps), "Slice", [x], operands=operands, ort=True)
    check(
        lambda v: ge.DynSlice(v, const(*starts), const(*ends), const(*axes), const(*steps)), "Slice", [x],
        operands=operands, ort=True,
    )  # fmt: skip


def test_dynamic_slice_defaults(check, rng) -> None:
    x = rng.normal(size=(6, 5)).astype(np.float32)
    check(ge.DynSlice, "Slice", [x, vector(1), vector(4)])
    check(lambda v, s, e, a: ge.DynSlice(v, s, e, a), "Slice", [x, vector(1), vector(4), vector(1)])
    check(
        lambda v, s, e, p: ge.DynSlice(v, s, e, None, p), "Slice", [x, vector(0, 1), vector(4, 5), vector(2, 3)],
        operands=[x, vector(0, 1), vector(4, 5), None, vector(2, 3)],
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(check, rng, mode) -> None:
    x = rng.normal(size=(3, 4)).astype(np.float32)
    for pads in ((0, 1, 2, 3), (1, 0, 0, 0), (0, 0, 0, 0)):
        check(lambda v, p=pads: ge.Pad(v, p, mode=mode), "Pad", [x], {"mode": mode}, operands=[x, vector(*pads)])


def test_pad_value_and_removal(check, rng) -> None:
    x, value = rng.normal(size=(3, 4)).astype(np.float32), np.array(2.5, np.float32)
    check(lambda v, f: ge.Pad(v, [1, 0, 0, 2], f), "Pad", [x, value], operands=[x, vector(1, 0, 0, 2), value])
    got = check.run(lambda v: ge.Pad(v, [-1, 1, 0, -2]), [x])[0]
    np.testing.assert_array_equal(got, np.pad(x[1:, :2], ((0, 0), (1, 0))))
    check(
        lambda v, p, f, a: ge.DynPad(v, p, f, a), "Pad", [x, vector(1, 2), value, vector(-1)],
    )  # fmt: skip
    check(lambda v, p: ge.DynPad(v, p, mode="edge"), "Pad", [x, vector(1, 0, 2, 3)], {"mode": "edge"})


def test_gather(check, rng) -> None:
    x = rng.normal(size=(3, 4, 5)).astype(np.float32)
    for axis in (0, 1, -1):
        for index in (vector(0, 2, -1), np.array(1, np.int32), vector(), np.array([[0, 1], [2, -3]], np.int64)):
            check(lambda v, i, a=axis: ge.Gather(v, i, axis=a), "Gather", [x, index], {"axis": axis})


def test_gather_elements(check, rng) -> None:
    x = rng.normal(size=(3, 4)).astype(np.float32)
    for axis, size in ((0, 3), (1, 4), (-1, 4)):
        index = rng.integers(-size, size, (2, 3))
        check(
            lambda v, i, a=axis: ge.GatherElements(v, i, axis=a), "GatherElements", [x, index], {"axis": axis}, ort=True
        )


def test_gather_nd(check, rng) -> None:
    x = rng.normal(size=(2, 3, 4, 5)).astype(np.float32)
    for batch, shape in ((0, (6, 2)), (0, (3, 2, 4)), (1, (2, 5, 1)), (2, (2, 3, 2)), (1, (2, 3))):
        limits = x.shape[batch : batch + shape[-1]]
        index = np.stack([rng.integers(-n, n, shape[:-1]) for n in limits], -1)
        check(lambda v, i, b=batch: ge.GatherND(v, i, batch_dims=b), "GatherND", [x, index], {"batch_dims": batch})


@pytest.mark.parametrize("op", [ge.Gather, ge.GatherElements])
def test_index_out_of_range_is_an_error(check, op) -> None:
    x = np.zeros((3, 2), np.float32)
    with pytest.raises(KernelError, match=r"index 3 is out of range \[-3, 3\)"):
        check.run(op, [x, np.array([[3, 0]])])
    with pytest.raises(KernelError, match=r"index -4 is out of range \[-3, 3\)"):
        check.run(op, [x, np.array([[-4, 0]])])


def test_expand_and_tile(check, rng) -> None:
    x = rng.normal(size=(3, 1)).astype(np.float32)
    check(lambda v: ge.Expand(v, (2, 3, 4)), "Expand", [x], operands=[x, vector(2, 3, 4)])
    check(lambda v: ge.DynExpand(v, const(1, 4)), "Expand", [x], operands=[x, vector(1, 4)])
    check(ge.DynExpand, "Expand", [x, vector(2, 1, 1)])
    check(lambda v: ge.Tile(v, (2, 3)), "Tile", [x], operands=[x, vector(2, 3)])
    check(ge.DynTile, "Tile", [x, vector(0, 2)])


@pytest.mark.parametrize("coordinate", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
@pytest.mark.parametrize("target", [(8, 10), (3, 7), (5, 1), (4, 5)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize(check, rng, mode, target, coordinate) -> None:
    x = rng.normal(size=(1, 2, 4, 5)).astype(np.float32)
    shape = (1, 2, *target)
    attrs = {"mode": mode, "coordinate_transformation_mode": coordinate}
    operands = [x, None, None, vector(*shape)]
    for nearest_mode in (
        ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") if mode == "nearest" else ("floor",)
    ):
        options = {"mode": mode, "coordinate_mode": coordinate, "nearest_mode": nearest_mode}
        spelled = {**attrs, "nearest_mode": nearest_mode} if mode == "nearest" else attrs
        check(lambda v, o=options: ge.Resize(v, shape, **o), "Resize", [x], spelled, operands=operands, tolerance=1e-5)
        check(
            lambda v, o=options: ge.DynResize(v, None, const(*shape), **o), "Resize", [x], spelled,
            operands=operands, tolerance=1e-5,
        )  # fmt: skip


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_by_scales(check, rng, mode) -> None:
    x = rng.normal(size=(1, 2, 4, 5)).astype(np.float32)
    scales = np.array([1, 1, 2, 0.6], np.float32)
    for coordinate in ("half_pixel", "asymmetric", "half_pixel_symmetric"):
        check(
            lambda v, c=coordinate: ge.DynResize(v, ge.const(scales), mode=mode, coordinate_mode=c), "Resize", [x],
            {"mode": mode, "coordinate_transformation_mode": coordinate}, operands=[x, None, scales],
        )  # fmt: skip


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(check, rng, mode) -> None:
    x = rng.normal(size=(2, 12, 3, 5)).astype(np.float32)
    deep = check(lambda v: ge.DepthToSpace(v, 2, mode=mode), "DepthToSpace", [x], {"blocksize": 2, "mode": mode})[0]
    back = check.run(lambda v: ge.SpaceToDepth(v, 2, mode=mode), [deep])[0]
    np.testing.assert_array_equal(back, x)
    if mode == "DCR":
        check(lambda v: ge.SpaceToDepth(v, 2), "SpaceToDepth", [deep], {"blocksize": 2})


def test_shape_arithmetic(check) -> None:
    x = np.zeros((2, 3, 5), np.float32)
    for start, end in ((None, None), (1, None), (-2, -1), (0, 9), (2, 1)):
        attrs = {k: v for k, v in (("start", start), ("end", end)) if v is not None}
        check(lambda v, a=attrs: ge.Shape(v, **a), "Shape", [x], attrs)
    check(ge.Size, "Size", [x])


def test_range(check) -> None:
    for start, limit, delta in ((0, 5, 1), (7, -3, -2), (3, 3, 1), (5, 0, 1)):
        for dtype in (np.int64, np.int32, np.float32):
            check(ge.Range, "Range", [np.array(v, dtype) for v in (start, limit, delta)])
    operands = [np.array(v, np.int64) for v in (1, 10, 4)]
    got = check.run(lambda: ge.Range(*[ge.const(v) for v in operands]), [])[0]
    np.testing.assert_array_equal(got, [1, 5, 9])
    with pytest.raises(InvalidModelError, match="delta is 0"):
        check.run(ge.Range, [np.array(v) for v in (0, 1, 0)])


def test_constant_of_shape(check) -> None:
    value = ge.dense(np.array([7], np.int32))
    got = check.run(lambda: ge.ConstantOfShape(const(2, 3), value), [])[0]
    check.assert_close(got, np.full((2, 3), 7, np.int32))
    check.assert_close(check.run(ge.ConstantOfShape, [vector(2, 0)])[0], np.zeros((2, 0), np.float32))


def test_squeeze_and_unsqueeze(check, rng) -> None:
    x = rng.normal(size=(1, 3, 1, 2)).astype(np.float32)
    check(lambda v: ge.DynSqueeze(v, const(0, -2)), "Squeeze", [x], operands=[x, vector(0, -2)])
    np.testing.assert_array_equal(check.run(ge.DynSqueeze, [x, vector(2)])[0], x[:, :, 0])
    check.assert_close(ge_squeeze_all(check, x), x.reshape(3, 2))
    check(lambda v: ge.DynUnsqueeze(v, const(-1, 0)), "Unsqueeze", [x], operands=[x, vector(-1, 0)])
    check(ge.DynUnsqueeze, "Unsqueeze", [x, vector(2)])


def ge_squeeze_all(check, x):
    """Every dimension of 1 removed (its rank follows from a static shape alone)."""
    types = [ge.tensor_type(x.shape, f32)]
    module = check.module_of(ge.DynSqueeze, types)
    module.verify()
    return run_module(module, [x])["out0"]


def test_constants_in_a_layout_are_stored_physically(check) -> None:
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    kind = ge.tensor_type(x.shape, f32, ge.LayoutAttr("NHWC"))
    value = ge.dense(x, kind)
    assert value.data.data == x.transpose(0, 2, 3, 1).tobytes()
    module = check.module_of(lambda: ge.TransData(ge.Const(value), None), [])
    module.verify()
    np.testing.assert_array_equal(run_module(module, [])["out0"], x)


def test_float64_stands_for_float32_throughout(check) -> None:
    x = np.array([1e-9], np.float32)
    one = np.array([1], np.float32)
    module = check.module_of(lambda v: ge.Sub(ge.Add(v, ge.const(one)), ge.const(one)), [ge.tensor_type([1], f32)])
    assert run_module(module, [x])["out0"] == 0
    exact = run_module(module, [x], compute_dtype=np.float64)["out0"]
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact, 1e-9, rtol=1e-6)


def test_a_wrong_declared_shape_is_found(check) -> None:
    module = check.module_of(lambda v: ge.Relu(v, result_type=ge.tensor_type([3], f32)), [ge.tensor_type([-1], f32)])
    with pytest.raises(GeccError, match=r"computed shape \[2\], but the type says tensor<3xf32>"):
        run_module(module, [np.zeros(2, np.float32)])


def test_inputs_are_checked(check) -> None:
    module = check.module_of(ge.Relu, [ge.tensor_type([2, -1], f32)])
    with pytest.raises(InputError, match=r"input 'arg0' is float64\[2, 3\], expected tensor<2x\?xf32>"):
        run_module(module, {"arg0": np.zeros((2, 3))})
    with pytest.raises(InputError, match=r"input 'arg0' is float32\[3, 3\]"):
        run_module(module, [np.zeros((3, 3), np.float32)])
    with pytest.raises(InputError, match=r"missing: \['arg0'\], unknown: \['x'\]"):
        run_module(module, {"x": np.zeros((2, 3), np.float32)})
