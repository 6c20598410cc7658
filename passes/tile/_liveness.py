"""What the memory passes share: which launch touches which memory, and which buffers may share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from gecc.dialects.ge.objects import is_object
from gecc.dialects.tile import (
    AllocOp,
    GotoOp,
    HostOp,
    InputOp,
    Jump,
    LabelOp,
    LaunchOp,
    OutputOp,
    SwitchOp,
    ViewOp,
    WeightOp,
)
from gecc.errors import PassError
from gecc.rewrite import location_names

Root = AllocOp | OutputOp | InputOp | WeightOp
"""An operation that makes memory; everything else is a view of one."""


@dataclass(frozen=True, slots=True)
class Access:
    """`size` bytes from byte `offset` of the memory that `root` makes."""

    root: Root
    offset: int
    size: int


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
        written = [w.root for w in earlier.writes]
        if any(a.root in written for a in (*self.reads, *self.writes)):
            return True
        mine = [w.root for w in self.writes]
        return any(a.root in mine for a in earlier.reads)


def resolve(value: SSAValue, size: int) -> Access:
    """The memory of `value`, `size` bytes long, seen through views. Raises PassError when nothing makes it."""
    offset = 0
    while isinstance(value.owner, ViewOp):
        offset += value.owner.offset.value.data
        value = value.owner.source
    if not isinstance(value.owner, Root):
        raise PassError(
            f"memory of type {value.type} comes from no tile.alloc, tile.input, tile.output or tile.weight",
            hint="run tile-bufferize first",
        )
    return Access(value.owner, offset, size)


def graph_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions with a body."""
    for op in module.ops:
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op


def steps_of(function: FuncOp) -> list[Step]:
    """The launches, labels and jumps in program order. Raises PassError for a launch on tensors."""
    return [step for op in function.body.block.ops if (step := _step(op)) is not None]


def _step(op: Operation) -> Step | None:
    from gecc.passes.tile.bufferize import memory_bytes

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


@dataclass(slots=True)
class Lifetime:
    """The phases in which an arena buffer holds bytes, [first, last], and the steps that touch it in the last."""

    first: int
    last: int
    touched_last: list[Step] = field(default_factory=list)


def lifetimes(phases: Sequence[Sequence[Step]]) -> dict[AllocOp, Lifetime]:
    """Arena buffer -> phases from its first touch to its last, in order of first touch.

    A buffer of outside a loop (its tile.alloc stands before the loop's label) that the loop touches may hold bytes from
    one iteration to the next, so it lives as long as the loop. One of inside is written anew before it is read, in
    every iteration. Branches count as if both were run, one after the other.
    """
    found: dict[AllocOp, Lifetime] = {}
    loops = loops_of(phases)
    touched: dict[AllocOp, list[int]] = {}
    for number, phase in enumerate(phases):
        for step in phase:
            for access in (*step.reads, *step.writes):
                if not isinstance(root := access.root, AllocOp):
                    continue
                life = found.setdefault(root, Lifetime(number, number))
                if loops and touched.setdefault(root, [number])[-1] != number:
                    touched[root].append(number)
                if life.last != number:
                    life.last = number
                    life.touched_last = []
                if step not in life.touched_last:
                    life.touched_last.append(step)
    for loop in loops:
        for root, numbers in touched.items():
            if any(loop.first <= n <= loop.last for n in numbers) and root.is_before_in_block(loop.label):
                life = found[root]
                life.first = min(life.first, loop.first)
                if life.last < loop.last:
                    life.last, life.touched_last = loop.last, []
    return found


@dataclass(frozen=True, slots=True)
class Takeover:
    """`taker` may lie at byte `offset` of `dying`, whose last use is the launch that writes `taker`."""

    taker: AllocOp
    dying: AllocOp
    offset: int

    @property
    def same_size(self) -> bool:
        """Whether no byte of the dying buffer is left over."""
        return self.taker.bytes.value.data == self.dying.bytes.value.data


def takeover(step: Step, phase: int, life: dict[AllocOp, Lifetime]) -> Takeover | None:
    """The memory that the first output of `step`, a launch of `phase`, may take over, if any.

    Allowed when the kernel says so (`inplace`), the output is a whole arena buffer born here, and the input lies in an
    arena buffer that dies here, is touched by no other launch of the phase and by this one only through operands that
    may all be overwritten at the same place, and is large enough. Of several the smallest buffer is taken.
    """
    if step.alone:
        return None
    target = step.writes[0].root
    if not isinstance(target, AllocOp) or life[target].first != phase or not target.bytes.value.data:
        return None
    if step.writes[0].offset or any(w.root is target for w in step.writes[1:]):
        return None
    allowed = frozenset(step.launch.inplace.get_values())
    best: Takeover | None = None
    for index in step.launch.inplace.get_values():
        source = step.reads[index]
        root = source.root
        if not isinstance(root, AllocOp) or any(w.root is root for w in step.writes):
            continue
        if life[root].last != phase or life[root].touched_last != [step]:
            continue
        if any(a.root is root and (i not in allowed or a.offset != source.offset) for i, a in enumerate(step.reads)):
            continue
        if target.bytes.value.data > source.size or source.offset % target.alignment.value.data:
            continue
        if best is None or root.bytes.value.data < best.dying.bytes.value.data:
            best = Takeover(target, root, source.offset)
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
        writer: dict[Root, Step] = {}
        for step in phase:
            for access in step.writes:
                other = writer.setdefault(access.root, step)
                _require_same(step, other)
        for step in phase:
            for access in step.reads:
                _require_same(step, writer.get(access.root, step))
    return phases


def _require_same(step: Step, writer: Step) -> None:
    if writer is not step:
        raise PassError(
            f"touches memory that '{writer.label}' writes in the same phase, "
            "expected the launches of a phase to be independent",
            where=place(step.op),
        )
