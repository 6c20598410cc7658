"""Mode 0: a model becomes an om."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.borders import borders
from gecc.tools.atc.command import Command, make_folder_of, warn
from gecc.tools.atc.model import model_file, read_model
from gecc.tools.atc.precision import precision, tell
from gecc.tools.atc.switching import switches
from gecc.tools.atc.told import KernelTexts, Told, told, write_statistics
from gecc.tools.cli import memory_options, opt_level

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

LEVELS = {"O0": "O0", "O1": "O1", "O2": "O2", "O3": "O2"}
"""Values of --oo_level to levels of gecc."""


def build(command: Command) -> int:
    """Compile; returns the exit code. Raises GeccError of the kind that fits."""
    from gecc import translate
    from gecc.borders import outputs_of, prepare
    from gecc.precision.report import listening
    from gecc.rewrite import counting

    path = model_file(command, "mode 0 compiles it")
    output = output_file(command.need("output", "mode 0 writes it"))
    if "soc_version" in command:
        print(f"note: --soc_version={command['soc_version']}: the om is for a CPU, not for this chip", file=sys.stderr)
    own = command.own
    texts = kernel_texts(command)
    level = level_of(command)
    off = switches(command)
    memory = memory_options(own)
    if command["disable_reuse_memory"] == "1":
        memory = replace(memory, disable_reuse=True)
    model, shapes, options = read_model(command, path)
    subject = translate.read_onnx(model, shapes, **options)
    if subject.report is not None and (said := subject.report.short()):
        print(said, file=sys.stderr)
    module = subject.as_module()
    prepare(subject.ctx, module, borders(command, model, outputs_of(module)), warn)
    wanted = precision(command)
    make_folder_of(output)
    log = Told(command["log"] or "null")
    with ExitStack() as stack:
        counts = stack.enter_context(counting()) if command["export_compile_stat"] != "0" else None
        stack.enter_context(told(log))
        stack.enter_context(listening(tell))

        def after(step: str, module: ModuleOp) -> None:
            log.after(step, module)
            if texts is not None:
                texts.after(step, module)

        done = translate.write_om(
            subject,
            output,
            key=own.sign,
            external=external(command),
            opt_level=level,
            target=own.target,
            kernels=own.kernels,
            memory=memory,
            precision=wanted,
            switches=off,
            after=after,
        )
    print(done)
    if counts is not None:
        try:
            write_statistics(counts)
        except CliError as error:
            if "export_compile_stat" in command:
                raise
            warn(str(error))
    if command["display_model_info"] == "1":
        from gecc.debug.inspect.info import info

        print(info(output), end="")
    return 0


def output_file(output: str) -> str:
    """The om's file: --output says it without .om, and may say it with. Raises CliError for a folder."""
    name = output.removesuffix(".om")
    if not Path(name).name or name.endswith("/"):
        raise CliError(f"E10001: --output is '{output}', expected a file without .om", hint="such as --output=net")
    return f"{name}.om"


def level_of(command: Command) -> str:
    """The optimisation level. Raises CliError when -O and --oo_level contradict."""
    own = opt_level(command.own)
    if "oo_level" not in command:
        return own
    level = LEVELS[command["oo_level"] or "O3"]
    if command.own.level is not None and level != own:
        raise CliError(f"--oo_level={command['oo_level']} is -{level}, but -{own} is given too")
    return level


def external(command: Command) -> bool:
    """Whether weights go into a file of their own."""
    if command["external_weight"] == "1":
        print("note: --external_weight=1: all weights are in one file, as with 2", file=sys.stderr)
    return command["external_weight"] != "0"


def kernel_texts(command: Command) -> KernelTexts | None:
    """What writes the kernels as text, when --op_debug_level asks for it."""
    folder = command["debug_dir"] or "."
    return None if command["op_debug_level"] == "0" else KernelTexts(Path(folder))
