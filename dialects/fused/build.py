"""Building fused operations from Python functions that write their regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from gecc.dialects.fused.base import INDEX
from gecc.dialects.fused.body import Body
from gecc.dialects.fused.generic_op import GenericOp

Values: TypeAlias = Sequence[SSAValue]
BodyFn: TypeAlias = Callable[[Body, Values, Values], SSAValue]
"""(body, indices, tensors) -> value; for a reduction the indices are the parallel ones, then the reduction's."""
EpilogueFn: TypeAlias = Callable[[Body, Values, SSAValue, Values], SSAValue]
"""(body, indices, anchor's scalar, tensors) -> value."""


def region(indices: int, tensors: Sequence[Attribute], write: BodyFn) -> Region:
    """A region with `indices` index arguments and one argument for each tensor type."""
    block = Block(arg_types=[*([INDEX] * indices), *tensors])
    _hint(block, indices, 0)
    body = Body(block)
    body.finish(write(body, block.args[:indices], block.args[indices:]))
    return Region(block)


def epilogue_region(indices: int, scalar: Attribute, tensors: Sequence[Attribute], write: EpilogueFn) -> Region:
    """A region with index arguments, the anchor's scalar, and one argument for each tensor type."""
    block = Block(arg_types=[*([INDEX] * indices), scalar, *tensors])
    _hint(block, indices, 1)
    body = Body(block)
    body.finish(write(body, block.args[:indices], block.args[indices], block.args[indices + 1 :]))
    return Region(block)


def generic(
    label: str,
    result_type: TensorType,
    inputs: Values,
    body: BodyFn,
    *,
    reduction: Sequence[int] = (),
    combiner: str | None = None,
    epilogue: EpilogueFn | None = None,
) -> GenericOp:
    """A fused.generic; with `reduction`, `epilogue` defaults to the reduced value itself.

    A reduction over a single element is none: its indices are 0, and the epilogue follows in the body.
    """
    if reduction and prod(reduction) == 1:
        return generic(label, result_type, inputs, _unreduced(body, epilogue, len(reduction)))
    rank, types = result_type.get_num_dims(), [value.type for value in inputs]
    body_region = region(rank + len(reduction), types, body)
    if not reduction:
        return GenericOp(label, inputs, result_type, body_region)
    last = body_region.block.last_op
    assert last is not None
    write = epilogue or (lambda b, i, acc, t: acc)
    return GenericOp(
        label,
        inputs,
        result_type,
        body_region,
        reduction=reduction,
        combiner=combiner,
        epilogue=epilogue_region(rank, last.operands[0].type, types, write),
    )


def _unreduced(body: BodyFn, epilogue: EpilogueFn | None, dimensions: int) -> BodyFn:
    def write(b: Body, d: Values, t: Values) -> SSAValue:
        value = body(b, [*d, *[b.index(0)] * dimensions], t)
        return value if epilogue is None else epilogue(b, d, value, t)

    return write


def broadcast_load(b: Body, tensor: SSAValue, indices: Values, domain: Sequence[int] | None = None) -> SSAValue:
    """Load at the last indices, with 0 in dimensions of extent 1: numpy broadcasting to the domain of `indices`.

    With the extents of that domain, an index that can only be 0 stays itself.
    """
    assert isinstance(tensor.type, TensorType)
    shape = tensor.type.get_shape()
    tail = indices[len(indices) - len(shape) :]
    extents = [0] * len(shape) if domain is None else domain[len(domain) - len(shape) :]
    return b.load(
        tensor,
        [0 if own == 1 != full else index for own, full, index in zip(shape, extents, tail, strict=True)],
    )


def _hint(block: Block, indices: int, scalars: int) -> None:
    for position, arg in enumerate(block.args):
        if position < indices:
            arg.name_hint = f"d{position}"
        elif position < indices + scalars:
            arg.name_hint = "acc"
        else:
            arg.name_hint = f"t{position - indices - scalars}"
