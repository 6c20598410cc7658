"""Normalisations."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, mean, meaning, wide


@meaning(ge.BatchNorm)
def batch_norm(env: Env, op: ge.BatchNorm, x: Array, scale: Array, offset: Array, mean: Array, var: Array) -> Array:
    """Per channel, with statistics given."""
    shape = (-1, *[1] * (x.ndim - 2))
    scale, offset, mean, var = (wide(v).reshape(shape) for v in (scale, offset, mean, var))
    return (wide(x) - mean) / np.sqrt(var + op.epsilon.value.data) * scale + offset


@meaning(ge.LayerNorm)
def layer_norm(env: Env, op: ge.LayerNorm, x: Array, gamma: Array | None, beta: Array | None) -> Array:
    """Over the last dimensions, from `axis` on."""
    x = wide(x)
    axes = tuple(range(op.axis.value.data % x.ndim, x.ndim))
    centred = x - mean(x, axes, keepdims=True)
    result = centred / np.sqrt(mean(np.square(centred), axes, keepdims=True) + op.epsilon.value.data)
    result = result if gamma is None else result * gamma
    return result if beta is None else result + beta


@meaning(ge.RMSNorm)
def rms_norm(env: Env, op: ge.RMSNorm, x: Array, gamma: Array | None) -> Array:
    """By the root of the mean square, over the last dimensions from `axis` on."""
    x = wide(x)
    axes = tuple(range(op.axis.value.data % x.ndim, x.ndim))
    result = x / np.sqrt(mean(np.square(x), axes, keepdims=True) + op.epsilon.value.data)
    return result if gamma is None else result * gamma


@meaning(ge.Softmax)
def softmax(env: Env, op: ge.Softmax, x: Array) -> Array:
    """Exponentials that sum to 1; a row of -inf gives NaN."""
    axis = op.axis.value.data
    x = wide(x)
    e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)


@meaning(ge.LogSoftmax)
def log_softmax(env: Env, op: ge.LogSoftmax, x: Array) -> Array:
    """The logarithm of softmax, without forming it."""
    axis = op.axis.value.data
    x = wide(x)
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
