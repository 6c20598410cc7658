"""gecc-translate: turn one form of a model into another.

    gecc-translate model.onnx -o model.om
    gecc-translate model.onnx -O2 --stage fused -o fused.mlir
    gecc-translate model.om -o model.mlir
    gecc-translate --check model.onnx
    gecc-translate model.om --info
    gecc-translate model.om --diff other.om
    gecc-translate --mode=0 --framework=5 --model=model.onnx --output=model --soc_version=Ascend310P3

The last is a command line as atc takes it, see `gecc.tools.atc`. Only the standard library is imported here; the rest comes when there is a model to read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.cli import (
    FAILED,
    add_compile_options,
    add_gear_options,
    add_memory_options,
    gears,
    host,
    input_shapes,
    input_values,
    memory_options,
    opt_level,
    run_tool,
)

if TYPE_CHECKING:
    from gecc.options import CompileOptions, ImportOptions
    from gecc.precision import PrecisionReport
    from gecc.translate import Form, Subject

EPILOG = """\
Forms are told apart by extension: .onnx, .mlir (text of any level, weights beside it in FILE.weights), .om.
ONNX becomes text as imported; with -O or --stage the passes of that level run on it first. A module of any level can
be compiled on to an om. What of an ONNX model runs on the host, and why, is said on stderr. ONNX written from the ge level runs anywhere; from later levels it is a picture for Netron.
Exit code: 0 success, 1 the model is wrong or cannot be compiled, 2 the command line is wrong or a file unwritable.
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of gecc-translate's command line."""
    from gecc.pipeline import STAGES
    from gecc.tools.atc.help import help_text
    from gecc.translate import FORMS

    parser = argparse.ArgumentParser(
        "gecc-translate",
        description="Turn a model from one form into another: ONNX, text of any level, om.",
        epilog=f"{EPILOG}\n{help_text()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", help="the model to read")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="the file to write; text goes to stdout without it, or with -"
    )
    parser.add_argument("--from", dest="source", choices=FORMS, help="form of the input (default: by extension)")
    parser.add_argument(
        "--to",
        dest="result",
        choices=(*FORMS, "json"),
        help="form of the output (default: by extension); json: of an om",
    )
    parser.add_argument(
        "--external-weight",
        action="store_true",
        help="with an om: keep its weights in a file beside it, which models with the same weights share",
    )
    parser.add_argument("--sign", metavar="KEY", help="with an om: sign it with this private key (PEM, Ed25519)")
    parser.add_argument(
        "--memory-report",
        nargs="?",
        const="-",
        metavar="PATH",
        help="tell how the arena is used: as text on stdout or in PATH, as a picture in a PATH that ends in .html or .svg",
    )
    look = parser.add_mutually_exclusive_group()
    look.add_argument("--info", action="store_true", help="print what an om file holds: sizes, memory, tasks, target")
    look.add_argument(
        "--disassemble", action="store_true", help="print the machine code of the kernels, or their tile IR if portable"
    )
    look.add_argument("--diff", metavar="OM", help="print how the om differs from this one; exit code 1 if it does")
    parser.add_argument(
        "--elide", action="store_true", help="with text: no file of weights; it cannot be compiled then"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="print where every node of an ONNX model would run, and why, without compiling; exit code 1 when one can "
        "run nowhere",
    )
    add_compile_options(parser)
    add_gear_options(parser)
    add_memory_options(parser)
    parser.add_argument(
        "--precision",
        default="origin",
        metavar="MODE",
        help="element types to compute in: origin (the model's, the default), fp16, fp32, cube_fp16, cube_fp16in_fp32out, "
        "mixed_float16, mixed_bfloat16; what was changed, and why, is said on stderr",
    )
    parser.add_argument("--stage", choices=STAGES, help="with text and ONNX: run passes to the end of this stage")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run gecc-translate and return its exit code."""
    return run_tool("gecc-translate", _run, argv)


def _run(argv: Sequence[str] | None) -> int:
    from gecc.tools.atc.command import is_atc

    given = sys.argv[1:] if argv is None else argv
    if is_atc(given) and not {"-h", "--help"} & set(given):
        from gecc.tools.atc.run import run

        return run(given)
    from gecc import translate
    from gecc.precision.report import listening

    args = make_parser().parse_args(given)
    if args.output == "-":
        args.output = None
    output: str | None = args.output
    source = args.source or translate.form_of(args.input, "--from")
    if args.check:
        return _check(args, source)
    view = "info" if args.info else "disassemble" if args.disassemble else "json" if _is_json(args) else None
    if args.diff is not None:
        return _diff(args.input, args.diff)
    if view is not None:
        return _look(args, source, view)
    if output is None:
        if args.memory_report is not None and args.result is None:
            return _memory(args, source)
        if args.result != "mlir":
            raise CliError("no file to write", hint="-o names one; only --to mlir prints to stdout")
        result = "mlir"
    else:
        result = args.result or translate.form_of(output, "--to")
    if args.elide and result != "mlir":
        raise CliError(f"--elide is about text, the output is {result}")
    if args.sign and result != "om":
        raise CliError(f"--sign is about om files, the output is {result}")
    if args.external_weight and result != "om":
        raise CliError(f"--external-weight is about om files, the output is {result}")
    if args.kernels and result != "om":
        raise CliError(f"--kernels is about om files, the output is {result}")
    if args.stage and result == "om":
        raise CliError("--stage is about text and ONNX, the output is om")
    subject = _read(args, source)
    if subject.report is not None and (said := subject.report.short()):
        print(said, file=sys.stderr)
    options = _options(args)
    if given := _about_compiling(args):
        if subject.om is not None:
            raise CliError(f"{', '.join(given)} is about what is still to be compiled, the input is an om")
        if result != "om" and args.stage is None and args.level is None:
            raise CliError(f"{', '.join(given)} takes effect when passes run", hint="add --stage, or -O")
    if args.memory_report is not None:
        if result != "om":
            raise CliError(f"--memory-report is about what becomes an om, the output is {result}")
        _report_memory(args, subject, options)
    if output is not None and result == "om":
        with listening(_tell):
            said = translate.write_om(
                subject, output, key=args.sign, external=args.external_weight, kernels=args.kernels, **options
            )
        print(said)
        return 0
    if args.stage or args.level is not None:
        with listening(_tell):
            translate.lower(subject, args.stage or "om", **options)
    if output is not None and result == "onnx":
        print(translate.write_onnx(subject, output))
        return 0
    said = translate.write_text(subject, output, elide=args.elide)
    print(said, end="" if output is None else "\n")
    return 0


def _about_compiling(args: argparse.Namespace) -> list[str]:
    """The options given that change how a model is compiled, as they are spelled."""
    from gecc.precision import Precision

    found = [] if args.level is None else [f"-O{args.level}"]
    if args.target != "host":
        found.append("--target")
    if not Precision(args.precision).changes_nothing:
        found.append("--precision")
    return found + [flag.partition("=")[0] for flag in memory_options(args).flags]


def _read(args: argparse.Namespace, source: Form) -> Subject:
    from gecc import translate

    return translate.read(args.input, source, input_shapes(args), **_import_options(args))


def _check(args: argparse.Namespace, source: str) -> int:
    from gecc import api

    if source != "onnx":
        raise CliError(f"--check is for ONNX models, '{args.input}' is {source}")
    if args.output is not None or args.stage is not None:
        raise CliError("--check writes nothing and runs no passes", hint="leave out -o and --stage")
    report, error = api.check(args.input, input_shapes=input_shapes(args), **_import_options(args))
    print(report.full())
    if error is not None:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    return 0


def _memory(args: argparse.Namespace, source: Form) -> int:
    """The report alone, without an om."""
    subject = _read(args, source)
    _report_memory(args, subject, _options(args))
    return 0


def _tell(report: PrecisionReport) -> None:
    print(report.short(), file=sys.stderr)


def _import_options(args: argparse.Namespace) -> ImportOptions:
    """How to read an ONNX model."""
    return {"input_values": input_values(args), "gears": gears(args), "host": host(args)}


def _options(args: argparse.Namespace) -> CompileOptions:
    """How to compile."""
    from gecc.precision import Precision

    return {
        "opt_level": opt_level(args),
        "target": args.target,
        "memory": memory_options(args),
        "precision": Precision(args.precision),
    }


def _report_memory(args: argparse.Namespace, subject: Subject, options: CompileOptions) -> None:
    from gecc import translate

    text = translate.memory_report(subject, args.memory_report, **options)
    if args.memory_report == "-":
        print(text)
    else:
        from gecc.files import write_whole

        write_whole(args.memory_report, text)
        print(f"{args.memory_report}: memory report")


def _is_json(args: argparse.Namespace) -> bool:
    return args.result == "json" or (args.result is None and (args.output or "").endswith(".json"))


def _look(args: argparse.Namespace, source: Form, view: str) -> int:
    from gecc.debug.inspect.view import disassemble, look
    from gecc.precision.report import listening

    if view == "disassemble" and source != "om":
        with listening(_tell):
            text = disassemble(_read(args, source), args.kernels, **_options(args))
    else:
        text = look(args.input, source, view)
    if args.output is None:
        print(text, end="")
    else:
        from gecc.files import write_whole

        write_whole(args.output, text)
        print(f"{args.output}: {view}")
    return 0


def _diff(one: str, two: str) -> int:
    from gecc.debug.inspect.difference import differences

    found = differences(one, two)
    for line in found:
        print(line)
    if not found:
        print("no difference")
    return FAILED if found else 0


if __name__ == "__main__":
    sys.exit(main())
