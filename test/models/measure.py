"""Measure the models of the README's table: `python -m test.models.measure [--threads 1,2] [name ...]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from onnx import ModelProto, load

from gecc.debug.bench import HEADER, Settings, Timing, bench, rows, spell
from gecc.debug.compare import table
from gecc.debug.peers import parse_peers
from gecc.errors import GeccError
from test.models.bert import bert
from test.models.mlp import mlp
from test.models.mobilenet import mobilenet
from test.models.resnet import resnet

DIGITS = Path(__file__).resolve().parents[1] / "digits" / "digits.onnx"

MODELS: dict[str, Callable[[], ModelProto]] = {
    "digits": partial(load, DIGITS),
    "mlp1": partial(mlp, 1),
    "mlp32": partial(mlp, 32),
    "mlp128": partial(mlp, 128),
    "resnet18": partial(resnet, 18),
    "resnet50": partial(resnet, 50),
    "mobilenet": mobilenet,
    "bert2": bert,
}
"""Name to what makes the model; weights are random but for the digits."""

SHAPES = {"digits": {"image": (1, 1, 8, 8)}, "bert2": {"input_ids": (1, 128)}}


def main() -> int:
    """Measure and print a table for each model."""
    parser = argparse.ArgumentParser("python -m test.models.measure", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)} (default: all)")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", default="onnxruntime,openvino")
    parser.add_argument("--markdown", action="store_true", help="print one table for the README at the end")
    args = parser.parse_args()
    failed = False
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models or MODELS:
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(MODELS[name]().SerializeToString())
            threads = [int(count) for count in args.threads.split(",")]
            print(f"\n{name}", flush=True)
            try:
                timings = bench(
                    str(path),
                    parse_peers(args.peers),
                    threads,
                    input_shapes=SHAPES.get(name),
                    settings=Settings(tolerance=1e-3),
                )
            except GeccError as error:
                print(f"error: {error}")
                failed = True
            else:
                print(table(HEADER, rows(timings)), flush=True)
                lines += markdown(name, timings)
    if args.markdown:
        print("\n" + "\n".join(lines))
    return int(failed)


def markdown(name: str, timings: Sequence[Timing]) -> Iterator[str]:
    """Lines of the README's table: a number of threads each, medians, and the factor over gecc's."""
    for threads in dict.fromkeys(t.threads for t in timings):
        cells = {
            t.runtime: spell(t.median) + (f" ({t.ratio:.2f})" if t.runtime != "gecc" else "")
            for t in timings
            if t.threads == threads
        }
        yield f"| {name} | {threads} | {' | '.join(cells.values())} |"


if __name__ == "__main__":
    sys.exit(main())
