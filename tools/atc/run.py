"""Do what an atc command line asks for, mode by mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gecc.errors import CliError
from gecc.tools.atc.command import Command, read, warn


def run(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Raises GeccError of the kind that fits."""
    command = read(argv)
    mode = command["mode"] or "0"
    if mode not in _MODES:
        raise CliError(f"E10007: --mode={mode} is not supported, expected one of {', '.join(_MODES)}")
    for line in command.warnings:
        warn(line)
    code = _MODES[mode](command)
    for name in _unheeded(command, mode):
        warn(f"{name} has no effect with --mode={mode}")
    return code


def _unheeded(command: Command, mode: str) -> list[str]:
    """Options that are given, to be followed, and have not been."""
    own = [] if mode == "0" else [name for name in command.own_given if mode != "3" or name not in _CHECKED]
    return [*(f"--{name}" for name in command.unheeded() if name != "soc_version"), *own]


def _compile(command: Command) -> int:
    from gecc.tools.atc.build import build

    return build(command)


def _json(command: Command) -> int:
    from gecc.tools.atc.as_json import to_json

    return to_json(command)


def _check(command: Command) -> int:
    from gecc.tools.atc.check import check

    return check(command)


def _dumped(command: Command) -> int:
    from gecc.tools.atc.as_json import dumped_to_json

    return dumped_to_json(command)


def _info(command: Command) -> int:
    from gecc.debug.inspect.info import info

    print(info(command.need("om", "mode 6 tells about it")), end="")
    return 0


_CHECKED = ("--no-host", "--input-value")
"""Options of gecc-translate's own that mode 3 heeds as well."""

_MODES: dict[str, Callable[[Command], int]] = {"0": _compile, "1": _json, "3": _check, "5": _dumped, "6": _info}
