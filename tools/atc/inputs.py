"""--input_shape and --input_format, told in the names of the model's own inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.command import Command, warn

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

    from gecc.frontend.onnx.inputs import InputShape
    from gecc.frontend.onnx.model import OnnxModel

OPEN = -1
"""A dimension that is given as open."""


def input_shapes(command: Command, model: OnnxModel) -> dict[str, tuple[int, ...]]:
    """The sizes that a command line gives to inputs of a model, each a number.

    Raises CliError for another syntax, names that are no inputs, and dimensions left open.
    """
    shapes = parse_shapes(command["input_shape"] or "", model)
    for name, dims in shapes.items():
        if OPEN in dims:
            raise CliError(
                f"E10001: --input_shape leaves dimension {dims.index(OPEN)} of '{name}' open (-1), "
                "but an om is made for known sizes",
                hint="give a number, and several with --dynamic_batch_size, --dynamic_image_size or --dynamic_dims",
            )
    return shapes


def parse_shapes(text: str, model: OnnxModel) -> dict[str, tuple[int, ...]]:
    """The shapes in `name:1,3,224,224;other:2,4` for a model, with -1 for what is left open; `name:` is a scalar.

    Raises CliError for another syntax, names that are no inputs, and shapes of another rank.
    """
    from gecc.frontend.onnx.inputs import split_shapes

    shapes: dict[str, tuple[int, ...]] = {}
    for part, name, fields in split_shapes(text):
        if not name:
            raise _malformed(part, "it names no input", model)
        if ranged := next((field for field in fields if re.fullmatch(r"-?\d+~-?\d+", field)), None):
            raise CliError(
                f"E10048: '{part}' in --input_shape has the range {ranged}, but an om is made for known sizes",
                hint="give a number, and several with --dynamic_batch_size, --dynamic_image_size or --dynamic_dims",
            )
        for field in fields:
            if not re.fullmatch(r"-?\d+", field):
                raise _malformed(part, f"'{field}' is no number" if field else "a number is missing", model)
        dims = tuple(int(field) for field in fields)
        if any(d < OPEN for d in dims):
            raise CliError(f"E10011: '{part}' in --input_shape has the size {min(dims)}, expected 0 or more")
        if name in shapes:
            raise _malformed(part, f"the shape of '{name}' is given twice", model)
        shapes[name] = dims
    known = [info.name for info in tensor_inputs(model.graph)]
    for name in shapes:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise CliError(
                f"E10001: --input_shape names '{name}', which is no input of '{model.name}'",
                hint=f"its inputs are {_spelled(model)}" + (f"; did you mean '{close[0]}'?" if close else ""),
            )
    for shape in declared(model):
        dims = shapes.get(shape.name, shape.dims)
        if len(dims) != len(shape.dims):
            part = f"{shape.name}:{','.join(map(str, dims))}"
            raise _malformed(part, f"{len(dims)} sizes for a rank of {len(shape.dims)}", model)
    return shapes


def resized(model: OnnxModel, shapes: Mapping[str, Sequence[int]]) -> OnnxModel:
    """The model with these sizes of its inputs, also where it fixes others, which is warned of."""
    from gecc.frontend.onnx.resizing import with_input_shapes

    model, changes = with_input_shapes(model, shapes)
    if changes:
        said = ", ".join(
            f"dimension {c.dimension} of '{c.name}' is {'open' if c.size == OPEN else c.size} instead of {c.declared}"
            for c in changes
        )
        warn(f"--input_shape changes sizes that the model fixes, and its nodes may not go with: {said}")
    return model


def check_format(command: Command, model: OnnxModel) -> None:
    """Raise CliError for a value of --input_format that does not go with the model.

    The inputs of an ONNX model are laid out as it says, which NCHW and NCDHW describe and ND leaves open.
    """
    wanted = command["input_format"]
    if wanted is None:
        return
    if wanted in ("NHWC", "NDHWC"):
        raise CliError(
            f"E10007: --input_format={wanted}: the inputs of an ONNX model keep the layout it has, which is "
            f"{'NCHW' if wanted == 'NHWC' else 'NCDHW'} or free (ND)",
            hint="a Transpose at the model's input takes other data",
        )
    if wanted == "NCDHW" and not any(len(shape.dims) == 5 for shape in declared(model)):
        raise CliError(
            f"E10001: --input_format=NCDHW, but no input of '{model.name}' has five dimensions",
            hint=f"its inputs are {_spelled(model)}",
        )


def declared(model: OnnxModel) -> list[InputShape]:
    """The inputs of a model that are tensors, with the shapes that it declares. Raises InvalidModelError."""
    from gecc.frontend.onnx.inputs import declared_shape

    return [declared_shape(info, model.name) for info in tensor_inputs(model.graph)]


def tensor_inputs(graph: GraphProto) -> list[ValueInfoProto]:
    """The inputs of a graph that are tensors, and no constants."""
    constant = {tensor.name for tensor in graph.initializer}
    return [
        info for info in graph.input if info.name not in constant and info.type.WhichOneof("value") == "tensor_type"
    ]


def _malformed(part: str, why: str, model: OnnxModel) -> CliError:
    sample = ";".join(
        f"{shape.name}:{','.join(str(d) if isinstance(d, int) else '1' for d in shape.dims)}"
        for shape in declared(model)
    )
    return CliError(
        f"E10002: '{part}' in --input_shape is no shape of an input: {why}",
        hint=f"the inputs of '{model.name}' are {_spelled(model)}; write --input_shape=\"{sample}\"",
    )


def _spelled(model: OnnxModel) -> str:
    return ", ".join(f"'{shape.name}' {shape.spelled}" for shape in declared(model)) or "none"
