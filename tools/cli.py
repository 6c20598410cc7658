"""What the command lines share: exit codes, errors in words, options that mean the same everywhere."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gecc.errors import CliError, GeccError

if TYPE_CHECKING:
    from gecc.gears import Gears
    from gecc.pipeline import MemoryOptions

FAILED = 1
"""Exit code for models, files and results that are wrong."""

USAGE_ERROR = 2
"""Exit code for what is wrong with the command line."""


_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the system says of a stream that takes no more. Files that tools write by name say so as CliError."""

COMPILER_PACKAGES = ("xdsl", "onnx", "llvmlite", "ml_dtypes")
"""What gecc needs besides numpy and protobuf to compile; running an om takes none of them."""


def run_tool(prog: str, body: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None) -> int:
    """Run a tool's body; errors become a line on stderr and an exit code. `argv` None: as a process of its own."""
    if argv is None:  # thousands of classes and operations are made and kept: looking for garbage often is in vain
        gc.set_threshold(100_000, 50, 1000)
    try:
        code = body(argv)
        if sys.stdout is not None:  # None where it is closed
            sys.stdout.flush()
        return code
    except CliError as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except GeccError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    except MemoryError as error:  # a model may ask for any size
        print(f"error: not enough memory: {error}".rstrip(": "), file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stderr.close()
        return FAILED
    except OSError as error:
        if error.filename is not None or error.errno not in _CANNOT_WRITE:
            raise
        print(f"{prog}: error: cannot write to stdout: {error.strerror}", file=sys.stderr)
        if argv is None:  # what is left of it would be tried once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return USAGE_ERROR
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in COMPILER_PACKAGES:
            raise
        print(f"error: this needs the package {error.name}, which is not installed", file=sys.stderr)
        print("  hint: pip install 'gecc[compile]'", file=sys.stderr)
        return FAILED
    except Exception as error:
        text = in_words(error)
        if text is None:
            raise
        print(text, file=sys.stderr)
        return FAILED


def in_words(error: Exception) -> str | None:
    """An error of xDSL's (a module that does not parse or verify, a pass that failed) as text; None for any other."""
    if "xdsl" not in sys.modules:
        return None
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    from gecc.tools.opt_driver import render

    if isinstance(error, DiagnosticException):
        return render(error)
    return str(error) if isinstance(error, ParseError) else None


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Options about compiling a model."""
    from gecc.pipeline import DEFAULT_LEVEL, PIPELINES

    add = parser.add_argument_group("compilation").add_argument
    add(
        "--input-shape",
        default="",
        metavar="SHAPES",
        help="sizes of the inputs of an ONNX model: 'x:1,3,48,192;y:2,4'",
    )
    add(
        "--input-value",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fix an input of an ONNX model to a value, which may decide shapes: a number, 2,3,4, JSON, or a file "
        ".npy or .pb; repeatable",
    )
    add("--no-host", action="store_true", help="refuse what has no native form, instead of running it on the host")
    add(
        "-O",
        dest="level",
        choices=[level[1:] for level in PIPELINES],
        help=f"optimisation level (default: {DEFAULT_LEVEL[1:]})",
    )
    add(
        "--kernels",
        choices=("native", "portable"),
        help="what the om holds of its kernels: machine code (default), or code that is checked and compiled where it is "
        "loaded, for files that move between machines or come from strangers",
    )
    add("--target", default="host", metavar="NAME", help="machine to compile for (default: host, this one)")


def add_gear_options(parser: argparse.ArgumentParser) -> None:
    """Options about models for several sizes of their inputs."""
    add = (
        parser.add_argument_group(
            "gears",
            "several sizes for one om: a run takes the one that its inputs have. --input-shape has -1 where they go.",
        )
        .add_mutually_exclusive_group()
        .add_argument
    )
    add("--batch-gears", metavar="SIZES", help="of the first dimension: 1,2,4,8")
    add("--image-gears", metavar="SIZES", help="of height and width: 224,224;448,448")
    add("--dims-gears", metavar="SIZES", help="of all -1, in their order: 1,128;8,128")


def gears(args: argparse.Namespace) -> Gears | None:
    """The gears that a command line asks for. Raises CliError for another syntax, and for sizes that break a rule."""
    kind = _gear_kind(args)
    if kind is None:
        return None
    return gears_of_text(kind, getattr(args, f"{kind}_gears"), input_shapes(args), f"{kind}-gears")


def _gear_kind(args: argparse.Namespace) -> str | None:
    kinds = ("batch", "image", "dims")
    return next((kind for kind in kinds if getattr(args, f"{kind}_gears", None) is not None), None)


def gears_of_text(kind: str, text: str, shapes: Mapping[str, Sequence[int]], option: str) -> Gears:
    """The gears that the value of an option names. Raises CliError for another syntax, and for sizes that break a rule."""
    from gecc.errors import ShapeError
    from gecc.gears import parse_gears

    try:
        return parse_gears(kind, text.strip().strip("'\""), shapes)
    except ShapeError as error:
        raise CliError(error.message, where=f"--{option}={text}", hint=error.hint) from None


def add_memory_options(parser: argparse.ArgumentParser) -> None:
    """Options about planning memory."""
    add = parser.add_argument_group("memory").add_argument
    add("--memory-effort", choices=("fast", "default", "best"), default="default", help="work spent (default: default)")
    add(
        "--memory-limit",
        type=_bytes,
        metavar="BYTES",
        help="find a plan whose arena takes at most so many bytes (200000, 512K, 8M), at the cost of speed if need be",
    )
    add("--disable-reuse-memory", action="store_true", help="give every buffer bytes of its own (to look for errors)")
    add("--memory-slack", type=_percent, default=0, metavar="PERCENT", help="memory to give for fewer barriers")


def memory_options(args: argparse.Namespace) -> MemoryOptions:
    """How to plan memory."""
    from gecc.pipeline import MemoryOptions

    return MemoryOptions(args.memory_effort, args.memory_limit, args.disable_reuse_memory, args.memory_slack)


def _bytes(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    digits = text if unit == 1 else text[:-1]
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no number of bytes, such as 200000, 512K or 8M")
    return int(digits) * unit


def _percent(text: str) -> int:
    if not text.isdecimal() or int(text) > 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage from 0 to 1000")
    return int(text)


def opt_level(args: argparse.Namespace) -> str:
    """The optimisation level of a command line."""
    from gecc.pipeline import DEFAULT_LEVEL

    return DEFAULT_LEVEL if args.level is None else f"O{args.level}"


def input_shapes(args: argparse.Namespace) -> dict[str, tuple[int, ...]]:
    """The sizes given by --input-shape, -1 among them where gears give the sizes. Raises CliError for another syntax."""
    if not args.input_shape:
        return {}
    from gecc.frontend.onnx.inputs import parse_input_shape

    return parse_input_shape(args.input_shape, open_sizes=_gear_kind(args) is not None)


def input_values(args: argparse.Namespace) -> dict[str, Any]:
    """The values given by --input-value. Raises CliError for another syntax, InputError for an unreadable file."""
    found: dict[str, Any] = {}
    for argument in args.input_value:
        name, equals, text = argument.partition("=")
        if not equals or not name:
            raise CliError(f"'{argument}' is no value of an input", hint="expected NAME=VALUE, such as shape=2,3,4")
        if name in found:
            raise CliError(f"the value of input '{name}' is given twice")
        found[name] = _value(name, text)
    return found


def _value(name: str, text: str) -> Any:
    import json

    if text.endswith((".npy", ".npz", ".pb")):
        from gecc.debug.feeds import read_array

        return read_array(text)
    text = text.strip()
    try:
        return json.loads(f"[{text}]" if "," in text and not text.startswith("[") else text)
    except ValueError:
        raise CliError(
            f"'{text}' is no value for input '{name}'",
            hint="expected a number, numbers separated by commas, JSON, or a file .npy or .pb",
        ) from None


def host(args: argparse.Namespace) -> Literal["allow", "forbid"]:
    """Whether parts of a model may run on the host."""
    return "forbid" if args.no_host else "allow"


def natural(text: str) -> int:
    """An argument that is a number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 on")
    return int(text)


def positive(text: str) -> int:
    """An argument that is a number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)
