"""Operators that the standard defines by other operators (Attention, RotaryEmbedding, losses, windows...).

An operator without an import function of its own is imported as its definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto
from onnx.defs import OpSchema

from gecc.frontend.onnx.builder import shape
from gecc.frontend.onnx.data_types import data_type_of
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.order import captured


def definition(node: Node) -> FunctionProto | None:
    """What the standard says that a node computes, or None when its operator is not defined by others."""
    schema = _schema(node)
    if schema is None:
        return None
    version = _newest(schema.context_dependent_function_opset_versions, node.opset)
    if version is not None:
        types = [_type_proto(node, i) for i in range(len(node.proto.input))]
        data = schema.get_context_dependent_function_with_opset_version(version, node.proto.SerializeToString(), types)
        return FunctionProto.FromString(data) if data else None
    version = _newest(schema.function_opset_versions, node.opset)
    return None if version is None else FunctionProto.FromString(schema.get_function_with_opset_version(version))


def may_be_defined(node: Node) -> bool:
    """Whether the standard defines the operator by others, at least for some inputs."""
    schema = _schema(node)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _schema(node: Node) -> Any:
    """The schema of a node's operator; its members about definitions are missing in onnx's own type stubs."""
    domain = "" if node.proto.domain == "ai.onnx" else node.proto.domain
    if not onnx.defs.has(node.proto.op_type, node.opset, domain):
        return None
    return onnx.defs.get_schema(node.proto.op_type, node.opset, domain)


def _newest(versions: list[int], opset: int) -> int | None:
    return max((v for v in versions if v <= opset), default=None)


def _type_proto(node: Node, i: int) -> bytes:
    value = node.optional(i)
    if value is None:
        return b""
    dims = [None if d == -1 else d for d in shape(value)]
    return onnx.helper.make_tensor_type_proto(data_type_of(node.build, value), dims).SerializeToString()


def needed(body: FunctionProto, node: Node) -> list[NodeProto]:
    """The nodes of a definition that the outputs in use need, in order, with the attributes of `node` put in."""
    wanted = {name for i, name in enumerate(body.output) if node.wants(i)}
    result: list[NodeProto] = []
    attributes = _attributes(body, node)
    for inner in reversed(body.node):
        if wanted.intersection(inner.output):
            wanted.update(inner.input)
            wanted.update(captured(inner))
            result.append(_with_attributes(inner, attributes, node.name))
    return result[::-1]


def _attributes(body: FunctionProto, node: Node) -> dict[str, AttributeProto]:
    defaults: Mapping[str, OpSchema.Attribute] = _schema(node).attributes
    known = {n: a.default_value for n, a in defaults.items() if a.default_value.type != AttributeProto.UNDEFINED}
    return {**known, **{a.name: a for a in body.attribute_proto}, **node.attributes}


def _with_attributes(inner: NodeProto, given: Mapping[str, AttributeProto], name: str) -> NodeProto:
    """`inner` with references to attributes of the outer node replaced by their values, or left out with them."""
    result = NodeProto()
    result.CopyFrom(inner)
    result.name = name
    del result.attribute[:]
    for attribute in inner.attribute:
        if not attribute.ref_attr_name:
            result.attribute.append(attribute)
            for graph in [*([result.attribute[-1].g] if attribute.HasField("g") else []), *result.attribute[-1].graphs]:
                nodes = [_with_attributes(each, given, each.name) for each in graph.node]
                del graph.node[:]
                graph.node.extend(nodes)
        elif attribute.ref_attr_name in given:
            value = AttributeProto()
            value.CopyFrom(given[attribute.ref_attr_name])
            value.name = attribute.name
            result.attribute.append(value)
    return result
