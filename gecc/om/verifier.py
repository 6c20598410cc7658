"""What must hold of an `OmModel` before it is written and after it was read.

Run on every load. A model that passes can be executed without any further check of its data: every operand lies in its
space, every name and number refers to something, and launches of one phase do not disturb each other. What the machine code
does with its arguments is the compiler's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from gecc.errors import OmError
from gecc.om.gears import GEAR, check_table, in_gear, regions
from gecc.om.phases import check_phase
from gecc.om.records import (
    INT64,
    ITEMSIZE,
    MAX_RANK,
    RESERVED_TYPES,
    SWITCH_SIZES,
    WEIGHT_ALIGNMENT,
    GotoTask,
    HostTask,
    HostTensor,
    HostValue,
    IoDesc,
    KernelEntry,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    SwitchTask,
    is_object,
)

MAX_BYTES = 1 << 46
"""Greatest size of anything; sums of a few such sizes still fit 64 bits."""

MAX_BLOCKS = (1 << 32) - 1

MAX_SLOTS = 1 << 20
"""Most objects of a run."""

ABI_OF_JUMPS = 2
"""The first calling convention whose dispatcher knows other tasks than kernels."""


def verify(model: OmModel, where: str = "the model", *, blob_size: int | None = None) -> None:
    """Check everything that is data. Raises OmError: what is wrong, what was found, what was expected.

    `blob_size` stands for the size of a blob that is not at hand.
    """
    _Verifier(model, where, memoryview(model.blob).nbytes if blob_size is None else blob_size).run()


def check_abi(abi: int, supported: range, where: str) -> None:
    """Refuse a calling convention that this runtime does not keep, naming both numbers. Raises OmError."""
    if abi not in supported:
        known = f"{supported.start} to {supported[-1]}" if len(supported) > 1 else str(supported.start)
        newer = abi >= supported.stop
        raise OmError(
            f"the file's ABI is {abi}, this runtime supports {known}",
            where=where,
            hint="install a newer gecc" if newer else "compile the model again",
        )


class _Verifier:
    def __init__(self, model: OmModel, where: str, blob_size: int) -> None:
        self.model = model
        self.where = where
        self.blob_size = blob_size
        self.rooms: dict[tuple[Space, int], int] = {}
        """Bytes of each input and output: of its greatest gear, or of the gear whose tasks are looked at."""

    def fail(self, message: str, place: str = "", part: str = "") -> NoReturn:
        """`part` of `place` is wrong. Put together here alone: a file's names may be long, and its lists as well."""
        raise OmError(message, where=", ".join(text for text in (self.where, place, part) if text))

    def run(self) -> None:
        self.figures()
        self.interface()
        self.weights()
        self.kernels()
        self.graph()
        self.tasks()

    def extent(self, value: int, what: str, place: str = "") -> None:
        if not 0 <= value <= MAX_BYTES:
            self.fail(f"{what} is {value}, expected 0 to {MAX_BYTES}", place)

    def array(self, dtype: str, shape: Sequence[int], place: str, part: str = "") -> int:
        """Bytes of a dense array; its type must be known, its rank and its size sane.

        Extents count even beside one of 0: numpy multiplies them all the same.
        """
        if dtype not in ITEMSIZE:
            self.fail(f"element type is '{dtype}', expected one of {', '.join(ITEMSIZE)}", place, part)
        if len(shape) > MAX_RANK:
            self.fail(f"the shape has {len(shape)} dimensions, expected at most {MAX_RANK}", place, part)
        size = ITEMSIZE[dtype]
        for dim in shape:
            if dim < 0:
                self.fail(f"shape is {list(shape)}, expected extents of at least 0", place, part)
            size *= dim or 1
            if size > MAX_BYTES:
                found = f"shape {list(shape)} of {dtype} needs {size} bytes or more"
                self.fail(f"{found}, expected at most {MAX_BYTES}", place, part)
        return 0 if 0 in shape else size

    def unique(self, names: Iterable[str], what: str) -> None:
        seen: dict[str, int] = {}
        for i, name in enumerate(names):
            if seen.setdefault(name, i) != i:
                self.fail(f"{what} {seen[name]} and {i} have the same name '{name}'")

    def figures(self) -> None:
        self.extent(self.model.arena_bytes, "arena_bytes")
        self.extent(self.model.scratch_bytes, "scratch_bytes")
        self.extent(self.model.abi, "abi")
        if not 0 <= self.model.slots <= MAX_SLOTS:
            self.fail(f"slots is {self.model.slots}, expected 0 to {MAX_SLOTS}")

    def interface(self) -> None:
        check_table(self.model, self.fail)
        for kind, descs in (("input", self.model.inputs), ("output", self.model.outputs)):
            for i, io in enumerate(descs):
                if io.slot == -1:
                    for shape in io.shapes or (io.shape,):
                        self.array(io.dtype, shape, f"{kind} {i} '{io.name}'")
                else:
                    self.object_io(io, f"{kind} {i} '{io.name}'")
            self.unique((io.name for io in descs), f"{kind}s")
        for i, io in enumerate(self.model.inputs):
            if io.source is not None:
                self.fail(f"an input has source {io.source}, expected none", f"input {i} '{io.name}'")

    def object_io(self, io: IoDesc, place: str) -> None:
        """A graph input or output that is an object."""
        if any(d < -1 for d in io.shape):
            self.fail(f"shape is {list(io.shape)}, expected extents from -1", place)
        self.object(io.slot, io.dtype, place)

    def object(self, slot: int, kind: str, place: str, part: str = "") -> None:
        if not 0 <= slot < self.model.slots:
            self.fail(f"is in slot {slot}, expected one of the {self.model.slots}", place, part)
        if not is_object(kind):
            self.fail(f"the type of an object is '{kind}', expected an ONNX type such as 'tensor(string)'", place, part)

    def weights(self) -> None:
        weights = self.model.weights
        self.extent(weights.size, "weights.size")
        if weights.view is not None and weights.view.nbytes != weights.size:
            self.fail(f"WEIGHTS_DATA has {weights.view.nbytes} bytes, expected {weights.size}")
        end = 0
        for i, w in enumerate(weights.entries):
            place = f"weight {i} '{w.name}'"
            size = self.array(w.dtype, w.shape, place)
            if w.size != size:
                self.fail(f"size is {w.size}, expected {size} for shape {list(w.shape)} of {w.dtype}", place)
            if w.offset < WEIGHT_ALIGNMENT or w.offset % WEIGHT_ALIGNMENT:
                self.fail(f"offset is {w.offset}, expected a positive multiple of {WEIGHT_ALIGNMENT}", place)
            if w.offset < end:
                self.fail(f"offset is {w.offset}, expected at least {end}, the end of the weight before", place)
            if w.offset > weights.size or w.size > weights.size - w.offset:
                self.fail(f"{w.size} bytes at {w.offset} do not fit the {weights.size} of WEIGHTS_DATA", place)
            end = w.offset + w.size
        if weights.size != end:
            self.fail(f"WEIGHTS_DATA has {weights.size} bytes, expected {end}, the end of the last weight")

    def kernels(self) -> None:
        size = self.blob_size
        before = (-1, "")
        end = 0
        last: KernelEntry | None = None
        for i, k in enumerate(self.model.kernels):
            place = f"kernel {i} '{k.name}'"
            if not 0 <= k.offset < size or not 0 < k.size <= size - k.offset:
                what = "text" if self.model.portable else "code"
                self.fail(f"{k.size} bytes of {what} at {k.offset} do not fit the blob's {size}", place)
            if (k.offset, k.name) <= before:
                self.fail(
                    f"comes at {k.offset} after '{before[1]}' at {before[0]}, expected order by offset, name", place
                )
            # Else a small blob would be many great kernels. Code may have several names.
            same = not self.model.portable and last is not None and (k.offset, k.size) == (last.offset, last.size)
            if k.offset < end and not same:
                self.fail(f"starts at {k.offset} of the blob, expected at least {end}, the end of '{before[1]}'", place)
            before, end, last = (k.offset, k.name), k.offset + k.size, k
        self.unique((k.name for k in self.model.kernels), "kernels")
        if self.model.portable and self.model.dispatcher:
            self.fail(f"the dispatcher is '{self.model.dispatcher}', expected none among portable kernels")
        if self.model.dispatcher and all(k.name != self.model.dispatcher for k in self.model.kernels):
            self.fail(f"the dispatcher '{self.model.dispatcher}' is not among the {len(self.model.kernels)} kernels")

    def source(self, source: Source | None, before: int, place: str) -> None:
        """A reference must be to an input, a weight, or a result of one of the first `before` nodes."""
        if source is None:
            return
        match source.kind:
            case "input":
                count, results = len(self.model.inputs), 1
            case "weight":
                count, results = len(self.model.weights.entries), 1
            case "node":
                count = before
                results = len(self.model.nodes[source.index].outputs) if 0 <= source.index < before else 0
            case kind:
                self.fail(f"source kind is '{kind}', expected 'input', 'weight' or 'node'", place)
        if not 0 <= source.index < count:
            self.fail(f"reads {source.kind} {source.index}, expected one of the {count} before it", place)
        if not 0 <= source.output < results:
            self.fail(f"reads result {source.output} of {source.kind} {source.index}, which has {results}", place)

    def graph(self) -> None:
        for i, io in enumerate(self.model.outputs):
            self.source(io.source, len(self.model.nodes), f"output {i} '{io.name}'")
        self.take_rooms(self.model.inputs, self.model.outputs)
        for i, node in enumerate(self.model.nodes):
            place = f"node {i} '{node.name}'"
            if not node.type or node.type in RESERVED_TYPES:
                self.fail(f"type is '{node.type}', expected a name other than {', '.join(RESERVED_TYPES)}", place)
            for source in node.inputs:
                self.source(source, i, place)
            for o, desc in enumerate(node.outputs):
                known = not desc.shape if is_object(desc.dtype) else desc.dtype in ITEMSIZE
                if not known or any(d < -1 for d in desc.shape):
                    self.fail(
                        f"result {o} is {desc.dtype} {list(desc.shape)}, expected a known type, dims from -1", place
                    )
                if desc.place is not None:
                    self.operand(desc.place, place, f"result {o}")

    def take_rooms(self, inputs: Sequence[IoDesc], outputs: Sequence[IoDesc]) -> None:
        """From here on operands are held against these inputs and outputs."""
        self.rooms = {(Space.INPUT, i): io.nbytes for i, io in enumerate(inputs)}
        self.rooms.update(((Space.OUTPUT, i), io.nbytes) for i, io in enumerate(outputs))

    def space_size(self, operand: Operand, place: str, part: str) -> int:
        """Bytes of the space an operand lies in."""
        model = self.model
        if operand.space in (Space.INPUT, Space.OUTPUT):
            descs = model.inputs if operand.space == Space.INPUT else model.outputs
            if not 0 <= operand.index < len(descs):
                self.fail(f"is in {operand.space.name} {operand.index}, the model has {len(descs)}", place, part)
            return self.rooms[operand.space, operand.index]
        if operand.index:
            self.fail(f"has index {operand.index} in {operand.space.name}, expected 0", place, part)
        if operand.space == Space.GEAR:
            self.fail("is in GEAR, which only the first task of a model with gears looks at", place, part)
        return model.arena_bytes if operand.space == Space.ARENA else model.weights.size

    def operand(self, operand: Operand, place: str, part: str) -> None:
        room = self.space_size(operand, place, part)
        if not 0 <= operand.offset <= room or not 0 <= operand.size <= room - operand.offset:
            name = operand.space.name + (f" {operand.index}" if operand.index else "")
            self.fail(f"{operand.size} bytes at {operand.offset} do not fit the {room} of {name}", place, part)

    def tasks(self) -> None:
        """Phases, and what each task names and touches."""
        names = {k.name for k in self.model.kernels}
        labels = self.labels()
        gear_of = regions(self.model, self.fail)
        gear = -1
        self.take_rooms(self.model.inputs, self.model.outputs)
        phase = -1
        start = 0
        alone = False  # whether the last task is one that shares its phase with none
        for i, task in enumerate(self.model.tasks):
            place = f"task {i} '{task.label}'"
            if not 0 <= task.op_index < len(self.model.nodes):
                self.fail(f"op_index is {task.op_index}, expected one of the {len(self.model.nodes)} nodes", place)
            if task.phase not in (phase, phase + 1) or task.phase < 0:
                self.fail(f"phase is {task.phase} after {phase}, expected {phase} or {phase + 1}", place)
            if task.phase == phase and (alone or not isinstance(task, KernelTask)):
                self.fail(f"phase is {task.phase}, that of the task before, which only kernels can share", place)
            if not isinstance(task, KernelTask) and self.model.abi < ABI_OF_JUMPS:
                self.fail(f"only kernels can run with ABI {self.model.abi}, jumps need {ABI_OF_JUMPS}", place)
            if gear_of and gear_of[i] not in (gear, -1):
                gear = gear_of[i]
                self.take_rooms(in_gear(self.model.inputs, gear), in_gear(self.model.outputs, gear))
            match task:
                case KernelTask():
                    self.kernel_task(task, names, place)
                case SwitchTask():
                    self.switch(task, labels, place, chooses_gear=i == 0 and bool(gear_of))
                case GotoTask() if task.target not in labels:
                    self.fail(f"jumps to label {task.target}, which no task sets", place)
                case HostTask():
                    self.host_call(task, place)
                case _:
                    pass
            if task.phase != phase:
                check_phase(self.model.tasks, start, i, self.fail)
                phase, start = task.phase, i
            alone = not isinstance(task, KernelTask)
        check_phase(self.model.tasks, start, len(self.model.tasks), self.fail)
        self.programs()

    def programs(self) -> None:
        """Calls share a program or have programs apart, so that all of them take no more than there is of weights."""
        calls = {task.program: i for i, task in enumerate(self.model.tasks) if isinstance(task, HostTask)}
        end = 0
        for program, i in sorted(calls.items(), key=lambda call: (call[0].offset, call[0].size)):
            if program.offset < end:
                message = f"the program is at {program.offset}, expected at least {end}, the end of another call's"
                self.fail(message, f"task {i} '{self.model.tasks[i].label}'")
            end = program.offset + program.size

    def labels(self) -> set[int]:
        """The numbers of the labels, each set once."""
        found: dict[int, int] = {}
        for i, task in enumerate(self.model.tasks):
            if isinstance(task, LabelTask) and found.setdefault(task.number, i) != i:
                self.fail(f"sets label {task.number}, as task {found[task.number]} does", f"task {i} '{task.label}'")
        for number in found:
            if not 0 <= number < len(found):
                self.fail(f"sets label {number}, expected 0 to {len(found) - 1}", f"task {found[number]}")
        return set(found)

    def kernel_task(self, task: KernelTask, names: set[str], place: str) -> None:
        if task.kernel not in names or task.kernel == self.model.dispatcher:
            self.fail(f"kernel '{task.kernel}' is not among the {len(names)} kernels it may launch", place)
        if not 0 <= task.blocks <= MAX_BLOCKS:
            self.fail(f"blocks is {task.blocks}, expected 0 to {MAX_BLOCKS}", place)
        if not 0 <= task.n_outs <= len(task.operands):
            self.fail(f"n_outs is {task.n_outs}, expected 0 to {len(task.operands)}, the operands", place)
        for o, operand in enumerate(task.operands):
            self.operand(operand, place, f"operand {o}")
        for o, operand in enumerate(task.outs, start=len(task.operands) - task.n_outs):
            self.writable(operand, o, place)
        for p, param in enumerate(task.params):
            if param not in INT64:
                self.fail(f"param {p} is {param}, expected a signed 64-bit integer", place)

    def writable(self, operand: Operand, number: int, place: str) -> None:
        if operand.space not in (Space.ARENA, Space.OUTPUT):
            self.fail(f"operand {number} is written in {operand.space.name}, expected ARENA or OUTPUT", place)

    def switch(self, task: SwitchTask, labels: set[int], place: str, *, chooses_gear: bool) -> None:
        if task.index != GEAR or not chooses_gear:
            self.operand(task.index, place, "index")
        if task.index.size not in SWITCH_SIZES:
            self.fail(f"the index has {task.index.size} bytes, expected one of {SWITCH_SIZES}", place)
        if not task.targets:
            self.fail("has no labels, expected at least 1", place)
        for target in task.targets:
            if target not in labels:
                self.fail(f"jumps to label {target}, which no task sets", place)

    def host_call(self, task: HostTask, place: str) -> None:
        self.operand(task.program, place, "program")
        if task.program.space != Space.WEIGHTS or not task.program.size:
            found = f"{task.program.size} bytes in {task.program.space.name}"
            self.fail(f"the program is {found}, expected some in WEIGHTS", place)
        for number, value in enumerate((*task.ins, *task.outs)):
            self.host_value(value, place, f"value {number}")
        for number, value in enumerate(task.outs, start=len(task.ins)):
            if isinstance(value, HostTensor):
                self.writable(value.place, number, place)

    def host_value(self, value: HostValue, place: str, part: str) -> None:
        if isinstance(value, HostTensor):
            self.operand(value.place, place, part)
            size = self.array(value.dtype, value.shape, place, part)
            if value.place.size != size:
                shape = f"{list(value.shape)} of {value.dtype}"
                self.fail(f"has {value.place.size} bytes, expected {size} for shape {shape}", place, part)
        else:
            self.object(value.slot, value.type, place, part)
