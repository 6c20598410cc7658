"""When the bytes of the arena hold something: from the task that writes a value to the last that reads it.

Told from an om alone: the tasks say what they touch, the graph says who reads whose result. Loops and branches are straight
lines here, but that a value which a loop touches, and that is not its own from one iteration to the next, counts as alive
throughout the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gecc.errors import OmError
from gecc.om.records import (
    GotoTask,
    HostTask,
    HostTensor,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    SwitchTask,
    Task,
)


@dataclass(slots=True)
class Life:
    """Bytes `start` to `stop` of the arena, alive in phases `first` to `last`: written by task `writer`, read by `readers`."""

    start: int
    stop: int
    first: int
    last: int
    writer: int
    readers: list[int]


def loops(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Phases of the first and the last task of each loop: a label, and the last jump back to it."""
    places = {task.number: task.phase for task in tasks if isinstance(task, LabelTask)}
    found: dict[int, int] = {}
    for task in tasks:
        targets = (task.target,) if isinstance(task, GotoTask) else task.targets if isinstance(task, SwitchTask) else ()
        for target in targets:
            if places[target] <= task.phase:
                found[places[target]] = max(task.phase, found.get(places[target], 0))
    return sorted(found.items())


def lives(model: OmModel) -> list[Life]:
    """The lives of all values in the arena, in the order of their tasks. `model` must be verified, its nodes too."""
    task_of = {task.op_index: i for i, task in enumerate(model.tasks)}
    made: dict[tuple[int, int], Life] = {}
    for i, task in enumerate(model.tasks):
        for number, operand in enumerate(written(task)):
            if operand is not None and operand.space == Space.ARENA and operand.size:
                life = Life(operand.offset, operand.offset + operand.size, task.phase, task.phase, i, [])
                made[(task.op_index, number)] = life
    for node, task in ((n, model.tasks[t]) for n, t in task_of.items()):
        for origin in _origins(model, model.nodes[node].inputs, task_of):
            life = made.get(origin)
            if life is not None:
                life.last = max(life.last, task.phase)
                life.readers.append(task_of[node])
    found = list(made.values())
    for first, last in loops(model.tasks):
        for life in found:
            if life.first < first <= life.last or first <= life.first <= last < life.last:
                life.first, life.last = min(life.first, first), max(life.last, last)
            elif first <= life.first and life.last <= last and _carried(life, found):
                life.first, life.last = first, last
    return sorted(found, key=lambda life: life.writer)


def _carried(life: Life, all_lives: Sequence[Life]) -> bool:
    """Whether the bytes are written again elsewhere: then an iteration may read what the one before wrote."""
    return any(o is not life and (o.start, o.stop) == (life.start, life.stop) for o in all_lives)


def _origins(model: OmModel, sources: Sequence[Source | None], task_of: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The nodes and results that values come from, seen through views and joins, which have no task. Each way once."""
    stack = list(reversed(sources))
    seen: set[int] = set()
    while stack:
        source = stack.pop()
        if source is None or source.kind != "node":
            continue
        node = model.nodes[source.index]
        single = node.type in ("Reshape", "Slice") and len(node.inputs) == 1
        if source.index in task_of or not (single or node.type == "Concat"):
            yield source.index, source.output
        elif source.index not in seen:
            seen.add(source.index)
            stack += reversed(node.inputs)


def written(task: Task) -> list[Operand | None]:
    """What a task writes, by the number of its node's result; None for what is no memory."""
    match task:
        case KernelTask():
            return list(task.outs)
        case HostTask():
            return [value.place if isinstance(value, HostTensor) else None for value in task.outs]
        case _:
            return []


def touched(task: Task) -> list[Operand]:
    """All planned memory that a task reads or writes."""
    match task:
        case KernelTask():
            return list(task.operands)
        case HostTask():
            return [value.place for value in (*task.ins, *task.outs) if isinstance(value, HostTensor)]
        case SwitchTask():
            return [task.index]
        case _:
            return []


def check_lives(model: OmModel, where: str) -> None:
    """Prove that no task writes bytes that another value still needs. Raises OmError naming both.

    A task may write over a value that it reads itself and nobody reads later (in place). A model with jumps is checked
    for what lies outside its loops.
    """
    inside = loops(model.tasks)
    alive = sorted(lives(model), key=lambda life: life.first)
    open_lives: list[Life] = []
    for life in alive:
        open_lives = [o for o in open_lives if o.last >= life.first]
        for other in open_lives:
            if other.stop <= life.start or life.stop <= other.start or other.writer == life.writer:
                continue
            others = [r for r in other.readers if r != life.writer and model.tasks[r].phase >= life.first]
            if other.last == life.first and life.writer in other.readers and not others:
                continue  # in place
            if any(first <= life.first <= last or first <= other.first <= last for first, last in inside):
                continue
            if (other.start, other.stop) == (life.start, life.stop) and not other.readers:
                continue  # nobody read it
            raise OmError(
                f"task {life.writer} '{model.tasks[life.writer].label}' writes bytes {life.start} to {life.stop} of the "
                f"arena in phase {life.first}, but bytes {other.start} to {other.stop}, which task {other.writer} "
                f"'{model.tasks[other.writer].label}' wrote, are read until phase {other.last}",
                where=where,
            )
        open_lives.append(life)
