"""Types through branches and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Block, SSAValue

from gecc.dialects import ge
from gecc.errors import ShapeError
from gecc.rewrite import location_names

if TYPE_CHECKING:
    from gecc.passes.ge.infer_shapes.values import Values

InferBlock: TypeAlias = "Callable[[Block, Values], None]"
InferTypes: TypeAlias = "Callable[[ge.GeOp, Values], None]"


def infer_control(
    op: ge.Control, values: Values, infer: InferBlock, infer_types: InferTypes, replaced: dict[SSAValue, SSAValue]
) -> None:
    """Infer the types in the regions of `op` and of its results, by what serves other blocks and operators.

    `replaced` is told what took the place of the results of a branch that is known to be taken. Raises ShapeError when a carried value changes its shape from one iteration to the next.
    """
    match op:
        case ge.If():
            known = values.numbers(op.condition)
            if known is not None and known.size == 1:
                taken = op.then_body if known.reshape(-1)[0] else op.else_body
                replaced.update(_inline(op, taken.block, values, infer))
                return
            for region in op.regions:
                infer(region.block, values)
        case ge.While():
            _infer_loop(op, values, infer)
        case _:
            raise AssertionError(op.name)
    infer_types(op, values)
    values.visit(op)


def _inline(op: ge.If, block: Block, values: Values, infer: InferBlock) -> dict[SSAValue, SSAValue]:
    """Put the operations of the branch that is taken in the place of `op`; returns old and new results."""
    infer(block, values)
    last = block.last_op
    assert isinstance(last, ge.Yield)
    pairs: dict[SSAValue, SSAValue] = dict(zip(op.results, last.values, strict=True))
    for old, new in zip(op.results, last.values, strict=True):
        if new.name_hint is None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    block.erase_op(last)
    parent = op.parent
    assert parent is not None
    for inner in list(block.ops):
        inner.detach()
        parent.insert_op_before(inner, op)
    parent.erase_op(op)
    return pairs


def _infer_loop(op: ge.While, values: Values, infer: InferBlock) -> None:
    block = op.body.block
    values.enter(block.args[0], ())
    for arg, init in zip(op.carried, op.inits, strict=True):
        arg._type = ge.tensor(init)  # pyright: ignore[reportPrivateUsage]
        values.enter(arg, values.sizes(init))
    infer(block, values)
    for number, (arg, new) in enumerate(zip(op.carried, op.next_values, strict=True)):
        if (problem := ge.mismatch(new.type, ge.tensor(arg))) is not None:
            names = location_names(op)
            raise ShapeError(
                f"carried value {number} of a loop begins as {arg.type} and becomes {new.type}: {problem}",
                where=f"ONNX node {', '.join(repr(name) for name in names)}" if names else None,
                hint="values that a loop carries must keep their shape",
            )
