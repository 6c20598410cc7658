"""Models in memory from kernels written by hand in LLVM IR, so that the runtime is tested without the compiler."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from gecc.codegen.image import build
from gecc.codegen.link import link
from gecc.codegen.object import compile_ir
from gecc.om.records import (
    GraphNode,
    IoDesc,
    KernelTask,
    OmModel,
    Operand,
    Space,
    TensorDesc,
    WeightEntry,
    Weights,
    kernel_entries,
)
from gecc.runtime import abi
from gecc.runtime.blob import Code
from gecc.target import host

N = 96
"""Elements of the vectors that the models below work on; a block is CHUNK of them."""
CHUNK = 8
BLOCKS = N // CHUNK


def _over_blocks(name: str, body: str) -> str:
    """A kernel that runs `body` for every element %i of its blocks; %x, %y its operands, %p0 its parameter."""
    return f"""
define void @{name}(ptr %args, i64 %begin, i64 %end, ptr %scratch, ptr %state) nounwind {{
  %x = load ptr, ptr %args
  %y.at = getelementptr i8, ptr %args, i64 8
  %y = load ptr, ptr %y.at
  %p.at = getelementptr i8, ptr %args, i64 16
  %p0 = load i64, ptr %p.at
  %first = mul i64 %begin, {CHUNK}
  %stop = mul i64 %end, {CHUNK}
  br label %loop
loop:
  %i = phi i64 [ %first, %0 ], [ %i.next, %next ]
  %more = icmp slt i64 %i, %stop
  br i1 %more, label %body, label %end.of
body:
{body}
  br label %next
next:
  %i.next = add i64 %i, 1
  br label %loop
end.of:
  ret void
}}
"""


_AFFINE = _over_blocks(
    "affine",
    """
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %p = sitofp i64 %p0 to float
  %w = fmul float %v, %p
  %r = fadd float %w, 1.0
  %to = getelementptr float, ptr %y, i64 %i
  store float %r, ptr %to
""",
)

# y[i] = x[i] + x[(i + p0) mod N], after a delay in block 0: who does not wait at the barrier reads what is not there yet.
_SHIFTED = _over_blocks(
    "shifted",
    f"""
  %zero = icmp eq i64 %i, 0
  br i1 %zero, label %delay, label %work
delay:
  %d = phi i64 [ 0, %body ], [ %d.next, %delay ]
  call void @llvm.x86.sse2.pause()
  %d.next = add i64 %d, 1
  %d.more = icmp slt i64 %d.next, 500
  br i1 %d.more, label %delay, label %work
work:
  %j.raw = add i64 %i, %p0
  %j = srem i64 %j.raw, {N}
  %a.at = getelementptr float, ptr %x, i64 %i
  %b.at = getelementptr float, ptr %x, i64 %j
  %a = load float, ptr %a.at
  %b = load float, ptr %b.at
  %r = fadd float %a, %b
  %to = getelementptr float, ptr %y, i64 %i
  store float %r, ptr %to
""",
).replace("define", "declare void @llvm.x86.sse2.pause()\ndefine", 1)

# y[i] = 2 * p0 through the rank's scratch, which is checked to be aligned and kept to one rank by re-reading it.
_SCRATCH = _over_blocks(
    "through_scratch",
    """
  store volatile i64 %p0, ptr %scratch
  %back = load volatile i64, ptr %scratch
  %address = ptrtoint ptr %scratch to i64
  %off = and i64 %address, 63
  %sum = add i64 %back, %p0
  %all = add i64 %sum, %off
  %v = sitofp i64 %all to float
  %to = getelementptr float, ptr %y, i64 %i
  store float %v, ptr %to
""",
)

# x holds int64 indices; one of p0 or more, or below 0, is an error. y[i] = float(x[i]).
_CHECKED = _over_blocks(
    "checked",
    f"""
  %from = getelementptr i64, ptr %x, i64 %i
  %v = load i64, ptr %from
  %good = icmp ult i64 %v, %p0
  br i1 %good, label %fine, label %bad
bad:
  %value.at = getelementptr i8, ptr %state, i64 {abi.STATE_VALUE}
  store i64 %v, ptr %value.at
  %limit.at = getelementptr i8, ptr %state, i64 {abi.STATE_LIMIT}
  store i64 %p0, ptr %limit.at
  %error.at = getelementptr i8, ptr %state, i64 {abi.STATE_ERROR}
  store i64 {abi.ErrorCode.INDEX.value}, ptr %error.at
  ret void
fine:
  %f = sitofp i64 %v to float
  %to = getelementptr float, ptr %y, i64 %i
  store float %f, ptr %to
""",
)

# y[i] = the denormal number that halving the least normal one gives.
_DENORMAL = _over_blocks(
    "denormal",
    """
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %r = fmul float %v, 0.5
  %to = getelementptr float, ptr %y, i64 %i
  store float %r, ptr %to
""",
)

# y[0] += 1 and y[0] = 0, an i32 (x is not read): the counter of a loop.
_COUNT, _RESET = (
    f"""
