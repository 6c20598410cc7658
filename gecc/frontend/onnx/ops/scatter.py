"""Operators that write elements at indices."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.scatter import REDUCTIONS
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


def _reduction(n: Node) -> str:
    reduction = n.attr_str("reduction", "none")
    if reduction not in REDUCTIONS:
        n.invalid(f"reduction is '{reduction}', expected one of {', '.join(REDUCTIONS)}")
    return reduction


def scatter_elements(n: Node) -> SSAValue:
    """Elements along an axis, put in place or (from opset 16) combined with what is there."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", 0), rank(x))
    return n.add(ge.ScatterElements(x, n.input(1), n.input(2), axis=axis, reduction=_reduction(n)))


onnx_op("Scatter", since=9)(scatter_elements)
onnx_op("ScatterElements", since=11)(scatter_elements)


@onnx_op("TensorScatter", since=24)
def tensor_scatter(n: Node) -> SSAValue:
    """A cache with an update written from each batch's own place on, around its end when `mode` is circular."""
    cache, update, mode = n.input(0), n.input(1), n.attr_str("mode", "linear")
    if -1 in (*shape(cache), *shape(update)):
        n.refuse("TensorScatter needs known shapes", hint="give input shapes")
    axis = n.axis(n.attr_int("axis", -2), rank(cache))
    if axis == 0:
        n.invalid("axis is 0, the batch")
    size, count = shape(cache)[axis], shape(update)[axis]
    places = n.build.const(
        np.arange(count, dtype=np.int64).reshape([count if i == axis else 1 for i in range(rank(cache))])
    )
    if n.has(2):
        starts = n.build.cast(n.build.unsqueeze(n.input(2), list(range(1, rank(cache)))), i64)
        places = n.add(ge.Add(starts, places))
    if mode == "circular":
        places = n.add(ge.Mod(places, n.build.const(np.array(size, np.int64)), fmod=False))
    if shape(places) != shape(update):
        places = n.add(ge.Expand(places, shape(update)))
    return n.add(ge.ScatterElements(cache, places, update, axis=axis))


@onnx_op("ScatterND", since=11)
def scatter_nd(n: Node) -> SSAValue:
    """Slices at index vectors, put in place or (from opset 16) combined with what is there."""
    if shape(n.input(1))[-1:] == (-1,):
        n.refuse("ScatterND with an index vector of unknown length is not supported", hint="give input shapes")
    return n.add(ge.ScatterND(n.input(0), n.input(1), n.input(2), reduction=_reduction(n)))
