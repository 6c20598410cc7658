"""Movement of an operand that its user can do by itself: Expand, Transpose of a matrix, padding."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.dialects.ge.pointwise import TABLE, Unary
from gecc.dialects.ge.types import broadcast, dims, rank
from gecc.passes.ge.canonicalize.types import is_row_major, result_type
from gecc.rewrite import Pattern, Rewriter, miss
from gecc.weights import WeightStore, store_of


def patterns(ctx: Context) -> list[Pattern]:
    """The rules of this file. Constants are read from the context's weight store."""
    return [BroadcastInPlace(), TransposedRightOperand(), PadIntoConv(store_of(ctx))]


class BroadcastInPlace(Pattern):
    """`f(Expand(x), y)`: `f(x, y)`, where f broadcasts x just so."""

    ops = tuple(op for op in TABLE if not issubclass(op, Unary) and op is not ge.ClipByValue)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        for index, operand in enumerate(op.operands):
            expand = operand.owner
            if not isinstance(expand, ge.Expand):
                continue
            operands = [*op.operands[:index], expand.x, *op.operands[index + 1 :]]
            if not all(is_row_major(value) for value in operands):
                miss(op, "operands have a layout, which only those of full rank may have")
            elif broadcast(*(dims(value) for value in operands)) != dims(op.results[0]):
                miss(op, "without the Expand the result would not be {}", op.results[0].type)
            else:
                made = op.clone()
                made.operands = operands
                made.location = UnknownLoc()
                return rw.replace(op, made, absorbed=[expand])


class TransposedRightOperand(Pattern):
    """`MatMulV2(a, Transpose(b))`, the last two dimensions exchanged: the operator reads b transposed."""

    ops = (ge.MatMulV2,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.MatMulV2)
        transpose = op.b.owner
        if not isinstance(transpose, ge.Transpose):
            return
        n = rank(op.b)
        perm = list(transpose.perm.get_values())
        if perm != [*range(n - 2), n - 1, n - 2]:
            return miss(op, "perm {} moves more than the last two dimensions", perm)
        made = ge.MatMulV2(
            op.a,
            transpose.x,
            op.bias,
            transpose_x1=bool(op.transpose_x1.value.data),
            transpose_x2=not op.transpose_x2.value.data,
            result_type=result_type(op),
        )
        rw.replace(op, made, absorbed=[transpose])


class PadIntoConv(Pattern):
    """`Conv2D(Pad(x))`, zeros around height and width: the convolution pads."""

    ops = (ge.Conv2D,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Conv2D)
        pad = op.x.owner
        if not isinstance(pad, ge.Pad):
            return
        pads = pad.pads.get_values()
        top, left, bottom, right = (pads[i] for i in (2, 3, 6, 7))
        if pad.mode.data != "constant" or not self._is_zero(pad):
            return miss(op, "the Pad fills by mode {} or not with zero", pad.mode.data)
        if any(pads[i] for i in (0, 1, 4, 5)) or min(pads) < 0:
            return miss(op, "pads {} change batch or channels, or remove elements", list(pads))
        made = ge.Conv2D(
            pad.x,
            op.w,
            op.bias,
            strides=op.strides.get_values(),
            pads=[a + b for a, b in zip(op.pads.get_values(), (top, left, bottom, right), strict=True)],
            dilations=op.dilations.get_values(),
            group=op.group.value.data,
            result_type=result_type(op),
        )
        rw.replace(op, made, absorbed=[pad])

    def _is_zero(self, pad: ge.Pad) -> bool:
        if pad.value is None:
            return True
        owner = pad.value.owner
        return isinstance(owner, ge.Const) and not self.store.array(owner.value).any()
