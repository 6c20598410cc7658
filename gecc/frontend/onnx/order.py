"""Nodes in an order in which every value is made before it is used.

The standard demands that order, but converters that ONNX Runtime tolerates leave graphs without it.
"""

from __future__ import annotations

from onnx import GraphProto, NodeProto

from gecc.errors import InvalidModelError


def captured(proto: NodeProto) -> list[str]:
    """Names that the subgraphs of a node may take from outside."""
    names: list[str] = []
    for attribute in proto.attribute:
        for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            names += [info.name for info in graph.output]
            for inner in graph.node:
                names += [*inner.input, *captured(inner)]
    return names


def in_order(graph: GraphProto, model: str) -> GraphProto:
    """`graph` itself when its nodes are in order, else a copy in which they are, otherwise in the order given.

    Raises InvalidModelError naming the nodes of a cycle.
    """
    makers = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    needs = [
        sorted({makers[name] for name in (*node.input, *captured(node)) if name in makers} - {i})
        for i, node in enumerate(graph.node)
    ]
    if all(not before or before[-1] < i for i, before in enumerate(needs)):
        return graph
    order = _sorted(needs, graph, model)
    result = GraphProto()
    result.CopyFrom(graph)
    del result.node[:]
    result.node.extend(graph.node[i] for i in order)
    return result


def _sorted(needs: list[list[int]], graph: GraphProto, model: str) -> list[int]:
    """Depth first over what nodes need, without recursion."""
    order: list[int] = []
    done, open_nodes = set[int](), set[int]()
    for root in range(len(needs)):
        stack = [(root, 0)]
        while stack:
            node, position = stack.pop()
            if node in done:
                continue
            open_nodes.add(node)
            if position < len(needs[node]):
                stack.append((node, position + 1))
                before = needs[node][position]
                if before in open_nodes:
                    cycle = ", ".join(
                        f"{graph.node[i].op_type} '{graph.node[i].name}' (node {i})" for i in sorted(open_nodes)
                    )
                    raise InvalidModelError(f"the graph has a cycle among {cycle}", where=model)
                stack.append((before, 0))
            else:
                open_nodes.discard(node)
                done.add(node)
                order.append(node)
    return order
