"""Checks that hold a kernel to the memory it was given, whatever it says.

A checked kernel gets, after its arguments, the bytes of each operand and of the scratch. Every access is compared with
them before it is made; on a violation the kernel notes what went wrong in the rank's state and returns. One comparison
covers a vector of consecutive elements, and one set of comparisons all that a register tile reads of its panels: the
least and the greatest offset, in 128 bits, where nothing wraps around.

Nothing else of a checked kernel may be undefined either: addresses are sums that wrap, accesses assume no alignment,
divisors are never zero, amounts of shifts stay below the width, and what LLVM leaves open (a float that fits no integer)
is frozen. The steps of loops are counted where a loop begins, so that a call ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import IntegerType, VectorType, i1, i64
from xdsl.ir import Block, SSAValue

from gecc.dialects import llvm
from gecc.passes.tile.to_llvm.builder import Builder, mangle, vector
from gecc.runtime import abi

_WIDE = IntegerType(128)

MAX_EXTENT = 1 << 36
"""Greatest extent of a loop of a panel product: products of three of them and a tile's columns fit 128 bits."""

MAX_BOUND = 1 << 62
"""Greatest magnitude of a loop's bounds and step: an index that passes the end by a step does not wrap around."""


@dataclass(frozen=True)
class Bounds:
    """What may be accessed of a memory: `count` elements, `last` of them as the first of a whole vector."""

    count: SSAValue
    last: SSAValue
    operand: int | None
    """Number of the operand; None is the scratch."""


@dataclass(frozen=True)
class PanelReads:
    """What a product reads, in elements: see `tile.mma`."""

    left: SSAValue
    right: SSAValue
    rows: int
    columns: int
    row_stride: SSAValue
    depth: SSAValue
    n1: SSAValue
    stride1: SSAValue
    n2: SSAValue
    stride2: SSAValue


