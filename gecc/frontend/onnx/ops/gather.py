"""Operators that pick elements by index, or make tensors from indices."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


@onnx_op("Gather")
def gather(n: Node) -> SSAValue:
    """Slices along an axis."""
    x = n.input(0)
    return n.add(ge.Gather(x, n.input(1), axis=n.axis(n.attr_int("axis", 0), rank(x))))


@onnx_op("GatherElements", since=11)
def gather_elements(n: Node) -> SSAValue:
    """Elements along an axis."""
    x = n.input(0)
    return n.add(ge.GatherElements(x, n.input(1), axis=n.axis(n.attr_int("axis", 0), rank(x))))


@onnx_op("GatherND", since=11)
def gather_nd(n: Node) -> SSAValue:
    """Slices at index vectors."""
    if shape(n.input(1))[-1:] == (-1,):
        n.refuse("GatherND with an index vector of unknown length is not supported", hint="give input shapes")
    return n.add(ge.GatherND(n.input(0), n.input(1), batch_dims=n.attr_int("batch_dims", 0)))


def iota(n: Node, x: SSAValue, axis: int) -> SSAValue:
    """0, 1, ... up to dimension `axis` of x, as i64."""
    size = shape(x)[axis]
    if size != -1:
        return n.build.const(np.arange(size, dtype=np.int64))
    zero, one = n.build.const(np.array(0, np.int64)), n.build.const(np.array(1, np.int64))
    return n.add(ge.Range(zero, n.build.reshape(n.build.extents(x, axis, axis + 1), ()), one))


@onnx_op("Trilu", since=14)
def trilu(n: Node) -> SSAValue:
    """The upper (or lower) triangle of each matrix from diagonal k on; the rest is zero."""
    x = n.input(0)
    if rank(x) < 2:
        n.invalid(f"input 0 has rank {rank(x)}, expected 2 or more")
    k = n.build.reshape(n.input(1), ()) if n.has(1) else n.build.const(np.array(0, np.int64))
    rows, columns = iota(n, x, rank(x) - 2), iota(n, x, rank(x) - 1)
    diagonal = n.add(ge.Sub(columns, n.build.unsqueeze(rows, [1])))
    keeps = ge.GreaterEqual if n.attr_int("upper", 1) else ge.LessEqual
    return n.add(ge.Select(n.add(keeps(diagonal, k)), x, n.build.scalar(0, x)))


@onnx_op("OneHot", since=9)
def one_hot(n: Node) -> SSAValue:
    """`values[1]` where the new axis equals the index, else `values[0]`. A negative index counts from the end."""
    indices, values = n.build.cast(n.input(0), i64), n.input(2)
    depth = n.build.cast(n.build.reshape(n.input(1), ()), i64)
    axis = n.axis(n.attr_int("axis", -1), rank(indices) + 1)
    zero, one = n.build.const(np.array(0, np.int64)), n.build.const(np.array(1, np.int64))
    negative = n.add(ge.Less(indices, zero))
    wrapped = n.add(ge.Add(indices, depth))
    indices = n.build.unsqueeze(n.add(ge.Select(negative, wrapped, indices)), [axis])
    places = n.build.unsqueeze(n.add(ge.Range(zero, depth, one)), list(range(1, rank(indices) - axis)))
    off, on = (n.build.reshape(n.add(ge.Slice(values, [i], [i + 1], [0])), ()) for i in (0, 1))
    return n.add(ge.Select(n.add(ge.Equal(indices, places)), on, off))
