"""tile-reorder against every order there is, on random graphs; and the estimate that it orders by against the planner."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from gecc.context import make_context
from gecc.dialects.tile import LaunchOp
from gecc.passes.tile._graph_memory import GraphMemory, graph_memory
from gecc.passes.tile.reorder import TileReorder, best_order

SIZES = (16, 32, 48, 160, 1024)


def build(shape: list[tuple[int, list[int], bool]], results: list[int]) -> ModuleOp:
    """A function of launches: of each the size of its result, which earlier ones it reads, and whether in place."""
    block = Block(arg_types=[TensorType(f32, [16])])
    values: list[SSAValue] = [block.args[0]]
    for size, reads, inplace in shape:
        ins = [values[i] for i in dict.fromkeys(reads)]
        launch = LaunchOp(
            "k", f"L{len(values)}", ins, [TensorType(f32, [size])], inplace=[0] if inplace and ins else []
        )
        block.add_op(launch)
        values.append(launch.results_[0])
    returned = [values[i] for i in dict.fromkeys(results)]
    block.add_op(ReturnOp(*returned))
    kind = ([block.args[0].type], [v.type for v in returned])
    return ModuleOp([FuncOp("main", kind, Region(block))])


@st.composite
def graphs(draw: st.DrawFn, most: int = 7) -> ModuleOp:
    """Random graphs of up to `most` launches."""
    count = draw(st.integers(1, most))
    shape = [
        (draw(st.sampled_from(SIZES)), draw(st.lists(st.integers(0, i), min_size=1, max_size=3)), draw(st.booleans()))
        for i in range(count)
    ]
    return build(shape, draw(st.lists(st.integers(1, count), min_size=1, max_size=2)))


def memory_of(module: ModuleOp) -> GraphMemory:
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    return graph_memory(function.body.block)


def legal(memory: GraphMemory, order: tuple[int, ...]) -> bool:
    place = {number: at for at, number in enumerate(order)}
    return all(place[need] < place[n] for n, node in enumerate(memory.nodes) for need in node.needs)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_the_order_found_is_legal_and_no_order_is_better(module: ModuleOp) -> None:
    memory = memory_of(module)
    given_peak = memory.peak(range(len(memory.nodes)))
    orders = [o for o in permutations(range(len(memory.nodes))) if legal(memory, o)]
    best = min(memory.peak(o) for o in orders)
    assert memory.floor <= best
    found = best_order(memory, 64, given_peak)
    if found is None:
        assert best == given_peak
    else:
        assert legal(memory, tuple(found))
        assert memory.peak(found) == best < given_peak


@settings(max_examples=60, deadline=None)
@given(graphs(most=12))
def test_the_pass_keeps_the_graph_and_never_raises_its_peak(module: ModuleOp) -> None:
    before = memory_of(module)
    labels = {op.label.data: [str(v.type) for v in op.inputs] for op in module.walk() if isinstance(op, LaunchOp)}
    TileReorder().apply(make_context(), module)
    module.verify()
    after = memory_of(module)
    assert {
        op.label.data: [str(v.type) for v in op.inputs] for op in module.walk() if isinstance(op, LaunchOp)
    } == labels
    assert after.peak(range(len(after.nodes))) <= before.peak(range(len(before.nodes)))
    position = {node.op: n for n, node in enumerate(after.nodes)}
    assert all(position[after.nodes[need].op] < n for n, node in enumerate(after.nodes) for need in node.needs)


def test_the_same_graph_gives_the_same_order() -> None:
    shape = [(1024, [0], False), (1024, [0], False), (16, [1], False), (16, [2], False), (16, [3, 4], True)]
    texts = set()
    for _ in range(3):
        module = build(shape, [5])
        TileReorder().apply(make_context(), module)
        texts.add(str(module))
    assert len(texts) == 1
