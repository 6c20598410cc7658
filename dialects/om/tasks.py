"""The program's side of an om: the functions of the kernel blob, and the tasks in the container's own words."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def

from gecc.dialects.om.attrs import MemAttr, Text, int_array, ints_of, text, text_of
from gecc.om.records import KernelEntry, KernelTask


@irdl_op_definition
class EntryOp(IRDLOperation):
    """A function of the kernel blob: `size` bytes of code at `offset`."""

    name = "om.entry"
    label = prop_def(Text)
    offset = prop_def(IntegerAttr.constr(type=i64))
    size = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$label `at` $offset `size` $size attr-dict"

    def __init__(self, entry: KernelEntry) -> None:
        super().__init__(
            properties={
                "label": text(entry.name),
                "offset": IntegerAttr(entry.offset, i64),
                "size": IntegerAttr(entry.size, i64),
            }
        )

    @property
    def record(self) -> KernelEntry:
        """What the container says of it."""
        return KernelEntry(text_of(self.label), self.offset.value.data, self.size.value.data)


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A KERNEL task: one launch of an entry for node number `node`, over `blocks` blocks.

    `ins` are read, `outs` written; `params` are the integer arguments after them. Its phase is the number of event waits
    before it.
    """

    name = "om.kernel"
    kernel = prop_def(Text)
    label = prop_def(Text)
    node = prop_def(IntegerAttr.constr(type=i64))
    blocks = prop_def(IntegerAttr.constr(type=i64))
    ins = prop_def(ArrayAttr.constr(MemAttr))
    outs = prop_def(ArrayAttr.constr(MemAttr))
    params = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$kernel $label `node` $node `blocks` $blocks `ins` $ins `outs` $outs `params` $params attr-dict"

    def __init__(self, task: KernelTask) -> None:
        super().__init__(
            properties={
                "kernel": text(task.kernel),
                "label": text(task.label),
                "node": IntegerAttr(task.op_index, i64),
                "blocks": IntegerAttr(task.blocks, i64),
                "ins": ArrayAttr(MemAttr.of(o) for o in task.ins),
                "outs": ArrayAttr(MemAttr.of(o) for o in task.outs),
                "params": int_array(task.params),
            }
        )

    def record(self, phase: int) -> KernelTask:
        """What the container says of it."""
        return KernelTask(
            text_of(self.kernel),
            text_of(self.label),
            self.node.value.data,
            phase,
            self.blocks.value.data,
            tuple(m.operand for m in (*self.ins, *self.outs)),
            ints_of(self.params),
            len(self.outs),
        )


class _EventOp(IRDLOperation):
    event = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$event attr-dict"

    def __init__(self, event: int) -> None:
        super().__init__(properties={"event": IntegerAttr(event, i64)})


@irdl_op_definition
class EventRecordOp(_EventOp):
    """An EVENT_RECORD task: a phase ends; the event has the phase's number."""

    name = "om.event_record"


@irdl_op_definition
class EventWaitOp(_EventOp):
    """An EVENT_WAIT task, right after the EVENT_RECORD of the same event: the next phase begins."""

    name = "om.event_wait"
