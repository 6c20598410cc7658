"""Forms of operators that take a shape, bounds or repeats as operands.

`infer` reads an operand that is a ge.Const in the IR; else dimensions stay unknown, and where even the rank does, it
is that of the declared result. ge-infer-shapes turns every form into the static one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.const import const_ints
from gecc.dialects.ge.movement import padded, slice_bounds
from gecc.dialects.ge.props import bool_prop, word_prop
from gecc.dialects.ge.shape import vector_length
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    AnyTensor,
    agree,
    broadcast,
    check_dtype,
    check_rank,
    check_same_dtype,
    dims,
    elem,
    known,
    like,
    normal_axes,
    rank,
    row_major,
    spell,
    tensor,
)


@ge_op
class DynReshape(GeOp):
    """x under the shape that `shape` holds: -1 is inferred, 0 copies the dimension of x unless allowzero."""

    x = operand_def(TensorType)
    shape = operand_def(TensorType)
    allowzero = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self, x: Value, shape: Value, *, allowzero: bool = False, result_type: AnyTensor | None = None
    ) -> None:
        self.setup([x, shape], {"allowzero": allowzero}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        count = vector_length("shape", self.shape)
        wanted = const_ints(self.shape)
        if wanted is not None:
            return [row_major(reshaped(dims(self.x), wanted, bool(self.allowzero.value.data)), elem(self.x))]
        return [row_major([DYNAMIC] * (rank(self.result) if count == DYNAMIC else count), elem(self.x))]


def reshaped(source: Sequence[int], wanted: Sequence[int], allowzero: bool = False) -> tuple[int, ...]:
    """The result shape of ONNX Reshape; what cannot be known is -1."""
    if min(wanted, default=0) < -1 or list(wanted).count(-1) > 1:
        raise VerifyException(f"shape {list(wanted)} may hold one -1 and no other negative value")
    shape: list[int] = []
    copied: list[int] = []
    for i, d in enumerate(wanted):
        if d == 0 and not allowzero:
            if i >= len(source):
                raise VerifyException(f"shape {list(wanted)} copies dimension {i}, but x {spell(source)} has none")
            copied.append(i)
            shape.append(source[i])
        else:
            shape.append(d)
    if -1 not in wanted:
        return tuple(shape)
    free = list(wanted).index(-1)
    # a copied unknown dimension cancels: it is a factor of both sides
    left = [d for i, d in enumerate(source) if not (i in copied and d == DYNAMIC)]
    right = [d for i, d in enumerate(shape) if i != free and not (i in copied and d == DYNAMIC)]
    if not known(left) or not known(right):
        return tuple(shape)
    total, rest = math.prod(left), math.prod(right)
    if rest == 0:
        raise VerifyException(f"shape {list(wanted)} with x {spell(source)} leaves -1 undefined (0 elements)")
    if total % rest:
        raise VerifyException(f"x {spell(source)} with {total} elements does not fit shape {list(wanted)}")
    shape[free] = total // rest
    return tuple(shape)


@ge_op
class DynExpand(GeOp):
    """x broadcast with the shape that `shape` holds (numpy broadcast both ways)."""

    x = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, shape: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x, shape], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        count = vector_length("shape", self.shape)
        wanted = const_ints(self.shape)
        if wanted is not None and min(wanted, default=0) < 0:
            raise VerifyException(f"shape is {list(wanted)}, expected no negative dimension")
        if wanted is None:
            wanted = [DYNAMIC] * (rank(self.result) if count == DYNAMIC else count)
        return [row_major(broadcast(dims(self.x), wanted), elem(self.x))]


@ge_op
class DynSlice(GeOp):
    """x[starts : ends : steps] along `axes` (absent: the first ones), steps absent: 1."""

    x = operand_def(TensorType)
    starts = operand_def(TensorType)
    ends = operand_def(TensorType)
    axes = opt_operand_def(TensorType)
    steps = opt_operand_def(TensorType)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: Value,
        starts: Value,
        ends: Value,
        axes: Value | None = None,
        steps: Value | None = None,
        *,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, starts, ends, axes, steps], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        count = vector_length("starts", self.starts)
        for name, value in (("ends", self.ends), ("axes", self.axes), ("steps", self.steps)):
            if value is not None and not agree(vector_length(name, value), count):
                raise VerifyException(f"{name} has {dims(value)[0]} elements, but starts has {count}")
        axes = None if self.axes is None else const_ints(self.axes)
        if self.axes is None and count != DYNAMIC:
            axes = tuple(range(count))
        if axes is None:
            return [like(tensor(self.x), [DYNAMIC] * rank(self.x))]
        shape = list(dims(self.x))
        starts, ends = const_ints(self.starts), const_ints(self.ends)
        steps = (1,) * len(axes) if self.steps is None else const_ints(self.steps)
        for i, axis in enumerate(normal_axes(axes, len(shape))):
            if starts is None or ends is None or steps is None:
                shape[axis] = DYNAMIC
            else:
                shape[axis] = slice_bounds(shape[axis], starts[i], ends[i], steps[i])[2]
        return [like(tensor(self.x), shape)]


@ge_op
class DynPad(GeOp):
    """x padded by `pads` (all begins, then all ends) on `axes` (absent: all); see ge.Pad."""

    x = operand_def(TensorType)
    pads = operand_def(TensorType)
    value = opt_operand_def(TensorType)
    axes = opt_operand_def(TensorType)
    mode = word_prop("constant", "reflect", "edge", "wrap", default="constant")
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: Value,
        pads: Value,
        value: Value | None = None,
        axes: Value | None = None,
        *,
        mode: str = "constant",
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, pads, value, axes], {"mode": mode}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        check_same_dtype(x=self.x, value=self.value)
        if self.value is not None:
            check_rank("value", self.value, 0)
        count = vector_length("pads", self.pads)
        number = rank(self.x) if self.axes is None else vector_length("axes", self.axes)
        if DYNAMIC not in (count, number) and count != 2 * number:
            raise VerifyException(f"pads has {count} elements, expected 2 for each of {number} dimensions")
        pads = const_ints(self.pads)
        axes = tuple(range(rank(self.x))) if self.axes is None else const_ints(self.axes)
        if pads is None or axes is None:
            return [like(tensor(self.x), [DYNAMIC] * rank(self.x))]
        return [like(tensor(self.x), padded(dims(self.x), spread_pads(pads, axes, rank(self.x)), self.mode.data))]


def spread_pads(pads: Sequence[int], axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Pads of some axes as pads of all."""
    full = [0] * (2 * rank)
    for i, axis in enumerate(normal_axes(axes, rank)):
        full[axis], full[rank + axis] = pads[i], pads[len(axes) + i]
    return tuple(full)


