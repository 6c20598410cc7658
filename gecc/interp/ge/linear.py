"""Matrix products and convolutions: one product per kernel tap, all positions at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, meaning, wide


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
def conv(env: Env, op: ge.Conv2D, x: Array, w: Array, bias: Array | None) -> Array:
    """The sum over kernel taps of a product over input channels."""
    x, w, groups = _summed(env, op, x), _summed(env, op, w), op.group.value.data
    oh, ow = _extents(op, x, w)
    top, left, bottom, right = op.pads.get_values()
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    n, c = x.shape[:2]
    oc = w.shape[0]
    x = x.reshape(n, groups, c // groups, *x.shape[2:])
    w = w.reshape(groups, oc // groups, c // groups, *w.shape[2:])
    out = np.zeros((n, groups, oc // groups, oh, ow), x.dtype)
    for i, j, rows, columns in _taps(op, w.shape[-2:], oh, ow):
        window = x[..., rows, columns]
        if c == groups:
            out += w[:, :, 0, i, j, None, None] * window
        else:
            out += np.matmul(w[..., i, j], window.reshape(n, groups, c // groups, oh * ow)).reshape(out.shape)
    out = out.reshape(n, oc, oh, ow)
    return out if bias is None else out + wide(bias)[:, None, None]


@meaning(ge.ConvTranspose2D)
def conv_transpose(env: Env, op: ge.ConvTranspose2D, x: Array, w: Array, bias: Array | None) -> Array:
    """Each input element adds its product with the kernel to a strided window of the result."""
    x, w, groups = wide(x), wide(w), op.group.value.data
    n, c, height, width = x.shape
    ocg, kh, kw = w.shape[1:]
    (sh, sw), (dh, dw) = op.strides.get_values(), op.dilations.get_values()
    extra_h, extra_w = op.output_padding.get_values()
    full_h = max(height - 1, 0) * sh + (kh - 1) * dh + 1 + extra_h
    full_w = max(width - 1, 0) * sw + (kw - 1) * dw + 1 + extra_w
    out = np.zeros((n, groups, ocg, full_h, full_w), x.dtype)
    x = x.reshape(n, groups, c // groups, height * width)
    w = w.reshape(groups, c // groups, ocg, kh, kw)
    for i, j, rows, columns in _taps(op, (kh, kw), height, width):
        share = np.matmul(np.swapaxes(w[..., i, j], -1, -2), x)
        out[..., rows, columns] += share.reshape(n, groups, ocg, height, width)
    top, left, bottom, right = op.pads.get_values()
    out = out.reshape(n, groups * ocg, full_h, full_w)[:, :, top : full_h - bottom, left : full_w - right]
    return out if bias is None else out + wide(bias)[:, None, None]


def _summed(env: Env, op: ge.MatMulV2 | ge.Conv2D, side: Array) -> Array:
    """A side in the type of the sums: narrow integers may have a result of i32."""
    return wide(side) if side.dtype.kind not in "iu" else side.astype(env.dtype(ge.elem(op.result)), copy=False)


def _extents(op: ge.Conv2D, x: Array, w: Array) -> tuple[int, int]:
    strides, pads, dilations = (p.get_values() for p in (op.strides, op.pads, op.dilations))
    h, width = (
        (x.shape[2 + i] + pads[i] + pads[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(2)
    )
    return h, width


def _taps(
    op: ge.Conv2D | ge.ConvTranspose2D, kernel: tuple[int, ...], oh: int, ow: int
) -> Iterator[tuple[int, int, slice, slice]]:
    """For each kernel tap, the rows and columns that it meets over all window positions."""
    (sh, sw), (dh, dw) = op.strides.get_values(), op.dilations.get_values()
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            yield i, j, slice(i * dh, i * dh + oh * sh, sh), slice(j * dw, j * dw + ow * sw, sw)
