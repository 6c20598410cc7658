"""Merging fused operations: loads of an operand give way to what computes it, and epilogues grow by their consumer.

The scalar regions of the merged operation are written anew through `Body`, so equal loads and equal scalar work
appear once, and index arithmetic that becomes constant is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from gecc.dialects.fused import (
    Body,
    ConvOp,
    FusedOp,
    GenericOp,
    LoadOp,
    MatmulOp,
    YieldOp,
    shape_of,
)

Values: TypeAlias = Sequence[SSAValue]
MAX_OPERANDS = 24
MAX_REGION_OPS = 400
MAX_LABEL = 60


@dataclass(frozen=True)
class Source:
    """What stands for loads of an operand: `write(body, indices, tensor arguments of inputs)` gives the scalar."""

    inputs: Values
    write: Callable[[Body, Values, Values], SSAValue]


Finish: TypeAlias = Callable[[Body, Values, SSAValue, Mapping[SSAValue, SSAValue]], SSAValue]
"""(body, indices, value so far, operand -> tensor argument) -> the value to yield."""


def fixed_operands(op: FusedOp) -> int:
    """How many leading operands the anchor itself reads; regions may load from the others only by choice."""
    return 2 if isinstance(op, MatmulOp | ConvOp) else 0


def is_pointwise(op: Operation) -> bool:
    """Whether `op` is a fused.generic without reduction."""
    return isinstance(op, GenericOp) and op.reduction is None


def loads_of(op: FusedOp, value: SSAValue) -> list[tuple[int, LoadOp]]:
    """All loads of an operand in the regions of `op`, each with the number of its region; not what anchors read."""
    found: list[tuple[int, LoadOp]] = []
    for number, region in enumerate(op.regions):
        first = len(region.block.args) - len(op.operands)
        for position, operand in enumerate(op.operands):
            if operand is value and position >= fixed_operands(op):
                uses = [use.operation for use in region.block.args[first + position].uses]
                found += [(number, use) for use in uses if isinstance(use, LoadOp)]
    return found


def is_zero(value: SSAValue) -> bool:
    """Whether a scalar is the index constant 0."""
    return (
        isinstance(value.owner, arith.ConstantOp)
        and isinstance(value.owner.value, IntegerAttr)
        and value.owner.value.value.data == 0
    )


def is_plain(load: LoadOp, shape: Sequence[int]) -> bool:
    """Whether a load reads at the region's own leading indices (0 will do where the extent is 1)."""
    if len(load.indices) != len(shape):
        return False
    return all(
        (isinstance(index, BlockArgument) and index.index == position) or (extent == 1 and is_zero(index))
        for position, (index, extent) in enumerate(zip(load.indices, shape, strict=True))
    )


class Refusal(NamedTuple):
    """Why a rule does not apply: a format string and its arguments, as `miss` takes them."""

    reason: str
    args: tuple[object, ...] = ()


def absorbable(anchor: FusedOp) -> GenericOp | Refusal:
    """The pointwise operation that can move into the epilogue of `anchor`, or why there is none."""
    users = list(dict.fromkeys(use.operation for use in anchor.result.uses))
    if len(users) != 1:
        return Refusal("result has {} users, need 1", (len(users),))
    consumer = users[0]
    if not isinstance(consumer, GenericOp) or not is_pointwise(consumer):
        return Refusal("user is {}, need a pointwise fused.generic", (consumer.name,))
    if consumer.parent is not anchor.parent:
        return Refusal("user {} is in another region, which may run more often", (consumer.label.data,))
    if not same_type(anchor.result, consumer.result.type):
        return Refusal("user has result {}, need the anchor's {}", (consumer.result.type, anchor.result.type))
    if not all(is_plain(load, anchor.result_type.get_shape()) for _, load in loads_of(consumer, anchor.result)):
        return Refusal("user {} reads the result at computed indices", (consumer.label.data,))
    return consumer


def generic_source(op: GenericOp) -> Source:
    """The body of a pointwise operation, in place of loads of its result."""
    block = op.body.block

    def write(b: Body, indices: Values, tensors: Values) -> SSAValue:
        rank = len(op.domain)
        assert len(indices) == rank
        mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, [*indices, *tensors], strict=True))
        return copy_ops(b, block, mapping)

    return Source(op.inputs, write)


def copy_ops(
    b: Body,
    block: Block,
    mapping: dict[SSAValue, SSAValue],
    replace: Mapping[SSAValue, Callable[[Body, Values], SSAValue]] | None = None,
) -> SSAValue:
    """Copy the operations of a region's block; returns what it yields. `replace` writes loads of some arguments."""
    for op in block.ops:
        if isinstance(op, YieldOp):
            return mapping[op.values[0]]
        if isinstance(op, LoadOp) and replace is not None and op.source in replace:
            mapping[op.result] = replace[op.source](b, [mapping[index] for index in op.indices])
        else:
            mapping[op.results[0]] = b.copy(op, [mapping[operand] for operand in op.operands])
    raise AssertionError("a region without fused.yield")


