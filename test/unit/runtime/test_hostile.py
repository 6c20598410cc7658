"""What a file may say that is right in form, and that would stop, fill or break the runtime: errors in words, in time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper

from gecc.errors import GeccError, KernelError, OmError
from gecc.om.lifetimes import loops
from gecc.om.records import (
    GotoTask,
    HostObject,
    HostTask,
    IoDesc,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Space,
    SwitchTask,
    Task,
)
from gecc.runtime.executor import Executor
from gecc.runtime.poison import stretches
from gecc.runtime.resident import Resident
from gecc.runtime.schedule import meetings, shares
from test.unit.runtime.test_host import call, program, value, vector, with_calls

# --------------------------------------------------------------------------------------------------------------- tasks


def _kernel(blocks: int, phase: int) -> KernelTask:
    return KernelTask("k", "k", 0, phase, blocks, ())


def _random_tasks(rng: random.Random) -> list[Task]:
    kinds = [rng.choice("kkkiggls") for _ in range(rng.randrange(1, 14))]
    count = kinds.count("l")
    tasks: list[Task] = []
    for phase, kind in enumerate(kinds):
        match kind:
            case "l":
                tasks.append(LabelTask(sum(isinstance(t, LabelTask) for t in tasks), 0, phase))
            case "g" if count:
                tasks.append(GotoTask(rng.randrange(count), 0, phase))
            case "s" if count:
                tasks.append(SwitchTask(Operand(Space.ARENA, 0, 8), (0,), 0, phase))
            case _:
                tasks.append(_kernel(0 if kind == "i" else rng.choice((1, 1, 2, 5)), phase))
    return tasks


def _next_work(tasks: list[Task], at: int) -> Task | None:
    """What is met from a task on, told step by step."""
    for _ in range(len(tasks) + 1):
        if at == len(tasks):
            return None
        match tasks[at]:
            case GotoTask(target=target):
                at = next(i for i, t in enumerate(tasks) if isinstance(t, LabelTask) and t.number == target)
            case LabelTask() | KernelTask(blocks=0):
                at += 1
            case work:
                return work
    return None


@pytest.mark.parametrize("seed", range(300))
def test_ranks_meet_where_more_than_one_works(seed: int) -> None:
    tasks = _random_tasks(random.Random(seed))
    table = shares(tasks, 2)

    def busy(task: Task) -> set[int]:
        if isinstance(task, SwitchTask):
            return {0}
        return {r for r in range(2) if table[r, task.phase, 0] < table[r, task.phase, 1]}

    expected = set()
    for i, task in enumerate(tasks):
        after = _next_work(tasks, i + 1)
        if isinstance(task, KernelTask) and busy(task) and after is not None and len(busy(task) | busy(after)) > 1:
            expected.add(i)
    assert meetings(tasks, table) == expected


@pytest.mark.parametrize("kind", ["idle", "chain", "circle"])
def test_ways_between_tasks_are_followed_once(kind: str) -> None:
    """10,000 tasks that all lead through 10,000 others."""
    n = 10_000
    tasks: list[Task] = []
    if kind == "idle":
        tasks = [_kernel(0, i) for i in range(2 * n)]
    else:
        for i in range(n):
            tasks += [_kernel(8, 2 * i), GotoTask(0, 0, 2 * i + 1)]
        tasks += [LabelTask(i, 0, 2 * n + i) for i in range(n)]
        if kind == "circle":
            tasks.append(GotoTask(0, 0, 3 * n))
    start = time.process_time()
    found = meetings(tasks, shares(tasks, 2))
    assert time.process_time() - start < 6
    assert found == set()


def test_stretches_of_many_loops_are_found_in_time(make) -> None:
    n = 5_000
    tasks: list[Task] = []
    for i in range(n):
        at = len(tasks)
        tasks += [LabelTask(i, 0, at), _kernel(1, at + 1), GotoTask(i, 0, at + 2), _kernel(1, at + 3)]
    model = replace(make.chain(1), tasks=tuple(tasks))
    assert len(loops(tasks)) == n
    start = time.process_time()
    found = stretches(model)
    assert time.process_time() - start < 4
    assert [(s.start, s.stop) for s in found[:4]] == [(0, 3), (3, 4), (4, 7), (7, 8)]


# -------------------------------------------------------------------------------------------------------------- memory


def test_results_that_no_memory_holds(make, x: np.ndarray) -> None:
    model = make.chain(1)
    great = replace(model, outputs=(model.outputs[0], IoDesc("great", "f32", (1 << 44,))))
    with Executor(great, threads=1) as executor:
        with pytest.raises(GeccError, match=r"cannot get the memory for a result: .*\(\d+,\)"):
            executor.run([x])
        with pytest.raises(GeccError, match="cannot get the memory for a result"):
            executor.run([x], outputs={"y0": np.empty(make.N, np.float32)})


# -------------------------------------------------------------------------------------------------------- host programs


def _ends_in(make, nodes: list[onnx.NodeProto], **changes: object) -> OmModel:
    """A host call of these nodes, which make an object of `a`."""
    task = call("H", [vector(make.graph_input(0), make.N)], [HostObject(0, "tensor(float)")])
    code = program(nodes, [value("a")], [value("b")])
    outputs = (IoDesc("b", "tensor(float)", (-1,), None, 0),)
    return with_calls(make, [task], [code], slots=1, **{"outputs": outputs, **changes})


def _constant(name: str, numbers: list[int]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value_ints=numbers)


def _bomb(make) -> OmModel:
    """A picture of 200 million pixels in a few bytes: Pillow's DecompressionBombError is derived from Exception alone."""
    header = b"P6 20000 20000 255\n"
    node = helper.make_node("Constant", [], ["s"], value=helper.make_tensor("s", 2, [len(header)], header, raw=True))
    return _ends_in(make, [node, helper.make_node("ImageDecoder", ["s"], ["b"], pixel_format="RGB")])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda make: _ends_in(
                make,
                [_constant("s", [1 << 20, 1 << 20, 1 << 10]), helper.make_node("ConstantOfShape", ["s"], ["b"])],
            ),
            "MemoryError",
        ),
        (_bomb, "DecompressionBombError"),
    ],
    ids=("memory", "picture"),
)
def test_whatever_the_evaluator_raises_is_an_error_of_the_run(
    make, x: np.ndarray, made: Callable[..., OmModel], message: str
) -> None:
    with Executor(made(make), threads=1) as executor:
        for _ in range(2):  # the executor stays of use
            with pytest.raises(KernelError, match=rf"the host engine failed: {message}(.|\n)*task 0 'H'"):
                executor.run([x])


