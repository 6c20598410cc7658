"""Normalisations of com.microsoft, most of them with the sum before them.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. SimplifiedLayerNormalization
stands in the standard's domain in the models that ONNX Runtime writes; loading moves it here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.gather import iota
from gecc.frontend.onnx.ops.norm import group_norm, inverse_deviation, layer_norm
from gecc.frontend.onnx.registry import onnx_op

DOMAIN = "com.microsoft"


def _sum(n: Node, *places: int) -> SSAValue:
    """The sum of the inputs at `places` that are given."""
    values = [n.input(i) for i in places if n.has(i)]
    total = values[0]
    for value in values[1:]:
        total = n.add(ge.Add(total, value))
    return total


@onnx_op("LayerNormalization", domain=DOMAIN)
def layer_normalization(n: Node) -> Sequence[SSAValue]:
    """What ONNX Runtime writes in the standard's domain before the standard had it (opset 17)."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    return layer_norm(n, x, n.input(1), n.optional(2), axis, wanted=n.outputs)


def _root_mean_square(n: Node, x: SSAValue, gamma: SSAValue, axis: int) -> SSAValue:
    """x by the root of its mean square, times gamma; the result has gamma's element type."""
    epsilon = n.attr_float("epsilon", 1e-5)
    if element(x) != element(gamma):
        x = n.build.cast(x, element(gamma))
    return n.add(ge.RMSNorm(x, gamma, axis=axis, epsilon=epsilon))


@onnx_op("SimplifiedLayerNormalization", domain=DOMAIN)
def simplified_layer_normalization(n: Node) -> Sequence[SSAValue]:
    """RMS normalisation over dimensions `axis` on, and the inverse root of the mean square where it is used."""
    x = n.input(0)
    axis = n.axis(n.attr_int("axis", -1), rank(x))
    results = [_root_mean_square(n, x, n.input(1), axis)]
    if n.wants(1):
        results.append(_inverse_root(n, x, axis))
    return results


def _inverse_root(n: Node, x: SSAValue, axis: int) -> SSAValue:
    x = n.build.cast(x, f32)
    mean = n.add(ge.ReduceMean(n.add(ge.Mul(x, x)), list(range(axis, rank(x))), keep_dims=True))
    return inverse_deviation(n, mean, n.attr_float("epsilon", 1e-5))


@onnx_op("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(n: Node) -> Sequence[SSAValue]:
    """Inputs: x, skip, gamma, beta?, bias?. Normalises x + skip + bias, which is output 3."""
    total = _sum(n, 0, 1, 4)
    results = layer_norm(n, total, n.input(2), n.optional(3), rank(total) - 1, wanted=3 if _statistics(n) else 1)
    return _with_sum(n, results, total)


@onnx_op("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(n: Node) -> Sequence[SSAValue]:
    """Inputs: x, skip, gamma, bias?. RMS normalisation of x + skip + bias, which is output 3."""
    if _statistics(n):
        n.refuse("outputs 1 and 2 (mean and inverse deviation) are for training alone")
    total = _sum(n, 0, 1, 3)
    return _with_sum(n, [_root_mean_square(n, total, n.input(2), rank(total) - 1)], total)


def _statistics(n: Node) -> bool:
    return n.wants(1) or n.wants(2)


def _with_sum(n: Node, results: Sequence[SSAValue], total: SSAValue) -> Sequence[SSAValue]:
    """Outputs 0 to 2 as far as they are given, then the sum in place 3."""
    return [*results, *[results[0]] * (3 - len(results)), total]


@onnx_op("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(n: Node) -> Sequence[SSAValue]:
    """Inputs: input_ids, segment_ids?, word, position and segment? embeddings, gamma, beta, mask?, position_ids?.

    Normalises the sum of the embeddings (output 2). Output 1 counts the ones of each row of the mask; 0 without one.
    """
    ids = n.input(0)
    words = n.add(ge.Gather(n.input(2), ids))
    if n.has(8):
        positions = n.add(ge.Gather(n.input(3), n.input(8)))
    else:
        positions = n.add(ge.Gather(n.input(3), iota(n, ids, 1)))
    total = n.add(ge.Add(words, positions))
    if n.has(1) and n.has(4):
        total = n.add(ge.Add(total, n.add(ge.Gather(n.input(4), n.input(1)))))
    (normal,) = layer_norm(n, total, n.input(5), n.input(6), rank(total) - 1, wanted=1)
    results = [normal]
    if n.wants(1):
        results.append(_ones(n, ids))
    elif n.wants(2):
        results.append(normal)
    return [*results, total]


def _ones(n: Node, ids: SSAValue) -> SSAValue:
    """How many ones each row of the mask has."""
    if n.has(7):
        return n.add(ge.ReduceSum(n.build.cast(n.input(7), i32), [1], keep_dims=False))
    return n.add(ge.ConstantOfShape(n.build.extents(ids, 0, 1), ge.dense(np.array([0], np.int32))))


# -- groups of channels ------------------------------------------------------------------------------------------------


def _grouped(n: Node, x: SSAValue) -> SSAValue:
    """GroupNorm of x with `gamma` and `beta` in inputs 1 and 2, and SiLU where `activation` is 1."""
    last = bool(n.attr_int("channels_last", 1))
    if last:
        x = n.build.transpose(x, [0, rank(x) - 1, *range(1, rank(x) - 1)])
    gamma, beta = (n.build.cast(n.input(i), element(x)) for i in (1, 2))
    y = group_norm(n, x, gamma, beta, n.attr_int("groups"))
    activation = n.attr_int("activation")
    if activation not in (0, 1):
        n.invalid(f"activation is {activation}, expected 0 (none) or 1 (SiLU)")
    y = n.add(ge.Silu(y)) if activation else y
    return n.build.transpose(y, [0, *range(2, rank(y)), 1]) if last else y


@onnx_op("GroupNorm", domain=DOMAIN)
def group_norm_microsoft(n: Node) -> SSAValue:
    """Inputs: x, gamma, beta."""
    return _grouped(n, n.input(0))


@onnx_op("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(n: Node) -> Sequence[SSAValue]:
    """Inputs: x, gamma, beta, skip, bias?. Normalises x + skip + bias, which is output 1."""
    x, skip = n.input(0), n.input(3)
    last = bool(n.attr_int("channels_last", 1))
    if rank(skip) == 2:
        skip = n.build.unsqueeze(skip, [1, 2] if last else [2, 3])
    total = n.add(ge.Add(x, skip))
    if n.has(4):
        bias = n.input(4) if last else n.build.unsqueeze(n.input(4), [1, 2])
        total = n.add(ge.Add(total, bias))
    return [_grouped(n, total), total]
