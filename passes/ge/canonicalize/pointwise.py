"""Pointwise operators that do nothing, undo or repeat each other. No constant is looked at here."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, Signedness
from xdsl.ir import Attribute, Operation

from gecc.dialects import ge
from gecc.dialects.ge.types import elem
from gecc.passes.ge.canonicalize.types import result_type
from gecc.rewrite import Pattern, Rewriter, miss


def patterns() -> list[Pattern]:
    """The rules of this file."""
    return [
        DropIdentity(),
        MergeCasts(),
        CancelInvolutions(),
        MergeIdempotents(),
        MergeSameOperands(),
        SwapNegatedSelect(),
    ]


class DropIdentity(Pattern):
    """`Identity(x)`, and `Cast(x)` to the type that x has: `x`."""

    ops = (ge.Identity, ge.Cast)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, result = op.operands[0], op.results[0]
        if x.type == result.type:
            rw.replace(op, (), [x])


class MergeCasts(Pattern):
    """`Cast(Cast(x))`: one Cast, where the type between holds every value of x's type."""

    ops = (ge.Cast,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        between = op.operands[0]
        inner = between.owner
        if not isinstance(inner, ge.Cast):
            return
        source, middle, target = elem(inner.x), elem(between), elem(op.results[0])
        if not holds_all(middle, source):
            return miss(op, "{} does not hold every value of {}", middle, source)
        if isinstance(middle, _FLOATS) and not isinstance(source, _FLOATS) and target != source:
            if not isinstance(target, _FLOATS):
                return miss(op, "from {} to {} by way of {} is not the direct conversion", source, target, middle)
        rw.replace(op, ge.Cast(inner.x, target))


_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)
_SIGNIFICANT_BITS: dict[type[Attribute], int] = {BFloat16Type: 8, Float16Type: 11, Float32Type: 24, Float64Type: 53}


def holds_all(wide: Attribute, narrow: Attribute) -> bool:
    """Whether element type `wide` represents every value of element type `narrow` exactly."""
    if wide == narrow:
        return True
    if isinstance(narrow, _FLOATS):
        # between bf16 and f16 neither holds the other
        pair = {type(wide), type(narrow)}
        if not isinstance(wide, _FLOATS) or pair == {Float16Type, BFloat16Type}:
            return False
        return _SIGNIFICANT_BITS[type(wide)] > _SIGNIFICANT_BITS[type(narrow)]
    if not isinstance(narrow, IntegerType):
        return False
    bits, signed = _integer_bits(narrow)
    if isinstance(wide, _FLOATS):
        return bits <= _SIGNIFICANT_BITS[type(wide)]
    if not isinstance(wide, IntegerType) or wide.width.data == 1:
        return False
    wide_bits, wide_signed = _integer_bits(wide)
    return wide_bits >= bits and (wide_signed or not signed)


def _integer_bits(kind: IntegerType) -> tuple[int, bool]:
    """Bits of magnitude of an integer type, and whether it has negative values. i1 is 0 or 1."""
    width = kind.width.data
    signed = width > 1 and kind.signedness.data != Signedness.UNSIGNED
    return width - signed, signed


class CancelInvolutions(Pattern):
    """`Neg(Neg(x))`, `LogicalNot(LogicalNot(x))`: `x`."""

    ops = (ge.Neg, ge.LogicalNot)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, type(op)):
            rw.replace(op, (), [inner.operands[0]])


class MergeIdempotents(Pattern):
    """`f(f(x))`: `f(x)`, for what changes nothing the second time."""

    ops = (ge.Relu, ge.Abs, ge.Floor, ge.Ceil, ge.Round, ge.Sign)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, type(op)):
            rw.replace(op, (), [op.operands[0]])


class MergeSameOperands(Pattern):
    """`Maximum(x, x)`, `Minimum(x, x)`, `LogicalAnd(x, x)`, `LogicalOr(x, x)`, `Select(c, x, x)`: `x`."""

    ops = (ge.Maximum, ge.Minimum, ge.LogicalAnd, ge.LogicalOr, ge.Select)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        first, second = op.operands[-2:]
        if first is not second:
            return
        if first.type != op.results[0].type:
            return miss(op, "the condition broadcasts {} to {}", first.type, op.results[0].type)
        rw.replace(op, (), [first])


class SwapNegatedSelect(Pattern):
    """`Select(LogicalNot(c), a, b)`: `Select(c, b, a)`."""

    ops = (ge.Select,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        negation = op.operands[0].owner
        if isinstance(negation, ge.LogicalNot):
            _, first, second = op.operands
            rw.replace(op, ge.Select(negation.operands[0], second, first, result_type=result_type(op)))
