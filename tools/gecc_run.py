"""gecc-run: run a model on arrays from files or on random ones.

gecc-run model.om --input x=image.npy -o results.npz
gecc-run model.onnx --seed 1 --compare onnxruntime
gecc-run model.om --repeat 100 --threads 2 --profile --trace trace.json
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from gecc.errors import CliError
from gecc.plain import printable
from gecc.tools.cli import (
    FAILED,
    add_compile_options,
    host,
    input_shapes,
    input_values,
    natural,
    opt_level,
    positive,
    run_tool,
)

if TYPE_CHECKING:
    from gecc.api import Model
    from gecc.om.records import IoDesc
    from gecc.runtime.executor import Executor

EPILOG = """\
An input is 'name=file' or, for a model with one input, 'file'; a .npz gives all inputs by name. Files: .npy, .npz,
.pb (ONNX TensorProto). Inputs that no file gives are random, the same for the same --seed; of an ONNX model they are
drawn from what the graph can take (rows of a table, masks, positive numbers).
Exit code: 0 success, 1 the model or an input is wrong or results differ from the peer's, 2 wrong command line.
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of gecc-run's command line."""
    parser = argparse.ArgumentParser(
        "gecc-run",
        description="Run a compiled model (.om), or compile and run an ONNX model.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model_file", metavar="MODEL", help="a model .om or .onnx")
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="[NAME=]FILE", help="an input, repeatable"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of random inputs (default: 0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the outputs by name to this .npz")
    parser.add_argument("--repeat", type=positive, default=1, metavar="N", help="run N times and print the times")
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="number of ranks (default: as many as are of use)"
    )
    parser.add_argument(
        "--affinity",
        default="auto",
        metavar="auto|none|CPUS",
        help="pin ranks to CPUs (default: auto), 'none', or '0,2'",
    )
    parser.add_argument(
        "--verify", choices=("fast", "full"), default="fast", help="full: hash the weights of an om too"
    )
    parser.add_argument(
        "--trust", action="append", default=[], metavar="KEY", help="run only an om signed by this public key (PEM)"
    )
    parser.add_argument(
        "--poison",
        action="store_true",
        help="fill memory that holds nothing with NaN before every phase (on one rank, slow)",
    )
    parser.add_argument(
        "--gear", type=natural, metavar="N", help="of a model with gears: the one, from 0, that random inputs are for"
    )
    parser.add_argument("--profile", action="store_true", help="print the time of every task")
    parser.add_argument("--trace", metavar="FILE", help="write a profile for chrome://tracing or Perfetto (JSON)")
    parser.add_argument("--compare", metavar="PEER", help="compare the results with a peer's: onnxruntime, openvino")
    parser.add_argument("--model", metavar="ONNX", help="with --compare: the ONNX model that an om was compiled from")
    parser.add_argument(
        "--tolerance", type=float, metavar="X", help="error relative to the greatest magnitude that passes"
    )
    add_compile_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run gecc-run and return its exit code."""
    return run_tool("gecc-run", _run, argv)


def _run(argv: Sequence[str] | None) -> int:
    args = make_parser().parse_args(argv)
    original = _original(args)
    if args.compare is not None:
        from gecc.debug.peers import parse_peers

        if len(parse_peers(args.compare)) != 1:
            raise CliError(f"--compare takes one peer, found '{args.compare}'")
        if original is None:
            raise CliError("the peer needs the ONNX model", hint="--model names it")
        if args.input_value:
            raise CliError("--compare does not go with --input-value: the peer takes every input at every run")
    elif args.model is not None or args.tolerance is not None:
        raise CliError("--model and --tolerance are for --compare")
    from gecc import api

    if args.trust and _is_onnx(args.model_file):
        raise CliError("--trust is for an om file, the model is ONNX")
    if not _is_onnx(args.model_file) and (given := _about_compiling(args)):
        raise CliError(
            f"{', '.join(given)}: for ONNX models, which are compiled here; '{args.model_file}' is as it was compiled"
        )
    model = _compile(args) if _is_onnx(args.model_file) else args.model_file
    affinity = _affinity(args.affinity)
    with api.load(
        model,
        threads=args.threads,
        affinity=affinity,
        verify=args.verify,
        trust=args.trust,
        poison=args.poison,
        target=args.target,
    ) as executor:
        feeds = _feeds(args, executor, original)
        with interruptible(argv is None):
            results = _measure(args, executor, feeds)
    if args.output is not None:
        from gecc.debug.feeds import write_npz

        write_npz(args.output, results)
        print(f"outputs written to {args.output}")
    else:
        _print_outputs(results, {io.name for io in executor.outputs if io.dtype == "bf16"})
    if args.compare is None:
        return 0
    assert original is not None
    return _compare(args, original, feeds, results)


def _about_compiling(args: argparse.Namespace) -> list[str]:
    """The options given that say how to compile, but --target, which is for portable oms too."""
    found = [f"-O{args.level}"] if args.level is not None else []
    options = ("input_shape", "input_value", "no_host", "kernels")
    return found + [f"--{name.replace('_', '-')}" for name in options if getattr(args, name)]


@contextmanager
def interruptible(process: bool) -> Iterator[None]:
    """That Ctrl-C ends the process at once, if it is our own: native code, where a file may loop for ever, does not look at
    what Python notes of signals. Where it is ignored, as in the background, it stays so."""
    before = signal.getsignal(signal.SIGINT)
    if not process or before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_onnx(path: str) -> bool:
    return Path(path).suffix == ".onnx"


def _original(args: argparse.Namespace) -> str | None:
    """The ONNX file, where there is one."""
    if _is_onnx(args.model_file):
        if args.model is not None:
            raise CliError("--model is for an om; the model is ONNX already")
        return args.model_file
    return args.model


def _affinity(text: str) -> Any:
    if text in ("auto", "none"):
        return text
    cpus = text.split(",")
    if not all(cpu.isdecimal() for cpu in cpus):
        raise CliError(f"--affinity is '{text}', expected auto, none or CPUs such as 0,2")
    return [int(cpu) for cpu in cpus]


def _compile(args: argparse.Namespace) -> Model:
    from gecc import api

    return api.compile(
        args.model_file,
        input_shapes=input_shapes(args),
        input_values=input_values(args),
        opt_level=opt_level(args),
        target=args.target,
        host=host(args),
        kernels=args.kernels or "native",
    )


def _feeds(args: argparse.Namespace, executor: Executor, original: str | None) -> dict[str, Any]:
    """The inputs that files give, the others random."""
    from gecc.debug.feeds import random_inputs, random_of_onnx, read_inputs

    feeds = read_inputs(args.input, executor.inputs)
    inputs = _inputs(args, executor, feeds)
    missing = [io for io in inputs if io.name not in feeds]
    if not missing:
        return feeds
    if objects := [f"'{io.name}' {io.dtype}" for io in missing if io.slot >= 0]:
        raise CliError(f"no random value for {', '.join(objects)}", hint="give it with --input")
    if original is None:
        drawn = random_inputs(inputs, args.seed)
    else:
        shapes = {io.name: io.shape for io in inputs if io.slot < 0}
        drawn = random_of_onnx(original, shapes, args.seed, input_values(args))
    if args.input:
        print(printable(f"random: {', '.join(io.name for io in missing)}", keep=""))
    return feeds | {io.name: drawn[io.name] for io in missing}


def _inputs(args: argparse.Namespace, executor: Executor, feeds: dict[str, Any]) -> Sequence[IoDesc]:
    """The inputs; of a model with gears in the one that --gear says, or else in the first that the given ones fit."""
    count = len(executor.gears)
    if args.gear is not None and args.gear >= count:
        raise CliError(f"--gear is {args.gear}, the model has {count or 'no'} gears")
    if count == 0:
        return executor.inputs
    from gecc.om.gears import in_gear

    def fits(shapes: Mapping[str, tuple[int, ...]]) -> bool:
        return all(feeds[name].shape == shape for name, shape in shapes.items() if name in feeds)

    fitting = [number for number, shapes in enumerate(executor.gears) if fits(shapes)]
    # where none fits, the executor says so
    return in_gear(executor.inputs, args.gear if args.gear is not None else (fitting or [0])[0])


def _measure(args: argparse.Namespace, executor: Executor, feeds: dict[str, Any]) -> dict[str, Any]:
    """The results; prints times and profile as asked for."""
    from gecc.runtime.profile import Profile

    results = executor.run(feeds)
    times: list[float] = []
    for _ in range(args.repeat if args.repeat > 1 else 0):
        start = time.perf_counter()
        results = executor.run(feeds)
        times.append((time.perf_counter() - start) * 1e6)
    if times:
        times.sort()
        print(
            f"{args.repeat} runs on {executor.ranks} ranks: median {median(times):.1f} us, "
            f"least {times[0]:.1f}, greatest {times[-1]:.1f}"
        )
    if args.profile or args.trace is not None:
        profile = Profile()
        for _ in range(args.repeat):
            executor.run(feeds, profile=profile)
        if args.profile:
            from gecc.debug.compare import table
            from gecc.debug.profiles import PROFILE_HEADER, profile_rows

            print(table(PROFILE_HEADER, list(profile_rows(profile))))
        if args.trace is not None:
            from gecc.debug.profiles import write_trace

            write_trace(args.trace, profile)
            print(f"trace written to {args.trace}")
    return results


def _print_outputs(results: dict[str, Any], bf16: Container[str]) -> None:
    """Tell of each output. Those of `bf16` are bits, the upper halves of f32."""
    import numpy as np

    for name, array in results.items():
        name = printable(name, keep="")
        if not isinstance(array, np.ndarray):
            size = f" of {len(array)}" if isinstance(array, list | dict) else ""
            print(f"{name}: {'nothing' if array is None else type(array).__name__}{size}")
            continue
        line = f"{name}: {'bfloat16' if name in bf16 else array.dtype}{list(array.shape)}"
        if array.size and array.dtype.kind not in "OUS":
            wide = (array.astype(np.uint32) << 16).view(np.float32) if name in bf16 else array.astype(np.float64)
            line += f" min {wide.min():.6g} mean {wide.mean():.6g} max {wide.max():.6g}"
        print(line)


def _compare(args: argparse.Namespace, original: str, feeds: dict[str, Any], results: dict[str, Any]) -> int:
    from gecc.debug.compare import HEADER, TOLERANCE, compare, table
    from gecc.debug.peers import PEERS

    peer = PEERS[args.compare](original, args.threads or 1)
    expected = peer.run(feeds)
    peer.close()
    tolerance = TOLERANCE if args.tolerance is None else args.tolerance
    differences = compare(results, expected)
    print(f"against {args.compare}, tolerance {tolerance:g}:")
    print(table(HEADER, [difference.row(tolerance) for difference in differences]))
    return 0 if all(difference.within(tolerance) for difference in differences) else FAILED


if __name__ == "__main__":
    sys.exit(main())
