"""Constants, and shapes as values."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank
from gecc.frontend.onnx.narrow import NARROW
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.movement import vector_length
from gecc.frontend.onnx.registry import onnx_op


@onnx_op("Constant")
def constant(n: Node) -> SSAValue:
    """A constant in any of its attribute forms."""
    given = [name for name in n.attributes if name.startswith(("value", "sparse_value"))]
    if len(given) != 1:
        n.invalid(f"has {given or 'no value attribute'}, expected exactly one")
    attribute = n.attributes[given[0]]
    match given[0]:
        case "value":
            return _typed(n, n.build.const(n.model.array(attribute.t)), attribute.t.data_type)
        case "sparse_value":
            return n.build.const(n.model.dense(attribute.sparse_tensor))
        case "value_int":
            return n.build.const(np.array(attribute.i, np.int64))
        case "value_ints":
            return n.build.const(np.array(attribute.ints, np.int64))
        case "value_float":
            return n.build.const(np.array(attribute.f, np.float32))
        case "value_floats":
            return n.build.const(np.array(attribute.floats, np.float32))
        case other:
            n.refuse(f"Constant of {other} is not supported")


def _typed(n: Node, value: SSAValue, data_type: int) -> SSAValue:
    return n.build.mark(value, data_type) if data_type in NARROW else value


@onnx_op("Shape")
def shape_of(n: Node) -> SSAValue:
    """The dimensions of x, from `start` up to `end` (from opset 15)."""
    x = n.input(0)
    start, end, _ = slice(n.attr_int("start", 0), n.attr_int("end", rank(x))).indices(rank(x))
    return n.build.extents(x, start, max(end, start))


@onnx_op("Size")
def size(n: Node) -> SSAValue:
    """The number of elements of x."""
    return n.add(ge.Size(n.input(0)))


@onnx_op("Range", since=11)
def numbers(n: Node) -> SSAValue:
    """start, start + delta, ... before limit."""
    start, limit, delta = (n.build.reshape(n.input(i), ()) for i in range(3))
    return n.add(ge.Range(start, limit, delta))


@onnx_op("ConstantOfShape", since=9)
def constant_of_shape(n: Node) -> SSAValue:
    """A tensor of one value, f32 zero by default."""
    value = n.model.array(n.attributes["value"].t) if n.has_attr("value") else np.zeros(1, np.float32)
    if value.size != 1:
        n.invalid(f"value holds {value.size} elements, expected 1")
    vector_length(n, 0, "shape")
    data_type = n.attributes["value"].t.data_type if n.has_attr("value") else 0
    return _typed(n, n.add(ge.ConstantOfShape(n.input(0), ge.dense(value.reshape(1)))), data_type)


@onnx_op("EyeLike", since=9)
def eye_like(n: Node) -> SSAValue:
    """Ones on diagonal k, with the shape of x."""
    from gecc.frontend.onnx.builder import element
    from gecc.frontend.onnx.ops.gather import iota
    from gecc.frontend.onnx.ops.pointwise import cast_target

    x = n.input(0)
    if rank(x) != 2:
        n.invalid(f"input 0 has rank {rank(x)}, expected 2")
    target = cast_target(n, n.attr_int("dtype")) if n.has_attr("dtype") else element(x)
    diagonal = n.add(ge.Sub(iota(n, x, 1), n.build.unsqueeze(iota(n, x, 0), [1])))
    on = n.add(ge.Equal(diagonal, n.build.const(np.array(n.attr_int("k", 0), np.int64))))
    return n.build.cast(on, target)
