"""Reductions along axes. Axes are an attribute first, an input since opset 13 (ReduceSum) or 18 (the others)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType, f64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op

ReduceOp: TypeAlias = "type[ge.ReduceSum | ge.ReduceMean | ge.ReduceMax | ge.ReduceMin | ge.ReduceProd]"


def _axes(n: Node) -> list[int]:
    """The axes reduced, sorted; none means no reduction."""
    dims = rank(n.input(0))
    if n.has(1):
        given = [int(a) for a in n.required_constant(1, "axes").reshape(-1)]
    else:
        given = n.attr_ints("axes", [])
    if given:
        return n.axes(given, dims)
    return [] if n.attr_int("noop_with_empty_axes", 0) else list(range(dims))


def _reduce(n: Node, op: ReduceOp, x: SSAValue, *, keep: bool | None = None) -> SSAValue:
    keep = bool(n.attr_int("keepdims", 1)) if keep is None else keep
    return n.add(op(x, _axes(n), keep_dims=keep))


def _register_plain() -> None:
    def plain(op: ReduceOp) -> Callable[[Node], SSAValue]:
        return lambda n: _reduce(n, op, n.input(0))

    for name, op in (
        ("ReduceSum", ge.ReduceSum),
        ("ReduceMean", ge.ReduceMean),
        ("ReduceMax", ge.ReduceMax),
        ("ReduceMin", ge.ReduceMin),
        ("ReduceProd", ge.ReduceProd),
    ):
        onnx_op(name)(plain(op))


_register_plain()


def _in_floats(n: Node, function: Callable[[SSAValue], SSAValue]) -> SSAValue:
    """`function` of the input; integers go through f64 and back."""
    x = n.input(0)
    kind = element(x)
    if isinstance(kind, IntegerType):
        return n.build.cast(function(n.build.cast(x, f64)), kind)
    return function(x)


@onnx_op("ReduceL1")
def reduce_l1(n: Node) -> SSAValue:
    """Sum of |x|."""
    return _reduce(n, ge.ReduceSum, n.add(ge.Abs(n.input(0))))


@onnx_op("ReduceSumSquare")
def reduce_sum_square(n: Node) -> SSAValue:
    """Sum of x^2."""
    return _reduce(n, ge.ReduceSum, n.add(ge.Mul(n.input(0), n.input(0))))


@onnx_op("ReduceL2")
def reduce_l2(n: Node) -> SSAValue:
    """Square root of the sum of x^2."""
    return _in_floats(n, lambda x: n.add(ge.Sqrt(_reduce(n, ge.ReduceSum, n.add(ge.Mul(x, x))))))


@onnx_op("ReduceLogSum")
def reduce_log_sum(n: Node) -> SSAValue:
    """Logarithm of the sum of x."""
    return _in_floats(n, lambda x: n.add(ge.Log(_reduce(n, ge.ReduceSum, x))))


@onnx_op("ReduceLogSumExp")
def reduce_log_sum_exp(n: Node) -> SSAValue:
    """Logarithm of the sum of e^x, relative to the largest finite x so that nothing overflows."""

    def log_sum_exp(x: SSAValue) -> SSAValue:
        largest = _reduce(n, ge.ReduceMax, x, keep=True)
        infinite = n.add(ge.Equal(n.add(ge.Abs(largest)), n.build.scalar(np.inf, x)))
        origin = n.add(ge.Select(infinite, n.build.scalar(0, x), largest))
        powers = n.add(ge.Exp(n.add(ge.Sub(x, origin))))
        total = n.add(ge.Add(n.add(ge.Log(_reduce(n, ge.ReduceSum, powers, keep=True))), origin))
        return total if n.attr_int("keepdims", 1) else n.build.squeeze(total, _axes(n))

    return _in_floats(n, log_sum_exp)


def _register_arg() -> None:
    def arg(op: type[ge.ArgMax | ge.ArgMin]) -> Callable[[Node], SSAValue]:
        def build(n: Node) -> SSAValue:
            axis = n.axis(n.attr_int("axis", 0), rank(n.input(0)))
            keep, last = bool(n.attr_int("keepdims", 1)), bool(n.attr_int("select_last_index", 0))
            return n.add(op(n.input(0), axis, keep_dims=keep, select_last_index=last))

        return build

    onnx_op("ArgMax")(arg(ge.ArgMax))
    onnx_op("ArgMin")(arg(ge.ArgMin))


_register_arg()