class Checks:
    """The sizes that a kernel got and the places where it goes on a violation.

    `args` are its argument words, of which the sizes are those from number `sizes_at` on; `operands` is their count.
    """

    def __init__(
        self,
        b: Builder,
        args: SSAValue,
        sizes_at: int,
        operands: int,
        state: SSAValue,
        lanes: int,
        max_steps: int = abi.MAX_STEPS,
    ) -> None:
        self.b = b
        self.max_steps = max_steps
        self._args = args
        self._sizes_at = sizes_at
        self._operands = operands
        self._state = state
        self._lanes = lanes
        self._exits: dict[tuple[abi.ErrorCode, int | None], Block] = {}

    def _size(self, operand: int | None) -> SSAValue:
        """Bytes of an operand or of the scratch."""
        number = self._operands if operand is None else operand
        return self.b.load(self.b.gep(self._args, self.b.int(8 * (self._sizes_at + number))), i64, 8)

    def bounds(self, operand: int | None, width: int, offset: SSAValue | None = None) -> Bounds:
        """Of elements of `width` bytes (1, 2, 4 or 8) that start `offset` bytes into it, which is checked."""
        b = self.b
        size = self._size(operand)
        if offset is not None:
            self.refuse(b.compare("ugt", offset, size), abi.ErrorCode.BOUNDS, operand)
            size = b.isub(size, offset)
        shift = width.bit_length() - 1
        count = b.add(xllvm.LShrOp(size, b.int(shift))) if shift else size
        last = b.isub(count, b.int(self._lanes - 1))
        zero = b.int(0)
        return Bounds(count, b.add(llvm.SelectOp(b.compare("sgt", last, zero), last, zero)), operand)

    def refuse(self, bad: SSAValue, code: abi.ErrorCode, operand: int | None = None) -> None:
        """Leave the kernel when `bad`, a bit or a vector of bits, holds."""
        b = self.b
        if isinstance(bad.type, VectorType):
            found = b.intrinsic(f"llvm.vector.reduce.or.{mangle(bad.type)}", [bad], i1)
            assert found is not None
            bad = found
        key = (code, operand)
        if key not in self._exits:
            self._exits[key] = b.new_block()
        go_on = b.new_block()
        b.branch_if(bad, self._exits[key], [], go_on, [])
        b.start(go_on)

    def finish(self) -> None:
        """Emit the places where the kernel ends with an error, behind all else."""
        b = self.b
        for (code, operand), block in self._exits.items():
            b.start(block)
            value, limit = b.int(-1 if operand is None else operand), b.int(0)
            if code == abi.ErrorCode.BOUNDS:
                limit = self._size(operand)
            elif code == abi.ErrorCode.STEPS:
                limit = b.int(self.max_steps)
            for place, word in (
                (abi.STATE_VALUE, value),
                (abi.STATE_LIMIT, limit),
                (abi.STATE_ERROR, b.int(int(code))),
            ):
                b.store(word, b.gep(self._state, b.int(place)), 8)
            b.effect(xllvm.ReturnOp())

    # --- accesses

    def one(self, bounds: Bounds, index: SSAValue) -> None:
        """An access of one element."""
        self.refuse(self.b.compare("uge", index, bounds.count), abi.ErrorCode.BOUNDS, bounds.operand)

    def run(self, bounds: Bounds, index: SSAValue) -> None:
        """An access of as many consecutive elements as there are lanes."""
        self.refuse(self.b.compare("uge", index, bounds.last), abi.ErrorCode.BOUNDS, bounds.operand)

    def each(self, bounds: Bounds, indices: SSAValue, mask: SSAValue | None) -> None:
        """An access of an element in each lane that runs."""
        b = self.b
        bad = b.compare("uge", indices, b.splat(bounds.count, self._lanes))
        if mask is not None:
            bad = b.add(xllvm.AndOp(bad, mask))
        self.refuse(bad, abi.ErrorCode.BOUNDS, bounds.operand)

    def panels(self, reads: PanelReads, left: Bounds, right: Bounds) -> SSAValue:
        """All that a product reads, at once, and its steps. Returns whether it reads anything: all extents positive."""
        b = self.b
        extents = (reads.n1, reads.n2, reads.depth)
        runs = self._all(b.compare("sgt", extent, b.int(0)) for extent in extents)
        large = self._any(b.compare("sgt", extent, b.int(MAX_EXTENT)) for extent in extents)
        n1, n2, depth = (self._wide(extent) for extent in extents)
        one, zero = b.int(1, _WIDE), b.int(0, _WIDE)

        low = high = self._wide(reads.left)
        for count, stride in (
            (b.int(reads.rows, _WIDE), reads.row_stride),
            (n1, reads.stride1),
            (n2, reads.stride2),
        ):
            span = b.add(xllvm.MulOp(b.add(xllvm.SubOp(count, one)), self._wide(stride)))
            back = b.compare("slt", span, zero)
            low = b.add(xllvm.AddOp(low, b.add(llvm.SelectOp(back, span, zero))))
            high = b.add(xllvm.AddOp(high, b.add(llvm.SelectOp(back, zero, span))))
        high = b.add(xllvm.AddOp(high, depth))
        beyond = [large, b.compare("slt", low, zero), b.compare("sgt", high, self._wide(left.count))]
        self.refuse(b.add(xllvm.AndOp(runs, self._any(beyond))), abi.ErrorCode.BOUNDS, left.operand)

        start = self._wide(reads.right)
        steps = b.add(xllvm.MulOp(b.add(xllvm.MulOp(n1, n2)), depth))
        end = b.add(xllvm.AddOp(start, b.add(xllvm.MulOp(steps, b.int(reads.columns, _WIDE)))))
        beyond = [b.compare("slt", start, zero), b.compare("sgt", end, self._wide(right.count))]
        self.refuse(b.add(xllvm.AndOp(runs, self._any(beyond))), abi.ErrorCode.BOUNDS, right.operand)
        self.spend(b.add(llvm.SelectOp(runs, b.add(xllvm.TruncOp(steps, i64)), b.int(0))))
        return runs

    def _wide(self, value: SSAValue) -> SSAValue:
        return self.b.add(xllvm.SExtOp(value, _WIDE))

    def _all(self, bits: Iterable[SSAValue]) -> SSAValue:
        return reduce(lambda a, b: self.b.add(xllvm.AndOp(a, b)), bits)

    def _any(self, bits: Iterable[SSAValue]) -> SSAValue:
        return reduce(lambda a, b: self.b.add(xllvm.OrOp(a, b)), bits)

    # --- loops

    def fill(self) -> None:
        """Start counting steps."""
        self.b.store(self.b.int(self.max_steps), self.b.gep(self._state, self.b.int(abi.STATE_STEPS)), 8)

    def spend(self, steps: SSAValue) -> None:
        """Count steps, a number without sign; leave the kernel when it took too many."""
        b = self.b
        place = b.gep(self._state, b.int(abi.STATE_STEPS))
        left = b.load(place, i64, 8)
        self.refuse(b.compare("ugt", steps, left), abi.ErrorCode.STEPS)
        b.store(b.add(xllvm.SubOp(left, steps)), place, 8)

    def loop(self, lower: SSAValue, upper: SSAValue, step: SSAValue | None = None) -> None:
        """A loop from `lower` to `upper` by `step` (None: a positive constant)."""
        b = self.b
        for value in (lower, upper, step):
            known = None if value is None else Builder.known(value)
            if value is not None and (known is None or abs(known) > MAX_BOUND):
                off = b.compare("ugt", b.add(xllvm.AddOp(value, b.int(MAX_BOUND))), b.int(2 * MAX_BOUND - 1))
                self.refuse(off, abi.ErrorCode.LOOP)
        if step is not None and ((known := Builder.known(step)) is None or known < 1):
            self.refuse(b.compare("slt", step, b.int(1)), abi.ErrorCode.LOOP)
        first, last = Builder.known(lower), Builder.known(upper)
        if first is not None and last is not None:
            self.spend(b.int(min(max(last - first, 0), MAX_BOUND)))
        else:
            up = b.compare("sgt", upper, lower)
            self.spend(b.add(llvm.SelectOp(up, b.isub(upper, lower), b.int(0))))

    # --- arithmetic

    def divisor(self, y: SSAValue, signed: bool) -> tuple[SSAValue, SSAValue | None]:
        """A divisor that neither traps nor overflows, and where it stands in for -1. Zero ends the kernel."""
        b = self.b
        known = Builder.known(y)
        if known is not None and known not in (0, -1):
            return y, None
        self.refuse(b.compare("eq", y, self._constant(0, y)), abi.ErrorCode.DIVISION)
        if not signed:
            return y, None
        minus = b.compare("eq", y, self._constant(-1, y))
        return b.add(llvm.SelectOp(minus, self._constant(1, y), y)), minus

    def amount(self, value: SSAValue) -> SSAValue:
        """An amount to shift by, below the width."""
        type_ = value.type.get_element_type() if isinstance(value.type, VectorType) else value.type
        assert isinstance(type_, IntegerType)
        return self.b.add(xllvm.AndOp(value, self._constant(type_.width.data - 1, value)))

    def freeze(self, value: SSAValue) -> SSAValue:
        """The value, or where LLVM leaves it open any one value."""
        return self.b.add(llvm.FreezeOp(value))

    def _constant(self, value: int, like: SSAValue) -> SSAValue:
        if isinstance(like.type, VectorType):
            return self.b.splat_constant(value, vector(like.type.get_element_type(), like.type.get_shape()[0]))
        return self.b.scalar(value, like.type)
