"""Arithmetic of sliding windows: extents of convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.types import DYNAMIC

Ints: TypeAlias = DenseArrayBase[IntegerType]


AXES = ("height", "width")
"""What messages call two spatial dimensions."""


def check_window(
    strides: Ints, pads: Ints, dilations: Ints, spatial: int = 2
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """The window properties over `spatial` dimensions as tuples (n, 2 n and n values), or VerifyException."""
    s, p, d = strides.get_values(), pads.get_values(), dilations.get_values()
    for name, values in (("strides", s), ("dilations", d)):
        if len(values) != spatial or min(values, default=1) < 1:
            raise VerifyException(f"{name} is {list(values)}, expected {_count(spatial)} of at least 1")
    if len(p) != 2 * spatial or min(p, default=0) < 0:
        order = "top, left, bottom, right" if spatial == 2 else "all before, then all after"
        raise VerifyException(f"pads is {list(p)}, expected {2 * spatial} values ({order}) of at least 0")
    return s, p, d


def _count(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"


def axis_name(axis: int, spatial: int) -> str:
    """What messages call a spatial dimension."""
    return AXES[axis] if spatial == 2 else ("depth", *AXES)[axis] if spatial == 3 else f"spatial dimension {axis}"


def conv_extents(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    *,
    ceil_mode: bool = False,
) -> list[int]:
    """`conv_extent` of every spatial dimension."""
    n = len(sizes)
    return [
        conv_extent(
            axis_name(i, n), sizes[i], kernel[i], strides[i], pads[i], pads[n + i], dilations[i], ceil_mode=ceil_mode
        )
        for i in range(n)
    ]


def conv_extent(
    what: str, size: int, kernel: int, stride: int, before: int, after: int, dilation: int, *, ceil_mode: bool = False
) -> int:
    """How many windows fit in a dimension, maybe none; -1 when the size or the kernel is unknown.

    With ceil_mode a last, partial window counts if it starts inside the input or the leading padding (ONNX Pool).
    """
    if DYNAMIC in (size, kernel):
        return DYNAMIC
    room = size + before + after - ((kernel - 1) * dilation + 1)
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    if count < 0:
        raise VerifyException(
            f"{what} {size} with pads {before} + {after} is smaller than the window {(kernel - 1) * dilation + 1}"
        )
    if not ceil_mode:
        return count
    return count - 1 if (count - 1) * stride >= size + before else count


def deconv_extent(
    what: str, size: int, kernel: int, stride: int, before: int, after: int, dilation: int, extra: int
) -> int:
    """The extent of a transposed convolution; -1 when the size or the kernel is unknown."""
    if DYNAMIC in (size, kernel):
        return DYNAMIC
    extent = (size - 1) * stride - before - after + (kernel - 1) * dilation + 1 + extra
    if extent < 0:
        raise VerifyException(f"{what} of the result would be {extent}: pads {before} + {after} are too large")
    return extent
