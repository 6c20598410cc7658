"""LLVM IR text to relocatable objects, in worker processes.

Workers are started when first needed, at most one for each core, and kept for the life of this process, since starting
one costs more than compiling a kernel. One that dies is an error that carries what it wrote, never a dead caller.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from gecc import __version__
from gecc.codegen.cache import ObjectCache
from gecc.codegen.worker import OPT_LEVEL, OPTIONS, read_frame, write_frame
from gecc.errors import CodegenError
from gecc.target import Target

_LAST_WORDS = 2000
"""Bytes of a dead worker's messages that are told."""

USER_CACHE = ObjectCache()
"""The cache that `compile_ir` uses unless told otherwise."""


class Worker:
    """One worker process and its pipes. Not thread-safe: whoever takes it has it alone.

    `module` is what it runs: a program that answers each frame of its standard input (`gecc.codegen.worker`).
    """

    def __init__(self, module: str) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            # The parent's import path, so that a worker finds the same gecc however the parent found it.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )

    def ask(
        self, request: dict[str, object], payload: bytes, where: str, seconds: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """The answer to a request; a process that takes longer than `seconds` is ended.

        Raises CodegenError, telling the last of what it wrote, when the process died.
        """
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            self.process.kill()

        timer = threading.Timer(seconds, end) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            write_frame(stdin, request, payload)
            answer = read_frame(stdout)
        except BrokenPipeError:
            answer = None
        finally:
            if timer is not None:
                timer.cancel()
        if answer is not None:
            return answer
        status = self.process.wait()
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _LAST_WORDS))
        said = self._stderr.read().decode(errors="replace").strip()
        self.close()
        if late.is_set():
            raise CodegenError(f"the code generator took longer than {seconds:g} seconds", where=where)
        raise CodegenError(
            f"the code generator's process ended with status {status}: {said or 'it wrote nothing'}", where=where
        )

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        self.process.wait()
        self._stderr.close()


class WorkerPool:
    """Idle workers of this process that run a module."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._owner = os.getpid()
        atexit.register(self.close)

    def take(self) -> Worker:
        """An idle worker, or a new one."""
        with self._lock:
            if self._owner != os.getpid():  # pipes inherited through a fork belong to the parent
                self._idle, self._owner = [], os.getpid()
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.close()
        return Worker(self.module)

    def give(self, worker: Worker) -> None:
        """Hand a worker back; one that died is not kept."""
        if worker.alive:
            with self._lock:
                self._idle.append(worker)

    def idle(self) -> int:
        """How many there are."""
        with self._lock:
            return len(self._idle) if self._owner == os.getpid() else 0

    def close(self) -> None:
        """End them all."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._owner == os.getpid():
                for worker in idle:
                    worker.close()


_pool = WorkerPool("gecc.codegen.worker")


def prestart(count: int | None = None) -> None:
    """Start workers ahead of need (default one for each core), so that they import LLVM while the caller does more.

    Returns at once.
    """
    wanted = min(count or cores(), cores())
    workers = [Worker(_pool.module) for _ in range(wanted - _pool.idle())]
    for worker in workers:
        _pool.give(worker)


def compile_ir(
    texts: Sequence[str], target: Target, assembly: bool = False, *, cache: ObjectCache | None = USER_CACHE
) -> list[bytes]:
    """Compile LLVM IR modules, each a text, to relocatable ELF objects (or to assembly text) in the order given.

    The bytes depend on the text and the target's name alone. `cache` holds results between calls and processes; None
    compiles everything anew.

    Raises CodegenError with LLVM's words when a text is not valid IR or its worker dies.
    """
    if not target.native:
        raise CodegenError(f"no code generation for target '{target.name}'", hint="compile for x86-64-v4 or x86-64-v3")
    keys = [_key(text, target, assembly) for text in texts]
    results: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    for key, text in zip(keys, texts, strict=True):
        if key in results or key in missing:
            continue
        if cache is not None and (found := cache.get(key)) is not None:
            results[key] = found
        else:
            missing[key] = text
    if missing:
        # The longest first: a long one at the end would leave the other workers without work.
        order = sorted(missing, key=lambda key: (-len(missing[key]), key))
        with ThreadPoolExecutor(min(cores(), len(order))) as threads:
            codes = list(threads.map(lambda key: _compile(missing[key], target, assembly), order))
        for key, code in zip(order, codes, strict=True):
            results[key] = code
            if cache is not None:
                cache.put(key, code)
    return [results[key] for key in keys]


def _compile(text: str, target: Target, assembly: bool) -> bytes:
    request = machine_request(target) | {"assembly": assembly}
    worker = _pool.take()
    try:
        header, code = worker.ask(request, text.encode(), _module_name(text))
    finally:
        _pool.give(worker)
    if "error" in header:
        raise CodegenError(f"LLVM refused the text: {header['error']}", where=_module_name(text))
    return code


def machine_request(target: Target) -> dict[str, object]:
    """What LLVM's target machine is made from."""
    return {"triple": target.triple, "cpu": target.cpu, "features": target.features}


def generator() -> tuple[str, ...]:
    """What besides text and target decides the bytes of an object. Raises PackageNotFoundError without llvmlite."""
    return (__version__, importlib.metadata.version("llvmlite"), str(OPT_LEVEL), *OPTIONS)


def _key(text: str, target: Target, assembly: bool) -> str:
    kind = "assembly" if assembly else "object"
    return ObjectCache.key(kind, text, target.triple, target.cpu, target.features, *generator())


def _module_name(text: str) -> str:
    """What names a module in a message: its first definition."""
    for line in text.splitlines():
        if line.startswith("define"):
            return f"LLVM IR module of {line.partition('@')[2].partition('(')[0]}"
    return "an LLVM IR module without definitions"


def cores() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))
