"""Reductions over any axes, with every combiner, and row operations (softmax, normalisation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import fused
from gecc.dialects.fused import Body, epilogue_region, generic, region
from gecc.weights import element_type
from test.unit.kernels.harness import TARGET_NAMES, Suite, numbers, tensor

Values = Sequence[SSAValue]
AXES = [((37,), (0,)), ((5, 37), (1,)), ((5, 37), (0,)), ((5, 37), (0, 1)), ((3, 4, 5, 19), (1, 3)), ((3, 4, 5, 19), (0, 2)),
        ((2, 70, 3), (1,)), ((1, 9, 1), (1,)), ((4, 1), (1,)), ((300, 40), (1,)), ((40, 300), (0,))]  # fmt: skip


def reduction(args: Values, shape: Sequence[int], axes: Sequence[int], combiner: str, dtype: str) -> Any:
    """A reduction of the first operand in the type that sums of it take."""
    element = element_type(np.dtype(dtype))
    kept = [d for d in range(len(shape)) if d not in axes]
    accumulator = fused.accumulator_type(element)

    def body(b: Body, d: Values, t: Values) -> SSAValue:
        at: list[SSAValue] = [d[0]] * len(shape)
        for position, dim in enumerate([*kept, *axes]):
            at[dim] = d[position]
        return b.convert(b.load(t[0], at), element, accumulator)

    def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        return b.convert(acc, accumulator, element)

    return generic(
        f"Reduce_{combiner}",
        TensorType(element, [shape[d] for d in kept]),
        args,
        body,
        reduction=[shape[d] for d in axes],
        combiner=combiner,
        epilogue=epilogue,
    )


def reductions(suite: Suite) -> None:
    for shape, axes in AXES:
        for combiner in ("add", "max"):
            suite.add(
                f"{combiner} f32 {shape} {axes}",
                [numbers(shape)],
                lambda t, s=shape, a=axes, c=combiner: reduction(t, s, a, c, "float32"),
                scale=40.0 if combiner == "add" else 1.0,
            )
    for dtype in ("float32", "float64", "float16", "int64", "int8", "uint8", "bool"):
        kinds = {"b": ("and", "or"), "f": ("add", "mul", "max", "min"), "u": ("add", "mul")}
        shapes = [((5, 37), (1,)), ((37, 21), (0,))]
        for combiner in kinds.get(np.dtype(dtype).kind, ("add", "mul", "max", "min", "and", "or")):
            for shape, axes in shapes:
                suite.add(
                    f"{combiner} {dtype} {shape} {axes}",
                    [numbers(shape, dtype)],
                    lambda t, s=shape, a=axes, c=combiner, d=dtype: reduction(t, s, a, c, d),
                    scale=40.0 if combiner == "add" else 1.0,
                    tolerance=1e-5 if combiner == "mul" and dtype != "float16" else None,
                )
    for shape, axes in (((4, 0), (1,)), ((0, 4), (1,)), ((0,), (0,))):
        suite.add(
            f"empty {shape} {axes}", [numbers(shape)], lambda t, s=shape, a=axes: reduction(t, s, a, "add", "float32")
        )
        suite.add(
            f"empty max {shape}", [numbers(shape)], lambda t, s=shape, a=axes: reduction(t, s, a, "max", "float32")
        )
    for axes in ((1,), (2, 3), (0, 1), (3,)):
        shape = (2, 19, 5, 6)
        suite.add(
            f"NHWC {axes}",
            [numbers(shape)],
            lambda t, s=shape, a=axes: reduction(t, s, a, "add", "float32"),
            layouts=["NHWC"],
            scale=20.0,
        )
    nan = numbers((6, 50))
    nan[2, 47] = nan[3, 0] = np.nan
    nan[4, 5], nan[5, :] = np.inf, -np.inf
    for combiner in ("max", "min"):
        suite.add(f"NaN {combiner}", [nan], lambda t, c=combiner: reduction(t, (6, 50), (1,), c, "float32"))
        suite.add(f"NaN rows {combiner}", [nan], lambda t, c=combiner: reduction(t, (6, 50), (0,), c, "float32"))

    def windows(args: Values) -> Any:
        """The largest of 3 x 3 windows with stride 2 and one pixel of padding, channels last."""

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            n, c, y, x, ky, kx = d
            row, column = b.sub(b.add(b.mul(y, 2), ky), 1), b.sub(b.add(b.mul(x, 2), kx), 1)
            inside = None
            for at, extent in ((row, 9), (column, 8)):
                inside = b.both(inside, b.both(b.compare("ge", at, 0), b.compare("lt", at, extent)))
            assert inside is not None
            value = b.load(t[0], [n, c, b.clamp(row, 0, 8), b.clamp(column, 0, 7)])
            return b.select(inside, value, float("-inf"))

        return generic("MaxPool", tensor((2, 19, 5, 4), f32, "NHWC"), args, body, reduction=[3, 3], combiner="max")

    suite.add("max pool", [numbers((2, 19, 9, 8))], windows, layouts=["NHWC"])


def row_operation(
    args: Values, kind: str, shape: Sequence[int], axis: int, element: Attribute, layout: str | None = None
) -> Any:
    """softmax, log_softmax, layer or rms of the first operand plus 1, times the second (of the last extent)."""
    result = tensor(shape, element, layout)
    types = [value.type for value in args]
    wide = fused.compute_type(element)

    def prologue(b: Body, d: Values, t: Values) -> SSAValue:
        return b.add(b.convert(b.load(t[0], d), element, wide), 1.0)

    def epilogue(b: Body, d: Values, value: SSAValue, t: Values) -> SSAValue:
        scaled = b.mul(value, b.convert(b.load(t[1], [d[-1]]), element, wide))
        return b.convert(scaled, wide, element)

    regions = region(len(shape), types, prologue), epilogue_region(len(shape), wide, types, epilogue)
    if kind in ("softmax", "log_softmax"):
        return fused.SoftmaxOp("Softmax", args, result, *regions, axis=axis, log=kind == "log_softmax")
    return fused.NormOp("LayerNorm", args, result, *regions, axis=axis, epsilon=1e-5, kind=kind)


def rows(suite: Suite) -> None:
    shapes = [(5, 37), (3, 4, 19), (1, 64), (17, 1), (2, 5, 1, 1), (130, 33)]
    for shape in shapes:
        for axis in range(len(shape)):
            for kind in ("softmax", "log_softmax", "layer", "rms"):
                if kind in ("log_softmax", "rms") and len(shape) > 2:
                    continue
                x, gamma = numbers(shape), numbers((shape[-1],), seed=2)
                suite.add(
                    f"{kind} {shape} {axis}",
                    [x, gamma],
                    lambda t, k=kind, s=shape, a=axis: row_operation(t, k, s, a, f32),
                    scale=3.0,
                    tolerance=4e-6,
                )
    for dtype in ("float64", "float16"):
        for kind in ("softmax", "layer"):
            for axis in (0, 1):
                x, gamma = numbers((5, 37), dtype), numbers((37,), dtype, 2)
                suite.add(
                    f"{kind} {dtype} {axis}",
                    [x, gamma],
                    lambda t, k=kind, a=axis, d=dtype: row_operation(t, k, (5, 37), a, element_type(np.dtype(d))),
                    scale=3.0,
                )
    for axis in (1, 3):
        for kind in ("softmax", "layer"):
            suite.add(
                f"{kind} NHWC {axis}",
                [numbers((2, 19, 3, 5)), numbers((5,), seed=2)],
                lambda t, k=kind, a=axis: row_operation(t, k, (2, 19, 3, 5), a, f32, "NHWC"),
                layouts=["NHWC"],
                scale=3.0,
                tolerance=4e-6,
            )
    for shape, axis in (((0, 4), 1), ((4, 0), 1), ((4, 0), 0)):
        for kind in ("softmax", "layer"):
            suite.add(
                f"{kind} empty {shape} {axis}",
                [numbers(shape), numbers((shape[-1],))],
                lambda t, k=kind, s=shape, a=axis: row_operation(t, k, s, a, f32),
            )
    large = numbers((4, 40)) * np.float32(1e4)
    suite.add(
        "softmax large", [large, numbers((40,))], lambda t: row_operation(t, "softmax", (4, 40), 1, f32), scale=3.0
    )


@pytest.fixture(scope="module", params=[reductions, rows], ids=lambda part: part.__name__)
def suite(request: pytest.FixtureRequest) -> Suite:
    made = Suite()
    request.param(made)
    return made


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_reduce(suite: Suite, target: str) -> None:
    suite.check(target, interpret=target == TARGET_NAMES[0])
