"""What xDSL's verifier does not check: that values are defined before use, and that operations know their origin.

xDSL 0.75 accepts a use before its definition, and uses of values from blocks that do not dominate the user; a pass
that breaks the order of operations would pass unseen.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from gecc.gear_module import check_gears


def verify_module(module: ModuleOp, *, locations: bool = False) -> None:
    """Verify `module`: xDSL's verifier, dominance, gears, and with `locations` the origin of every graph operation.

    Raises `VerifyException`.
    """
    module.verify()
    check_dominance(module)
    check_gears(module)
    if locations:
        check_locations(module)


def check_dominance(root: Operation) -> None:
    """Check that every operand of every operation inside `root` is visible and defined before its use.

    Regions of operations isolated from above see only their own values. Raises `VerifyException` naming the user,
    the operand and what is wrong with it.
    """
    for region in root.regions:
        _check_region(region, set())


def _check_region(region: Region, visible: set[SSAValue]) -> None:
    """Check one region given the values visible where it stands; leaves `visible` as it was."""
    blocks = tuple(region.blocks)
    if len(blocks) == 1:
        visible.difference_update(_check_block(blocks[0], visible))
        return
    if not blocks:
        return
    from xdsl.irdl.dominance import DominanceInfo

    dominance = DominanceInfo(region)
    defined = {block: _defined_in(block) for block in blocks}
    for block in blocks:
        seen = set(visible)
        for other in blocks:
            if dominance.strictly_dominates(other, block):
                seen.update(defined[other])
        _check_block(block, seen)


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _check_block(block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Check the operations of a block in order; adds its values to `visible` and returns them."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for op in block.ops:
        for operand in op.operands:
            if operand not in visible:
                raise VerifyException(_misuse(op, operand))
        if op.regions:
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            for region in op.regions:
                _check_region(region, set() if isolated else visible)
        results = op.results
        if results:
            added.extend(results)
            visible.update(results)
    return added


def _misuse(op: Operation, operand: SSAValue) -> str:
    """Say why `operand` may not be used by `op`."""
    index = list(op.operands).index(operand)
    value = f"operand {index} ({'%' + operand.name_hint if operand.name_hint else 'unnamed'}, {operand.type})"
    owner = operand.owner
    if isinstance(owner, Operation):
        source = f"result of '{owner.name}'"
        if owner is op:
            why = "the operation itself"
        elif owner.parent is None:
            why = "an operation that is in no block"
        elif owner.parent is op.parent:
            why = "a later operation of the same block"
        else:
            why = "an operation that does not dominate it"
        return f"'{op.name}' uses {value}, {source}, which is defined by {why}{_place(op)}"
    return f"'{op.name}' uses {value}, a block argument that is not visible here{_place(op)}"


def _place(op: Operation) -> str:
    return "" if isinstance(op.location, UnknownLoc) else f"; at {op.location}"


def graph_operations(module: ModuleOp) -> Iterator[Operation]:
    """Operations standing directly in the blocks of the module's functions, terminators left out."""
    for function in module.body.ops:
        if isinstance(function, FuncOp):
            for block in function.body.blocks:
                for op in block.ops:
                    if not op.has_trait(IsTerminator, value_if_unregistered=False):
                        yield op


def has_provenance(module: ModuleOp) -> bool:
    """Whether the module has graph operations and all of them have a location."""
    locations = [op.location for op in graph_operations(module)]
    return bool(locations) and not any(isinstance(location, UnknownLoc) for location in locations)


def check_locations(module: ModuleOp) -> None:
    """Check that every graph operation has a location. Raises `VerifyException` with all that have none."""
    lost = [op.name for op in graph_operations(module) if isinstance(op.location, UnknownLoc)]
    if lost:
        shown = ", ".join(lost[:8]) + (f" and {len(lost) - 8} more" if len(lost) > 8 else "")
        raise VerifyException(f"{len(lost)} operations have lost their location: {shown}")
