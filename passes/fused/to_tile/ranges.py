"""Operations that copy a range of bytes as it is: views, which need no kernel."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, tile
from gecc.passes.fused.to_tile.affine import region_use, strides_of
from gecc.passes.fused.to_tile.launch import element_bytes
from gecc.rewrite import Pattern, Rewriter


class RangeCopy(Pattern):
    """A copy of consecutive elements, such as a part of a Split along the first dimension, becomes a view of them.

    A view keeps all of its tensor alive, so copies stay where they take less than half of it.
    """

    ops: ClassVar = (fused.GenericOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.GenericOp)
        start = range_start(op)
        if start is None or not _pays(op.inputs[0]) or _is_panel(op.results[0]):
            return
        rw.replace(op, tile.ViewOp(op.inputs[0], op.result_type, start * element_bytes(op.result_type)))


def range_start(op: fused.GenericOp) -> int | None:
    """The element of its one operand from which on `op` copies, in order; None when it does anything else."""
    result = op.result_type
    if op.reduction_domain or len(op.inputs) != 1 or not prod(result.get_shape()):
        return None
    source = op.inputs[0].type
    if not isinstance(source, TensorType) or source.element_type != result.element_type:
        return None
    block, rank = op.body.block, len(op.domain)
    loads = [inner for inner in block.ops if isinstance(inner, fused.LoadOp)]
    end = block.last_op
    if len(loads) != 1 or end is None or list(end.operands) != [loads[0].results[0]]:
        return None
    address = region_use(op.body, rank).addresses.get(loads[0])
    if address is None:
        return None
    indices: list[SSAValue] = list(block.args[:rank])
    extents = dict(zip(indices, op.domain, strict=True))
    wanted = {arg: s for arg, s, n in zip(indices, strides_of(result), op.domain, strict=True) if s and n > 1}
    if {arg: c for arg, c in address.terms.items() if extents[arg] > 1} != wanted:
        return None
    inside = 0 <= address.constant <= prod(source.get_shape()) - prod(result.get_shape())
    return address.constant if inside else None


def _is_panel(value: SSAValue) -> bool:
    """Whether a product may read `value` as its packed side, whose panels start on a cache line, or that is not to be seen.

    A graph input starts anywhere, and so does a view into a buffer.
    """
    for use in value.uses:
        match use.operation:
            case fused.MatmulOp() | fused.ConvOp() if use.index != 1:
                continue
            case fused.GenericOp() | fused.SoftmaxOp() | fused.NormOp() | tile.JoinOp() | ReturnOp():
                continue
            case fused.ViewOp() | tile.ViewOp() as view if not _is_panel(view.results[0]):
                continue
            case _:
                return True
    return False


def _pays(source: SSAValue) -> bool:
    """Whether views of `source` keep little alive that would otherwise die: it is no arena buffer, or most of it is used."""
    if not isinstance(source.owner, Operation) or isinstance(source.owner, fused.ConstOp | tile.WeightOp):
        return True
    assert isinstance(source.type, TensorType)
    users = [use.operation for use in source.uses]
    copies = [user for user in users if isinstance(user, fused.GenericOp) and range_start(user) is not None]
    views = [user for user in users if isinstance(user, tile.ViewOp)]
    taken = sum(prod(user.result_type.get_shape()) for user in copies)
    taken += sum(prod(view.result.type.get_shape()) for view in views if isinstance(view.result.type, TensorType))
    return 2 * taken >= prod(source.type.get_shape())
