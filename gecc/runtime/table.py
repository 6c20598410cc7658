"""The task table: what the dispatcher walks, made from a model's tasks once at load."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from gecc.om.gears import gear_count, gears_of_tasks
from gecc.om.records import (
    GotoTask,
    HostTask,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    Task,
)
from gecc.runtime import abi
from gecc.runtime.pages import Pages
from gecc.runtime.schedule import meetings, shares

_KINDS: dict[type, int] = {
    KernelTask: abi.TaskKind.KERNEL,
    LabelTask: abi.TaskKind.NOTHING,
    GotoTask: abi.TaskKind.GOTO,
    SwitchTask: abi.TaskKind.SWITCH,
    HostTask: abi.TaskKind.HOST,
}

Use = tuple[int, int]
"""An argument word that holds the address of a graph input or output, and the offset there."""


class TaskTable:
    """Records, argument words and shares of a verified model's tasks, in pages that `get` makes and its owner closes.

    entries  the address of each kernel
    bases    addresses of arena, weights and the number of the gear
    """

    def __init__(
        self,
        model: OmModel,
        ranks: int,
        entries: Callable[[str], int],
        bases: Mapping[Space, int],
        get: Callable[[int, str], Pages],
    ) -> None:
        tasks = model.tasks
        self._bases = bases
        self._uses: dict[tuple[int, Space, int], list[Use]] = {}
        self._records = get(abi.TASK_BYTES * len(tasks), "tasks")
        self._scratch_bytes = model.scratch_bytes
        arguments = get(8 * sum(_words_of(task) for task in tasks), "arguments")
        self.words = arguments.words()
        """The argument words; those of inputs and outputs are written before every run."""
        self._fill(tasks, gears_of_tasks(model), entries, arguments.address)
        division = shares(tasks, ranks)
        self._flag(tasks, meetings(tasks, division))
        pages = get(division.nbytes, "shares")
        pages.write(0, division.tobytes())
        self.address = self._records.address
        self.shares = pages.address
        gears = range(gear_count(model) or 1)
        self.input_uses = [self._uses_in(gear, Space.INPUT, len(model.inputs)) for gear in gears]
        """For each gear, of which a model without has one, and each input the argument words that hold its address."""
        self.output_uses = [self._uses_in(gear, Space.OUTPUT, len(model.outputs)) for gear in gears]

    def _uses_in(self, gear: int, space: Space, count: int) -> list[list[Use]]:
        return [self._uses.get((gear, space, i), []) for i in range(count)]

    def _fill(self, tasks: Sequence[Task], gears: Sequence[int], entries: Callable[[str], int], arguments: int) -> None:
        records = self._records.words()
        places = {task.number: i for i, task in enumerate(tasks) if isinstance(task, LabelTask)}
        at = 0
        for i, task in enumerate(tasks):
            record = i * abi.TASK_BYTES
            records[(record + abi.TASK_ARGS) // 8] = arguments + 8 * at
            numbers: Sequence[int] = ()
            match task:
                case KernelTask():
                    records[(record + abi.TASK_KERNEL) // 8] = entries(task.kernel)
                    operands = task.operands
                    sizes = (operand.size for operand in operands)
                    numbers = (*task.params, *sizes, self._scratch_bytes)  # the sizes are for checked kernels
                case GotoTask():
                    records[(record + abi.TASK_KERNEL) // 8] = places[task.target]
                    operands = ()
                case SwitchTask():
                    operands = (task.index,)
                    numbers = (task.index.size, len(task.targets), *(places[target] for target in task.targets))
                case _:
                    operands = ()
            for operand in operands:
                self._address(at, operand, gears[i])
                at += 1
            for number in numbers:
                self.words[at] = number
                at += 1

    def _address(self, at: int, operand: Operand, gear: int) -> None:
        """The address of an operand in argument word `at`, once it is known."""
        if operand.space in self._bases:
            self.words[at] = self._bases[operand.space] + operand.offset
        else:
            self._uses.setdefault((gear, operand.space, operand.index), []).append((at, operand.offset))

    def _flag(self, tasks: Sequence[Task], meetings: Container[int]) -> None:
        """What the dispatcher does with each task, and after it."""
        records = self._records.words()
        for i, task in enumerate(tasks):
            flags = _KINDS[type(task)] << abi.KIND_SHIFT
            if i in meetings:
                flags |= abi.FLAG_BARRIER
            records[(i * abi.TASK_BYTES + abi.TASK_FLAGS) // 8] = flags

    def flags(self) -> list[int]:
        """The flags of each record."""
        records = self._records.words()
        step = abi.TASK_BYTES // 8
        return [records[at] for at in range(abi.TASK_FLAGS // 8, len(records), step)]


def _words_of(task: Task) -> int:
    """Argument words of a task."""
    match task:
        case KernelTask():
            return 2 * len(task.operands) + len(task.params) + 1
        case SwitchTask():
            return 3 + len(task.targets)
        case _:
            return 0
