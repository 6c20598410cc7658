"""Control flow in the graph of launches: regions on tensors, labels and jumps on memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from gecc.dialects._control import BranchOp, LoopOp
from gecc.dialects.tile.kernel import YieldOp


@irdl_op_definition
class IfOp(BranchOp):
    """A branch among launches on tensors; regions end in tile.yield."""

    name = "tile.if"
    TERMINATOR: ClassVar[type[Operation]] = YieldOp


@irdl_op_definition
class WhileOp(LoopOp):
    """A loop of launches on tensors; its region ends in tile.yield: condition, carried values, rows."""

    name = "tile.while"
    TERMINATOR: ClassVar[type[Operation]] = YieldOp


class Jump(IRDLOperation):
    """A step of a graph on memory that launches nothing. `phase` is set by the schedule; it is alone in its phase."""

    phase = opt_prop_def(IntegerAttr.constr(type=i64))
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class LabelOp(Jump):
    """A place to jump to: `tile.label 0`. Going on into it does nothing. Each number occurs once."""

    name = "tile.label"
    label = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$label (`phase` $phase^)? attr-dict"

    def __init__(self, label: int) -> None:
        super().__init__(properties={"label": IntegerAttr(label, i64)})


@irdl_op_definition
class GotoOp(Jump):
    """Goes on at a label: `tile.goto 0`."""

    name = "tile.goto"
    label = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$label (`phase` $phase^)? attr-dict"

    def __init__(self, label: int) -> None:
        super().__init__(properties={"label": IntegerAttr(label, i64)})


@irdl_op_definition
class SwitchOp(Jump):
    """Goes on at the label whose place in the list the integer in memory says: `tile.switch %c [1, 0] : memref<i1>`.

    The integer is of 1, 4 or 8 bytes. One that is out of range ends the run with an error.
    """

    name = "tile.switch"
    index = operand_def(base(MemRefType))
    labels = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$index $labels (`phase` $phase^)? attr-dict `:` type($index)"

    def __init__(self, index: SSAValue, labels: Sequence[int]) -> None:
        super().__init__(operands=[index], properties={"labels": DenseArrayBase.from_list(i64, list(labels))})

    def verify_(self) -> None:
        if not self.labels.get_values():
            raise VerifyException("tile.switch: has no labels, expected at least one")
