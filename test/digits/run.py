"""Compile the digits net, recognise handwritten digits it has never seen, and compare with ONNX Runtime.

python test/digits/run.py [folder for digits.om]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import gecc
from gecc.debug.bench import HEADER as BENCH_HEADER
from gecc.debug.bench import Settings, check, measure, rows
from gecc.debug.compare import HEADER, TOLERANCE, compare, table
from gecc.debug.peers import Gecc, OnnxRuntime

HERE = Path(__file__).resolve().parent
INK = " .:-=+*#@"


def main(folder: Path) -> int:
    """Run the demonstration; the exit code says whether the results agree with ONNX Runtime's."""
    folder.mkdir(parents=True, exist_ok=True)
    source, path = HERE / "digits.onnx", folder / "digits.om"
    with np.load(HERE / "held_out.npz") as held_out:
        images, labels = held_out["images"].astype(np.float32), held_out["labels"]

    start = time.perf_counter()
    gecc.compile(source, input_shapes={"image": images.shape}).save(path)
    seconds = time.perf_counter() - start
    print(
        f"compiled {source.name} for {len(images)} digits at once in {seconds:.1f} s: {path}, {path.stat().st_size} bytes"
    )

    start = time.perf_counter()
    executor = gecc.load(path)
    print(f"loaded in {(time.perf_counter() - start) * 1e3:.1f} ms; {executor.stats.tasks} tasks", end="")
    print(f", {executor.stats.arena_bytes} bytes of memory for intermediates")
    results = executor.run({"image": images})
    executor.close()
    found = results["probabilities"].argmax(1)
    right = int((found == labels).sum())
    print(f"held-out digits recognised: {right} of {len(labels)}, {right / len(labels):.2%}\n")
    show(images[:6], found[:6])

    expected = OnnxRuntime(str(source), 1).run({"image": images})
    differences = compare(results, expected)
    print(f"\nagainst ONNX Runtime, tolerance {TOLERANCE:g}:")
    print(table(HEADER, [difference.row(TOLERANCE) for difference in differences]))
    agree = all(difference.within(TOLERANCE) for difference in differences)
    same = int((found == expected["probabilities"].argmax(1)).sum())
    print(f"the same digit in {same} of {len(labels)} images\n")

    print("latency of one digit:")
    single = images[:1]
    runners = [Gecc(gecc.compile(source, input_shapes={"image": single.shape}), 1), OnnxRuntime(str(source), 1)]
    check(runners, {"image": single}, TOLERANCE)
    print(table(BENCH_HEADER, rows(measure(runners, {"image": single}, 1, Settings()))))
    for runner in runners:
        runner.close()
    return 0 if agree and right / len(labels) > 0.95 else 1


def show(images: np.ndarray, found: np.ndarray) -> None:
    """Print images side by side, what was recognised below."""
    for row in range(8):
        lines = ["".join(INK[int(v) // 2] * 2 for v in image[0, row]) for image in images]
        print("  ".join(lines).rstrip())
    print("  ".join(f"{digit!s:^16}" for digit in found).rstrip())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build")))
