"""Running a compiled model: checks of the inputs, one native call a run, arrays out."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InputError
from gecc.om.fixed import fixed_inputs
from gecc.om.gears import gear_shapes
from gecc.om.reader import Trust, Verify, read
from gecc.om.records import IoDesc, OmModel, Operand, Space
from gecc.om.verifier import verify
from gecc.runtime import abi, pool
from gecc.runtime.cpus import Affinity, mask, plan
from gecc.runtime.gears import Gears
from gecc.runtime.host import Memory, owned
from gecc.runtime.inputs import Inputs, address_of
from gecc.runtime.narrow import Interface
from gecc.runtime.outputs import Outputs
from gecc.runtime.pages import Pages, round_up
from gecc.runtime.poison import Poison
from gecc.runtime.profile import Profile, Stats, task_times
from gecc.runtime.resident import Resident
from gecc.runtime.runnable import (
    SUPPORTED_ABIS,
    CompileKernels,
    check_runnable,
    kernel_error,
    native,
    ranks_for,
    stopped_at,
)
from gecc.runtime.table import TaskTable


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
        self._queue_thread: list[int] = []
        self._closing = False
        self._stamps: NDArray[np.int64] | None = None
        self._runs, self._last_ns, self._total_ns = 0, 0, 0
        where = where or f"model '{model.name}'"
        if not verified:
            verify(model, where)
        if model.portable:
            model = native(model, where, compile_kernels)
        self.model = model
        check_runnable(model, where, poison=poison)
        self.ranks = 1 if poison else ranks_for(model, threads)
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
        self._gears = Gears(model, fixed_inputs(model.attrs), self._interface)
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
        of `outputs` (by name, of the right type and shape, writeable and contiguous). numpy has no bf16: such an input or
        given output is an array of ml_dtypes.bfloat16 or its bits as uint16; new results are bits. In a model with gears
        the shapes of the inputs choose one of them. An output that is a string tensor, a sequence or of a shape that
        depends on data comes as the host engine made it. `profile` collects each task's times.

        Raises InputError telling everything that is wrong with the inputs or outputs, KernelError when a kernel meets a
        bad value (the executor can run again), GeccError when the host engine fails and after `close`.
        """
        if profile is not None and not isinstance(profile, Profile):
            raise InputError(f"profile is {profile!r}, expected a gecc.runtime.profile.Profile")
        model = self.model
        gear, arrays = self._gears.bind(inputs)
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
            stamps = None if profile is None else self._stamped(run)
            if stamps is None:
                run()
            self._last_ns = perf_counter_ns() - start
            self._total_ns += self._last_ns
            self._runs += 1
            if profile is not None and stamps is not None:
                profile.runs.append(task_times(model, stamps, self._clock.ticks_per_ns(10_000_000)))
            if self._control[abi.CONTROL_FAILED // 8]:
                raise kernel_error(model, self._states, self.ranks)
        named = self._interface.results(dict(zip(self._output_names, results, strict=True)))
        if outputs is not None:
            named.update(outputs)
        return named

    def run_async(self, inputs: Inputs, *, outputs: Outputs | None = None) -> Future[dict[str, Any]]:
        """Start a run and return its future. Runs of one executor go in the order in which they were asked for.

        Inputs are read when the run begins: leave them as they are until the future is done. What `run` raises, the
        future raises; GeccError at once after `close`, which waits for runs already asked for.
        """
        with self._lock:
            if self._closing:
                raise self._is_closed()
            if self._queue is None:
                noted = self._queue_thread  # alone: a thread that held the executor would keep it alive
                self._queue = ThreadPoolExecutor(
                    1, f"gecc-queue-{self.model.name}", initializer=lambda: noted.append(threading.get_ident())
                )
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
                poison=self._poison is not None,
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
                    self._call(at, memory, objects)
                    at += 1
        finally:
            control[abi.CONTROL_START // 8] = 0
            control[abi.CONTROL_TASK_COUNT // 8] = count
        for i, io in enumerate(self.model.outputs):
            if io.slot >= 0:
                results[i] = owned(objects[io.slot])

    def _call(self, task: int, memory: Memory, objects: list[Any]) -> None:
        """A host call; in a profiled run with its times noted, as native code notes those of its tasks."""
        if task not in self._programs:  # the code is of another ABI than the file says
            raise stopped_at(self.model, task)
        if self._stamps is None:
            return self._programs[task].run(memory, objects)
        noted = self._stamps[0, task]
        start = self._clock.ticks()
        self._programs[task].run(memory, objects)
        stop = self._clock.ticks()
        if noted[1]:
            noted[1] += stop - start
        else:
            noted[:] = start, stop

    def _enter(self) -> None:
        if self.ranks == 1:
            self._native(None, self._control_address)
        else:
            pool.run(self.model, self.ranks, self.plan, self._native, self._control_address)

    def _stamped(self, run: Callable[[], None]) -> NDArray[np.int64]:
        """What each rank noted of each task in a run: the clock before and after it."""
        stamps = np.zeros((self.ranks, len(self.model.tasks), 2), np.int64)
        self._control[abi.CONTROL_PROFILE // 8] = stamps.ctypes.data
        self._stamps = stamps
        try:
            run()
        finally:
            self._stamps = None
            self._control[abi.CONTROL_PROFILE // 8] = 0
        return stamps

    def close(self) -> None:
        """Wait for runs at hand or asked for and give all memory back; closing twice is no error.

        In a callback of a future, which the runs behind it wait for, it returns at once; the memory goes after them.
        """
        with self._lock:
            again, self._closing = self._closing, True
            queue = self._queue
        if queue is not None and threading.get_ident() in self._queue_thread:
            if not again:  # else who closed first waits, and frees
                queue.submit(self._free)
                queue.shutdown(wait=False)
            return
        if queue is not None:
            queue.shutdown()
        self._free()

    def _free(self) -> None:
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
    trust: Trust = (),
    poison: bool = False,
    compile_kernels: CompileKernels | None = None,
) -> Executor:
    """Open an om file and make it ready to run.

    `verify="full"` also hashes the weights' bytes. With `trust`, files of public keys, one of them must have signed the
    file. Raises OmError for a file that is damaged, for another machine or of another ABI.
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


_living: weakref.WeakSet[Executor] = weakref.WeakSet()


def _unlock() -> None:
    """In a forked child: a lock may be held by a thread of the parent."""
    for executor in _living:
        executor._lock = threading.Lock()
        executor._queue = None
        executor._queue_thread = []
        executor._resident.unlock()
        if not executor._closed:  # a run of the parent's may have been noting times in memory that is no more
            executor._control[abi.CONTROL_PROFILE // 8] = 0
            executor._stamps = None


os.register_at_fork(after_in_child=_unlock)
