"""gecc-bench: how fast a model runs, beside other runtimes on the same machine.

gecc-bench model.onnx --peers onnxruntime,openvino --threads 1,2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gecc.errors import CliError
from gecc.tools.cli import add_compile_options, host, input_shapes, natural, opt_level, positive, run_tool

EPILOG = """\
Values are checked first. Then the runtimes take turns, with a pause between them; printed are the median and the
quartiles of the time of a run, and by which factor a peer takes longer than gecc (over 1: gecc is faster).
Exit code: 0 success, 1 the model is wrong or values differ, 2 wrong command line.
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of gecc-bench's command line."""
    parser = argparse.ArgumentParser(
        "gecc-bench",
        description="Measure an ONNX model with gecc and other runtimes, in turns.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help="a model .onnx")
    parser.add_argument(
        "--peers", default="onnxruntime", metavar="NAMES", help="onnxruntime, openvino, or both by comma"
    )
    parser.add_argument(
        "--threads", default="1", metavar="N[,N]", help="numbers of threads, each measured (default: 1)"
    )
    parser.add_argument("--rounds", type=positive, default=12, metavar="N", help="turns of each runtime (default: 12)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    parser.add_argument("--tolerance", type=float, metavar="X", help="difference of values that passes")
    parser.add_argument("--json", action="store_true", help="print JSON, times in seconds")
    add_compile_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run gecc-bench and return its exit code."""
    return run_tool("gecc-bench", _run, argv)


def _threads(text: str) -> list[int]:
    counts = [part.strip() for part in text.split(",")]
    if not all(count.isdecimal() and int(count) > 0 for count in counts):
        raise CliError(f"--threads is '{text}', expected numbers from 1 on, separated by commas")
    return [int(count) for count in counts]


def _run(argv: Sequence[str] | None) -> int:
    args = make_parser().parse_args(argv)
    threads = _threads(args.threads)
    from gecc.debug import bench
    from gecc.debug.compare import TOLERANCE, table
    from gecc.debug.peers import parse_peers

    if args.input_value:
        raise CliError("--input-value does not go with peers, which take every input at every run")
    settings = bench.Settings(
        rounds=args.rounds, seed=args.seed, tolerance=TOLERANCE if args.tolerance is None else args.tolerance
    )
    timings = bench.bench(
        args.model,
        parse_peers(args.peers),
        threads,
        input_shapes=input_shapes(args),
        opt_level=opt_level(args),
        target=args.target,
        host=host(args),
        kernels=args.kernels or "native",
        settings=settings,
    )
    if args.json:
        import json

        print(json.dumps(bench.as_json(timings), indent=2))
    else:
        print(table(bench.HEADER, bench.rows(timings)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
