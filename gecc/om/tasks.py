"""TASK_INFO: tasks <-> domi.ModelTaskDef.

A launch is a KERNEL task, a host call a KERNEL_EX task, a jump LABEL_SET, LABEL_GOTO or STREAM_LABEL_SWITCH_BY_INDEX. The
end of a phase is an EVENT_RECORD and an EVENT_WAIT of the event numbered by the phase. What a task touches is encoded by
`gecc.om.arguments`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import assert_never

from gecc.errors import OmError
from gecc.om.arguments import (
    KERNEL_OPERANDS_AT,
    pack_host,
    pack_kernel,
    pack_switch,
    parse_host,
    parse_kernel,
    parse_switch,
)
from gecc.om.records import GotoTask, HostTask, KernelTask, LabelTask, OmModel, SwitchTask, Task
from gecc.om.schema import DecodeError, Message, ModelTaskDef

KERNEL, EVENT_RECORD, EVENT_WAIT, KERNEL_EX = 0, 1, 2, 5  # TaskDef.type
LABEL_SET, LABEL_GOTO, LABEL_SWITCH = 9, 11, 23
HOST_CPU = 8  # KernelContext.kernel_type
VERSION = "1.0"

_ARGS_OFFSET = struct.pack("<H", KERNEL_OPERANDS_AT)

NodeOf = Callable[[int], "int | None"]
"""From the OpDef.id of a node to its index; None for an op that is no node."""


def encode_tasks(model: OmModel, op_id: Callable[[int], int]) -> bytes:
    """The partition for a verified model; `op_id` gives the OpDef.id of a node."""
    out = ModelTaskDef(
        version=VERSION,
        memory_size=model.arena_bytes,
        weight_size=model.weights.size,
        stream_num=1,
        event_num=max(0, model.phases - 1),
    )
    phase = 0
    for task in model.tasks:
        while phase < task.phase:
            out.task.add(id=len(out.task), type=EVENT_RECORD, event_id=phase)
            out.task.add(id=len(out.task), type=EVENT_WAIT, event_id=phase)
            phase += 1
        _encode(out.task.add(id=len(out.task)), task, op_id(task.op_index))
    return out.SerializeToString(deterministic=True)


def _encode(out: Message, task: Task, op_index: int) -> None:
    match task:
        case KernelTask():
            out.type = KERNEL
            kernel = out.kernel
            kernel.stub_func = task.label
            kernel.block_dim = task.blocks
            kernel.args = pack_kernel(task)
            kernel.args_size = len(kernel.args)
            kernel.kernel_name = task.kernel
            kernel.context.kernel_type = HOST_CPU
            kernel.context.op_index = op_index
            kernel.context.args_offset = _ARGS_OFFSET
            kernel.context.args_count = len(task.operands)
        case LabelTask():
            out.type = LABEL_SET
            out.label_set.op_index = op_index
            out.label_set.label_id = task.number
        case GotoTask():
            out.type = LABEL_GOTO
            out.label_goto_ex.op_index = op_index
            out.label_goto_ex.label_id = task.target
        case SwitchTask():
            out.type = LABEL_SWITCH
            out.label_switch_by_index.op_index = op_index
            out.label_switch_by_index.label_max = len(task.targets)
            out.private_def = pack_switch(task)
        case HostTask():
            out.type = KERNEL_EX
            out.kernel_ex.op_index = op_index
            out.kernel_ex.args = pack_host(task)
            out.kernel_ex.args_size = len(out.kernel_ex.args)
            out.kernel_ex.task_info = task.label.encode()
            out.kernel_ex.task_info_size = len(out.kernel_ex.task_info)
        case _:
            assert_never(task)


def decode_tasks(data: memoryview, node_of: NodeOf, where: str) -> tuple[Message, tuple[Task, ...]]:
    """The partition's message and its tasks; `node_of` is the inverse of `op_id`. Raises OmError."""
    try:
        proto = ModelTaskDef.FromString(data.tobytes())
    except DecodeError as e:
        raise OmError(f"TASK_INFO is not domi.ModelTaskDef: {e}", where=where) from None
    if proto.version != VERSION:
        raise OmError(f"TASK_INFO has version '{proto.version}', expected '{VERSION}'", where=where)
    tasks: list[Task] = []
    phase = 0
    recorded = False  # an EVENT_RECORD whose EVENT_WAIT must come next
    for i, task in enumerate(proto.task):
        place = f"{where}, task {i}"
        if task.type == (EVENT_WAIT if recorded else EVENT_RECORD):
            if task.event_id != phase:
                raise OmError(f"the event is {task.event_id}, expected {phase}, the phase that ends", where=place)
            phase += recorded
            recorded = not recorded
        elif task.type in _DECODERS and not recorded:
            tasks.append(_DECODERS[task.type](task, phase, node_of, place))
        else:
            known = "KERNEL, KERNEL_EX, LABEL_SET, LABEL_GOTO, STREAM_LABEL_SWITCH_BY_INDEX or EVENT_RECORD"
            expected = "EVENT_WAIT after EVENT_RECORD" if recorded else known
            raise OmError(f"the task has type {task.type}, expected {expected}", where=place)
    if recorded:
        raise OmError("the last task is an EVENT_RECORD, expected its EVENT_WAIT", where=where)
    return proto, tuple(tasks)


