"""The flags about forms of inputs and outputs: pictures, element types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.command import Command

if TYPE_CHECKING:
    from gecc.borders import Borders
    from gecc.frontend.onnx.model import OnnxModel


def borders(command: Command, model: OnnxModel, outputs: Sequence[str]) -> Borders:
    """What the flags ask for; `outputs` are the names of its outputs in the om.

    Raises CliError for what is no list of names, and for names that are no outputs.
    """
    from gecc.borders import Borders

    return Borders(
        command["insert_op_conf"],
        "NCHW",
        {name: "float16" for name in names(command["input_fp16_nodes"], "input_fp16_nodes")},
        output_types(command["output_type"], model, outputs),
    )


def names(text: str | None, flag: str) -> list[str]:
    """The names in `a;b`. Raises CliError when there is none."""
    if text is None:
        return []
    found = [name.strip() for name in text.strip("'\"").split(";") if name.strip()]
    if not found:
        raise CliError(f"E10001: --{flag} is '{text}', expected names of inputs: a;b")
    return list(dict.fromkeys(found))


def output_types(text: str | None, model: OnnxModel, outputs: Sequence[str]) -> str | dict[str, str] | None:
    """The one type of all outputs, or types by name, of `FP16` or `node:0:FP16;name:FP32`.

    Raises CliError for another syntax, and for what is no output.
    """
    if text is None:
        return None
    entries = [entry.strip() for entry in text.strip("'\"").split(";") if entry.strip()]
    if len(entries) == 1 and ":" not in entries[0]:
        return entries[0]
    found: dict[str, str] = {}
    for entry in entries:
        name, colon, kind = entry.rpartition(":")
        if not colon or not name:
            raise CliError(
                f"E10001: '{entry}' in --output_type names no output", hint="expected FP16, or node:0:FP16;name:FP32"
            )
        output = _output(name.strip(), model, outputs)
        if found.setdefault(output, kind) != kind:
            raise CliError(f"E10001: --output_type gives '{output}' the types {found[output]} and {kind}")
    if not found:
        raise CliError(f"E10001: --output_type is '{text}', expected FP16, or node:0:FP16;name:FP32")
    return found


def _output(name: str, model: OnnxModel, outputs: Sequence[str]) -> str:
    """The output that a name, or `node:0`, means."""
    if name in outputs:
        return name
    from gecc.frontend.onnx.cutting import tensor_of

    tensor = tensor_of(model.graph, name, model.name)
    if tensor not in outputs:
        raise CliError(
            f"E10001: '{name}' in --output_type is the tensor '{tensor}', which is no output",
            hint=f"the outputs are {', '.join(outputs)}; --out_nodes makes others",
        )
    return tensor
