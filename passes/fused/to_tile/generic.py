"""fused.generic to a kernel: merged loops, the best one over lanes, the outermost one split into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, Region, SSAValue

from gecc.dialects import fused, tile
from gecc.dialects.fused import Body
from gecc.passes.fused.to_tile.affine import (
    Linear,
    Loop,
    RegionUse,
    coefficient,
    elements,
    merge_loops,
    physical_order,
    region_use,
    strides_of,
)
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import MAX_BLOCKS, Lowered, blocks_for, inplace_inputs

LANES = 16
"""Elements that run side by side, for the choice of loops."""

LANE_MULTIPLE = 64
"""Blocks of a loop over lanes start at multiples of this many elements, so that only the last one has a tail."""

TILE = 32
"""Elements that lanes go far at a time in a transposition: their cache lines stay in the first-level cache also where they
are a power of two apart, and share its sets."""

LINE = 16
"""Elements of f32 in a cache line."""


@dataclass
class Plan:
    """Loops of a generic operation: over result elements, over the reduction, and which of them runs over lanes."""

    parallel: list[Loop]
    reduction: list[Loop]
    lane: Loop | None


class Accesses:
    """Addresses of a region's loads, as coefficients of the dimensions of an iteration space."""

    def __init__(self, region: Region, count: int) -> None:
        self.region = region
        self.use: RegionUse = region_use(region, count)
        self.args = list(region.block.args[:count])
        self.rows: dict[Operation, list[int]] = {
            load: [address.terms.get(arg, 0) for arg in self.args] for load, address in self.use.addresses.items()
        }
        self.pinned = [arg in self.use.pinned for arg in self.args]

    def address(self, load: fused.LoadOp) -> Linear:
        return self.use.addresses[load]


