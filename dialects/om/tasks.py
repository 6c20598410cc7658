"""The program's side of an om: the functions of the kernel blob, and the tasks in the container's own words."""

from __future__ import annotations

from abc import abstractmethod
from typing import assert_never

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, prop_def

from gecc.dialects.om.attrs import (
    HostTensorAttr,
    MemAttr,
    ObjectAttr,
    Text,
    host_attr,
    int_array,
    ints_of,
    text_of,
)
from gecc.om.records import GotoTask, HostTask, KernelEntry, KernelTask, LabelTask, SwitchTask, Task


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
                "label": StringAttr(entry.name),
                "offset": IntegerAttr(entry.offset, i64),
                "size": IntegerAttr(entry.size, i64),
            }
        )

    @property
    def record(self) -> KernelEntry:
        """What the container says of it."""
        return KernelEntry(text_of(self.label), self.offset.value.data, self.size.value.data)


class TaskOp(IRDLOperation):
    """A task that computes or jumps. Its phase is the number of event waits before it."""

    @abstractmethod
    def record(self, phase: int) -> Task:
        """What the container says of it."""


def task_op(task: Task) -> TaskOp:
    """The operation for a task."""
    match task:
        case KernelTask():
            return KernelOp(task)
        case LabelTask():
            return LabelOp(task)
        case GotoTask():
            return GotoOp(task)
        case SwitchTask():
            return SwitchOp(task)
        case HostTask():
            return HostOp(task)
        case _:
            assert_never(task)


@irdl_op_definition
class KernelOp(TaskOp):
    """A KERNEL task: one launch of an entry for node number `node`, over `blocks` blocks.

    `ins` are read, `outs` written; `params` are the integer arguments after them.
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
                "kernel": StringAttr(task.kernel),
                "label": StringAttr(task.label),
                "node": IntegerAttr(task.op_index, i64),
                "blocks": IntegerAttr(task.blocks, i64),
                "ins": ArrayAttr(MemAttr.of(o) for o in task.ins),
                "outs": ArrayAttr(MemAttr.of(o) for o in task.outs),
                "params": int_array(task.params),
            }
        )

    def record(self, phase: int) -> KernelTask:
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


@irdl_op_definition
class LabelOp(TaskOp):
    """A LABEL_SET task: a place to jump to."""

    name = "om.label"
    number = prop_def(IntegerAttr.constr(type=i64))
    node = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$number `node` $node attr-dict"

    def __init__(self, task: LabelTask) -> None:
        super().__init__(properties={"number": IntegerAttr(task.number, i64), "node": IntegerAttr(task.op_index, i64)})

    def record(self, phase: int) -> LabelTask:
        return LabelTask(self.number.value.data, self.node.value.data, phase)


@irdl_op_definition
class GotoOp(TaskOp):
    """A LABEL_GOTO task: a jump."""

    name = "om.goto"
    target = prop_def(IntegerAttr.constr(type=i64))
    node = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$target `node` $node attr-dict"

    def __init__(self, task: GotoTask) -> None:
        super().__init__(properties={"target": IntegerAttr(task.target, i64), "node": IntegerAttr(task.op_index, i64)})

    def record(self, phase: int) -> GotoTask:
        return GotoTask(self.target.value.data, self.node.value.data, phase)


@irdl_op_definition
class SwitchOp(TaskOp):
    """A STREAM_LABEL_SWITCH_BY_INDEX task: a jump to the label that the integer in memory chooses."""

    name = "om.switch"
    index = prop_def(MemAttr)
    targets = prop_def(DenseArrayBase.constr(i64))
    node = prop_def(IntegerAttr.constr(type=i64))
    assembly_format = "$index `targets` $targets `node` $node attr-dict"

    def __init__(self, task: SwitchTask) -> None:
        super().__init__(
            properties={
                "index": MemAttr.of(task.index),
                "targets": int_array(task.targets),
                "node": IntegerAttr(task.op_index, i64),
            }
        )

    def record(self, phase: int) -> SwitchTask:
        return SwitchTask(self.index.operand, ints_of(self.targets), self.node.value.data, phase)


@irdl_op_definition
class HostOp(TaskOp):
    """A KERNEL_EX task: a call of the host engine. `program` lies in the weights; values are tensors or objects."""

    name = "om.host"
    label = prop_def(Text)
    node = prop_def(IntegerAttr.constr(type=i64))
    program = prop_def(MemAttr)
    ins = prop_def(ArrayAttr.constr(base(HostTensorAttr) | base(ObjectAttr)))
    outs = prop_def(ArrayAttr.constr(base(HostTensorAttr) | base(ObjectAttr)))
    assembly_format = "$label `node` $node `program` $program `ins` $ins `outs` $outs attr-dict"

    def __init__(self, task: HostTask) -> None:
        super().__init__(
            properties={
                "label": StringAttr(task.label),
                "node": IntegerAttr(task.op_index, i64),
                "program": MemAttr.of(task.program),
                "ins": ArrayAttr(host_attr(v) for v in task.ins),
                "outs": ArrayAttr(host_attr(v) for v in task.outs),
            }
        )

    def record(self, phase: int) -> HostTask:
        return HostTask(
            text_of(self.label),
            self.node.value.data,
            phase,
            self.program.operand,
            tuple(v.value for v in self.ins),
            tuple(v.value for v in self.outs),
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
