"""The proof that nothing writes over what is still needed, against models that are simply run, byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gecc.errors import OmError
from gecc.om.lifetimes import MAX_STEPS, lives
from gecc.om.overlaps import check_lives
from gecc.om.records import (
    GotoTask,
    GraphNode,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    SwitchTask,
    Task,
    TensorDesc,
)

ARENA = 8
"""Bytes in which values are placed: few, so that they meet."""


class Program:
    """A model that grows task by task, with what its tasks should find where they read."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.tasks: list[Task] = []
        self.reads: list[list[tuple[Operand, int]]] = []
        """Of each task the places it reads, each with the node whose value it expects there."""
        self.labels = 0
        self.phase = -1

    def node(self, kind: str, sources: Sequence[Source | None], place: Operand | None = None) -> int:
        outs = () if place is None else (TensorDesc("ui8", (place.size,), "ND", place),)
        self.nodes.append(GraphNode(f"n{len(self.nodes)}", kind, tuple(sources), outs))
        return len(self.nodes) - 1

    def kernel(self, reads: Sequence[tuple[int, Operand, int]], place: Operand, *, new_phase: bool = True) -> int:
        """A launch that writes `place` and reads, for each (node, place of its value, node whose value it is)."""
        number = self.node("Relu", [Source("node", source) for source, _, _ in reads], place)
        self.phase += new_phase or self.phase < 0
        operands = (*(at for _, at, _ in reads), place)
        self.tasks.append(KernelTask("k", "Relu", number, self.phase, 1, operands))
        self.reads.append([(at, value) for _, at, value in reads])
        return number

    def jump(self, make: Callable[[int, int], Task]) -> None:
        self.phase += 1
        self.tasks.append(make(self.node("If", ()), self.phase))
        self.reads.append([])

    def model(self) -> OmModel:
        return OmModel(
            "program", "x86-64-v4", 2, nodes=tuple(self.nodes), tasks=tuple(self.tasks), arena_bytes=ARENA, blob=b""
        )


def is_accepted(model: OmModel) -> bool:
    try:
        check_lives(model, "test")
    except OmError:
        return False
    return True


def place_of(draw: st.DrawFn) -> Operand:
    start = draw(st.integers(0, ARENA - 1))
    return Operand(Space.ARENA, start, draw(st.integers(1, min(4, ARENA - start))))


@st.composite
def lines(draw: st.DrawFn) -> Program:
    """Launches in a line, several in a phase, which read parts of earlier values."""
    program = Program()
    values: list[tuple[int, int, Operand]] = []  # node, phase, place
    for _ in range(draw(st.integers(2, 8))):
        new_phase = draw(st.booleans())
        phase = program.phase + (new_phase or program.phase < 0)
        reads: list[tuple[int, Operand, int]] = []
        earlier = [value for value in values if value[1] < phase]
        for node, _, at in draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else ():
            low = draw(st.integers(0, at.size - 1))
            part = Operand(Space.ARENA, at.offset + low, draw(st.integers(1, at.size - low)))
            source = node if part == at else program.node("Slice", [Source("node", node)], part)
            reads.append((source, part, node))
        at = place_of(draw)
        values.append((program.kernel(reads, at, new_phase=new_phase), phase, at))
    return program


def runs_well_in_any_order(program: Program) -> bool:
    """Whether every read finds its value in every byte, whatever the order of the tasks of a phase."""
    memory: dict[int, int] = {}
    for phase in range(program.phase + 1):
        within = [(t, r) for t, r in zip(program.tasks, program.reads, strict=True) if t.phase == phase]
        writers: dict[int, int] = {}
        for task, _ in within:
            assert isinstance(task, KernelTask)
            for byte in bytes_of(task.outs[0]):
                if byte in writers:
                    return False
                writers[byte] = task.op_index
        for task, reads in within:
            for at, value in reads:
                for byte in bytes_of(at):
                    if memory.get(byte) != value or writers.get(byte, task.op_index) != task.op_index:
                        return False
        memory |= writers
    return True


def bytes_of(place: Operand) -> range:
    return range(place.offset, place.offset + place.size)


@settings(max_examples=300, deadline=None)
@given(lines())
def test_a_line_is_accepted_exactly_when_it_runs_well(program: Program) -> None:
    right = runs_well_in_any_order(program)
    event(f"runs well: {right}")
    assert is_accepted(program.model()) == right


Results = list[tuple[int, Operand]]
"""Nodes of values, each with the place of its value."""


