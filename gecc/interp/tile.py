"""What kernels mean, in numpy: all blocks of a launch, one after another.

A `tile.lanes` loop runs all its iterations at once on arrays with one element for each, which is what it promises to
allow. Every load and store is checked against its memory: an access outside is a fault of the compiler and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gecc.dialects import tile
from gecc.errors import KernelError, PassError
from gecc.interp.scalar import evaluate, is_scalar_op, scalar_dtype, signless_view
from gecc.rewrite import location_names

Array: TypeAlias = np.ndarray[Any, Any]
Value: TypeAlias = "int | Array"
"""Uniform indices are Python integers, everything else arrays."""

_INDEX: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
    arith.DivSIOp: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    arith.RemSIOp: lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}
_COMBINE: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


def kernel_runner(module: ModuleOp) -> Callable[[tile.LaunchOp, Sequence[Array], Sequence[Array]], None]:
    """A function that runs a launch of the module's kernels on arrays, outputs in place."""
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.KernelOp)}

    def run(launch: tile.LaunchOp, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        name = launch.kernel.string_value()
        if name not in kernels:
            raise PassError(f"launch '{launch.label.data}' names kernel @{name}, which the module does not hold")
        params = [int(v) for v in launch.params.get_values()]
        names = ", ".join(location_names(launch))
        run_kernel(
            kernels[name],
            [*inputs, *outputs],
            params,
            range(launch.blocks.value.data),
            launch.scratch.value.data,
            f"'{launch.label.data}'" + (f" of ONNX node {names}" if names else ""),
        )

    return run


def run_kernel(
    kernel: tile.KernelOp,
    memories: Sequence[Array],
    params: Sequence[int],
    blocks: Sequence[int],
    scratch: int,
    where: str,
) -> None:
    """Run `blocks` of a kernel on flat or shaped contiguous arrays, inputs then outputs."""
    args = kernel.body.block.args
    if len(args) != len(memories) + len(params) + 1:
        raise PassError(
            f"kernel @{kernel.sym_name.data} takes {len(kernel.memories)} memories and {len(kernel.scalars)} indices, "
            f"{where} gives {len(memories)} and {len(params)}"
        )
    flat = [signless_view(np.asarray(m)).reshape(-1) for m in memories]
    for given, view in zip(memories, flat, strict=True):
        if not np.shares_memory(given, view) and view.size:
            raise PassError(f"{where}: memory of shape {given.shape} is not contiguous")
    for block in blocks:
        run = _Run(where, scratch)
        for arg, memory in zip(args, flat, strict=False):
            run.memories[arg] = memory
        for arg, value in zip(args[len(flat) :], [*params, block], strict=True):
            run.values[arg] = value
        with np.errstate(all="ignore"):
            run.block(kernel.body.block)


class _Run:
    """One block of a kernel being run."""

    def __init__(self, where: str, scratch: int) -> None:
        self.where = where
        self.values: dict[SSAValue, Value] = {}
        self.memories: dict[SSAValue, Array] = {}
        self.scratch = np.full(-(-scratch // 64) * 64, 0xFF, np.uint8)

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.operation(op)

    def value(self, value: SSAValue) -> Any:
        return self.values[value]

    def index(self, value: SSAValue) -> int:
        """A uniform index."""
        found = self.values[value]
        return found if isinstance(found, int) else int(found)

    def operation(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr) and isinstance(op.result.type, IndexType):
                self.values[op.result] = op.value.value.data
            case tile.LoadOp():
                memory, offset = self.memories[op.memory], self.value(op.offset)
                self.check(op, offset, memory)
                self.values[op.value] = np.asarray(memory[offset])
            case tile.StoreOp():
                memory, offset = self.memories[op.memory], self.value(op.offset)
                self.check(op, offset, memory)
                memory[offset] = self.value(op.value)
            case tile.LanesOp():
                self.lanes(op)
            case scf.ForOp():
                self.loop(op)
            case tile.ScratchOp():
                self.memories[op.memory] = self.scratch_view(op)
            case tile.CheckIndexOp():
                self.check_index(op)
            case tile.FillOp():
                type_ = op.tile.type
                assert isinstance(type_, VectorType)
                scalar = np.asarray(self.value(op.scalar))
                self.values[op.tile] = np.full(type_.get_shape(), scalar, scalar.dtype)
            case tile.MmaOp():
                self.mma(op)
            case tile.StoreTileOp():
                self.store_tile(op)
            case tile.YieldOp() | tile.ReturnOp() | scf.YieldOp():
                pass
            case _ if type(op) in _INDEX and all(isinstance(self.values[v], int) for v in op.operands):
                a, b = (self.index(v) for v in op.operands)
                self.values[op.results[0]] = _INDEX[type(op)](a, b)
            case _ if is_scalar_op(op):
                operands = [np.asarray(self.value(v), _dtype(v.type)) for v in op.operands]
                self.values[op.results[0]] = evaluate(op, operands)
            case _:
                raise PassError(f"no meaning for operation '{op.name}' in a kernel, {self.where}")

    def check(self, op: Operation, offset: Value, memory: Array) -> None:
        low, high = (offset, offset) if isinstance(offset, int) else (_low(offset), _high(offset))
        if low < 0 or high >= memory.size:
            raise KernelError(
                f"{op.name} at element {low if low < 0 else high} of a memory of {memory.size} elements",
                where=f"the interpretation of {self.where}",
            )

    def lanes(self, op: tile.LanesOp) -> None:
        lower, upper = self.index(op.lower), self.index(op.upper)
        results = [np.asarray(self.value(v), _dtype(v.type)) for v in op.inits]
        if upper > lower:
            block = op.body.block
            self.values[block.args[0]] = np.arange(lower, upper, dtype=np.int64)
            self.block(block)
            last = block.last_op
            assert isinstance(last, tile.YieldOp)
            for number, (value, kind) in enumerate(zip(last.values, op.combiners, strict=True)):
                lanes = np.broadcast_to(self.value(value), (upper - lower,))
                combine = _COMBINE[kind.data]
                total = combine.reduce(lanes).astype(results[number].dtype)
                results[number] = combine(results[number], total)
        for result, value in zip(op.sums, results, strict=True):
            self.values[result] = value

    def loop(self, op: scf.ForOp) -> None:
        lower, upper, step = self.index(op.lb), self.index(op.ub), self.index(op.step)
        carried = [self.value(v) for v in op.iter_args]
        block = op.body.block
        for index in range(lower, upper, step):
            self.values[block.args[0]] = index
            for arg, value in zip(block.args[1:], carried, strict=True):
                self.values[arg] = value
            self.block(block)
            last = block.last_op
            assert isinstance(last, scf.YieldOp)
            carried = [self.value(v) for v in last.arguments]
        for result, value in zip(op.results, carried, strict=True):
            self.values[result] = value

    def scratch_view(self, op: tile.ScratchOp) -> Array:
        assert isinstance(op.memory.type, MemRefType)
        dtype = _dtype(op.memory.type.element_type)
        offset = self.index(op.offset)
        if not 0 <= offset <= self.scratch.size:
            raise KernelError(
                f"scratch from byte {offset} on, the launch declares {self.scratch.size}",
                where=f"the interpretation of {self.where}",
            )
        rest = self.scratch[offset:]
        return rest[: rest.size // dtype.itemsize * dtype.itemsize].view(dtype)

    def check_index(self, op: tile.CheckIndexOp) -> None:
        index, extent = self.value(op.index), self.index(op.extent)
        low, high = (index, index) if isinstance(index, int) else (_low(index), _high(index))
        if low < 0 or high >= extent:
            raise KernelError(
                f"index {low if low < 0 else high} is out of range, expected 0 to {extent - 1}", where=self.where
            )
        self.values[op.checked] = index

    def mma(self, op: tile.MmaOp) -> None:
        type_ = op.tile.type
        assert isinstance(type_, VectorType)
        rows, columns = type_.get_shape()
        lhs, rhs = self.memories[op.lhs], self.memories[op.rhs]
        depth, n1, n2 = self.index(op.depth), self.index(op.n1), self.index(op.n2)
        steps = n1 * n2 * depth
        offsets = (
            self.index(op.lhs_offset)
            + np.arange(rows)[:, None, None, None] * self.index(op.row_stride)
            + np.arange(n1)[:, None, None] * self.index(op.stride1)
            + np.arange(n2)[:, None] * self.index(op.stride2)
            + np.arange(depth)
        ).reshape(rows, steps)
        start = self.index(op.rhs_offset)
        if steps:
            self.check(op, offsets, lhs)
            self.check(op, start, rhs)
            self.check(op, start + steps * columns - 1, rhs)
        acc = self.value(op.acc)
        panel = rhs[start : start + steps * columns].reshape(steps, columns)
        if op.pairs is not None:
            if depth % 2:
                raise KernelError(
                    f"tile.mma of pairs in runs of {depth}, expected an even number",
                    where=f"the interpretation of {self.where}",
                )
            panel = panel.reshape(-1, columns, 2).swapaxes(1, 2).reshape(steps, columns)
        self.values[op.tile] = acc + (lhs[offsets].astype(acc.dtype) @ panel.astype(acc.dtype))

    def store_tile(self, op: tile.StoreTileOp) -> None:
        acc = self.value(op.tile)
        columns = min(self.index(op.columns), acc.shape[1])
        if columns <= 0:
            return
        value, row, column = op.body.block.args
        self.values[value] = acc[:, :columns]
        self.values[row] = np.arange(acc.shape[0], dtype=np.int64)[:, None]
        self.values[column] = np.arange(columns, dtype=np.int64)[None, :]
        self.block(op.body.block)
        last = op.body.block.last_op
        assert isinstance(last, tile.YieldOp)
        memory = self.memories[op.memory]
        offsets = self.index(op.offset) + self.value(row) * self.index(op.row_stride) + self.value(column)
        self.check(op, offsets, memory)
        memory[offsets] = self.value(last.values[0])


def _low(offset: Array) -> int:
    return int(np.min(offset)) if np.size(offset) else 0


def _high(offset: Array) -> int:
    return int(np.max(offset)) if np.size(offset) else -1


def _dtype(type_: Attribute) -> np.dtype[Any]:
    return scalar_dtype(type_)
