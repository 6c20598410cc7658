"""`python -m gecc.memory FILE.csv [--capacity N] [--memory-effort E]`: plans buffers listed in a CSV file.

Reads id,lower,upper,size (lifetimes half-open), prints the same lines with an offset column; peak, lower bound and
CPU seconds go to stderr. Exit status 1: the capacity is not met. 2: the file is malformed.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import sys
import time

from gecc.memory.checker import check
from gecc.memory.portfolio import EFFORTS, plan
from gecc.memory.problem import Buffer, PlanError

_COLUMNS = ["id", "lower", "upper", "size"]


def read_csv(path: str) -> list[Buffer]:
    """The buffers of a CSV file with a header that has at least id, lower, upper and size, in any order.

    Raises PlanError naming the line of what is malformed, OSError when the file cannot be read.
    """
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [c for c in _COLUMNS if c not in (rows.fieldnames or [])]
        if missing:
            raise PlanError(
                f"no column {', '.join(missing)} in header {rows.fieldnames}",
                where=path,
                hint=f"the first line names the columns: {','.join(_COLUMNS)}",
            )
        buffers: list[Buffer] = []
        for row in rows:
            try:
                buffers.append(Buffer(row["id"], int(row["lower"]), int(row["upper"]), int(row["size"])))
            except (TypeError, ValueError) as e:
                raise PlanError(f"malformed row: {e}", where=f"{path}, line {rows.line_num}") from e
    return buffers


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m gecc.memory", description="Plan buffers listed in a CSV file.")
    parser.add_argument("file", metavar="FILE.csv", help="columns id,lower,upper,size; lifetimes are half-open")
    parser.add_argument("--capacity", type=int, metavar="N", help="stop once N bytes suffice; exit 1 if they do not")
    parser.add_argument("--memory-effort", choices=EFFORTS, default="default", help="work to spend (default: default)")
    args = parser.parse_args(argv)
    try:
        buffers = read_csv(args.file)
        started = time.process_time()
        found = plan(buffers, capacity=args.capacity, effort=args.memory_effort)
        seconds = time.process_time() - started
        check(buffers, found.offsets)
    except (PlanError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2

    with contextlib.suppress(BrokenPipeError):  # whoever reads may have seen enough
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow([*_COLUMNS, "offset"])
        out.writerows((b.id, b.lower, b.upper, b.size, found.offsets[b.id]) for b in buffers)
    print(
        f"peak {found.peak}  lower bound {found.bound}  ratio {found.ratio:.4f}  by {found.method}  cpu {seconds:.3f} s",
        file=sys.stderr,
    )
    if args.capacity is not None and found.peak > args.capacity:
        print(f"error: the plan needs {found.peak} bytes, expected at most {args.capacity}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
