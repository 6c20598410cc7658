"""Moving what is the same in every iteration out of loops; for the ge and the fused level."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free


def hoist(module: ModuleOp, loops: tuple[type[Operation], ...], may_fail: Callable[[Operation], bool]) -> None:
    """Move operations out of the bodies of `loops` whose operands all come from outside, inner loops first.

    Operations that `may_fail` stay: a loop that runs no times must not.
    """
    for op in reversed([op for op in module.walk() if isinstance(op, loops)]):
        for region in op.regions:
            for inner in list(region.block.ops):
                if _is_movable(inner) and not may_fail(inner) and _is_invariant(inner, region.block):
                    inner.detach()
                    parent = op.parent
                    assert parent is not None
                    parent.insert_op_before(inner, op)


def _is_movable(op: Operation) -> bool:
    return not op.has_trait(IsTerminator, value_if_unregistered=False) and is_side_effect_free(op)


def _is_invariant(op: Operation, body: Block) -> bool:
    """Whether neither `op` nor what is in its regions uses a value made in `body`."""
    return not any(_block_of(value) is body for inner in op.walk() for value in inner.operands)


def _block_of(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent
