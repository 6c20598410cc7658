"""Attention as the operators of com.microsoft share it: heads, masks, rotation of positions, the products.

Tensors of heads are [batch, heads, positions, size]. Sizes may be unknown while a model is imported; what depends on
them is computed from shapes, and folded once they are known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32, i64
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.gather import iota
from gecc.weights import numpy_dtype

# -- sizes -------------------------------------------------------------------------------------------------------------


def shaped(n: Node, x: SSAValue, dims: Sequence[int | SSAValue]) -> SSAValue:
    """x with dimensions that are numbers (one may be -1: the rest) or i64 vectors of one element."""
    known = [d if isinstance(d, int) else _number(n, d) for d in dims]
    if None not in known:
        return n.build.reshape(x, [int(d) for d in known if d is not None])
    parts = [n.build.ints([d]) if isinstance(d, int) else d for d in dims]
    return n.add(ge.DynReshape(x, n.build.concat(parts)))


def _number(n: Node, value: SSAValue) -> int | None:
    array = n.build.constant(value)
    return None if array is None else int(array.reshape(-1)[0])


def extent(n: Node, x: SSAValue, axis: int) -> int | SSAValue:
    """A dimension of x: a number where it is known, else an i64 vector of one element."""
    size = shape(x)[axis]
    return n.build.extents(x, axis, axis + 1) if size == -1 else size


def scalar_extent(n: Node, x: SSAValue, axis: int) -> SSAValue:
    """A dimension of x as an i64 scalar."""
    return n.build.reshape(n.build.extents(x, axis, axis + 1), ())


# -- heads -------------------------------------------------------------------------------------------------------------


def split_heads(n: Node, x: SSAValue, heads: int) -> SSAValue:
    """[batch, positions, heads * size] as [batch, heads, positions, size]."""
    width = shape(x)[2]
    if width != -1 and (heads < 1 or width % heads):
        n.invalid(f"{heads} heads do not divide a width of {width}")
    size = -1 if width == -1 else width // heads
    return n.build.transpose(shaped(n, x, [extent(n, x, 0), extent(n, x, 1), heads, size]), [0, 2, 1, 3])


def join_heads(n: Node, x: SSAValue) -> SSAValue:
    """[batch, heads, positions, size] as [batch, positions, heads * size]."""
    heads, size = shape(x)[1], shape(x)[3]
    width = -1 if -1 in (heads, size) else heads * size
    return shaped(n, n.build.transpose(x, [0, 2, 1, 3]), [extent(n, x, 0), extent(n, x, 2), width])


# -- masks -------------------------------------------------------------------------------------------------------------


def least(x: SSAValue) -> float:
    """The least finite number of an element type."""
    import ml_dtypes

    return float(ml_dtypes.finfo(numpy_dtype(element(x))).min)


def masked(n: Node, keeps: SSAValue, value: float, like: SSAValue) -> SSAValue:
    """0 where `keeps` holds, else `value`, in the element type of `like`."""
    return n.add(ge.Select(keeps, n.build.scalar(0, like), n.build.scalar(value, like)))


def key_places(n: Node, keys: SSAValue) -> SSAValue:
    """0, 1, ... for each position of `keys`."""
    return iota(n, keys, 2)


def query_places(n: Node, queries: SSAValue, first: SSAValue) -> SSAValue:
    """first, first + 1, ... for each position of `queries`, in a column."""
    return n.build.unsqueeze(n.add(ge.Add(iota(n, queries, 2), first)), [1])


def causal(n: Node, queries: SSAValue, keys: SSAValue) -> SSAValue:
    """Whether a query may see a key, [positions of queries, positions of keys]; the last query sees every key."""
    past = n.add(ge.Sub(scalar_extent(n, keys, 2), scalar_extent(n, queries, 2)))
    return n.add(ge.LessEqual(key_places(n, keys), query_places(n, queries, past)))


# -- rotation of positions ---------------------------------------------------------------------------------------------


def rotate(n: Node, x: SSAValue, cosines: SSAValue, sines: SSAValue, *, interleaved: bool) -> SSAValue:
    """Pairs of elements of the last dimension turned by angles given as cosine and sine.

    x is [batch, heads, positions, size]; `cosines` and `sines` are [batch or 1, positions, pairs]. A pair is an element
    and the one `pairs` later, or two neighbours with `interleaved`. Elements beyond the pairs stay.
    """
    pairs = shape(cosines)[2]
    if pairs == -1:
        n.refuse("the width of cos_cache must be known", hint="give input shapes")
    cosines, sines = (n.build.unsqueeze(v, [1]) for v in (cosines, sines))
    size = shape(x)[3]
    if size != -1 and size < 2 * pairs:
        n.invalid(f"the cache turns {2 * pairs} elements, but a head has {size}")

    def part(start: int, end: int, step: int = 1) -> SSAValue:
        return n.add(ge.Slice(x, [start], [end], [3], [step]))

    if interleaved:
        left, right = part(0, 2 * pairs, 2), part(1, 2 * pairs, 2)
    else:
        left, right = part(0, pairs), part(pairs, 2 * pairs)
    turned_left = n.add(ge.Sub(n.add(ge.Mul(left, cosines)), n.add(ge.Mul(right, sines))))
    turned_right = n.add(ge.Add(n.add(ge.Mul(right, cosines)), n.add(ge.Mul(left, sines))))
    if interleaved:
        both = n.add(ge.Concat([n.build.unsqueeze(v, [4]) for v in (turned_left, turned_right)], axis=4))
        parts = [shaped(n, both, [*(extent(n, both, i) for i in range(3)), 2 * pairs])]
    else:
        parts = [turned_left, turned_right]
    if size != 2 * pairs:
        parts.append(part(2 * pairs, np.iinfo(np.int64).max))
    return n.add(ge.Concat(parts, axis=3)) if len(parts) > 1 else parts[0]


# -- products ----------------------------------------------------------------------------------------------------------


def head_scale(n: Node, given: float, x: SSAValue) -> SSAValue:
    """The factor of scores: the one given, or (for 0) one by the root of the size of a head of x."""
    if given:
        return n.build.scalar(given, x)
    size = shape(x)[3]
    if size != -1:
        return n.build.scalar(float(np.float32(1) / np.sqrt(np.float32(size))), x)
    return n.build.cast(n.add(ge.Rsqrt(n.build.cast(scalar_extent(n, x, 3), f32))), element(x))


def scores(
    n: Node,
    q: SSAValue,
    k: SSAValue,
    *,
    scale: SSAValue,
    softcap: float = 0.0,
    masks: Sequence[SSAValue] = (),
) -> SSAValue:
    """scale * q k^T, capped, plus masks: [batch, heads, positions of q, positions of k].

    Scores of f16 and bf16 are f32, so that a mask of -10000 does not swallow the differences between them.
    """
    s = _at_least_f32(n, n.add(ge.MatMulV2(q, k, transpose_x2=True)))
    s = n.add(ge.Mul(s, n.build.cast(scale, element(s))))
    if softcap:
        cap = n.build.scalar(softcap, s)
        s = n.add(ge.Mul(n.add(ge.Tanh(n.add(ge.RealDiv(s, cap)))), cap))
    for mask in masks:
        s = n.add(ge.Add(s, n.build.cast(mask, element(s))))
    return s


def _at_least_f32(n: Node, x: SSAValue) -> SSAValue:
    return n.build.cast(x, f32) if element(x) in (f16, bf16) else x


def weighted(n: Node, p: SSAValue, v: SSAValue) -> SSAValue:
    """The sum of v with weights p, which are brought to its element type."""
    return n.add(ge.MatMulV2(n.build.cast(p, element(v)), v))


def grouped(n: Node, x: SSAValue, groups: int) -> SSAValue:
    """[batch, heads, positions, size] as [batch, groups, heads / groups, positions, size]."""
    heads = shape(x)[1]
    if heads % groups:
        n.invalid(f"{groups} heads of keys do not divide {heads} heads of queries")
    return shaped(n, x, [extent(n, x, 0), groups, heads // groups, extent(n, x, 2), extent(n, x, 3)])


def ungrouped(n: Node, x: SSAValue) -> SSAValue:
    """The opposite of `grouped`."""
    groups, heads = shape(x)[1], shape(x)[2]
    return shaped(n, x, [extent(n, x, 0), groups * heads, extent(n, x, 3), extent(n, x, 4)])


def with_past(n: Node, past: SSAValue | None, new: SSAValue) -> SSAValue:
    """The past positions and the new ones."""
    if past is None or shape(past)[2] == 0:
        return new
    return n.add(ge.Concat([past, new], axis=2))


def index(n: Node, value: SSAValue) -> SSAValue:
    """Integers as i64."""
    return n.build.cast(value, i64)


def require_rank(n: Node, x: SSAValue, expected: int, what: str) -> None:
    """The model is invalid when x has another rank."""
    if rank(x) != expected:
        n.invalid(f"{what} has rank {rank(x)}, expected {expected}")
