"""Matrix products -> fused.matmul, the bias in the epilogue."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import dims, elem, row_major, tensor
from gecc.passes.ge.to_fused._common import gather_map, moves_nothing
from gecc.rewrite import Pattern, Rewriter


def bias_epilogue(element: Attribute, accumulator: Attribute, *, dimension: int, bias: int | None) -> fused.EpilogueFn:
    """The epilogue `acc + bias[d[dimension]]` for a result and a bias of `element`; `bias` is its operand's position."""

    def write(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        if bias is not None:
            acc = b.add(acc, b.convert(b.load(t[bias], [d[dimension]]), element, accumulator))
        return b.convert(acc, accumulator, element)

    return write


class LowerMatMul(Pattern):
    """ge.MatMulV2. A transposed left operand is transposed by an operation of its own first."""

    ops = (ge.MatMulV2,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.MatMulV2)
        element = elem(op.a)
        new_ops: list[Operation] = []
        a = op.a
        if op.transpose_x1.value.data:
            shape = dims(a)
            swapped = row_major((*shape[:-2], shape[-1], shape[-2]), element)
            perm = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            new_ops.append(transpose_op(a, swapped, perm))
            a = new_ops[-1].results[0]
        extras = [op.bias] if op.bias is not None else []
        result = tensor(op.result)
        rank = result.get_num_dims()
        accumulator = fused.accumulator_type(element)
        epilogue = fused.epilogue_region(
            rank,
            accumulator,
            [a.type, op.b.type, *(extra.type for extra in extras)],
            bias_epilogue(elem(op.result), accumulator, dimension=rank - 1, bias=2 if extras else None),
        )
        new_ops.append(
            fused.MatmulOp("MatMulV2", a, op.b, extras, result, epilogue, transpose_b=bool(op.transpose_x2.value.data))
        )
        rw.replace(op, new_ops)


def transpose_op(x: SSAValue, result: TensorType, perm: Sequence[int], label: str = "Transpose") -> Operation:
    """`result[d] = x[..]` where result dimension i is dimension perm[i] of x; a view when no byte moves."""
    if moves_nothing(tensor(x), result, perm):
        return fused.ViewOp(x, result)
    inverse = [list(perm).index(d) for d in range(len(perm))]
    return gather_map(label, x, result, lambda b, d: [d[i] for i in inverse])


PATTERNS: Sequence[type[Pattern]] = (LowerMatMul,)
