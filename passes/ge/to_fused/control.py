"""Branches and loops: the same regions, with the counting of iterations spelled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.errors import PassError
from gecc.rewrite import Pattern, Rewriter, location_names


def _require_static(op: ge.Control) -> None:
    """Raise PassError when a value that crosses a region's border has no static shape."""
    values: list[SSAValue] = [*op.results, *(arg for region in op.regions for arg in region.block.args)]
    for value in values:
        if not isinstance(value.type, TensorType) or not value.type.has_static_shape():
            names = location_names(op)
            what = "a branch" if isinstance(op, ge.If) else "a loop"
            raise PassError(
                f"{what} makes or carries {value.type}, expected a shape that does not depend on data",
                where=f"{op.name} ({', '.join(names) or 'unnamed'})",
            )


def _one_element(value: SSAValue, made: list[Operation]) -> SSAValue:
    """A tensor of one element as one of rank 0."""
    if not ge.dims(value):
        return value
    made.append(ge.Reshape(value, ()))
    return made[-1].results[0]


def _scalar(number: int | bool, made: list[Operation]) -> SSAValue:
    import numpy as np

    made.append(ge.const(np.array(number, np.bool_ if isinstance(number, bool) else np.int64)))
    return made[-1].results[0]


def _both(conditions: Sequence[SSAValue], made: list[Operation]) -> SSAValue:
    """The conjunction of conditions, true when there are none."""
    parts = [value for value in conditions if not ge.is_true(value)]
    if not parts:
        return _scalar(True, made)
    result = _one_element(parts[0], made)
    for other in parts[1:]:
        made.append(ge.LogicalAnd(result, _one_element(other, made)))
        result = made[-1].results[0]
    return result


def _end_with(op: ge.Control, number: int, values: Sequence[SSAValue]) -> None:
    """Replace the end of a region by fused.yield of `values`."""
    block = op.regions[number].block
    last = block.last_op
    assert last is not None
    new = fused.YieldOp(*values)
    new.location = op.location
    block.erase_op(last)
    block.add_op(new)


class LowerIf(Pattern):
    """A branch stays one."""

    ops: ClassVar = (ge.If,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.If)
        _require_static(op)
        for number in range(2):
            _end_with(op, number, list(op.yielded(number)))
        kinds = list(op.result_types)
        else_body, then_body = op.detach_region(op.else_body), op.detach_region(op.then_body)
        new = fused.IfOp(op.condition, kinds, then_body, else_body)
        rw.replace(op, new)


class LowerWhile(Pattern):
    """A loop carries the number of its iteration and computes itself whether it goes on."""

    ops: ClassVar = (ge.While,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.While)
        _require_static(op)
        before: list[Operation] = []
        first = _scalar(0, before)
        starts: list[SSAValue] = [] if op.condition is None else [op.condition]
        trips: SSAValue | None = None
        if op.trips is not None:
            trips = _one_element(op.trips, before)
            known = ge.const_ints(op.trips)
            if known is None or known[0] <= 0:
                before.append(ge.Less(first, trips))
                starts.append(before[-1].results[0])
        condition = _both(starts, before)
        rw.insert_before(op, before)

        block = op.body.block
        last = block.last_op
        assert last is not None
        inside: list[Operation] = []
        goes_on = [op.next_condition]
        inside.append(ge.Add(block.args[0], _scalar(1, inside)))
        number = inside[-1].results[0]
        if trips is not None:
            inside.append(ge.Less(number, trips))
            goes_on.append(inside[-1].results[0])
        again = _both(goes_on, inside)
        values = [again, number, *op.next_values, *op.rows]
        rw.insert_before(last, inside)
        _end_with(op, 0, values)
        kinds = [block.args[0].type, *op.result_types]
        new = fused.WhileOp(condition, [first, *op.inits], kinds, op.detach_region(op.body))
        rw.replace(op, new, new.results[1:])


PATTERNS: tuple[type[Pattern], ...] = (LowerIf, LowerWhile)
