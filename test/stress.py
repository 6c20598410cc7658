"""python -m test.stress --seconds 60: threads hammer one executor, executors share the pool, a fork in the middle.

Every result is compared bit for bit. The exit code is 1 when one was wrong, or something hung.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
from onnx import helper, numpy_helper

from gecc import api
from gecc.runtime.executor import Executor

WORKERS = 8
HANG = 60.0
"""Seconds in which a worker must come to its end."""


def compiled() -> api.Model:
    """A net with phases of many blocks and of one, 4 inputs of which may be told apart by their results."""
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal((64, 256)).astype(np.float32), rng.standard_normal((256, 64)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Gelu", ["h"], ["g"]),
        helper.make_node("MatMul", ["g", "v"], ["p"]),
        helper.make_node("Softmax", ["p"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "stress",
        [helper.make_tensor_value_info("x", 1, [48, 64])],
        [helper.make_tensor_value_info("y", 1, [48, 64])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(v, "v")],
    )
    return api.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))


def hammer(seconds: float) -> list[str]:
    """What went wrong in `seconds` of each part; nothing if all is well."""
    model = compiled()
    inputs = [np.random.default_rng(i).standard_normal((48, 64), np.float32) for i in range(WORKERS)]
    with api.load(model, threads=1) as executor:
        wanted = [executor.run([x])["y"].tobytes() for x in inputs]
    failures: list[str] = []

    def check(executor: Executor, i: int, what: str) -> None:
        if executor.run([inputs[i]])["y"].tobytes() != wanted[i]:
            failures.append(f"{what}: a wrong result")

    with api.load(model, threads=2) as one:
        failures += _together(seconds, [lambda i=i: check(one, i, "one executor") for i in range(WORKERS)])
        many = [one.clone(threads=1 + i % 3) for i in range(WORKERS)]
        work = [lambda i=i: check(many[i], i, "executors on one pool") for i in range(WORKERS)]
        failures += _together(seconds, work)
        failures += _together(seconds, [*work[:-1], lambda: _fork(one, inputs[0], wanted[0], failures)])
        for executor in many:
            executor.close()
    return failures


def _together(seconds: float, work: list[Callable[[], None]]) -> list[str]:
    """Each piece of work again and again in a thread of its own, for `seconds`."""
    until = time.monotonic() + seconds
    raised: list[str] = []

    def loop(piece: Callable[[], None]) -> None:
        try:
            while time.monotonic() < until:
                piece()
        except Exception as error:  # told by the thread that waits
            raised.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=loop, args=(piece,), daemon=True) for piece in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + HANG)
        if thread.is_alive():
            raised.append("a worker hangs")
    return raised


def _fork(executor: Executor, x: np.ndarray, wanted: bytes, failures: list[str]) -> None:
    """A child, forked while others run, that uses the executor."""
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            code = 0 if all(executor.run([x])["y"].tobytes() == wanted for _ in range(3)) else 1
        finally:
            os._exit(code)
    until = time.monotonic() + HANG
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            if status:
                failures.append(f"a forked child ended with {os.waitstatus_to_exitcode(status)}")
            time.sleep(0.02)
            return
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    failures.append("a forked child hangs")


def main() -> int:
    """Hammer and tell."""
    parser = argparse.ArgumentParser("python -m test.stress", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    failures = hammer(args.seconds)
    for failure in sorted(set(failures)):
        print(f"{failures.count(failure)} x {failure}")
    print("failed" if failures else "all results were right")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
