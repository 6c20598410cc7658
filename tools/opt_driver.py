"""The driver behind gecc-opt: xDSL's, with gecc's dialects, passes, checks and messages."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from gecc.errors import CliError, GeccError

if TYPE_CHECKING:
    from xdsl.passes import ModulePass
    from xdsl.utils.frontend import Frontend

    from gecc.rewrite import Miss


def _text_frontend() -> type[Frontend]:
    from gecc.parser import TextFrontend

    return TextFrontend


def _onnx_frontend() -> type[Frontend]:
    from gecc.frontend.onnx import OnnxFrontend

    return OnnxFrontend


class GeccOpt(xDSLOptMain):
    """One run of gecc-opt over one input.

    Raises `CliError` from the constructor for what is wrong with the command line; `execute` runs it.
    """

    def __init__(self, args: argparse.Namespace, specs: Sequence[str] | str, *, without: Collection[str] = ()) -> None:
        """`args` are those of `gecc.tools.gecc_opt`, `specs` the passes to run, `without` passes to leave out."""
        self.given = args
        self.specs = specs
        self.without = without
        try:
            super().__init__(args=[])
        except ArgSpecParseError as error:
            raise CliError(f"cannot read '{args.target}' or '{args.frontend}': {error}") from error

    # -- what xDSL's driver asks for ------------------------------------------------------------------------------

    def register_all_dialects(self) -> None:
        """Dialects of gecc and of xDSL, loaded when met."""
        from gecc.context import make_context

        self.ctx = make_context()

    def register_all_frontends(self) -> None:
        """xDSL's frontends, and ONNX by extension."""
        from xdsl.frontend import get_all_frontends

        self.available_frontends = {**get_all_frontends(), "mlir": _text_frontend, "onnx": _onnx_frontend}

    def register_all_passes(self) -> None:
        """Passes are looked up by `gecc.pipeline.parse_passes`."""

    def register_all_targets(self) -> None:
        """xDSL's targets."""
        from xdsl.targets import get_all_targets

        self.available_targets = {**get_all_targets()}

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """Take over the command line, which `gecc.tools.gecc_opt` has parsed. Raises `CliError` for unknown names."""
        arg_parser.set_defaults(**vars(self.given))
        for option, spec, known in (
            ("-t", self.given.target, self.available_targets),
            ("-f", self.given.frontend, self.available_frontends),
        ):
            if spec and (name := parse_spec(spec).name) not in known:
                raise CliError(f"unknown name '{name}' for {option}, expected one of {', '.join(known)}")

    def setup_pipeline(self) -> None:
        """Find the passes to run. Raises `CliError` for unknown ones."""
        from gecc.pipeline import parse_passes

        self.passes: Sequence[ModulePass] = [step for step in parse_passes(self.specs) if step.name not in self.without]

    def pipeline_text(self) -> str:
        """The passes to run as `-p` takes them."""
        from gecc.pipeline import pipeline_text

        return pipeline_text(str(step) for step in self.passes)

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """The input, and the name of the frontend that reads it: that of -f, else its extension."""
        stream, extension = super().get_input_stream()
        return stream, parse_spec(self.args.frontend).name if self.args.frontend else extension

    # -- running --------------------------------------------------------------------------------------------------

    def execute(self) -> int:
        """Read, transform and write every chunk of the input. Returns the exit code."""
        failed = False
        modules: list[ModuleOp | str] = []
        for chunk, extension, offset in self._chunks():
            with chunk:
                try:
                    module = self.parse_chunk(chunk, extension, offset)
                    if module is None:
                        continue
                    if extension != "onnx":
                        self._attach_weights(module)
                    self._check_sizes(module)
                    self.apply_passes(module)
                    modules.append(module)
                except ParseError as error:
                    error.span = dataclasses.replace(error.span, line_offset=offset)
                    shown = self.args.parsing_diagnostics or self.args.verify_diagnostics
                    message = str(error)
                except (DiagnosticException, GeccError) as error:
                    shown = self.args.verify_diagnostics
                    message = render(error)
                else:
                    continue
            if shown:
                modules.append(message)
            else:
                print(message, file=sys.stderr)
                failed = True
        if failed:
            return 1
        self._write(modules)
        return 0

    def _chunks(self) -> list[tuple[IO[bytes], str, int]]:
        """The parts of the input, each with the file extension and the line where it begins."""
        try:
            chunks, extension = self.prepare_input()
        except OSError as error:
            raise CliError(f"cannot read '{self.args.input_file}': {error.strerror}") from error
        except ValueError as error:
            raise CliError(
                f"cannot tell how to read '{self.args.input_file}' by its extension",
                hint=f"-f names one of {', '.join(self.available_frontends)}",
            ) from error
        return [(chunk, extension, offset) for chunk, offset in chunks]

    def _attach_weights(self, module: ModuleOp) -> None:
        from gecc.text import attach_weights

        attach_weights(self.ctx, module, Path(self.args.input_file or ".").absolute().parent)

    def _check_sizes(self, module: ModuleOp) -> None:
        """Whether the sizes of the inputs are known, when passes run that need them. Raises ShapeError naming those open."""
        if "ge-to-fused" not in (str(step).partition("{")[0] for step in self.passes):
            return
        from gecc.frontend.onnx.inputs import require_static

        require_static(module, option="-f 'onnx{{input-shape=\"{}\"}}'")

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline on one module, with the checks that were asked for."""
        from gecc.pipeline import run_passes
        from gecc.precision.report import listening
        from gecc.rewrite import listen
        from gecc.verify import has_provenance

        if self.args.verify_numerics:
            from gecc.debug import verify_numerics

            verify_numerics.run(self.ctx, prog, [str(step) for step in self.passes])
            return
        started = time.perf_counter()
        times: list[tuple[str, float]] = []
        misses: list[str] = []

        def after(name: str, module: ModuleOp) -> None:
            nonlocal started
            times.append((name, time.perf_counter() - started))
            for miss in misses:
                print(f"remark: {name}: {miss}", file=sys.stderr)
            misses.clear()
            if self.args.print_between_passes:
                print(f"// after {name}", file=sys.stderr)
                Printer(stream=sys.stderr, print_debuginfo=self.args.print_debuginfo).print_op(module)
                print("\n", file=sys.stderr)
            started = time.perf_counter()

        listener = listen(lambda miss: misses.append(remark(miss))) if self.args.remarks else nullcontext()
        with listener, listening(lambda report: print(report.short(), file=sys.stderr)):
            run_passes(
                self.ctx,
                prog,
                self.passes,
                verify_each=self.args.verify_each,
                locations=has_provenance(prog),
                after=after,
            )
        if self.args.time_passes:
            for name, seconds in times:
                print(f"{seconds * 1e3:10.3f} ms  {name}", file=sys.stderr)

    def _write(self, results: Sequence[ModuleOp | str]) -> None:
        """Print modules and messages in order, with the weights beside the file."""
        from gecc.files import whole_file
        from gecc.text import mark_elided, save_weights

        modules = [result for result in results if not isinstance(result, str)]
        if self.args.elide:
            for module in modules:
                mark_elided(module)
        if self.args.output_file is None:
            sys.stdout.write(self._text(results))
            sys.stdout.flush()
            return
        with whole_file(self.args.output_file) as file:  # opened first: without the text, no weights appear either
            if not self.args.elide:
                save_weights(self.ctx, modules, Path(self.args.output_file))
            file.write(self._text(results).encode())

    def _text(self, results: Sequence[ModuleOp | str]) -> str:
        text = StringIO()
        for index, result in enumerate(results):
            if index:
                text.write("// -----\n")
            text.write(f"{result}\n" if isinstance(result, str) else self.output_resulting_program(result))
        return text.getvalue()


def remark(miss: Miss) -> str:
    """A refusal as text: the operation, the ONNX nodes it comes from, the reason."""
    from gecc.rewrite import location_names

    names = ", ".join(location_names(miss.op))
    return f"{miss.op.name} {f'({names}) ' if names else ''}refused: {miss}"


def render(error: Exception) -> str:
    """An error in words: the message, the operation it is about, and the pass.

    xDSL attaches the whole module as a note; only the operation marked in it is shown.
    """
    lines = [f"error: {error}"]
    for note in getattr(error, "__notes__", ()):
        if note.startswith(("in pass ", "found after pass ")):
            lines.append(f"  {note}")
        elif (operation := _marked_operation(note)) is not None:
            lines.append(f"  in {operation}")
    return "\n".join(lines)


def _marked_operation(note: str) -> str | None:
    """The line above the `^^^^` marker of a note that shows a module."""
    previous = ""
    for line in note.splitlines():
        if line.lstrip().startswith("^^^"):
            return previous.strip()
        previous = line
    return None