@ge_op
class DynTile(GeOp):
    """x repeated `repeats[i]` times along dimension i."""

    x = operand_def(TensorType)
    repeats = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, repeats: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x, repeats], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        if not agree(vector_length("repeats", self.repeats), rank(self.x)):
            raise VerifyException(f"repeats has {dims(self.repeats)[0]} elements, expected rank {rank(self.x)}")
        repeats = const_ints(self.repeats)
        if repeats is None:
            return [like(tensor(self.x), [DYNAMIC] * rank(self.x))]
        if min(repeats, default=0) < 0:
            raise VerifyException(f"repeats is {list(repeats)}, expected values of at least 0")
        shape = [DYNAMIC if d == DYNAMIC else d * r for d, r in zip(dims(self.x), repeats, strict=True)]
        return [like(tensor(self.x), shape)]


@ge_op
class DynSqueeze(GeOp):
    """x without the dimensions `axes`, which are 1 (absent: without every dimension that is 1)."""

    x = operand_def(TensorType)
    axes = opt_operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, axes: Value | None = None, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x, axes], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        shape = dims(self.x)
        if self.axes is None:
            if known(shape):
                return [row_major([d for d in shape if d != 1], elem(self.x))]
            return [row_major([DYNAMIC] * rank(self.result), elem(self.x))]
        count = vector_length("axes", self.axes)
        axes = const_ints(self.axes)
        if axes is None:
            return [
                row_major([DYNAMIC] * (rank(self.result) if count == DYNAMIC else len(shape) - count), elem(self.x))
            ]
        axes = normal_axes(axes, len(shape))
        for axis in axes:
            if not agree(shape[axis], 1):
                raise VerifyException(f"dimension {axis} of x {spell(shape)} is {shape[axis]}, expected 1")
        return [row_major([d for i, d in enumerate(shape) if i not in axes], elem(self.x))]


@ge_op
class DynUnsqueeze(GeOp):
    """x with dimensions of 1 inserted, at the places `axes` of the result."""

    x = operand_def(TensorType)
    axes = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, x: Value, axes: Value, *, result_type: AnyTensor | None = None) -> None:
        self.setup([x, axes], {}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, ANY)
        count = vector_length("axes", self.axes)
        axes = const_ints(self.axes)
        if axes is None:
            full = rank(self.result) if count == DYNAMIC else rank(self.x) + count
            return [row_major([DYNAMIC] * full, elem(self.x))]
        full = rank(self.x) + len(axes)
        places = normal_axes(axes, full)
        rest = iter(dims(self.x))
        return [row_major([1 if i in places else next(rest) for i in range(full)], elem(self.x))]
