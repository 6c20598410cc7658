"""The flags that say which model, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.command import Command
from gecc.tools.atc.gears import sizes
from gecc.tools.atc.inputs import resized
from gecc.tools.cli import host, input_values

if TYPE_CHECKING:
    from gecc.frontend.onnx.model import OnnxModel
    from gecc.options import ImportOptions

FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", "3": "TensorFlow"}
"""Numbers of --framework that are not read, with their names."""


def model_file(command: Command, why: str) -> str:
    """The ONNX model. Raises CliError when it is missing, or of another framework."""
    path = command.need("model", why)
    check_framework(command.need("framework", "it says what the model is"))
    return path


def read_model(command: Command, path: str) -> tuple[OnnxModel, dict[str, tuple[int, ...]], ImportOptions]:
    """The model in a file, with sizes of its inputs changed where it fixes others than are given, the shapes of its inputs,
    and how else to import it. Raises GeccError of the kind that fits."""
    from gecc.frontend.onnx import load_model

    model = load_model(path)
    shapes, gears = sizes(command, model)
    options: ImportOptions = {
        "input_values": input_values(command.own),
        "gears": gears,
        "outputs": out_nodes(command),
        "host": host(command.own),
    }
    return resized(model, shapes), shapes, options


def check_framework(framework: str) -> None:
    """Raise CliError for a framework that is not read."""
    if framework in FRAMEWORKS:
        raise CliError(
            f"E10007: --framework={framework} is {FRAMEWORKS[framework]}; only ONNX, --framework=5, is read",
            hint="export the model as ONNX",
        )


def out_nodes(command: Command) -> list[str] | None:
    """What to compute instead of the model's own outputs; None for these. Raises CliError when nothing is named."""
    text = command["out_nodes"]
    if text is None:
        return None
    names = [name.strip() for name in text.split(";") if name.strip()]
    if not names:
        raise CliError(f"E10001: --out_nodes is '{text}', expected node:0;node:1, or names of tensors")
    return names