class Branching:
    """Draws programs with branches inside branches."""

    def __init__(self, draw: st.DrawFn, place: Callable[[], Operand]) -> None:
        self.draw = draw
        self.place = place
        self.program = Program()
        self.start: dict[int, int] = {}
        """Of each switch the number of its branches."""
        self.left: dict[int, Results] = {}
        """Of each goto the results of the branch that it ends, by the nodes of the last branch: the graph names no others."""

    def body(self, known: Results, depth: int) -> Results:
        """Some steps; what is known behind them."""
        known = list(known)
        for _ in range(self.draw(st.integers(1, 3))):
            if depth and self.draw(st.booleans()):
                known += self.branches(known, [self.place() for _ in range(self.draw(st.integers(1, 2)))], depth - 1)
            else:
                known.append(self.launch(known, self.place()))
        return known

    def launch(self, known: Results, at: Operand) -> tuple[int, Operand]:
        picked = self.draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
        return self.program.kernel([(node, place, node) for node, place in picked], at), at

    def branches(self, known: Results, places: Sequence[Operand], depth: int) -> Results:
        """An If whose branches all write `places`, by launches with others between them or by an If of their own."""
        count = self.draw(st.integers(2, 3))
        labels = range(self.program.labels, self.program.labels + count + 1)
        self.program.labels += count + 1
        index = Operand(Space.INPUT, 0, 8)
        self.start[len(self.program.tasks)] = count
        self.program.jump(lambda op, phase: SwitchTask(index, tuple(labels[:count]), op, phase))
        gotos: list[int] = []
        made: Results = []
        for number in range(count):
            self.program.jump(lambda op, phase, n=labels[number]: LabelTask(n, op, phase))
            made = self.branch(known, places, depth)
            if number < count - 1:
                gotos.append(len(self.program.tasks))
                self.program.jump(lambda op, phase: GotoTask(labels[count], op, phase))
        self.program.jump(lambda op, phase: LabelTask(labels[count], op, phase))
        self.left |= dict.fromkeys(gotos, made)
        return made

    def branch(self, known: Results, places: Sequence[Operand], depth: int) -> Results:
        inner = self.body(known, depth) if self.draw(st.booleans()) else known
        if depth and self.draw(st.booleans()):
            return self.branches(inner, places, depth - 1)
        made: dict[int, tuple[int, Operand]] = {}
        for number in self.draw(st.permutations(range(len(places)))):
            made[number] = self.launch(inner, places[number])
            if self.draw(st.booleans()):
                self.launch([*inner, *made.values()], self.place())
        return [made[number] for number in range(len(places))]

    def finish(self, outputs: int) -> Branching:
        """A whole program, that reads the last of its values in the end."""
        known = self.body([], 2)
        for node, at in known[-outputs:]:
            self.program.kernel([(node, at, node)], Operand(Space.OUTPUT, 0, at.size))
        return self

    def paths(self) -> Iterator[list[int]]:
        """The tasks of every way through the program."""
        labels = {task.number: i for i, task in enumerate(self.program.tasks) if isinstance(task, LabelTask)}
        for choice in product(*(range(count) for count in self.start.values())):
            taken = dict(zip(self.start, choice, strict=True))
            path: list[int] = []
            at = 0
            while at < len(self.program.tasks):
                path.append(at)
                match task := self.program.tasks[at]:
                    case SwitchTask():
                        at = labels[task.targets[taken[at]]]
                    case GotoTask():
                        at = labels[task.target]
                    case _:
                        at += 1
            yield path

    def runs_well(self, path: list[int]) -> bool:
        """Whether every read finds its value in every byte, on this way. What a branch leaves behind is its result."""
        memory: dict[int, int] = {}
        values: dict[int, dict[int, int]] = {}  # of each node who wrote its bytes
        for i in path:
            task = self.program.tasks[i]
            for at, node in self.program.reads[i]:
                if any(memory.get(byte) != values[node][byte] for byte in bytes_of(at)):
                    return False
            if isinstance(task, KernelTask) and task.outs[0].space == Space.ARENA:
                values[task.op_index] = dict.fromkeys(bytes_of(task.outs[0]), task.op_index)
                memory |= values[task.op_index]
            for node, at in self.left.get(i, ()):
                values[node] = {byte: memory[byte] for byte in bytes_of(at)}
        return True

    def needed(self, path: list[int]) -> Iterator[tuple[int, int]]:
        """Bytes and phases in front of which they hold what is read later, on this way."""
        written: dict[int, int] = {}
        for i in path:
            task = self.program.tasks[i]
            for at, _ in self.program.reads[i]:
                yield from (
                    (byte, phase) for byte in bytes_of(at) for phase in range(written[byte] + 1, task.phase + 1)
                )
            if isinstance(task, KernelTask) and task.outs[0].space == Space.ARENA:
                written |= dict.fromkeys(bytes_of(task.outs[0]), task.phase)


