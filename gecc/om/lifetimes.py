"""When the bytes of the arena hold something: from the task that writes a value to the last that reads it.

Told from an om alone: the graph says who reads whose result, the tasks which of its bytes they touch. A value of which
different bytes are read until different tasks has as many lives. Loops and branches are straight lines here, but for two
things: a value which a loop touches, and that is not its own from one iteration to the next, counts as alive throughout the
loop; and what is read behind an If is what any of its branches wrote there, though the graph names the last alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

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
    """Bytes `start` to `stop` of the arena, alive in phases `first` to `last`: written by task `writer`, read by `readers`.

    In the phases `beside`, each from its first to behind its last, other branches run, to which the value is unknown.
    """

    start: int
    stop: int
    first: int
    last: int
    writer: int
    readers: list[int]
    beside: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


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


def skipped(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Of the loops, those that may run not once: a switch in front of the label leads past the last jump, too."""
    labels = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    head = {tasks[i].phase: i for i in labels.values()}
    found: list[tuple[int, int]] = []
    for first, last in loops(tasks):
        before = tasks[head[first] - 1] if head[first] else None
        targets = before.targets if isinstance(before, SwitchTask) else ()
        if any(tasks[labels[target]].phase > last for target in targets):
            found.append((first, last))
    return found


def branches(tasks: Sequence[Task]) -> list[list[int]]:
    """For each If, outer ones first, the phases in which its branches start, and that of the label where all of them end."""
    places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
    found: list[list[int]] = []
    for i, task in enumerate(tasks):
        starts = sorted({places[target] for target in task.targets}) if isinstance(task, SwitchTask) else []
        closing = [tasks[start - 1] for start in starts[1:]]  # of all branches but the last
        ends = {places[t.target] if isinstance(t, GotoTask) else -1 for t in closing}
        if len(ends) == 1 and starts[0] > i and (end := ends.pop()) > starts[-1]:
            found.append([tasks[place].phase for place in (*starts, end)])
    return found


def lives(model: OmModel) -> list[Life]:
    """The lives of all values in the arena, in the order of their tasks. `model` must be verified, its nodes too."""
    task_of = {task.op_index: i for i, task in enumerate(model.tasks)}
    made: dict[tuple[int, int], tuple[int, Operand]] = {}
    for i, task in enumerate(model.tasks):
        for number, operand in enumerate(written(task)):
            if operand is not None and operand.space == Space.ARENA and operand.size:
                made[(task.op_index, number)] = (i, operand)
    reads: dict[tuple[int, int], list[tuple[int, int, int]]] = {origin: [] for origin in made}
    for node, reader in task_of.items():
        sources, places = model.nodes[node].inputs, read(model.tasks[reader])
        each = len(sources) == len(places)  # a task has an operand for each input of its node
        for number, source in enumerate(sources):
            ways = set(_origins(model, (source,), task_of))
            for place in (places[number],) if each else places:
                if place is not None and place.space == Space.ARENA:
                    for origin in ways & made.keys():
                        reads[origin].append((place.offset, place.offset + place.size, reader))
    found: list[Life] = []
    for origin, (writer, operand) in made.items():
        found += _pieces(operand, writer, reads[origin], model.tasks)
    found.sort(key=lambda life: (life.writer, life.start))
    _lives_of_branches(found, model.tasks)
    for first, last in loops(model.tasks):
        for life in found:
            if life.first < first <= life.last or first <= life.first <= last < life.last:
                life.first, life.last = min(life.first, first), max(life.last, last)
            elif first <= life.first and life.last <= last and _carried(life, found):
                life.first, life.last = first, last
    return found


def _pieces(value: Operand, writer: int, reads: Sequence[tuple[int, int, int]], tasks: Sequence[Task]) -> list[Life]:
    """The lives of a value: one for each stretch of bytes that all of its readers read, or none of it."""
    start, stop = value.offset, value.offset + value.size
    cuts = {start, stop} | {min(max(at, start), stop) for low, high, _ in reads for at in (low, high)}
    phase = tasks[writer].phase
    found: list[Life] = []
    for low, high in pairwise(sorted(cuts)):
        readers = list(dict.fromkeys(reader for a, b, reader in reads if a <= low and high <= b))
        last = max((tasks[reader].phase for reader in readers), default=phase)
        found.append(Life(low, high, phase, max(phase, last), writer, readers))
    return found


