"""ge.TopK -> fused.generic: short runs are sorted by rank, then merged in pairs; only the first k of a run are kept.

What is sorted are items: integers that hold an element's key and its index, or for elements of 64 bits the index
alone, with the keys beside. All items differ, so that every step is a gather: position p of a merged run finds by
binary search how many of the first p come from the left run (merge path, Odeh et al. 2012). That is n * 64
comparisons for the runs and n log^2 n at most for the merges, far less where k is small.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body, is_unsigned
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import AnyTensor, dims, elem, f64, like, normal_axis, tensor
from gecc.passes.ge.to_fused._common import widen
from gecc.rewrite import Pattern, Rewriter

WHOLE = 128
"""Elements up to which an axis is one run."""
RUN = 64
"""Longest run of a longer axis."""
LEAST, GREATEST = -(2**63), 2**63 - 1


class LowerTopK(Pattern):
    """ge.TopK; the largest of many alone is an ArgMax."""

    ops = (ge.TopK,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.TopK)
        axis = normal_axis(op.axis.value.data, len(dims(op.x)))
        size, k, largest = dims(op.x)[axis], op.k.value.data, bool(op.largest.value.data)
        # ArgMin takes NaN for the least, TopK never
        if k == 1 and size > WHOLE and (largest or not isinstance(elem(op.x), AnyFloat)):
            best = (ge.ArgMax if largest else ge.ArgMin)(op.x, axis, keep_dims=True)
            value = ge.GatherElements(op.x, best.result, axis=axis)
            return rw.replace(op, [best, value], [value.result, best.result])
        sort = Sort(op.x, axis, largest)
        made = sort.runs(k)
        while sort.count > 1:
            made.append(sort.merged(made[-1].results[0], k))
        indices = fused.generic(
            "TopK",
            tensor(op.indices),
            [made[-1].results[0]],
            lambda b, d, t: b.binary("and", b.load(t[0], d), 2**32 - 1) if sort.packed else b.load(t[0], d),
        )

        def value_of(b: Body, d: Values, t: Values) -> SSAValue:
            return b.load(t[0], sort.along(d, b.check_index(b.to_index(b.load(t[1], d)), size)))

        values = fused.generic("TopK", tensor(op.values), [op.x, indices.result], value_of)
        rw.replace(op, [*made, indices, values], [values.result, indices.result])


class Sort:
    """Runs of items along one axis of x. After `runs` there are `count` of them, of `length` each."""

    def __init__(self, x: SSAValue, axis: int, largest: bool) -> None:
        self.x, self.axis, self.largest = x, axis, largest
        self.kind, self.shape = elem(x), dims(x)
        self.size = self.shape[axis]
        self.count = 1 if self.size <= WHOLE else 1 << (-(-self.size // RUN) - 1).bit_length()
        self.length = -(-self.size // self.count)
        self.padded = self.length * self.count
        """Elements of all runs; those from `size` on stand for nothing, and come last."""
        wide = self.kind == f64 or (isinstance(self.kind, IntegerType) and self.kind.width.data == 64)
        self.packed = not wide and self.padded < 2**31
        """Whether an item holds the key in its upper half."""
        self.keys: SSAValue | None = None

    def runs(self, k: int) -> list[Operation]:
        """The first k items of each run, by the number of items that come before each."""
        run, made = self.length, list[Operation]()
        keys = fused.generic("TopK", self._type(self.padded), [self.x], self._key)
        made.append(keys)
        if self.packed:
            items = keys.result
        else:
            self.keys = keys.result
            positions = fused.generic("TopK", self._type(self.padded), [], lambda b, d, t: b.from_index(d[self.axis]))
            made.append(positions)
            items = positions.result

        def rank(b: Body, d: Values, t: Values) -> SSAValue:
            own = d[self.axis]
            other = b.add(b.mul(b.div(own, run, unsigned=True), run), d[-1])
            pair = [b.load(t[0], self.along(d, i)) for i in (other, own)]
            return b.select(self._before(b, d, t, *pair), b.constant(1, i64), 0)

        ranks = self._generic(self.padded, items, rank, reduction=run)
        kept = min(run, k)

        def of_rank(b: Body, d: Values, t: Values) -> SSAValue:
            number, wanted = (f(d[self.axis], max(kept, 1), unsigned=True) for f in (b.div, b.rem))
            position = self.along(d, b.add(b.mul(number, run), d[-1]))
            hit = b.compare("eq", b.load(t[1], position), b.from_index(wanted))
            return b.select(hit, b.load(t[0], position), 0)

        picked = fused.generic(
            "TopK", self._type(kept * self.count), [items, ranks.result], of_rank, reduction=[run], combiner="add"
        )
        self.length = kept
        return [*made, ranks, picked]

    def merged(self, items: SSAValue, k: int) -> Operation:
        """Pairs of runs merged, the first k of each pair kept."""
        length, kept = self.length, min(2 * self.length, k)

        def pick(b: Body, d: Values, t: Values) -> SSAValue:
            pair, p = (f(d[self.axis], max(kept, 1), unsigned=True) for f in (b.div, b.rem))
            left, right = b.mul(pair, 2 * length), b.add(b.mul(pair, 2 * length), length)

            def item(start: SSAValue, index: SSAValue) -> SSAValue:
                return b.load(t[0], self.along(d, b.add(start, b.clamp(index, 0, length - 1))))

            # the most of the left run of which the last comes before the element of the right run it displaces
            taken = b.index(0)
            for bit in reversed(range(length.bit_length())):
                more = b.add(taken, 1 << bit)
                rest = b.sub(p, more)
                exhausted = b.compare("ge", rest, length)
                lower = self._before(b, d, t, item(left, b.sub(more, 1)), item(right, rest))
                possible = b.compare("le", more, b.minimum(p, length))
                fits = b.binary("and", possible, b.binary("or", exhausted, lower))
                taken = b.select(fits, more, taken)
            other = b.sub(p, taken)
            u, v = item(left, taken), item(right, other)
            first = b.binary("or", b.compare("ge", other, length), self._before(b, d, t, u, v))
            return b.select(b.binary("and", b.compare("lt", taken, length), first), u, v)

        self.count //= 2
        self.length = kept
        return self._generic(kept * self.count, items, pick)

    def _key(self, b: Body, d: Values, t: Values) -> SSAValue:
        """What is sorted by, ascending, with the index below it when packed."""
        own, last = d[self.axis], self.size - 1
        x = b.load(t[0], self.along(d, b.minimum(own, last) if self.padded > self.size else own))
        key = self._ascending(b, x)
        key = b.binary("xor", key, -1) if self.largest else key
        if self.padded > self.size:
            key = b.select(b.compare("lt", own, self.size), key, 2**31 - 1 if self.packed else GREATEST)
        return b.binary("or", b.binary("shl", key, 32), b.from_index(own)) if self.packed else key

    def _ascending(self, b: Body, x: SSAValue) -> SSAValue:
        """An i64 in the order of the values (of 32 bits where that is all there are); NaN is the greatest."""
        if isinstance(x.type, AnyFloat):
            value = widen(b, x, self.kind)
            width = 64 if self.kind == f64 else 32
            whole = IntegerType(width)
            bits = b.emit(arith.BitcastOp(b.add(value, 0.0), whole))  # + 0 makes one zero of the two
            folded = b.binary("xor", bits, b.binary("and", b.binary("shr", bits, width - 1), 2 ** (width - 1) - 1))
            key = b.select(b.compare("uno", value, value), 2 ** (width - 1) - 1, folded)
            return b.convert(key, whole, i64)
        key = b.convert(x, self.kind, i64)
        if is_unsigned(self.kind):  # as signed numbers
            width = self.kind.width.data if isinstance(self.kind, IntegerType) else 64
            return b.binary("xor", key, LEAST) if width == 64 else b.sub(key, 2 ** (width - 1))
        return key

    def _before(self, b: Body, d: Values, t: Values, left: SSAValue, right: SSAValue) -> SSAValue:
        """Whether one item comes before another."""
        if self.packed:
            return b.compare("lt", left, right)
        u, v = (b.load(t[-1], self.along(d, b.check_index(b.to_index(item), self.padded))) for item in (left, right))
        tie = b.binary("and", b.compare("eq", u, v), b.compare("lt", left, right))
        return b.binary("or", b.compare("lt", u, v), tie)

    def _generic(self, extent: int, items: SSAValue, body: fused.BodyFn, *, reduction: int = 0) -> fused.GenericOp:
        """An operation on the items, and on the keys where those lie beside."""
        operands = [items] if self.keys is None else [items, self.keys]
        if not reduction:
            return fused.generic("TopK", self._type(extent), operands, body)
        return fused.generic("TopK", self._type(extent), operands, body, reduction=[reduction], combiner="add")

    def along(self, d: Values, index: SSAValue) -> list[SSAValue]:
        """The indices of the result with another one along the axis."""
        return [*d[: self.axis], index, *d[self.axis + 1 : len(self.shape)]]

    def _type(self, extent: int) -> AnyTensor:
        return like(tensor(self.x), (*self.shape[: self.axis], extent, *self.shape[self.axis + 1 :]), i64)


PATTERNS: Sequence[type[Pattern]] = (LowerTopK,)