def lane_score(loop: Loop, rows: Sequence[Sequence[int]], store: int | None, lanes: int = LANES) -> float:
    """How well a loop runs over lanes: full vectors and consecutive accesses are best."""
    filled = loop.extent / max(1, -(-loop.extent // lanes) * lanes)
    cost = 0.0
    for row in rows:
        cost += {0: 0.25, 1: 1.0}.get(coefficient(loop, row), float(lanes))
    if store is not None:
        cost += 1.0 if store == 1 else 2.0 * lanes
    return filled / max(cost, 0.25)


def choose_lane(plan: Plan, body_rows: Sequence[Sequence[int]], store_row: Sequence[int]) -> Loop | None:
    """The loop that should run over lanes: of the result's, or the innermost of the reduction."""
    best: tuple[float, Loop] | None = None
    for loop in plan.parallel:
        score = lane_score(loop, body_rows, coefficient(loop, store_row))
        if best is None or score >= best[0]:
            best = (score, loop)
    if plan.reduction:
        # a result element is stored once for a whole reduction, so its store hardly counts
        loop = plan.reduction[-1]
        score = lane_score(loop, body_rows, None)
        if loop.extent < LANES:  # lanes that lie idle, and their sum for every element of the result
            score *= loop.extent / LANES
        if best is None or score > best[0]:
            best = (score, loop)
    return best[1] if best else None


def factor_of(loop: Loop, address: Linear, args: Sequence[SSAValue]) -> int:
    """Elements by which an address moves at a step of `loop`: none at a loop over what `args` do not index.

    An epilogue's arguments index the result alone, not the reduction.
    """
    dim = loop.dims[-1]
    return address.terms.get(args[dim], 0) if dim < len(args) else 0


class SpaceWriter:
    """Knows the loops of an iteration space and turns linear addresses into offsets of them."""

    def __init__(self, w: KernelWriter, loops: Sequence[Loop]) -> None:
        self.w = w
        self.loops = list(loops)
        self.current: dict[int, SSAValue] = {}
        self._strides: dict[tuple[object, int], SSAValue] = {}

    def declare(self, key: object, address: Linear, args: Sequence[SSAValue]) -> None:
        """Make the parameters that the address of one access needs."""
        if address.constant:
            self._strides[(key, -1)] = self.w.argument(address.constant, "offset")
        for number, loop in enumerate(self.loops):
            factor = factor_of(loop, address, args)
            if factor not in (0, 1):
                self._strides[(key, number)] = self.w.argument(factor, "stride")

    def offset(self, key: object, address: Linear, args: Sequence[SSAValue]) -> SSAValue:
        """The address for the current loop indices."""
        b = self.w.body
        offset = self._strides.get((key, -1)) or b.index(0)
        for number, loop in enumerate(self.loops):
            factor = factor_of(loop, address, args)
            index = self.current.get(number)
            if factor == 0 or index is None:
                continue
            offset = b.add(offset, index if factor == 1 else b.mul(index, self._strides[(key, number)]))
        return offset

    def dimension(self, dim: int) -> SSAValue:
        """The index of one dimension, for operations that compute with it."""
        for number, loop in enumerate(self.loops):
            if loop.dims == (dim,):
                return self.current[number]
        return self.w.body.index(0)  # a dimension of extent 1


def lower_generic(op: fused.GenericOp) -> Lowered:
    """The kernel and launch of a generic operation."""
    domain, reduction = op.domain, op.reduction_domain
    result = op.result_type
    rank = len(domain)
    inputs = [value.type for value in op.inputs if isinstance(value.type, TensorType)]
    body = Accesses(op.body, rank + len(reduction))
    store_strides = [*strides_of(result), *([0] * len(reduction))]
    order = physical_order(result)
    extents = [*domain, *reduction]
    rows = [*body.rows.values(), store_strides]
    pinned = list(body.pinned)
    epilogue = Accesses(op.epilogue, rank) if op.epilogue is not None else None
    if epilogue is not None:
        rows += [[*row, *([0] * len(reduction))] for row in epilogue.rows.values()]
        pinned = [p or q for p, q in zip(pinned, [*epilogue.pinned, *([False] * len(reduction))], strict=True)]
    plan = Plan(
        merge_loops(order, extents, rows, pinned),
        merge_loops(range(rank, rank + len(reduction)), extents, rows, pinned),
        None,
    )
    plan.lane = choose_lane(plan, list(body.rows.values()), store_strides)

    w = KernelWriter(inputs, [result])
    space = SpaceWriter(w, [*plan.parallel, *plan.reduction])
    bounds = [w.argument(loop.extent, "extent") for loop in space.loops]
    for load, address in body.use.addresses.items():
        space.declare(load, address, body.args)
    if epilogue is not None:
        for load, address in epilogue.use.addresses.items():
            space.declare(load, address, epilogue.args)
    store_address = Linear({arg: s for arg, s in zip(body.args, store_strides, strict=True) if s})
    space.declare("store", store_address, body.args)

    def inline(accesses: Accesses, region: Region, scalars: Sequence[SSAValue]) -> SSAValue:
        args = accesses.args
        indices = [space.dimension(d) if accesses.pinned[d] else None for d in range(len(args))]

        def address(load: fused.LoadOp) -> SSAValue:
            return space.offset(load, accesses.address(load), args)

        return w.inline(region, accesses.use, addresses=address, indices=indices, scalars=scalars, memories=w.inputs)

    def finish_element(value: SSAValue | None) -> None:
        if op.epilogue is None or epilogue is None or value is None:
            value = inline(body, op.body, ())
        else:
            value = inline(epilogue, op.epilogue, (value,))
        w.store(value, w.outputs[0], space.offset("store", store_address, body.args))

    lane_number = space.loops.index(plan.lane) if plan.lane is not None else -1
    parallel_count = len(plan.parallel)

    def reduce_all() -> SSAValue:
        """The reduction at the current parallel indices."""
        assert op.combiner is not None
        kind = op.combiner.data
        numbers = [n for n in range(parallel_count, len(space.loops)) if n != lane_number]
        start = w.body.constant(tile.identity(kind, op.accumulator), op.accumulator)

        def nest(position: int, acc: SSAValue) -> SSAValue:
            if position == len(numbers):
                if lane_number >= parallel_count:

                    def lanes(index: SSAValue) -> Sequence[SSAValue]:
                        space.current[lane_number] = index
                        return [inline(body, op.body, ())]

                    return w.lanes(0, bounds[lane_number], lanes, [kind], [acc])[0]
                return combine(w.body, kind, acc, inline(body, op.body, ()))
            number = numbers[position]

            def write(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
                space.current[number] = index
                return [nest(position + 1, carried[0])]

            return w.loop(0, bounds[number], write, [acc])[0]

        return nest(0, start)

    def element() -> None:
        finish_element(reduce_all() if reduction else None)

    lane_parallel = 0 <= lane_number < parallel_count
    serial = [n for n in range(parallel_count) if n != lane_number]
    crossing = _crossing(space.loops, serial, plan.lane, body) if lane_parallel and plan.lane is not None else None
    work = elements(result) * max(1, _product(reduction)) * _weight(op)
    split = serial[0] if serial else (lane_number if lane_parallel else None)
    if split == crossing and split is not None and space.loops[split].extent < MAX_BLOCKS * LINE:
        split = lane_number  # blocks would share lines
    if split is None:
        blocks, chunk = 1, 1
    else:
        unit = LANE_MULTIPLE if split == lane_number else 1
        blocks, chunk = blocks_for(work, space.loops[split].extent, unit)
    chunk_arg = w.argument(chunk, "chunk")

    def nest(position: int, lane_range: tuple[SSAValue, SSAValue] | None = None) -> None:
        remaining = serial[position:]
        if not remaining:
            if not lane_parallel:
                element()
                return
            low, high = lane_range or range_of(lane_number)

            def lanes(index: SSAValue) -> Sequence[SSAValue]:
                space.current[lane_number] = index
                element()
                return []

            w.lanes(low, high, lanes)
            return
        number = remaining[0]
        if number == crossing and lane_range is None:
            low, high = range_of(lane_number)

            def one_tile(start: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
                nest(position, (start, w.body.minimum(w.body.add(start, w.body.index(TILE)), high)))
                return []

            w.loop(low, high, one_tile, step=TILE)
            return
        low, high = range_of(number)

        def write(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            space.current[number] = index
            nest(position + 1, lane_range)
            return []

        w.loop(low, high, write)

    def range_of(number: int) -> tuple[SSAValue | int, SSAValue]:
        if number != split:
            return 0, bounds[number]
        first = w.body.mul(w.index, chunk_arg)
        return first, w.body.minimum(w.body.add(first, chunk_arg), bounds[number])

    nest(0)
    return Lowered(
        kernel=w.finish(op.label.data),
        inputs=list(op.inputs),
        result=result,
        params=w.params,
        blocks=blocks if elements(result) else 0,
        scratch=0,
        label=op.label.data,
        inplace=inplace_inputs(op) if not reduction else [],
    )


def _crossing(loops: Sequence[Loop], serial: Sequence[int], lane: Loop, body: Accesses) -> int | None:
    """The loop along which a load is contiguous that lanes gather: a transposition.

    Lanes touch a cache line for each element, and the next element of the line is not needed before they have come to their
    end; so they go only `TILE` elements far at a time, and then around this loop.
    """
    if lane.extent <= TILE:
        return None
    gathers = [row for row in body.rows.values() if abs(coefficient(lane, row)) >= LINE]
    return next((n for row in gathers for n in serial if coefficient(loops[n], row) == 1), None)


def _product(values: Sequence[int]) -> int:
    total = 1
    for value in values:
        total *= value
    return total


def _weight(op: fused.GenericOp) -> int:
    """Rough cost of one point of the domain, in simple operations."""
    return 1 + sum(8 if inner.name.startswith("math.") else 1 for inner in op.body.block.ops) // 2


def combine(body: Body, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Two partial results as one."""
    return body.binary(kind, a, b)
