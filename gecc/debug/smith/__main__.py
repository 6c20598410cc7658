"""Check random models: `python -m gecc.debug.smith --count 100 --seed 0`.

Each model is compiled at every level, through bytes and back, and run by one and two ranks; results are compared with
ONNX Runtime or the reference of the standard. A model that fails is shrunk and written to a folder with its inputs, and
the status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
from onnx import ModelProto, printer

from gecc.debug.smith.check import LEVELS, Failure
from gecc.debug.smith.generate import generate
from gecc.debug.smith.oracle import Array
from gecc.debug.smith.shrink import Case, case_of, shrink
from gecc.debug.smith.worker import Answer, Settings, Worker, start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    settings = Settings(options.nodes, tuple(options.levels.split(",")), tuple(options.targets.split(",")))
    workers = start(options.jobs, settings)
    try:
        failures = _check_all(workers, range(options.seed, options.seed + options.count), options.verbose)
        for seed, failed in failures.items():
            if not options.no_shrink:
                _save(Path(options.out), seed, failed, workers[0], settings)
    finally:
        for worker in workers:
            worker.close()
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gecc.debug.smith", description="Check random models.")
    parser.add_argument("--count", type=int, default=100, help="how many models (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first (default %(default)s)")
    parser.add_argument("--nodes", type=int, default=8, help="most nodes of a model, about (default %(default)s)")
    parser.add_argument("--levels", default=",".join(LEVELS), help="optimisation levels (default %(default)s)")
    parser.add_argument("--targets", default="host", help="machine descriptions (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--out", default="build/smith", help="folder for failing models (default %(default)s)")
    parser.add_argument("--no-shrink", action="store_true", help="only say which seeds fail")
    parser.add_argument("--verbose", action="store_true", help="count operators, taken and rejected")
    return parser


def _check_all(workers: Sequence[Worker], seeds: Sequence[int], verbose: bool) -> dict[int, Failure]:
    """What failed, by seed, in order."""
    begun = time.monotonic()
    todo = iter(seeds)
    busy: dict[int, int] = {}
    failures: dict[int, Failure] = {}
    operators, rejected = Counter[str](), Counter[str]()
    invalid = 0

    def give(at: int) -> None:
        seed = next(todo, None)
        if seed is not None:
            workers[at].ask(seed)
            busy[at] = seed

    for at in range(len(workers)):
        give(at)
    while busy:
        ready = wait([workers[at].connection for at in busy], timeout=1)
        for at in [at for at in busy if workers[at].connection in ready]:
            answer: Answer = workers[at].answer()
            seed = busy.pop(at)
            if answer.failed:
                failures[seed] = answer.failed
                print(f"seed {seed}: {answer.failed}", flush=True)
            invalid += not answer.valid
            operators += answer.operators
            rejected += answer.rejected
            give(at)
    took = time.monotonic() - begun
    print(
        f"{len(seeds)} models, {len(failures)} fail, {invalid} are not valid, {sum(operators.values())} nodes of ",
        end="",
    )
    print(f"{len(operators)} operators, {took:.0f} s", flush=True)
    if verbose:
        for name in sorted({*operators, *rejected}):
            print(f"  {name}: {operators[name]} taken, {rejected[name]} rejected")
    return dict(sorted(failures.items()))


def _save(folder: Path, seed: int, failed: Failure, worker: Worker, settings: Settings) -> None:
    """Shrink the model of a seed, and write and show what is left."""
    sample = generate(seed, settings.nodes)

    def fails(model: ModelProto, feeds: dict[str, Array]) -> bool:
        answer = worker.check(model, feeds)
        return answer.failed is not None and answer.failed.kind == failed.kind

    case: Case = shrink(case_of(sample.model, sample.feeds), fails)
    folder.mkdir(parents=True, exist_ok=True)
    model = case.model()
    (folder / f"{seed}.onnx").write_bytes(model.SerializeToString())
    np.savez(folder / f"{seed}.npz", allow_pickle=False, **case.feeds)
    again = worker.check(model, case.feeds).failed
    text = printer.to_text(model)
    print(
        f"  {folder / f'{seed}.onnx'}: {again}\n" + "\n".join(f"    {line}" for line in text.splitlines()), flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
