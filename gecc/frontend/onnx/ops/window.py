"""Sliding windows: the attributes that convolutions and pools share, and `auto_pad`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node


@dataclass
class Window:
    """A window over the spatial dimensions, at least two: a 1-D window has height one."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[int]
    """All before (top, left), then all after (bottom, right)."""
    one_dimensional: bool

    @property
    def spatial(self) -> int:
        """The number of spatial dimensions, with the one that was added."""
        return len(self.kernel)

    def pad(self, totals: Sequence[int], *, upper: bool) -> None:
        """Set pads that add up to `totals`, in halves."""
        pairs = [halves(total, upper) for total in totals]
        self.pads = [*(before for before, _ in pairs), *(after for _, after in pairs)]

    @property
    def reach(self) -> list[int]:
        """Extent of the dilated kernel."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]


def spatial_rank(n: Node, x: SSAValue) -> int:
    """The number of spatial dimensions of x [N, C, ...], at least one."""
    spatial = rank(x) - 2
    if spatial < 1:
        n.invalid(f"input 0 has rank {rank(x)}, expected [N, C, spatial...]")
    return spatial


def read_window(n: Node, x: SSAValue, kernel: Sequence[int]) -> Window:
    """The window of a convolution or pool with explicit pads (`auto_pad` is resolved by `pad_same`)."""
    spatial = spatial_rank(n, x)
    given = {
        "kernel_shape": list(kernel),
        "strides": n.attr_ints("strides", [1] * spatial) or [1] * spatial,
        "dilations": n.attr_ints("dilations", [1] * spatial) or [1] * spatial,
    }
    for name, values in given.items():
        if len(values) != spatial or min(values) < 1:
            n.invalid(f"{name} is {values}, expected {spatial} positive numbers")
    pads = n.attr_ints("pads", [0] * (2 * spatial)) or [0] * (2 * spatial)
    if len(pads) != 2 * spatial:
        n.invalid(f"pads is {pads}, expected {2 * spatial} numbers")
    if n.attr_str("auto_pad", "NOTSET") != "NOTSET":
        pads = [0] * (2 * spatial)
    if min(pads) < 0:
        n.refuse(f"negative pads {pads} are not supported")
    one = spatial == 1
    return Window(
        kernel=[1] * one + given["kernel_shape"],
        strides=[1] * one + given["strides"],
        dilations=[1] * one + given["dilations"],
        pads=[0, pads[0], 0, pads[1]] if one else pads,
        one_dimensional=one,
    )


def is_same(n: Node) -> bool:
    """Whether `auto_pad` asks for SAME_UPPER or SAME_LOWER."""
    mode = n.attr_str("auto_pad", "NOTSET")
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        n.invalid(f"auto_pad is {mode}, expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    return mode.startswith("SAME")


def halves(total: int, upper: bool) -> tuple[int, int]:
    """Padding split in two; the odd one goes to the end with SAME_UPPER, to the front with SAME_LOWER."""
    return (total // 2, total - total // 2) if upper else (total - total // 2, total // 2)


def pad_same(n: Node, x: SSAValue, window: Window, fill: float) -> SSAValue:
    """Resolve SAME padding of x [N, C, H, W] (or more spatial dimensions).

    Known extents give `window.pads`. Unknown ones make a `ge.DynPad` with `fill`, whose amounts are computed from the
    shape at hand; its result is returned in place of x.
    """
    upper = n.attr_str("auto_pad") == "SAME_UPPER"
    extents = shape(x)[2:]
    if -1 not in extents:
        totals = [
            max((-(-size // s) - 1) * s + r - size, 0)
            for size, s, r in zip(extents, window.strides, window.reach, strict=True)
        ]
        window.pad(totals, upper=upper)
        return x
    return _pad_unknown(n, x, window, fill, upper)


def _pad_unknown(n: Node, x: SSAValue, window: Window, fill: float, upper: bool) -> SSAValue:
    def ints(values: Sequence[int]) -> SSAValue:
        return n.build.ints(values)

    size = n.build.extents(x, 2, 2 + window.spatial)
    strides = ints(window.strides)
    rounded = n.add(ge.Add(size, ints([s - 1 for s in window.strides])))
    count = n.add(ge.RealDiv(rounded, strides))
    covered = n.add(ge.Add(n.add(ge.Mul(n.add(ge.Sub(count, ints([1]))), strides)), ints(window.reach)))
    total = n.add(ge.Maximum(n.add(ge.Sub(covered, size)), ints([0])))
    small = n.add(ge.RealDiv(total, ints([2])))
    large = n.add(ge.Sub(total, small))
    before, after = (small, large) if upper else (large, small)
    pads = n.build.concat([ints([0, 0]), before, ints([0, 0]), after])
    value = n.build.const(np.array(fill, _dtype(x)))
    return n.add(ge.DynPad(x, pads, value, mode="constant"))


def _dtype(x: SSAValue) -> np.dtype:
    from gecc.weights import numpy_dtype

    return numpy_dtype(element(x))


def to_2d(n: Node, x: SSAValue, window: Window) -> SSAValue:
    """[N, C, L] as [N, C, 1, L]; two and more spatial dimensions stay."""
    return n.build.unsqueeze(x, [2]) if window.one_dimensional else x


def from_2d(n: Node, y: SSAValue, window: Window) -> SSAValue:
    """Undo `to_2d`."""
    return n.build.squeeze(y, [2]) if window.one_dimensional else y
