"""Pools. One spatial dimension is imported as two, with height one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.movement import integers
from gecc.frontend.onnx.ops.pointwise import lowest
from gecc.frontend.onnx.ops.window import Window, from_2d, is_same, pad_same, read_window, to_2d
from gecc.frontend.onnx.registry import onnx_op


def _check_pads(n: Node, window: Window) -> None:
    """A window that may lie in the padding alone has no meaning."""
    spatial = window.spatial
    pairs = [(window.pads[i], window.pads[i + spatial], window.reach[i]) for i in range(spatial)]
    if any(max(before, after) >= reach for before, after, reach in pairs):
        n.refuse(f"pads {window.pads} are not smaller than the window {window.reach}")


@onnx_op("MaxPool")
def max_pool(n: Node) -> Sequence[SSAValue]:
    """The largest element under each window, and where it is."""
    return pool_max(n, n.input(0))


def pool_max(n: Node, x: SSAValue) -> Sequence[SSAValue]:
    """The largest element of x under each window that the attributes of `n` describe, and where it is."""
    window = read_window(n, x, n.attr_ints("kernel_shape"))
    x = to_2d(n, x, window)
    if is_same(n):
        if n.wants(1) and -1 in shape(x)[2:]:
            n.refuse("MaxPool with auto_pad SAME and Indices needs known spatial extents", hint="give input shapes")
        x = pad_same(n, x, window, lowest(element(x)))
    _check_pads(n, window)
    pool = partial(
        ge.MaxPoolWithArgmax if n.wants(1) else ge.MaxPool,
        x,
        window.kernel,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        ceil_mode=bool(n.attr_int("ceil_mode", 0)),
    )
    made = pool(column_major=bool(n.attr_int("storage_order", 0))) if n.wants(1) else pool()
    return [from_2d(n, y, window) for y in n.build.add_all(made)]


def average(n: Node, x: SSAValue, *, include_pads: bool, divisor: int = 0) -> SSAValue:
    """The mean under each window, or with a divisor its sum over that."""
    window = read_window(n, x, n.attr_ints("kernel_shape"))
    x = to_2d(n, x, window)
    if is_same(n):
        if -1 in shape(x)[2:] and not include_pads:
            n.refuse("AveragePool with auto_pad SAME needs known spatial extents", hint="give input shapes")
        x = pad_same(n, x, window, 0)
    _check_pads(n, window)
    y = ge.AvgPool(
        x,
        window.kernel,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        ceil_mode=bool(n.attr_int("ceil_mode", 0)),
        count_include_pad=include_pads,
        divisor=divisor,
    )
    return from_2d(n, n.add(y), window)


@onnx_op("AveragePool")
def average_pool(n: Node) -> SSAValue:
    """The mean under each window, with or without the padding."""
    return average(n, n.input(0), include_pads=bool(n.attr_int("count_include_pad", 0)))


def _order(n: Node, default: float) -> float:
    """The order of a norm, an integer but in opset 1."""
    p = n.attr_float("p", default) if n.opset < 2 else float(n.attr_int("p", int(default)))
    if p <= 0:
        n.invalid(f"p is {p:g}, expected a positive number")
    return p


def _power(n: Node, x: SSAValue, p: float) -> SSAValue:
    """|x| to the power of p."""
    if p == 2:
        return n.add(ge.Mul(x, x))
    size = n.add(ge.Abs(x))
    return size if p == 1 else n.add(ge.Pow(size, n.build.scalar(p, x)))


def _root(n: Node, x: SSAValue, p: float) -> SSAValue:
    """The p-th root of x, which is not negative."""
    if p == 2:
        return n.add(ge.Sqrt(x))
    return x if p == 1 else n.add(ge.Pow(x, n.build.scalar(1 / p, x)))


@onnx_op("LpPool")
def lp_pool(n: Node) -> SSAValue:
    """The p-norm of what is under each window: the root of the sum of powers, which half formats sum in f32."""
    x, p = n.input(0), _order(n, 2)
    kind = element(x)
    wide = n.build.cast(x, f32) if _is_half(x) else x
    sums = average(n, _power(n, wide, p), include_pads=True, divisor=1)
    return n.build.cast(_root(n, sums, p), kind)


def _is_half(x: SSAValue) -> bool:
    from gecc.weights import numpy_dtype

    return numpy_dtype(element(x)).itemsize == 2


@onnx_op("GlobalLpPool")
def global_lp_pool(n: Node) -> SSAValue:
    """The p-norm of each channel."""
    x, p = n.input(0), _order(n, 2)
    if rank(x) < 3:
        n.invalid(f"input 0 has rank {rank(x)}, expected [N, C, spatial...]")
    kind = element(x)
    wide = n.build.cast(x, f32) if _is_half(x) else x
    sums = n.add(ge.ReduceSum(_power(n, wide, p), list(range(2, rank(x))), keep_dims=True))
    return n.build.cast(_root(n, sums, p), kind)


@onnx_op("GlobalAveragePool")
def global_average_pool(n: Node) -> SSAValue:
    """The mean of each channel."""
    return n.add(ge.GlobalAveragePool(n.input(0)))


@onnx_op("GlobalMaxPool")
def global_max_pool(n: Node) -> SSAValue:
    """The largest element of each channel."""
    return n.add(ge.GlobalMaxPool(n.input(0)))


@onnx_op("MaxUnpool", since=9)
def max_unpool(n: Node) -> SSAValue:
    """Zeros, but for the elements of x at the places that MaxPool found them in.

    With `output_shape`, places count in the extents that follow from the windows, and zeros are appended to those; so
    say the definition and its test. Where `indices` are seen to come from a MaxPool of that very shape, they count in it.
    """
    x, indices = n.input(0), n.input(1)
    counted = _unpooled(n, x)
    extents = counted
    if n.has(2):
        given = integers(n, 2)
        if given is None:
            n.refuse("output_shape (input 2) must be constant", hint="fix its value, or fold the model's constants")
        if len(given) != rank(x):
            n.invalid(f"output_shape holds {len(given)} numbers, expected {rank(x)}")
        extents = list(given)
        if _numbered_shape(indices) == tuple(extents) or any(c > e for c, e in zip(counted, extents, strict=True)):
            counted = extents
    if -1 in (*counted, *extents):
        n.refuse("MaxUnpool needs known extents", hint="give input shapes")
    zeros = n.build.const(np.zeros(prod(counted), ge.numpy_dtype(element(x))))
    places = n.build.reshape(n.build.cast(indices, i64), [-1])
    y = n.add(ge.ScatterElements(zeros, places, n.build.reshape(x, [-1]), axis=0))
    y = n.build.reshape(y, counted)
    if counted == extents:
        return y
    return n.add(ge.Pad(y, pads=[*[0] * rank(x), *(e - c for c, e in zip(counted, extents, strict=True))]))


def _numbered_shape(indices: SSAValue) -> tuple[int, ...] | None:
    """The shape that the indices of a MaxPool, seen through a Reshape, are numbers of."""
    maker = indices.owner
    if isinstance(maker, ge.Reshape):  # what one spatial dimension is imported with
        maker = maker.x.owner
    if not isinstance(maker, ge.MaxPoolWithArgmax):
        return None
    extents = shape(maker.x)
    return (*extents[:2], *extents[3:]) if rank(indices) == 3 else extents


def _unpooled(n: Node, x: SSAValue) -> list[int]:
    """The extents before a MaxPool with these windows, -1 where x has none."""
    window = read_window(n, x, n.attr_ints("kernel_shape"))
    skip, spatial = int(window.one_dimensional), window.spatial
    result = list(shape(x)[:2])
    for i, extent in enumerate(shape(x)[2:], skip):
        pads = window.pads[i] + window.pads[spatial + i]
        result.append(-1 if extent == -1 else (extent - 1) * window.strides[i] + window.kernel[i] - pads)
    return result
