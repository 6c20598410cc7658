"""The minimum cut against exhaustive search."""

from __future__ import annotations

import itertools
import random

import pytest

from gecc.passes.ge.choose_layouts.min_cut import FlowNetwork


def brute_force(nodes: int, edges: list[tuple[int, int, int]]) -> int:
    best = None
    for choice in itertools.product((False, True), repeat=nodes - 2):
        side = (True, False, *choice)
        cost = sum(capacity for tail, head, capacity in edges if side[tail] and not side[head])
        best = cost if best is None else min(best, cost)
    assert best is not None
    return best


@pytest.mark.parametrize("seed", range(40))
def test_cost_is_that_of_the_best_of_all_cuts(seed: int) -> None:
    rng = random.Random(seed)
    nodes = rng.randint(2, 9)
    edges = [(rng.randrange(nodes), rng.randrange(nodes), rng.randint(0, 9)) for _ in range(rng.randint(1, 30))]
    network = FlowNetwork()
    for _ in range(nodes - 2):
        network.add_node()
    for edge in edges:
        network.add_edge(*edge)
    cost, side = network.cut()
    assert side[network.source]
    assert not side[network.sink]
    assert cost == sum(capacity for tail, head, capacity in edges if side[tail] and not side[head])
    assert cost == brute_force(nodes, edges)


def test_of_equal_cuts_the_source_side_is_the_largest() -> None:
    network = FlowNetwork()
    node = network.add_node()
    network.add_edge(network.source, node, 4)
    network.add_edge(node, network.sink, 4)
    assert network.cut() == (4, [True, False, True])


def test_a_chain_longer_than_the_recursion_limit() -> None:
    network = FlowNetwork()
    previous = network.source
    for index in range(5000):
        node = network.add_node()
        network.add_edge(previous, node, 3 if index == 1234 else 5)
        previous = node
    network.add_edge(previous, network.sink, 7)
    cost, side = network.cut()
    assert cost == 3
    assert sum(side) == 1235  # the source and the nodes before the narrow edge
