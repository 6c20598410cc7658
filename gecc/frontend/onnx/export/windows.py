"""Convolutions and pools in ONNX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat

from gecc.dialects import ge
from gecc.frontend.onnx.export.operators import EXPORTS, Emitter, export, plain, same

_WINDOW = {"strides": "strides", "pads": "pads", "dilations": "dilations"}
_POOL = {"kernel": "kernel_shape", "ceil_mode": "ceil_mode", **_WINDOW}

_TRANSPOSED = same("ConvTranspose", group="group", output_padding="output_padding", **_WINDOW)
EXPORTS.update(
    {
        ge.ConvTranspose2D: _TRANSPOSED,
        ge.ConvTranspose3D: _TRANSPOSED,
        ge.MaxPool: same("MaxPool", **_POOL),
    }
)


def _convolution(e: Emitter, op: ge.Conv2D | ge.Conv3D) -> None:
    """Conv knows floats alone."""
    if not isinstance(ge.elem(op.x), AnyFloat):
        raise e.refuse(f"a convolution of {ge.elem(op.x)}")
    same("Conv", group="group", **_WINDOW)(e, op)


def _attributes(op: ge.Pool) -> dict[str, Any]:
    return {theirs: plain(op.properties[ours]) for ours, theirs in _POOL.items()}


export(ge.Conv2D)(_convolution)
export(ge.Conv3D)(_convolution)


@export(ge.MaxPoolWithArgmax)
def max_pool_with_argmax(e: Emitter, op: ge.MaxPoolWithArgmax) -> None:
    """MaxPool with two results."""
    attributes = {**_attributes(op), "storage_order": int(op.column_major.value.data != 0)}
    e.node_of_many("MaxPool", [op.x], list(op.results), **attributes)


@export(ge.AvgPool)
def avg_pool(e: Emitter, op: ge.AvgPool) -> None:
    """AveragePool; with a divisor the mean of the padded window is multiplied by the elements it has."""
    divisor = op.divisor.value.data
    if not divisor:
        same("AveragePool", count_include_pad="count_include_pad", **_POOL)(e, op)
        return
    attributes = _attributes(op)
    if attributes["ceil_mode"]:
        raise e.refuse("a pool with ceil_mode that divides by a constant")
    mean = e.node("AveragePool", [op.x], count_include_pad=1, **attributes)
    factor = np.array(math.prod(op.kernel.get_values()) / divisor, ge.numpy_dtype(ge.elem(op.x)))
    e.node("Mul", [mean, e.constant(factor)], op.result)
