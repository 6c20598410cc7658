"""Pools. One spatial dimension is imported as two, with height one."""

from __future__ import annotations

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.pointwise import lowest
from gecc.frontend.onnx.ops.window import Window, from_2d, is_same, pad_same, read_window, to_2d
from gecc.frontend.onnx.registry import onnx_op


def _check_pads(n: Node, window: Window) -> None:
    """A window that may lie in the padding alone has no meaning."""
    pairs = [(window.pads[i], window.pads[i + 2], window.reach[i]) for i in range(2)]
    if any(max(before, after) >= reach for before, after, reach in pairs):
        n.refuse(f"pads {window.pads} are not smaller than the window {window.reach}")


@onnx_op("MaxPool")
def max_pool(n: Node) -> SSAValue:
    """The largest element under each window."""
    if n.wants(1):
        n.refuse("MaxPool with its Indices output is not supported")
    return pool_max(n, n.input(0))


def pool_max(n: Node, x: SSAValue) -> SSAValue:
    """The largest element of x under each window that the attributes of `n` describe."""
    window = read_window(n, x, n.attr_ints("kernel_shape"))
    x = to_2d(n, x, window)
    if is_same(n):
        x = pad_same(n, x, window, lowest(element(x)))
    _check_pads(n, window)
    y = ge.MaxPool(
        x,
        window.kernel,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        ceil_mode=bool(n.attr_int("ceil_mode", 0)),
    )
    return from_2d(n, n.add(y), window)


@onnx_op("AveragePool")
def average_pool(n: Node) -> SSAValue:
    """The mean under each window, with or without the padding."""
    x = n.input(0)
    window = read_window(n, x, n.attr_ints("kernel_shape"))
    x = to_2d(n, x, window)
    include = bool(n.attr_int("count_include_pad", 0))
    if is_same(n):
        if -1 in shape(x)[2:] and not include:
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
        count_include_pad=include,
    )
    return from_2d(n, n.add(y), window)


@onnx_op("GlobalAveragePool")
def global_average_pool(n: Node) -> SSAValue:
    """The mean of each channel."""
    return n.add(ge.GlobalAveragePool(n.input(0)))


@onnx_op("GlobalMaxPool")
def global_max_pool(n: Node) -> SSAValue:
    """The largest element of each channel."""
    return n.add(ge.GlobalMaxPool(n.input(0)))
