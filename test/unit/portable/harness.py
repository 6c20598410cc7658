"""Portable oms in memory from kernels written by hand, run with every operand before a page that nobody may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.codegen.portable import compile_model
from gecc.om.records import GraphNode, IoDesc, KernelEntry, KernelTask, OmModel, Operand, Space, TensorDesc
from gecc.om.verifier import verify
from gecc.runtime import abi
from gecc.runtime.executor import Executor
from gecc.target import host
from test.fuzz.check import fenced

STEPS = 1 << 24
"""Steps that a kernel may take here, so that no test is long."""

N = 40
"""Elements of the operands: two vectors and a half, or five."""


def portable(
    text: str,
    *,
    name: str = "k",
    inputs: Mapping[str, int] | None = None,
    element: str = "f32",
    params: Sequence[int] = (),
    blocks: int = 1,
    scratch: int = 0,
    sizes: Sequence[int] | None = None,
    n_outs: int = 1,
    offset: int = 0,
) -> OmModel:
    """An om of one launch of the kernel `text`: input x and output y of N elements, whose bytes are `sizes`, if given."""
    itemsize = np.dtype({"f32": "f4", "f64": "f8", "i32": "i4", "i8": "i1", "i64": "i8", "i16": "i2"}[element]).itemsize
    x_size, y_size = sizes or (N * itemsize, N * itemsize)
    data = text.encode()
    operands = (Operand(Space.INPUT, offset, x_size), Operand(Space.OUTPUT, offset, y_size))
    task = KernelTask(name, "by hand", 0, 0, blocks, operands, tuple(params), n_outs)
    node = GraphNode("node", "ByHand", (), (TensorDesc(element, (N,)),), ("node",))
    return OmModel(
        name="by hand",
        target=host().name,
        abi=abi.ABI,
        inputs=(IoDesc("x", element, (N,)),),
        outputs=(IoDesc("y", element, (N,)),),
        nodes=(node,),
        portable=True,
        blob=data,
        kernels=(KernelEntry(name, 0, len(data)),),
        tasks=(task,),
        scratch_bytes=scratch,
    )


def run(model: OmModel, x: NDArray[Any], *, target: str = "host", ranks: int = 1) -> NDArray[Any]:
    """What the om makes of x. Raises as loading and running do."""
    verify(model)

    def compile_kernels(om: OmModel, where: str) -> OmModel:
        return compile_model(om, where, target, max_steps=STEPS)

    with Executor(model, threads=ranks, affinity="none", compile_kernels=compile_kernels) as executor:
        fences: list[Any] = []
        try:
            given = fenced(model.inputs[0], x, fences)
            out = fenced(model.outputs[0], None, fences)
            executor.run({"x": given}, outputs={"y": out})
            return np.array(out)
        finally:
            for pages in fences:
                pages.close()


def kernel(body: str, params: str = "", element: str = "f32") -> str:
    """A kernel of input x and output y of `element` with the body given; `params` are index parameters."""
    extra = "".join(f"%{p}: index, " for p in params.split())
    return f"tile.kernel @k(%x: memref<?x{element}>, %y: memref<?x{element}>, {extra}%blk: index) {{\n{body}\n}}\n"
