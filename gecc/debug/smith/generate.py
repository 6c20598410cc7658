"""A random model from a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from onnx import ModelProto

from gecc.debug.smith import control, linear, movement, pointwise
from gecc.debug.smith.graph import Graph
from gecc.debug.smith.oracle import Array, Rejected, Value

OPSETS = (17, 20, 21, 22, 23)

GENERATORS: dict[Callable[[Graph], None], float] = {
    pointwise.unary: 6,
    pointwise.integer_unary: 1,
    pointwise.positive: 2,
    pointwise.binary: 8,
    pointwise.logical: 1,
    pointwise.comparison: 2,
    pointwise.where: 2,
    pointwise.clip: 1,
    pointwise.cast: 3,
    pointwise.cast_around: 1,
    movement.reshape: 4,
    movement.transpose: 4,
    movement.squeeze: 2,
    movement.concat: 3,
    movement.split: 3,
    movement.slices: 3,
    movement.pad: 2,
    movement.expand: 2,
    movement.tile: 1,
    movement.gather: 3,
    movement.depth: 1,
    movement.resize: 2,
    movement.trilu: 1,
    movement.numbers: 1,
    movement.copies: 1,
    linear.matmul: 6,
    linear.conv: 5,
    linear.conv_transpose: 2,
    linear.batch_norm: 1,
    linear.pool: 3,
    linear.softmax: 3,
    linear.norm: 4,
    linear.reduction: 4,
    linear.attention: 1,
    control.loop: 1.5,
    control.recurrent: 1.5,
}
"""What makes nodes, and how often."""


@dataclass(frozen=True)
class Sample:
    """A model, what to feed it and what its values should be."""

    seed: int
    model: ModelProto
    feeds: dict[str, Array]
    values: dict[str, Value]
    rejected: Counter[str] = field(default_factory=Counter[str])


def generate(seed: int, nodes: int = 8) -> Sample:
    """The model of a seed, of `nodes` nodes or a few more."""
    rng = random.Random(seed)
    graph = Graph(rng, rng.choice(OPSETS))
    makers, weights = list(GENERATORS), list(GENERATORS.values())
    wanted = rng.randint(1, nodes)
    for _ in range(20 * nodes):
        if len(graph.nodes) >= wanted:
            break
        try:
            rng.choices(makers, weights)[0](graph)
        except Rejected:
            continue  # the nodes made before it stay
    model = graph.model()
    feeds = {name: value.array for name, value in graph.inputs.items()}
    values = {v.name: v for v in (*graph.values, *graph.constants.values())}
    return Sample(seed, model, feeds, values, graph.rejected)
