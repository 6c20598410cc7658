"""python -m test.fuzz --count 200000: structured mutations of small om files in worker processes.

A worker that dies, uses more than a second of CPU for one file, or meets an error that is not gecc's, is a finding: the file
is kept in --keep. The exit code is 1 when there is one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.connection
import multiprocessing.process
import signal
import sys
import time
import traceback
from collections import Counter
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path

from test.fuzz.bases import Base, bases, portable_bases
from test.fuzz.check import check
from test.fuzz.files import Parts
from test.fuzz.kernels import portable_mutants
from test.fuzz.mutate import cuts, mutants

CHUNK = 500
"""Mutants that a worker makes of one base with one seed."""
PORTABLE_CHUNK = 40
"""The same of a portable base: kernels are compiled, which takes longer."""
CPU_SECONDS = 1.0
"""What loading and running one small file may take."""


def main(argv: list[str] | None = None) -> int:
    """Run the mutations; see the module's docstring."""
    parser = argparse.ArgumentParser("python -m test.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="mutants in all (default: 2000)")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time (default: never)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cuts", action="store_true", help="cut the smallest file at every length, too")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for what is found")
    parser.add_argument("--portable", action="store_true", help="portable files: kernels are changed and compiled")
    args = parser.parse_args(argv)
    files = portable_bases() if args.portable else bases()
    chunk = PORTABLE_CHUNK if args.portable else CHUNK
    work = [(n % len(files), args.seed * 1_000_003 + n, chunk) for n in range(-(-args.count // chunk))]
    if args.cuts:
        smallest = min(range(len(files)), key=lambda i: len(files[i].data))
        work.append((smallest, -1, 0))
    counts, findings = _run(files, work, args.jobs, args.seconds)
    for number, (what, data) in enumerate(findings):
        args.keep.mkdir(parents=True, exist_ok=True)
        (args.keep / f"{number}.om").write_bytes(data)
        print(f"finding {number}: {what}")
    done = sum(counts.values())
    print(f"{done} files: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    return 1 if findings else 0


def _run(
    files: tuple[Base, ...], work: list[tuple[int, int, int]], jobs: int, seconds: float
) -> tuple[Counter[str], list[tuple[str, bytes]]]:
    """Hand chunks to workers, each in a process of its own that may die."""
    context = multiprocessing.get_context("fork")
    counts: Counter[str] = Counter()
    findings: list[tuple[str, bytes]] = []
    until = time.monotonic() + seconds if seconds else float("inf")
    pending = list(reversed(work))
    running: dict[Connection, tuple[multiprocessing.process.BaseProcess, list[bytes]]] = {}
    while pending or running:
        while pending and len(running) < jobs and time.monotonic() < until:
            index, seed, count = pending.pop()
            ours, theirs = context.Pipe()
            process = context.Process(target=_worker, args=(files[index], seed, count, theirs))
            process.start()
            theirs.close()
            running[ours] = (process, [b""])
        if not running:
            break
        for pipe in multiprocessing.connection.wait(list(running), timeout=60):
            assert isinstance(pipe, Connection)
            process, last = running[pipe]
            try:
                kind, value = pipe.recv()
            except EOFError:
                process.join()
                del running[pipe]
                if process.exitcode:
                    names = {-s.value: s.name for s in signal.Signals}
                    cause = names.get(process.exitcode, str(process.exitcode))
                    slow = " (more CPU than allowed)" if cause == "SIGPROF" else ""
                    findings.append((f"the process ended with {cause}{slow}", last[0]))
                continue
            if kind == "next":
                last[0] = value
            elif kind == "count":
                counts.update(value)
            else:
                findings.append((kind, value))
    return counts, findings


def _worker(base: Base, seed: int, count: int, pipe: Connection) -> None:
    """Check a chunk of mutants, telling each before it is tried, so that the one that kills is known."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    counts: Counter[str] = Counter()
    parts = Parts.of(base.data)
    makes = portable_mutants if base.name.startswith("portable") else mutants
    source = cuts(parts) if seed < 0 else islice(makes(parts, seed), count)
    for number, (what, data) in enumerate(source):
        pipe.send(("next", data))
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            outcome = check(data, base.feeds, ranks=1 + number % 2)
        except Exception:  # whatever it is, it is a finding
            pipe.send((f"{base.name}, {what}:\n{traceback.format_exc()}", data))
            outcome = "raised"
        signal.setitimer(signal.ITIMER_PROF, 0)
        counts[outcome] += 1
    pipe.send(("count", counts))


if __name__ == "__main__":
    sys.exit(main())
