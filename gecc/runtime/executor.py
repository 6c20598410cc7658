"""Running a compiled model: checks of the inputs, one native call a run, arrays out."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InputError, KernelError, OmError, UnsupportedError
from gecc.om.fixed import fixed_inputs
from gecc.om.reader import Verify, read
from gecc.om.records import GotoTask, HostTask, IoDesc, KernelTask, LabelTask, OmModel, Operand, Space, SwitchTask, Task
from gecc.om.verifier import check_abi, verify
from gecc.runtime import abi, pool
from gecc.runtime.blob import Code
from gecc.runtime.cpus import MAX_RANKS, Affinity, default_ranks, mask, plan
from gecc.runtime.host import HostProgram
from gecc.runtime.inputs import Binder, Inputs, address_of
from gecc.runtime.pages import Pages, round_up
from gecc.runtime.profile import Profile, TaskTime
from gecc.runtime.schedule import host_calls, meetings, shares, useful_ranks
from gecc.target import load as load_target
from gecc.target import supports

SUPPORTED_ABIS = range(1, abi.ABI + 1)
"""Calling conventions that this runtime keeps."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What an executor holds, in bytes, and how it runs."""

    arena_bytes: int
    scratch_bytes: int
    weight_bytes: int
    code_bytes: int
    tasks: int
    phases: int
    ranks: int
    cpus: tuple[int, ...]


