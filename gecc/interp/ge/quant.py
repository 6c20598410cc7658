"""Quantisation, by way of float64, in which nothing but the quotient is rounded."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, meaning, wide


def spread(op: ge.Quantize | ge.Dequantize, parameter: Array, shape: tuple[int, ...]) -> Array:
    """A scale or zero point so that it broadcasts against x of `shape`."""
    if parameter.ndim == 0:
        return parameter
    axis, block = op.axis.value.data % len(shape), op.block_size.value.data
    if block:
        index = [slice(None)] * len(shape)
        index[axis] = slice(0, shape[axis])
        return np.repeat(parameter, block, axis)[tuple(index)]
    return parameter.reshape([-1 if i == axis else 1 for i in range(len(shape))])


@meaning(ge.Quantize)
def quantize(env: Env, op: ge.Quantize, x: Array, scale: Array, zero_point: Array | None) -> Array:
    """Real numbers to integers."""
    limits = np.iinfo(env.dtype(ge.elem(op.result)))
    quotient = (wide(x) / wide(spread(op, scale, x.shape))).astype(x.dtype)
    value = np.rint(wide(quotient).astype(np.float64))
    if zero_point is not None:
        value = value + spread(op, zero_point, x.shape)
    return np.clip(np.where(np.isnan(value), limits.min, value), limits.min, limits.max)


@meaning(ge.Dequantize)
def dequantize(env: Env, op: ge.Dequantize, x: Array, scale: Array, zero_point: Array | None) -> Array:
    """Integers to real numbers."""
    difference = x.astype(np.int32)
    if zero_point is not None:
        difference = difference - spread(op, zero_point, x.shape).astype(np.int32)
    work = np.result_type(wide(scale).dtype, env.dtype(ge.elem(op.result)))
    work = np.dtype(np.float64) if work == np.float64 else np.dtype(np.float32)
    return difference.astype(work) * spread(op, scale, x.shape).astype(work)
