"""Stand-ins for the outputs of nodes that cannot be imported, so that the nodes behind them are examined too."""

from __future__ import annotations

from functools import cached_property

import onnx
from onnx import ModelProto, TypeProto
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import Builder
from gecc.frontend.onnx.data_types import element_of
from gecc.frontend.onnx.model import OnnxModel
from gecc.frontend.onnx.narrow import NARROW


class Placeholders:
    """Values of the types that ONNX's shape inference gives. A module that holds one is never returned."""

    def __init__(self, model: OnnxModel, build: Builder) -> None:
        self.model = model
        self.build = build

    def value(self, name: str) -> SSAValue | None:
        """A value of the type inferred for `name`, or None when that is not a ranked tensor of a known element type."""
        kind = self._types.get(name)
        if kind is None or not kind.tensor_type.HasField("shape"):
            return None
        data_type = kind.tensor_type.elem_type
        element = element_of(data_type)
        if element is None:
            return None
        dims = [d.dim_value if d.HasField("dim_value") else -1 for d in kind.tensor_type.shape.dim]
        value = self.build.add(UnrealizedConversionCastOp.get([], [ge.tensor_type(dims, element)]))
        return self.build.mark(value, data_type) if data_type in NARROW else value

    @cached_property
    def _types(self) -> dict[str, TypeProto]:
        skeleton = ModelProto()
        skeleton.CopyFrom(self.model.proto)
        try:
            graph = onnx.shape_inference.infer_shapes(skeleton).graph
        except (onnx.shape_inference.InferenceError, ValueError):  # a model over 2 GB, or one ONNX cannot infer
            graph = self.model.graph
        return {info.name: info.type for info in [*graph.value_info, *graph.output]}
