"""python -m test.large --megabytes 400: how long a large om takes to load, and what memory it takes until it is run.

The pages of the weights are shared by all who map the file: a second process runs the model at the same time, and the
share of each is what /proc says of the mapping. The exit code is 1 when loading reads weights, or processes hold their own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import helper, numpy_helper

from gecc import api
from gecc.runtime.executor import load

WIDTH = 2048
LOADS = 15


def compiled(megabytes: int, path: Path) -> None:
    """Dense layers with weights of about so many megabytes."""
    rng = np.random.default_rng(0)
    layers = max(1, round(megabytes * 1e6 / (WIDTH * WIDTH * 4)))
    nodes = [
        node
        for i in range(layers)
        for node in (
            helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"]),
            helper.make_node("Relu", [f"y{i}"], [f"x{i + 1}"]),
        )
    ]
    weights = [rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.float32(WIDTH**0.5) for _ in range(layers)]
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x0", 1, [4, WIDTH])],
        [helper.make_tensor_value_info(f"x{layers}", 1, [4, WIDTH])],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    api.compile(model).save(path)


def resident() -> int:
    """Bytes of memory that this process holds."""
    return _figure(Path("/proc/self/smaps_rollup").read_text(), "Rss")


def mapped(path: Path) -> tuple[int, int]:
    """Bytes of a file that this process has in memory, and its part of those, shared with others."""
    rows = Path("/proc/self/smaps").read_text().splitlines()
    text: list[str] = []
    inside = False
    for row in rows:
        if not row.split()[0].endswith(":"):
            inside = row.endswith(str(path))
        elif inside:
            text.append(row)
    return _figure("\n".join(text), "Rss"), _figure("\n".join(text), "Pss")


def _figure(smaps: str, name: str) -> int:
    return sum(int(row.split()[1]) * 1024 for row in smaps.splitlines() if row.startswith(f"{name}:"))


def run(path: Path) -> None:
    """What a second process does: run the model, and stay until told to go."""
    with load(path) as executor:
        executor.run([np.ones((4, WIDTH), np.float32)])
        print("ready", flush=True)
        sys.stdin.readline()


def measure(path: Path) -> bool:
    """Print the figures; whether they are as promised."""
    size = path.stat().st_size
    times: list[float] = []
    growth: list[int] = []
    for _ in range(LOADS):
        before, start = resident(), time.perf_counter()
        executor = load(path)
        times.append(time.perf_counter() - start)
        growth.append(resident() - before)
        executor.close()
    print(f"{size / 1e6:.0f} MB, loaded in {statistics.median(times) * 1e3:.1f} ms (worst {max(times) * 1e3:.1f} ms)")
    print(f"memory taken by a load: {statistics.median(growth) / 1e3:.0f} kB (the first: {growth[0] / 1e3:.0f} kB)")
    with load(path) as executor:
        command = [sys.executable, "-m", "test.large", "--run", str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            other.stdout.readline()
            executor.run([np.ones((4, WIDTH), np.float32)])
            held, part = mapped(path)
            other.communicate("\n")
    print(f"two processes run it: {held / 1e6:.0f} MB of the file in memory, {part / 1e6:.0f} MB to each of the two")
    return max(growth) < size / 10 and part < 0.6 * held


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="test.large", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.run is not None:
        run(options.run)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "large.om"
        compiled(options.megabytes, path)
        return 0 if measure(path) else 1


if __name__ == "__main__":
    sys.exit(main())
