"""fused.softmax and fused.norm to kernels: passes over a row, over lanes along it or, where rows are strided, across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, TensorType, i64
from xdsl.ir import SSAValue

from gecc.dialects import fused, tile
from gecc.passes.fused.to_tile.affine import Linear, elements, merge_loops, physical_order, strides_of
from gecc.passes.fused.to_tile.generic import LANE_MULTIPLE, Accesses, SpaceWriter, combine
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered, blocks_for, inplace_inputs

ROW_WEIGHT = 24
"""Cost of one element of a row operation, in simple operations."""


class RowWriter:
    """The loops of a row operation: over rows, and passes along the row (the dimensions in `reduced`)."""

    def __init__(self, op: fused.SoftmaxOp | fused.NormOp, reduced: Sequence[int]) -> None:
        result = op.result_type
        rank = result.get_num_dims()
        shape = result.get_shape()
        self.op, self.result = op, result
        self.inputs = [v.type for v in op.inputs if isinstance(v.type, TensorType)]
        self.prologue, self.epilogue = Accesses(op.prologue, rank), Accesses(op.epilogue, rank)
        strides = list(strides_of(result))
        rows = [*self.prologue.rows.values(), *self.epilogue.rows.values(), strides]
        pinned = [p or q for p, q in zip(self.prologue.pinned, self.epilogue.pinned, strict=True)]
        order = physical_order(result)
        kept = merge_loops([d for d in order if d not in reduced], shape, rows, pinned)
        along = merge_loops([d for d in order if d in reduced], shape, rows, pinned)
        self.w = w = KernelWriter(self.inputs, [result])
        self.space = SpaceWriter(w, [*kept, *along])
        self.kept = len(kept)
        self.bounds = [w.argument(loop.extent, "extent") for loop in self.space.loops]
        for accesses in (self.prologue, self.epilogue):
            for load, address in accesses.use.addresses.items():
                self.space.declare(load, address, accesses.args)
        self.store_address = Linear({arg: s for arg, s in zip(self.prologue.args, strides, strict=True) if s})
        self.space.declare("store", self.store_address, self.prologue.args)
        # lanes run along the row when its elements are adjacent, else across rows that are
        innermost = [d for d in order if shape[d] != 1]
        self.across = bool(innermost) and innermost[-1] not in reduced
        self.length = prod(shape[d] for d in reduced)

    def value(self) -> SSAValue:
        """x at the current indices."""
        return self._inline(self.prologue, ())

    def finish(self, normalised: SSAValue) -> None:
        """Store the epilogue's result at the current indices."""
        self.keep(self._inline(self.epilogue, (normalised,)))

    @property
    def can_keep(self) -> bool:
        """Whether the result's memory can hold values between passes: of their type, and not what the epilogue reads."""
        loads = any(isinstance(op, fused.LoadOp) for op in self.epilogue.region.block.ops)
        return self.result.get_element_type() == self.op.accumulator and not loads

    def keep(self, value: SSAValue) -> None:
        """Store a value where the result at the current indices has its place."""
        self.w.store(value, self.w.outputs[0], self._place())

    def kept_value(self) -> SSAValue:
        """What `keep` stored at the current indices."""
        return self.w.load(self.w.outputs[0], self._place())

    def _place(self) -> SSAValue:
        return self.space.offset("store", self.store_address, self.prologue.args)

    def _inline(self, accesses: Accesses, scalars: Sequence[SSAValue]) -> SSAValue:
        space, args = self.space, accesses.args
        indices = [space.dimension(d) if accesses.pinned[d] else None for d in range(len(args))]

        def address(load: fused.LoadOp) -> SSAValue:
            return space.offset(load, accesses.address(load), args)

        return self.w.inline(
            accesses.region, accesses.use, addresses=address, indices=indices, scalars=scalars, memories=self.w.inputs
        )

    def reduce(self, kind: str, element: Callable[[], SSAValue]) -> SSAValue:
        """Reduce `element` over the row."""
        w, space, numbers = self.w, self.space, range(self.kept, len(self.space.loops))
        type_ = self.op.accumulator
        start = w.body.constant(tile.identity(kind, type_), type_)

        def nest(position: int, acc: SSAValue) -> SSAValue:
            if position == len(numbers):
                return combine(w.body, kind, acc, element())
            number = numbers[position]
            if position == len(numbers) - 1 and not self.across:

                def lanes(index: SSAValue) -> Sequence[SSAValue]:
                    space.current[number] = index
                    return [element()]

                return w.lanes(0, self.bounds[number], lanes, [kind], [acc])[0]

            def write(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
                space.current[number] = index
                return [nest(position + 1, carried[0])]

            return w.loop(0, self.bounds[number], write, [acc])[0]

        return nest(0, start)

    def each(self, write_element: Callable[[], None]) -> None:
        """Run over the row's elements."""
        w, space, numbers = self.w, self.space, range(self.kept, len(self.space.loops))

        def nest(position: int) -> None:
            if position == len(numbers):
                write_element()
                return
            number = numbers[position]

            def one(index: SSAValue, *_: object) -> Sequence[SSAValue]:
                space.current[number] = index
                nest(position + 1)
                return []

            if position == len(numbers) - 1 and not self.across:
                w.lanes(0, self.bounds[number], one)
            else:
                w.loop(0, self.bounds[number], one)

        nest(0)

    def lower(self, row: Callable[[], None]) -> Lowered:
        """Write the loops over rows around `row`."""
        w, space = self.w, self.space
        serial = list(range(self.kept - 1 if self.across else self.kept))
        lane = self.kept - 1 if self.across else None
        work = elements(self.result) * ROW_WEIGHT
        split = serial[0] if serial else lane
        unit = LANE_MULTIPLE if split == lane else 1
        blocks, chunk = (1, 1) if split is None else blocks_for(work, space.loops[split].extent, unit)
        chunk_arg = w.argument(chunk, "chunk")

        def range_of(number: int) -> tuple[SSAValue | int, SSAValue]:
            if number != split:
                return 0, self.bounds[number]
            first = w.body.mul(w.index, chunk_arg)
            return first, w.body.minimum(w.body.add(first, chunk_arg), self.bounds[number])

        def nest(position: int) -> None:
            if position < len(serial):
                number = serial[position]

                def write(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
                    space.current[number] = index
                    nest(position + 1)
                    return []

                w.loop(*range_of(number), write)
            elif lane is not None:
                number = lane

                def lanes(index: SSAValue) -> Sequence[SSAValue]:
                    space.current[number] = index
                    row()
                    return []

                w.lanes(*range_of(lane), lanes)
            else:
                row()

        nest(0)
        label = self.op.label.data
        return Lowered(
            kernel=w.finish(label),
            inputs=list(self.op.inputs),
            result=self.result,
            params=w.params,
            blocks=blocks if elements(self.result) else 0,
            scratch=0,
            label=label,
            inplace=inplace_inputs(self.op),
        )


def lower_softmax(op: fused.SoftmaxOp) -> Lowered:
    """Three passes: the maximum, the sum of exponentials, the results, for which the exponentials wait in the result."""
    r = RowWriter(op, [op.axis.value.data])
    keeps = r.can_keep and op.log is None

    def row() -> None:
        w = r.w
        top = r.reduce("max", r.value)

        def exponential() -> SSAValue:
            return w.body.math("exp", w.body.sub(r.value(), top))

        def summand() -> SSAValue:
            value = exponential()
            if keeps:
                r.keep(value)
            return value

        total = r.reduce("add", summand)
        if op.log is not None:
            shift = w.body.add(top, w.body.math("log", total))
            r.each(lambda: r.finish(w.body.sub(r.value(), shift)))
        else:
            scale = w.body.div(w.body.constant(1, op.accumulator), total)
            r.each(lambda: r.finish(w.body.mul(r.kept_value() if keeps else exponential(), scale)))

    return r.lower(row)


def lower_norm(op: fused.NormOp) -> Lowered:
    """Three passes: the mean, the centred squares, the results ("rms" has no mean)."""
    result = op.result_type
    r = RowWriter(op, range(op.axis.value.data, result.get_num_dims()))
    type_ = op.accumulator
    assert isinstance(op.epsilon, FloatAttr)
    epsilon = op.epsilon.value.data
    assert isinstance(type_, AnyFloat)
    count = r.w.argument(r.length, "length")

    def row() -> None:
        w = r.w
        number = w.body.emit(arith.IndexCastOp(count, i64))
        inverse = w.body.div(w.body.constant(1, type_), w.body.emit(arith.SIToFPOp(number, type_)))
        mean = w.body.mul(r.reduce("add", r.value), inverse) if op.kind.data == "layer" else None

        def centred() -> SSAValue:
            return r.value() if mean is None else w.body.sub(r.value(), mean)

        def square() -> SSAValue:
            value = centred()
            return w.body.mul(value, value)

        variance = w.body.mul(r.reduce("add", square), inverse)
        deviation = w.body.math("sqrt", w.body.add(variance, w.body.constant(epsilon, type_)))
        scale = w.body.div(w.body.constant(1, type_), deviation)
        r.each(lambda: r.finish(w.body.mul(centred(), scale)))

    return r.lower(row)
