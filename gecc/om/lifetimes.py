"""When the bytes of the arena hold something: from the task that writes a value to the last that reads it.

Told from an om alone: the graph says who reads whose result, the tasks which of its bytes they touch. A value of which
different bytes are read until different tasks has as many lives. Loops and branches are straight lines here, but for two
things: a value which a loop touches, and that is not its own from one iteration to the next, counts as alive throughout the
loop; and what is read behind an If is what any of its branches wrote there, though the graph names the last alone.

The time is that of sorting where jumps do not tangle; what would take more is refused (`Effort`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise

from gecc.errors import OmError
from gecc.om.flow import Phases, branches, loops, skipped
from gecc.om.records import HostTask, HostTensor, KernelTask, OmModel, Operand, Source, Space, SwitchTask, Task

MAX_STEPS = 2_000_000
"""How much is looked at before a file is refused: about a second. Compiled models need some steps a task."""


class Effort:
    """What is left of `MAX_STEPS`, so that no file keeps its reader busy."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps. Raises OmError when there were too many."""
        self._left -= steps
        if self._left < 0:
            raise OmError(
                f"the lives of its values are too tangled: more than {MAX_STEPS} steps to tell them",
                where=self._where,
                hint="values shared by thousands of branches, loops or parts of joins make such files; gecc writes none",
            )


@dataclass(slots=True)
class Life:
    """Bytes `start` to `stop` of the arena, alive in phases `first` to `last`: written by task `writer`.

    `reader` is the task that reads them in phase `last`, None when several do, or none. In the phases `beside`, each from
    its first to behind its last, other branches run, to which the value is unknown.
    """

    start: int
    stop: int
    first: int
    last: int
    writer: int
    reader: int | None = None
    beside: tuple[tuple[int, int], ...] = ()

    def outlast(self, other: Life, beside: Sequence[tuple[int, int]] = ()) -> None:
        """Live on as long as `other`, read by the same; unknown also where `other` is, and `beside`."""
        if other.last >= self.last:
            self.reader = other.reader if other.last > self.last or other.reader == self.reader else None
            self.last = other.last
        self.beside = tuple(dict.fromkeys((*self.beside, *beside, *other.beside)))


def lives(model: OmModel, effort: Effort | None = None) -> list[Life]:
    """The lives of all values in the arena, in the order of their tasks. `model` must be verified, its nodes too.

    Raises OmError when it takes too long to tell them.
    """
    effort = effort or Effort(f"'{model.name}'")
    found: list[Life] = []
    for (writer, value), reads in _values(model, effort):
        found += _pieces(value, writer, reads, model.tasks)
    found.sort(key=lambda life: (life.writer, life.start))
    _live_through_branches(found, model.tasks, effort)
    _live_through_loops(found, model.tasks, effort)
    return found


Read = tuple[int, int, int]
"""Bytes of the arena from the first to behind the last, and the task that reads them."""


def _values(model: OmModel, effort: Effort) -> Iterator[tuple[tuple[int, Operand], list[Read]]]:
    """What tasks write to the arena, each with its task, and who reads which bytes of it."""
    task_of = {task.op_index: i for i, task in enumerate(model.tasks)}
    made: dict[tuple[int, int], tuple[int, Operand]] = {}
    for i, task in enumerate(model.tasks):
        for number, operand in enumerate(written(task)):
            if operand is not None and operand.space == Space.ARENA and operand.size:
                made[(task.op_index, number)] = (i, operand)
    reads: dict[tuple[int, int], list[Read]] = {origin: [] for origin in made}
    ways: dict[Source | None, list[tuple[int, int]]] = {}
    for node, reader in task_of.items():
        sources, places = model.nodes[node].inputs, read(model.tasks[reader])
        each = len(sources) == len(places)  # a task has an operand for each input of its node
        for number, source in enumerate(sources):
            if source not in ways:
                ways[source] = [o for o in dict.fromkeys(_origins(model, source, task_of, effort)) if o in made]
            origins = ways[source]
            for place in (places[number],) if each else places:
                if place is not None and place.space == Space.ARENA:
                    effort.spend(len(origins))
                    start, stop = place.offset, place.offset + place.size
                    for origin in origins:
                        value = made[origin][1]
                        if start < value.offset + value.size and value.offset < stop:
                            reads[origin].append((start, stop, reader))
    for origin, value in made.items():
        yield value, reads[origin]


def _pieces(value: Operand, writer: int, reads: Sequence[Read], tasks: Sequence[Task]) -> Iterator[Life]:
    """The lives of a value: one for each stretch of bytes that all of its readers read, or none of it."""
    start, stop = value.offset, value.offset + value.size
    edges: dict[int, list[tuple[int, int]]] = {start: [], stop: []}  # who begins or ends to read at a byte
    for low, high, reader in reads:
        edges.setdefault(max(low, start), []).append((reader, 1))
        edges.setdefault(min(high, stop), []).append((reader, -1))
    phase = tasks[writer].phase
    reading: dict[int, dict[int, int]] = {}  # of each phase the readers, each as often as it reads
    phases: list[int] = []  # a heap of those phases, the last first; some may have gone
    for low, high in pairwise(sorted(edges)):
        for reader, change in edges[low]:
            key = -tasks[reader].phase
            readers = reading.setdefault(key, {})
            if not readers:
                heappush(phases, key)
            readers[reader] = readers.get(reader, 0) + change
            if not readers[reader]:
                del readers[reader]
        while phases and not reading[phases[0]]:
            heappop(phases)
        last = max(phase, -phases[0]) if phases else phase
        readers = reading.get(-last, {})
        yield Life(low, high, phase, last, writer, next(iter(readers)) if len(readers) == 1 else None)


