"""Operators that move elements without computing: reshape, transpose, slice, pad, concat, split, expand, tile."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, result_def, var_operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.attrs import LayoutAttr
from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import int_prop, ints_prop, word_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    AnyTensor,
    agree,
    broadcast,
    check_dtype,
    check_rank,
    check_row_major,
    check_same_dtype,
    common_layout,
    declared_encoding,
    dims,
    elem,
    known,
    like,
    meet,
    normal_axes,
    normal_axis,
    rank,
    row_major,
    spell,
    tensor,
    tensor_type,
)


@ge_op
class Reshape(GeOp):
    """The same elements in row-major order under the result's shape."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, shape: Sequence[int]) -> None:
        self.setup([x], {}, [row_major(shape, elem(SSAValue.get(x)))])

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_row_major("x", self.x)
        source, target = dims(self.x), dims(self.result)
        if known(source) and known(target) and math.prod(source) != math.prod(target):
            raise VerifyException(
                f"x {spell(source)} has {math.prod(source)} elements, but the result {spell(target)} "
                f"has {math.prod(target)}"
            )
        return [row_major(target, elem(self.x))]


@ge_op
class Transpose(GeOp):
    """result[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]; x and the result may each be in any layout."""

    x = operand_def(TensorType)
    perm = ints_prop()
    result = result_def(TensorType)

    def __init__(self, x: Value, perm: Sequence[int], *, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"perm": perm}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        perm = self.perm.get_values()
        if sorted(perm) != list(range(rank(self.x))):
            raise VerifyException(f"perm {list(perm)} is not a permutation of 0..{rank(self.x) - 1}")
        shape = [dims(self.x)[p] for p in perm]
        encoding = declared_encoding(self.result)
        if isinstance(encoding, LayoutAttr):
            encoding.physical(shape)
        return [tensor_type(shape, elem(self.x), encoding)]


