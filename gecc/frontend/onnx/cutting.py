"""Other outputs than a model's own: the graph is cut where they are made, and what they do not need goes.

Inputs stay, even those that are not needed any more, so that a program that feeds the model goes on working.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from difflib import get_close_matches

from onnx import GraphProto, NodeProto, ValueInfoProto

from gecc.errors import CliError
from gecc.frontend.onnx.model import OnnxModel, with_graph

SHOWN = 5
"""Names that a message suggests at most."""


def with_outputs(model: OnnxModel, wanted: Sequence[str]) -> OnnxModel:
    """The model with these outputs, in this order: each `node:0`, the first output of a node by its name, or a tensor.

    Raises CliError for a name that is neither (with near ones), an output that a node has not, and for one given twice.
    """
    graph = model.graph
    names = [tensor_of(graph, text, model.name) for text in wanted]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise CliError(
                f"E10001: the output '{name}' is given twice, as '{wanted[names.index(name)]}' and '{wanted[i]}'"
            )
    known = {info.name: info for info in (*graph.value_info, *graph.output)}
    changed = GraphProto()
    changed.CopyFrom(graph)
    del changed.output[:]
    changed.output.extend(known.get(name) or ValueInfoProto(name=name) for name in names)
    return dataclasses.replace(model, proto=with_graph(model.proto, changed))


def tensor_of(graph: GraphProto, text: str, model: str) -> str:
    """The name of the tensor that `text` means, `node:0` or a name. Raises CliError as `with_outputs` does."""
    text = text.strip()
    node_name, _, number = text.rpartition(":")
    names = [node.name or f"{node.op_type}_{i}" for i, node in enumerate(graph.node)]  # as messages call them
    nodes = [node for node, name in zip(graph.node, names, strict=True) if name == node_name and number.isdecimal()]
    made = {name for node in graph.node for name in node.output if name}
    if text in made and len(nodes) != 1:
        return text
    if nodes:
        return _output(nodes, node_name, int(number), text)
    if text in names:
        raise CliError(
            f"E10001: '{text}' is a node, expected one of its outputs", hint=f"'{text}:0' is the first of them"
        )
    given = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    if text in given:
        raise CliError(f"E10001: '{text}' is not computed by the model: it is an input or a constant of it")
    candidates = sorted(made)
    candidates += [f"{name}:{i}" for node, name in zip(graph.node, names, strict=True) for i in range(len(node.output))]
    close = get_close_matches(text, candidates, n=SHOWN, cutoff=0.5)
    raise CliError(
        f"E10016: no node and no tensor of {model} is called '{text}'",
        hint=f"near it are {', '.join(close)}" if close else "expected node:0, or the name of a tensor",
    )


def _output(nodes: Sequence[NodeProto], name: str, number: int, text: str) -> str:
    if len(nodes) > 1:
        raise CliError(
            f"E10001: {len(nodes)} nodes are called '{name}'",
            hint=f"name the tensor: {', '.join(o for node in nodes for o in node.output if o)}",
        )
    [node] = nodes
    if number >= len(node.output) or not node.output[number]:
        there = ", ".join(f"{name}:{i}" for i, output in enumerate(node.output) if output)
        raise CliError(f"E10001: '{text}' is no output of the {node.op_type} '{name}'", hint=f"it has {there}")
    return node.output[number]
