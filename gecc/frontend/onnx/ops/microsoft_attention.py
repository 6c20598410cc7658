"""Attention, QAttention and MultiHeadAttention of com.microsoft.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md, as its CPU kernels have them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.attention import (
    causal,
    extent,
    head_scale,
    index,
    join_heads,
    key_places,
    least,
    masked,
    require_rank,
    scores,
    shaped,
    split_heads,
    weighted,
    with_past,
)
from gecc.frontend.onnx.ops.quant import integer_matmul, parameter, scalar
from gecc.frontend.onnx.registry import onnx_op

DOMAIN = "com.microsoft"


def _padding_mask(n: Node, mask: SSAValue, q: SSAValue, k: SSAValue) -> SSAValue:
    """Adds `mask_filter_value` (which broadcasts to the scores) where the mask hides a key.

    The mask is [batch, keys] or [batch, queries, keys] of ones and zeros, or says where the keys of each batch end, in
    [batch], or end and start, in [2 * batch].
    """
    fill = n.attr_float("mask_filter_value", -10000.0)
    batch = shape(q)[0]
    match rank(mask):
        case 1 if batch != -1 and shape(mask)[0] in (batch, 2 * batch):
            places = key_places(n, k)
            ends = n.build.unsqueeze(n.add(ge.Slice(index(n, mask), [0], [batch], [0])), [1])
            keeps = n.add(ge.Less(places, ends))
            if shape(mask)[0] == 2 * batch:
                starts = n.add(ge.Slice(index(n, mask), [batch], [2 * batch], [0]))
                keeps = n.add(ge.LogicalAnd(keeps, n.add(ge.GreaterEqual(places, n.build.unsqueeze(starts, [1])))))
            axes = [1, 2]
        case 2:
            keeps, axes = n.add(ge.Greater(mask, n.build.scalar(0, mask))), [1, 2]
        case 3:
            keeps, axes = n.add(ge.Greater(mask, n.build.scalar(0, mask))), [1]
        case _:
            n.refuse(
                f"a mask of shape {list(shape(mask))} is not supported, expected [batch], [2 * batch], [batch, keys] or "
                f"[batch, queries, keys] with batch = {batch}",
                hint="give input shapes" if -1 in (batch, *shape(mask)) else None,
            )
    return n.build.unsqueeze(masked(n, keeps, fill, q), axes)


def _masks(n: Node, mask: SSAValue | None, bias: SSAValue | None, q: SSAValue, k: SSAValue) -> list[SSAValue]:
    """All that is added to the scores."""
    masks: list[SSAValue] = []
    if mask is not None:
        masks.append(_padding_mask(n, mask, q, k))
    if n.attr_int("unidirectional", 0):
        masks.append(masked(n, causal(n, q, k), least(q), q))
    if bias is not None:
        masks.append(bias)
    return masks


def _attend(n: Node, q: SSAValue, k: SSAValue, v: SSAValue, masks: Sequence[SSAValue]) -> SSAValue:
    """softmax(scale q k^T + masks) v, heads joined."""
    s = scores(n, q, k, scale=head_scale(n, n.attr_float("scale", 0.0), q), masks=masks)
    return join_heads(n, weighted(n, n.add(ge.Softmax(s, axis=3)), v))


def _unshared(n: Node) -> None:
    for attribute in ("past_present_share_buffer", "do_rotary"):
        if n.attr_int(attribute, 0):
            n.refuse(f"{attribute} = 1 is not supported")


def _self_attention(
    n: Node,
    projected: SSAValue,
    sizes: Sequence[int],
    past: SSAValue | None,
    mask: SSAValue | None,
    bias: SSAValue | None,
) -> Sequence[SSAValue]:
    """Attention of queries, keys and values side by side in the last dimension; past and present hold both of the
    latter in dimension 0."""
    heads = n.attr_int("num_heads")
    q, k, v = (split_heads(n, part, heads) for part in n.build.add_all(ge.Split(projected, 2, sizes)))
    if past is not None:
        require_rank(n, past, 5, "past")
        old_k, old_v = (n.build.squeeze(n.add(ge.Slice(past, [i], [i + 1], [0])), [0]) for i in (0, 1))
        k, v = with_past(n, old_k, k), with_past(n, old_v, v)
    results = [_attend(n, q, k, v, _masks(n, mask, bias, q, k))]
    if n.wants(1):
        results.append(n.add(ge.Concat([n.build.unsqueeze(part, [0]) for part in (k, v)], axis=0)))
    return results


@onnx_op("Attention", domain=DOMAIN)
def attention(n: Node) -> Sequence[SSAValue]:
    """Inputs: x, weights, bias?, mask_index?, past?, attention_bias?."""
    x, w = n.input(0), n.input(1)
    require_rank(n, x, 3, "input 0")
    require_rank(n, w, 2, "weights (input 1)")
    _unshared(n)
    if shape(w)[1] == -1:
        n.refuse("the width of the weights must be known", hint="give input shapes")
    sizes = n.attr_ints("qkv_hidden_sizes", [shape(w)[1] // 3] * 3)
    if len(sizes) != 3 or sum(sizes) != shape(w)[1]:
        n.invalid(f"the widths of queries, keys and values are {sizes}, but the weights have {shape(w)[1]} columns")
    projected = n.add(ge.MatMulV2(x, w, n.optional(2)))
    return _self_attention(n, projected, sizes, n.optional(4), n.optional(3), n.optional(5))


@onnx_op("QAttention", domain=DOMAIN)
def quantised_attention(n: Node) -> Sequence[SSAValue]:
    """Inputs: x, weight, bias, x_scale, weight_scale, mask_index?, x_zero?, weight_zero?, past?."""
    x, w = n.input(0), n.input(1)
    require_rank(n, x, 3, "input 0")
    _unshared(n)
    if shape(w)[1] == -1 or shape(w)[1] % 3:
        n.invalid(f"the weights have {shape(w)[1]} columns, expected a multiple of 3")
    x_zero = scalar(n, n.input(6), "input_zero_point") if n.has(6) else None
    sums = integer_matmul(n, x, w, x_zero, n.optional(7))
    factor = n.add(ge.Mul(scalar(n, n.input(3), "input_scale"), parameter(n, n.input(4))))
    projected = n.add(ge.Mul(n.build.cast(sums, element(factor)), factor))
    projected = n.add(ge.Add(projected, n.input(2)))
    return _self_attention(n, projected, [shape(w)[1] // 3] * 3, n.optional(8), n.optional(5), None)


@onnx_op("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(n: Node) -> Sequence[SSAValue]:
    """Inputs: query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?, past_value?."""
    for i, what in ((8, "past_sequence_length"), (9, "cache_indirection")):
        if n.has(i):
            n.refuse(f"{what} (input {i}), for buffers that past and present share, is not supported")
    q, k, v = _heads(n)
    k, v = with_past(n, n.optional(6), k), with_past(n, n.optional(7), v)
    masks = _masks(n, n.optional(4), n.optional(5), q, k)
    return [_attend(n, q, k, v, masks), k, v]


def _heads(n: Node) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Queries, keys and values in heads, with their part of the bias."""
    heads, q = n.attr_int("num_heads"), n.input(0)
    if rank(q) == 5:  # [batch, positions, heads, 3, size]
        q, k, v = (_joined(n, part) for part in _unpacked(n, q, 3))
    elif n.has(1) and rank(n.input(1)) == 5:
        k, v = (_joined(n, part) for part in _unpacked(n, n.input(1), 2))
    else:
        k, v = n.input(1), n.input(2)
    given = [q, k, v]
    if n.has(3):
        widths = [shape(q)[2], *(shape(x)[2] if rank(x) == 3 else shape(x)[1] * shape(x)[3] for x in (k, v))]
        if min(widths) < 0:
            n.refuse("a bias needs known widths of query, key and value", hint="give input shapes")
        parts = n.build.add_all(ge.Split(n.input(3), 0, widths))
        given = [
            n.add(ge.Add(x, part)) if rank(x) == 3 else x  # a key that is in heads has its bias already
            for x, part in zip(given, parts, strict=True)
        ]
    q, k, v = (x if rank(x) == 4 else split_heads(n, x, heads) for x in given)
    return q, k, v


def _unpacked(n: Node, x: SSAValue, count: int) -> Sequence[SSAValue]:
    """[batch, positions, heads, count, size] as `count` tensors without that dimension."""
    return [n.build.squeeze(part, [3]) for part in n.build.add_all(ge.Split(x, 3, [1] * count))]


def _joined(n: Node, x: SSAValue) -> SSAValue:
    """[batch, positions, heads, size] as [batch, positions, heads * size]."""
    return shaped(n, x, [extent(n, x, 0), extent(n, x, 1), shape(x)[2] * shape(x)[3]])
