"""What the operations of the fused dialect mean, in numpy, on logical arrays (whatever the layout)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from gecc.dialects.fused import (
    ConstOp,
    ConvOp,
    FusedOp,
    GenericOp,
    HostOp,
    MatmulOp,
    NormOp,
    SoftmaxOp,
    ViewOp,
    ints,
)
from gecc.dialects.ge.types import layout
from gecc.interp.base import Env, meaning
from gecc.interp.host_call import run_call
from gecc.interp.region import Box, full_box, run_region
from gecc.interp.scalar import F32, Array, scalar_dtype, signless_view, unsigned_view

CHUNK = 1 << 22
"""The most points of a domain that are evaluated at once."""

COMBINE = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


def identity(combiner: str, dtype: np.dtype[Any]) -> Array:
    """The value a reduction in `dtype` starts from: neutral for `combiner`."""
    if combiner in ("add", "or", "mul"):
        return np.array(int(combiner == "mul")).astype(dtype)
    if dtype == np.bool_:
        return np.array(combiner in ("and", "min"))
    if combiner == "and":
        return np.array(-1, dtype)
    if dtype.kind == "i":
        return np.array(np.iinfo(dtype).min if combiner == "max" else np.iinfo(dtype).max, dtype)
    return np.array(-np.inf if combiner == "max" else np.inf).astype(dtype)


@dataclass(frozen=True)
class Run:
    """One execution of a fused operation: its operands signless, as regions see them."""

    op: FusedOp
    f32: np.dtype[Any]
    tensors: Sequence[Array]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return self.op.result_type.get_shape()

    def dtype(self, scalar: Attribute) -> np.dtype[Any]:
        """The dtype of a scalar type."""
        return scalar_dtype(scalar, self.f32)

    def region(self, number: int, box: Box, *scalars: Array) -> Array:
        """The values that a region yields over a box."""
        block = self.op.regions[number].block
        return run_region(self.op, block, box, scalars, self.tensors, self.f32)

    def map(self, number: int, *scalars: Array) -> Array:
        """The values that a region yields over the whole result, CHUNK points at a time; scalars have its shape."""
        yielded = self.op.regions[number].block.last_op
        assert yielded is not None
        out = np.empty(self.shape, self.dtype(yielded.operands[0].type))
        for box in boxes(full_box(self.shape)):
            place = tuple(slice(*r) for r in box.ranges)
            out[place] = self.region(number, box, *(scalar[place] for scalar in scalars))
        return out

    def finish(self, values: Array) -> Array:
        """Signless results in the result's own type."""
        element = self.op.result_type.element_type
        unsigned = isinstance(element, IntegerType) and element != self.op.result_scalar
        return unsigned_view(values) if unsigned else values


def boxes(box: Box) -> list[Box]:
    """A box cut into boxes of at most CHUNK points; none when it is empty."""
    if box.size == 0:
        return []
    if box.size <= CHUNK:
        return [box]
    left, right = box.halves()
    return boxes(left) + boxes(right)


def start(env: Env, op: FusedOp, operands: Sequence[Array]) -> Run:
    """A run of `op` on its operands."""
    return Run(op, env.compute_dtype or F32, [signless_view(array) for array in operands])


@meaning(ConstOp)
def constant(env: Env, op: ConstOp) -> Array:
    """The elements of a constant."""
    return env.constant(op.value)


@meaning(ViewOp)
def view(env: Env, op: ViewOp, x: Array) -> Array:
    """The elements in the operand's physical order, taken in the result's physical order."""
    assert isinstance(op.x.type, TensorType)
    assert isinstance(op.result.type, TensorType)
    shape = op.result.type.get_shape()
    if (source := layout(op.x.type)) is not None:
        x = x.transpose(source.permutation)
    target = layout(op.result.type)
    if target is None:
        return x.reshape(shape)
    return x.reshape(target.physical(shape)).transpose(target.inverse)


@meaning(GenericOp)
def generic(env: Env, op: GenericOp, inputs: Sequence[Array]) -> Array:
    """The body at every point of the domain, reduced by the combiner, then the epilogue."""
    run = start(env, op, inputs)
    if not op.reduction_domain:
        return run.finish(run.map(0))
    assert op.combiner is not None
    rank, combine = len(op.domain), COMBINE[op.combiner.data]
    acc = np.full(op.domain, identity(op.combiner.data, run.dtype(op.accumulator)))
    for box in boxes(full_box((*op.domain, *op.reduction_domain))):
        values = np.broadcast_to(run.region(0, box), box.shape)
        place = tuple(slice(*r) for r in box.ranges[:rank])
        reduced = combine.reduce(values, axis=tuple(range(rank, values.ndim)), dtype=values.dtype)
        acc[place] = combine(acc[place], reduced)
    return run.finish(run.map(1, acc))