@ge_op
class TransData(GeOp):
    """The same tensor in the layout of the result type: bytes move, the logical value stays."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, layout: str | None) -> None:
        """`layout` is a name of `LAYOUTS`, or None for row-major."""
        encoding: Attribute = NoneAttr() if layout is None else LayoutAttr(layout)
        value = SSAValue.get(x)
        self.setup([x], {}, [tensor_type(dims(value), elem(value), encoding)])

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        for type in (tensor(self.x), tensor(self.result)):
            if isinstance(type.encoding, LayoutAttr):
                type.encoding.physical(type.get_shape())
            elif not isinstance(type.encoding, NoneAttr):
                raise VerifyException(f"{type} has encoding {type.encoding}, expected #ge.layout or none")
        return [tensor_type(dims(self.x), elem(self.x), tensor(self.result).encoding)]


@ge_op
class Concat(GeOp):
    """Operands one after the other along `axis`."""

    xs = var_operand_def(TensorType)
    axis = int_prop()
    result = result_def(TensorType)

    def __init__(self, xs: Sequence[Value], axis: int, *, result_type: AnyTensor | None = None) -> None:
        self.setup([xs], {"axis": axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        if not self.xs:
            raise VerifyException("has no operands, expected at least 1")
        check_dtype("operand 0", self.xs[0], ANY)
        check_same_dtype(**{f"operand {i}": x for i, x in enumerate(self.xs)})
        shape = list(dims(self.xs[0]))
        axis = normal_axis(self.axis.value.data, len(shape))
        for i, x in enumerate(self.xs[1:], 1):
            check_rank(f"operand {i}", x, len(shape))
            for d, size in enumerate(dims(x)):
                if d == axis:
                    shape[d] = DYNAMIC if DYNAMIC in (shape[d], size) else shape[d] + size
                elif agree(shape[d], size):
                    shape[d] = meet(shape[d], size)
                else:
                    raise VerifyException(
                        f"operand {i} {spell(dims(x))} and operand 0 {spell(dims(self.xs[0]))} differ in "
                        f"dimension {d}, and the axis is {axis}"
                    )
        encoding = common_layout(len(shape), **{f"operand {i}": x for i, x in enumerate(self.xs)})
        return [tensor_type(shape, elem(self.xs[0]), encoding)]


@ge_op
class Slice(GeOp):
    """x[starts : ends : steps] along `axes`, with the conventions of ONNX: negative counts from the end, clamped."""

    x = operand_def(TensorType)
    starts = ints_prop()
    ends = ints_prop()
    axes = ints_prop()
    steps = ints_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        starts: Sequence[int],
        ends: Sequence[int],
        axes: Sequence[int] | None = None,
        steps: Sequence[int] | None = None,
        *,
        result_type: AnyTensor | None = None,
    ) -> None:
        axes = range(len(starts)) if axes is None else axes
        steps = [1] * len(starts) if steps is None else steps
        properties = {"starts": starts, "ends": ends, "axes": list(axes), "steps": steps}
        self.setup([x], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        starts, ends, steps = (p.get_values() for p in (self.starts, self.ends, self.steps))
        axes = normal_axes(self.axes.get_values(), rank(self.x))
        if not len(starts) == len(ends) == len(axes) == len(steps):
            raise VerifyException(
                f"starts, ends, axes, steps have {len(starts)}, {len(ends)}, {len(axes)}, {len(steps)} values, "
                f"expected the same number"
            )
        shape = list(dims(self.x))
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            shape[axis] = slice_bounds(shape[axis], start, end, step)[2]
        return [like(tensor(self.x), shape)]


def slice_bounds(size: int, start: int, end: int, step: int) -> tuple[int, int, int]:
    """First index, step and number of elements of an ONNX slice of a dimension (-1 elements when size is unknown)."""
    if step == 0:
        raise VerifyException("a step is 0, expected a positive or negative step")
    if size == DYNAMIC:
        return start, step, DYNAMIC
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first = min(max(start + size if start < 0 else start, 0 if step > 0 else low), high)
    last = min(max(end + size if end < 0 else end, low), high)
    return first, step, max(0, -((first - last) // step))


@ge_op
class Pad(GeOp):
    """x with elements added (or removed, when negative) around it: pads are all begins, then all ends.

    mode constant fills with `value` (a rank-0 tensor; absent is zero); reflect mirrors without repeating the edge,
    edge repeats it, wrap continues from the other side.
    """

    x = operand_def(TensorType)
    value = opt_operand_def(TensorType)
    pads = ints_prop()
    mode = word_prop("constant", "reflect", "edge", "wrap", default="constant")
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        pads: Sequence[int],
        value: Value | None = None,
        *,
        mode: str = "constant",
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, value], {"pads": pads, "mode": mode}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_same_dtype(x=self.x, value=self.value)
        if self.value is not None:
            check_rank("value", self.value, 0)
        pads = self.pads.get_values()
        if len(pads) != 2 * rank(self.x):
            raise VerifyException(f"pads has {len(pads)} values, expected 2 x rank {rank(self.x)}")
        return [like(tensor(self.x), padded(dims(self.x), pads, self.mode.data))]


def padded(shape: Sequence[int], pads: Sequence[int], mode: str) -> tuple[int, ...]:
    """The shape after padding; raises when it would be negative or when a mode has nothing to repeat."""
    n = len(shape)
    result: list[int] = []
    for i, size in enumerate(shape):
        before, after = pads[i], pads[n + i]
        if size == DYNAMIC:
            result.append(DYNAMIC)
            continue
        if size + before + after < 0:
            raise VerifyException(f"dimension {i} of size {size} with pads {before} and {after} would be negative")
        limit = size - 1 if mode == "reflect" else size if mode == "wrap" else None
        if limit is not None and max(before, after) > max(limit, 0):
            raise VerifyException(f"mode {mode} pads dimension {i} of size {size} by {max(before, after)} > {limit}")
        if mode == "edge" and size == 0 and before + after > 0:
            raise VerifyException(f"mode edge pads dimension {i} of size 0")
        result.append(size + before + after)
    return tuple(result)


@ge_op
class Expand(GeOp):
    """x broadcast to the result's shape."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, shape: Sequence[int]) -> None:
        value = SSAValue.get(x)
        self.setup([x], {}, [like(tensor(value), shape)])

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        source, target = dims(self.x), dims(self.result)
        over = broadcast(source, target)
        if len(over) != len(target) or not all(agree(a, b) for a, b in zip(over, target, strict=True)):
            raise VerifyException(f"x {spell(source)} does not broadcast to {spell(target)}")
        return [like(tensor(self.x), target)]


@ge_op
class Tile(GeOp):
    """x repeated `repeats[i]` times along dimension i."""

    x = operand_def(TensorType)
    repeats = ints_prop()
    result = result_def(TensorType)

    def __init__(self, x: Value, repeats: Sequence[int], *, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"repeats": repeats}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        repeats = self.repeats.get_values()
        if len(repeats) != rank(self.x) or min(repeats, default=0) < 0:
            raise VerifyException(f"repeats is {list(repeats)}, expected {rank(self.x)} values of at least 0")
        shape = [DYNAMIC if d == DYNAMIC else d * r for d, r in zip(dims(self.x), repeats, strict=True)]
        return [like(tensor(self.x), shape)]


@ge_op
class Split(GeOp):
    """x cut along `axis` into parts of `sizes`."""

    x = operand_def(TensorType)
    axis = int_prop()
    sizes = ints_prop()
    outputs = var_result_def(TensorType)

    def __init__(
        self, x: Value, axis: int, sizes: Sequence[int], *, result_types: Sequence[AnyTensor] | None = None
    ) -> None:
        self.setup([x], {"axis": axis, "sizes": sizes}, result_types, results=len(sizes))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        shape, sizes = dims(self.x), self.sizes.get_values()
        axis = normal_axis(self.axis.value.data, len(shape))
        if not sizes or min(sizes) < 0:
            raise VerifyException(f"sizes is {list(sizes)}, expected at least one value, none negative")
        if not agree(shape[axis], sum(sizes)):
            raise VerifyException(f"sizes {list(sizes)} add up to {sum(sizes)}, but dimension {axis} is {shape[axis]}")
        return [like(tensor(self.x), (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]
