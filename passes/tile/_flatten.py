"""Branches and loops on tensors become labels and jumps among launches on memory.

A loop's carried values have one buffer each, outside the loop. What the body yields is written there directly by the
launch that makes it, when nothing reads the old value from then on; else it is copied at the end of the iteration, all
values as if at once. Rows are copied to their place as soon as they are made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, LocationAttr, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from gecc.dialects.tile import (
    AllocOp,
    GotoOp,
    IfOp,
    LabelOp,
    LaunchOp,
    SwitchOp,
    ViewOp,
    WeightOp,
    WhileOp,
)
from gecc.passes.tile._copy_kernel import copy_launch, row_launch
from gecc.passes.tile._joins import root_of
from gecc.passes.tile._liveness import base_of
from gecc.passes.tile._sizes import ALIGNMENT, memory_bytes


class Bufferizer(Protocol):
    """What writes the other operations on memory."""

    module: ModuleOp
    memory: dict[SSAValue, SSAValue]
    labels: int

    def add(self, op: Operation, location: LocationAttr) -> None:
        """Append an operation on memory."""
        ...

    def operation(self, op: Operation) -> None:
        """Write an operation on memory."""
        ...

    def place(self, tensor: SSAValue, what: str, op: Operation) -> SSAValue:
        """The memory of a tensor that `op` makes."""
        ...

    def bind_to(self, whole: SSAValue, target: SSAValue, location: LocationAttr) -> None:
        """Let a tensor lie in memory of as many bytes."""
        ...


def flatten_if(b: Bufferizer, op: IfOp) -> None:
    """`switch else, then; then: ..; goto end; else: ..; end:`; both branches write the memory of the results."""
    targets = [b.place(result, f"result {i} of a branch", op) for i, result in enumerate(op.results)]
    other, then, end = (_new_label(b) for _ in range(3))
    b.add(SwitchOp(b.memory[op.condition], [other, then]), op.location)
    for label, region in ((then, op.then_body), (other, op.else_body)):
        b.add(LabelOp(label), op.location)
        block, values = region.block, op.yielded(region)
        for value, target in zip(values, targets, strict=True):
            _bind_result(b, block, value, target)
        for inner in block.ops:
            b.operation(inner)
        _assign(b, [b.memory[value] for value in values], targets, op.location)
        if label == then:
            b.add(GotoOp(end), op.location)
    b.add(LabelOp(end), op.location)


def flatten_while(b: Bufferizer, op: WhileOp) -> None:
    """`(switch end, head;) head: body; switch end, head; end:`."""
    block, location = op.body.block, op.location
    results = [b.place(result, f"result {i} of a loop", op) for i, result in enumerate(op.results)]
    carried, wholes = results[: len(op.inits)], results[len(op.inits) :]
    _assign(b, [b.memory[init] for init in op.inits], carried, location)
    for arg, memory in zip(block.args, carried, strict=True):
        b.memory[arg] = memory
    rows = _rows_by_place(op)
    for i, value in enumerate(op.next_values):
        if _may_write_carried(op, i, rows):
            _bind_result(b, block, value, carried[i])

    head, end = _new_label(b), _new_label(b)
    if not _is_true(op.condition):
        b.add(SwitchOp(b.memory[op.condition], [end, head]), location)
    b.add(LabelOp(head), location)
    for place in (None, *block.ops):
        if place is not None:
            b.operation(place)
        for k in rows.get(place, ()):
            row = b.memory[op.rows[k]]
            assert isinstance(row.type, MemRefType)
            b.add(row_launch(b.module, carried[0], row, wholes[k], math.prod(row.type.get_shape())), location)
    again = b.memory[op.next_condition]
    if any(base_of(again)[0] is base_of(memory)[0] for memory in carried):
        # the condition is a carried value, which the assignment below changes
        again = _copied(b, again, location)
    _assign(b, [b.memory[value] for value in op.next_values], carried, location)
    b.add(SwitchOp(again, [end, head]), location)
    b.add(LabelOp(end), location)


def _new_label(b: Bufferizer) -> int:
    b.labels += 1
    return b.labels - 1


def _is_true(condition: SSAValue) -> bool:
    weight = condition.owner
    return (
        isinstance(weight, WeightOp)
        and isinstance(weight.value, DenseIntOrFPElementsAttr)
        and all(bool(v) for v in weight.value.iter_values())
    )


def _bind_result(b: Bufferizer, block: Block, value: SSAValue, target: SSAValue) -> None:
    """Let what makes `value`, if that is an operation of `block`, write to `target`, unless it has a place."""
    from gecc.passes.tile.bufferize import viewed_whole

    whole = viewed_whole(value)
    if whole is not None and whole not in b.memory and isinstance(whole.owner, Operation):
        if whole.owner.parent is block:
            b.bind_to(whole, target, whole.owner.location)


def _maker(block: Block, value: SSAValue) -> Operation | None:
    """The operation of `block` that makes the bytes of `value`; None for an argument or a value from outside."""
    value = root_of(value)
    return value.owner if isinstance(value.owner, Operation) and value.owner.parent is block else None


def _rows_by_place(op: WhileOp) -> dict[Operation | None, list[int]]:
    """Rows by the operation of the body after which they are there; None is the begin of the body."""
    found: dict[Operation | None, list[int]] = {}
    block = op.body.block
    for k, row in enumerate(op.rows):
        place = _maker(block, row)
        if place is not None and isinstance(row.owner, ViewOp):
            place = row.owner if row.owner.parent is block else place
        found.setdefault(place, []).append(k)
    return found


def _may_write_carried(op: WhileOp, number: int, rows: dict[Operation | None, list[int]]) -> bool:
    """Whether the maker of the next value `number` may write it over the old one: nothing reads that any more."""
    block = op.body.block
    maker = _maker(block, op.next_values[number])
    if maker is None or list(op.next_values).index(op.next_values[number]) != number:
        return False
    old = _aliases(block.args[number])
    order = {inner: i for i, inner in enumerate(block.ops)}
    if number == 0 and any(place is not None and order[place] >= order[maker] for place in rows):
        return False  # a row's place is read from the first carried value
    ends = (op.next_condition, *(v for i, v in enumerate(op.next_values) if i != number))
    if any(value in old for value in ends):
        return False
    late_rows = [op.rows[k] for place, ks in rows.items() for k in ks if place is not None and op.rows[k] in old]
    if late_rows:
        return False  # an alias made in the body, copied behind it
    for value in old:
        for use in value.uses:
            user: Operation = use.operation
            while user.parent is not block:
                parent = user.parent_op()
                assert parent is not None
                user = parent
            if isinstance(user, ViewOp) or user is block.last_op:
                continue
            if user is maker:
                if not isinstance(user, LaunchOp) or user is not use.operation:
                    return False
                if use.index not in user.inplace.get_values() or len(user.results_) != 1:
                    return False
            elif order[user] > order[maker]:
                return False
    return True


def _aliases(value: SSAValue) -> list[SSAValue]:
    """`value` and all views of it."""
    found = [value]
    for each in found:
        found += [use.operation.result for use in each.uses if isinstance(use.operation, ViewOp)]
    return found


def _copied(b: Bufferizer, source: SSAValue, location: LocationAttr) -> SSAValue:
    assert isinstance(source.type, MemRefType)
    alloc = AllocOp(memory_bytes(source.type), source.type, ALIGNMENT)
    b.add(alloc, location)
    b.add(copy_launch(b.module, source, alloc.result, math.prod(source.type.get_shape())), location)
    return alloc.result


def _assign(b: Bufferizer, sources: Sequence[SSAValue], targets: Sequence[SSAValue], location: LocationAttr) -> None:
    """Copy each source to its target, as if all at once: no target is written while another source lies in it."""
    # a source of its target's own memory is a view of all of it
    pending = [(s, t) for s, t in zip(sources, targets, strict=True) if base_of(s)[0] is not base_of(t)[0]]
    while pending:
        for i, (source, target) in enumerate(pending):
            others = [s for k, (s, _) in enumerate(pending) if k != i]
            if all(base_of(other)[0] is not base_of(target)[0] for other in others):
                assert isinstance(target.type, MemRefType)
                b.add(copy_launch(b.module, source, target, math.prod(target.type.get_shape())), location)
                del pending[i]
                break
        else:
            source, target = pending[0]
            pending[0] = (_copied(b, source, location), target)
