"""Operators that work along one axis in order: cumulative sums, TopK, reversed sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


def _cumulative(op: type[ge.CumSum | ge.CumProd]) -> Callable[[Node], SSAValue]:
    def build(n: Node) -> SSAValue:
        x = n.input(0)
        axis = n.required_constant(1, "axis")
        if axis.size != 1:
            n.invalid(f"axis (input 1) has shape {list(axis.shape)}, expected one element")
        exclusive, reverse = bool(n.attr_int("exclusive", 0)), bool(n.attr_int("reverse", 0))
        return n.add(op(x, n.axis(int(axis.reshape(-1)[0]), rank(x)), exclusive=exclusive, reverse=reverse))

    return build


onnx_op("CumSum", since=11)(_cumulative(ge.CumSum))
onnx_op("CumProd", since=26)(_cumulative(ge.CumProd))


@onnx_op("TopK", since=1)
def top_k_by_attribute(n: Node) -> Sequence[SSAValue]:
    """The k largest; k is an attribute."""
    return _top_k(n, n.attr_int("k"), largest=True)


@onnx_op("TopK", since=10)
def top_k(n: Node) -> Sequence[SSAValue]:
    """The k largest or (from opset 11) smallest, always sorted; k is an operand that must be constant."""
    k = n.required_constant(1, "k")
    if k.size != 1:
        n.invalid(f"k (input 1) has shape {list(k.shape)}, expected one element")
    return _top_k(n, int(k.reshape(-1)[0]), largest=bool(n.attr_int("largest", 1)))


def _top_k(n: Node, k: int, *, largest: bool) -> Sequence[SSAValue]:
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    if k < 0 or (shape(x)[axis] != -1 and k > shape(x)[axis]):
        n.invalid(f"k is {k}, expected 0 to {shape(x)[axis]}, the size of dimension {axis}")
    return n.build.add_all(ge.TopK(x, k, axis=axis, largest=largest))


@onnx_op("ReverseSequence", since=10)
def reverse_sequence(n: Node) -> SSAValue:
    """The head of each sequence reversed."""
    x = n.input(0)
    batch, time = (n.axis(n.attr_int(a, d), rank(x)) for a, d in (("batch_axis", 1), ("time_axis", 0)))
    return n.add(ge.ReverseSequence(x, n.input(1), batch_axis=batch, time_axis=time))
