"""gecc-opt: run passes on IR, one at a time or a whole optimisation level, at any level of the compiler.

    gecc-opt model.onnx -p ge-infer-shapes,ge-fold-constants
    gecc-opt graph.mlir -O2 --stage fused
    gecc-opt --print-pipeline -O1

Only the standard library is imported here; the driver comes when there is IR to read.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.cli import run_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

EPILOG = """\
A pass takes options in braces: -p 'ge-fold-constants{limit=4096}'. --list-passes names all passes.
Verification (types, order of definition and use, and provenance where the input has it) runs after every pass.
Exit code: 0 success, 1 the IR is wrong or a pass failed, 2 the command line is wrong.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of gecc-opt on `parser`."""
    from gecc.pipeline import DEFAULT_LEVEL, PIPELINES, STAGES

    add = parser.add_argument_group("input").add_argument
    add("input_file", nargs="?", help="a text module or an ONNX model, told apart by extension (default: stdin)")
    add("-f", "--frontend", metavar="NAME", help="how to read the input: mlir or onnx, with options in braces")
    add("--split-input-file", action="store_true", help="treat the parts between '// -----' lines one by one")
    add("--allow-unregistered-dialect", action="store_true", help="accept operations of unknown dialects")
    add("--no-implicit-module", action="store_true", help="do not wrap the input in a module")

    add = parser.add_argument_group("passes").add_argument
    add("-p", "--passes", default="", metavar="PIPELINE", help="passes to run, separated by commas")
    add(
        "-O",
        dest="level",
        choices=[level[1:] for level in PIPELINES],
        help=f"run a whole optimisation level (-{DEFAULT_LEVEL} is what gecc.compile runs)",
    )
    add("--stage", choices=STAGES, help="with -O: stop after this stage (default: om)")
    add(
        "--disable",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out a pass, or switch off a rule by the name of its class, for one operation as Rule:ge.Add; repeatable",
    )
    add("--remarks", action="store_true", help="print to stderr why rules refused the candidates they examined")
    add("--list-passes", action="store_true", help="print the passes, a line each, and exit")
    add("--list-ops", action="store_true", help="print the ONNX operators, what runs them, and exit")
    add("--print-pipeline", action="store_true", help="print the passes of -O or -p as -p takes them, and exit")

    add = parser.add_argument_group("checks").add_argument
    add(
        "--verify-each",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="verify after every pass, not only at both ends",
    )
    add(
        "--verify-numerics",
        action="store_true",
        help="run the module before and after every pass and name the first pass that moves the result",
    )
    add("--verify-diagnostics", action="store_true", help="print errors to stdout and exit with 0, to test them")
    add("--parsing-diagnostics", action="store_true", help="the same for errors of the parser alone")

    add = parser.add_argument_group("output").add_argument
    add("-o", "--output-file", metavar="PATH", help="write here (default: stdout); weights go to PATH.weights")
    add("--elide", action="store_true", help="write no file of weights; the text then cannot be compiled")
    add("-t", "--target", default="mlir", metavar="NAME", help="how to write the output, with options in braces")
    add("--print-debuginfo", action="store_true", help="print locations, which name ONNX nodes")
    add("--print-op-generic", action="store_true", help="print operations in generic form")
    add("--print-no-properties", action="store_true", help="print properties as attributes")
    add("--print-between-passes", action="store_true", help="print the module to stderr after every pass")
    add("--time-passes", action="store_true", help="print the time of every pass to stderr")
    add("--syntax-highlight", action="store_true", help="colour the output")
    parser.add_argument("-v", "--version", action="store_true", help="print the versions of gecc and xDSL, and exit")
    parser.set_defaults(disable_verify=False, shrink=False)


def make_parser() -> argparse.ArgumentParser:
    """The parser of gecc-opt's command line."""
    parser = argparse.ArgumentParser(
        "gecc-opt",
        description="Run passes on IR at any level of gecc.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    return parser


def selected_passes(args: argparse.Namespace) -> tuple[str, ...] | str:
    """The specs that `-O`, `--stage` and `-p` ask for. Raises `CliError` when they contradict."""
    from gecc.pipeline import specs_until

    if args.level is None:
        if args.stage is not None:
            raise CliError("--stage needs an optimisation level", hint="add -O0, -O1 or -O2")
        return args.passes
    if args.passes:
        raise CliError("-O and -p exclude each other", hint="--print-pipeline -O2 prints a pipeline to edit for -p")
    return specs_until(f"O{args.level}", args.stage or "om")


def split_disabled(names: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Names given with --disable as passes and rules, `Rule` or `Rule:operation`. Raises `CliError` for others."""
    from gecc.passes import pass_files, rule_names

    passes = frozenset(name for name in names if name in pass_files())
    rules = frozenset(names) - passes
    known = rule_names()
    if unknown := sorted(name for name in rules if name.partition(":")[0] not in known):
        raise CliError(f"--disable: no pass and no rule is called {', '.join(repr(name) for name in unknown)}")
    if any(":" in name for name in rules):
        from gecc.switches import rules_of

        starts = rules_of(pass_files())
        for rule, _, operation in (name.partition(":") for name in sorted(rules) if ":" in name):
            if operation not in starts.get(rule, ()):
                raise CliError(
                    f"--disable: {rule} does nothing to '{operation}'",
                    hint=f"it starts from {', '.join(starts.get(rule, ())) or 'no operation'}",
                )
    return passes, rules


def list_passes() -> Iterable[str]:
    """A line a pass: its name and the first line of its docstring."""
    from gecc.passes import pass_docstring, pass_files

    names = list(pass_files())
    width = max((len(name) for name in names), default=0)
    for name in names:
        yield f"{name:{width}}  {pass_docstring(name).partition(chr(10))[0]}".rstrip()


def list_ops() -> Iterable[str]:
    """A line an ONNX operator: opsets of its domain, engine, native element types; and how many each engine has."""
    from collections import Counter

    from gecc.frontend.onnx.listing import ENGINES, rows

    found = rows()
    cells = [("operator", "opsets", "engine", "element types"), *(row.text() for row in found)]
    widths = [max(len(line[i]) for line in cells) for i in range(3)]
    for line in cells:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3]]).rstrip()
    counts = Counter(row.engine for row in found)
    yield f"{len(found)} operators: " + ", ".join(f"{counts[engine]} {engine}" for engine in ENGINES)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gecc-opt and return its exit code."""
    return run_tool("gecc-opt", _run, argv)


def _run(argv: Sequence[str] | None) -> int:
    parser = make_parser()
    args = parser.parse_args(argv)
    if args.version:
        from importlib.metadata import version

        from gecc import __version__

        print(f"gecc-opt {__version__}, xdsl {version('xdsl')}")
        return 0
    if args.list_passes:
        print("\n".join(list_passes()))
        return 0
    if args.list_ops:
        print("\n".join(list_ops()))
        return 0
    specs = selected_passes(args)
    without, rules = split_disabled(args.disable)
    if args.print_pipeline and args.level is not None:
        from gecc.pipeline import pipeline_text

        print(pipeline_text(spec for spec in specs if spec.partition("{")[0] not in without))
        return 0
    # A tenth of starting up would go into collecting garbage among classes that all stay.
    gc.disable()
    from gecc.tools.opt_driver import GeccOpt

    driver = GeccOpt(args, specs, without=without)
    if not gc.get_freeze_count():  # once a process: tests call this often
        gc.freeze()
    gc.enable()
    if args.print_pipeline:
        print(driver.pipeline_text())
        return 0
    from gecc.rewrite import switched_off

    with switched_off(rules):
        return driver.execute()


if __name__ == "__main__":
    sys.exit(main())