def merged(
    op: FusedOp,
    label: str,
    *,
    replace: Mapping[SSAValue, Source] | None = None,
    extra: Values = (),
    finish: Finish | None = None,
    result_type: TensorType | None = None,
) -> FusedOp:
    """A new operation like `op` where loads of the operands in `replace` are written by their sources.

    `extra` are more operands; `finish` computes on from what the last region yields. Operands that no region loads
    and the anchor does not read are dropped.
    """
    replace = replace or {}
    fixed = fixed_operands(op)
    operands: list[SSAValue] = list(op.operands[:fixed])
    tail: dict[SSAValue, int] = {}

    def place(value: SSAValue) -> None:
        if value not in tail:
            tail[value] = len(operands)
            operands.append(value)

    for operand in op.operands[fixed:]:
        for value in replace[operand].inputs if operand in replace else (operand,):
            place(value)
    for value in extra:
        place(value)

    blocks: list[Block] = []
    for number, region in enumerate(op.regions):
        last = number == len(op.regions) - 1
        blocks.append(_rewritten(op, region.block, operands, tail, replace, finish if last else None))
    used = [
        position
        for position in range(len(operands))
        if position < fixed or any(block.args[len(block.args) - len(operands) + position].uses for block in blocks)
    ]
    for block in blocks:
        first = len(block.args) - len(operands)
        for position in reversed(range(len(operands))):
            if position not in used:
                block.erase_arg(block.args[first + position])
    return type(op).create(
        operands=[operands[position] for position in used],
        result_types=[result_type or op.result_type],
        properties={**op.properties, "label": StringAttr(label)},
        attributes=dict(op.attributes),
        regions=[Region(block) for block in blocks],
    )


def _rewritten(
    op: FusedOp,
    old: Block,
    operands: Values,
    tail: Mapping[SSAValue, int],
    replace: Mapping[SSAValue, Source],
    finish: Finish | None,
) -> Block:
    fixed = fixed_operands(op)
    leading = old.args[: len(old.args) - len(op.operands)]
    block = Block(arg_types=[*(arg.type for arg in leading), *(value.type for value in operands)])
    tensors = block.args[len(leading) :]
    mapping: dict[SSAValue, SSAValue] = dict(zip(leading, block.args, strict=False))
    for new, arg in zip(block.args, leading, strict=False):
        new.name_hint = arg.name_hint
    for position, new in enumerate(tensors):
        new.name_hint = f"t{position}"
    writers: dict[SSAValue, Callable[[Body, Values], SSAValue]] = {}
    for position, operand in enumerate(op.operands):
        arg = old.args[len(leading) + position]
        if position < fixed:
            mapping[arg] = tensors[position]
        elif operand in replace:
            source = replace[operand]
            writers[arg] = _writer(source, [tensors[tail[value]] for value in source.inputs])
        else:
            mapping[arg] = tensors[tail[operand]]
    b = Body(block)
    value = copy_ops(b, old, mapping, writers)
    if finish is not None:
        indices = [arg for arg in block.args[: len(leading)] if isinstance(arg.type, IndexType)]
        value = finish(b, indices, value, {operand: tensors[position] for operand, position in tail.items()})
    b.finish(value)
    return block


def _writer(source: Source, tensors: Values) -> Callable[[Body, Values], SSAValue]:
    return lambda b, indices: source.write(b, indices, tensors)


def work(op: FusedOp) -> int:
    """A rough count of instructions for one point of a pointwise operation: transcendental functions weigh most."""
    total = 0
    for inner in op.regions[0].block.ops:
        if isinstance(inner, _HEAVY):
            total += 10
        elif isinstance(inner, arith.DivfOp | math.SqrtOp | math.RsqrtOp):
            total += 4
        elif not isinstance(inner, LoadOp | YieldOp | arith.ConstantOp) and not isinstance(
            inner.results[0].type, IndexType
        ):
            total += 1
    return total


_HEAVY = (
    math.ExpOp, math.ErfOp, math.TanhOp, math.LogOp, math.Log1pOp, math.PowFOp, math.SinOp, math.CosOp, math.TanOp,
    math.AsinOp, math.AcosOp, math.AtanOp, math.SinhOp, math.CoshOp, math.AsinhOp, math.AcoshOp, math.AtanhOp,
)  # fmt: skip


def evaluations(op: FusedOp, value: SSAValue) -> int:
    """How many elements of operand `value` one execution of `op` loads, counting repeated ones."""
    domain = prod(op.result_type.get_shape())
    total = 0
    for number in range(len(op.regions)):
        distinct = {tuple(load.indices) for found, load in loads_of(op, value) if found == number}
        points = domain
        if isinstance(op, GenericOp) and number == 0:
            points *= prod(op.reduction_domain)
        total += len(distinct) * points
    return total


def elements(value: SSAValue) -> int:
    """The number of elements of a tensor."""
    return prod(shape_of(value))


def too_large(*made: FusedOp) -> str | None:
    """Why a merged operation exceeds a limit, None when none does; the new operations are then discarded."""
    for op in made:
        count = max(len(region.block.ops) for region in op.regions)
        if len(op.operands) > MAX_OPERANDS:
            reason = f"{len(op.operands)} operands, limit {MAX_OPERANDS}"
        elif count > MAX_REGION_OPS:
            reason = f"{count} scalar operations in a region, limit {MAX_REGION_OPS}"
        else:
            continue
        for discarded in made:
            discarded.erase()
        return reason
    return None


def joined(*labels: str) -> str:
    """The name of a merged operation, cut at a word when it grows too long."""
    name = "".join(labels)
    if len(name) <= MAX_LABEL:
        return name
    cut = MAX_LABEL - 3
    while cut > 0 and not name[cut].isupper():
        cut -= 1
    return f"{name[:cut]}Etc"


def same_type(value: SSAValue, type: Attribute) -> bool:
    """Whether a value has exactly this shape and layout (its element type may differ)."""
    assert isinstance(value.type, TensorType)
    return (
        isinstance(type, TensorType)
        and value.type.get_shape() == type.get_shape()
        and value.type.encoding == type.encoding
    )
