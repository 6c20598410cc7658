"""Emitters for register tiles: the micro-kernel.

Each step along the depth loads the packed row of the right side as aligned vectors, then broadcasts one scalar for
each row and feeds it to as many multiply-adds as there are vectors in a row. Rows are addressed as one base register
plus multiples of the row stride; the multiples pass through empty inline assembly in every iteration, or LLVM's loop
strength reduction would keep a pointer for each row and run out of registers. Products of i16 take two steps at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import IntegerType, VectorType, i8, i16, i32
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import llvm, tile
from gecc.errors import CodegenError
from gecc.passes.tile.to_llvm.builder import Builder, vector
from gecc.passes.tile.to_llvm.checks import PanelReads
from gecc.passes.tile.to_llvm.loops import counted_loop
from gecc.passes.tile.to_llvm.lowering import (
    KernelLowering,
    Lanes,
    Linear,
    Memory,
    RegisterTile,
    Uniform,
    Varying,
    byte_width,
    lowers,
    memory_type,
)
from gecc.passes.tile.to_llvm.memory import store

UNROLL = 4
"""Steps along the depth in one pass of the inner loop."""
LOCALITY = 3
"""Where prefetched lines go, as LLVM numbers it: the first-level cache. The second (2) measured the same."""

CLUSTER = 4
"""So many vector loads from one base register does LLVM's instruction selection place next to each other, even those
of later steps, which then hold registers for nothing."""


def _shape(k: KernelLowering, type_: Attribute) -> tuple[int, int, Attribute]:
    """Rows, vectors in a row and element type of a register tile."""
    assert isinstance(type_, VectorType)
    rows, columns = type_.get_shape()
    if columns % k.target.f32_lanes:
        raise CodegenError(
            f"kernel @{k.name}: a register tile of {columns} columns, {k.target.name} has vectors of {k.target.f32_lanes}",
            hint="compile for the target that the kernel was tiled for",
        )
    return rows, columns // k.target.f32_lanes, type_.get_element_type()


@lowers(tile.FillOp)
def _fill(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.FillOp)
    rows, vectors, _ = _shape(k, op.tile.type)
    value = k.b.splat(k.uniform(op.scalar), k.target.f32_lanes)
    k.set(op.tile, RegisterTile(tuple((value,) * vectors for _ in range(rows))))


class _Rows:
    """Addresses of a tile's rows from few registers: base + {0, 1, 2, 3, 4, 5, 6} * stride, a new base every 7 rows."""

    GROUP = 7

    def __init__(self, b: Builder, rows: int, stride: SSAValue) -> None:
        self.rows = rows
        self.multiples: list[int] = [1] if rows > 1 else []
        if rows > 3:
            self.multiples.append(3)
        if rows > 5:
            self.multiples.append(5)
        if rows > self.GROUP:
            self.multiples.append(self.GROUP)
        self.initial = [b.imul(stride, b.int(m)) for m in self.multiples]

    def offsets(self, b: Builder, base: SSAValue, multiples: Sequence[SSAValue]) -> list[SSAValue]:
        """The address of each row."""
        by = dict(zip(self.multiples, multiples, strict=True))
        two, one = b.int(2), b.int(1)
        bases = [base]
        while len(bases) * self.GROUP < self.rows:
            bases.append(b.gep(bases[-1], by[self.GROUP]))
        out: list[SSAValue] = []
        for row in range(self.rows):
            group, rest = divmod(row, self.GROUP)
            match rest:
                case 0:
                    out.append(bases[group])
                    continue
                case 1 | 3 | 5:
                    offset = by[rest]
                case 2:
                    offset = b.add(xllvm.ShlOp(by[1], one))
                case 4:
                    offset = b.add(xllvm.ShlOp(by[1], two))
                case _:
                    offset = b.add(xllvm.ShlOp(by[3], one))
            out.append(b.gep(bases[group], offset))
        return out


