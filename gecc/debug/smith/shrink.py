"""Make a failing model small, keeping that it fails in the same way.

Outputs are dropped, nodes are cut off (their results become inputs, fed with what the oracle says), and extents are
reduced wherever they occur. Each candidate is run by the oracles before it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

from gecc.debug.smith.graph import info, make_model, tensor
from gecc.debug.smith.oracle import Array, Rejected, Value, given, run

EXTENTS = (1, 2, 3, 4, 5, 8, 16)
MOST_TRIES = 400


@dataclass(frozen=True)
class Case:
    """A model without its weights: nodes, names of outputs, inputs and constants by name."""

    opset: int
    nodes: tuple[NodeProto, ...]
    outputs: tuple[str, ...]
    feeds: dict[str, Array]
    constants: dict[str, Array]

    def values(self) -> dict[str, Value]:
        """All values. Raises Rejected."""
        graph = helper.make_graph(
            self.nodes, "smith", [], [], [numpy_helper.from_array(a, n) for n, a in self.constants.items()]
        )
        return run(make_model(graph, self.opset), self.feeds)

    def model(self) -> ModelProto:
        """The model. Raises Rejected when the oracles do not take it."""
        values = self.values()
        graph: GraphProto = helper.make_graph(
            self.nodes,
            "smith",
            [info(given(name, array)) for name, array in self.feeds.items()],
            [info(values[name]) for name in self.outputs],
            [tensor(given(name, array)) for name, array in self.constants.items()],
        )
        return make_model(graph, self.opset)

    def pruned(self) -> Case:
        """Without what the outputs do not need."""
        needed = set(self.outputs)
        nodes: list[NodeProto] = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                nodes.append(node)
                needed.update(node.input)
        return Case(
            self.opset,
            tuple(reversed(nodes)),
            self.outputs,
            {name: a for name, a in self.feeds.items() if name in needed},
            {name: a for name, a in self.constants.items() if name in needed},
        )

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """What shrinking makes smaller."""
        arrays = [*self.feeds.values(), *self.constants.values()]
        return len(self.nodes), len(self.outputs), sum(a.size for a in arrays), sum(a.ndim for a in arrays)


def case_of(model: ModelProto, feeds: dict[str, Array]) -> Case:
    """A model as a case."""
    graph = model.graph
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    outputs = tuple(output.name for output in graph.output)
    return Case(model.opset_import[0].version, tuple(graph.node), outputs, feeds, constants).pruned()


def shrink(case: Case, fails: Callable[[ModelProto, dict[str, Array]], bool]) -> Case:
    """The smallest case found that still fails."""
    tries = 0
    smaller = True
    while smaller and tries < MOST_TRIES:
        smaller = False
        for candidate in _candidates(case):
            if candidate.weight >= case.weight:
                continue
            try:
                model = candidate.model()
            except (Rejected, ValueError, IndexError):  # extents that no longer fit
                continue
            tries += 1
            if fails(model, candidate.feeds):
                case, smaller = candidate, True
                break
            if tries >= MOST_TRIES:
                break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    for name in case.outputs:
        if len(case.outputs) > 1:
            yield _with(case, outputs=(name,))
    for node in case.nodes:  # results of early nodes as outputs
        for name in node.output:
            if name not in case.outputs:
                yield _with(case, outputs=(name,))
    try:
        values = case.values()
    except Rejected:
        return
    for at in reversed(range(len(case.nodes))):
        node = case.nodes[at]
        if set(node.output) & set(case.outputs):
            continue
        cut = {name: values[name].array for name in node.output}
        rest = (*case.nodes[:at], *case.nodes[at + 1 :])
        yield _with(case, nodes=rest, feeds={**case.feeds, **cut})
        yield _with(case, nodes=rest, constants={**case.constants, **cut})
    for at, node in enumerate(case.nodes):  # a node that changes nothing of the type
        for source in node.input:
            for name in node.output:
                if source and len(node.output) == 1 and _alike(values[source], values[name]):
                    yield _renamed(case, at, name, source)
    yield from _smaller_extents(case)


def _alike(a: Value, b: Value) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def _with(
    case: Case,
    *,
    nodes: Sequence[NodeProto] | None = None,
    outputs: tuple[str, ...] | None = None,
    feeds: dict[str, Array] | None = None,
    constants: dict[str, Array] | None = None,
) -> Case:
    return Case(
        case.opset,
        case.nodes if nodes is None else tuple(nodes),
        case.outputs if outputs is None else outputs,
        case.feeds if feeds is None else feeds,
        case.constants if constants is None else constants,
    ).pruned()


def _renamed(case: Case, at: int, name: str, source: str) -> Case:
    """Without node `at`, its result `name` being `source`."""
    nodes: list[NodeProto] = []
    for node in (*case.nodes[:at], *case.nodes[at + 1 :]):
        copy = NodeProto()
        copy.CopyFrom(node)
        for i, operand in enumerate(copy.input):
            if operand == name:
                copy.input[i] = source
        nodes.append(copy)
    made = {n for node in nodes for n in node.output}
    outputs = tuple(dict.fromkeys(source if n == name else n for n in case.outputs))
    return _with(case, nodes=nodes, outputs=tuple(n for n in outputs if n in made))


def _smaller_extents(case: Case) -> Iterator[Case]:
    """An extent replaced by a smaller one in all inputs, constants and constant shapes."""
    arrays = {**case.feeds, **case.constants}
    sizes = sorted({d for a in arrays.values() for d in a.shape if d > 1}, reverse=True)
    for size in sizes:
        for extent in (e for e in (*EXTENTS, size - 1) if e < size):

            def cut(array: Array, size: int = size, extent: int = extent) -> Array:
                if array.dtype == np.int64 and array.ndim == 1 and array.size <= 6 and size in array:
                    array = np.where(array == size, extent, array)
                return array[tuple(slice(extent if d == size else d) for d in array.shape)]

            feeds = {name: cut(a) for name, a in case.feeds.items()}
            yield _with(case, feeds=feeds, constants={name: cut(a) for name, a in case.constants.items()})
