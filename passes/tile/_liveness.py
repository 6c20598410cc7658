"""What the memory passes share: which launch touches which memory, and which buffers may share it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from gecc.dialects.ge.objects import is_object
from gecc.dialects.tile import (
    AllocOp,
    GotoOp,
    HostOp,
    InputOp,
    JoinOp,
    Jump,
    LabelOp,
    LaunchOp,
    OutputOp,
    SwitchOp,
    ViewOp,
    WeightOp,
)
from gecc.errors import PassError
from gecc.memory.problem import align_up
from gecc.passes.tile._sizes import memory_bytes
from gecc.rewrite import location_names

Root = AllocOp | OutputOp | InputOp | WeightOp
"""An operation that makes memory; everything else is a view of one."""


@dataclass(frozen=True, slots=True)
class Access:
    """`size` bytes from byte `offset` of the memory that `root` makes."""

    root: Root
    offset: int
    size: int

    @property
    def stop(self) -> int:
        """The byte behind the last."""
        return self.offset + self.size

    def meets(self, other: Access) -> bool:
        """Whether both touch a byte."""
        return self.root is other.root and self.offset < other.stop and other.offset < self.stop


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A launch, a call of the host, a label or a jump, and what memory it touches, inputs and outputs in its order."""

    op: LaunchOp | HostOp | Jump
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]

    @property
    def launch(self) -> LaunchOp:
        """The launch. Only for steps that are one."""
        assert isinstance(self.op, LaunchOp)
        return self.op

    @property
    def alone(self) -> bool:
        """Whether the step shares its phase with no other."""
        return not isinstance(self.op, LaunchOp)

    @property
    def label(self) -> str:
        """What people call it."""
        return self.op.name.removeprefix("tile.") if isinstance(self.op, Jump) else self.op.label.data

    def depends_on(self, earlier: Step) -> bool:
        """Whether this launch must wait for `earlier`: one writes memory that the other touches, or one is alone.

        Buffers that share the arena do not count: who may share is decided after the schedule, from it.
        """
        if self.alone or earlier.alone:
            return True
        return any(a.meets(w) for w in earlier.writes for a in (*self.reads, *self.writes)) or any(
            a.meets(w) for w in self.writes for a in earlier.reads
        )


def base_of(memory: SSAValue) -> tuple[SSAValue, int]:
    """What views and joins look into, and the byte from which on `memory` lies there: a join starts as its first part."""
    offset = 0
    while isinstance(view := memory.owner, ViewOp | JoinOp):
        if isinstance(view, JoinOp):
            memory = view.parts[0]
        else:
            offset += view.offset.value.data
            memory = view.source
    return memory, offset


def resolve(value: SSAValue, size: int) -> Access:
    """The memory of `value`, `size` bytes long, seen through views. Raises PassError when nothing makes it."""
    base, offset = base_of(value)
    if not isinstance(base.owner, Root):
        raise PassError(
            f"memory of type {base.type} comes from no tile.alloc, tile.input, tile.output or tile.weight",
            hint="run tile-bufferize first",
        )
    return Access(base.owner, offset, size)


def _require_consecutive(join: JoinOp) -> None:
    """Raises PassError when the parts do not lie one behind the other."""
    before: Access | None = None
    for part in join.parts:
        access = resolve(part, memory_bytes(part.type))
        if before is not None and (access.root is not before.root or access.offset != before.stop):
            raise PassError(
                f"tile.join of memory that does not lie one behind the other: {access.size} bytes from byte "
                f"{access.offset} after {before.size} from byte {before.offset}",
                hint="tile-bufferize gives the parts their places",
            )
        before = access


