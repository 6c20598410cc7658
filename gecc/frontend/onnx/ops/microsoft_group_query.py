"""GroupQueryAttention and RotaryEmbedding of com.microsoft, as decoders of language models have them.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md, as its CPU kernels have them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.attention import (
    extent,
    grouped,
    head_scale,
    index,
    join_heads,
    key_places,
    masked,
    require_rank,
    rotate,
    scalar_extent,
    scores,
    shaped,
    split_heads,
    ungrouped,
    weighted,
)
from gecc.frontend.onnx.ops.gather import iota
from gecc.frontend.onnx.registry import onnx_op
from gecc.weights import numpy_dtype

DOMAIN = "com.microsoft"


@onnx_op("RotaryEmbedding", domain=DOMAIN)
def rotary_embedding(n: Node) -> SSAValue:
    """Inputs: x [batch, positions, width] or [batch, heads, positions, size], position_ids [1] (the first one) or
    [batch, positions], cos_cache, sin_cache [all positions, pairs]."""
    x, places, cosines, sines = (n.input(i) for i in range(4))
    if n.attr_float("scale", 1.0) != 1:
        n.refuse(f"scale = {n.attr_float('scale')} is not supported, expected 1")
    flat = rank(x) == 3
    if flat:
        x = split_heads(n, x, _heads(n, x, cosines))
    require_rank(n, x, 4, "input 0")
    if rank(places) == 1:
        first = n.build.reshape(places, ())
        places = n.build.unsqueeze(n.add(ge.Add(iota(n, x, 2), first)), [0])
    angles = (n.add(ge.Gather(cache, places)) for cache in (cosines, sines))
    y = rotate(n, x, *angles, interleaved=bool(n.attr_int("interleaved", 0)))
    return join_heads(n, y) if flat else y


def _heads(n: Node, x: SSAValue, cosines: SSAValue) -> int:
    """The number of heads: an attribute where only a part of each head is turned, else it follows from the cache."""
    heads = n.attr_int("num_heads", 0)
    if heads:
        return heads
    if n.attr_int("rotary_embedding_dim", 0):
        n.invalid("rotary_embedding_dim is given, but not num_heads")
    width, pairs = shape(x)[2], shape(cosines)[1]
    if -1 in (width, pairs) or width % (2 * pairs):
        n.invalid(f"a width of {width} cannot be cut into heads of 2 * {pairs}")
    return width // (2 * pairs)


@onnx_op("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(n: Node) -> Sequence[SSAValue]:
    """Inputs: query, key?, value?, past_key?, past_value?, seqlens_k, total_sequence_length, cos_cache?, sin_cache?,
    position_ids?, attention_bias?, head_sink?.

    `seqlens_k` says for each batch how many positions there are with the new ones, less one. The new ones follow the
    past ones directly; a past longer than that is a buffer of which the rest becomes zero.
    """
    _check(n)
    groups = n.attr_int("kv_num_heads")
    q, k, v = _projected(n, groups)
    total = n.constant(6)
    lengths = n.add(ge.Add(index(n, n.build.reshape(n.input(5), (-1,))), n.build.const(np.array(1, np.int64))))
    if total is None:
        n.refuse(
            "total_sequence_length (input 6) must be constant, for it decides the size of the results",
            hint="derive it from the shape of another input, or fix its value",
        )
    if shape(q)[2] == -1:
        n.refuse("the number of new positions must be known", hint="give input shapes")
    prompt = shape(q)[2] == int(total.reshape(-1)[0])
    first = _first_places(n, q, lengths, prompt)
    if n.attr_int("do_rotary", 0):
        q, k = _rotated(n, q, first, prompt), _rotated(n, k, first, prompt)
    k, v = (_cache(n, n.optional(i), new, first, int(total.reshape(-1)[0])) for i, new in ((3, k), (4, v)))
    y = _attend(n, q, k, v, first, lengths, groups)
    return [join_heads(n, y), k, v]


def _check(n: Node) -> None:
    """Refuse what is not supported."""
    for i, what in (
        (12, "k_scale"),
        (13, "v_scale"),
        (14, "q_norm_weight"),
        (15, "k_norm_weight"),
        (16, "query_seqlens"),
    ):
        if n.has(i):
            n.refuse(f"{what} (input {i}) is not supported")
    for attribute in ("sliding_window_cache", "qk_output"):
        if n.attr_int(attribute, 0):
            n.refuse(f"{attribute} = {n.attr_int(attribute)} is not supported")
    for attribute in ("k_quant_type", "v_quant_type"):
        if n.attr_str(attribute, "NONE") != "NONE":
            n.refuse(f"{attribute} = {n.attr_str(attribute)} is not supported")
    if shape(n.input(0))[0] == -1:
        n.refuse("the number of batches must be known", hint="give input shapes")


def _projected(n: Node, groups: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Queries, keys and values in heads; all three may be side by side in input 0."""
    q, heads = n.input(0), n.attr_int("num_heads")
    require_rank(n, q, 3, "query (input 0)")
    if n.has(1):
        return split_heads(n, q, heads), split_heads(n, n.input(1), groups), split_heads(n, n.input(2), groups)
    width = shape(q)[2]
    if width == -1 or width % (heads + 2 * groups):
        n.invalid(f"a width of {width} cannot be cut into {heads} heads and twice {groups}")
    size = width // (heads + 2 * groups)
    parts = n.build.add_all(ge.Split(q, 2, [heads * size, groups * size, groups * size]))
    q, k, v = (split_heads(n, part, count) for part, count in zip(parts, (heads, groups, groups), strict=True))
    return q, k, v


