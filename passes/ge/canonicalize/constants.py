"""Arithmetic with constants: neutral elements, constants to the right, one operator for each function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.const import dense
from gecc.dialects.ge.types import FLOAT, INTEGER, UNSIGNED, broadcast, elem, layout, tensor
from gecc.passes.ge.canonicalize.types import is_constant, result_type
from gecc.rewrite import Pattern, Rewriter, miss
from gecc.weights import WeightStore, store_of

if TYPE_CHECKING:
    import numpy as np


def patterns(ctx: Context) -> list[Pattern]:
    """The rules of this file. Constants are read from the context's weight store."""
    store = store_of(ctx)
    return [
        CommuteConstants(),
        DropNeutral(store),
        MulMinusOneToNeg(store),
        SubToAdd(store),
        DivToMul(store),
        PowToMul(store),
        MergeIntegerConstants(store),
    ]


class _Reader(Pattern):
    """A rule that reads constants."""

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def small(self, value: SSAValue) -> np.ndarray | None:
        """The elements of a row-major constant that is held in the IR, else None."""
        owner = value.owner
        if not isinstance(owner, ge.Const) or isinstance(owner.value, ge.WeightAttr) or layout(tensor(value)):
            return None
        return self.store.array(owner.value)

    def all_equal(self, value: SSAValue, number: float) -> bool:
        """Whether `value` is a constant whose elements are all `number`."""
        owner = value.owner
        if not isinstance(owner, ge.Const) or elem(value) not in (*FLOAT, *INTEGER):
            return False
        array = self.store.array(owner.value)
        # the first element settles it for nearly every weight
        return array.size > 0 and bool(array.flat[0] == number) and bool((array == number).all())


class CommuteConstants(Pattern):
    """`f(constant, x)`: `f(x, constant)`, for commutative f."""

    ops = (ge.Add, ge.Mul, ge.Maximum, ge.Minimum, ge.Equal, ge.LogicalAnd, ge.LogicalOr, ge.LogicalXor)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        first, second = op.operands
        if is_constant(first) and not is_constant(second):
            op.operands = [second, first]
            rw.notify_op_modified(op)


class DropNeutral(_Reader):
    """`x + 0`, `x - 0`, `x * 1`, `x / 1`, `x ^ 1`: `x`."""

    ops = (ge.Add, ge.Sub, ge.Mul, ge.RealDiv, ge.Pow)
    neutral: dict[type[Operation], float] = {ge.Add: 0, ge.Sub: 0, ge.Mul: 1, ge.RealDiv: 1, ge.Pow: 1}

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, constant = op.operands
        if not self.all_equal(constant, self.neutral[type(op)]):
            return
        if x.type != op.results[0].type:
            return miss(op, "the constant broadcasts {} to {}", x.type, op.results[0].type)
        rw.replace(op, (), [x])


class MulMinusOneToNeg(_Reader):
    """`x * -1`: `Neg(x)`."""

    ops = (ge.Mul,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, constant = op.operands
        if elem(x) in UNSIGNED or not self.all_equal(constant, -1):
            return
        if x.type != op.results[0].type:
            return miss(op, "the constant broadcasts {} to {}", x.type, op.results[0].type)
        rw.replace(op, ge.Neg(x))


class SubToAdd(_Reader):
    """`x - c`: `x + (-c)`, exact for floats and, modulo 2^n, for integers."""

    ops = (ge.Sub,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, constant = op.operands
        if is_constant(x) or (array := self.small(constant)) is None:
            return
        negated = ge.Const(dense(-array, tensor(constant)))
        rw.replace(op, [negated, ge.Add(x, negated, result_type=result_type(op))])


class DivToMul(_Reader):
    """`x / c`: `x * (1 / c)`, where every element of c is a power of two whose reciprocal is one too."""

    ops = (ge.RealDiv,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        import numpy as np

        x, constant = op.operands
        if elem(x) not in FLOAT or is_constant(x) or (array := self.small(constant)) is None:
            return
        wide = array.astype(np.float64)
        mantissa, exponent = np.frexp(wide)
        # from 2^-14 to 2^14 the reciprocal is a normal number in every float type
        if not bool(np.all((np.abs(mantissa) == 0.5) & (np.abs(exponent - 1) <= 14))):
            return miss(op, "the divisor is no power of two, multiplying by its reciprocal would round")
        factor = ge.Const(dense((1.0 / wide).astype(array.dtype), tensor(constant)))
        rw.replace(op, [factor, ge.Mul(x, factor, result_type=result_type(op))])


class PowToMul(_Reader):
    """`x ^ 2`: `x * x`."""

    ops = (ge.Pow,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        x, exponent = op.operands
        if not self.all_equal(exponent, 2):
            return
        if x.type != op.results[0].type:
            return miss(op, "the exponent broadcasts {} to {}", x.type, op.results[0].type)
        rw.replace(op, ge.Mul(x, x))


class MergeIntegerConstants(_Reader):
    """`(x + a) + b`: `x + (a + b)`, and the same with `*`, for integers, whose arithmetic modulo 2^n is associative."""

    ops = (ge.Add, ge.Mul)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        import numpy as np

        between, outer = op.operands
        inner = between.owner
        if not isinstance(elem(outer), IntegerType) or not isinstance(inner, type(op)):
            return
        x, inside = inner.operands
        first, second = self.small(inside), self.small(outer)
        if first is None or second is None or is_constant(x):
            return
        if layout(tensor(x)) is not None or math.prod(broadcast(first.shape, second.shape)) > max(
            first.size, second.size
        ):
            return miss(op, "constants {} and {} together are larger than each", first.shape, second.shape)
        # numpy warns of overflow in scalar arithmetic only
        with np.errstate(over="ignore"):
            value = first + second if isinstance(op, ge.Add) else first * second
        merged = ge.Const(dense(np.asarray(value, dtype=first.dtype)))
        again = ge.Add if isinstance(op, ge.Add) else ge.Mul
        rw.replace(op, [merged, again(x, merged, result_type=result_type(op))], absorbed=[inner])
