"""Gears in the file: whatever it says, tasks of a gear stay within the arrays of that gear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.context import make_context
from gecc.errors import OmError
from gecc.om.gears import GEAR, MAX_GEARS, arenas, gear_count, in_gear, regions
from gecc.om.reader import from_bytes
from gecc.om.records import (
    GotoTask,
    GraphNode,
    IoDesc,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    Task,
    joined_shape,
    kernel_entries,
)
from gecc.om.verifier import verify
from gecc.om.writer import to_bytes
from gecc.om_ir import from_model, to_model
from gecc.weights import store_of

Shape = tuple[int, ...]


def desc(name: str, shapes: tuple[Shape, ...]) -> IoDesc:
    """An input or output with a shape in each gear."""
    return IoDesc(name, "f32", joined_shape(shapes), shapes=shapes)


def size(shape: Shape) -> int:
    n = 4
    for extent in shape:
        n *= extent
    return n


def geared(inputs: list[tuple[Shape, ...]], outputs: list[tuple[Shape, ...]]) -> OmModel:
    """A model that has in each gear one task, which reads all inputs and writes all outputs whole."""
    count = len(inputs[0])
    tasks: list[Task] = [SwitchTask(GEAR, tuple(range(count)), 0, 0)]
    for gear in range(count):
        read = tuple(Operand(Space.INPUT, 0, size(shapes[gear]), i) for i, shapes in enumerate(inputs))
        made = tuple(Operand(Space.OUTPUT, 0, size(shapes[gear]), i) for i, shapes in enumerate(outputs))
        tasks += [
            LabelTask(gear, 0, 0),
            KernelTask("k", "K", 0, 0, 1, (*read, *made), (), len(made)),
            GotoTask(count, 0, 0),
        ]
    tasks.append(LabelTask(count, 0, 0))
    return OmModel(
        name="geared",
        target="x86-64-v4",
        abi=2,
        inputs=tuple(desc(f"x{i}", shapes) for i, shapes in enumerate(inputs)),
        outputs=tuple(desc(f"y{i}", shapes) for i, shapes in enumerate(outputs)),
        nodes=(GraphNode("k", "K", (), ()),),
        blob=bytes(64),
        kernels=kernel_entries({"k": 0, "run": 32}, 64),
        dispatcher="run",
        tasks=tuple(replace(task, phase=phase) for phase, task in enumerate(tasks)),
    )


def two() -> OmModel:
    return geared([((2, 3), (4, 3))], [((2,), (4,))])


def test_a_model_with_gears_is_right() -> None:
    model = two()
    verify(model)
    assert gear_count(model) == 2
    assert [io.shape for io in in_gear(model.inputs, 1)] == [(4, 3)]
    again = from_bytes(to_bytes(model), verify="full")
    assert again.inputs == model.inputs and again.outputs == model.outputs and again.tasks == model.tasks
    assert list(arenas(model)) == [0, 0]


def with_tasks(change: Callable[[list[Task]], object]) -> OmModel:
    model = two()
    tasks = list(model.tasks)
    change(tasks)
    return replace(model, tasks=tuple(replace(task, phase=phase) for phase, task in enumerate(tasks)))


def kernel(change: Callable[[KernelTask], KernelTask], at: int = 2) -> OmModel:
    def apply(tasks: list[Task]) -> None:
        task = tasks[at]
        assert isinstance(task, KernelTask)
        tasks[at] = change(task)

    return with_tasks(apply)


def operands(*found: Operand) -> Callable[[KernelTask], KernelTask]:
    return lambda task: replace(task, operands=found)


def put(at: int, task: Task) -> Callable[[list[Task]], object]:
    def apply(tasks: list[Task]) -> None:
        tasks[at] = task

    return apply


def shapes(kind: str, found: tuple[Shape, ...], joined: Shape | None = None) -> OmModel:
    model = two()
    io = IoDesc("io", "f32", joined_shape(found) if joined is None else joined, shapes=found)
    return replace(model, inputs=(io,)) if kind == "input" else replace(model, outputs=(io,))


WRONG: dict[str, tuple[OmModel, str]] = {
    "an input of another gear": (
        kernel(operands(Operand(Space.INPUT, 0, 48), Operand(Space.OUTPUT, 0, 8))),
        "48 bytes at 0 do not fit the 24 of INPUT",
    ),
    "an output of another gear": (
        kernel(operands(Operand(Space.INPUT, 0, 24), Operand(Space.OUTPUT, 0, 16))),
        "16 bytes at 0 do not fit the 8 of OUTPUT",
    ),
    "beyond the greatest": (
        kernel(operands(Operand(Space.INPUT, 0, 49), Operand(Space.OUTPUT, 0, 16)), 5),
        "49 bytes at 0 do not fit the 48 of INPUT",
    ),
    "a kernel that reads the gear": (
        kernel(operands(GEAR, Operand(Space.OUTPUT, 0, 8))),
        "is in GEAR, which only the first task of a model with gears looks at",
    ),
    "a second switch on the gear": (
        with_tasks(lambda tasks: tasks.insert(2, SwitchTask(GEAR, (0,), 0, 0))),
        "is in GEAR",
    ),
    "no switch": (with_tasks(lambda tasks: tasks.pop(0)), "begins with LabelTask"),
    "no task": (replace(two(), tasks=()), "begins with None"),
    "a switch on an input": (
        with_tasks(put(0, SwitchTask(Operand(Space.INPUT, 0, 8), (0, 1), 0, 0))),
        "expected a switch of 2 labels",
    ),
    "a switch of too few labels": (with_tasks(put(0, SwitchTask(GEAR, (0,), 0, 0))), "expected a switch of 2 labels"),
    "a switch of too many": (with_tasks(put(0, SwitchTask(GEAR, (0, 1, 1), 0, 0))), "expected a switch of 2 labels"),
    "gears in another order": (with_tasks(put(0, SwitchTask(GEAR, (1, 0), 0, 0))), "gears begin at tasks [4, 1]"),
    "a gear that is the end": (with_tasks(put(0, SwitchTask(GEAR, (0, 2), 0, 0))), "gears begin at tasks [1, 7]"),
    "a label that is not there": (with_tasks(put(0, SwitchTask(GEAR, (0, 9), 0, 0))), "gears begin at tasks [1, 0]"),
    "tasks before the first gear": (
        with_tasks(lambda tasks: tasks.insert(1, tasks[2])),
        "gears begin at tasks [2, 5], expected 1 first",
    ),
    "a gear that runs on into the next": (with_tasks(lambda tasks: tasks.pop(3)), "gear 0 ends in 'K'"),
    "a gear that jumps into the next": (
        with_tasks(put(3, GotoTask(1, 0, 0))),
        "jumps from gear 0 to task 4, expected one from 1 to 3 or 7",
    ),
    "a gear that jumps into the one before": (
        with_tasks(put(6, GotoTask(0, 0, 0))),
        "jumps from gear 1 to task 1, expected one from 4 to 6 or 7",
    ),
    "a switch that leaves its gear": (
        with_tasks(lambda tasks: tasks.insert(2, SwitchTask(Operand(Space.INPUT, 0, 4), (0, 1), 0, 0))),
        "jumps from gear 0 to task 5",
    ),
    "no end": (with_tasks(lambda tasks: tasks.pop()), "the last task of a model with gears is no label"),
    "one gear": (geared([((2, 3),)], [((2,),)]), "there are 1 gears, expected 2 to 100"),
    "too many gears": (
        geared([tuple((n,) for n in range(MAX_GEARS + 1))], [((2,),) * (MAX_GEARS + 1)]),
        "there are 101 gears, expected 2 to 100",
    ),
    "the same gear twice": (geared([((2, 3), (2, 3))], [((2,), (4,))]), "gears 0 and 1 take inputs of the same shapes"),
    "an input without gears": (shapes("input", (), (2, 3)), "has shapes for 0 gears, expected 2"),
    "an output without gears": (shapes("output", (), (2,)), "has shapes for 0 gears, expected 2"),
    "an input of more gears": (shapes("input", ((2, 3), (4, 3), (5, 3))), "has shapes for 2 gears, expected 3"),
    "ranks that differ": (shapes("input", ((2, 3), (4, 3, 1)), (-1, 3)), "its ranks in the gears differ: [2, 3]"),
    "a shape that hides a gear": (shapes("input", ((2, 3), (4, 3)), (2, 3)), "shape is [2, 3], expected [-1, 3]"),
    "a shape that is open for nothing": (shapes("output", ((4,), (4,)), (-1,)), "shape is [-1], expected [4]"),
    "a negative size": (shapes("input", ((2, -3), (4, 3))), "shape is [2, -3], expected extents of at least 0"),
    "a size beyond all": (shapes("input", ((2, 3), (1 << 50, 3))), "expected at most"),
    "an old calling convention": (replace(two(), abi=1), "only kernels can run with ABI 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(name: str) -> None:
    model, said = WRONG[name]
    with pytest.raises(OmError) as e:
        verify(model)
    assert said in str(e.value)
    with pytest.raises(OmError):
        to_bytes(model)


def test_an_object_has_no_shapes() -> None:
    model = two()
    io = IoDesc("s", "tensor(string)", (), slot=0, shapes=((2,), (3,)))
    with pytest.raises(OmError, match="an object has shapes for gears"):
        verify(replace(model, slots=1, inputs=(*model.inputs, io)))


def test_without_gears_nothing_looks_at_one() -> None:
    model = two()
    plain = replace(model, inputs=(IoDesc("x", "f32", (4, 3)),), outputs=(IoDesc("y", "f32", (4,)),))
    with pytest.raises(OmError, match="is in GEAR"):
        verify(plain)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[Shape, ...]], list[tuple[Shape, ...]]]:
    """Shapes of inputs and outputs in 2 to 6 gears."""
    count = draw(st.integers(2, 6))

    def ends(least: int) -> list[tuple[Shape, ...]]:
        found: list[tuple[Shape, ...]] = []
        for rank in draw(st.lists(st.integers(0, 3), min_size=least, max_size=3)):
            shape = st.tuples(*[st.integers(0, 4)] * rank)
            found.append(tuple(draw(st.lists(shape, min_size=count, max_size=count))))
        return found

    return ends(1), ends(0)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_any_table_is_refused_or_comes_back(table: tuple[list[tuple[Shape, ...]], list[tuple[Shape, ...]]]) -> None:
    """A table whose gears can be told apart survives the file and the text; another is refused."""
    model = geared(*table)
    keys = list(zip(*table[0], strict=True))
    if len(set(keys)) < len(keys):
        with pytest.raises(OmError, match="same shapes"):
            verify(model)
        return
    data = to_bytes(model)
    again = from_bytes(data, verify="full")
    assert again.inputs == model.inputs and again.outputs == model.outputs and again.tasks == model.tasks
    ctx = make_context()
    assert to_bytes(to_model(from_model(again, store_of(ctx)), store_of(ctx))) == data
    for gear in range(len(keys)):
        assert [io.shape for io in in_gear(again.inputs, gear)] == list(keys[gear])


@settings(max_examples=200, deadline=None)
@given(tables(), tables(), st.data())
def test_a_file_that_claims_another_table_never_reaches_too_far(
    table: tuple[list[tuple[Shape, ...]], list[tuple[Shape, ...]]],
    other: tuple[list[tuple[Shape, ...]], list[tuple[Shape, ...]]],
    data: st.DataObject,
) -> None:
    """The tasks of one table with the inputs and outputs of another: refused, or every operand lies in its gear's array."""
    model = replace(geared(*table), inputs=geared(*other).inputs, outputs=geared(*other).outputs)
    tasks = list(model.tasks)
    if data.draw(st.booleans()):  # and with two tasks swapped, or one gone
        i, j = data.draw(st.integers(0, len(tasks) - 1)), data.draw(st.integers(0, len(tasks) - 1))
        tasks[i], tasks[j] = tasks[j], tasks[i]
    if data.draw(st.booleans()):
        tasks.pop(data.draw(st.integers(0, len(tasks) - 1)))
    model = replace(model, tasks=tuple(replace(task, phase=phase) for phase, task in enumerate(tasks)))
    try:
        verify(model)
    except OmError:
        return
    places = {task.number: i for i, task in enumerate(model.tasks) if isinstance(task, LabelTask)}
    for gear in range(gear_count(model)):
        rooms = {
            **{(Space.INPUT, i): io.nbytes for i, io in enumerate(in_gear(model.inputs, gear))},
            **{(Space.OUTPUT, i): io.nbytes for i, io in enumerate(in_gear(model.outputs, gear))},
        }
        switch = model.tasks[0]
        assert isinstance(switch, SwitchTask)
        at = places[switch.targets[gear]]
        for _ in range(len(model.tasks)):  # walk as the dispatcher does
            task = model.tasks[at]
            if isinstance(task, KernelTask):
                assert all(o.offset + o.size <= rooms[o.space, o.index] for o in task.operands)
            at = places[task.target] if isinstance(task, GotoTask) else at + 1
            if at >= len(model.tasks):
                break


def test_the_gear_of_each_task() -> None:
    def fail(message: str, place: str) -> None:
        raise AssertionError(message)

    assert regions(two(), fail) == [-1, 0, 0, 0, 1, 1, 1, -1]  # pyright: ignore[reportArgumentType]
