"""Running a compiled model: checks of the inputs, one native call a run, arrays out."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InputError, KernelError, OmError, UnsupportedError
from gecc.om.fixed import fixed_inputs
from gecc.om.gears import gear_shapes
from gecc.om.reader import Verify, read
from gecc.om.records import IoDesc, KernelTask, OmModel, Operand, Space
from gecc.om.verifier import ABI_OF_JUMPS, check_abi, verify
from gecc.runtime import abi, pool
from gecc.runtime.cpus import MAX_RANKS, Affinity, default_ranks, mask, plan
from gecc.runtime.gears import Gears
from gecc.runtime.inputs import Inputs, address_of
from gecc.runtime.narrow import Interface
from gecc.runtime.outputs import Outputs
from gecc.runtime.pages import Pages, round_up
from gecc.runtime.poison import Poison
from gecc.runtime.profile import Profile, TaskTime
from gecc.runtime.resident import Resident
from gecc.runtime.schedule import useful_ranks
from gecc.runtime.table import TaskTable
from gecc.target import load as load_target
from gecc.target import supports

SUPPORTED_ABIS = range(1, abi.ABI + 1)
"""Calling conventions that this runtime keeps."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What an executor holds, in bytes, how it runs, and how many runs took how many nanoseconds."""

    arena_bytes: int
    scratch_bytes: int
    weight_bytes: int
    code_bytes: int
    tasks: int
    phases: int
    ranks: int
    cpus: tuple[int, ...]
    runs: int
    last_ns: int
    total_ns: int


