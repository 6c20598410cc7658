"""Switches and jumps: the same for any number of ranks, errors told, barriers left out only where nobody could notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gecc.errors import KernelError, OmError
from gecc.om.reader import from_bytes
from gecc.om.records import (
    GotoTask,
    IoDesc,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    Task,
)
from gecc.om.verifier import verify
from gecc.om.writer import to_bytes
from gecc.runtime import abi
from gecc.runtime.executor import Executor
from gecc.runtime.profile import Profile
from gecc.runtime.schedule import meetings, shares

INDEX = {"i1": (1, np.bool_), "ui8": (1, np.uint8), "i32": (4, np.int32), "i64": (8, np.int64)}


def phases(tasks: list[Task]) -> list[Task]:
    """The tasks, a phase each."""
    return [replace(task, phase=i) for i, task in enumerate(tasks)]


def choice(make, dtype: str = "i64") -> OmModel:
    """y0 = 2 * x0 + 1 (branch 0), 3 * x0 + 1 (branch 1) or 5 * x0 + 1 (branch 2), by the scalar x1."""
    x, y = make.graph_input(0), make.graph_output(0)
    tasks: list[Task] = [SwitchTask(Operand(Space.INPUT, 0, INDEX[dtype][0], 1), (0, 1, 2), 0, 0)]
    for branch, factor in enumerate((2, 3, 5)):
        tasks += [LabelTask(branch, 0, 0), make.task("affine", 0, x, y, factor)]
        if branch < 2:
            tasks.append(GotoTask(3, 0, 0))
    tasks.append(LabelTask(3, 0, 0))
    model = make.model([replace(t, op_index=0) for t in phases(tasks) if isinstance(t, KernelTask)])
    inputs = (model.inputs[0], IoDesc("x1", dtype, ()))
    return replace(model, inputs=inputs, tasks=tuple(phases([replace(t, op_index=0) for t in tasks])))


def loop(make, blocks: int) -> OmModel:
    """y0 = 1 + the fifth of: v + rolled v + 1, from v = x0 + 1. A counter in the arena is the index of the switch, which leads
    back for 1 to 4 and on for 5. With one block only the first CHUNK elements are computed."""
    n = make.N
    a, b = make.arena(0), make.arena(1)
    x, y = make.graph_input(0), make.graph_output(0)
    seven = Operand(Space.ARENA, 4 * n * 4, 4)
    tasks: list[Task] = [
        make.task("affine", 0, x, a, 1, blocks),
        LabelTask(0, 0, 0),
        make.task("shifted", 0, a, b, 7, blocks),
        make.task("affine", 0, b, a, 1, blocks),
        make.task("count", 0, Operand(Space.ARENA, 4 * n * 4, 4), seven, 0, 1),
        SwitchTask(seven, (0, 0, 0, 0, 0, 1), 0, 0),
        LabelTask(1, 0, 0),
        make.task("affine", 0, a, y, 1, blocks),
        make.task("reset", 0, seven, seven, 0, 1),
    ]
    kernels = [replace(t, op_index=0) for t in phases(tasks) if isinstance(t, KernelTask)]
    model = make.model(kernels)
    return replace(model, tasks=tuple(phases([replace(t, op_index=0) for t in tasks])))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("dtype", INDEX)
def test_a_switch_goes_to_the_branch_of_its_index(make, x: np.ndarray, dtype: str, ranks: int) -> None:
    with Executor(choice(make, dtype), threads=ranks, affinity="none") as executor:
        for branch in (0, 1, 2, 1, 0)[: 2 if dtype == "i1" else 5]:
            found = executor.run([x, np.asarray(branch, INDEX[dtype][1])])["y0"]
            np.testing.assert_array_equal(found, x * np.float32((2, 3, 5)[branch]) + np.float32(1))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(("dtype", "value"), [("i64", 3), ("i64", -1), ("i32", -7), ("ui8", 255), ("i64", 1 << 62)])
def test_a_branch_that_does_not_exist_is_an_error_and_the_executor_goes_on(
    make, x: np.ndarray, dtype: str, value: int, ranks: int
) -> None:
    with Executor(choice(make, dtype), threads=ranks, affinity="none") as executor:
        message = rf"branch {value} does not exist, expected 0 <= branch < 3(.|\n)*task 0 'switch'.*'onnx/0'"
        with pytest.raises(KernelError, match=message):
            executor.run([x, np.asarray(value, INDEX[dtype][1])])
        found = executor.run([x, np.asarray(1, INDEX[dtype][1])])["y0"]
    np.testing.assert_array_equal(found, x * np.float32(3) + np.float32(1))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("blocks", ["all", "one"])
def test_a_loop_runs_until_its_switch_leaves_it(make, x: np.ndarray, ranks: int, blocks: str) -> None:
    model = loop(make, make.BLOCKS if blocks == "all" else 1)
    done = make.N if blocks == "all" else make.CHUNK
    value = np.zeros(make.N, np.float32)  # what no block computes stays as the arena begins
    value[:done] = x[:done] + np.float32(1)
    for _ in range(5):
        value[:done] = (value + np.roll(value, -7))[:done] + np.float32(1)
    with Executor(model, threads=ranks, affinity="none") as executor:
        for _ in range(3):
            found = executor.run([x])["y0"]
            np.testing.assert_array_equal(found[:done], value[:done] + np.float32(1))


@pytest.mark.parametrize("ranks", [2, 3])
def test_many_runs_of_jumps_agree(make, x: np.ndarray, ranks: int) -> None:
    """A rank that read the target of another switch would soon go astray."""
    model = loop(make, make.BLOCKS)
    with Executor(model, threads=1, affinity="none") as one, Executor(model, threads=ranks, affinity="none") as many:
        expected = one.run([x])["y0"]
        for _ in range(200):
            np.testing.assert_array_equal(many.run([x])["y0"], expected)


def test_profiles_name_every_task(make, x: np.ndarray) -> None:
    profile = Profile()
    with Executor(choice(make), threads=2, affinity="none") as executor:
        executor.run([x, np.asarray(1)], profile=profile)
    ran = [task.label for task in profile.last if task.wall_ns]
    assert ran == ["Affine"]
    assert [task.label for task in profile.last][:3] == ["switch", "label 0", "Affine"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_profile_has_what_all_turns_of_a_loop_took(make, x: np.ndarray, ranks: int) -> None:
    """The task in the loop does as much as one alone, six times as often; the least of several runs, as a pause is noise."""
    alone = make.model([make.task("shifted", 0, make.graph_input(0), make.graph_output(0), 7)])

    def least(model: OmModel, label: str) -> float:
        profile = Profile()
        with Executor(model, threads=ranks, affinity="none") as executor:
            for _ in range(20):
                executor.run([x], profile=profile)
        return min(task.cpu_ns for run in profile.runs for task in run if task.label == label)

    once, often = least(alone, "Shifted"), least(loop(make, make.BLOCKS), "Shifted")
    assert 3 * once < often


def test_the_file_keeps_jumps(make, x: np.ndarray) -> None:
    model = from_bytes(to_bytes(choice(make)))
    assert model.tasks == choice(make).tasks
    with Executor(model, threads=2, affinity="none") as executor:
        found = executor.run([x, np.asarray(2)])["y0"]
    np.testing.assert_array_equal(found, x * np.float32(5) + np.float32(1))


def test_older_files_hold_kernels_alone(make) -> None:
    verify(replace(make.chain(2), abi=1))
    with pytest.raises(OmError, match="only kernels can run with ABI 1, jumps need 2"):
        verify(replace(choice(make), abi=1))


class TestMeetings:
    def found(self, make, tasks: list[Task], ranks: int = 2) -> set[int]:
        tasks = phases(tasks)
        return meetings(tasks, shares(tasks, ranks))

    def kernel(self, make, blocks: int) -> KernelTask:
        return make.task("affine", 0, make.arena(0), make.arena(1), 1, blocks)

    def test_work_of_one_rank_after_the_other_needs_none(self, make) -> None:
        one, two = self.kernel(make, 1), self.kernel(make, 2)
        assert self.found(make, [one, one, one]) == set()
        assert self.found(make, [one, two, one]) == {0, 1}
        assert self.found(make, [two, two]) == {0}

    def test_a_phase_without_blocks_hides_nothing(self, make) -> None:
        one, none, two = (self.kernel(make, blocks) for blocks in (1, 0, 2))
        assert self.found(make, [two, none, two]) == {0}
        assert self.found(make, [one, none, one]) == set()
        assert self.found(make, [one, none, two]) == {0}

    def test_a_switch_is_a_meeting_itself(self, make) -> None:
        one, two = self.kernel(make, 1), self.kernel(make, 2)
        switch = SwitchTask(Operand(Space.ARENA, 0, 8), (0, 1), 0, 0)
        labels = [LabelTask(0, 0, 0), LabelTask(1, 0, 0)]
        assert self.found(make, [one, switch, *labels, two]) == set()
        assert self.found(make, [two, switch, *labels, two]) == {0}

    def test_a_jump_back_is_followed(self, make) -> None:
        one, two = self.kernel(make, 1), self.kernel(make, 2)
        start, go = LabelTask(0, 0, 0), GotoTask(0, 0, 0)
        assert self.found(make, [start, two, one, go]) == {1, 2}
        assert self.found(make, [start, one, one, go]) == set()
        assert self.found(make, [start, go]) == set()


def test_a_single_block_is_work_of_rank_0(make) -> None:
    table = shares([make.task("affine", 0, make.arena(0), make.arena(1), 1, 1)], 3)
    assert table[:, 0].tolist() == [[0, 1], [1, 1], [1, 1]]


def test_records_say_what_the_dispatcher_does(make) -> None:
    model = choice(make)
    with Executor(model, threads=2, affinity="none") as executor:
        kinds = [flags >> abi.KIND_SHIFT for flags in executor._table.flags()[: len(model.tasks)]]
    assert kinds == [3, 1, 0, 2, 1, 0, 2, 1, 0, 1]
