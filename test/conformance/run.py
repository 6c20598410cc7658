"""Run cases in processes of their own, so that one that dies or hangs is a result like any other."""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto
from xdsl.utils.exceptions import VerifyException

from test.conformance.cases import Case

STATUSES = ("pass", "host", "disputed", "chance", "wrong", "error", "crash", "timeout", "unsupported")
"""`pass`: all of it native. `host`: right, with some of it on the host. `wrong`: other values, shapes or types than expected. `error`: an exception that is no clear refusal."""

_ALIGNED = (
    "the standard's text divides by the size of the result less one, and so does ONNX Runtime; the expected values "
    "come from the size before it is rounded down"
)
DISPUTED = {
    "test_resize_downsample_scales_linear_align_corners": _ALIGNED,
    "test_resize_downsample_scales_cubic_align_corners": _ALIGNED,
}
"""Cases whose expected values contradict the standard's text. Our results must then be those of ONNX Runtime."""

NOISE = {name: 1e-6 for name in ("test_dft_inverse", "test_dft_inverse_opset19")}
"""Cases whose expected values hold rounding errors beyond the suite's tolerance where the answer is 0 (2e-7 for sums of
up to 495), with the absolute tolerance that takes them in. A result nearer to 0 is disputed, not wrong."""

CHANCE = re.compile("test_bernoulli")
"""Cases whose expected values were drawn by chance, by a generator that the standard does not name. Ours must be of the
same type and shape and among the same values; they count apart."""

HALF_TOLERANCE = 2.0**-9
"""Two units in the last place of float16: what onnx's own comparison allows to bfloat16, but forgets for float16."""


UNEXPECTED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NameError, NotImplementedError, OSError,
    RuntimeError, TypeError, ValueError, VerifyException,
)  # fmt: skip
"""Exceptions that only a fault of gecc raises; they are results here."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: Case
    status: str
    message: str = ""
    seconds: float = 0.0


def run_case(case: Case, no_host: bool = False) -> tuple[str, str]:
    """Status and message of one case, in this process; with `no_host` nothing may run on the host."""
    from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

    from gecc import backend
    from gecc.errors import GeccError

    try:
        model, sets = case.load()
        ready = backend.prepare(model, no_host=no_host, threads=1, affinity="none")
        results = [ready.run(inputs) for inputs, _ in sets]
    except BackendIsNotSupposedToImplementIt as refusal:
        return "unsupported", str(refusal)
    except (GeccError, *UNEXPECTED) as error:
        return "error", f"{type(error).__name__}: {error}"
    try:
        for found, (inputs, expected) in zip(results, sets, strict=True):
            wanted = _from_runtime(model, inputs) if case.name in DISPUTED else expected
            half = any(getattr(value, "dtype", None) == np.float16 for value in wanted)
            rtol = max(case.source.rtol, HALF_TOLERANCE) if half else case.source.rtol
            if CHANCE.match(case.name):
                _assert_alike(wanted, found)
            else:
                _assert_similar(wanted, found, rtol, NOISE.get(case.name, case.source.atol))
    except (AssertionError, TypeError) as difference:  # the latter: a sequence where none is expected
        return "wrong", str(difference)
    if CHANCE.match(case.name):
        return "chance", ""
    if case.name in NOISE:
        return "disputed", "expected values hold rounding errors beyond the suite's tolerance"
    if case.name in DISPUTED:
        return "disputed", DISPUTED[case.name]
    return ("host", ready.on_host) if ready.on_host else ("pass", "")


def _assert_similar(wanted: Sequence[Any], found: Sequence[Any], rtol: float, atol: float) -> None:
    """onnx's own comparison, which of a sequence compares the rows of its tensors, and fails for one without rows."""
    assert len(wanted) == len(found), f"{len(found)} values, expected {len(wanted)}"
    for expected, value in zip(wanted, found, strict=True):
        if isinstance(expected, list | tuple):
            assert isinstance(value, list | tuple), f"{type(value).__name__}, expected a sequence"
            _assert_similar(expected, value, rtol, atol)
        elif expected is None:
            assert value is None, f"{value}, expected an empty optional"
        else:
            from onnx.backend.test.runner import Runner

            Runner.assert_similar_outputs([expected], [value], rtol, atol)


def _assert_alike(wanted: Sequence[Any], found: Sequence[Any]) -> None:
    for expected, value in zip(wanted, found, strict=True):
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        assert set(np.unique(value)) <= {0, 1}, f"{np.unique(value)}, expected zeros and ones"


def _from_runtime(model: ModelProto, inputs: Sequence[Any]) -> Sequence[Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip((i.name for i in model.graph.input), inputs, strict=True)))


def run_all(cases: Sequence[Case], *, jobs: int, timeout: float, no_host: bool = False) -> Iterator[Outcome]:
    """The outcome of each case as it comes, from `jobs` processes; a case may take `timeout` seconds."""
    for module in _NEEDED:
        import_module(module)  # once, before the processes are forked
    fresh = iter(range(len(cases)))
    workers = [_Worker(cases, no_host) for _ in range(jobs)]
    busy: dict[int, _Worker] = {}
    try:
        while True:
            for worker in workers:
                if worker.case is None and (index := next(fresh, None)) is not None:
                    worker.start(index)
            busy = {worker.pipe.fileno(): worker for worker in workers if worker.case is not None}
            if not busy:
                return
            wait([worker.pipe for worker in busy.values()], timeout=1.0)
            for worker in busy.values():
                if (outcome := worker.poll(timeout)) is not None:
                    yield outcome
    finally:
        for worker in workers:
            worker.stop()


_NEEDED = (
    "gecc.backend",
    "gecc.api",
    "gecc.frontend.onnx",
    "gecc.pipeline",
    "gecc.codegen.emit",
    "gecc.runtime.executor",
)


class _Worker:
    """A process that runs one case after another, and is replaced when it dies or hangs."""

    def __init__(self, cases: Sequence[Case], no_host: bool) -> None:
        self.cases = cases
        self.no_host = no_host
        self.case: int | None = None
        self.started = 0.0
        self._spawn()

    def _spawn(self) -> None:
        context = multiprocessing.get_context("fork")  # the cases are inherited, not sent
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(self.cases, self.no_host, theirs))
        self.process.start()
        theirs.close()

    def start(self, index: int) -> None:
        self.case, self.started = index, time.monotonic()
        self.pipe.send(index)

    def poll(self, timeout: float) -> Outcome | None:
        """The outcome of the case at hand, or None while it runs."""
        assert self.case is not None
        case, seconds = self.cases[self.case], time.monotonic() - self.started
        try:
            if self.pipe.poll():
                status, message = self.pipe.recv()
                self.case = None
                return Outcome(case, status, message, seconds)
        except (EOFError, ConnectionError):
            self.process.join()
            return self._lost(Outcome(case, "crash", f"the process ended with {self.process.exitcode}", seconds))
        if seconds > timeout:
            self.process.kill()
            self.process.join()
            return self._lost(Outcome(case, "timeout", f"more than {timeout:g} s", seconds))
        return None

    def _lost(self, outcome: Outcome) -> Outcome:
        self.pipe.close()
        self.case = None
        self._spawn()
        return outcome

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(cases: Sequence[Case], no_host: bool, pipe: Connection) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    while True:
        try:
            index = pipe.recv()
        except EOFError:
            return
        pipe.send(run_case(cases[index], no_host))