def _first_places(n: Node, q: SSAValue, lengths: SSAValue, prompt: bool) -> SSAValue:
    """The place of the first new position of each batch, [batch]. A prompt (all positions are new) starts at 0."""
    if prompt:
        return n.build.const(np.zeros(shape(q)[0], np.int64))
    return n.add(ge.Sub(lengths, scalar_extent(n, q, 2)))


def _rotated(n: Node, x: SSAValue, first: SSAValue, prompt: bool) -> SSAValue:
    """x turned by the angles of its positions, of which a prompt takes only the very first from position_ids."""
    if n.has(9) and not prompt:
        places = n.input(9)
    elif n.has(9):
        start = n.build.reshape(n.add(ge.Slice(n.input(9), [0, 0], [1, 1])), ())
        places = n.build.unsqueeze(n.add(ge.Add(iota(n, x, 2), start)), [0])
    else:
        places = n.add(ge.Add(n.build.unsqueeze(first, [1]), iota(n, x, 2)))
    angles = (n.add(ge.Gather(n.input(i), places)) for i in (7, 8))
    return rotate(n, x, *angles, interleaved=bool(n.attr_int("rotary_interleaved", 0)))


def _cache(n: Node, past: SSAValue | None, new: SSAValue, first: SSAValue, total: int) -> SSAValue:
    """The past with the new positions of each batch at `first`, then zeros; as long as the past, but at least `total`."""
    if past is None or shape(past)[2] == 0:
        if total > shape(new)[2]:
            n.invalid(f"total_sequence_length is {total}, but there are {shape(new)[2]} positions and no past")
        return new
    batch, heads, old, size = shape(past)
    if -1 in (batch, heads, old, size):
        n.refuse("the shape of the past must be known", hint="give input shapes")
    added, length = shape(new)[2], max(old, total)
    nothing = n.build.const(np.zeros((batch, heads, 1, size), numpy_dtype(element(new))))
    rows = n.build.reshape(n.add(ge.Concat([past, new, nothing], axis=2)), [-1, size])
    places = n.build.const(np.arange(length, dtype=np.int64))
    from_first = n.add(ge.Sub(places, n.build.unsqueeze(first, [1])))  # [batch, length]
    is_past = n.add(ge.Less(from_first, n.build.scalar(0, places)))
    is_new = n.add(ge.Less(from_first, n.build.scalar(added, places)))
    as_new = n.add(ge.Add(from_first, n.build.scalar(old, places)))
    source = n.add(ge.Select(is_new, as_new, n.build.scalar(old + added, places)))
    source = n.add(ge.Select(is_past, places, source))
    starts = np.arange(batch * heads, dtype=np.int64).reshape(batch, heads, 1) * (old + added + 1)
    return n.add(ge.Gather(rows, n.add(ge.Add(n.build.unsqueeze(source, [1]), n.build.const(starts)))))


def _attend(
    n: Node, q: SSAValue, k: SSAValue, v: SSAValue, first: SSAValue, lengths: SSAValue, groups: int
) -> SSAValue:
    """[batch, heads, positions, size]: each query sees the keys up to its own place, at most a window of them. A query
    beyond the end of its batch is at the end."""
    places = key_places(n, k)
    own = n.build.unsqueeze(n.add(ge.Add(n.build.unsqueeze(first, [1]), iota(n, q, 2))), [2])  # [batch, queries, 1]
    last = n.add(ge.Sub(n.build.unsqueeze(lengths, [1, 2]), n.build.scalar(1, lengths)))
    own = n.add(ge.Minimum(own, last))
    if n.attr_int("causal", 1):
        keeps = n.add(ge.LessEqual(places, own))
    else:
        keeps = n.add(ge.LessEqual(places, last))
    window = n.attr_int("local_window_size", -1)
    if window > 0:
        nearest = n.add(ge.Sub(own, n.build.scalar(window, own)))
        keeps = n.add(ge.LogicalAnd(keeps, n.add(ge.Greater(places, nearest))))
    masks = [n.build.unsqueeze(masked(n, keeps, -np.inf, q), [1, 2])]
    heads = shape(q)[1]
    if n.has(10):
        bias = n.input(10)
        if shape(bias)[1] == heads:
            masks.append(grouped(n, bias, groups))
        else:
            masks.append(n.build.unsqueeze(bias, [2]))
    keys, values = (n.build.unsqueeze(x, [2]) for x in (k, v))
    s = scores(
        n,
        grouped(n, q, groups),
        keys,
        scale=head_scale(n, n.attr_float("scale", 0.0), q),
        softcap=n.attr_float("softcap", 0.0),
        masks=masks,
    )
    return ungrouped(n, weighted(n, _softmax(n, s, groups), values))


def _softmax(n: Node, s: SSAValue, groups: int) -> SSAValue:
    """Softmax of each row; a sink is one more score, of a key without a value."""
    if not n.has(11) and n.attr_int("smooth_softmax", 0) != 1:
        return n.add(ge.Softmax(s, axis=4))
    sink = n.build.cast(n.input(11), element(s)) if n.has(11) else n.build.scalar(0, s)
    if rank(sink):
        sink = n.build.reshape(sink, [1, groups, shape(s)[2], 1, 1])
    column = shaped(n, n.add(ge.Slice(s, [0], [1], [4])), [*(extent(n, s, i) for i in range(4)), 1])
    zero = n.add(ge.Select(n.add(ge.Equal(column, column)), n.build.scalar(0, s), n.build.scalar(0, s)))
    p = n.add(ge.Softmax(n.add(ge.Concat([s, n.add(ge.Add(zero, sink))], axis=4)), axis=4))
    return n.add(ge.Slice(p, [0], [-1], [4]))