def _steps(panels: Array) -> Array:
    """Panels in pairs of steps, [.., K, NR] in which a column's two numbers are neighbours, with a row for each step."""
    *batch, depth, columns = panels.shape
    pairs = panels.reshape(*batch, depth // 2, columns, 2)
    return np.swapaxes(pairs, -1, -2).reshape(panels.shape)


@meaning(MatmulOp)
def matmul(env: Env, op: MatmulOp, a: Array, b: Array, extras: Sequence[Array]) -> Array:
    """The product in the accumulator's type, then the epilogue."""
    run = start(env, op, (a, b, *extras))
    dtype = run.dtype(op.accumulator)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if op.packed is not None:
        b = _steps(b) if op.pairs is not None else b
        columns = np.swapaxes(b, -3, -2)  # [.., K, P, NR]
        b = columns.reshape(*columns.shape[:-2], columns.shape[-2] * columns.shape[-1])[..., : op.sizes[1]]
    elif op.transpose_b is not None:
        b = np.swapaxes(b, -1, -2)
    return run.finish(run.map(0, np.broadcast_to(np.matmul(a, b), run.shape)))


@meaning(ConvOp)
def conv(env: Env, op: ConvOp, x: Array, w: Array, extras: Sequence[Array]) -> Array:
    """One matrix product for each tap of the kernel, then the epilogue."""
    run = start(env, op, (x, w, *extras))
    dtype = run.dtype(op.accumulator)
    x, w = x.astype(dtype, copy=False), w.astype(dtype, copy=False)
    n, oc, oh, ow = run.shape
    group = op.group.value.data
    depth, width = x.shape[1] // group, oc // group
    (kh, kw), (sh, sw), (dh, dw) = ints(op.kernel), ints(op.strides), ints(op.dilations)
    if op.packed is not None and w.shape[0] != group:  # the one panel of a depthwise convolution, [1, 1, taps, C]
        w = w.transpose(3, 1, 0, 2)
    elif op.packed is not None:
        w = _steps(w) if op.pairs is not None else w
        columns = np.swapaxes(w, 1, 2)  # [group, KH * KW * depth, P, NR]
        columns = columns.reshape(group, kh * kw * depth, columns.shape[2] * columns.shape[3])[..., :width]
        w = columns.reshape(group, kh, kw, depth, width).transpose(0, 4, 3, 1, 2)
    w = w.reshape(group, width, depth, kh, kw)
    top, left, bottom, right = ints(op.pads)
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    acc = np.zeros((n, group, width, oh * ow), dtype)
    for i in range(kh):
        for j in range(kw):
            rows = slice(i * dh, i * dh + (oh - 1) * sh + 1, sh)
            columns = slice(j * dw, j * dw + (ow - 1) * sw + 1, sw)
            tap = padded[:, :, rows, columns].reshape(n, group, depth, oh * ow)
            acc += np.matmul(w[..., i, j], tap)
    return run.finish(run.map(0, acc.reshape(n, oc, oh, ow)))


@meaning(SoftmaxOp)
def softmax(env: Env, op: SoftmaxOp, inputs: Sequence[Array]) -> Array:
    """Rows shifted by their maximum, exponentials divided by their sum."""
    run = start(env, op, inputs)
    x, axis = run.map(0), op.axis.value.data
    if x.size:
        shifted = x - x.max(axis=axis, keepdims=True)
        exponential = np.exp(shifted)
        total = exponential.sum(axis=axis, keepdims=True)
        x = shifted - np.log(total) if op.log is not None else exponential / total
    return run.finish(run.map(1, x))


@meaning(NormOp)
def norm(env: Env, op: NormOp, inputs: Sequence[Array]) -> Array:
    """Centred (for "layer") and divided by the root of the mean square, over the dimensions from `axis`."""
    run = start(env, op, inputs)
    x = run.map(0)
    if x.size:
        axes = tuple(range(op.axis.value.data, x.ndim))
        if op.kind.data == "layer":
            x = x - x.mean(axis=axes, keepdims=True)
        variance = np.mean(np.square(x), axis=axes, keepdims=True)
        x = x / np.sqrt(variance + x.dtype.type(op.epsilon.value.data))
    return run.finish(run.map(1, x))


@meaning(HostOp)
def host(env: Env, op: HostOp, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A program on the values of the operands."""
    return tuple(run_call(op, inputs, env.store))
