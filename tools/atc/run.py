"""Do what an atc command line asks for, mode by mode."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from gecc.errors import CliError
from gecc.tools.atc.command import Command, read

FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", "3": "TensorFlow"}
"""Numbers of --framework that are not read, with their names."""


def run(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Raises GeccError of the kind that fits."""
    command = read(argv)
    for line in command.warnings:
        print(f"gecc-translate: warning: {line}", file=sys.stderr)
    mode = command["mode"] or "0"
    if mode not in _MODES:
        raise CliError(f"E10007: --mode={mode} is not supported, expected one of {', '.join(_MODES)}")
    return _MODES[mode](command)


def model_file(command: Command, why: str) -> str:
    """The ONNX model. Raises CliError when it is missing, or of another framework."""
    path = command.need("model", why)
    framework = command.need("framework", "it says what the model is")
    if framework in FRAMEWORKS:
        raise CliError(
            f"E10007: --framework={framework} is {FRAMEWORKS[framework]}; only ONNX, --framework=5, is read",
            hint="export the model as ONNX",
        )
    return path


def _compile(command: Command) -> int:
    from gecc.tools.atc.build import build

    return build(command)


def _json(command: Command) -> int:
    from gecc.tools.atc.look import to_json

    return to_json(command)


def _info(command: Command) -> int:
    from gecc.debug.inspect.info import info

    print(info(command.need("om", "mode 6 tells about it")), end="")
    return 0


_MODES: dict[str, Callable[[Command], int]] = {"0": _compile, "1": _json, "6": _info}
