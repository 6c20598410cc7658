"""Normalisations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


@onnx_op("BatchNormalization")
def batch_normalization(n: Node) -> SSAValue | Sequence[SSAValue]:
    """With given statistics, or in training with those of x; that is asked for by outputs (below opset 14) or by
    `training_mode`."""
    x = n.input(0)
    if rank(x) < 2:
        n.refuse(f"BatchNormalization of rank {rank(x)} is not supported, expected a channel in dimension 1")
    training = n.attr_int("training_mode", 0) or (n.opset < 14 and any(n.wants(i) for i in range(1, 5)))
    spatial = n.opset >= 9 or n.attr_int("spatial", 1) == 1
    if not spatial or training:
        return _batch_statistics(n, x, spatial) if training else _per_element(n, x)
    scale, offset, mean, var = (n.build.cast(n.input(i), element(x)) for i in range(1, 5))
    return n.add(ge.BatchNorm(x, scale, offset, mean, var, epsilon=n.attr_float("epsilon", 1e-5)))


def _per_element(n: Node, x: SSAValue) -> SSAValue:
    """Statistics, scale and offset for each element of a sample (`spatial` = 0, until opset 8)."""
    scale, offset, mean, var = (n.input(i) for i in range(1, 5))
    return _normalised(n, x, mean, var, scale, offset)


def _normalised(n: Node, x: SSAValue, mean: SSAValue, var: SSAValue, scale: SSAValue, offset: SSAValue) -> SSAValue:
    """(x - mean) / sqrt(var + epsilon) * scale + offset, of operands that broadcast."""
    deviation = n.add(ge.Sqrt(n.add(ge.Add(var, n.build.scalar(n.attr_float("epsilon", 1e-5), var)))))
    distance = n.add(ge.RealDiv(n.add(ge.Sub(x, mean)), deviation))
    return n.add(ge.Add(n.add(ge.Mul(distance, scale)), offset))


def _batch_statistics(n: Node, x: SSAValue, spatial: bool) -> Sequence[SSAValue]:
    """x normalised by its own mean and variance (of all elements, not of one less), in f32 for half formats; then
    the running ones, which move by 1 - momentum, and until opset 13 those of x."""
    kind, running = element(x), [n.input(3), n.input(4)]
    wide_kind = f64 if kind == f64 else f32
    wide = n.build.cast(x, wide_kind)
    axes = [0, *range(2, rank(x))] if spatial else [0]
    mean, var = _moments(n, wide, axes)
    scale, offset = (n.build.cast(n.input(i), wide_kind) for i in (1, 2))
    if spatial:
        scale, offset = _per_channel(n, scale, rank(x)), _per_channel(n, offset, rank(x))
    y = n.build.cast(_normalised(n, wide, mean, var, scale, offset), kind)
    momentum = n.attr_float("momentum", 0.9)
    own = [n.build.squeeze(value, axes) for value in (mean, var)]
    moved: list[SSAValue] = []
    for before, now in zip(running, own, strict=True):
        old = n.build.cast(before, wide_kind)
        kept = n.add(ge.Mul(old, n.build.scalar(momentum, old)))
        new = n.add(ge.Add(kept, n.add(ge.Mul(now, n.build.scalar(1 - momentum, now)))))
        moved.append(n.build.cast(new, element(before)))
    saved = [n.build.cast(value, element(before)) for value, before in zip(own, running, strict=True)]
    return [y, *moved, *(saved if n.opset < 14 else [])]


def _per_channel(n: Node, value: SSAValue, dims: int) -> SSAValue:
    """[C] as [C, 1, ...], to broadcast over x of rank `dims`."""
    return n.build.unsqueeze(value, list(range(1, dims - 1)))


def _affine(n: Node, x: SSAValue, scale: SSAValue, bias: SSAValue) -> SSAValue:
    scaled = n.add(ge.Mul(x, _per_channel(n, scale, rank(x))))
    return n.add(ge.Add(scaled, _per_channel(n, bias, rank(x))))


@onnx_op("InstanceNormalization")
def instance_normalization(n: Node) -> SSAValue:
    """Each channel of each sample by itself, then scale and bias per channel."""
    x = n.input(0)
    if rank(x) < 3:
        n.refuse(f"InstanceNormalization of rank {rank(x)} is not supported, expected [N, C, ...]")
    normal = n.add(ge.LayerNorm(x, axis=2, epsilon=n.attr_float("epsilon", 1e-5)))
    return _affine(n, normal, n.input(1), n.input(2))


@onnx_op("GroupNormalization", since=21)
def group_normalization(n: Node) -> SSAValue:
    """Channels in groups; scale and bias per channel. (The standard withdrew the first form, of opset 18.)"""
    return group_norm(n, n.input(0), n.input(1), n.input(2), n.attr_int("num_groups"))


def group_norm(n: Node, x: SSAValue, scale: SSAValue, bias: SSAValue, groups: int) -> SSAValue:
    """x normalised in each of `groups` groups of channels, then scaled and moved per channel."""
    channels = shape(x)[1]
    if groups < 1 or (channels != -1 and channels % groups):
        n.invalid(f"{groups} groups do not divide {channels} channels")
    grouped = _grouped(n, x, groups)
    normal = n.add(ge.LayerNorm(grouped, axis=2, epsilon=n.attr_float("epsilon", 1e-5)))
    return _affine(n, n.build.reshape_like(normal, x), scale, bias)


def _grouped(n: Node, x: SSAValue, groups: int) -> SSAValue:
    """[N, C, ...] as [N, groups, the rest]."""
    if -1 not in shape(x) or shape(x)[0] != -1:
        return n.build.reshape(x, [shape(x)[0], groups, -1])
    return n.add(ge.DynReshape(x, n.build.ints([0, groups, -1])))  # 0 keeps N


@onnx_op("LayerNormalization", since=17)
def layer_normalization(n: Node) -> Sequence[SSAValue]:
    """Over dimensions `axis` on. The mean and the inverse deviation are computed apart where they are used."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    return layer_norm(n, x, n.input(1), n.optional(2), axis, wanted=n.outputs)


