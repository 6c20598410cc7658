"""TASK_INFO: tasks <-> domi.ModelTaskDef.

A launch is a KERNEL task. The end of a phase is an EVENT_RECORD and an EVENT_WAIT of the event numbered by the phase. The
argument block of a KERNEL task is four u32 (operands, operands written, params, 0), then per operand u32 space, u32 index,
u64 offset, u64 size, then the params as i64; `args_offset` (u16) says where the operands start.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from gecc.errors import OmError
from gecc.om.records import KernelTask, OmModel, Operand, Space, Task
from gecc.om.schema import DecodeError, Message, ModelTaskDef

KERNEL, EVENT_RECORD, EVENT_WAIT = 0, 1, 2  # TaskDef.type
HOST_CPU = 8  # KernelContext.kernel_type
VERSION = "1.0"

_BLOCK = struct.Struct("<4I")
_OPERAND = struct.Struct("<IIQQ")
_ARGS_OFFSET = struct.pack("<H", _BLOCK.size)
_SPACES = tuple(Space)


def pack_args(task: KernelTask) -> bytes:
    """The argument block of a launch."""
    out = bytearray(_BLOCK.pack(len(task.operands), task.n_outs, len(task.params), 0))
    for o in task.operands:
        out += _OPERAND.pack(o.space, o.index, o.offset, o.size)
    out += struct.pack(f"<{len(task.params)}q", *task.params)
    return bytes(out)


def parse_args(args: bytes, where: str) -> tuple[tuple[Operand, ...], int, tuple[int, ...]]:
    """Operands, how many are written, and params of an argument block. Raises OmError."""
    if len(args) < _BLOCK.size:
        raise OmError(f"the argument block has {len(args)} bytes, expected at least {_BLOCK.size}", where=where)
    n_operands, n_outs, n_params, zero = _BLOCK.unpack_from(args)
    end = _BLOCK.size + n_operands * _OPERAND.size
    expected = end + 8 * n_params  # exact in Python, so it cannot wrap around
    if expected != len(args):
        raise OmError(
            f"an argument block of {n_operands} operands and {n_params} params has {len(args)} bytes, expected {expected}",
            where=where,
        )
    if zero or n_outs > n_operands:
        raise OmError(f"the argument block states {n_outs} of {n_operands} operands written, flags {zero}", where=where)
    operands: list[Operand] = []
    for space, index, offset, size in _OPERAND.iter_unpack(memoryview(args)[_BLOCK.size : end]):
        if space >= len(_SPACES):
            raise OmError(f"operand {len(operands)} is in space {space}, expected 0 to {len(_SPACES) - 1}", where=where)
        operands.append(Operand(_SPACES[space], offset, size, index))
    return tuple(operands), n_outs, struct.unpack_from(f"<{n_params}q", args, end)


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
        args = pack_args(task)
        kernel = out.task.add(id=len(out.task), type=KERNEL).kernel
        kernel.stub_func = task.label
        kernel.block_dim = task.blocks
        kernel.args_size = len(args)
        kernel.args = args
        kernel.kernel_name = task.kernel
        kernel.context.kernel_type = HOST_CPU
        kernel.context.op_index = op_id(task.op_index)
        kernel.context.args_offset = _ARGS_OFFSET
        kernel.context.args_count = len(task.operands)
    return out.SerializeToString(deterministic=True)


def decode_tasks(
    data: memoryview, node_of: Callable[[int], int | None], where: str
) -> tuple[Message, tuple[Task, ...]]:
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
        elif task.type == KERNEL and not recorded:
            tasks.append(_decode_kernel(task.kernel, phase, node_of, place))
        else:
            expected = "EVENT_WAIT after EVENT_RECORD" if recorded else "KERNEL or EVENT_RECORD"
            raise OmError(f"the task has type {task.type}, expected {expected}", where=place)
    if recorded:
        raise OmError("the last task is an EVENT_RECORD, expected its EVENT_WAIT", where=where)
    return proto, tuple(tasks)


def _decode_kernel(kernel: Message, phase: int, node_of: Callable[[int], int | None], where: str) -> KernelTask:
    context = kernel.context
    where = f"{where} ('{kernel.stub_func}')"
    if context.kernel_type != HOST_CPU:
        raise OmError(f"kernel_type is {context.kernel_type}, expected {HOST_CPU} (HOST_CPU)", where=where)
    if context.args_offset != _ARGS_OFFSET:
        raise OmError(f"args_offset is {context.args_offset.hex()}, expected {_ARGS_OFFSET.hex()}", where=where)
    args = kernel.args
    if kernel.args_size != len(args):
        raise OmError(f"args_size is {kernel.args_size}, the argument block has {len(args)} bytes", where=where)
    operands, n_outs, params = parse_args(args, where)
    if context.args_count != len(operands):
        raise OmError(f"args_count is {context.args_count}, the block has {len(operands)} operands", where=where)
    node = node_of(context.op_index)
    if node is None:
        raise OmError(f"op_index is {context.op_index}, which is no computing node of the graph", where=where)
    return KernelTask(kernel.kernel_name, kernel.stub_func, node, phase, kernel.block_dim, operands, params, n_outs)
