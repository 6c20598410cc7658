"""Emitters for loops: `scf.for`, and `tile.lanes` as a vector loop with a masked tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm as xllvm
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, i32, i64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import llvm, tile
from gecc.errors import CodegenError
from gecc.passes.tile.to_llvm.builder import vector
from gecc.passes.tile.to_llvm.lowering import (
    KernelLowering,
    Lanes,
    Linear,
    Uniform,
    Varying,
    lowers,
    register_type,
)
from gecc.passes.tile.to_llvm.scalar import combine

Body = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]


def counted_loop(
    k: KernelLowering, lower: SSAValue, upper: SSAValue, step: int | SSAValue, inits: Sequence[SSAValue], body: Body
) -> Sequence[SSAValue]:
    """Emit `for (i = lower; i < upper; i += step)` with carried values; `body` emits one pass and returns them."""
    b = k.b
    step_value = b.int(step) if isinstance(step, int) else step
    header = b.new_block([i64, *(v.type for v in inits)])
    inside = b.new_block()
    after = b.new_block([v.type for v in inits])
    b.branch(header, lower, *inits)
    b.start(header)
    index, *carried = header.args
    b.branch_if(b.compare("slt", index, upper), inside, [], after, carried)
    b.start(inside)
    results = body(index, carried)
    b.branch(header, b.iadd(index, step_value), *results)
    b.start(after)
    return after.args


@lowers(scf.ForOp)
def _for(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    inits: list[SSAValue] = []
    kinds: list[type[Uniform | Varying]] = []
    for value in op.iter_args:
        # inside lanes carried values may come to differ between lanes whatever they start from
        varying = k.lanes is not None
        inits.append(k.vector(value) if varying else k.uniform(value))
        kinds.append(Varying if varying else Uniform)

    def body(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        block = op.body.block
        k.set(block.args[0], Uniform(index))
        for arg, kind, value in zip(block.args[1:], kinds, carried, strict=True):
            k.set(arg, kind(value))
        k.block(block)
        last = block.last_op
        assert isinstance(last, scf.YieldOp)
        return [k.vector(v) if kind is Varying else k.uniform(v) for v, kind in zip(last.arguments, kinds, strict=True)]

    lower, upper, step = k.uniform(op.lb), k.uniform(op.ub), k.uniform(op.step)
    if k.checks is not None:
        k.checks.loop(lower, upper, step)
    results = counted_loop(k, lower, upper, step, inits, body)
    for result, kind, value in zip(op.results, kinds, results, strict=True):
        k.set(result, kind(value))


def _cost(op: tile.LanesOp) -> int:
    """Operations in the body; a nested loop counts as many, since copies of it would only grow the code."""
    return sum(1000 if isinstance(inner, scf.ForOp) else 1 for inner in op.body.walk())


def horizontal(k: KernelLowering, kind: str, value: SSAValue, width: int) -> SSAValue:
    """The combination of all lanes, halving the vector at each step."""
    b = k.b
    type_ = value.type
    half = width // 2
    while half:
        mask = DenseArrayBase.from_list(i32, [i + half if i < half else 0 for i in range(width)])
        value = combine(b, kind, value, b.add(xllvm.ShuffleVectorOp(value, value, mask, type_)))
        half //= 2
    return b.add(llvm.ExtractElementOp(value, b.int(0, i32)))


@lowers(tile.LanesOp)
def _lanes(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.LanesOp)
    if k.lanes is not None:
        raise CodegenError(f"kernel @{k.name}: tile.lanes inside lanes")
    b, width = k.b, k.target.f32_lanes
    lower, upper = k.uniform(op.lower), k.uniform(op.upper)
    if k.checks is not None:
        k.checks.loop(lower, upper)
    kinds = [kind.data for kind in op.combiners]
    types = [register_type(v.type) for v in op.inits]
    identities = [
        b.splat_constant(tile.identity(kind, t), vector(t, width)) for kind, t in zip(kinds, types, strict=True)
    ]

    def chunk(index: SSAValue, mask: SSAValue | None) -> list[SSAValue]:
        """Emit the body for the lanes from `index` on; returns the vectors yielded."""
        k.lanes = Lanes(width, mask)
        k.set(op.body.block.args[0], Linear(index, 1))
        k.block(op.body.block)
        last = op.body.block.last_op
        assert isinstance(last, tile.YieldOp)
        values = [k.vector(v) for v in last.values]
        k.lanes = None
        return values

    def merge(partials: Sequence[SSAValue], values: Sequence[SSAValue]) -> list[SSAValue]:
        return [combine(b, kind, p, v) for kind, p, v in zip(kinds, partials, values, strict=True)]

    unroll = 4 if _cost(op) <= (12 if kinds else 6) else 1
    partials: Sequence[SSAValue] = identities
    start = lower
    if unroll > 1:
        span = b.int(unroll * width)
        trips = b.add(xllvm.SDivOp(b.isub(upper, lower), span))
        # a negative extent (an empty loop) divides to zero trips or fewer, and the loops below do nothing
        middle = b.iadd(lower, b.imul(trips, span))

        def unrolled(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            out: list[SSAValue] = []
            for copy in range(unroll):
                values = chunk(b.iadd(index, b.int(copy * width)), None)
                mine = carried[copy * len(kinds) : (copy + 1) * len(kinds)]
                out.extend(merge(mine, values))
            return out

        many = counted_loop(k, lower, middle, unroll * width, identities * unroll, unrolled)
        if kinds:
            partials = many[: len(kinds)]
            for copy in range(1, unroll):
                partials = merge(partials, many[copy * len(kinds) : (copy + 1) * len(kinds)])
        start = middle

    last_full = b.isub(upper, b.int(width - 1))

    def single(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return merge(carried, chunk(index, None))

    # the loop hands on where it stopped, which is where the tail begins
    header_results = _vector_loop(k, start, last_full, width, partials, single)
    tail_start, partials = header_results[0], header_results[1:]

    tail, after = b.new_block(), b.new_block([v.type for v in partials])
    b.branch_if(b.compare("slt", tail_start, upper), tail, [], after, partials)
    b.start(tail)
    left = b.add(xllvm.TruncOp(b.isub(upper, tail_start), i32))
    mask = b.compare("ult", b.iota(width, i32), b.splat(left, width))
    values = chunk(tail_start, mask)
    merged = merge(partials, values)
    masked = [b.add(llvm.SelectOp(mask, new, old)) for new, old in zip(merged, partials, strict=True)]
    b.branch(after, *masked)
    b.start(after)
    for result, kind, init, partial in zip(op.sums, kinds, op.inits, after.args, strict=True):
        total = horizontal(k, kind, partial, width)
        k.set(result, Uniform(combine(b, kind, k.uniform(init), total)))


def _vector_loop(
    k: KernelLowering, lower: SSAValue, upper: SSAValue, step: int, inits: Sequence[SSAValue], body: Body
) -> Sequence[SSAValue]:
    """As `counted_loop`, and the first result is the index at which the loop ended."""
    b = k.b
    header = b.new_block([i64, *(v.type for v in inits)])
    inside = b.new_block()
    after = b.new_block([i64, *(v.type for v in inits)])
    b.branch(header, lower, *inits)
    b.start(header)
    index, *carried = header.args
    b.branch_if(b.compare("slt", index, upper), inside, [], after, [index, *carried])
    b.start(inside)
    results = body(index, carried)
    b.branch(header, b.iadd(index, b.int(step)), *results)
    b.start(after)
    return after.args