def layer_norm(
    n: Node, x: SSAValue, gamma: SSAValue, beta: SSAValue | None, axis: int, *, wanted: int
) -> Sequence[SSAValue]:
    """x normalised over dimensions `axis` on; with more than one result `wanted` also mean and inverse deviation."""
    epsilon = n.attr_float("epsilon", 1e-5)
    results = [n.add(ge.LayerNorm(x, gamma, beta, axis=axis, epsilon=epsilon))]
    if wanted > 1:  # in f32 whatever x is (`stash_type`), from numbers at least that wide
        wide = x if element(x) == f64 else n.build.cast(x, f32)
        mean, variance = _moments(n, wide, list(range(axis, rank(x))))
        results += [n.build.cast(v, f32) for v in (mean, inverse_deviation(n, variance, epsilon))]
    return results


def inverse_deviation(n: Node, variance: SSAValue, epsilon: float) -> SSAValue:
    """1 / sqrt(variance + epsilon)."""
    return n.add(ge.Reciprocal(n.add(ge.Sqrt(n.add(ge.Add(variance, n.build.scalar(epsilon, variance)))))))


def _moments(n: Node, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """Mean and variance along axes, which stay as one."""
    mean = n.add(ge.ReduceMean(x, axes, keep_dims=True))
    distance = n.add(ge.Sub(x, mean))
    return mean, n.add(ge.ReduceMean(n.add(ge.Mul(distance, distance)), axes, keep_dims=True))


@onnx_op("RMSNormalization", since=23)
def rms_normalization(n: Node) -> SSAValue:
    """Over dimensions `axis` on."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    scale = n.build.cast(n.input(1), element(x))
    return n.add(ge.RMSNorm(x, scale, axis=axis, epsilon=n.attr_float("epsilon", 1e-5)))


@onnx_op("MeanVarianceNormalization", since=9)
def mean_variance_normalization(n: Node) -> SSAValue:
    """(x - mean) / (deviation + 1e-9) along axes."""
    x = n.input(0)
    axes = n.axes(n.attr_ints("axes", [0, 2, 3]), rank(x))
    mean, variance = _moments(n, x, axes)
    deviation = n.add(ge.Add(n.add(ge.Sqrt(variance)), n.build.scalar(1e-9, x)))
    return n.add(ge.RealDiv(n.add(ge.Sub(x, mean)), deviation))


@onnx_op("LpNormalization")
def lp_normalization(n: Node) -> SSAValue:
    """x by its 1- or 2-norm along an axis; zeros stay zeros."""
    x, p = n.input(0), n.attr_int("p", 2)
    if p not in (1, 2):
        n.invalid(f"p is {p}, expected 1 or 2")
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    size = n.add(ge.Abs(x)) if p == 1 else n.add(ge.Mul(x, x))
    norm = n.add(ge.ReduceSum(size, [axis], keep_dims=True))
    norm = norm if p == 1 else n.add(ge.Sqrt(norm))
    zero = n.build.scalar(0, x)
    return n.add(ge.Select(n.add(ge.Equal(norm, zero)), zero, n.add(ge.RealDiv(x, norm))))


@onnx_op("LRN")
def local_response_normalization(n: Node) -> SSAValue:
    """x / (bias + alpha / size * sum of squares over `size` channels around) ^ beta."""
    x, size = n.input(0), n.attr_int("size")
    channels = shape(x)[1]
    if channels == -1:
        n.refuse("LRN needs a known number of channels", hint="give input shapes")
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    pads = [0] * (2 * rank(x))
    pads[1], pads[rank(x) + 1] = before, after
    padded = n.add(ge.Pad(n.add(ge.Mul(x, x)), pads=pads, mode="constant"))
    total: SSAValue | None = None
    for start in range(size):
        part = n.add(ge.Slice(padded, starts=[start], ends=[start + channels], axes=[1], steps=[1]))
        total = part if total is None else n.add(ge.Add(total, part))
    if total is None:
        n.invalid(f"size is {size}, expected at least 1")
    mean = n.add(ge.Mul(total, n.build.scalar(n.attr_float("alpha", 1e-4) / size, x)))
    base = n.add(ge.Add(mean, n.build.scalar(n.attr_float("bias", 1.0), x)))
    return n.add(ge.RealDiv(x, n.add(ge.Pow(base, n.build.scalar(n.attr_float("beta", 0.75), x)))))
