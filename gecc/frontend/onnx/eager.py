"""Shape inference that keeps up with the import, so that every node is decided upon with all that can be known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import Builder
from gecc.passes.ge.infer_shapes import infer_operations
from gecc.passes.ge.infer_shapes.values import Values


class Eager:
    """Runs ge-infer-shapes on operations as they are appended to a block whose arguments have static shapes.

    An import function then sees static shapes, and constants where a value follows from shapes; a shape that depends
    on data is found at the node that needs it.
    """

    def __init__(self, build: Builder, arguments: Sequence[SSAValue]) -> None:
        self._build = build
        self._values = Values(build.store, arguments, ())
        self._replaced: dict[SSAValue, SSAValue] = {}
        self._last: dict[Block, Operation | None] = {build.block: None}
        """The last operation of each block that was inferred; regions in the making are blocks like the main one."""
        self._begin: Operation | None = None
        self._stopped = False

    def begin(self) -> None:
        """Infer what was appended so far, and note this place for `roll_back`."""
        self.catch_up()
        self._begin = self._build.block.last_op

    def catch_up(self) -> None:
        """Infer everything appended to the current block since the last call.

        Raises ShapeError, DataDependentShape among them.
        """
        if self._stopped:
            return
        block = self._build.block
        if block not in self._last:
            self._last[block] = None
            for arg in block.args:
                self._values.enter(arg, [None] * ge.rank(arg))
        infer_operations(_behind(block, self._last[block]), self._values, self._replaced)
        self._last[block] = block.last_op

    def stop(self) -> None:
        """From here on shapes are left as the import functions give them."""
        self._stopped = True

    def latest(self, value: SSAValue) -> SSAValue:
        """The value that stands for `value` now."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def roll_back(self) -> None:
        """Erase everything appended since `begin`."""
        block = self._build.block
        for op in reversed(_behind(block, self._begin)):
            drop_strays(op.results, block)
            block.erase_op(op)
        self._last[block] = self._begin


def _behind(block: Block, last: Operation | None) -> list[Operation]:
    """The operations of a block behind `last`, or all."""
    op = block.first_op if last is None else last.next_op
    found: list[Operation] = []
    while op is not None:
        found.append(op)
        op = op.next_op
    return found


def drop_strays(values: Sequence[SSAValue], block: Block) -> None:
    """Forget the uses of `values` by operations that are not in `block`: those of an attempt that was given up."""
    for value in values:
        for use in list(value.uses):
            if not _within(use.operation, block):
                use.operation.drop_all_references()


def _within(op: Operation, block: Block) -> bool:
    """Whether `op` stands in `block` or in a region of what does."""
    parent = op.parent
    while parent is not None and parent is not block:
        outer = parent.parent_op()
        parent = None if outer is None else outer.parent
    return parent is block
