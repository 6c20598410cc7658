"""Read an atc command line by the table of flags."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from gecc.errors import CliError
from gecc.tools.atc.flags import FLAGS, SWITCH, TEXT, TRUTH, Flag, State
from gecc.tools.cli import add_compile_options, add_memory_options

_SHARED = frozenset({"output"})
"""Names that are options of gecc-translate without atc's flags too."""

_ALIASES = {"input-shape": "input_shape"}
"""gecc-translate's own spelling of what is the same flag."""

_ON_OFF = {SWITCH: ("0", "1"), TRUTH: ("true", "false")}
_CODES = {SWITCH: "E10006", TRUTH: "E10005"}


def is_atc(argv: Sequence[str]) -> bool:
    """Whether a command line is written for atc: it has a flag that only atc has."""
    return any(_name(argument) in FLAGS.keys() - _SHARED for argument in argv)


@dataclass
class Command:
    """A command line that was read."""

    given: dict[str, str]
    """Flags that are given, with their values as text; of one given twice the last."""
    own: argparse.Namespace
    """Options of gecc-translate's own: see `add_own_options`."""
    own_given: list[str] = field(default_factory=list)
    """Names of those that are given."""
    warnings: list[str] = field(default_factory=list)
    """One line for each flag that has no effect here."""
    asked: set[str] = field(default_factory=set)
    """Flags that somebody wanted to know."""

    def __getitem__(self, name: str) -> str | None:
        """The value of a flag: as given, else its default, else None. Raises KeyError for no flag."""
        self.asked.add(name)
        return self.given.get(name, FLAGS[name].default)

    def __contains__(self, name: str) -> bool:
        """Whether a flag is given."""
        self.asked.add(name)
        return name in self.given

    def unheeded(self) -> list[str]:
        """Flags that are given and to be followed, but which nobody has asked for."""
        return [name for name in self.given if FLAGS[name].state is State.FOLLOWED and name not in self.asked]

    def need(self, name: str, why: str) -> str:
        """The value of a flag that must be there. Raises CliError saying why."""
        value = self[name]
        if value is None:
            raise CliError(f"E10004: --{name} is missing: {why}", hint=f"give --{name}={_sample(FLAGS[name])}")
        return value


def read(argv: Sequence[str]) -> Command:
    """Read a command line. Raises CliError for unknown flags, values that a flag does not take, flags refused."""
    given: dict[str, str] = {}
    rest: list[str] = []
    arguments = list(argv)
    while arguments:
        argument = arguments.pop(0)
        name = _name(argument) or ""
        flag = FLAGS.get(_ALIASES.get(name, name))
        if flag is None:
            rest.append(argument)
            continue
        _, equals, value = argument.partition("=")
        if not equals:  # atc's reader takes --name value as well, and a bare switch as on
            allowed = _ON_OFF.get(flag.takes) if isinstance(flag.takes, str) else None
            if arguments and not arguments[0].startswith("-") and (allowed is None or arguments[0] in allowed):
                value = arguments.pop(0)
            elif allowed is not None:
                value = allowed[flag.takes == SWITCH]
        given[flag.name] = _checked(flag, value)
    command = Command(given, _own(rest), [a.partition("=")[0] for a in rest if a.startswith("-")])
    for name in given:
        flag = FLAGS[name]
        if flag.state is State.REFUSED:
            raise CliError(f"--{name} cannot be followed: {flag.help}")
        if flag.state is State.IGNORED:
            command.warnings.append(f"--{name} is ignored: {flag.help}")
    return command


def bad_value(flag: str, value: str, expected: str, *, code: str = "E10001", hint: str | None = None) -> CliError:
    """The error of a value that a flag does not take."""
    return CliError(f"{code}: --{flag} is '{value}', expected {expected}", hint=hint)


def warn(line: str) -> None:
    """A line on stderr."""
    print(f"gecc-translate: warning: {line}", file=sys.stderr)


def make_folder_of(path: str) -> None:
    """Make the folder that a file is to be written in, as atc does. Raises CliError when that fails."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder or ".", exist_ok=True)
    except OSError as error:
        raise CliError(f"E19000: cannot make the folder '{folder}' for '{path}': {error.strerror}") from error


def _checked(flag: Flag, value: str) -> str:
    """The value, checked by what the flag takes; quotes and space around it, which shells leave, do not count."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1].strip()
    if flag.state is not State.FOLLOWED:
        return value
    if not value:
        raise CliError(f"E10004: --{flag.name} has no value", hint=f"expected --{flag.name}={_sample(flag)}")
    if flag.takes == TEXT:
        return value
    if isinstance(flag.takes, tuple):
        if value not in flag.takes:
            raise bad_value(flag.name, value, f"one of {', '.join(flag.takes)}", code="E10007", hint=flag.help)
    elif value not in _ON_OFF[flag.takes]:
        raise bad_value(flag.name, value, flag.takes, code=_CODES[flag.takes])
    return value


def _sample(flag: Flag) -> str:
    return flag.sample or flag.default or flag.syntax


def _name(argument: str) -> str | None:
    """The name in `--name=value` or `-name=value`; None for what is no option."""
    if not argument.startswith("-"):
        return None
    name = argument.partition("=")[0]
    return name.removeprefix("-").removeprefix("-")


class _Reader(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise CliError(message)


def add_own_options(parser: argparse.ArgumentParser) -> None:
    """What can be said beside atc's flags: how to compile, how to plan memory, whom to sign for."""
    add_compile_options(parser)
    add_memory_options(parser)
    parser.add_argument("--sign", metavar="KEY")


def _own(rest: list[str]) -> argparse.Namespace:
    parser = _Reader("gecc-translate", add_help=False, allow_abbrev=False)
    add_own_options(parser)
    own, unknown = parser.parse_known_args(rest)
    if unknown:
        raise _unknown(unknown[0], [a for action in parser._actions for a in action.option_strings])
    return own


def _unknown(argument: str, own: list[str]) -> CliError:
    from difflib import get_close_matches

    name = argument.partition("=")[0]
    if not name.startswith("-"):
        return CliError(
            f"'{name}' is no flag, and atc's command line has nothing else",
            hint="--model=FILE names the model; a value with spaces or ';' needs quotes",
        )
    close = get_close_matches("--" + name.lstrip("-"), [*(f"--{flag}" for flag in FLAGS), *own], n=1, cutoff=0.5)
    return CliError(
        f"unknown flag '{name}'", hint=f"did you mean {close[0]}?" if close else "gecc-translate --help lists the flags"
    )
