"""Layouts: values stay, nothing is moved that need not be, and the choice is the cheapest one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.attrs import LayoutAttr

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Graph


def image(g: Graph, rng: np.random.Generator, *shape: int) -> SSAValue:
    return g.input(rng.normal(size=shape).astype(np.float32))


def conv(g: Graph, rng: np.random.Generator, x: SSAValue, channels: int, kernel: int = 3) -> SSAValue:
    w = g.const(rng.normal(size=(channels, ge.dims(x)[1], kernel, kernel)).astype(np.float32) / 8)
    return g.add(ge.Conv2D(x, w, pads=(kernel // 2,) * 4))


def is_nhwc(value: SSAValue) -> bool:
    return isinstance(ge.tensor(value).encoding, LayoutAttr)


def memory_order(value: SSAValue) -> list[int]:
    shape = ge.dims(value)
    order = (0, 2, 3, 1) if is_nhwc(value) else range(len(shape))
    return [d for d in order if shape[d] != 1]


def moves_bytes(op: Operation) -> bool:
    x, y = op.operands[0], op.results[0]
    perm = op.perm.get_values() if isinstance(op, ge.Transpose) else range(ge.rank(x))
    return memory_order(x) != [perm[d] for d in memory_order(y)]


def moved_bytes(g: Graph) -> int:
    """Bytes that TransData and Transpose of rank 4 move."""
    return sum(
        4 * math.prod(ge.dims(op.operands[0]))
        for op in g.block.ops
        if isinstance(op, ge.TransData | ge.Transpose) and ge.rank(op.operands[0]) == 4 and moves_bytes(op)
    )


def test_a_convolutional_net_moves_its_ends_only(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 3, 8, 8)
    a = graph.add(ge.Relu(conv(graph, rng, x, 8)))
    b = graph.add(ge.Add(conv(graph, rng, a, 8), a))
    p = graph.add(ge.MaxPool(b, (2, 2), strides=(2, 2)))
    c = graph.add(ge.Concat([p, conv(graph, rng, p, 4)], 1))
    s = graph.add(ge.GlobalAveragePool(c))
    gate = graph.add(ge.Sigmoid(conv(graph, rng, s, 12, 1)))
    y = graph.add(ge.Mul(c, gate))
    graph.finish(graph.add(ge.Softmax(y, axis=1))).check("ge-choose-layouts", rtol=0, atol=0)
    moves = [op for op in graph.block.ops if isinstance(op, ge.TransData)]
    assert [ge.dims(op.x) for op in moves] == [(1, 3, 8, 8), (1, 12, 4, 4)]
    assert all(is_nhwc(v) for op in graph.block.ops if isinstance(op, ge.Conv2D) for v in (op.x, op.result))


@pytest.mark.parametrize("mode", ["cubic", "linear"])
def test_a_resize_by_tables_runs_where_its_image_lies(graph: Graph, rng: np.random.Generator, mode: str) -> None:
    x = image(graph, rng, 1, 3, 8, 8)
    y = graph.add(ge.Resize(x, (1, 3, 4, 4), mode=mode, antialias=True))
    graph.finish(graph.add(ge.Resize(y, (1, 3, 8, 8), mode="cubic"))).check("ge-choose-layouts", rtol=0, atol=0)
    assert graph.names() == ["ge.Resize", "ge.Resize"]


def test_without_convolutions_nothing_happens(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 3, 8, 8)
    graph.finish(graph.add(ge.Softmax(graph.add(ge.Relu(x)), axis=1)))
    graph.apply("ge-choose-layouts")
    assert graph.names() == ["ge.Relu", "ge.Softmax"]


def test_constants_follow(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    y = graph.add(ge.Mul(y, graph.const(rng.normal(size=(1, 6, 1, 1)).astype(np.float32))))
    y = graph.add(ge.Add(y, graph.const(rng.normal(size=(6, 1, 1)).astype(np.float32))))
    y = graph.add(ge.Add(y, graph.const(rng.normal(size=(1, 6, 4, 4)).astype(np.float32))))
    graph.finish(graph.add(ge.Relu(y))).check("ge-choose-layouts", rtol=0, atol=0)
    assert graph.names().count("ge.TransData") == 2


def test_one_pixel_and_one_channel_are_free(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 2, 1, 4, 4)
    y = graph.add(ge.GlobalAveragePool(conv(graph, rng, x, 6)))
    graph.finish(graph.add(ge.Reshape(y, (2, 6)))).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 0


def test_flatten_needs_row_major(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    graph.finish(graph.add(ge.Reshape(y, (1, 96)))).check("ge-choose-layouts", rtol=0, atol=0)
    assert graph.names() == ["ge.TransData", "ge.Conv2D", "ge.TransData", "ge.Reshape"]


def test_tokens_of_an_image_are_free(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 2, 3, 4, 6), 8)
    flat = graph.add(ge.Reshape(y, (2, 8, 24)))
    graph.finish(graph.add(ge.Transpose(flat, (0, 2, 1)))).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 4 * 2 * 3 * 4 * 6


def test_sequence_first_of_one_line_is_free(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 1, 3, 1, 6), 8)
    flat = graph.add(ge.Reshape(y, (1, 8, 6)))
    graph.finish(graph.add(ge.Transpose(flat, (2, 0, 1)))).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 4 * 3 * 6


def test_an_image_of_tokens_is_free(graph: Graph, rng: np.random.Generator) -> None:
    t = image(graph, rng, 2, 24, 3)
    back = graph.add(ge.Reshape(graph.add(ge.Transpose(t, (0, 2, 1))), (2, 3, 4, 6)))
    y = graph.add(ge.Relu(graph.add(ge.GlobalMaxPool(conv(graph, rng, back, 8)))))
    graph.finish(y).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 0


def test_heads_are_no_images(graph: Graph, rng: np.random.Generator) -> None:
    """The merged heads of attention have the shapes of tokens, but no convolution is near."""
    x = image(graph, rng, 2, 4, 3, 5)
    heads = graph.add(ge.Transpose(x, (0, 2, 1, 3)))
    merged = graph.add(ge.Transpose(graph.add(ge.Reshape(heads, (2, 3, 20))), (0, 2, 1)))
    back = graph.add(ge.Reshape(graph.add(ge.Transpose(merged, (0, 2, 1))), (2, 3, 4, 5)))
    graph.finish(graph.add(ge.MatMulV2(back, back, transpose_x2=True)))
    before = graph.names()
    graph.apply("ge-choose-layouts")
    assert graph.names() == before


def test_channels_last_model_keeps_no_transposition(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 5, 6, 3)
    y = graph.add(ge.Relu(conv(graph, rng, graph.add(ge.Transpose(x, (0, 3, 1, 2))), 4)))
    y = graph.add(ge.Transpose(conv(graph, rng, y, 7), (0, 2, 3, 1)))
    graph.finish(y).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 0
    assert "ge.TransData" not in graph.names()


def test_layer_norm_between_convolutions_moves_nothing(graph: Graph, rng: np.random.Generator) -> None:
    x = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    n = graph.add(ge.LayerNorm(graph.add(ge.Transpose(x, (0, 2, 3, 1))), axis=3))
    y = graph.add(ge.Add(conv(graph, rng, graph.add(ge.Transpose(n, (0, 3, 1, 2))), 6), x))
    graph.finish(graph.add(ge.ReduceMean(y, (2, 3)))).check("ge-choose-layouts", rtol=0, atol=0)
    assert moved_bytes(graph) == 4 * 3 * 4 * 4


def test_a_shared_value_is_moved_once(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    graph.finish(*(graph.add(ge.Reshape(y, (n, 96 // n))) for n in (2, 3, 4)), y)
    graph.check("ge-choose-layouts", rtol=0, atol=0)
    assert graph.names().count("ge.TransData") == 2


def test_a_large_row_major_part_stays_row_major(graph: Graph, rng: np.random.Generator) -> None:
    """The sum lies between one convolution and three row-major operands: moving one is cheaper than moving three."""
    y = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    for _ in range(3):
        y = graph.add(ge.Add(y, graph.add(ge.Reshape(image(graph, rng, 96), (1, 6, 4, 4)))))
    graph.finish(y).check("ge-choose-layouts", rtol=0, atol=0)
    adds = [op for op in graph.block.ops if isinstance(op, ge.Add)]
    assert not any(is_nhwc(op.result) for op in adds)


def test_resize_split_pad_slice_and_reductions_follow(graph: Graph, rng: np.random.Generator) -> None:
    y = conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)
    y = graph.add(ge.Resize(y, (1, 6, 8, 8), coordinate_mode="asymmetric", nearest_mode="floor"))
    split = ge.Split(graph.add(ge.Pad(y, (0, 0, 1, 0, 0, 0, 0, 1))), 1, (2, 4))
    graph.add(split)
    part = graph.add(ge.Slice(split.outputs[1], [0], [9], [2], [2]))
    pooled = graph.add(ge.ReduceMax(part, (2, 3), keep_dims=True))
    y = graph.add(ge.Mul(part, pooled))
    graph.finish(graph.add(ge.ReduceMean(y, (2, 3))), graph.add(ge.ArgMax(split.outputs[0], 1)))
    graph.check("ge-choose-layouts", rtol=0, atol=0)
    assert graph.names().count("ge.TransData") == 1


def test_twice_is_once(graph: Graph, rng: np.random.Generator) -> None:
    y = graph.add(ge.Relu(conv(graph, rng, image(graph, rng, 1, 3, 4, 4), 6)))
    y = graph.add(ge.Mul(y, graph.const(rng.normal(size=(1, 6, 4, 4)).astype(np.float32))))
    graph.finish(graph.add(ge.Reshape(y, (6, 16))))
    graph.apply("ge-choose-layouts")
    once = str(graph.module)
    graph.apply("ge-choose-layouts")
    assert str(graph.module) == once


def random_net(g: Graph, rng: np.random.Generator, size: int) -> SSAValue:
    """A random graph over images of one shape."""
    values = [image(g, rng, 1, 4, 3, 5)]
    for _ in range(size):
        x, y = (values[rng.integers(len(values))] for _ in range(2))
        match rng.integers(8):
            case 0:
                made = conv(g, rng, x, 4)
            case 1:
                made = g.add(ge.Relu(x))
            case 2:
                made = g.add(ge.Reshape(g.add(ge.Tanh(g.add(ge.Reshape(x, (4, 15))))), (1, 4, 3, 5)))
            case 3:
                made = g.add(ge.Mul(x, g.add(ge.GlobalMaxPool(y))))
            case 4:
                last = g.add(ge.Softmax(g.add(ge.Transpose(x, (0, 2, 3, 1)))))
                made = g.add(ge.Transpose(last, (0, 3, 1, 2)))
            case 5:
                made = g.add(ge.Transpose(g.add(ge.Transpose(x, (0, 1, 3, 2))), (0, 1, 3, 2)))
            case _:
                made = g.add(ge.Add(x, y))
        values.append(made)
    return values[-1]


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_keep_their_values(make_graph: Callable[[], Graph], seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = make_graph()
    y = random_net(g, rng, 12)
    g.finish(g.add(ge.Tanh(y))).check("ge-choose-layouts", rtol=0, atol=0)


@pytest.mark.parametrize("seed", range(10))
def test_no_other_placement_moves_fewer_bytes(make_graph: Callable[[], Graph], seed: int) -> None:
    """Every followable operation is tried in both layouts, on graphs small enough to try all."""
    from itertools import product

    from gecc.passes.ge.choose_layouts import _apply
    from gecc.passes.ge.choose_layouts.placement import Placement, place
    from gecc.passes.ge.choose_layouts.rules import Gives, gives

    def build() -> Graph:
        rng = np.random.default_rng(1000 + seed)
        g = make_graph()
        return g.finish(random_net(g, rng, 5))

    chosen = build()
    _apply(chosen.block, place(chosen.block), chosen.store)
    best = moved_bytes(chosen)
    sample = build()
    ops = list(sample.block.ops)
    free = [i for i, op in enumerate(ops) if gives(op) is Gives.EITHER and ge.rank(op.results[0]) == 4]
    assert len(free) <= 12
    for labels in product((False, True), repeat=len(free)):
        g = build()
        ops = list(g.block.ops)
        nhwc = {op: gives(op) is Gives.NHWC for op in ops if op.results}
        nhwc.update({ops[i]: label for i, label in zip(free, labels, strict=True)})
        _apply(g.block, Placement(nhwc), g.store)
        assert moved_bytes(g) >= best