def _node(op_index: int, node_of: NodeOf, where: str) -> int:
    node = node_of(op_index)
    if node is None:
        raise OmError(f"op_index is {op_index}, which is no computing node of the graph", where=where)
    return node


def _decode_kernel(task: Message, phase: int, node_of: NodeOf, where: str) -> KernelTask:
    kernel, context = task.kernel, task.kernel.context
    where = f"{where} ('{kernel.stub_func}')"
    if context.kernel_type != HOST_CPU:
        raise OmError(f"kernel_type is {context.kernel_type}, expected {HOST_CPU} (HOST_CPU)", where=where)
    if context.args_offset != _ARGS_OFFSET:
        raise OmError(f"args_offset is {context.args_offset.hex()}, expected {_ARGS_OFFSET.hex()}", where=where)
    args = kernel.args
    if kernel.args_size != len(args):
        raise OmError(f"args_size is {kernel.args_size}, the argument block has {len(args)} bytes", where=where)
    operands, n_outs, params = parse_kernel(args, where)
    if context.args_count != len(operands):
        raise OmError(f"args_count is {context.args_count}, the block has {len(operands)} operands", where=where)
    node = _node(context.op_index, node_of, where)
    return KernelTask(kernel.kernel_name, kernel.stub_func, node, phase, kernel.block_dim, operands, params, n_outs)


def _decode_label(task: Message, phase: int, node_of: NodeOf, where: str) -> LabelTask:
    return LabelTask(task.label_set.label_id, _node(task.label_set.op_index, node_of, where), phase)


def _decode_goto(task: Message, phase: int, node_of: NodeOf, where: str) -> GotoTask:
    return GotoTask(task.label_goto_ex.label_id, _node(task.label_goto_ex.op_index, node_of, where), phase)


def _decode_switch(task: Message, phase: int, node_of: NodeOf, where: str) -> SwitchTask:
    index, targets = parse_switch(task.private_def, where)
    if task.label_switch_by_index.label_max != len(targets):
        stated = task.label_switch_by_index.label_max
        raise OmError(f"label_max is {stated}, the task has {len(targets)} labels", where=where)
    return SwitchTask(index, targets, _node(task.label_switch_by_index.op_index, node_of, where), phase)


def _decode_host(task: Message, phase: int, node_of: NodeOf, where: str) -> HostTask:
    call = task.kernel_ex
    try:
        label = call.task_info.decode()
    except UnicodeDecodeError as e:
        raise OmError(f"task_info is no text in UTF-8: {e.reason} at byte {e.start}", where=where) from None
    where = f"{where} ('{label}')"
    for name, stated, found in (
        ("args_size", call.args_size, len(call.args)),
        ("task_info_size", call.task_info_size, len(call.task_info)),
    ):
        if stated != found:
            raise OmError(f"{name} is {stated}, expected {found}", where=where)
    program, ins, outs = parse_host(call.args, where)
    return HostTask(label, _node(call.op_index, node_of, where), phase, program, ins, outs)


_DECODERS: dict[int, Callable[[Message, int, NodeOf, str], Task]] = {
    KERNEL: _decode_kernel,
    KERNEL_EX: _decode_host,
    LABEL_SET: _decode_label,
    LABEL_GOTO: _decode_goto,
    LABEL_SWITCH: _decode_switch,
}
