"""What the operations of the fused dialect mean, in numpy, on logical arrays (whatever the layout)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from gecc.dialects.fused import (
    ConvOp,
    FusedOp,
    GenericOp,
    MatmulOp,
    NormOp,
    SoftmaxOp,
    ViewOp,
    ints,
)
from gecc.dialects.ge.types import layout, numpy_dtype
from gecc.interp.region import Box, full_box, run_region
from gecc.interp.scalar import Array, scalar_dtype, signless_view

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


def identity(combiner: str, scalar: Attribute) -> Array:
    """The value a reduction starts from: neutral for `combiner`."""
    dtype = scalar_dtype(scalar)
    if combiner in ("add", "or"):
        value: float = 0
    elif combiner == "mul":
        value = 1
    elif isinstance(scalar, IntegerType):
        if combiner == "and":
            return np.array(True) if dtype == np.bool_ else np.array(-1, dtype)
        if dtype == np.bool_:
            return np.array(combiner == "min")
        limits = np.iinfo(dtype)
        value = limits.min if combiner == "max" else limits.max
    else:
        value = -np.inf if combiner == "max" else np.inf
    return np.array(value).astype(dtype)


def as_result(op: FusedOp, values: Array) -> Array:
    """Region values, broadcast to the result's shape, in the dtype of the result."""
    full = np.ascontiguousarray(np.broadcast_to(values, op.result_type.get_shape()))
    wanted = numpy_dtype(op.result_type.element_type)
    return full.reshape(op.result_type.get_shape()).view(wanted) if full.dtype != wanted else full


def run_epilogue(op: FusedOp, region: int, accumulator: Array, tensors: Sequence[Array]) -> Array:
    """Region number `region` of `op` over the whole result, given the anchor's value at every point."""
    box = full_box(op.result_type.get_shape())
    return as_result(op, run_region(op, op.regions[region].block, box, [accumulator], tensors))


def generic(op: GenericOp, inputs: Sequence[Array]) -> Array:
    """fused.generic; large domains are evaluated in boxes of at most CHUNK points."""
    tensors = [signless_view(array) for array in inputs]
    parallel = full_box(op.domain)
    if not op.reduction_domain:
        out = np.empty(op.domain, scalar_dtype(op.result_scalar))
        _map(op, parallel, tensors, out)
        return as_result(op, out)
    assert op.combiner is not None
    acc = np.full(op.domain, identity(op.combiner.data, op.accumulator))
    if 0 not in op.domain and 0 not in op.reduction_domain:
        _reduce(op, full_box((*op.domain, *op.reduction_domain)), tensors, acc)
    return run_epilogue(op, 1, acc, tensors)


def _map(op: GenericOp, box: Box, tensors: Sequence[Array], out: Array) -> None:
    if box.size > CHUNK:
        _, left, right = box.halves()
        _map(op, left, tensors, out)
        _map(op, right, tensors, out)
    elif box.size:
        out[tuple(slice(*r) for r in box.ranges)] = run_region(op, op.body.block, box, (), tensors)


def _reduce(op: GenericOp, box: Box, tensors: Sequence[Array], acc: Array) -> None:
    if box.size > CHUNK:
        _, left, right = box.halves()
        _reduce(op, left, tensors, acc)
        _reduce(op, right, tensors, acc)
        return
    assert op.combiner is not None
    rank = len(op.domain)
    values = np.broadcast_to(run_region(op, op.body.block, box, (), tensors), box.shape)
    combine = COMBINE[op.combiner.data]
    axes = tuple(range(rank, len(box.ranges)))
    place = tuple(slice(*r) for r in box.ranges[:rank])
    with np.errstate(all="ignore"):
        reduced = np.asarray(combine.reduce(values, axis=axes, dtype=values.dtype))
        acc[place] = combine(acc[place], reduced)


