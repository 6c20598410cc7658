"""Arithmetic of sliding windows: extents of convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.types import DYNAMIC

Ints: TypeAlias = DenseArrayBase[IntegerType]


def check_window(strides: Ints, pads: Ints, dilations: Ints) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """The window properties of a 2-D operator as tuples (2, 4 and 2 values), or VerifyException."""
    s, p, d = strides.get_values(), pads.get_values(), dilations.get_values()
    for name, values in (("strides", s), ("dilations", d)):
        if len(values) != 2 or min(values) < 1:
            raise VerifyException(f"{name} is {list(values)}, expected 2 values of at least 1")
    if len(p) != 4 or min(p) < 0:
        raise VerifyException(f"pads is {list(p)}, expected 4 values (top, left, bottom, right) of at least 0")
    return s, p, d


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
