"""Mode 1: an om or a model as JSON."""

from __future__ import annotations

from gecc.errors import CliError
from gecc.files import write_whole
from gecc.tools.atc.command import Command


def to_json(command: Command) -> int:
    """Write the JSON; returns the exit code. Raises GeccError of the kind that fits."""
    path = command.need("om", "mode 1 reads it")
    target = command.need("json", "mode 1 writes it")
    if path.endswith(".onnx"):
        raise CliError(f"'{path}' is no om")
    from gecc.debug.inspect.json_form import json_form

    write_whole(target, json_form(path))
    print(f"{target}: json")
    return 0
