"""Branches and loops: results that nothing uses, and values that a loop carries for nothing."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from gecc.dialects import ge
from gecc.rewrite import Pattern, Rewriter


def patterns() -> list[Pattern]:
    """The rules of this file."""
    return [DropBranchResults(), DropLoopValues()]


class DropBranchResults(Pattern):
    """An If of which some results are not used: one without them."""

    ops = (ge.If,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.If)
        keep = [i for i, result in enumerate(op.results) if result.first_use is not None]
        if not keep or len(keep) == len(op.results):
            return
        for number in range(2):
            _yield_only(op, number, keep)
        new = ge.If.create(
            operands=list(op.operands),
            result_types=[op.result_types[i] for i in keep],
            attributes=dict(op.attributes),
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        rw.replace(op, new, _spread(new, keep, len(op.results)))


class DropLoopValues(Pattern):
    """A While without the rows that nothing uses, and without carried values that nothing uses or that never change.

    A carried value is used when its result is, or when the body reads it.
    """

    ops = (ge.While,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.While)
        count = len(op.inits)
        fixed = [i for i, (arg, new) in enumerate(zip(op.carried, op.next_values, strict=True)) if arg is new]
        for i in fixed:
            op.results[i].replace_all_uses_with(op.inits[i])
            _use_instead(op, i)
        carried = [
            i
            for i, (arg, result) in enumerate(zip(op.carried, op.results, strict=False))
            if i not in fixed and (arg.first_use is not None or result.first_use is not None)
        ]
        rows = [i for i in range(count, len(op.results)) if op.results[i].first_use is not None]
        keep = carried + rows
        if len(keep) == len(op.results) or not keep:
            return
        block = op.body.block
        _yield_only(op, 0, [0, *(1 + i for i in keep)])
        for i in reversed([i for i in range(count) if i not in carried]):
            block.erase_arg(block.args[1 + i])
        new = ge.While.create(
            operands=[x for x in (op.trips, op.condition) if x is not None] + [op.inits[i] for i in carried],
            result_types=[op.result_types[i] for i in keep],
            properties={
                AttrSizedOperandSegments.attribute_name: DenseArrayBase.from_list(
                    i32, [int(op.trips is not None), int(op.condition is not None), len(carried)]
                )
            },
            attributes=dict(op.attributes),
            regions=[op.detach_region(op.body)],
        )
        rw.replace(op, new, _spread(new, keep, len(op.results)))


def _use_instead(op: ge.While, number: int) -> None:
    """Let the body read the first value of a carried value that never changes; its yield keeps the argument."""
    arg, last = op.carried[number], op.body.block.last_op
    for use in list(arg.uses):
        if use.operation is not last or use.index != 1 + number:
            use.operation.operands[use.index] = op.inits[number]


def _yield_only(op: ge.Control, number: int, keep: Sequence[int]) -> None:
    last = op.regions[number].block.last_op
    assert last is not None
    last.operands = [last.operands[i] for i in keep]


def _spread(new: Operation, keep: Sequence[int], count: int) -> list[SSAValue | None]:
    """The new results in the places of the old ones; None for those that are gone."""
    results: list[SSAValue | None] = [None] * count
    for i, result in zip(keep, new.results, strict=True):
        results[i] = result
    return results
