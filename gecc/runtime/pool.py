"""The worker threads of this process, shared by all its executors.

Workers live in native code: they spin for a moment after each run, then sleep in the kernel. Python starts them when a
run first needs them, pins them, and joins them at exit. The code they idle in is a copy of its own, so it stays when the
om it came from is closed; by the time a run returns, no worker is in that om's code any more.

A fork leaves threads behind, so a child begins with no pool and starts its own when it needs one.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Callable

from gecc.om.records import OmModel
from gecc.runtime import abi
from gecc.runtime.cpus import MAX_RANKS, Plan
from gecc.runtime.pages import Pages

SPIN_NS = 200_000
"""How long an idle worker spins before it sleeps."""

_CALIBRATION_NS = 200_000


class Clock:
    """The native clock of a model's dispatcher, in step with `time.perf_counter_ns`."""

    def __init__(self, address: int) -> None:
        self._read = ctypes.CFUNCTYPE(ctypes.c_int64)(address)
        self._ticks, self._ns = self._now()

    def ticks(self) -> int:
        """The native clock."""
        return self._read()

    def ticks_per_ns(self, window_ns: int = _CALIBRATION_NS) -> float:
        """Ticks of the clock in a nanosecond, measured since construction over at least `window_ns`."""
        while (now := self._now())[1] - self._ns < window_ns:
            pass
        return (now[0] - self._ticks) / (now[1] - self._ns)

    def _now(self) -> tuple[int, int]:
        """Both clocks at about one instant: the middle of three tries that was read fastest."""
        tries = []
        for _ in range(3):
            before = time.perf_counter_ns()
            ticks = self._read()
            after = time.perf_counter_ns()
            tries.append((after - before, ticks, (before + after) // 2))
        _, ticks, ns = min(tries)
        return ticks, ns


class Pool:
    """Workers 1 .. n of this process. `lock` is held for the length of a run that uses them."""

    def __init__(self, model: OmModel) -> None:
        self.lock = threading.Lock()
        self._code = Pages(sum(_size(model, name) for name in abi.COPIED), "code of the worker pool")
        self._at: dict[str, int] = {}
        blob = memoryview(model.blob).cast("B")
        offset = 0
        for kernel in model.kernels:
            if kernel.name in abi.COPIED:
                self._code.write(offset, blob[kernel.offset : kernel.offset + kernel.size])
                self._at[kernel.name] = self._code.address + offset
                offset += _size(model, kernel.name)
        self._code.make_executable()
        self._memory = Pages(abi.POOL_BYTES + MAX_RANKS * abi.MAILBOX_BYTES, "worker pool")
        self.address = self._memory.address
        self.clock = Clock(self._at[abi.CLOCK])
        ticks = self.clock.ticks_per_ns()
        self._memory.words()[abi.POOL_SPIN // 8] = int(SPIN_NS * ticks)
        self._threads: list[threading.Thread] = []
        self.ranks = 1
        self.plan: Plan = ()
        self.stopped = False

    def prepare(self, ranks: int, plan: Plan) -> None:
        """Have workers for `ranks` ranks where `plan` wants them. Call with the lock held.

        Raises RuntimeError when the system refuses a thread, OSError when a CPU of the plan is gone.
        """
        while self.ranks < ranks:
            self._start(self.ranks)
            self.ranks += 1
        self._pin(plan)

    def _start(self, rank: int) -> None:
        worker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._at[abi.WORKER])
        # Daemons, since the interpreter waits for other threads before it runs what `atexit` holds.
        thread = threading.Thread(target=worker, args=(self.address, rank), name=f"gecc-{rank}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _pin(self, plan: Plan) -> None:
        everywhere = os.sched_getaffinity(0)
        for rank, thread in enumerate(self._threads, start=1):
            if thread.native_id is not None:
                os.sched_setaffinity(thread.native_id, (plan[rank],) if rank < len(plan) else everywhere)
        self.plan = plan

    def stop(self) -> None:
        """Wait for a run at hand, end all workers and join them."""
        with self.lock:
            stop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._at[abi.STOP])
            stop(self.address, len(self._threads) + 1)
            for thread in self._threads:
                thread.join()
            self._threads.clear()
            self.stopped = True
            self._code.close()
            self._memory.close()


def _size(model: OmModel, name: str) -> int:
    """Bytes of an entry, rounded so that the next one is aligned."""
    size = next(kernel.size for kernel in model.kernels if kernel.name == name)
    return -(-size // abi.ALIGNMENT) * abi.ALIGNMENT


_pool: Pool | None = None
_lock = threading.Lock()


def shared(model: OmModel) -> Pool:
    """The pool of this process, made with the code of `model` when there is none yet."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = Pool(model)
        return _pool


def run(model: OmModel, ranks: int, plan: Plan, native: Callable[[int, int], None], control: int) -> None:
    """Call `native` with the pool and `control`, the pool held alone and ready for `ranks` ranks as `plan` wants."""
    while True:
        pool = _pool or shared(model)
        with pool.lock:
            if pool.stopped:  # while we waited for it
                continue
            if pool.ranks < ranks or pool.plan != plan:
                pool.prepare(ranks, plan)
            native(pool.address, control)
            return


def shutdown() -> None:
    """Join all workers. A later run starts others."""
    global _pool
    with _lock:
        pool, _pool = _pool, None
    if pool is not None:
        pool.stop()


def _forget() -> None:
    """In a forked child: the parent's threads are not here, and a lock may be held by one of them."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


atexit.register(shutdown)
os.register_at_fork(after_in_child=_forget)