def matmul(op: MatmulOp, inputs: Sequence[Array]) -> Array:
    """fused.matmul, products summed in the accumulator's type."""
    dtype = scalar_dtype(op.accumulator)
    a, b = (array.astype(dtype, copy=False) for array in inputs[:2])
    if op.packed is not None:
        columns = np.swapaxes(b, -3, -2)  # [.., K, P, NR]
        b = columns.reshape(*columns.shape[:-2], -1)[..., : op.sizes[1]]
    elif op.transpose_b is not None:
        b = np.swapaxes(b, -1, -2)
    with np.errstate(all="ignore"):
        acc = np.matmul(a, b)
    return run_epilogue(op, 0, acc, [signless_view(array) for array in inputs])


def conv(op: ConvOp, inputs: Sequence[Array]) -> Array:
    """fused.conv as one matrix product for each tap of the kernel."""
    dtype = scalar_dtype(op.accumulator)
    x, w = (array.astype(dtype, copy=False) for array in inputs[:2])
    n, oc, oh, ow = op.result_type.get_shape()
    group = op.group.value.data
    depth, width = x.shape[1] // group, oc // group
    (kh, kw), (sh, sw), (dh, dw) = ints(op.kernel), ints(op.strides), ints(op.dilations)
    if op.packed is not None:
        columns = np.swapaxes(w, 1, 2).reshape(group, kh * kw * depth, -1)[..., :width]
        w = columns.reshape(group, kh, kw, depth, width).transpose(0, 4, 3, 1, 2)
    w = w.reshape(group, width, depth, kh, kw)
    top, left, bottom, right = ints(op.pads)
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    acc = np.zeros((n, group, width, oh * ow), dtype)
    with np.errstate(all="ignore"):
        for i in range(kh):
            for j in range(kw):
                tap = padded[:, :, i * dh : i * dh + (oh - 1) * sh + 1 : sh, j * dw : j * dw + (ow - 1) * sw + 1 : sw]
                acc += np.matmul(w[..., i, j], tap.reshape(n, group, depth, oh * ow))
    return run_epilogue(op, 0, acc.reshape(n, oc, oh, ow), [signless_view(array) for array in inputs])


def _prologue(op: SoftmaxOp | NormOp, tensors: Sequence[Array]) -> Array:
    shape = op.result_type.get_shape()
    return np.broadcast_to(run_region(op, op.prologue.block, full_box(shape), (), tensors), shape)


def softmax(op: SoftmaxOp, inputs: Sequence[Array]) -> Array:
    """fused.softmax, shifted by the maximum of each row."""
    tensors = [signless_view(array) for array in inputs]
    x, axis = _prologue(op, tensors), op.axis.value.data
    if x.size == 0:
        return as_result(op, np.empty(x.shape, scalar_dtype(op.result_scalar)))
    with np.errstate(all="ignore"):
        shifted = x - x.max(axis=axis, keepdims=True)
        exponential = np.exp(shifted)
        total = exponential.sum(axis=axis, keepdims=True)
        value = shifted - np.log(total) if op.log is not None else exponential / total
    return run_epilogue(op, 1, value, tensors)


def norm(op: NormOp, inputs: Sequence[Array]) -> Array:
    """fused.norm over the dimensions from `axis`."""
    tensors = [signless_view(array) for array in inputs]
    x = _prologue(op, tensors)
    if x.size == 0:
        return as_result(op, np.empty(x.shape, scalar_dtype(op.result_scalar)))
    axes = tuple(range(op.axis.value.data, x.ndim))
    with np.errstate(all="ignore"):
        if op.kind.data == "layer":
            x = x - x.mean(axis=axes, keepdims=True)
        variance = np.mean(np.square(x), axis=axes, keepdims=True)
        value = x / np.sqrt(variance + x.dtype.type(op.epsilon.value.data))
    return run_epilogue(op, 1, value, tensors)


def view(op: ViewOp, x: Array) -> Array:
    """fused.view: the elements in the operand's physical order, taken in the result's physical order."""
    assert isinstance(op.x.type, TensorType)
    assert isinstance(op.result.type, TensorType)
    shape = op.result.type.get_shape()
    if (source := layout(op.x.type)) is not None:
        x = x.transpose(source.permutation)
    target = layout(op.result.type)
    if target is None:
        return x.reshape(shape)
    return x.reshape(target.physical(shape)).transpose(target.inverse)
