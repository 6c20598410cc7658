"""Operators of ONNX Runtime that it writes in the standard's domain, though the standard does not have them there.

They get the domain com.microsoft before the model is checked, so that the checker does not stumble over them.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto, ModelProto, NodeProto, defs, helper

STRANGERS = {"SimplifiedLayerNormalization": 10**9, "LayerNormalization": 17}
"""Operators that are ONNX Runtime's below an opset of the standard (ever, for one that the standard never had)."""


def with_own_domain(model: ModelProto, opset: int) -> ModelProto:
    """`model` itself when it has no such operators, else a copy in which they are in com.microsoft."""
    if not any(_is_stranger(node, opset) for node in _nodes(model.graph)):
        return model
    result = ModelProto()
    result.CopyFrom(model)
    for node in _nodes(result.graph):
        if _is_stranger(node, opset):
            node.domain = "com.microsoft"
    if "com.microsoft" not in {o.domain for o in result.opset_import}:
        result.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return result


def _is_stranger(node: NodeProto, opset: int) -> bool:
    return node.domain in ("", "ai.onnx") and opset < STRANGERS.get(node.op_type, 0)


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """All nodes, those of subgraphs too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                yield from _nodes(inner)


def without_unknown(model: ModelProto, opset: int) -> ModelProto:
    """A copy for the checker, which stops at the first operator that the standard has not: these are in a domain of
    their own, which it lets pass. The import then tells of all of them."""
    result = ModelProto()
    result.CopyFrom(model)
    for node in _nodes(result.graph):
        if node.domain in ("", "ai.onnx") and not defs.has(node.op_type, opset):
            node.domain = "unknown"
    result.opset_import.append(helper.make_opsetid("unknown", 1))
    return result
