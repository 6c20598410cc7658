"""Mode 0: a model becomes an om."""

from __future__ import annotations

import sys

from gecc.errors import CliError
from gecc.tools.atc.command import Command
from gecc.tools.atc.run import model_file
from gecc.tools.cli import host, input_shapes, input_values, memory_options, opt_level


def build(command: Command) -> int:
    """Compile; returns the exit code. Raises GeccError of the kind that fits."""
    from gecc import translate

    path = model_file(command, "mode 0 compiles it")
    output = output_file(command.need("output", "mode 0 writes it"))
    if "soc_version" in command:
        print(f"note: --soc_version={command['soc_version']}: the om is for a CPU, not for this chip", file=sys.stderr)
    own = command.own
    subject = translate.read(path, "onnx", input_shapes(own), input_values=input_values(own), host=host(own))
    if subject.report is not None and (said := subject.report.short()):
        print(said, file=sys.stderr)
    done = translate.write_om(
        subject,
        output,
        key=own.sign,
        external=command["external_weight"] != "0",
        opt_level=opt_level(own),
        target=own.target,
        memory=memory_options(own),
    )
    print(done)
    return 0


def output_file(output: str) -> str:
    """The om's file: --output says it without .om, and may say it with. Raises CliError for a folder."""
    name = output.removesuffix(".om")
    if not name or name.endswith("/"):
        raise CliError(f"E10001: --output is '{output}', expected a file without .om", hint="such as --output=net")
    return f"{name}.om"
