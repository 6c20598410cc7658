"""Planted faults of memory plans: told by the check of lives, or by a run between poison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gecc.errors import KernelError, OmError
from gecc.om.lifetimes import lives
from gecc.om.overlaps import check_lives
from gecc.om.records import GraphNode, KernelTask, OmModel, Operand, Source, Space, TensorDesc
from gecc.om.writer import write
from gecc.runtime.executor import Executor, load
from gecc.runtime.poison import stretches


def wired(model: OmModel) -> OmModel:
    """The model with a graph that says what its tasks read and write: each place is read as it was written last."""
    last: dict[tuple[Space, int, int], Source] = {}
    nodes: list[GraphNode] = []
    for i, task in enumerate(model.tasks):
        assert isinstance(task, KernelTask)
        inputs = tuple(
            Source("input", o.index) if o.space == Space.INPUT else last.get((o.space, o.index, o.offset))
            for o in task.ins
        )
        outs = tuple(TensorDesc("f32", (o.size // 4,), "ND", o) for o in task.outs)
        nodes.append(GraphNode(f"n{i}", task.label, inputs, outs, (f"onnx/{i}",)))
        for number, o in enumerate(task.outs):
            last[(o.space, o.index, o.offset)] = Source("node", i, number)
    tasks = tuple(replace(task, op_index=i) for i, task in enumerate(model.tasks))
    return replace(model, nodes=nodes, tasks=tasks)


def diamond(make, places: list[Operand]) -> OmModel:
    """a = f(x), b = f(a), c = f(a), y = f(b): `places` are those of a, b and c."""
    a, b, c = places
    x, y = make.graph_input(0), make.graph_output(0)
    steps = [(x, a), (a, b), (a, c), (b, y)]
    return wired(make.model([make.task("affine", i, s, t, 2) for i, (s, t) in enumerate(steps)]))


def run(model: OmModel, x: np.ndarray, *, poison: bool) -> np.ndarray:
    with Executor(model, threads=1, poison=poison) as executor:
        return executor.run([x])["y0"]


def test_a_clone_is_poisoned_too(make) -> None:
    with Executor(make.chain(2), threads=1, poison=True) as executor, executor.clone() as clone:
        assert clone._poison is not None
    with Executor(make.chain(2), threads=1) as executor, executor.clone() as clone:
        assert clone._poison is None


def test_a_sound_plan_passes_and_runs_alike(make, x: np.ndarray) -> None:
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(2)])
    check_lives(model, "test")
    np.testing.assert_array_equal(run(model, x, poison=True), run(model, x, poison=False))


def test_in_place_is_sound_for_one_reader(make, x: np.ndarray) -> None:
    """c takes the memory of a, which c reads last."""
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(0)])
    check_lives(model, "test")
    np.testing.assert_array_equal(run(model, x, poison=True), run(model, x, poison=False))


def test_in_place_with_two_readers_is_refused(make) -> None:
    """b takes the memory of a, which c reads later."""
    model = diamond(make, [make.arena(0), make.arena(0), make.arena(2)])
    nodes = [*model.nodes]
    nodes[2] = replace(nodes[2], inputs=(Source("node", 0),))
    model = replace(model, nodes=nodes)
    with pytest.raises(
        OmError, match=r"task 1 'Affine' writes bytes 0 to .* task 0 'Affine' wrote, are read until phase 2"
    ):
        check_lives(model, "test")


def test_in_place_with_two_readers_of_one_phase_is_refused(make) -> None:
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(0)])
    tasks = (model.tasks[0], model.tasks[1], replace(model.tasks[2], phase=1), replace(model.tasks[3], phase=2))
    with pytest.raises(OmError, match="task 2 'Affine' writes bytes 0 to"):
        check_lives(replace(model, tasks=tasks), "test")


def test_an_overlap_of_one_byte_is_refused(make) -> None:
    size = make.arena(0).size
    b = Operand(Space.ARENA, size - 1, size)
    model = diamond(make, [make.arena(0), b, make.arena(4)])
    with pytest.raises(OmError, match=rf"writes bytes {size - 1} to {2 * size - 1}"):
        check_lives(model, "test")


def test_every_load_looks_for_overlaps(make, tmp_path: Path) -> None:
    """The writer does not plan, so it writes what it is given; the loader refuses it."""
    size = make.arena(0).size
    write(diamond(make, [make.arena(0), Operand(Space.ARENA, size - 1, size), make.arena(4)]), tmp_path / "bad.om")
    with pytest.raises(OmError, match=rf"writes bytes {size - 1} to {2 * size - 1}"):
        load(tmp_path / "bad.om")


def test_a_late_read_through_a_view_counts(make) -> None:
    """c reads a view of a after b has taken a's memory."""
    model = diamond(make, [make.arena(0), make.arena(0), make.arena(2)])
    view = GraphNode("v", "Reshape", (Source("node", 0),), (TensorDesc("f32", (make.N,), "ND", make.arena(0)),))
    nodes = [*model.nodes, view]
    nodes[2] = replace(nodes[2], inputs=(Source("node", 4),))
    with pytest.raises(OmError, match="are read until phase 2"):
        check_lives(replace(model, nodes=nodes), "test")


