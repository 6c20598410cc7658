"""Reductions along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, mean, meaning, wide
from gecc.interp.ge.pointwise import divide


def lowest(dtype: np.dtype[Any]) -> Any:
    """What a maximum starts from."""
    if dtype == np.bool_:
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def highest(dtype: np.dtype[Any]) -> Any:
    """What a minimum starts from."""
    if dtype == np.bool_:
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _along(op: ge.Reduce, x: Array) -> dict[str, Any]:
    axes = tuple(a % x.ndim for a in op.axes.get_values())
    return {"axis": axes, "keepdims": bool(op.keep_dims.value.data)}


@meaning(ge.ReduceSum)
def reduce_sum(env: Env, op: ge.ReduceSum, x: Array) -> Array:
    """Sum, in the dtype of x."""
    x = wide(x)
    return np.sum(x, dtype=x.dtype, **_along(op, x))


@meaning(ge.ReduceProd)
def reduce_prod(env: Env, op: ge.ReduceProd, x: Array) -> Array:
    """Product, in the dtype of x."""
    x = wide(x)
    return np.prod(x, dtype=x.dtype, **_along(op, x))


@meaning(ge.ReduceMean)
def reduce_mean(env: Env, op: ge.ReduceMean, x: Array) -> Array:
    """Mean; of integers rounded toward zero."""
    x = wide(x)
    if x.dtype.kind == "f":
        return mean(x, **_along(op, x))
    total = np.sum(x, dtype=np.uint64 if x.dtype.kind == "u" else np.int64, **_along(op, x))
    return divide(total, np.asarray(x.size // max(total.size, 1), total.dtype))


@meaning(ge.ReduceMax)
def reduce_max(env: Env, op: ge.ReduceMax, x: Array) -> Array:
    """Largest, NaN if any is; of nothing the lowest."""
    x = wide(x)
    return np.max(x, initial=lowest(x.dtype), **_along(op, x))


@meaning(ge.ReduceMin)
def reduce_min(env: Env, op: ge.ReduceMin, x: Array) -> Array:
    """Smallest, NaN if any is; of nothing the highest."""
    x = wide(x)
    return np.min(x, initial=highest(x.dtype), **_along(op, x))


def _arg(op: ge.ArgReduce, x: Array, keys: Array) -> Array:
    axis = op.axis.value.data % x.ndim
    if not x.size:  # numpy refuses an empty axis even where there is no result
        index = np.zeros(np.delete(x.shape, axis), np.int64)
    elif op.select_last_index.value.data:
        index = x.shape[axis] - 1 - np.argmax(np.flip(keys, axis), axis)
    else:
        index = np.argmax(keys, axis)
    return np.expand_dims(index, axis) if op.keep_dims.value.data else index


@meaning(ge.ArgMax)
def arg_max(env: Env, op: ge.ArgMax, x: Array) -> Array:
    """Index of the largest."""
    return _arg(op, x, wide(x))


@meaning(ge.ArgMin)
def arg_min(env: Env, op: ge.ArgMin, x: Array) -> Array:
    """Index of the smallest."""
    # the order reversed without overflow: ~x for integers, -x for floats
    return _arg(op, x, ~x if x.dtype.kind in "iu" else -wide(x))
