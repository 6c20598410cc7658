"""--dynamic_batch_size, --dynamic_image_size and --dynamic_dims: an om for several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.command import Command
from gecc.tools.atc.inputs import check_format, input_shapes, parse_shapes
from gecc.tools.cli import gears_of_text

if TYPE_CHECKING:
    from gecc.frontend.onnx.model import OnnxModel
    from gecc.gears import Gears

KINDS = {"dynamic_batch_size": "batch", "dynamic_image_size": "image", "dynamic_dims": "dims"}
"""The flags, and the kind of gears that each asks for."""

_FORMATS = {"image": ("NCHW",), "dims": ("ND",)}
"""Values of --input_format that a kind goes with; any goes with the others, and none need be given."""


def sizes(command: Command, model: OnnxModel) -> tuple[dict[str, tuple[int, ...]], Gears | None]:
    """The sizes that a command line gives to inputs of a model, and the gears that take the places of -1 among them, None
    when it asks for none.

    Raises CliError for flags that exclude each other, and for sizes that break a rule.
    """
    given = [name for name in KINDS if name in command]
    if len(given) > 1:
        raise CliError(f"E10009: {' and '.join(f'--{name}' for name in given)} exclude each other")
    check_format(command, model)
    if not given:
        return input_shapes(command, model), None
    (name,) = given
    kind = KINDS[name]
    format_ = command["input_format"]
    if format_ is not None and format_ not in _FORMATS.get(kind, (format_,)):
        allowed = " or ".join(_FORMATS[kind])
        raise CliError(f"E10001: --{name} goes with --input_format={allowed}, found {format_}")
    if kind == "dims" and "insert_op_conf" in command:
        raise CliError(f"E10047: --{name} and --insert_op_conf exclude each other")
    shapes = parse_shapes(command.need("input_shape", "gears give the sizes that are -1 in it"), model)
    return shapes, gears_of_text(kind, command[name] or "", shapes, name)