def test_a_sequence_where_a_tensor_was_compiled_for(make, x: np.ndarray) -> None:
    node = helper.make_node("SequenceConstruct", ["a"], ["b"])
    task = call("H", [vector(make.graph_input(0), make.N)], [vector(make.graph_output(0), make.N)])
    with Executor(with_calls(make, [task], [program([node], [value("a")], [value("b")])]), threads=1) as executor:
        with pytest.raises(GeccError, match=rf"output 0 is list, expected float32\[{make.N}\], as compiled for"):
            executor.run([x])


def test_results_of_lists_within_lists_are_copied_once(make, x: np.ndarray) -> None:
    """Lists of a list twice, of lists of a list twice .. : copied one by one, they would never end."""
    nodes = [helper.make_node("SequenceConstruct", ["a", "a"], ["s0"])]
    nodes += [helper.make_node("SequenceConstruct", [f"s{i}"] * 2, [f"s{i + 1}"]) for i in range(50)]
    nodes.append(helper.make_node("Identity", ["s50"], ["b"]))
    with Executor(_ends_in(make, nodes), threads=1) as executor:
        found = executor.run([x])["b"]
    while isinstance(found, list):
        assert len(found) == 2
        found = found[1]
    np.testing.assert_array_equal(found, x)
    nodes[-1:] = [helper.make_node("SequenceConstruct", [f"s{i}"], [f"s{i + 1}"]) for i in range(50, 80)]
    nodes.append(helper.make_node("Identity", ["s80"], ["b"]))
    with Executor(_ends_in(make, nodes), threads=1) as executor:
        with pytest.raises(KernelError, match="a result is nested in more than 64 lists"):
            executor.run([x])


def test_calls_of_one_program_hold_it_once(make, x: np.ndarray) -> None:
    """Else a file of tasks alone would take a thousand times its size."""
    node = helper.make_node("Neg", ["a"], ["b"])
    a, b, y = make.arena(0), make.arena(1), make.graph_output(0)
    steps = [(make.graph_input(0), a), (a, b), (b, y)]
    tasks: list[Task] = [call(f"Neg{i}", [vector(s, make.N)], [vector(t, make.N)]) for i, (s, t) in enumerate(steps)]
    model = with_calls(make, tasks, [program([node], [value("a")], [value("b")])] * 3)
    first = next(t for t in model.tasks if isinstance(t, HostTask))
    model = replace(model, tasks=tuple(replace(t, program=first.program) for t in model.tasks))
    resident = Resident(model)
    assert len({id(call._program) for call in resident.programs.values()}) == 1
    resident.release()
    with Executor(model, threads=1) as executor:
        np.testing.assert_array_equal(executor.run([x])["y0"], -x)


# ------------------------------------------------------------------------------------------------- what code does not say


def test_poison_needs_code_that_stops(make) -> None:
    with pytest.raises(OmError, match=r"a poisoned run stops at each phase, which code of ABI 1 does not"):
        Executor(replace(make.chain(2), abi=1), poison=True)


def test_code_that_stops_where_no_call_is(make, x: np.ndarray) -> None:
    """As that of ABI 1 under another number: it does not say where it stopped."""
    with Executor(make.chain(2), poison=True) as executor:
        executor.run([x])
        executor._native = lambda pool, control: None
        with pytest.raises(OmError, match=r"the dispatcher stopped at task -1, which is no host call"):
            executor.run([x])