def _lives_of_branches(found: list[Life], tasks: Sequence[Task]) -> None:
    """Let live on what is read behind an If or a loop, and which the graph does not name: what the other branches wrote
    last of these bytes, and what lay there before a loop that may run not once."""
    held = skipped(tasks)
    for *starts, final, end in branches(tasks):
        for result, readers in _read_behind(found, tasks, final, end - 1):
            for first, stop in pairwise((*starts, final)):
                for life in _last_writers(found, held, result, first, stop):
                    life.last = max(life.last, result.last)
                    life.readers += (r for r in readers if r not in life.readers)
                    life.beside += (b for b in ((stop, end), *result.beside) if b not in life.beside)
    for first, last in held:
        for result, readers in _read_behind(found, tasks, first, last):
            for life in _last_writers(found, held, result, 0, first):
                life.last = max(life.last, result.last)
                life.readers += (r for r in readers if r not in life.readers)
                life.beside += (b for b in result.beside if b not in life.beside)


def _read_behind(found: Sequence[Life], tasks: Sequence[Task], first: int, last: int) -> list[tuple[Life, list[int]]]:
    """The lives that start in phases `first` to `last` and are read later, with those readers."""
    within = found[bisect_left(found, first, key=_start) : bisect_right(found, last, key=_start)]
    pairs = ((life, [r for r in life.readers if tasks[r].phase > last]) for life in within)
    return [(life, readers) for life, readers in pairs if readers]


def _start(life: Life) -> int:
    """What lives are sorted by: the phase of the task that writes them."""
    return life.first


def _last_writers(
    found: list[Life], held: Sequence[tuple[int, int]], result: Life, first: int, stop: int
) -> list[Life]:
    """What is written in phases `first` to before `stop` of the bytes of `result`, and not written over there.

    A life that has other bytes too is cut in `found`. `held` are the loops that may run not once.
    """
    lasts: list[Life] = []
    for at in reversed(range(bisect_left(found, first, key=_start), bisect_left(found, stop, key=_start))):
        life = found[at]
        low, high = max(life.start, result.start), min(life.stop, result.stop)
        over = (o for o in lasts if not any(a <= o.first <= b for a, b in held))  # a loop may run not once
        if low < high and not any(o.start <= low and high <= o.stop for o in over):
            spans = [span for span in pairwise((life.start, low, high, life.stop)) if span[0] < span[1]]
            pieces = [
                replace(life, start=a, stop=b, readers=list(life.readers), beside=list(life.beside)) for a, b in spans
            ]
            found[at : at + 1] = pieces
            lasts += (piece for piece in pieces if piece.start == low)
    return lasts


def _carried(life: Life, all_lives: Sequence[Life]) -> bool:
    """Whether the bytes are written again elsewhere: then an iteration may read what the one before wrote."""
    return any(o.writer != life.writer and o.start < life.stop and life.start < o.stop for o in all_lives)


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


def read(task: Task) -> list[Operand | None]:
    """What a task reads, by the number of its node's input; None for what is no memory."""
    match task:
        case KernelTask():
            return list(task.ins)
        case HostTask():
            return [value.place if isinstance(value, HostTensor) else None for value in task.ins]
        case SwitchTask():
            return [task.index]
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
            if any(first <= life.first < stop for first, stop in other.beside):
                continue  # another branch
            raise OmError(
                f"task {life.writer} '{model.tasks[life.writer].label}' writes bytes {life.start} to {life.stop} of the "
                f"arena in phase {life.first}, but bytes {other.start} to {other.stop}, which task {other.writer} "
                f"'{model.tasks[other.writer].label}' wrote, are read until phase {other.last}",
                where=where,
            )
        open_lives.append(life)
