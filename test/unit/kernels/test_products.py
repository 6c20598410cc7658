"""Matrix products and convolutions: tails, batches, layouts, groups, paddings, and light and heavy epilogues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from gecc.dialects import fused
from gecc.dialects.fused import Body, epilogue_region
from gecc.weights import element_type
from test.unit.kernels.harness import TARGET_NAMES, Array, Suite, numbers, tensor

Values = Sequence[SSAValue]
Epilogue = Callable[[Body, Values, SSAValue, Values], SSAValue]
"""(body, indices, sum, extras) -> value."""


def plain(b: Body, d: Values, acc: SSAValue, extras: Values) -> SSAValue:
    return acc


def relu(b: Body, d: Values, acc: SSAValue, extras: Values) -> SSAValue:
    return b.maximum(acc, 0.0)


def gelu(b: Body, d: Values, acc: SSAValue, extras: Values) -> SSAValue:
    return b.mul(b.mul(acc, 0.5), b.add(b.math("erf", b.mul(acc, 0.7071067811865476)), 1.0))


def residual(b: Body, d: Values, acc: SSAValue, extras: Values) -> SSAValue:
    """relu(sum + the element of the last extra)."""
    return b.maximum(b.add(acc, b.load(extras[-1], d)), 0.0)


def by_index(b: Body, d: Values, acc: SSAValue, extras: Values) -> SSAValue:
    """The sum where row + column is even, else 0: indices as numbers."""
    total = b.add(d[-2], d[-1])
    return b.select(b.compare("eq", b.rem(total, 2), 0), acc, 0.0)


def with_bias(dim: int, then: Epilogue) -> Epilogue:
    """Add the first extra, a vector over dimension `dim`, before `then`."""
    return lambda b, d, acc, t: then(b, d, b.add(acc, b.load(t[0], [d[dim]])), t)


@dataclass
class Product:
    """What an epilogue and its operands are, for both kinds of product."""

    epilogue: Epilogue = plain
    bias: bool = False
    residual: bool = False


def extras_of(product: Product, result: Sequence[int], dim: int, dtype: str) -> list[Array]:
    """Arrays for the extra operands."""
    found = [numbers((result[dim],), dtype, 7)] if product.bias else []
    return [*found, numbers(result, dtype, 8)] if product.residual else found


def region_of(product: Product, args: Values, rank: int, dim: int, element: Any) -> Any:
    accumulator = fused.accumulator_type(element)
    write = with_bias(dim, product.epilogue) if product.bias else product.epilogue

    def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        return b.convert(write(b, d, acc, t[2:]), accumulator, element)

    return epilogue_region(rank, accumulator, [v.type for v in args], epilogue)


def sum_scale(depth: int) -> float:
    """Size of the partial sums of a product: two standard deviations; those of one product of `numbers` are 3."""
    return max(1.0, 6.0 * depth**0.5)


def matmul(
    suite: Suite,
    a: Sequence[int],
    b: Sequence[int],
    product: Product | None = None,
    *,
    transpose: bool = False,
    constant: bool = True,
    dtype: str = "float32",
) -> None:
    """One product of shapes a x b; `constant` puts b into the weights."""
    product = product or Product()
    left, right = numbers(a, dtype), numbers(b, dtype, 2)
    k, n = (b[-1], b[-2]) if transpose else (b[-2], b[-1])
    result = (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], n)
    extras = extras_of(product, result, len(result) - 1, dtype)
    element = element_type(left.dtype)

    def build(args: Values) -> Any:
        if constant:
            args = [args[0], suite.constant(right), *args[1:]]
        region = region_of(product, args, len(result), len(result) - 1, element)
        return fused.MatmulOp(
            "MatMul", args[0], args[1], args[2:], tensor(result, element), region, transpose_b=transpose
        )

    inputs = [left, *([] if constant else [right]), *extras]
    name = f"{dtype} {a} x {b}{' transposed' if transpose else ''} {product}"
    suite.add(name, inputs, build, scale=sum_scale(k))


def matmuls(suite: Suite) -> None:
    for m, k, n in (
        (1, 1, 1),
        (1, 37, 65),
        (6, 64, 64),
        (7, 33, 100),
        (13, 5, 17),
        (29, 70, 31),
        (64, 3, 130),
        (100, 16, 8),
    ):
        matmul(suite, (m, k), (k, n))
    matmul(suite, (15, 40), (40, 70), Product(relu, bias=True))
    matmul(suite, (15, 40), (40, 70), Product(gelu, bias=True))
    matmul(suite, (15, 40), (40, 70), Product(residual, bias=True, residual=True))
    matmul(suite, (15, 40), (40, 70), Product(by_index))
    matmul(suite, (3, 5, 40), (40, 30), Product(by_index, bias=True))
    matmul(suite, (3, 5, 40), (40, 30), Product(residual, residual=True))
    matmul(suite, (15, 40), (70, 40), transpose=True)
    matmul(suite, (15, 40), (70, 40), transpose=True, constant=False)
    matmul(suite, (15, 40), (40, 70), constant=False)
    matmul(suite, (3, 4, 9, 20), (3, 4, 20, 33), constant=False)
    matmul(suite, (3, 4, 9, 20), (3, 4, 33, 20), transpose=True, constant=False)
    matmul(suite, (3, 4, 9, 20), (4, 20, 33), constant=False)
    matmul(suite, (3, 1, 9, 20), (1, 4, 20, 33), Product(relu, bias=True), constant=False)
    matmul(suite, (9, 20), (4, 20, 33), constant=False)
    matmul(suite, (9, 20), (4, 20, 33), Product(residual, residual=True))
    matmul(suite, (4, 9, 20), (1, 20, 33))
    matmul(suite, (2, 1, 40), (2, 40, 30), Product(gelu), constant=False)
    matmul(suite, (200, 300), (300, 260), Product(relu, bias=True))
    for a, b in (((0, 5), (5, 7)), ((5, 0), (0, 7)), ((5, 7), (7, 0)), ((0, 3, 4), (0, 4, 5))):
        matmul(suite, a, b, Product(relu, bias=True), constant=False)


def integers_in_full(suite: Suite) -> None:
    """i16 of all sizes summed in i32, an odd number of them; a pair of products of the least ones wraps."""
    rng = np.random.default_rng(5)
    for rows, depth, columns in ((5, 37, 40), (1, 1, 3), (7, 6, 17)):
        sides = [rng.integers(-32768, 32768, shape).astype(np.int16) for shape in ((rows, depth), (depth, columns))]
        sides[0][0], sides[1][:, 0] = -32768, -32768

        def build(args: Values, shape: tuple[int, int] = (rows, columns)) -> Any:
            region = epilogue_region(2, i32, [v.type for v in args], lambda b, d, acc, t: acc)
            return fused.MatmulOp("MatMul", args[0], args[1], [], tensor(shape, i32), region)

        suite.add(f"full i16 {rows} {depth} {columns}", sides, build)


def matmul_types(suite: Suite) -> None:
    for dtype in ("float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "int16"):
        for a, b in (((7, 33), (33, 50)), ((1, 20), (20, 3)), ((2, 5, 9), (2, 9, 21))):
            matmul(suite, a, b, dtype=dtype, constant=len(a) == 2)
    integers_in_full(suite)
    matmul(suite, (9, 20), (20, 35), Product(relu, bias=True), dtype="float64")
    matmul(suite, (9, 20), (20, 35), Product(gelu), dtype="float64")


@dataclass
class Conv:
    """A convolution: x [N, C, H, W], out channels, kernel, and the rest."""

    x: tuple[int, int, int, int]
    out: int
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    group: int = 1

    @property
    def result(self) -> tuple[int, ...]:
        top, left, bottom, right = self.pads
        extents = (self.x[2] + top + bottom, self.x[3] + left + right)
        spatial = [
            (extent - d * (k - 1) - 1) // s + 1
            for extent, k, s, d in zip(extents, self.kernel, self.strides, self.dilations, strict=True)
        ]
        return (self.x[0], self.out, *spatial)


def conv(
    suite: Suite,
    c: Conv,
    product: Product | None = None,
    *,
    layout: str | None = "NHWC",
    result_layout: str | None = "NHWC",
    constant: bool = True,
    dtype: str = "float32",
) -> None:
    product = product or Product()
    w_shape = (c.out, c.x[1] // c.group, *c.kernel)
    x, w = numbers(c.x, dtype), numbers(w_shape, dtype, 3)
    extras = extras_of(product, c.result, 1, dtype)
    element = element_type(x.dtype)

    def build(args: Values) -> Any:
        if constant:
            args = [args[0], suite.constant(w), *args[1:]]
        region = region_of(product, args, 4, 1, element)
        return fused.ConvOp(
            "Conv", args[0], args[1], args[2:], tensor(c.result, element, result_layout), region,
            kernel=c.kernel, strides=c.strides, pads=c.pads, dilations=c.dilations, group=c.group,
        )  # fmt: skip

    inputs = [x, *([] if constant else [w]), *extras]
    layouts = [layout, *([] if constant else [None]), *[None] * product.bias, *[result_layout] * product.residual]
    depth = w_shape[1] * w_shape[2] * w_shape[3]
    name = f"{dtype} {c} {product} {layout} {result_layout}"
    suite.add(name, inputs, build, layouts=layouts, scale=sum_scale(depth))


def convs(suite: Suite) -> None:
    full = Product(relu, bias=True)
    conv(suite, Conv((1, 5, 9, 11), 19, (1, 1)))
    conv(suite, Conv((2, 16, 7, 7), 40, (1, 1)), full)
    conv(suite, Conv((2, 16, 7, 9), 40, (1, 1), (2, 2)), full)
    conv(suite, Conv((1, 3, 12, 13), 17, (3, 3), pads=(1, 1, 1, 1)), full)
    conv(suite, Conv((2, 8, 12, 13), 33, (3, 3), (2, 2), (1, 1, 1, 1)), Product(residual, bias=True, residual=True))
    conv(suite, Conv((1, 8, 12, 13), 33, (3, 3)), Product(gelu, bias=True))
    conv(suite, Conv((1, 3, 30, 31), 24, (7, 7), (2, 2), (3, 3, 3, 3)), full)
    conv(suite, Conv((1, 6, 10, 9), 12, (3, 3), dilations=(2, 2), pads=(2, 2, 2, 2)), full)
    conv(suite, Conv((1, 6, 10, 9), 12, (3, 2), dilations=(1, 3)))
    conv(suite, Conv((1, 6, 10, 9), 12, (2, 5), (3, 1), (0, 2, 1, 3)))
    conv(suite, Conv((1, 6, 1, 40), 12, (1, 5), pads=(0, 2, 0, 2)), full)
    conv(suite, Conv((1, 6, 40, 1), 12, (5, 1), pads=(2, 0, 2, 0)), full)
    conv(suite, Conv((2, 6, 41, 1), 35, (5, 1)), Product(residual, bias=True, residual=True))
    conv(suite, Conv((2, 6, 47, 1), 35, (4, 1), (3, 1), (2, 0, 1, 0), (2, 1)), full)
    conv(suite, Conv((1, 16, 30, 1), 24, (1, 1)), Product(by_index))
    conv(suite, Conv((1, 6, 40, 1), 12, (5, 3), pads=(2, 1, 2, 1)), full)
    conv(suite, Conv((1, 6, 21, 2), 12, (5, 1), (1, 2)), full)
    conv(suite, Conv((1, 6, 1, 100), 40, (1, 3), (1, 2), (0, 1, 0, 1)), full)
    # rows so long that blocks take parts of them
    conv(suite, Conv((1, 16, 1, 1000), 24, (1, 5), pads=(0, 2, 0, 2)), Product(residual, bias=True, residual=True))
    conv(suite, Conv((1, 40, 3, 300), 20, (3, 5), (1, 1), (0, 4, 0, 1)), full)
    conv(suite, Conv((1, 64, 900, 1), 20, (4, 1), (2, 1), (4, 0, 1, 0), (3, 1)), full)
    conv(suite, Conv((1, 4, 5, 5), 3, (5, 5)))
    conv(suite, Conv((1, 4, 3, 3), 3, (5, 5), pads=(2, 2, 2, 2)))
    conv(suite, Conv((1, 4, 6, 6), 3, (2, 2), (2, 2), (3, 3, 3, 3)))
    conv(suite, Conv((1, 8, 9, 9), 8, (3, 3)), Product(by_index))
    conv(suite, Conv((1, 1, 9, 9), 5, (3, 3), pads=(1, 1, 1, 1)))
    conv(suite, Conv((1, 5, 9, 9), 1, (3, 3), pads=(1, 1, 1, 1)))
    conv(suite, Conv((1, 16, 30, 30), 64, (3, 3), pads=(1, 1, 1, 1)), full)
    for layouts in ((None, None), ("NHWC", None), (None, "NHWC")):
        c = Conv((2, 6, 8, 7), 10, (3, 3), pads=(1, 1, 1, 1))
        conv(suite, c, full, layout=layouts[0], result_layout=layouts[1])
        conv(suite, c, Product(residual, bias=True, residual=True), layout=layouts[0], result_layout=layouts[1])
    conv(suite, Conv((1, 6, 8, 7), 10, (3, 3), pads=(1, 1, 1, 1)), full, constant=False)
    conv(suite, Conv((0, 6, 8, 7), 10, (3, 3)), full)


def grouped(suite: Suite) -> None:
    full = Product(relu, bias=True)
    conv(suite, Conv((2, 12, 8, 7), 18, (3, 3), pads=(1, 1, 1, 1), group=3), full)
    conv(suite, Conv((2, 12, 8, 7), 18, (1, 1), group=3), full)
    conv(suite, Conv((1, 12, 8, 7), 6, (3, 3), (2, 2), group=2), Product(residual, residual=True))
    conv(suite, Conv((1, 8, 8, 7), 8, (3, 3), pads=(1, 1, 1, 1), group=4), full, constant=False)
    conv(suite, Conv((2, 12, 50, 1), 18, (3, 1), pads=(1, 0, 1, 0), group=3), full)
    conv(suite, Conv((2, 12, 1, 90), 66, (1, 3), pads=(0, 1, 0, 1), group=3), full)
    conv(suite, Conv((1, 4, 8, 7), 8, (3, 3), pads=(1, 1, 1, 1), group=4), full)
    conv(suite, Conv((1, 8, 8, 7), 8, (3, 3), group=2, dilations=(2, 1)), layout=None, result_layout=None)


def depthwise(suite: Suite) -> None:
    full = Product(relu, bias=True)
    for channels in (3, 16, 35, 70):
        x = (2, channels, 9, 8)
        conv(suite, Conv(x, channels, (3, 3), pads=(1, 1, 1, 1), group=channels), full)
    x = (1, 20, 11, 12)
    conv(suite, Conv(x, 20, (3, 3), (2, 2), (1, 1, 1, 1), group=20), Product(gelu, bias=True))
    conv(suite, Conv(x, 20, (5, 5), (1, 1), (2, 2, 2, 2), group=20), Product(residual, bias=True, residual=True))
    conv(suite, Conv(x, 20, (3, 3), dilations=(2, 3), group=20))
    conv(suite, Conv(x, 20, (1, 1), group=20), full)
    conv(suite, Conv(x, 20, (3, 3), (2, 2), (0, 1, 2, 1), group=20), layout=None, result_layout=None)
    conv(suite, Conv(x, 20, (3, 3), group=20), full, constant=False)
    # borders: taps all outside, a row or column of pixels that all have too few taps, dilation over the border
    conv(suite, Conv((1, 20, 2, 11), 20, (5, 5), pads=(2, 2, 2, 2), group=20), full)
    conv(suite, Conv((2, 5, 1, 1), 5, (3, 3), pads=(1, 1, 1, 1), group=5))
    conv(suite, Conv((1, 6, 3, 2), 6, (2, 2), (2, 2), (3, 3, 3, 3), group=6), full)
    conv(suite, Conv((1, 6, 7, 9), 6, (3, 4), (2, 1), (3, 2, 1, 5), (2, 3), group=6), full)
    conv(suite, Conv((1, 6, 4, 30), 6, (1, 7), (1, 3), (0, 3, 0, 3), group=6))


def conv_types(suite: Suite) -> None:
    for dtype in ("float64", "float16", "bfloat16", "int32", "int8", "uint8", "int16"):
        conv(suite, Conv((1, 6, 8, 7), 10, (3, 3), pads=(1, 1, 1, 1)), dtype=dtype)
        conv(suite, Conv((1, 6, 8, 7), 10, (1, 1)), dtype=dtype)
        conv(suite, Conv((1, 6, 8, 7), 6, (3, 3), pads=(1, 1, 1, 1), group=6), dtype=dtype)


PARTS = (matmuls, matmul_types, convs, grouped, depthwise, conv_types)


@pytest.fixture(scope="module", params=PARTS, ids=lambda part: part.__name__)
def part(request: pytest.FixtureRequest) -> tuple[Suite, bool]:
    """Cases, and whether their kernels differ much from target to target."""
    made = Suite()
    request.param(made)
    return made, request.param in (matmuls, convs)


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_product(part: tuple[Suite, bool], target: str) -> None:
    suite, tiled = part
    suite.check(target, interpret=tiled or target == TARGET_NAMES[0])
