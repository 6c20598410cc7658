"""Operators that move elements: reshape, transpose, concat, split, slice, pad, expand, tile."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


def vector_length(n: Node, i: int, what: str) -> int:
    """The number of elements of operand `i`, which decides the rank of the result and so must be known."""
    value = n.input(i)
    if rank(value) != 1:
        n.invalid(f"{what} (input {i}) has rank {rank(value)}, expected 1")
    count = shape(value)[0]
    if count == -1:
        n.refuse(f"the number of elements of {what} (input {i}) is unknown, so the rank of the result is too")
    return count


def integers(n: Node, i: int) -> list[int] | None:
    """The values of operand `i` when it is constant."""
    value = n.constant(i)
    return None if value is None else [int(v) for v in value.reshape(-1)]


@onnx_op("Reshape")
def reshape(n: Node) -> SSAValue:
    """The shape is an operand; 0 copies a dimension unless `allowzero`, -1 is the rest."""
    x, allowzero = n.input(0), bool(n.attr_int("allowzero", 0))
    wanted = integers(n, 1)
    if wanted is not None:
        result = ge.reshaped(shape(x), wanted, allowzero)
        if -1 not in result:
            return n.build.reshape(x, result)
    else:
        vector_length(n, 1, "shape")
    return n.add(ge.DynReshape(x, n.input(1), allowzero=allowzero))


@onnx_op("Flatten")
def flatten(n: Node) -> SSAValue:
    """A matrix: the dimensions before `axis` are its rows."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", 1), rank(x), upto=rank(x))
    sides = [-1 if -1 in part else prod(part) for part in (shape(x)[:axis], shape(x)[axis:])]
    if sides != [-1, -1]:
        return n.build.reshape(x, sides)
    rows = n.add(ge.ReduceProd(n.build.extents(x, 0, axis), [0], keep_dims=True))
    return n.add(ge.DynReshape(x, n.build.concat([rows, n.build.ints([-1])])))


def _axes_operand(n: Node) -> tuple[list[int] | None, SSAValue | None]:
    """The axes of Squeeze and Unsqueeze, an attribute until opset 12: their values when constant, else the operand."""
    if n.has(1):
        return integers(n, 1), n.optional(1)
    return (n.attr_ints("axes") if n.has_attr("axes") else None), None


@onnx_op("Squeeze")
def squeeze(n: Node) -> SSAValue:
    """Without the dimensions `axes`, or without all that are one."""
    x = n.input(0)
    axes, operand = _axes_operand(n)
    if axes is None and operand is not None:
        vector_length(n, 1, "axes")
        return n.add(ge.DynSqueeze(x, operand))
    if axes is None:
        if -1 in shape(x):
            n.refuse("Squeeze without axes needs a known shape", hint="give input shapes")
        axes = [i for i, d in enumerate(shape(x)) if d == 1]
    axes = n.axes(axes, rank(x))
    wrong = [i for i in axes if shape(x)[i] not in (1, -1)]
    if wrong:
        n.invalid(f"dimension {wrong[0]} is {shape(x)[wrong[0]]}, expected 1")
    return n.build.squeeze(x, axes)


@onnx_op("Unsqueeze")
def unsqueeze(n: Node) -> SSAValue:
    """With dimensions of one at `axes` of the result."""
    x = n.input(0)
    axes, operand = _axes_operand(n)
    if axes is None:
        if operand is None:
            n.invalid("axes are missing")
        vector_length(n, 1, "axes")
        return n.add(ge.DynUnsqueeze(x, operand))
    return n.build.unsqueeze(x, n.axes(axes, rank(x) + len(axes)))


@onnx_op("Transpose")
def transpose(n: Node) -> SSAValue:
    """`perm` reverses the dimensions by default."""
    x = n.input(0)
    perm = n.attr_ints("perm", range(rank(x) - 1, -1, -1))
    if sorted(perm) != list(range(rank(x))):
        n.invalid(f"perm {perm} is not a permutation of 0..{rank(x) - 1}")
    return n.build.transpose(x, perm)


