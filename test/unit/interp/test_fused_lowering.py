"""Every graph operator means the same after ge-to-fused: shapes odd, layouts and dtypes all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.dialects.ge.pointwise import TABLE, Pointwise
from gecc.errors import KernelError, UnsupportedError
from gecc.interp import run_module
from gecc.weights import numpy_dtype
from test.unit.interp.fused_cases import apply, check, labels, module_of, random, value

POINTWISE = [(cls, numpy_dtype(d).name) for cls, (dtypes, _) in TABLE.items() for d in dtypes]
LAYOUTS = (None, "NHWC")
HALF_PIXELS = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@pytest.mark.parametrize(("cls", "dtype"), POINTWISE, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_pointwise(cls: type[Pointwise], dtype: str) -> None:
    count = len(cls.get_irdl_definition().operands)
    if cls is ge.Select:
        inputs = [random((5, 1, 3), "bool"), random((4, 3), dtype, 1), random((5, 4, 3), dtype, 2)]
    elif cls is ge.ClipByValue:
        inputs = [random((5, 4, 3), dtype, 1), random((), dtype, 2, 0, 1), random((), dtype, 2, 1, 2)]
    elif count == 1:
        inputs = [random((3, 7), dtype, low=0.1 if cls in (ge.Log, ge.Sqrt, ge.Rsqrt) else -3)]
    else:
        inputs = [random((5, 1, 3), dtype, 1), random((4, 1), dtype, 2, low=1 if cls is ge.Pow else -3)]
    if cls is ge.Mod:
        check(lambda x, y: ge.Mod(x, y, fmod=inputs[0].dtype.kind not in "iu"), *inputs)
    else:
        check(lambda *a: cls(*a), *inputs)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint16"])
def test_remainder_and_quotient_of_hard_integers(dtype: str) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([least, least, most, -7 if least else 7, 7, 0, 5], dtype)
    y = np.array([-1 if least else 1, 1, 2, 3, -3 if least else 3, 5, 1], dtype)
    check(lambda x, y: ge.Mod(x, y), x, y)
    check(lambda x, y: ge.Mod(x, y, fmod=True), x, y)
    check(lambda x, y: ge.RealDiv(x, y), x, y)


def test_remainder_of_hard_floats() -> None:
    x = np.array([1e30, -1e8, 5.5, -5.5, 0.3, np.inf, np.nan, 3, 3], np.float32)
    y = np.array([7.0, 3.3, -2.0, 2.0, 0.1, 2.0, 1.0, np.inf, -np.inf], np.float32)
    check(lambda x, y: ge.Mod(x, y, fmod=True), x[1:], y[1:])


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, -1.0, -2.0, 1.5, -0.5, 7.0])
def test_power_with_constant_exponent(exponent: float) -> None:
    def build(x: Operation) -> list[Operation]:
        c = ge.Const(ge.dense(np.array(exponent, np.float32)))
        return [c, ge.Pow(x, c)]

    check(build, np.array([0.0, -0.0, 0.5, 2.0, 3.7, np.inf, np.nan], np.float32))


@pytest.mark.parametrize("exponent", [0, 1, 2, 5, 13, -1, -2])
def test_power_of_integers(exponent: int) -> None:
    def build(x: Operation) -> list[Operation]:
        c = ge.Const(ge.dense(np.array(exponent, np.int32)))
        return [c, ge.Pow(x, c)]

    x = np.array([1, 1, -1, 3], np.int32) if exponent < 0 else np.arange(-4, 5, dtype=np.int32)
    module = module_of(build, [x])
    got = run_module(apply(module, "ge-to-fused"), [x])["out0"]
    want = [int(float(v) ** exponent) for v in x]
    np.testing.assert_array_equal(got, np.array(want, np.int32))


DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "uint64", "bool")  # fmt: skip


@pytest.mark.parametrize("source", DTYPES)
def test_cast(source: str) -> None:
    x = random((40,), source, low=-100, high=100)
    for target in DTYPES:
        if np.dtype(x.dtype).kind not in "iub" and target.startswith("uint"):
            x = np.abs(x)
        check(lambda x, to=target: ge.Cast(x, ge.element_type(random((), to).dtype)), x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "uint8", "int8"])
def test_matmul_with_bias(dtype: str) -> None:
    check(lambda a, b, c: ge.MatMulV2(a, b, c), random((3, 5), dtype), random((5, 7), dtype, 1), random((7,), dtype, 2))


@pytest.mark.parametrize(
    ("a", "b", "flags"),
    [
        ((5, 3), (7, 5), {"transpose_x1": True, "transpose_x2": True}),
        ((2, 1, 5, 3), (4, 5, 7), {"transpose_x1": True}),
        ((2, 4, 3, 5), (5, 7), {}),
        ((3, 5), (2, 5, 7), {}),
        ((5, 1), (5, 7), {"transpose_x1": True}),
        ((3, 0), (0, 7), {}),
        ((0, 4), (4, 7), {}),
    ],
)
def test_matmul_shapes(a: tuple[int, ...], b: tuple[int, ...], flags: dict[str, Any]) -> None:
    check(lambda a, b: ge.MatMulV2(a, b, **flags), random(a), random(b, seed=1))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_conv(layout: str | None, dtype: str) -> None:
    tolerance = 1e-2 if dtype == "float16" else None
    x, w, b = random((2, 4, 9, 8), dtype), random((6, 2, 3, 2), dtype, 1), random((6,), dtype, 2)
    check(
        lambda x, w, b: ge.Conv2D(x, w, b, strides=(2, 1), pads=(1, 0, 2, 1), dilations=(1, 2), group=2),
        x, w, b, tolerance=tolerance, layouts=[layout],
    )  # fmt: skip
    check(lambda x, w: ge.Conv2D(x, w, pads=(1, 1, 1, 1), group=4), x, random((4, 1, 3, 3), dtype), layouts=[layout],
          tolerance=tolerance)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("x", "w", "options"),
    [
        ((2, 3, 4, 5), (3, 4, 3, 4), {"strides": (2, 3), "pads": (1, 0, 0, 2), "output_padding": (1, 0)}),
        ((2, 4, 4, 5), (4, 3, 3, 2), {"group": 2, "strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 1, 0)}),
        ((1, 3, 4, 5), (3, 4, 2, 2), {"strides": (2, 2)}),
        ((1, 3, 4, 5), (3, 4, 1, 2), {"strides": (3, 3)}),
        ((1, 4, 4, 5), (4, 1, 2, 2), {"strides": (2, 2), "group": 4}),
        ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": (2, 2), "dilations": (2, 2)}),
    ],
)
def test_conv_transpose(layout: str | None, x: tuple[int, ...], w: tuple[int, ...], options: dict[str, Any]) -> None:
    bias = random((w[1] * int(str(options.get("group", 1))),), seed=2)
    check(
        lambda x, w, b: ge.ConvTranspose2D(x, w, b, **options),
        random(x), random(w, seed=1), bias, layouts=[layout], tolerance=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dilations", [(1, 1), (2, 1)])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_pools(layout: str | None, dilations: tuple[int, int], ceil_mode: bool) -> None:
    x = random((2, 3, 8, 9))
    options: dict[str, Any] = {"strides": (2, 3), "pads": (1, 1, 1, 0), "dilations": dilations, "ceil_mode": ceil_mode}
    check(lambda x: ge.MaxPool(x, (3, 2), **options), x, layouts=[layout])
    for counted in (False, True):
        check(lambda x, c=counted: ge.AvgPool(x, (3, 2), count_include_pad=c, **options), x, layouts=[layout])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plain_pools(layout: str | None) -> None:
    x = random((2, 3, 8, 9))
    check(lambda x: ge.AvgPool(x, (2, 2), strides=(2, 2)), x, layouts=[layout])
    check(lambda x: ge.MaxPool(x, (1, 1), strides=(2, 2)), x, layouts=[layout])
    check(lambda x: ge.GlobalAveragePool(x), x, layouts=[layout])
    check(lambda x: ge.GlobalMaxPool(x), x, layouts=[layout])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16"])
def test_max_pool_dtypes(dtype: str) -> None:
    x = random((2, 3, 8, 9), dtype, low=-100, high=100)
    check(lambda x: ge.MaxPool(x, (3, 2), strides=(2, 2), pads=(1, 1, 1, 0), dilations=(2, 1)), x)
    check(lambda x: ge.MaxPool(x, (3, 2), strides=(2, 2), pads=(1, 1, 1, 0)), x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "int8", "uint8", "uint64", "int64"])
@pytest.mark.parametrize("cls", [ge.ReduceSum, ge.ReduceMean, ge.ReduceMax, ge.ReduceMin, ge.ReduceProd])
def test_reductions(cls: type[ge.ReduceSum], dtype: str) -> None:
    x = random((2, 3, 4, 5), dtype, low=-9, high=9)
    loose = {"float32": 1e-5, "float16": 5e-3}.get(dtype)
    for keep in (False, True):
        check(lambda x, k=keep: cls(x, (-1, 1), keep_dims=k), x, tolerance=loose)
    check(lambda x: cls(x, ()), x)


def test_reductions_of_nothing_and_of_booleans() -> None:
    check(lambda x: ge.ReduceSum(x, (1,)), random((3, 0)))
    check(lambda x: ge.ReduceProd(x, (1,)), random((3, 0)))
    check(lambda x: ge.ReduceMax(x, (1,)), random((3, 4), "bool"))
    check(lambda x: ge.ReduceMin(x, (0,)), random((3, 4), "bool"))
    check(lambda x: ge.ReduceMax(x, (0,)), np.array([1, np.nan, 3], np.float32))


@pytest.mark.parametrize("cls", [ge.ArgMax, ge.ArgMin])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_arg_reductions(cls: type[ge.ArgMax], last: bool, dtype: str) -> None:
    x = random((4, 6, 3), dtype)
    if dtype == "float32":
        x = np.rint(x)
        x[0, 2, 1] = x[1, 1, 0] = np.nan
    check(lambda x: cls(x, 1, select_last_index=last, keep_dims=last), x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "bfloat16"])
def test_row_operations(dtype: str) -> None:
    x, scale = random((3, 4, 7), dtype), random((7,), dtype, 1)
    check(lambda x: ge.Softmax(x), x)
    check(lambda x: ge.LogSoftmax(x, axis=0), x)
    check(lambda x, g, b: ge.LayerNorm(x, g, b), x, scale, random((7,), dtype, 2))
    check(lambda x, g: ge.LayerNorm(x, g, axis=1), x, random((4, 1), dtype))
    check(lambda x, b: ge.LayerNorm(x, None, b, axis=1), x, scale)
    check(lambda x, g: ge.RMSNorm(x, g), x, scale)
    check(lambda x: ge.Softmax(x), random((3, 0), dtype))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_four_dimensional_operators_in_both_layouts(layout: str | None) -> None:
    x = random((2, 3, 4, 6))
    parameters = [random((3,), seed=i, low=0.5) for i in range(4)]
    for build in (
        lambda x: ge.Transpose(x, (0, 2, 3, 1)),
        lambda x: ge.TransData(x, "NHWC"),
        lambda x: ge.TransData(x, None),
        lambda x: ge.Softmax(x, axis=1),
        lambda x: ge.Pad(x, (0, 1, 2, -1, 0, 0, -1, 3)),
        lambda x: ge.SpaceToDepth(x, 2),
        lambda x: ge.Slice(x, (1, -1), (3, -9), (1, 3), (1, -2)),
        lambda x: ge.Split(x, 1, (1, 2)),
        lambda x: ge.Tile(x, (1, 2, 1, 3)),
        lambda x: ge.Concat([x, x], 1),
        lambda x: ge.Resize(x, (2, 3, 8, 9), mode="linear"),
    ):
        check(build, x, layouts=[layout], tolerance=1e-5)
    check(lambda x, *p: ge.BatchNorm(x, *p), x, *parameters, layouts=[layout], tolerance=1e-5)
    check(lambda x: ge.DepthToSpace(x, 2), random((2, 12, 4, 5)), layouts=[layout])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_transdata_of_single_pixels_is_a_view(layout: str | None) -> None:
    module = check(
        lambda x: ge.TransData(x, "NHWC" if layout is None else None), random((2, 3, 1, 1)), layouts=[layout]
    )
    assert labels(module) == []
    assert len(value(module, "fused.view")) == 1


def test_movement() -> None:
    check(lambda x: ge.Reshape(x, (6, 4)), random((2, 3, 4)))
    check(lambda x: ge.Transpose(x, (1, 0, 2)), random((2, 1, 4)))
    check(lambda x, y, z: ge.Concat([x, y, z, x], 1), random((2, 1, 4)), random((2, 3, 4), seed=1), random((2, 0, 4)))
    check(lambda x, y: ge.Concat([x, y], 1), random((2, 0, 4)), random((2, 0, 4)))
    check(lambda x: ge.Split(x, 1, (1, 0, 3)), random((2, 4, 3)))
    check(lambda x: ge.Expand(x, (2, 3, 4)), random((3, 1)))
    check(lambda x: ge.Tile(x, (2, 1, 0)), random((2, 3, 4)))
    for mode in ("reflect", "edge", "wrap"):
        check(lambda x, m=mode: ge.Pad(x, (1, 2, 2, -1), mode=m), random((3, 4)))
    check(lambda x, v: ge.Pad(x, (1, 2, 2, -1), v), random((3, 4)), random(()))
    check(lambda x, v: ge.Pad(x, (1, 2, 2, 0), v), random((0, 4)), random(()))
    for mode in ("DCR", "CRD"):
        check(lambda x, m=mode: ge.DepthToSpace(x, 2, mode=m), random((2, 12, 3, 5)))
        check(lambda x, m=mode: ge.SpaceToDepth(x, 2, mode=m), random((2, 3, 4, 6)))


def test_reflection_beyond_what_is_left_is_refused() -> None:
    module = module_of(lambda x: ge.Pad(x, (3, -2), mode="reflect"), [random((4,))])
    with pytest.raises(UnsupportedError, match="mode reflect adds 3 elements to dimension 0, which keeps 2"):
        apply(module, "ge-to-fused")


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_gathers(dtype: str) -> None:
    x = random((3, 4, 5))
    check(lambda x, i: ge.Gather(x, i, axis=1), x, random((2, 3), dtype, low=-4, high=3))
    check(lambda x, i: ge.Gather(x, i, axis=-1), x, random((), dtype, low=-4, high=3))
    check(lambda x, i: ge.GatherElements(x, i, axis=1), x, random((2, 7, 5), dtype, low=-4, high=3))
    check(lambda x, i: ge.GatherND(x, i), x, random((2, 6, 2), dtype, low=-3, high=2))
    check(lambda x, i: ge.GatherND(x, i, batch_dims=1), x, random((3, 6, 1), dtype, low=-4, high=3))


@pytest.mark.parametrize("bad", [4, -5])
def test_bad_index_fails_the_run(bad: int) -> None:
    inputs = [random((4, 5)), np.array([0, bad], np.int64)]
    module = apply(module_of(lambda x, i: ge.Gather(x, i), inputs), "ge-to-fused")
    with pytest.raises(KernelError, match=f"an index is {bad if bad > 0 else bad + 4}, expected 0 to 3"):
        run_module(module, inputs)


SIZES = [
    ((2, 3, 8, 10), None),
    ((2, 3, 3, 2), None),
    ((2, 3, 5, 7), None),
    ((2, 3, 1, 1), None),
    ((2, 3, 6, 7), (1.0, 1.0, 1.6, 1.4)),
    ((2, 3, 2, 2), (1.0, 1.0, 0.6, 0.4)),
    ((2, 3, 12, 20), None),
]


@pytest.mark.parametrize("mode", HALF_PIXELS)
@pytest.mark.parametrize(("shape", "scales"), SIZES)
def test_resize(mode: str, shape: tuple[int, ...], scales: tuple[float, ...] | None) -> None:
    x = random((2, 3, 4, 5))
    check(lambda x: ge.Resize(x, shape, scales=scales, mode="linear", coordinate_mode=mode), x, tolerance=1e-5)
    for nearest in NEAREST:
        check(lambda x, n=nearest: ge.Resize(x, shape, scales=scales, coordinate_mode=mode, nearest_mode=n), x)
