"""Check the element types of a node's inputs against the standard's schema, which ONNX's own checker leaves out."""

from __future__ import annotations

import onnx
from onnx.defs import OpSchema
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.data_types import data_type_of
from gecc.frontend.onnx.model import type_name
from gecc.frontend.onnx.node import Node


def check_node(node: Node) -> None:
    """Raise InvalidModelError when an input is missing or has an element type that the standard does not allow."""
    if node.proto.domain not in ("", "ai.onnx") or not onnx.defs.has(node.proto.op_type, node.opset):
        return
    schema = onnx.defs.get_schema(node.proto.op_type, node.opset)
    if len(node.inputs) < schema.min_input:
        node.invalid(f"has {len(node.inputs)} inputs, expected at least {schema.min_input}")
    bound: dict[str, tuple[int, str]] = {}
    for i, value in enumerate(node.inputs):
        if value is None or not schema.inputs:
            continue
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        found = value.type.spelled.data if isinstance(value.type, ge.ObjectType) else _name(node, value)
        if found not in formal.types:
            tensors = sorted(t for t in formal.types if t.startswith("tensor"))
            expected = ", ".join(tensors or sorted(formal.types))
            node.invalid(f"input {i} ({formal.name}) is {found}, expected one of {expected}")
        if formal.option == OpSchema.FormalParameterOption.Variadic and not formal.is_homogeneous:
            continue
        first, kind = bound.setdefault(formal.type_str, (i, found))
        if kind != found:
            node.invalid(f"input {i} ({formal.name}) is {found}, but input {first} is {kind}")


def _name(node: Node, value: SSAValue) -> str:
    """The name that schemas give the type of a tensor."""
    return f"tensor({type_name(data_type_of(node.build, value)).lower()})"