define void @{name}(ptr %args, i64 %begin, i64 %end, ptr %scratch, ptr %state) nounwind {{
  %y.at = getelementptr i8, ptr %args, i64 8
  %y = load ptr, ptr %y.at
  %v = load i32, ptr %y
  %r = {value}
  store i32 %r, ptr %y
  ret void
}}
"""
    for name, value in (("count", "add i32 %v, 1"), ("reset", "mul i32 %v, 0"))
)

KERNELS = (_COUNT, _RESET, _AFFINE, _SHIFTED, _SCRATCH, _CHECKED, _DENORMAL)

VECTOR = 4 * N


def arena(slot: int) -> Operand:
    """Vector number `slot` of the arena."""
    return Operand(Space.ARENA, slot * VECTOR, VECTOR)


def graph_input(index: int, itemsize: int = 4) -> Operand:
    """A whole graph input."""
    return Operand(Space.INPUT, 0, itemsize * N, index)


def graph_output(index: int) -> Operand:
    """A whole graph output."""
    return Operand(Space.OUTPUT, 0, VECTOR, index)


def task(kernel: str, phase: int, x: Operand, y: Operand, p0: int, blocks: int = BLOCKS) -> KernelTask:
    """A launch; its node is number `phase`."""
    return KernelTask(kernel, kernel.capitalize(), phase, phase, blocks, (x, y), (p0,))


def model(
    tasks: Sequence[KernelTask], *, inputs: Sequence[str] = ("f32",), outputs: int = 1, slots: int = 8
) -> OmModel:
    """A model of `tasks` over vectors of N elements: inputs x0, x1, .. of the given types, outputs y0, y1, .."""
    blob = build(KERNELS, host())
    phases = max((t.phase for t in tasks), default=-1) + 1
    node = [GraphNode(f"n{i}", "Op", (), (TensorDesc("f32", (N,)),), (f"onnx/{i}",)) for i in range(phases)]
    data = bytearray(516)
    data[512:516] = b"abcd"
    return OmModel(
        name="by_hand",
        target=host().name,
        abi=abi.ABI,
        inputs=tuple(IoDesc(f"x{i}", dtype, (N,)) for i, dtype in enumerate(inputs)),
        outputs=tuple(IoDesc(f"y{i}", "f32", (N,)) for i in range(outputs)),
        nodes=node,
        weights=Weights.of_view([WeightEntry("w", 512, 4, "ui8", (4,))], memoryview(data)),
        blob=blob.data,
        kernels=kernel_entries(blob.offsets, len(blob.data)),
        dispatcher=abi.RUN,
        tasks=tuple(tasks),
        arena_bytes=slots * VECTOR,
        scratch_bytes=64,
    )


def chain(length: int) -> OmModel:
    """`length` phases, each adding to every element one further along; reads the input, ends in the output."""
    places = [graph_input(0), *(arena(i % 2) for i in range(length - 1)), graph_output(0)]
    return model([task("shifted", i, places[i], places[i + 1], 5 * i + 1) for i in range(length)])


_MASK = os.sched_getaffinity(0)


@pytest.fixture(autouse=True)
def _mask_is_kept() -> Iterator[None]:
    """No test may leave this thread with another CPU mask, so that none starts with one."""
    yield
    found = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _MASK)
    assert found == _MASK


@pytest.fixture
def x() -> NDArray[np.float32]:
    """An input of the models."""
    return np.random.default_rng(0).standard_normal(N).astype(np.float32)


_MXCSR = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @get(ptr %to) {
  call void @llvm.x86.sse.stmxcsr(ptr %to)
  ret void
}
define void @set(ptr %from) {
  call void @llvm.x86.sse.ldmxcsr(ptr %from)
  ret void
}
"""


class Mxcsr:
    """The floating-point state of the calling thread."""

    def __init__(self) -> None:
        blob = link(compile_ir([_MXCSR], host()))
        self._code = Code(blob.data, blob.offsets, "test")
        self._word = ctypes.c_uint32()
        self._get, self._set = (self._code.function(name, None, ctypes.c_void_p) for name in ("get", "set"))

    def get(self) -> int:
        """The register."""
        self._get(ctypes.addressof(self._word))
        return self._word.value

    def set(self, value: int) -> None:
        """Change the register."""
        self._word.value = value
        self._set(ctypes.addressof(self._word))


@pytest.fixture
def mxcsr() -> Iterator[Mxcsr]:
    """Access to the floating-point state, restored in the end."""
    access = Mxcsr()
    before = access.get()
    yield access
    access.set(before)


@pytest.fixture
def make() -> type[Make]:
    """Builders of models."""
    return Make


def shifted(x: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    """What `chain(length)` computes of `x`."""
    for i in range(length):
        x = x + np.roll(x, -(5 * i + 1))
    return x


class Make:
    """The functions above, for tests."""

    N, CHUNK, BLOCKS = N, CHUNK, BLOCKS
    model: Callable[..., OmModel] = staticmethod(model)
    chain: Callable[[int], OmModel] = staticmethod(chain)
    shifted: Callable[[NDArray, int], NDArray] = staticmethod(shifted)
    task: Callable[..., KernelTask] = staticmethod(task)
    arena: Callable[[int], Operand] = staticmethod(arena)
    graph_input: Callable[..., Operand] = staticmethod(graph_input)
    graph_output: Callable[[int], Operand] = staticmethod(graph_output)