@onnx_op("Concat")
def concat(n: Node) -> SSAValue:
    """All inputs along `axis`; a single input passes through."""
    xs = n.given()
    axis = n.axis(n.attr_int("axis"), rank(xs[0]))
    return xs[0] if len(xs) == 1 else n.add(ge.Concat(xs, axis))


@onnx_op("Split")
def split(n: Node) -> Sequence[SSAValue]:
    """Parts along `axis`: of sizes given (attribute until opset 12, then operand), or as equal as can be."""
    x, count = n.input(0), len(n.proto.output)
    axis = n.axis(n.attr_int("axis", 0), rank(x))
    size = shape(x)[axis]
    if n.has(1):
        given = integers(n, 1)
        if given is None:
            return _split_by_operand(n, x, axis, count)
        sizes = given
    elif n.has_attr("split"):
        sizes = n.attr_ints("split")
    elif size == -1:
        return _split_unknown(n, x, axis, count)
    else:
        part = -(-size // count)
        sizes = [min(part, max(size - i * part, 0)) for i in range(count)]
        if n.opset < 18 and len(set(sizes)) > 1:
            n.invalid(f"dimension {axis} of size {size} does not split into {count} equal parts")
    if len(sizes) != count:
        n.invalid(f"split is {sizes}, but the node has {count} outputs")
    if count == 1:
        return [x]
    return n.build.add_all(ge.Split(x, axis, sizes))


def _split_by_operand(n: Node, x: SSAValue, axis: int, count: int) -> Sequence[SSAValue]:
    """Parts of sizes that are not known yet: slices from one sum of sizes to the next."""
    sizes, axes = n.input(1), n.build.ints([axis])
    if shape(sizes) not in ((count,), (-1,)):
        n.invalid(f"split (input 1) has shape {list(shape(sizes))}, but the node has {count} outputs")
    start, parts = n.build.ints([0]), list[SSAValue]()
    for i in range(count):
        end = n.add(ge.Add(start, n.add(ge.Slice(sizes, [i], [i + 1], [0]))))
        parts.append(n.add(ge.DynSlice(x, start, end, axes)))
        start = end
    return parts


def _split_unknown(n: Node, x: SSAValue, axis: int, count: int) -> Sequence[SSAValue]:
    """Equal parts of an unknown dimension: slices at multiples of the rounded-up size of a part."""
    size = n.build.extents(x, axis, axis + 1)
    rounded = n.add(ge.Add(size, n.build.ints([count - 1])))
    part = n.add(ge.RealDiv(rounded, n.build.ints([count])))
    bounds = [n.add(ge.Mul(part, n.build.ints([i]))) for i in range(count + 1)]
    axes = n.build.ints([axis])
    return [n.add(ge.DynSlice(x, bounds[i], bounds[i + 1], axes)) for i in range(count)]


@onnx_op("Slice", since=1)
def slice_by_attributes(n: Node) -> SSAValue:
    """Bounds are attributes; steps are one."""
    x, starts = n.input(0), n.attr_ints("starts")
    axes = n.attr_ints("axes", range(len(starts)))
    return n.add(ge.Slice(x, starts, n.attr_ints("ends"), [n.axis(a, rank(x)) for a in axes]))


@onnx_op("Slice", since=10)
def slice_by_operands(n: Node) -> SSAValue:
    """Bounds, axes and steps are operands."""
    x = n.input(0)
    starts, ends, axes, steps = (integers(n, i) if n.has(i) else None for i in range(1, 5))
    constant = starts is not None and ends is not None
    constant = constant and all(v is not None or not n.has(i) for i, v in ((3, axes), (4, steps)))
    if constant and starts is not None and ends is not None:
        axes = list(range(len(starts))) if axes is None else axes
        if steps is not None and 0 in steps:
            n.invalid(f"steps are {steps}, expected none of 0")
        return n.add(ge.Slice(x, starts, ends, [n.axis(a, rank(x)) for a in axes], steps))
    return n.add(ge.DynSlice(x, n.input(1), n.input(2), n.optional(3), n.optional(4)))


def _fill_value(n: Node, value: SSAValue | None) -> SSAValue | None:
    """The value of constant padding as a scalar; None for zero."""
    if value is None:
        return None
    constant = n.build.constant(value)
    if constant is not None and not constant.any() and not np.signbit(constant).any():
        return None
    return n.build.reshape(value, ())


@onnx_op("Pad", since=2)
def pad_by_attributes(n: Node) -> SSAValue:
    """Pads and value are attributes."""
    x, value = n.input(0), n.attr_float("value", 0.0)
    fill = n.build.scalar(value, x) if value else None
    return n.add(ge.Pad(x, n.attr_ints("pads"), fill, mode=n.attr_str("mode", "constant")))


@onnx_op("Pad", since=11)
def pad_by_operands(n: Node) -> SSAValue:
    """Pads, value and (from opset 18) axes are operands."""
    x, mode = n.input(0), n.attr_str("mode", "constant")
    value = _fill_value(n, n.optional(2)) if mode == "constant" else None
    pads, axes = integers(n, 1), integers(n, 3) if n.has(3) else None
    if pads is not None and (axes is not None or not n.has(3)):
        axes = list(range(rank(x))) if axes is None else n_axes(n, axes, rank(x))
        if len(pads) != 2 * len(axes):
            n.invalid(f"pads are {pads}, expected {2 * len(axes)} numbers")
        return n.add(ge.Pad(x, ge.spread_pads(pads, axes, rank(x)), value, mode=mode))
    return n.add(ge.DynPad(x, n.input(1), value, n.optional(3), mode=mode))


def n_axes(n: Node, axes: Sequence[int], dims: int) -> list[int]:
    """Axes counted from the front, in the order given."""
    n.axes(axes, dims)
    return [n.axis(a, dims) for a in axes]


@onnx_op("Expand", since=8)
def expand(n: Node) -> SSAValue:
    """Broadcast with a shape, both ways."""
    x, wanted = n.input(0), integers(n, 1)
    if wanted is not None:
        if min(wanted, default=0) < 0:
            n.invalid(f"shape is {wanted}, expected no negative dimension")
        result = ge.broadcast(shape(x), wanted)
        if -1 not in result:
            return x if result == shape(x) else n.add(ge.Expand(x, result))
    else:
        vector_length(n, 1, "shape")
    return n.add(ge.DynExpand(x, n.input(1)))


@onnx_op("Tile", since=6)
def tile(n: Node) -> SSAValue:
    """Repeated along each dimension."""
    x, repeats = n.input(0), integers(n, 1)
    if repeats is None:
        return n.add(ge.DynTile(x, n.input(1)))
    return n.add(ge.Tile(x, repeats))


@onnx_op("DepthToSpace")
def depth_to_space(n: Node) -> SSAValue:
    """Blocks of channels become blocks of pixels."""
    return n.add(ge.DepthToSpace(n.input(0), n.attr_int("blocksize"), mode=n.attr_str("mode", "DCR")))


@onnx_op("SpaceToDepth")
def space_to_depth(n: Node) -> SSAValue:
    """Blocks of pixels become blocks of channels."""
    return n.add(ge.SpaceToDepth(n.input(0), n.attr_int("blocksize"), mode=n.attr_str("mode", "DCR")))


@onnx_op("Dropout")
def dropout(n: Node) -> Sequence[SSAValue]:
    """Nothing, outside training; the mask is all true."""
    x = n.input(0)
    if n.has(2) and n.required_constant(2, "training_mode").any():
        n.refuse("Dropout in training mode is not supported", hint="export the model in evaluation mode")
    if not n.wants(1):
        return [x]
    # until opset 9 the mask has the type of x; that all is kept is said by ones in any case
    kept = ge.dense(np.array([1], ge.numpy_dtype(element(x)) if n.opset < 10 else np.bool_))
    return [x, n.add(ge.ConstantOfShape(n.build.extents(x, 0, rank(x)), kept))]
