"""ge-cse: compute equal things once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove, is_side_effect_free

from gecc.dialects import ge
from gecc.rewrite import fuse_locations

COMMUTATIVE: tuple[type[Operation], ...] = (
    ge.Add,
    ge.Mul,
    ge.Maximum,
    ge.Minimum,
    ge.Equal,
    ge.LogicalAnd,
    ge.LogicalOr,
    ge.LogicalXor,
)
"""Operators whose operands may be exchanged without changing any bit of a result that is a number."""

Known = dict[tuple[object, ...], Operation]


@dataclass(frozen=True)
class CsePass(ModulePass):
    """Replace an operation that computes what an earlier one has computed already.

    ```mlir
    %0 = ge.Add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a")
    %1 = ge.Add(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("b")
    %2 = ge.Mul(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %0 = ge.Add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(fused["a", "b"])
    %2 = ge.Mul(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    Needs: the same operator, properties, attributes, result types and operands (in any order where the operator is
    commutative), no side effects and no regions. The earlier operation must dominate the later one.
    """

    name = "ge-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge equal operations in `op`."""
        _merge_regions(op, {})


def _merge_regions(op: Operation, known: Known) -> None:
    """Merge inside the regions of `op`. What is known outside holds inside, never the other way round."""
    visible = {} if op.has_trait(IsolatedFromAbove, value_if_unregistered=False) else known
    for region in op.regions:
        for block in region.blocks:
            # with several blocks only what is known outside is sure to dominate
            _merge_block(block, dict(visible))


def _merge_block(block: Block, known: Known) -> None:
    for op in tuple(block.ops):
        if op.regions:
            _merge_regions(op, known)
            continue
        if not op.results or not is_side_effect_free(op):
            continue
        key = _key(op)
        earlier = known.setdefault(key, op)
        if earlier is op:
            continue
        earlier.location = fuse_locations([earlier.location, op.location])
        for old, new in zip(op.results, earlier.results, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        block.erase_op(op)


def _key(op: Operation) -> tuple[object, ...]:
    """What two operations that may be merged have in common."""
    operands: tuple[SSAValue, ...] | frozenset[SSAValue] = tuple(op.operands)
    if isinstance(op, COMMUTATIVE):
        # of two operands: a set is {a} for (a, a) and {a, b} for both orders
        operands = frozenset(operands)
    return (
        op.name,
        operands,
        tuple(op.result_types),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
    )
