"""What needs a process of its own: forks, exits, imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from gecc.om.records import OmModel
from gecc.om.writer import write

_PRELUDE = """
import sys
import numpy as np
from gecc.runtime.executor import load
path = sys.argv[1]
x, want = np.load(sys.argv[2])
"""


def run(folder: Path, model: OmModel, x: np.ndarray, want: np.ndarray, code: str) -> str:
    """Run `code` in a new process with the path of the om, x, want and load; its output."""
    write(model, folder / "model.om")
    np.save(folder / "arrays.npy", np.stack([x, want]))
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _PRELUDE + code, "model.om", "arrays.npy"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_forked_child_starts_its_own_pool(tmp_path: Path, make, x: np.ndarray) -> None:
    """The child inherits an executor whose workers stayed in the parent, and a lock that a thread may hold."""
    code = """
import os, threading
executor = load(path, threads=3)
assert np.array_equal(executor.run([x])["y0"], want)
stop = threading.Event()
def busy():
    while not stop.is_set():
        executor.run([x])
thread = threading.Thread(target=busy)
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        good = all(np.array_equal(executor.run([x])["y0"], want) for _ in range(3))
        with load(path, threads=2) as other:
            good &= np.array_equal(other.run([x])["y0"], want)
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(executor.run([x])["y0"], want)
stop.set()
thread.join()
print("done")
"""
    assert run(tmp_path, make.chain(3), x, make.shifted(x, 3), code) == "done\n"


def test_a_child_of_multiprocessing_ends(tmp_path: Path, make, x: np.ndarray) -> None:
    code = """
import multiprocessing
executor = load(path, threads=2)
assert np.array_equal(executor.run([x])["y0"], want)
def work(queue):
    queue.put(executor.run([x])["y0"])
context = multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=work, args=(queue,))
child.start()
assert np.array_equal(queue.get(timeout=30), want)
child.join(30)
assert child.exitcode == 0
print("done")
"""
    assert run(tmp_path, make.chain(3), x, make.shifted(x, 3), code) == "done\n"


def test_exit_joins_workers_with_an_executor_open(tmp_path: Path, make, x: np.ndarray) -> None:
    code = """
import atexit, threading
executor = load(path, threads=3)
assert np.array_equal(executor.run([x])["y0"], want)
workers = [thread for thread in threading.enumerate() if thread.name.startswith("gecc-")]
assert len(workers) == 2
from gecc.runtime import pool
atexit.unregister(pool.shutdown)
def check():
    print(sum(thread.is_alive() for thread in workers))
atexit.register(check)
atexit.register(pool.shutdown)
"""
    assert run(tmp_path, make.chain(3), x, make.shifted(x, 3), code) == "0\n"


def test_exit_while_a_thread_runs(tmp_path: Path, make, x: np.ndarray) -> None:
    code = """
import threading, time
executor = load(path, threads=2)
def forever():
    while True:
        executor.run([x])
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
"""
    assert run(tmp_path, make.chain(3), x, make.shifted(x, 3), code) == ""


def test_running_imports_nothing_of_the_compiler(tmp_path: Path, make, x: np.ndarray) -> None:
    code = """
from gecc.runtime.profile import Profile
with load(path, threads=2) as executor:
    assert np.array_equal(executor.run([x], profile=Profile())["y0"], want)
parts = ("xdsl", "onnx", "llvmlite", "gecc.codegen", "gecc.dialects", "gecc.passes", "gecc.interp", "gecc.frontend")
print([name for name in sys.modules if name.startswith(parts)])
"""
    assert run(tmp_path, make.chain(3), x, make.shifted(x, 3), code) == "[]\n"
