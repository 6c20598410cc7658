"""Operations that put tensors one behind the other as they are: their parts may be made where they lie in the result."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, tile
from gecc.passes.fused.to_tile.affine import linear, load_address, physical_order, strides_of
from gecc.passes.fused.to_tile.launch import element_bytes
from gecc.passes.fused.to_tile.ranges import range_start
from gecc.rewrite import Pattern, Rewriter

LEAST_BYTES = 1024
"""Smaller results are copied by one kernel: a launch for each part costs more than the bytes."""


class RangeJoin(Pattern):
    """A Concat whose operands lie one behind the other in the result, most of them made by kernels, becomes a tile.join."""

    ops: ClassVar = (fused.GenericOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.GenericOp)
        parts = worth_joining(op)
        if parts is not None:
            rw.replace(op, tile.JoinOp(parts, op.result_type))


def worth_joining(op: fused.GenericOp) -> list[SSAValue] | None:
    """The parts that `op` puts one behind the other, when kernels can make at least half of the bytes in their place."""
    parts = joined_parts(op)
    if parts is None:
        return None
    total = sum(_bytes(part) for part in parts)
    roots = dict.fromkeys(root for part in parts if (root := _maker(part, op)) is not None)
    return parts if total >= LEAST_BYTES and 2 * sum(_bytes(root) for root in roots) >= total else None


def _maker(part: SSAValue, op: Operation) -> SSAValue | None:
    """The result of a kernel beside `op` that is the part, seen through views; None when there is none."""
    root = part
    while isinstance(root.owner, fused.ViewOp | tile.ViewOp):
        root = root.owner.operands[0]
    owner = root.owner
    if (
        not isinstance(owner, fused.FusedOp | tile.JoinOp)
        or owner.parent is not op.parent
        or _bytes(root) != _bytes(part)
    ):
        return None
    if isinstance(owner, fused.GenericOp) and range_start(owner) is not None:
        return None  # a view to be
    if any(isinstance(use.operation, ReturnOp | fused.YieldOp) for use in root.uses):
        return None  # lies in the caller's memory
    return root


def _bytes(value: SSAValue) -> int:
    assert isinstance(value.type, TensorType)
    return prod(value.type.get_shape()) * element_bytes(value.type)


_LESS = 2
"""arith.cmpi slt."""


def joined_parts(op: fused.GenericOp) -> list[SSAValue] | None:
    """The operands that `op` puts one behind the other, in order; None when it does anything else.

    What a Concat is lowered to: `select(i < end, part[i - start], select(...))`, the indices clamped to the part.
    """
    result = op.result_type
    if op.reduction_domain or len(op.inputs) < 2 or not prod(result.get_shape()):
        return None
    block, rank = op.body.block, len(op.domain)
    indices: list[SSAValue] = list(block.args[:rank])
    tensors: list[SSAValue] = list(block.args[rank:])
    last = block.last_op
    value = last.operands[0] if last is not None else None
    loads: list[tuple[fused.LoadOp, int, int]] = []
    axis, start = -1, 0
    while value is not None and isinstance(select := value.owner, arith.SelectOp):
        test, load = select.cond.owner, select.lhs.owner
        if (
            not isinstance(test, arith.CmpiOp)
            or test.predicate.value.data != _LESS
            or not isinstance(load, fused.LoadOp)
        ):
            return None
        end = linear(test.rhs, ())
        if end is None or end.constant <= start:
            return None
        if test.lhs not in indices or axis not in (-1, indices.index(test.lhs)):
            return None
        axis = indices.index(test.lhs)
        loads.append((load, start, end.constant))
        value, start = select.rhs, end.constant
    if axis < 0 or value is None or not isinstance(load := value.owner, fused.LoadOp) or start >= op.domain[axis]:
        return None
    loads.append((load, start, op.domain[axis]))
    order = physical_order(result)
    if any(op.domain[dim] > 1 for dim in order[: order.index(axis)]):
        return None
    strides = strides_of(result)
    parts: list[SSAValue] = []
    for load, start, end in loads:
        part = op.inputs[tensors.index(load.source)]
        bounds = {d: (0, n - 1) for d, n in zip(indices, op.domain, strict=True)} | {indices[axis]: (start, end - 1)}
        address = load_address(load, indices, bounds)
        if address is None or fused.element_of(part) != result.get_element_type():
            return None
        first = address.constant + sum(c * bounds[d][0] for d, c in address.terms.items())
        moves = {d: c for d, c in address.terms.items() if bounds[d][0] < bounds[d][1]}
        wanted = {d: s for d, s in zip(indices, strides, strict=True) if s and bounds[d][0] < bounds[d][1]}
        if first or moves != wanted or prod(fused.shape_of(part)) != (end - start) * strides[axis]:
            return None
        parts.append(part)
    return parts
