"""Convolutions. One spatial dimension is imported as two, with height one; three and more have an operator of their own."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.window import Window, from_2d, is_same, pad_same, read_window, spatial_rank, to_2d
from gecc.frontend.onnx.registry import onnx_op


def _kernel(n: Node, x: SSAValue, w: SSAValue) -> list[int]:
    """The kernel's extents, from the weight; `kernel_shape` must agree."""
    spatial = spatial_rank(n, x)
    if rank(w) != rank(x):
        n.invalid(f"the weight has rank {rank(w)}, expected {rank(x)}")
    kernel = list(shape(w)[2:])
    given = n.attr_ints("kernel_shape", kernel)
    if -1 in kernel:
        kernel = given
    if -1 in kernel:
        n.refuse("the extents of the kernel must be known")
    if given != kernel:
        n.invalid(f"kernel_shape is {given}, but the weight has {kernel}")
    assert len(kernel) == spatial
    return kernel


@onnx_op("Conv")
def conv(n: Node) -> SSAValue:
    """Convolution of any number of spatial dimensions."""
    return convolve(n, n.input(0), n.input(1), n.optional(2))


def convolve(n: Node, x: SSAValue, w: SSAValue, bias: SSAValue | None, *, sums: Attribute | None = None) -> SSAValue:
    """The convolution of x with w that the attributes of `n` describe; `sums` is the result's element type."""
    window = read_window(n, x, _kernel(n, x, w))
    x, w = to_2d(n, x, window), to_2d(n, w, window)
    if is_same(n):
        x = pad_same(n, x, window, 0)
    y = (ge.Conv2D if window.spatial == 2 else ge.Conv3D)(
        x,
        w,
        bias,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        group=n.attr_int("group", 1),
        sums=sums,
    )
    return from_2d(n, n.add(y), window)


@onnx_op("ConvTranspose")
def conv_transpose(n: Node) -> SSAValue:
    """Transposed convolution of any number of spatial dimensions."""
    x, w = n.input(0), n.input(1)
    window = read_window(n, x, _kernel(n, x, w))
    x, w = to_2d(n, x, window), to_2d(n, w, window)
    spatial = window.spatial - window.one_dimensional
    extra = n.attr_ints("output_padding", []) or [0] * spatial
    if len(extra) != spatial or min(extra) < 0:
        n.invalid(f"output_padding is {extra}, expected {spatial} numbers of at least 0")
    extra = [0] * window.one_dimensional + extra
    if is_same(n) or n.has_attr("output_shape"):
        _fit_output(n, x, window, extra)
    y = (ge.ConvTranspose2D if window.spatial == 2 else ge.ConvTranspose3D)(
        x,
        w,
        n.optional(2),
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        group=n.attr_int("group", 1),
        output_padding=extra,
    )
    return from_2d(n, n.add(y), window)


def _fit_output(n: Node, x: SSAValue, window: Window, extra: list[int]) -> None:
    """Set pads so that the result has `output_shape`, or extent times stride with SAME.

    A result larger than the windows reach is padded at its end, as `output_padding` does.
    """
    totals = [e + r - s for e, r, s in zip(extra, window.reach, window.strides, strict=True)]  # SAME
    if n.has_attr("output_shape"):
        spatial = window.spatial - window.one_dimensional
        wanted = n.attr_ints("output_shape")[-spatial:]
        if len(wanted) != spatial:
            n.invalid(f"output_shape is {wanted}, expected {spatial} numbers")
        wanted = [1] * window.one_dimensional + wanted
        extents = shape(x)[2:]
        if -1 in extents:
            n.refuse("output_shape needs known spatial extents", hint="give input shapes")
        totals = [
            s * (size - 1) + e + r - w
            for size, s, e, r, w in zip(extents, window.strides, extra, window.reach, wanted, strict=True)
        ]
    for i, total in enumerate(totals):
        extra[i] += max(-total, 0)
    window.pad([max(total, 0) for total in totals], upper=n.attr_str("auto_pad", "NOTSET") == "SAME_UPPER")