class Executor:
    """A model ready to run. Any number of threads may call `run`; one run at a time goes on, the others wait.

    `threads` is the number of ranks; by default the cores this process may use, and no more than have work at once.
    Results do not depend on it. `affinity` says where they run (see `gecc.runtime.cpus.Affinity`).

    Raises OmError for a model that is inconsistent, for another machine or of another ABI, InputError for threads or
    affinity that cannot be had.
    """

    def __init__(
        self,
        model: OmModel,
        *,
        threads: int | None = None,
        affinity: Affinity = "auto",
        where: str | None = None,
        verified: bool = False,
    ) -> None:
        """Prepare `model`. `where` names it in messages; `verified` says that `gecc.om.verifier` passed it already."""
        self.model = model
        self._lock = threading.Lock()
        self._closed = False
        where = where or f"model '{model.name}'"
        if not verified:
            verify(model, where)
        _check_runnable(model, where)
        self.ranks = _ranks(model, threads)
        self.plan = plan(self.ranks, affinity)
        self._owned = ExitStack()
        try:
            self._prepare()
        except BaseException:
            self._owned.close()
            raise
        _living.add(self)

    def _prepare(self) -> None:
        model, ranks = self.model, self.ranks
        self._binder = Binder(model.inputs, fixed_inputs(model.attrs))
        self._output_names = [io.name for io in model.outputs]
        self._output_types = [(io.shape, Binder.dtype(io) if io.slot < 0 else None, io.slot) for io in model.outputs]
        self._input_slots = [io.slot for io in model.inputs]
        self._programs = _programs(model)
        code = Code.of(model)
        self._owned.callback(code.close)
        self._native = code.function(abi.RUN, None, ctypes.c_void_p, ctypes.c_void_p)
        self._clock = pool.Clock(code.address(abi.CLOCK))

        arena = self._pages(model.arena_bytes, "arena")
        scratch_stride = round_up(model.scratch_bytes)
        scratch = self._pages(scratch_stride * ranks, "scratch")
        weights = self._weights()

        control = self._pages(abi.CONTROL_BYTES, "control block")
        states = self._pages(abi.STATE_BYTES * ranks, "states")
        self._states = states.words()
        for rank in range(ranks):
            self._states[(rank * abi.STATE_BYTES + abi.STATE_SCRATCH) // 8] = scratch.address + rank * scratch_stride
        self._bases = {Space.ARENA: arena.address, Space.WEIGHTS: weights}
        self._arguments(code)
        table = shares(model.tasks, ranks)
        self._flags(meetings(model.tasks, table))
        share_pages = self._pages(table.nbytes, "shares")
        share_pages.write(0, table.tobytes())

        self._control = control.words()
        self._control_address = control.address
        for field, value in (
            (abi.CONTROL_TASKS, self._records.address),
            (abi.CONTROL_TASK_COUNT, len(model.tasks)),
            (abi.CONTROL_SHARES, share_pages.address),
            (abi.CONTROL_RANKS, ranks),
            (abi.CONTROL_STATES, states.address),
        ):
            self._control[field // 8] = value
        if self.plan:
            pinned = mask(self.plan[0])
            mask_pages = self._pages(len(pinned), "CPU mask")
            mask_pages.write(0, pinned)
            self._control[abi.CONTROL_MASK // 8] = mask_pages.address
            self._control[abi.CONTROL_MASK_BYTES // 8] = len(pinned)
        self._code_bytes = code.size

    def _pages(self, size: int, what: str) -> Pages:
        pages = Pages(size, f"{what} of '{self.model.name}'")
        self._owned.callback(pages.close)
        return pages

    def _weights(self) -> int:
        """Address of the weights: where they lie when that is aligned, as in a mapped file, else a copy."""
        weights = self.model.weights
        if weights.view is not None and weights.size:
            # numpy alone tells the address of read-only memory; the view stays alive with the model.
            address = address_of(np.frombuffer(weights.view, np.uint8))
            if address % abi.ALIGNMENT == 0:
                return address
        pages = self._pages(weights.size, "weights")
        at = 0
        for piece in weights.stream():
            pages.write(at, piece)
            at += piece.nbytes
        return pages.address

    def _arguments(self, code: Code) -> None:
        """Write task records and argument words; remember which words are inputs and outputs, patched at every run."""
        tasks = self.model.tasks
        arguments = self._pages(8 * sum(_words_of(task) for task in tasks), "arguments")
        self._records = self._pages(abi.TASK_BYTES * len(tasks), "tasks")
        self._words = arguments.words()
        records = self._records.words()
        places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
        self._uses: dict[tuple[Space, int], list[tuple[int, int]]] = {}
        at = 0
        for i, task in enumerate(tasks):
            record = i * abi.TASK_BYTES
            records[(record + abi.TASK_ARGS) // 8] = arguments.address + 8 * at
            match task:
                case KernelTask():
                    records[(record + abi.TASK_KERNEL) // 8] = code.address(task.kernel)
                    for operand in task.operands:
                        self._address(at, operand)
                        at += 1
                    for param in task.params:
                        self._words[at] = param
                        at += 1
                case GotoTask():
                    records[(record + abi.TASK_KERNEL) // 8] = places[task.target]
                case SwitchTask():
                    self._address(at, task.index)
                    for word in (task.index.size, len(task.targets), *(places[target] for target in task.targets)):
                        at += 1
                        self._words[at] = word
                    at += 1
                case _:
                    pass
        self._input_uses = [self._uses.get((Space.INPUT, i), []) for i in range(len(self.model.inputs))]
        self._output_uses = [self._uses.get((Space.OUTPUT, i), []) for i in range(len(self.model.outputs))]

    def _address(self, at: int, operand: Operand) -> None:
        """The address of an operand in argument word `at`, once it is known."""
        if operand.space in self._bases:
            self._words[at] = self._bases[operand.space] + operand.offset
        else:
            self._uses.setdefault((operand.space, operand.index), []).append((at, operand.offset))

    def _flags(self, meetings: Container[int]) -> None:
        """What the dispatcher does with each task, and after it."""
        records = self._records.words()
        for i, task in enumerate(self.model.tasks):
            flags = _KINDS[type(task)] << abi.KIND_SHIFT
            if i in meetings:
                flags |= abi.FLAG_BARRIER
            records[(i * abi.TASK_BYTES + abi.TASK_FLAGS) // 8] = flags

    @property
    def inputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes of the inputs, in order."""
        return self.model.inputs

    @property
    def outputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes of the outputs, in order."""
        return self.model.outputs

    @property
    def stats(self) -> Stats:
        """Sizes and numbers of this executor."""
        model = self.model
        return Stats(
            arena_bytes=model.arena_bytes,
            scratch_bytes=model.scratch_bytes * self.ranks,
            weight_bytes=model.weights.size,
            code_bytes=self._code_bytes,
            tasks=len(model.tasks),
            phases=model.phases,
            ranks=self.ranks,
            cpus=self.plan,
        )

    def run(self, inputs: Inputs, *, profile: Profile | None = None) -> dict[str, Any]:
        """Run the model on arrays by input name, or in order, and return new arrays by output name.

        A contiguous, aligned array is read in place. `profile` collects each task's times. An output that is a string
        tensor, a sequence or of a shape that depends on data comes as the host engine made it.

        Raises InputError telling everything that is wrong with the inputs, KernelError when a kernel meets a bad value
        (the executor can run again), GeccError after `close`.
        """
        arrays = self._binder.bind(inputs)
        results = [np.empty(shape, dtype) if slot < 0 else None for shape, dtype, slot in self._output_types]
        with self._lock:
            if self._closed:
                raise GeccError(f"the executor of '{self.model.name}' is closed")
            words = self._words
            for array, uses in zip(arrays, self._input_uses, strict=True):
                if uses:
                    address = address_of(array)
                    for at, offset in uses:
                        words[at] = address + offset
            for array, uses in zip(results, self._output_uses, strict=True):
                if array is not None:
                    address = address_of(array)
                    for at, offset in uses:
                        words[at] = address + offset
            run = self._enter if not self._programs else partial(self._with_host, arrays, results)
            if profile is None:
                run()
            else:
                profile.runs.append(self._profiled(run))
            if self._control[abi.CONTROL_FAILED // 8]:
                raise self._kernel_error()
        return dict(zip(self._output_names, results, strict=True))

    def _with_host(self, arrays: Sequence[Any], results: list[Any]) -> None:
        """A run with host calls: native up to each, then the call, then on behind it."""
        objects: list[Any] = [None] * self.model.slots
        for slot, array in zip(self._input_slots, arrays, strict=True):
            if slot >= 0:
                objects[slot] = array

        def memory(operand: Operand) -> NDArray[np.uint8]:
            if operand.space in self._bases:
                base = self._bases[operand.space]
            else:
                base = address_of((arrays if operand.space == Space.INPUT else results)[operand.index])
            return np.ctypeslib.as_array((ctypes.c_uint8 * operand.size).from_address(base + operand.offset))

        control, count = self._control, len(self.model.tasks)
        try:
            while True:
                self._enter()
                stopped = control[abi.CONTROL_NEXT // 8]
                if control[abi.CONTROL_FAILED // 8] or stopped == count:
                    break
                self._programs[stopped].run(memory, objects)
                control[abi.CONTROL_START // 8] = stopped + 1
        finally:
            control[abi.CONTROL_START // 8] = 0
        for i, (_, _, slot) in enumerate(self._output_types):
            if slot >= 0:
                results[i] = objects[slot]

    def _enter(self) -> None:
        if self.ranks == 1:
            self._native(None, self._control_address)
        else:
            pool.run(self.model, self.ranks, self.plan, self._native, self._control_address)

    def _profiled(self, run: Callable[[], None]) -> list[TaskTime]:
        tasks = self.model.tasks
        stamps = np.zeros((self.ranks, len(tasks), 2), np.int64)
        self._control[abi.CONTROL_PROFILE // 8] = stamps.ctypes.data
        try:
            run()
        finally:
            self._control[abi.CONTROL_PROFILE // 8] = 0
        scale = self._clock.ticks_per_ns(10_000_000)
        ran = stamps[..., 1] != 0
        start = stamps[ran].min() if ran.any() else 0
        times = (stamps - start) / scale
        return [
            TaskTime(
                index=i,
                phase=task.phase,
                label=task.label,
                kernel=task.kernel if isinstance(task, KernelTask) else "",
                onnx_names=self.model.nodes[task.op_index].onnx_names,
                blocks=task.blocks if isinstance(task, KernelTask) else 0,
                ranks=tuple(
                    (float(times[r, i, 0]), float(times[r, i, 1])) if ran[r, i] else None for r in range(self.ranks)
                ),
            )
            for i, task in enumerate(tasks)
        ]

    def _kernel_error(self) -> KernelError:
        """The error of the first task, in order, that failed: the same for any number of ranks."""
        errors = []
        for rank in range(self.ranks):
            at = rank * abi.STATE_BYTES
            code, value, limit, index = (
                self._states[(at + field) // 8]
                for field in (abi.STATE_ERROR, abi.STATE_VALUE, abi.STATE_LIMIT, abi.STATE_TASK)
            )
            if code:
                errors.append((index, rank, code, value, limit))
        index, _, code, value, limit = min(errors)
        task = self.model.tasks[index]
        node = self.model.nodes[task.op_index]
        names = ", ".join(f"'{name}'" for name in node.onnx_names) or "none"
        return KernelError(
            f"{task.label}: {abi.describe(code, value, limit)}",
            where=f"task {index} '{task.label}' of '{self.model.name}', ONNX nodes: {names}",
        )

    def close(self) -> None:
        """Wait for a run at hand and give all memory back; closing twice is no error."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def load(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    affinity: Affinity = "auto",
    verify: Verify = "fast",
) -> Executor:
    """Open an om file and make it ready to run.

    `verify="full"` also hashes the weights' bytes. Raises OmError for a file that is damaged, for another machine or of
    another ABI.
    """
    model = read(path, verify=verify, abi=SUPPORTED_ABIS)
    return Executor(model, threads=threads, affinity=affinity, where=f"'{os.fspath(path)}'", verified=True)


def _check_runnable(model: OmModel, where: str) -> None:
    """Refuse, in words, what this machine and this runtime cannot run."""
    check_abi(model.abi, SUPPORTED_ABIS, where)
    try:
        target = load_target(model.target)
    except UnsupportedError as error:
        raise OmError(error.message, where=where, hint=error.hint) from None
    missing = supports(target)
    if missing:
        raise OmError(
            f"compiled for {target.name}, which needs {', '.join(missing)}",
            where=where,
            hint="compile the model for this machine",
        )
    names = {kernel.name for kernel in model.kernels}
    for entry in abi.ENTRIES:
        if entry not in names:
            raise OmError(f"the kernels have no dispatcher entry '{entry}'", where=where)
    if model.dispatcher != abi.RUN:
        raise OmError(f"the dispatcher is '{model.dispatcher}', expected '{abi.RUN}'", where=where)
    for i, task in enumerate(model.tasks):
        if isinstance(task, KernelTask) and task.kernel in abi.ENTRIES:
            raise OmError(f"task {i} '{task.label}' launches the dispatcher's '{task.kernel}'", where=where)


_KINDS: dict[type, int] = {
    KernelTask: abi.TaskKind.KERNEL,
    LabelTask: abi.TaskKind.NOTHING,
    GotoTask: abi.TaskKind.GOTO,
    SwitchTask: abi.TaskKind.SWITCH,
    HostTask: abi.TaskKind.HOST,
}


def _words_of(task: Task) -> int:
    """Argument words of a task."""
    match task:
        case KernelTask():
            return len(task.operands) + len(task.params)
        case SwitchTask():
            return 3 + len(task.targets)
        case _:
            return 0


def _programs(model: OmModel) -> dict[int, HostProgram]:
    """The host calls by the index of their task."""
    calls = list(host_calls(model.tasks))
    weights = model.weights.materialize() if calls else memoryview(b"")
    return {
        i: HostProgram(model, i, task, bytes(weights[task.program.offset : task.program.offset + task.program.size]))
        for i, task in calls
    }


def _ranks(model: OmModel, threads: int | None) -> int:
    if threads is None:
        return min(default_ranks(), useful_ranks(model.tasks), MAX_RANKS)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_RANKS:
        raise InputError(f"threads is {threads!r}, expected an integer from 1 to {MAX_RANKS}")
    return threads


_living: weakref.WeakSet[Executor] = weakref.WeakSet()


def _unlock() -> None:
    """In a forked child: a lock may be held by a thread of the parent."""
    for executor in _living:
        executor._lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)