@st.composite
def branchings(draw: st.DrawFn, *, apart: bool) -> Branching:
    """Programs with branches; `apart`: no two values share a byte."""
    used = 0

    def place() -> Operand:
        nonlocal used
        if not apart:
            return place_of(draw)
        used += 4
        return Operand(Space.ARENA, used - 4, 4)

    return Branching(draw, place).finish(100 if apart else 3)


def is_small(branching: Branching) -> bool:
    """Not so many ways that running all of them takes long."""
    ways = 1
    for count in branching.start.values():
        ways *= count
    return ways <= 300


@settings(max_examples=200, deadline=None)
@given(branchings(apart=False).filter(is_small))
def test_what_is_accepted_of_branches_runs_well_on_all_ways(branching: Branching) -> None:
    accepted = is_accepted(branching.program.model())
    event(f"branches: {bool(branching.start)}, accepted: {accepted}")
    if accepted:
        assert all(branching.runs_well(path) for path in branching.paths())


@settings(max_examples=100, deadline=None)
@given(branchings(apart=True).filter(is_small))
def test_lives_hold_what_any_way_needs(branching: Branching) -> None:
    held = {
        (byte, phase)
        for life in lives(branching.program.model())
        for byte in range(life.start, life.stop)
        for phase in range(life.first + 1, life.last + 1)
    }
    for path in branching.paths():
        visited = {branching.program.tasks[i].phase for i in path}
        assert {(byte, phase) for byte, phase in branching.needed(path) if phase in visited} <= held


@settings(max_examples=100, deadline=None)
@given(branchings(apart=True).filter(is_small))
def test_branches_that_share_nothing_are_accepted(branching: Branching) -> None:
    assert all(branching.runs_well(path) for path in branching.paths())
    check_lives(branching.program.model(), "test")


def wide(parts: int, readers: int) -> OmModel:
    """A join of many parts, each alive until the end, which several tasks read whole."""
    program = Program()
    places = [Operand(Space.ARENA, 64 * i, 64) for i in range(parts)]
    made = [program.kernel([], at) for at in places]
    whole = Operand(Space.ARENA, 0, 64 * parts)
    join = program.node("Concat", [Source("node", node) for node in made], whole)
    for _ in range(readers):
        program.kernel([(join, whole, join)], Operand(Space.OUTPUT, 0, 64 * parts))
    return program.model()


def test_many_lives_at_once_are_no_tangle() -> None:
    """Each life meets its neighbours in memory alone."""
    model = wide(8_000, 3)
    check_lives(model, "test")
    assert {life.last for life in lives(model)} == {8_002}


def test_slices_inside_slices() -> None:
    """A value of which each reader reads a little less: a life for each byte, each with its last reader."""
    program = Program()
    size = 3000
    node = program.kernel([], Operand(Space.ARENA, 0, size))
    for first in range(size):
        part = Operand(Space.ARENA, first, size - first)
        view = program.node("Slice", [Source("node", node)], part)
        program.kernel([(view, part, node)], Operand(Space.OUTPUT, 0, 1))
    found = lives(program.model())
    assert [(life.start, life.last, life.reader) for life in found] == [(i, i + 1, i + 1) for i in range(size)]


def test_a_tangle_is_refused() -> None:
    """Parts times readers: what no compiler writes ends with words instead of a long wait."""
    parts = 3000
    with pytest.raises(OmError, match=f"too tangled: more than {MAX_STEPS} steps"):
        check_lives(wide(parts, MAX_STEPS // parts + 1), "test")


def test_many_loops_are_no_tangle() -> None:
    """As of a hundred gears with loops in each: a loop meets the lives around it alone."""
    program = Program()
    for number in range(2000):
        made = program.kernel([], Operand(Space.ARENA, 0, 4))
        program.jump(lambda op, phase, n=number: LabelTask(n, op, phase))
        program.kernel([(made, Operand(Space.ARENA, 0, 4), made)], Operand(Space.ARENA, 4, 4))
        program.jump(lambda op, phase, n=number: GotoTask(n, op, phase))
    found = lives(program.model())
    assert [(life.first, life.last) for life in found] == [
        span for at in range(0, 8000, 4) for span in ((at, at + 3), (at + 1, at + 3))
    ]
    check_lives(program.model(), "test")