def _live_through_branches(found: list[Life], tasks: Sequence[Task], effort: Effort) -> None:
    """Let live on what is read behind an If or a loop, and which the graph does not name: what the other branches wrote
    last of these bytes, and what lay there before a loop that may run not once."""
    held = skipped(tasks)
    unsure = Phases(held)
    for *starts, final, end in branches(tasks):
        for result in _read_behind(found, final, end - 1, effort):
            for first, stop in pairwise((*starts, final)):
                for life in _last_writers(found, unsure, result, first, stop, effort):
                    life.outlast(result, ((stop, end),))
    for first, last in held:
        for result in _read_behind(found, first, last, effort):
            for life in _last_writers(found, unsure, result, 0, first, effort):
                life.outlast(result)


def _read_behind(found: Sequence[Life], first: int, last: int, effort: Effort) -> list[Life]:
    """The lives that start in phases `first` to `last` and are read later."""
    within = found[bisect_left(found, first, key=_start) : bisect_right(found, last, key=_start)]
    effort.spend(len(within))
    return [life for life in within if life.last > last]


def _start(life: Life) -> int:
    """What lives are sorted by: the phase of the task that writes them."""
    return life.first


def _last_writers(found: list[Life], unsure: Phases, result: Life, first: int, stop: int, effort: Effort) -> list[Life]:
    """What is written in phases `first` to before `stop` of the bytes of `result`, and not written over there.

    A life that has other bytes too is cut in `found`. Tasks of the phases `unsure` may not run.
    """
    effort.spend(1)
    lasts: list[Life] = []
    sought = [(result.start, result.stop)]
    for at in reversed(range(bisect_left(found, first, key=_start), bisect_left(found, stop, key=_start))):
        effort.spend(len(sought))
        life = found[at]
        low, high = max(life.start, result.start), min(life.stop, result.stop)
        if not any(low < b and a < high for a, b in sought):
            continue
        spans = [span for span in pairwise((life.start, low, high, life.stop)) if span[0] < span[1]]
        pieces = [replace(life, start=a, stop=b) for a, b in spans]
        found[at : at + 1] = pieces
        lasts += (piece for piece in pieces if piece.start == low)
        effort.spend(len(life.beside) + len(result.beside))
        if life.first not in unsure:
            rest = [part for a, b in sought for part in ((a, min(b, low)), (max(a, high), b))]
            sought = [(a, b) for a, b in rest if a < b]
            if not sought:
                break
    return lasts


def _live_through_loops(found: Sequence[Life], tasks: Sequence[Task], effort: Effort) -> None:
    """Let live throughout a loop what comes into it, goes out of it, or may go from one iteration to the next."""
    stretches = loops(tasks)
    carried = iter(zip(found, _rewritten(found), strict=True)) if stretches else iter(())
    coming = next(carried, None)
    alive: list[tuple[Life, bool]] = []  # what may touch the loop at hand: most live and die in front of it, or behind
    for first, last in stretches:
        while coming is not None and coming[0].first <= last:
            alive.append(coming)
            coming = next(carried, None)
        alive = [(life, again) for life, again in alive if life.last >= first]
        effort.spend(len(alive))
        for life, again in alive:
            if life.first < first <= life.last or first <= life.first <= last < life.last:
                life.first, life.last = min(life.first, first), max(life.last, last)
            elif again and first <= life.first and life.last <= last:
                life.first, life.last = first, last


def _rewritten(found: Sequence[Life]) -> list[bool]:
    """Of each life whether bytes of it are written by another task too: then an iteration may read what the one before
    wrote."""
    order = sorted(range(len(found)), key=lambda i: found[i].start)
    again = [False] * len(found)
    reach, behind, writer = 0, 0, -1  # how far lives of `writer` reach, the farthest, and how far those of others do
    for i in order:
        life = found[i]
        again[i] = (reach if life.writer != writer else behind) > life.start
        if life.writer == writer:
            reach = max(reach, life.stop)
        elif life.stop > reach:
            reach, behind, writer = life.stop, reach, life.writer
        else:
            behind = max(behind, life.stop)
    following, after, writer = -1, -1, -1  # where the next life starts, where the next of another task than its does
    for i in reversed(order):
        life = found[i]
        if life.writer != writer:
            following, after, writer = life.start, following, life.writer
        else:
            following = life.start
        again[i] = again[i] or life.start <= after < life.stop
    return again


def _origins(
    model: OmModel, source: Source | None, task_of: Mapping[int, int], effort: Effort
) -> Iterator[tuple[int, int]]:
    """The nodes and results that a value comes from, seen through views and joins, which have no task."""
    stack = [source]
    seen: set[int] = set()
    while stack:
        effort.spend(1)
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
