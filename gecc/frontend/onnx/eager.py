"""Shape inference that keeps up with the import, so that every node is decided upon with all that can be known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from gecc.frontend.onnx.builder import Builder
from gecc.passes.ge.infer_shapes import infer_operations
from gecc.passes.ge.infer_shapes.values import Values


class Eager:
    """Runs ge-infer-shapes on operations as they are appended to a block whose arguments have static shapes.

    An import function then sees static shapes, and constants where a value follows from shapes; a shape that depends
    on data is found at the node that needs it.
    """

    def __init__(self, build: Builder, arguments: Sequence[SSAValue]) -> None:
        self._block = build.block
        self._values = Values(build.store, arguments, ())
        self._replaced: dict[SSAValue, SSAValue] = {}
        self._last: Operation | None = None
        self._stopped = False

    def catch_up(self) -> None:
        """Infer everything appended since the last call. Raises ShapeError, DataDependentShape among them."""
        if self._stopped:
            return
        infer_operations(self._fresh(self._last), self._values, self._replaced)
        self._last = self._block.last_op

    def stop(self) -> None:
        """From here on shapes are left as the import functions give them."""
        self._stopped = True

    def latest(self, value: SSAValue) -> SSAValue:
        """The value that stands for `value` now."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def roll_back(self) -> None:
        """Erase everything appended since the last successful `catch_up`."""
        for op in reversed(self._fresh(self._last)):
            drop_strays(op.results, self._block)
            self._block.erase_op(op)

    def _fresh(self, last: Operation | None) -> list[Operation]:
        op = self._block.first_op if last is None else last.next_op
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