def joined(model: OmModel, make) -> OmModel:
    """The diamond, but that c reads a and b, which lie one behind the other, as one."""
    size = make.arena(0).size
    desc = TensorDesc("f32", (2 * make.N,), "ND", Operand(Space.ARENA, 0, 2 * size))
    join = GraphNode("j", "Concat", (Source("node", 0), Source("node", 1)), (desc,))
    nodes = [*model.nodes, join]
    nodes[2] = replace(nodes[2], inputs=(Source("node", 4),))
    return replace(model, nodes=nodes)


def test_parts_of_a_join_live_each_for_itself(make) -> None:
    size = make.arena(0).size
    places = [make.arena(0), Operand(Space.ARENA, size, size), make.arena(4)]
    model = joined(diamond(make, places), make)
    check_lives(model, "test")
    assert [(life.start, life.first, life.last) for life in lives(model)[:2]] == [(0, 0, 2), (size, 1, 3)]


@pytest.mark.parametrize("shared", ["all", "one byte"])
def test_a_late_read_through_a_join_counts(make, shared: str) -> None:
    """b, the second part, is written over bytes of a, the first, which c reads later through the join."""
    size = make.arena(0).size
    second = make.arena(0) if shared == "all" else Operand(Space.ARENA, size - 1, size)
    model = joined(diamond(make, [make.arena(0), second, make.arena(4)]), make)
    with pytest.raises(OmError, match=r"task 1 'Affine' writes .* are read until phase 2"):
        check_lives(model, "test")


def test_poison_shows_a_read_of_what_has_died(make, x: np.ndarray) -> None:
    """The graph says that y comes from b, the task reads a, which nobody has read for two phases."""
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(2)])
    last = model.tasks[3]
    assert isinstance(last, KernelTask)
    wrong = replace(model, tasks=(*model.tasks[:3], replace(last, operands=(make.arena(0), last.operands[1]))))
    assert np.isfinite(run(wrong, x, poison=False)).all()
    assert np.isnan(run(wrong, x, poison=True)).all()


def test_poison_names_a_task_that_writes_elsewhere(make, x: np.ndarray) -> None:
    """The operand claims half of what the kernel writes."""
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(2)])
    task = model.tasks[2]
    assert isinstance(task, KernelTask)
    half = replace(task.operands[1], size=task.operands[1].size // 2)
    wrong = replace(model, tasks=(*model.tasks[:2], replace(task, operands=(task.operands[0], half)), model.tasks[3]))
    run(wrong, x, poison=False)
    with pytest.raises(KernelError, match=r"byte \d+ of the arena was written(.|\n)*tasks 2 'Affine'"):
        run(wrong, x, poison=True)


def test_lives_end_with_the_last_reader(make) -> None:
    model = diamond(make, [make.arena(0), make.arena(1), make.arena(2)])
    assert [(life.writer, life.first, life.last) for life in lives(model)] == [(0, 0, 2), (1, 1, 3), (2, 2, 2)]
    assert [(s.start, s.stop) for s in stretches(model)] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def in_halves(make, place: int) -> OmModel:
    """a = f(x), b = f(first half of a), c = f(x) at byte `place`, y = f(second half of a)."""
    a, size = make.arena(0), make.arena(0).size
    first, second = replace(a, size=size // 2), replace(a, offset=size // 2, size=size // 2)
    b, c = make.arena(2), Operand(Space.ARENA, place, size // 2)
    steps = [(make.graph_input(0), a), (first, b), (make.graph_input(0), c), (second, make.graph_output(0))]
    model = wired(make.model([make.task("affine", i, s, t, 2) for i, (s, t) in enumerate(steps)]))
    view = GraphNode("v", "Slice", (Source("node", 0),), (TensorDesc("f32", (make.N // 2,), "ND", second),))
    nodes = [*model.nodes, view]
    nodes[3] = replace(nodes[3], inputs=(Source("node", 4),))
    return replace(model, nodes=nodes)


def test_bytes_of_a_value_die_with_their_own_readers(make) -> None:
    """The first half of a is free when b has read it, the second is not."""
    size = make.arena(0).size
    model = in_halves(make, 0)
    check_lives(model, "test")
    assert [(p.start, p.stop, p.last, p.reader) for p in lives(model) if p.writer == 0] == [
        (0, size // 2, 1, 1),
        (size // 2, size, 3, 3),
    ]
    for place in (1, size // 4, size // 2, size - 1):
        with pytest.raises(
            OmError, match=r"task 2 'Affine' writes bytes .* task 0 'Affine' wrote, are read until phase 3"
        ):
            check_lives(in_halves(make, place), "test")
