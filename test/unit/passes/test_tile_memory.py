"""Random graphs of launches through bufferize, schedule and allocate: no live buffers overlap, no number changes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from gecc.context import make_context
from gecc.dialects.tile import AllocOp, JoinOp, LaunchOp, ViewOp, WeightOp
from gecc.interp.tile_graph import find_graph, run_graph
from gecc.passes.tile._liveness import Access, Step, lifetimes, phases_of, steps_of
from gecc.passes.tile.allocate_buffers import MEMORY, TileAllocateBuffers
from gecc.passes.tile.bufferize import TileBufferize
from gecc.passes.tile.schedule import TileSchedule, live_bytes
from gecc.verify import verify_module
from gecc.weights import WeightStore
from gecc.weights.store import store_of

PRIME = 1021
WEIGHTS = np.arange(1, 257, dtype=np.float64)


def tensor(count: int) -> TensorType:
    return TensorType(f32, [count])


@dataclass
class Graph:
    ctx: Context
    module: ModuleOp
    inputs: list[np.ndarray]

    def __repr__(self) -> str:
        return str(self.module)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A function of launches with views (whole and partial), joins, several results, operands in place, and odd outputs."""
    ctx = make_context()
    store = store_of(ctx)
    sizes = st.sampled_from([16, 16, 16, 32, 32, 17, 48, 1, 0])
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = draw(st.lists(sizes, min_size=1, max_size=2))
    block = Block(arg_types=[tensor(n) for n in counts])
    values: list[tuple[SSAValue, int]] = list(zip(block.args, counts, strict=True))
    for _ in range(draw(st.integers(4, 14))):
        kind = draw(st.sampled_from(["launch", "launch", "launch", "view", "weight", "join"]))
        if kind == "weight":
            n = draw(sizes)
            op = WeightOp(store.attr_for(rng.integers(0, PRIME, n).astype(np.float32)), tensor(n))
            values.append((op.result, n))
        elif kind == "join":
            parts = draw(st.lists(st.sampled_from(values[-4:]), min_size=1, max_size=3))
            n = sum(m for _, m in parts)
            if n > 200:
                continue
            op = JoinOp([v for v, _ in parts], tensor(n), copied=draw(st.integers(0, 5)) == 0)
            values.append((op.result, n))
        elif kind == "view":
            source, n = draw(st.sampled_from(values[-3:]))
            start = draw(st.sampled_from([s for s in (0, 16, 16, 32, 1) if s <= n]))
            length = draw(st.sampled_from([n - start, (n - start) // 2]))
            op = ViewOp(source, tensor(length), 4 * start)
            values.append((op.result, length))
        else:
            ins = draw(st.lists(st.sampled_from(values[-3:]), min_size=1, max_size=3))
            n = draw(st.sampled_from([ins[0][1], draw(sizes)]))
            extra = draw(st.sampled_from([0, 0, 0, 1]))
            outs = [n] + [draw(sizes) for _ in range(extra)]
            inplace = [i for i, (_, m) in enumerate(ins) if m >= n and not extra and draw(st.integers(0, 3))]
            op = LaunchOp("k", f"L{len(values)}", [v for v, _ in ins], [tensor(m) for m in outs], inplace=inplace)
            values.extend(zip(op.results_, outs, strict=True))
        block.add_op(op)
    returned = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    block.add_op(ReturnOp(*[v for v, _ in returned]))
    function = FuncOp("main", (list(block.arg_types), [v.type for v, _ in returned]), Region(block))
    inputs = [rng.integers(0, PRIME, n).astype(np.float32) for n in counts]
    return Graph(ctx, ModuleOp([function]), inputs)


def run_kernel(launch: LaunchOp, ins: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
    """Two blocks: element i of an output needs element i of the inputs in `inplace` and all of the others.

    The inputs are read anew for each block, so an input that an output overwrites too early changes the result.
    Whole numbers below PRIME all along: exact in any order, and no change is rounded away.
    """
    if launch.label.data in ("Copy", "Concat"):
        outs[0][...] = ins[0]
        return
    elementwise = launch.inplace.get_values() if len(outs) == 1 else ()
    for number, out in enumerate(outs):
        half = (out.size + 1) // 2
        for part in (slice(0, half), slice(half, out.size)):
            mixed = np.arange(out.size)[part] + float(number + len(launch.label.data))
            for i, x in enumerate(ins):
                mixed = mixed + (i + 3) * (x[: out.size][part] if i in elementwise else (x * WEIGHTS[: x.size]).sum())
            out[part] = mixed % PRIME


def lower(graph: Graph, schedule: TileSchedule, allocate: TileAllocateBuffers) -> None:
    for step in (TileBufferize(), schedule, allocate):
        step.apply(graph.ctx, graph.module)
        verify_module(graph.module)


def spans(function: FuncOp) -> dict[AllocOp, tuple[int, int]]:
    found: dict[AllocOp, tuple[int, int]] = {}
    for op in function.walk():
        if isinstance(op, AllocOp):
            assert op.offset is not None
            assert op.offset.value.data % op.alignment.value.data == 0
            found[op] = (op.offset.value.data, op.offset.value.data + op.bytes.value.data)
    return found


def number(module: ModuleOp, key: str) -> int:
    memory = module.attributes[MEMORY]
    assert isinstance(memory, DictionaryAttr)
    value = memory.data[key]
    assert isinstance(value, IntegerAttr)
    return value.value.data


def byte_lives(phases: Sequence[Sequence[Step]]) -> dict[AllocOp, np.ndarray]:
    """Buffer -> the first and the last phase of each of its bytes, of those never touched 1 and 0."""
    found: dict[AllocOp, np.ndarray] = {}
    for number, phase in enumerate(phases):
        for step in phase:
            for access in (*step.reads, *step.writes):
                if isinstance(root := access.root, AllocOp):
                    life = found.setdefault(root, np.array([[1 << 30], [-1]]) + np.zeros(root.bytes.value.data, int))
                    part = life[:, access.offset : access.offset + access.size]
                    part[0], part[1] = np.minimum(part[0], number), np.maximum(part[1], number)
    return found


def may_share(a: AllocOp, b: AllocOp, phase: Sequence[Step], bytes: set[int], where: dict[AllocOp, int]) -> bool:
    """Whether these bytes of `b` are written, in a phase, by a launch that reads them last from `a`, each in its place."""
    for step in phase:
        made = step.writes[0]
        start = made.offset + where[b]
        if made.root is not b or not bytes <= set(range(start, start + made.size)):
            continue
        touching = [
            (s, i, x)
            for s in phase
            for i, x in enumerate((*s.reads, *s.writes))
            if x.root is a and shares(x, bytes, where)
        ]
        return all(
            s is step and i in step.launch.inplace.get_values() and where[a] + x.offset == start and x.size >= made.size
            for s, i, x in touching
        )
    return False


def shares(access: Access, bytes: set[int], where: dict[AllocOp, int]) -> bool:
    assert isinstance(access.root, AllocOp)
    start = where[access.root] + access.offset
    return not bytes.isdisjoint(range(start, start + access.size))


def check_sharing(phases: Sequence[Sequence[Step]], where: dict[AllocOp, int]) -> None:
    """No byte of the arena holds two things at once, but where a launch writes over what it alone reads last."""
    lives = byte_lives(phases)
    for a, b in itertools.permutations(lives, 2):
        low, high = max(where[a], where[b]), min(where[a] + lives[a].shape[1], where[b] + lives[b].shape[1])
        if low >= high:
            continue
        first_a, last_a = lives[a][:, low - where[a] : high - where[a]]
        first_b, last_b = lives[b][:, low - where[b] : high - where[b]]
        both = (first_a <= last_b) & (first_b <= last_a) & (first_a <= last_a) & (first_b <= last_b)
        if not both.any():
            continue
        assert (np.minimum(last_a, last_b) == np.maximum(first_a, first_b))[both].all()
        for phase in set(first_b[both & (last_a == first_b)].tolist()):
            bytes = set((np.flatnonzero(both & (last_a == first_b) & (first_b == phase)) + low).tolist())
            assert may_share(a, b, phases[phase], bytes, where)


@settings(max_examples=150, deadline=None)
@given(graph=graphs(), sequential=st.booleans(), alone=st.booleans())
def test_allocated_graphs_compute_the_same(graph: Graph, sequential: bool, alone: bool) -> None:
    store: WeightStore = store_of(graph.ctx)
    expected = run_graph(find_graph(graph.module), graph.inputs, run_kernel, store)
    lower(graph, TileSchedule(sequential=sequential), TileAllocateBuffers(disable_reuse=alone))
    function = find_graph(graph.module)

    phases = phases_of(steps_of(function))
    life, where = lifetimes(phases), spans(function)
    check_sharing(phases, {alloc: start for alloc, (start, _) in where.items()})
    for a, b in itertools.combinations(life, 2) if alone else ():
        assert where[a][1] <= where[b][0] or where[b][1] <= where[a][0]
    arena = number(graph.module, "arena")
    assert max((end for end in (where[a][1] for a in life)), default=0) <= arena <= number(graph.module, "sum")
    assert number(graph.module, "lower_bound") <= arena

    for reverse in (False, True):
        found = run_graph(function, graph.inputs, run_kernel, store, reverse_phases=reverse)
        for x, y in zip(expected, found, strict=True):
            np.testing.assert_array_equal(x, y)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_phases_never_cost_memory(graph: Graph) -> None:
    TileBufferize().apply(graph.ctx, graph.module)
    steps = steps_of(find_graph(graph.module))
    in_order = max(live_bytes([[s] for s in steps]), default=0)
    TileSchedule().apply(graph.ctx, graph.module)
    phases = phases_of(steps)
    assert max(live_bytes(phases), default=0) <= in_order
    assert [s for phase in phases for s in phase] == steps


@settings(max_examples=30, deadline=None)
@given(graph=graphs())
def test_allocation_only_adds_offsets(graph: Graph) -> None:
    TileBufferize().apply(graph.ctx, graph.module)
    TileSchedule().apply(graph.ctx, graph.module)
    before = graph.module.clone()
    TileAllocateBuffers().apply(graph.ctx, graph.module)
    again = before.clone()
    TileAllocateBuffers().apply(graph.ctx, again)
    assert str(again) == str(graph.module)  # the same bytes from run to run
    del graph.module.attributes[MEMORY]
    for op in graph.module.walk():
        if isinstance(op, AllocOp):
            op.offset = None
    assert str(graph.module) == str(before)


@pytest.mark.parametrize("shift", [4, -4, 16])
def test_an_overlap_shows_as_a_wrong_number(shift: int) -> None:
    """The instrument itself: moving one buffer onto a live one changes the result."""
    ctx = make_context()
    x = Block(arg_types=[tensor(16)])
    a = LaunchOp("k", "A", [x.args[0]], [tensor(16)])
    b = LaunchOp("k", "B", [x.args[0], a.results_[0]], [tensor(16)])
    c = LaunchOp("k", "C", [b.results_[0], a.results_[0]], [tensor(16)])
    x.add_ops([a, b, c, ReturnOp(c.results_[0])])
    module = ModuleOp([FuncOp("main", ([tensor(16)], [tensor(16)]), Region(x))])
    graph = Graph(ctx, module, [np.arange(16, dtype=np.float32)])
    expected = run_graph(find_graph(module), graph.inputs, run_kernel, store_of(ctx))
    lower(graph, TileSchedule(), TileAllocateBuffers())
    first, second = (op for op in find_graph(module).walk() if isinstance(op, AllocOp))
    assert first.offset is not None
    assert second.offset is not None
    low, high = sorted((first, second), key=lambda op: op.offset.value.data if op.offset else 0)
    assert low.offset is not None
    high.offset = IntegerAttr(max(0, low.offset.value.data + (64 + shift if shift < 0 else shift)), low.offset.type)
    found = run_graph(find_graph(module), graph.inputs, run_kernel, store_of(ctx))
    assert not np.array_equal(expected[0], found[0])
