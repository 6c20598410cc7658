"""Gears: one model for several sizes of its inputs, of which the shapes of a run's inputs choose one.

Every input and output says its shape in each gear (`IoDesc.shapes`). The tasks are a switch on the number of the gear, which
the runtime writes, then for each gear a label, its tasks, and a jump to the label that ends the model:

    switch gear [0, 1]    label 0  ..  goto 2    label 1  ..  goto 2    label 2

No jump leads from one gear into another, so the tasks of a gear touch what its own shapes hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from gecc.om.records import (
    GEAR_SIZE,
    GotoTask,
    IoDesc,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    joined_shape,
)

MAX_GEARS = 100
"""Most gears of a model."""

GEAR = Operand(Space.GEAR, 0, GEAR_SIZE)
"""What the first task of a model with gears looks at."""

Fail = Callable[[str, str], NoReturn]
"""Called with what is wrong and where."""


def gear_count(model: OmModel) -> int:
    """How many gears a model has; 0 for a model without."""
    return max((len(io.shapes) for io in (*model.inputs, *model.outputs)), default=0)


def in_gear(descs: Sequence[IoDesc], gear: int) -> list[IoDesc]:
    """Inputs or outputs as they are in a gear."""
    return [replace(io, shape=io.shapes[gear], shapes=()) if io.shapes else io for io in descs]


def gear_shapes(model: OmModel) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """For each gear the shapes of all inputs that are arrays, by name."""
    return tuple({io.name: io.shapes[gear] for io in model.inputs if io.slot < 0} for gear in range(gear_count(model)))


def spell_gear(descs: Sequence[IoDesc], gear: int) -> str:
    """The sizes of a gear, for messages: `x[1, 3, 224, 224]`, of those inputs whose shape depends on it."""
    return ", ".join(f"{io.name}{list(io.shapes[gear])}" for io in descs if varies(io))


def gears_info(model: OmModel) -> tuple[str, ...]:
    """The sizes of each gear as text, for people who look at a file."""
    return tuple(spell_gear(model.inputs, gear) for gear in range(gear_count(model)))


def varies(io: IoDesc) -> bool:
    """Whether the shape of an input or output depends on the gear."""
    return len(set(io.shapes)) > 1


def check_table(model: OmModel, fail: Fail) -> None:
    """All inputs and outputs have a shape for each gear, no two gears take the same shapes, and there is room for all."""
    count = gear_count(model)
    if count == 0:
        return
    if not 2 <= count <= MAX_GEARS:
        fail(f"there are {count} gears, expected 2 to {MAX_GEARS}", "")
    for kind, descs in (("input", model.inputs), ("output", model.outputs)):
        for i, io in enumerate(descs):
            place = f"{kind} {i} '{io.name}'"
            if io.slot >= 0:
                if io.shapes:
                    fail("an object has shapes for gears, expected none", place)
                continue
            if len(io.shapes) != count:
                fail(f"has shapes for {len(io.shapes)} gears, expected {count}", place)
            if len({len(shape) for shape in io.shapes}) > 1:
                fail(f"its ranks in the gears differ: {[len(shape) for shape in io.shapes]}", place)
            if io.shape != joined_shape(io.shapes):
                expected = f"{list(joined_shape(io.shapes))}, -1 where its shapes in the gears differ"
                fail(f"shape is {list(io.shape)}, expected {expected}", place)
    seen: dict[tuple[tuple[int, ...], ...], int] = {}
    for gear in range(count):
        shapes = tuple(io.shapes[gear] for io in model.inputs if io.slot < 0)
        if (other := seen.setdefault(shapes, gear)) != gear:
            fail(f"gears {other} and {gear} take inputs of the same shapes", "")


def regions(model: OmModel, fail: Fail) -> list[int]:
    """The gear of each task, -1 of the first and the last; [] for a model without gears.

    `fail` is called when the tasks do not have the form that gears need.
    """
    count, tasks = gear_count(model), model.tasks
    if count == 0:
        return []
    first, last = (tasks[0], tasks[-1]) if tasks else (None, None)
    if not isinstance(first, SwitchTask) or first.index != GEAR or len(first.targets) != count:
        fail(f"a model of {count} gears begins with {first}, expected a switch of {count} labels on {GEAR}", "task 0")
    if not isinstance(last, LabelTask):
        fail("the last task of a model with gears is no label, to which all gears lead", f"task {len(tasks) - 1}")
    places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    starts = [places.get(target, 0) for target in first.targets]
    end = len(tasks) - 1
    if starts[0] != 1 or any(a >= b for a, b in zip(starts, [*starts[1:], end], strict=True)):
        fail(
            f"gears begin at tasks {starts}, expected 1 first, each behind the one before, and {end} the end", "task 0"
        )
    owner = [-1] * len(tasks)
    for gear, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        closing = tasks[stop - 1]
        if not isinstance(closing, GotoTask):
            fail(f"gear {gear} ends in '{closing.label}', expected a jump to the end", f"task {stop - 1}")
        owner[start:stop] = [gear] * (stop - start)
        for i in range(start, stop):
            for target in targets(tasks[i]):
                at = places.get(target, end)
                if not start <= at < stop and at != end:
                    fail(
                        f"jumps from gear {gear} to task {at}, expected one from {start} to {stop - 1} or {end}",
                        f"task {i}",
                    )
    return owner


def gears_of_tasks(model: OmModel) -> list[int]:
    """The gear of each task of a verified model; 0 of those that are no gear's."""
    return [max(gear, 0) for gear in regions(model, _impossible)] or [0] * len(model.tasks)


def targets(task: object) -> Sequence[int]:
    """The labels that a task may jump to."""
    match task:
        case GotoTask():
            return (task.target,)
        case SwitchTask():
            return task.targets
        case _:
            return ()


def arenas(model: OmModel) -> Iterator[int]:
    """For each gear of a verified model the bytes of the arena that its tasks reach."""
    from gecc.om.lifetimes import touched

    owner = regions(model, _impossible)
    ends = [0] * gear_count(model)
    for gear, task in zip(owner, model.tasks, strict=False):
        for operand in touched(task) if gear >= 0 else ():
            if operand.space == Space.ARENA:
                ends[gear] = max(ends[gear], operand.offset + operand.size)
    yield from ends


def _impossible(message: str, place: str) -> NoReturn:
    raise AssertionError(f"{place}: {message}")
