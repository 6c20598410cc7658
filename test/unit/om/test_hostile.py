"""Files that are made to take long, to ask for much, or to break what reads them. Each is an error in words, or a model.

Times are of the CPU and generous: what was quadratic takes ten times as long.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from gecc.errors import OmError
from gecc.om.fixed import KEY, FixedInput, fixed_inputs
from gecc.om.reader import from_bytes
from gecc.om.records import (
    GraphNode,
    HostObject,
    HostTask,
    KernelEntry,
    KernelTask,
    OmModel,
    Operand,
    Space,
    TensorDesc,
    WeightEntry,
    Weights,
)
from gecc.om.verifier import verify
from gecc.om.writer import to_bytes
from test.unit.om.test_damage import edit_graph, refused

NAME = "n" * 3_000_000
ARENA = Operand(Space.ARENA, 0, 64)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """That what is done here takes no more time of the CPU."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def small(**changes: object) -> OmModel:
    """A node, a kernel, 64 bytes of arena."""
    model = OmModel(
        name="m",
        target="x86-64-v3",
        abi=2,
        nodes=(GraphNode("n", "Exp", (), ()),),
        blob=b"k" * 64,
        kernels=(KernelEntry("k", 0, 64),),
        arena_bytes=64,
    )
    return replace(model, **changes)


def launch(*operands: Operand, label: str = "k") -> KernelTask:
    return KernelTask("k", label, 0, 0, 1, operands, n_outs=0)


# -------------------------------------------------------------------------------------- work that is not worth the bytes


@pytest.mark.parametrize(
    "model",
    [
        small(tasks=(launch(*[ARENA] * 60_000, label=NAME),)),
        small(nodes=(GraphNode(NAME, "Exp", (), (TensorDesc("f32", (16,), "ND", ARENA),) * 40_000),)),
        small(
            slots=1,
            tasks=(
                HostTask(NAME, 0, 0, Operand(Space.WEIGHTS, 512, 1), (HostObject(0, "tensor(string)"),) * 60_000, ()),
            ),
            weights=Weights((WeightEntry("p", 512, 1, "ui8", (1,)),), 513),
        ),
    ],
    ids=("operands", "results", "values"),
)
def test_a_long_name_is_not_copied_for_each_member_of_a_long_list(model: OmModel) -> None:
    data = to_bytes(model)
    with within(3):
        from_bytes(data, verify="full")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([(1 << 63) - 1] * 200_000, "the shape has 200000 dimensions, expected at most 32"),
        ([1] * 33, "the shape has 33 dimensions, expected at most 32"),
        ([(1 << 63) - 1] * 32, "bytes or more, expected at most 70368744177664"),
        ([(1 << 63) - 1] * 31 + [0], "bytes or more, expected at most 70368744177664"),
        ([1 << 62, 0], "bytes or more, expected at most 70368744177664"),
    ],
)
@pytest.mark.parametrize("op", [0, 1])
def test_shapes_that_no_array_has_are_refused(op: int, shape: list[int], message: str) -> None:
    def change(proto) -> None:
        found = proto.graph[0].op[op]
        desc = found.attr["value"].t.desc if op else found.output_desc[0]
        desc.shape.dim[:] = shape

    data = edit_graph(change)
    with within(3):
        refused(data, message)


def test_no_kernel_is_part_of_another() -> None:
    """Else a few bytes of text would be gigabytes of kernels."""
    inside = (KernelEntry("a", 0, 64), KernelEntry("b", 8, 56))
    again = (KernelEntry("a", 0, 64), KernelEntry("b", 0, 64))
    for portable in (False, True):
        with pytest.raises(OmError, match="starts at 8 of the blob, expected at least 64, the end of 'a'"):
            verify(small(kernels=inside, portable=portable))
    verify(small(kernels=again))  # code may have two names
    with pytest.raises(OmError, match="starts at 0 of the blob, expected at least 64, the end of 'a'"):
        verify(small(kernels=again, portable=True))


def test_calls_share_a_program_or_have_programs_apart() -> None:
    def calls(*programs: tuple[int, int]) -> OmModel:
        tasks = tuple(HostTask("h", 0, i, Operand(Space.WEIGHTS, *place), (), ()) for i, place in enumerate(programs))
        weights = Weights((WeightEntry("p", 512, 1000, "ui8", (1000,)),), 1512)
        return small(tasks=tasks, weights=weights)

    verify(calls((512, 500), (512, 500), (1012, 500), (512, 500)))
    with pytest.raises(OmError, match=r"the program is at 600, expected at least 1012, the end of another call's"):
        verify(calls((600, 500), (512, 500)))
    with pytest.raises(OmError, match=r"the program is at 512, expected at least 1011"):
        verify(calls((512, 500), (512, 499)))


# ------------------------------------------------------------------------------------------------------- inputs, fixed


def _line(**changes: object) -> str:
    fields = json.loads(FixedInput.of("x", "i64", (2,), bytes(range(16))).text())
    return json.dumps(fields | changes)


def test_a_fixed_input_comes_back() -> None:
    (found,) = fixed_inputs({KEY: (_line(),)})
    assert found == FixedInput.of("x", "i64", (2,), bytes(range(16)))


@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        '{"name":' * 200_000,
        "9" * 5000,
        "[]",
        "null",
        _line(shape=[3]),
        _line(shape=[True, 2]),
        _line(shape=[2.0]),
        _line(shape=[1 << 62] * 5),
        _line(shape=[1] * 100 + [2]),
        _line(shape="2"),
        _line(data="00" * 16),
        _line(data="0"),
        _line(data=7),
        _line(data="00" * 2000, shape=[250], sha256=hashlib.sha256(bytes(2000)).hexdigest()),
        _line(dtype="i63"),
        _line(dtype=[]),
        _line(sha256=1),
    ],
    ids=lambda line: line[:40],
)
def test_lines_that_are_no_fixed_input_are_refused(line: str) -> None:
    with pytest.raises(OmError, match="expected a fixed input"):
        fixed_inputs({KEY: (line,)})
