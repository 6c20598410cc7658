"""Other sizes than those that a model fixes for its inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from onnx import GraphProto

from gecc.frontend.onnx.model import OnnxModel, with_graph


class Resized(NamedTuple):
    """A dimension whose size was changed; `size` -1 leaves it open."""

    name: str
    dimension: int
    declared: int
    size: int


def with_input_shapes(model: OnnxModel, shapes: Mapping[str, Sequence[int]]) -> tuple[OnnxModel, list[Resized]]:
    """The model with these sizes of its inputs where it fixes others, and what was changed; the model itself when nothing
    was. Shapes of another rank, and of what is no input, are not looked at.

    What the model says of the shapes of other values goes, as it may not hold any more. Nodes stay as they are, so that
    one that was written for the old sizes is an error when the model is imported, or takes the new ones otherwise than
    was meant.
    """
    changes: list[Resized] = []
    for info in model.graph.input:
        dims, sizes = info.type.tensor_type.shape.dim, shapes.get(info.name, ())
        if len(dims) != len(sizes):
            continue
        changes += [
            Resized(info.name, i, dim.dim_value, size)
            for i, (dim, size) in enumerate(zip(dims, sizes, strict=True))
            if dim.HasField("dim_value") and dim.dim_value not in (size, -1)
        ]
    if not changes:
        return model, []
    graph = GraphProto()
    graph.CopyFrom(model.graph)
    inputs = {info.name: info for info in graph.input}
    for change in changes:
        dim = inputs[change.name].type.tensor_type.shape.dim[change.dimension]
        if change.size == -1:
            dim.ClearField("dim_value")
        else:
            dim.dim_value = change.size
    for info in (*graph.value_info, *graph.output):
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")
    return dataclasses.replace(model, proto=with_graph(model.proto, graph)), changes
