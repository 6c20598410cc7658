"""Softmax and its kin. Below opset 13 they treat x as a matrix: all dimensions from `axis` on are one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op

AlongAxis: TypeAlias = Callable[[Node, SSAValue, int], SSAValue]


def _softmax(n: Node, x: SSAValue, axis: int) -> SSAValue:
    return n.add(ge.Softmax(x, axis=axis))


def _log_softmax(n: Node, x: SSAValue, axis: int) -> SSAValue:
    return n.add(ge.LogSoftmax(x, axis=axis))


def _hardmax(n: Node, x: SSAValue, axis: int) -> SSAValue:
    """One at the first largest element along the axis, else zero."""
    size = shape(x)[axis]
    if size == 0:
        return x
    if size == -1:
        zero, one = n.build.const(np.array(0, np.int64)), n.build.const(np.array(1, np.int64))
        count = n.build.reshape(n.build.extents(x, axis, axis + 1), ())
        places = n.add(ge.Range(zero, count, one))
    else:
        places = n.build.const(np.arange(size, dtype=np.int64))
    places = n.build.unsqueeze(places, list(range(1, rank(x) - axis)))
    first = n.add(ge.ArgMax(x, axis, keep_dims=True))
    return n.build.cast(n.add(ge.Equal(first, places)), element(x))


def _along(function: AlongAxis) -> Callable[[Node], SSAValue]:
    def build(n: Node) -> SSAValue:
        x = n.input(0)
        return function(n, x, n.axis(n.attr_int("axis", -1), rank(x)))

    return build


def _coerced(function: AlongAxis) -> Callable[[Node], SSAValue]:
    def build(n: Node) -> SSAValue:
        x = n.input(0)
        axis = n.axis(n.attr_int("axis", 1), rank(x), upto=rank(x))
        if axis == rank(x) - 1:
            return function(n, x, axis)
        return n.build.reshape_like(function(n, n.build.flatten(x, axis, rank(x)), axis), x)

    return build


for _name, _function in (("Softmax", _softmax), ("LogSoftmax", _log_softmax), ("Hardmax", _hardmax)):
    onnx_op(_name, since=1)(_coerced(_function))
    onnx_op(_name, since=13)(_along(_function))