CompileKernels: TypeAlias = Callable[[OmModel, str], OmModel]
"""Makes a model that can run of a portable one; the text names it in messages. `gecc.api` has one: a runtime compiles nothing."""


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
        resident: Resident | None = None,
        poison: bool = False,
        compile_kernels: CompileKernels | None = None,
    ) -> None:
        """Prepare `model`. `where` names it in messages; `verified` says that `gecc.om.verifier` passed it already;
        `compile_kernels` makes portable kernels native; `resident` are its code and weights where another executor has
        them in memory; `poison` fills what is dead with a pattern (`gecc.runtime.poison`), on one rank."""
        self._lock = threading.Lock()
        self._closed = False
        self._affinity: Affinity = affinity
        self._queue: ThreadPoolExecutor | None = None
        self._runs, self._last_ns, self._total_ns = 0, 0, 0
        where = where or f"model '{model.name}'"
        if not verified:
            verify(model, where)
        if model.portable:
            model = _native(model, where, compile_kernels)
        self.model = model
        _check_runnable(model, where)
        if poison and model.abi < ABI_OF_JUMPS:
            raise OmError(
                f"a poisoned run stops at each phase, which code of ABI {model.abi} does not, expected {ABI_OF_JUMPS}",
                where=where,
                hint="compile the model again",
            )
        self.ranks = 1 if poison else _ranks(model, threads)
        self.plan = plan(self.ranks, affinity)
        self._owned = ExitStack()
        try:
            self._prepare(resident)
            self._poison = Poison(model, self._bases[Space.ARENA]) if poison else None
        except BaseException:
            self._owned.close()
            raise
        _living.add(self)

    def _prepare(self, resident: Resident | None) -> None:
        model, ranks = self.model, self.ranks
        self._interface = Interface(model)
        self._gears = Gears(model, fixed_inputs(model.attrs))
        self._output_names = [io.name for io in model.outputs]
        self._resident = resident.share() if resident is not None else Resident(model)
        self._owned.callback(self._resident.release)
        self._programs = self._resident.programs
        code = self._resident.code
        self._native = code.function(abi.RUN, None, ctypes.c_void_p, ctypes.c_void_p)
        self._clock = pool.Clock(code.address(abi.CLOCK))

        arena = self._pages(model.arena_bytes, "arena")
        scratch_stride = round_up(model.scratch_bytes)
        scratch = self._pages(scratch_stride * ranks, "scratch")
        control = self._pages(abi.CONTROL_BYTES, "control block")
        states = self._pages(abi.STATE_BYTES * ranks, "states")
        self._states = states.words()
        for rank in range(ranks):
            self._states[(rank * abi.STATE_BYTES + abi.STATE_SCRATCH) // 8] = scratch.address + rank * scratch_stride
        self._bases = {
            Space.ARENA: arena.address,
            Space.WEIGHTS: self._resident.weights,
            Space.GEAR: control.address + abi.CONTROL_GEAR,
        }
        self._table = TaskTable(model, ranks, code.address, self._bases, self._pages)

        self._control = control.words()
        self._control_address = control.address
        for field, value in (
            (abi.CONTROL_TASKS, self._table.address),
            (abi.CONTROL_TASK_COUNT, len(model.tasks)),
            (abi.CONTROL_SHARES, self._table.shares),
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

    def _pages(self, size: int, what: str) -> Pages:
        pages = Pages(size, f"{what} of '{self.model.name}'")
        self._owned.callback(pages.close)
        return pages

    @property
    def inputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes (with gears -1 where they differ) of the inputs, in order."""
        return self.model.inputs

    @property
    def outputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes (with gears -1 where they differ) of the outputs, in order."""
        return self.model.outputs

    @property
    def gears(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """The shapes of the inputs in each gear, by name; () for a model without gears."""
        return gear_shapes(self.model)

    @property
    def stats(self) -> Stats:
        """Sizes and numbers of this executor."""
        model = self.model
        return Stats(
            arena_bytes=model.arena_bytes,
            scratch_bytes=model.scratch_bytes * self.ranks,
            weight_bytes=model.weights.size,
            code_bytes=self._resident.code.size,
            tasks=len(model.tasks),
            phases=model.phases,
            ranks=self.ranks,
            cpus=self.plan,
            runs=self._runs,
            last_ns=self._last_ns,
            total_ns=self._total_ns,
        )

    def run(self, inputs: Inputs, *, outputs: Outputs | None = None, profile: Profile | None = None) -> dict[str, Any]:
        """Run the model on arrays by input name, or in order, and return arrays by output name.

        A contiguous, aligned array is read in place; anything with `__dlpack__` will do. Results are new arrays, or those
        of `outputs` (by name, of the right type and shape, writeable and contiguous). In a model with gears the shapes of
        the inputs choose one of them. An output that is a string tensor, a sequence or of a shape that depends on data
        comes as the host engine made it. `profile` collects each task's times.

        Raises InputError telling everything that is wrong with the inputs or outputs, KernelError when a kernel meets a
        bad value (the executor can run again), GeccError when the host engine fails and after `close`.
        """
        gear, arrays = self._gears.bind(self._interface.bits(inputs))
        makes = self._gears.results(gear)
        results = makes.make() if outputs is None else makes.take(outputs, arrays)
        with self._lock:
            if self._closed:
                raise self._is_closed()
            self._control[abi.CONTROL_GEAR // 8] = gear
            words = self._table.words
            for array, uses in zip(arrays, self._table.input_uses[gear], strict=True):
                if uses:
                    address = address_of(array)
                    for at, offset in uses:
                        words[at] = address + offset
            for array, uses in zip(results, self._table.output_uses[gear], strict=True):
                if uses:
                    address = address_of(array)
                    for at, offset in uses:
                        words[at] = address + offset
            stops = self._programs or self._poison
            run = partial(self._with_stops, arrays, results) if stops else self._enter
            start = perf_counter_ns()
            if profile is None:
                run()
            else:
                profile.runs.append(self._profiled(run))
            self._last_ns = perf_counter_ns() - start
            self._total_ns += self._last_ns
            self._runs += 1
            if self._control[abi.CONTROL_FAILED // 8]:
                raise self._kernel_error()
        return self._interface.results(dict(zip(self._output_names, results, strict=True)))

    def run_async(self, inputs: Inputs, *, outputs: Outputs | None = None) -> Future[dict[str, Any]]:
        """Start a run and return its future. Runs of one executor go in the order in which they were asked for.

        Inputs are read when the run begins: leave them as they are until the future is done. What `run` raises, the
        future raises; GeccError at once after `close`, which waits for runs already asked for.
        """
        with self._lock:
            if self._closed:
                raise self._is_closed()
            if self._queue is None:
                self._queue = ThreadPoolExecutor(1, f"gecc-queue-{self.model.name}")
            return self._queue.submit(self.run, inputs, outputs=outputs)

    def clone(self, *, threads: int | None = None, affinity: Affinity | None = None) -> Executor:
        """Another executor of this model with an arena of its own; code and weights are shared.

        threads and affinity are this executor's unless given. Raises as the constructor does, GeccError after `close`.
        """
        with self._lock:
            if self._closed:
                raise self._is_closed()
            return Executor(
                self.model,
                threads=self.ranks if threads is None else threads,
                affinity=self._affinity if affinity is None else affinity,
                verified=True,
                resident=self._resident,
            )

    def _is_closed(self) -> GeccError:
        return GeccError(f"the executor of '{self.model.name}' is closed")

    def _with_stops(self, arrays: Sequence[Any], results: list[Any]) -> None:
        """A run that stops: native up to each host call, then the call, then on behind it; when poisoned, at each phase."""
        objects: list[Any] = [None] * self.model.slots
        for io, array in zip(self.model.inputs, arrays, strict=True):
            if io.slot >= 0:
                objects[io.slot] = array

        def memory(operand: Operand) -> NDArray[np.uint8]:
            if operand.space in self._bases:
                base = self._bases[operand.space]
            else:
                base = address_of((arrays if operand.space == Space.INPUT else results)[operand.index])
            return np.ctypeslib.as_array((ctypes.c_uint8 * operand.size).from_address(base + operand.offset))

        control, count = self._control, len(self.model.tasks)
        try:
            at, stop = 0, 0
            while at < count:
                control[abi.CONTROL_START // 8] = at
                control[abi.CONTROL_NEXT // 8] = -1
                if self._poison is None:
                    stop = count
                    self._enter()
                elif at < stop:  # behind a host call in a loop
                    self._enter()
                else:
                    stretch = self._poison.stretch(at)
                    stop = control[abi.CONTROL_TASK_COUNT // 8] = stretch.stop
                    self._poison.run(stretch, self._enter)
                at = control[abi.CONTROL_NEXT // 8]
                if control[abi.CONTROL_FAILED // 8]:
                    break
                if at < stop:
                    if at not in self._programs:  # or it says nothing of where it stopped
                        raise OmError(
                            f"the dispatcher stopped at task {at}, which is no host call: its code is not that of ABI "
                            f"{self.model.abi}",
                            where=f"model '{self.model.name}'",
                        )
                    self._programs[at].run(memory, objects)
                    at += 1
        finally:
            control[abi.CONTROL_START // 8] = 0
            control[abi.CONTROL_TASK_COUNT // 8] = count
        for i, io in enumerate(self.model.outputs):
            if io.slot >= 0:
                results[i] = objects[io.slot]

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
        """Wait for runs at hand or asked for and give all memory back; closing twice is no error."""
        with self._lock:
            queue, self._queue = self._queue, None
        if queue is not None:
            queue.shutdown()
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
    trust: Sequence[str | os.PathLike[str]] = (),
    poison: bool = False,
    compile_kernels: CompileKernels | None = None,
) -> Executor:
    """Open an om file and make it ready to run.

    `verify="full"` also hashes the weights' bytes. With `trust`, files of public keys, one of them must have signed the
    file. Raises OmError for a file that is damaged, for another machine or of
    another ABI.
    """
    model = read(path, verify=verify, abi=SUPPORTED_ABIS, trust=trust)
    return Executor(
        model,
        threads=threads,
        affinity=affinity,
        where=f"'{os.fspath(path)}'",
        verified=True,
        poison=poison,
        compile_kernels=compile_kernels,
    )


def _native(model: OmModel, where: str, compile_kernels: CompileKernels | None) -> OmModel:
    """A portable model with its kernels compiled. They are checked against the size of what they touch, so its tasks need
    not be those that the kernels were made with."""
    check_abi(model.abi, SUPPORTED_ABIS, where)
    if compile_kernels is None:
        raise OmError(
            "its kernels are portable, to be compiled where it is loaded; the runtime alone compiles nothing",
            where=where,
            hint="load it by gecc.load or gecc-run; they need the compiler: pip install 'gecc[compile]'",
        )
    return compile_kernels(model, where)


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
        executor._queue = None


os.register_at_fork(after_in_child=_unlock)