def graph_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions with a body."""
    for op in module.ops:
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op


def steps_of(function: FuncOp) -> list[Step]:
    """The launches, labels and jumps in program order.

    Raises PassError for a launch on tensors, and for a join of memory that does not lie one behind the other.
    """
    return [step for op in function.body.block.ops if (step := _step(op)) is not None]


def _step(op: Operation) -> Step | None:
    if isinstance(op, JoinOp):
        _require_consecutive(op)
        return None
    if isinstance(op, SwitchOp):
        return Step(op, (resolve(op.index, memory_bytes(op.index.type)),), ())
    if isinstance(op, Jump):
        return Step(op, (), ())
    if not isinstance(op, LaunchOp | HostOp):
        return None
    if op.results_:
        raise PassError(f"'{op.label.data}' is a launch on tensors", where=place(op), hint="run tile-bufferize first")
    reads = tuple(resolve(v, memory_bytes(v.type)) for v in op.inputs if not is_object(v))
    writes = tuple(resolve(v, memory_bytes(v.type)) for v in op.outputs if not is_object(v))
    for access in writes:
        if not isinstance(access.root, AllocOp | OutputOp):
            raise PassError(f"the launch writes {access.root.name}, which is read-only", where=place(op))
    return Step(op, reads, writes)


def place(op: LaunchOp | HostOp | Jump) -> str:
    """The launch or jump for messages: label and ONNX nodes."""
    names = location_names(op)
    what = op.name if isinstance(op, Jump) else f"{op.name} '{op.label.data}'"
    return what + (f", ONNX node {', '.join(map(repr, names))}" if names else "")


@dataclass(frozen=True, slots=True)
class Loop:
    """Phases `first` (of a label) to `last` (of a jump back to it), which may run many times."""

    label: LabelOp
    first: int
    last: int


def loops_of(phases: Sequence[Sequence[Step]]) -> list[Loop]:
    """The loops of a schedule, by the places of their jumps."""
    labels: dict[int, tuple[LabelOp, int]] = {}
    found: list[Loop] = []
    for number, phase in enumerate(phases):
        for step in phase:
            match step.op:
                case LabelOp():
                    labels[step.op.label.value.data] = (step.op, number)
                    continue
                case GotoOp():
                    targets = [step.op.label.value.data]
                case SwitchOp():
                    targets = [int(target) for target in step.op.labels.get_values()]
                case _:
                    continue
            found += [Loop(*labels[target], number) for target in targets if target in labels]
    return found


@dataclass(slots=True, eq=False)
class Lifetime:
    """The phases in which bytes `start` to `stop` of a buffer hold something, [first, last], and who touches them last."""

    start: int
    stop: int
    first: int
    last: int
    touched_last: list[Step] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.stop - self.start


def lifetimes(phases: Sequence[Sequence[Step]]) -> dict[AllocOp, list[Lifetime]]:
    """Arena buffer -> phases from the first touch to the last of its bytes, in order of first touch.

    A buffer of which views are touched has a lifetime for each stretch of bytes that all are touched by the same steps, in
    ascending order; bytes that nothing touches have none. The last stretch ends where the next buffer may start.

    A buffer of outside a loop (its tile.alloc stands before the loop's label) that the loop touches may hold bytes from
    one iteration to the next, so what the loop touches of it lives as long as the loop. One of inside is written anew before
    it is read, in every iteration. Branches count as if both were run, one after the other.
    """
    found = _stretches(phases)
    loops = loops_of(phases)
    touched: dict[AllocOp, list[tuple[int, Lifetime]]] = {}
    for number, phase in enumerate(phases):
        for step in phase:
            for access in (*step.reads, *step.writes):
                if not isinstance(root := access.root, AllocOp):
                    continue
                stretches = found[root]
                for life in stretches if len(stretches) == 1 else _within(stretches, access.offset, access.stop):
                    if life.last != number:
                        life.first = number if life.last < 0 else life.first
                        life.last = number
                        life.touched_last = []
                    if step not in life.touched_last:
                        life.touched_last.append(step)
                    if loops:
                        touched.setdefault(root, []).append((number, life))
    for loop in loops:
        for root, accesses in touched.items():
            if not root.is_before_in_block(loop.label):
                continue
            for life in dict.fromkeys(x for n, x in accesses if loop.first <= n <= loop.last):
                life.first = min(life.first, loop.first)
                if life.last < loop.last:
                    life.last, life.touched_last = loop.last, []
    return {root: [life for life in stretches if life.last >= 0] for root, stretches in found.items()}


def _stretches(phases: Sequence[Sequence[Step]]) -> dict[AllocOp, list[Lifetime]]:
    """The stretches of all buffers, in order of first touch, not alive yet."""
    cuts: dict[AllocOp, set[int]] = {}
    for phase in phases:
        for step in phase:
            for access in (*step.reads, *step.writes):
                if isinstance(access.root, AllocOp):
                    cuts.setdefault(access.root, set()).update((access.offset, access.stop))
    found: dict[AllocOp, list[Lifetime]] = {}
    for root, places in cuts.items():
        end = footprint(root)
        inner = sorted(place for place in places if 0 < place < root.bytes.value.data)
        found[root] = [Lifetime(start, stop, 0, -1) for start, stop in pairwise([0, *inner, end])]
    return found


def _within(stretches: Sequence[Lifetime], start: int, stop: int) -> Iterator[Lifetime]:
    """The stretches that hold bytes `start` to `stop`."""
    at = max(bisect_right(stretches, start, key=lambda life: life.start) - 1, 0)
    while at < len(stretches) and stretches[at].start < stop:
        if start < stretches[at].stop:
            yield stretches[at]
        at += 1


def footprint(root: AllocOp) -> int:
    """Bytes of a buffer up to where the next may start."""
    return align_up(root.bytes.value.data, root.alignment.value.data)


@dataclass(frozen=True, slots=True)
class Takeover:
    """`taker` may lie at byte `offset` of `dying`: bytes `start` to `stop` of it are written by their last reader."""

    taker: AllocOp
    dying: AllocOp
    offset: int
    start: int
    stop: int
    bytes: int
    """What it saves."""

    @property
    def same_size(self) -> bool:
        """Whether no byte of the dying buffer is left over."""
        return not self.offset and self.taker.bytes.value.data == self.dying.bytes.value.data


def takeover(step: Step, phase: int, life: Mapping[AllocOp, Sequence[Lifetime]]) -> Takeover | None:
    """The memory that the first output of `step`, a launch of `phase`, may take over, if any.

    Allowed when the kernel says so (`inplace`), the output lies in arena bytes that are born here, and the input in some that
    die here, are touched by no other launch of the phase and by this one only through operands that may all be overwritten at
    the same place, and are enough. Of several the smallest buffer is taken.
    """
    if step.alone or not step.writes[0].size:
        return None
    made = step.writes[0]
    target = made.root
    if not isinstance(target, AllocOp) or any(w.meets(made) for w in step.writes[1:]):
        return None
    born = list(_within(life[target], made.offset, made.stop))
    if any(part.first != phase for part in born):
        return None
    allowed = frozenset(step.launch.inplace.get_values())
    best: Takeover | None = None
    for index in step.launch.inplace.get_values():
        source = step.reads[index]
        root = source.root
        if not isinstance(root, AllocOp) or root is target or any(w.meets(source) for w in step.writes):
            continue
        dying = _within(life[root], source.offset, source.stop)
        if any(part.last != phase or part.touched_last != [step] for part in dying):
            continue
        if any(a.meets(source) and (i not in allowed or a.offset != source.offset) for i, a in enumerate(step.reads)):
            continue
        shift = source.offset - made.offset
        if made.size > source.size or shift % target.alignment.value.data:
            continue
        if best is None or root.bytes.value.data < best.dying.bytes.value.data:
            saved = sum(part.size for part in born)
            best = Takeover(target, root, shift, made.offset, made.stop, saved)
    return best


def phases_of(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps by phase.

    Raises PassError when a launch has no phase, phases descend or leave a hole, or two launches of one phase are not
    independent.
    """
    phases: list[list[Step]] = []
    for step in steps:
        if step.op.phase is None:
            raise PassError("the launch has no phase", where=place(step.op), hint="run tile-schedule first")
        number = step.op.phase.value.data
        if number == len(phases):
            phases.append([])
        elif number != len(phases) - 1:
            raise PassError(
                f"the launch is in phase {number}, expected {max(len(phases) - 1, 0)} or {len(phases)}",
                where=place(step.op),
            )
        phases[-1].append(step)
    for phase in phases:
        for step in phase:
            if step.alone and len(phase) > 1:
                raise PassError(f"shares its phase with {len(phase) - 1} others, expected none", where=place(step.op))
        writers: dict[Root, list[tuple[Access, Step]]] = {}
        for step in phase:
            for access in step.writes:
                writers.setdefault(access.root, []).append((access, step))
        for step in phase:
            for access in (*step.reads, *step.writes):
                for other, writer in writers.get(access.root, ()):
                    if writer is not step and access.meets(other):
                        raise PassError(
                            f"touches memory that '{writer.label}' writes in the same phase, "
                            "expected the launches of a phase to be independent",
                            where=place(step.op),
                        )
    return phases
