"""Run the RUN lines of a lit test without starting processes.

`gecc-opt %s -p ge-cse | filecheck %s` costs half a second of start-up as processes and some milliseconds as calls.
Understood are pipelines of `gecc-opt` and `filecheck`, with `not`, `2>&1` and input from a file; the rest is left
to lit's own shell.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RUN_LINE = re.compile(r"^\s*(?://|#|;)\s*RUN:(.*)$", re.MULTILINE)
OPERATOR = re.compile(r"[|&;<>]+")


class NotUnderstood(Exception):
    """A RUN line needs a shell."""


@dataclass(frozen=True)
class Command:
    """One command of a pipeline. `merged` sends its stderr along with its stdout, `negated` wants it to fail."""

    args: tuple[str, ...]
    negated: bool = False
    merged: bool = False
    stdin: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a command or script printed, and its exit code."""

    code: int
    out: str
    err: str


def run_lines(text: str) -> list[str]:
    """The RUN lines of a test, continuation lines joined."""
    lines: list[str] = []
    pending = ""
    for match in RUN_LINE.finditer(text):
        line = match.group(1).strip()
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        lines.append(pending + line)
        pending = ""
    return lines


def parse_pipeline(line: str) -> list[Command]:
    """Split a RUN line into commands. Raises `NotUnderstood` for anything that needs a shell."""
    # shlex takes runs of operator characters for one word, so `2>&1` is set apart by hand
    lexer = shlex.shlex(line.replace("2>&1", " \0 "), posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise NotUnderstood(str(error)) from error
    commands: list[Command] = []
    current: list[str] = []
    for word in [*words, "|"]:
        if word == "|":
            commands.append(_command(current))
            current = []
        else:
            current.append(word)
    return commands


def _command(words: Sequence[str]) -> Command:
    negated = merged = False
    stdin: str | None = None
    args: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "\0":
            merged = True
        elif word == "<":
            stdin = next(rest, None)
        elif OPERATOR.fullmatch(word) or word in ("(", ")"):
            raise NotUnderstood(f"operator '{word}'")
        elif word == "not" and not args:
            negated = not negated
        else:
            args.append(word)
    if not args or args[0] not in ("gecc-opt", "filecheck"):
        raise NotUnderstood(f"command '{' '.join(args)}'")
    return Command(tuple(args), negated, merged, stdin)


def run_command(command: Command, stdin: str) -> Outcome:
    """Run one command by calling its Python code. An unexpected exception is exit code 70 with its traceback."""
    if command.stdin is not None:
        stdin = Path(command.stdin).read_text(encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    saved = sys.stdin
    try:
        sys.stdin = source
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if command.merged else err):
            code = _call(command.args, stdin)
    finally:
        sys.stdin = saved
    if command.negated:
        # as LLVM's `not`: a crash is not a failure that a test may expect
        code = 0 if code in (1, 2) else code or 1
    return Outcome(code, out.getvalue(), err.getvalue())


def _call(args: Sequence[str], stdin: str) -> int:
    try:
        if args[0] == "filecheck":
            return _filecheck(args, stdin)
        from gecc.tools.gecc_opt import main

        return main(args[1:])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception:  # what Python's own main would do
        traceback.print_exc()
        return 70


def _filecheck(args: Sequence[str], stdin: str) -> int:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    options = parse_argv_options(list(args))
    # filecheck misses a CHECK-NOT that matches the last character of an input without final newline
    text = stdin if stdin.endswith("\n") or not stdin else stdin + "\n"
    if options.input_file != "-":
        text = Path(options.input_file).read_text(encoding="utf-8")
    return Matcher(options, FInput(options.readable_input_file(), text), Parser.from_opts(options)).run()


def run_script(lines: Sequence[str]) -> Outcome:
    """Run expanded RUN lines one after the other until one fails, as `set -o pipefail` would.

    Raises `NotUnderstood` before running anything when one of them needs a shell.
    """
    pipelines = [parse_pipeline(line) for line in lines]
    log: list[str] = []
    for line, pipeline in zip(lines, pipelines, strict=True):
        flow = ""
        failed: Outcome | None = None
        for command in pipeline:
            outcome = run_command(command, flow)
            flow = outcome.out
            log.append(outcome.err)
            if outcome.code and failed is None:
                failed = outcome
        if failed is not None:
            return Outcome(failed.code, flow, f"RUN: {line}\n" + "".join(log))
    return Outcome(0, "", "".join(log))


def run_test_file(path: Path) -> Outcome:
    """Run a lit test file whose RUN lines use no substitution but `%s`."""
    lines = run_lines(path.read_text(encoding="utf-8"))
    if not lines:
        raise ValueError(f"{path} has no RUN line")
    return run_script([line.replace("%s", str(path)) for line in lines])