def widen(b: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """A scalar or vector in the type of a sum: f16 and bf16 (given as its bits) become f32, i16 becomes i32."""
    target = llvm.like(value.type, element)
    if value.type == target:
        return value
    if isinstance(element, IntegerType):
        return b.add(xllvm.SExtOp(value, target))
    if value.type != llvm.like(value.type, i16):
        return b.add(xllvm.FPExtOp(value, target))
    wide = llvm.like(value.type, i32)
    sixteen = b.splat_constant(16, wide) if isinstance(wide, VectorType) else b.int(16, i32)
    return b.add(xllvm.BitcastOp(b.add(xllvm.ShlOp(b.add(xllvm.ZExtOp(value, wide)), sixteen)), target))


def multiply_add(b: Builder, x: SSAValue, y: SSAValue, total: SSAValue, type_: VectorType) -> SSAValue:
    """x * y + total: fused for floats, wrapping for integers."""
    if isinstance(type_.get_element_type(), IntegerType):
        return b.add(xllvm.AddOp(b.add(xllvm.MulOp(x, y)), total))
    return b.call("llvm.fma", [x, y, total], type_)


_PAIRWISE = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd"}
"""i32 lanes in a vector to the instruction that multiplies pairs of i16 and adds the two products of each lane."""


def multiplies_pairs(k: KernelLowering, source: Attribute) -> bool:
    """Whether products of `source` are summed two steps at a time."""
    return source == i16 and k.target.machine == "x86_64" and k.target.f32_lanes in _PAIRWISE


def pair_product(b: Builder, x: SSAValue, y: SSAValue, width: int) -> SSAValue:
    """x.low * y.low + x.high * y.high, where each of `width` lanes of i32 holds two i16; the sum wraps."""
    halves = vector(i16, 2 * width)
    sides = [b.add(xllvm.BitcastOp(side, halves)) for side in (x, y)]
    product = b.intrinsic(_PAIRWISE[width], sides, vector(i32, width))
    assert product is not None
    return product


def _check_panels(k: KernelLowering, op: tile.MmaOp, rows: int, columns: int) -> SSAValue:
    """In a checked kernel: leave it unless all that the product reads lies in its memories; whether it reads anything."""
    left, right = k.memory(op.lhs).bounds, k.memory(op.rhs).bounds
    assert k.checks is not None and left is not None and right is not None
    numbers = (op.row_stride, op.depth, op.n1, op.stride1, op.n2, op.stride2)
    reads = PanelReads(k.uniform(op.lhs_offset), k.uniform(op.rhs_offset), rows, columns, *map(k.uniform, numbers))
    return k.checks.panels(reads, left, right)


@lowers(tile.MmaOp)
def _mma(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.MmaOp)
    b, width = k.b, k.target.f32_lanes
    rows, vectors, element = _shape(k, op.tile.type)
    acc = k.values[op.acc]
    assert isinstance(acc, RegisterTile)
    lhs, rhs = k.memory(op.lhs), k.memory(op.rhs)
    source = lhs.element
    if rhs.element != source and (source, rhs.element) != (i16, i8):
        raise CodegenError(
            f"kernel @{k.name}: tile.mma of {source} and {rhs.element}, expected one type, or i16 and i8"
        )
    size, right_size = byte_width(source), byte_width(rhs.element)

    def scaled(value: SSAValue, unit: int = size) -> SSAValue:
        return b.imul(k.uniform(value), b.int(unit))

    in_pairs = op.pairs is not None
    if in_pairs and not multiplies_pairs(k, source):
        raise CodegenError(
            f"kernel @{k.name}: tile.mma of pairs, which {k.target.name} does not multiply",
            hint="compile for the target that the kernel was packed for",
        )
    start = b.gep(lhs.pointer, scaled(op.lhs_offset))
    panel = b.gep(rhs.pointer, scaled(op.rhs_offset, right_size))
    addressing = _Rows(b, rows, scaled(op.row_stride))
    stride1, stride2, depth = scaled(op.stride1), scaled(op.stride2), k.uniform(op.depth)
    n1, n2 = k.uniform(op.n1), k.uniform(op.n2)
    if k.checks is not None:
        runs = _check_panels(k, op, rows, vectors * width)
        depth = b.add(llvm.SelectOp(runs, depth, b.int(0)))
        n1, n2 = (n if Builder.known(n) == 1 else b.add(llvm.SelectOp(runs, n, b.int(0))) for n in (n1, n2))
    if in_pairs:  # an odd step at the end of a run, which is none of theirs, would be read with one that is not there
        depth = b.add(xllvm.AndOp(depth, b.int(-2)))
    vec = vector(element, width)
    narrow, right_narrow = memory_type(source), vector(memory_type(rhs.element), width)
    row_bytes = vectors * width * right_size
    align = k.align(min(width * right_size, k.target.vector_bytes))

    def panel_vector(w: SSAValue, step: int, v: int) -> SSAValue:
        """Vector v of the panel row of a step, as it lies in memory."""
        return b.load(b.gep(w, b.int(step * row_bytes + v * width * right_size)), right_narrow, align)

    # loads of one step's panel row alone fit the registers, not those of several steps
    crowded = rows * vectors + max(vectors, CLUSTER) + 1 > k.target.vector_registers

    def steps(a: SSAValue, w: SSAValue, multiples: Sequence[SSAValue], accs: list[SSAValue], count: int) -> SSAValue:
        """`count` steps along the depth; updates `accs`. Returns the panel's address, still that of the first step."""
        addresses = addressing.offsets(b, a, multiples)
        for step in range(count):
            if crowded and step:
                w = b.opaque(w)  # another base, so that loads of this step are not drawn to those of the last
            panel_row = [widen(b, panel_vector(w, step, v), element) for v in range(vectors)]
            for row in range(rows):
                scalar = b.load(b.gep(addresses[row], b.int(step * size)), narrow, k.align(size))
                value = b.splat(widen(b, scalar, element), width)
                for v in range(vectors):
                    at = row * vectors + v
                    accs[at] = multiply_add(b, value, panel_row[v], accs[at], vec)
        return w

    def pair_steps(
        a: SSAValue, w: SSAValue, multiples: Sequence[SSAValue], accs: list[SSAValue], count: int
    ) -> SSAValue:
        """As `steps`, for i16 two at a time: the left side's neighbours are one i32, panel rows are interleaved, here
        unless they are in memory.

        The second of a pair that `count` cuts off is zero on both sides.
        """
        addresses = addressing.offsets(b, a, multiples)
        sixteen = b.splat_constant(16, vec)

        def panel(step: int, v: int) -> SSAValue:
            loaded = panel_vector(w, step, v)
            if rhs.element == i8:
                loaded = b.add(xllvm.SExtOp(loaded, vector(i16, width)))
            return b.add(xllvm.ZExtOp(loaded, vec))

        def pair(step: int, v: int) -> SSAValue:
            """Vector v of a pair of panel rows that lies in memory as it is multiplied."""
            twice = vector(memory_type(rhs.element), 2 * width)
            place = step * row_bytes + v * width * 2 * right_size
            loaded = b.load(b.gep(w, b.int(place)), twice, align)
            return loaded if rhs.element == i16 else b.add(xllvm.SExtOp(loaded, vector(i16, 2 * width)))

        for step in range(0, count, 2):
            if crowded and step:
                w = b.opaque(w)
            panel_row = [pair(step, v) if in_pairs else panel(step, v) for v in range(vectors)]
            if step + 1 < count and not in_pairs:
                upper = [b.add(xllvm.ShlOp(panel(step + 1, v), sixteen)) for v in range(vectors)]
                panel_row = [b.add(xllvm.OrOp(low, high)) for low, high in zip(panel_row, upper, strict=True)]
            for row in range(rows):
                address = b.gep(addresses[row], b.int(step * size))
                if step + 1 < count:
                    scalar = b.load(address, i32, k.align(size))
                else:
                    scalar = b.add(xllvm.ZExtOp(b.load(address, i16, k.align(size)), i32))
                value = b.splat(scalar, width)
                for v in range(vectors):
                    at = row * vectors + v
                    accs[at] = b.add(xllvm.AddOp(pair_product(b, value, panel_row[v], width), accs[at]))
        return w

    run = pair_steps if multiplies_pairs(k, source) else steps

    def prefetch(w: SSAValue) -> None:
        """Some lines of the block of panel rows that lies `distance` bytes after the one this pass reads."""
        assert distance is not None
        far = b.gep(w, distance)
        for line in range(lines):
            pointer = b.gep(far, b.int(line * 64))
            hints = [pointer, b.int(0, i32), b.int(LOCALITY, i32), b.int(1, i32)]
            b.intrinsic("llvm.prefetch.p0", hints, None)

    # the address to prefetch stays at a fixed distance from the panel's, so it costs no register of its own
    lines = op.lines.value.data
    distance = None
    if op.ahead is not None:
        distance = b.isub(scaled(op.ahead, right_size), scaled(op.rhs_offset, right_size))

    def inner(a: SSAValue, w: SSAValue, accs: Sequence[SSAValue]) -> tuple[SSAValue, Sequence[SSAValue]]:
        """One contiguous run of `depth` steps; returns where the panel stands after it."""
        trips = b.add(xllvm.LShrOp(depth, b.int(2)))
        many = b.imul(trips, b.int(UNROLL))

        def passes(count: int):
            def body(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
                a_now, w_now = carried[0], carried[1]
                multiples = [b.opaque(m) for m in carried[2 : 2 + len(addressing.multiples)]]
                now = list(carried[2 + len(multiples) :])
                if distance is not None and count == UNROLL:
                    prefetch(w_now)
                w_now = run(a_now, w_now, multiples, now, count)
                return [b.gep(a_now, b.int(count * size)), b.gep(w_now, b.int(count * row_bytes)), *multiples, *now]

            return body

        state: Sequence[SSAValue] = [a, w, *addressing.initial, *accs]
        state = counted_loop(k, b.int(0), many, UNROLL, state, passes(UNROLL))
        last = 2 if in_pairs else 1
        state = counted_loop(k, many, depth, last, state, passes(last))
        return state[1], state[2 + len(addressing.multiples) :]

    flat = [value for row in acc.rows for value in row]
    if Builder.known(n1) == 1 and Builder.known(n2) == 1:
        _, flat_out = inner(start, panel, flat)
    else:

        def outer(_: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            a_row, w = carried[0], carried[1]

            def middle(_: SSAValue, state: Sequence[SSAValue]) -> Sequence[SSAValue]:
                w_next, accs = inner(state[0], state[1], state[2:])
                return [b.gep(state[0], stride2), w_next, *accs]

            end = counted_loop(k, b.int(0), n2, 1, [a_row, w, *carried[2:]], middle)
            return [b.gep(a_row, stride1), *end[1:]]

        flat_out = counted_loop(k, b.int(0), n1, 1, [start, panel, *flat], outer)[2:]
    k.set(
        op.tile,
        RegisterTile(tuple(tuple(flat_out[r * vectors : (r + 1) * vectors]) for r in range(rows))),
    )


@lowers(tile.StoreTileOp)
def _store_tile(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, tile.StoreTileOp)
    b, width = k.b, k.target.f32_lanes
    rows, vectors, _ = _shape(k, op.tile.type)
    acc = k.values[op.tile]
    assert isinstance(acc, RegisterTile)
    memory: Memory = k.memory(op.memory)
    offset, row_stride, columns = k.uniform(op.offset), k.uniform(op.row_stride), k.uniform(op.columns)

    def one(row: int, v: int, mask: SSAValue | None) -> None:
        k.lanes = Lanes(width, mask)
        value_arg, row_arg, column_arg = op.body.block.args
        k.set(value_arg, Varying(acc.rows[row][v]))
        k.set(row_arg, Uniform(b.int(row)))
        k.set(column_arg, Linear(b.int(v * width), 1))
        k.block(op.body.block)
        last = op.body.block.last_op
        assert isinstance(last, tile.YieldOp)
        base = b.iadd(b.iadd(offset, b.imul(row_stride, b.int(row))), b.int(v * width))
        store(k, k.vector(last.values[0]), memory, Linear(base, 1))
        k.lanes = None

    known = Builder.known(columns)
    if known is not None and known >= vectors * width:
        for row in range(rows):
            for v in range(vectors):
                one(row, v, None)
        return
    full, partial, after = b.new_block(), b.new_block(), b.new_block()
    b.branch_if(b.compare("sge", columns, b.int(vectors * width)), full, [], partial, [])
    b.start(full)
    for row in range(rows):
        for v in range(vectors):
            one(row, v, None)
    b.branch(after)
    b.start(partial)
    masks = []
    count = b.add(xllvm.TruncOp(columns, i32))
    for v in range(vectors):
        masks.append(b.compare("sgt", b.splat(count, width), b.iota(width, i32, start=v * width)))
    for row in range(rows):
        for v in range(vectors):
            one(row, v, masks[v])
    b.branch(after)
    b.start(after)
