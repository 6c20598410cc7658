"""Matrix products and convolutions: one product per kernel tap, all positions at once."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, meaning, wide
from gecc.interp.ge.pool import taken


@meaning(ge.MatMulV2)
def matmul(env: Env, op: ge.MatMulV2, a: Array, b: Array, bias: Array | None) -> Array:
    """The product of the last two dimensions, plus bias."""
    a, b = _summed(env, op, a), _summed(env, op, b)
    if op.transpose_x1.value.data:
        a = np.swapaxes(a, -1, -2)
    if op.transpose_x2.value.data:
        b = np.swapaxes(b, -1, -2)
    product = np.matmul(a, b)
    return product if bias is None else product + bias


@meaning(ge.Conv2D)
@meaning(ge.Conv3D)
def conv(env: Env, op: ge.Conv2D | ge.Conv3D, x: Array, w: Array, bias: Array | None) -> Array:
    """The sum over kernel taps of a product over input channels."""
    x, w, groups = _summed(env, op, x), _summed(env, op, w), op.group.value.data
    spatial = x.ndim - 2
    strides, pads, dilations = (p.get_values() for p in (op.strides, op.pads, op.dilations))
    extents = [
        (x.shape[2 + i] + pads[i] + pads[spatial + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(spatial)
    ]
    x = np.pad(x, ((0, 0), (0, 0), *((pads[i], pads[spatial + i]) for i in range(spatial))))
    n, c = x.shape[:2]
    oc = w.shape[0]
    x = x.reshape(n, groups, c // groups, *x.shape[2:])
    w = w.reshape(groups, oc // groups, c // groups, *w.shape[2:])
    out = np.zeros((n, groups, oc // groups, *extents), x.dtype)
    for tap in itertools.product(*map(range, w.shape[3:])):
        window = x[(..., *taken(tap, extents, strides, dilations))]
        part = w[(..., *tap)]
        if c == groups:
            out += part.reshape(*part.shape[:2], *[1] * spatial) * window
        else:
            out += np.matmul(part, window.reshape(n, groups, c // groups, math.prod(extents))).reshape(out.shape)
    return _with_bias(out.reshape(n, oc, *extents), bias)


@meaning(ge.ConvTranspose2D)
@meaning(ge.ConvTranspose3D)
def conv_transpose(
    env: Env, op: ge.ConvTranspose2D | ge.ConvTranspose3D, x: Array, w: Array, bias: Array | None
) -> Array:
    """Each input element adds its product with the kernel to a strided window of the result."""
    x, w, groups = wide(x), wide(w), op.group.value.data
    n, c, *sizes = x.shape
    spatial = len(sizes)
    ocg, *kernel = w.shape[1:]
    strides, dilations, pads = (p.get_values() for p in (op.strides, op.dilations, op.pads))
    full = [
        max(size - 1, 0) * s + (k - 1) * d + 1 + extra
        for size, s, k, d, extra in zip(sizes, strides, kernel, dilations, op.output_padding.get_values(), strict=True)
    ]
    out = np.zeros((n, groups, ocg, *full), x.dtype)
    x = x.reshape(n, groups, c // groups, math.prod(sizes))
    w = w.reshape(groups, c // groups, ocg, *kernel)
    for tap in itertools.product(*map(range, kernel)):
        share = np.matmul(np.swapaxes(w[(..., *tap)], -1, -2), x)
        out[(..., *taken(tap, sizes, strides, dilations))] += share.reshape(n, groups, ocg, *sizes)
    inside = [slice(pads[i], size - pads[spatial + i]) for i, size in enumerate(full)]
    return _with_bias(out.reshape(n, groups * ocg, *full)[(..., *inside)], bias)


def _with_bias(out: Array, bias: Array | None) -> Array:
    return out if bias is None else out + wide(bias).reshape(-1, *[1] * (out.ndim - 2))


def _summed(env: Env, op: ge.MatMulV2 | ge.Conv2D | ge.Conv3D, side: Array) -> Array:
    """A side in the type of the sums: narrow integers may have a result of i32."""
    return wide(side) if side.dtype.kind not in "iu" else side.astype(env.dtype(ge.elem(op.result)), copy=False)
