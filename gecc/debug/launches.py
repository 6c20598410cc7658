"""Running the launches of a tile graph: natively, with a sample of every kernel's blocks interpreted beside it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gecc.codegen.emit import compile_kernels
from gecc.debug.compare import difference
from gecc.dialects import tile
from gecc.errors import GeccError, KernelError
from gecc.interp.tile import run_kernel
from gecc.rewrite import location_names
from gecc.runtime import abi
from gecc.runtime.blob import Code
from gecc.target import Target

Array = NDArray[Any]

FULL = 2048
"""A launch with no more elements of output than this is interpreted in full."""

TOLERANCE = 1e-4
"""Greatest difference between machine code and its kernel's meaning, relative to the greatest magnitude written."""

UNWRITTEN = 0xFF
"""What outputs hold before an interpreted block writes them."""


class Mismatch(GeccError):
    """Machine code and the meaning of its kernel differ, or a launch is none that both could agree on."""


class LaunchRunner:
    """Runs launches of a module's kernels on arrays (see `gecc.interp.tile_graph.RunKernel`).

    Kernels run as machine code for `target`. Once for each kernel, and in full where there is little to compute, blocks
    are also interpreted, and what they write is compared: the first, the last and one in the middle. `seen` names the
    bodies of kernels that were compared already and is added to.
    """

    def __init__(self, module: ModuleOp, target: Target, seen: set[str]) -> None:
        self.kernels: dict[str, tile.KernelOp] = {}
        """By symbol; of kernels alike but for the name, the first stands for all."""
        self.seen = seen
        distinct: dict[str, tile.KernelOp] = {}
        for op in module.ops:
            if isinstance(op, tile.KernelOp):
                self.kernels[op.sym_name.data] = distinct.setdefault(_body(op), op)
        blob = compile_kernels(list(distinct.values()), target)
        self._code = Code(blob.data, blob.offsets, "kernels under test")

    def close(self) -> None:
        """Unmap the code."""
        self._code.close()

    def __call__(self, launch: tile.LaunchOp, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run all blocks of a launch, outputs in place. Raises KernelError and Mismatch."""
        _check_overlap(launch, inputs, outputs)
        kernel = self.kernels[launch.kernel.string_value()]
        sampled = self._sample(launch, kernel, outputs)
        before = [np.array(x) for x in inputs] if sampled else []
        self._native(launch, kernel, inputs, outputs)
        if sampled:
            self._compare(launch, kernel, sampled, before, outputs)

    def _sample(self, launch: tile.LaunchOp, kernel: tile.KernelOp, outputs: Sequence[Array]) -> list[int]:
        """The blocks to interpret."""
        body, count = _body(kernel), launch.blocks.value.data
        if sum(x.size for x in outputs) <= FULL:
            return list(range(count))
        if body in self.seen:
            return []
        self.seen.add(body)
        return sorted({0, count // 2, count - 1}) if count else []

    def _native(
        self, launch: tile.LaunchOp, kernel: tile.KernelOp, inputs: Sequence[Array], outputs: Sequence[Array]
    ) -> None:
        aligned = [_aligned(x, outputs) for x in inputs]
        params = [int(v) for v in launch.params.get_values()]
        scratch = np.zeros(launch.scratch.value.data + abi.ALIGNMENT, np.uint8)
        scratch_at = -(-scratch.ctypes.data // abi.ALIGNMENT) * abi.ALIGNMENT
        addresses = [x.__array_interface__["data"][0] for x in (*aligned, *outputs)]
        words = np.array([*addresses, *params], np.int64)
        state = np.zeros(abi.STATE_BYTES // 8 + 8, np.int64)
        state_at = -(-state.ctypes.data // abi.ALIGNMENT) * abi.ALIGNMENT
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        function = self._code.function(kernel.sym_name.data, None, pointer, number, number, pointer, pointer)
        function(words.ctypes.data, 0, launch.blocks.value.data, scratch_at, state_at)
        found = state[(state_at - state.ctypes.data) // 8 :]
        if code := int(found[abi.STATE_ERROR // 8]):
            value, limit = int(found[abi.STATE_VALUE // 8]), int(found[abi.STATE_LIMIT // 8])
            raise KernelError(abi.describe(code, value, limit), where=_where(launch))

    def _compare(
        self,
        launch: tile.LaunchOp,
        kernel: tile.KernelOp,
        blocks: Sequence[int],
        before: Sequence[Array],
        outputs: Sequence[Array],
    ) -> None:
        """Interpret `blocks` on a copy, and compare the elements they write with what machine code wrote there."""
        fresh = [np.full(x.nbytes, UNWRITTEN, np.uint8).view(x.dtype).reshape(x.shape) for x in outputs]
        params = [int(v) for v in launch.params.get_values()]
        run_kernel(kernel, [*before, *fresh], params, blocks, launch.scratch.value.data, _where(launch))
        for number, (meant, native) in enumerate(zip(fresh, outputs, strict=True)):
            raw = meant.reshape(-1).view(np.uint8).reshape(meant.size, meant.itemsize)
            written = (raw != UNWRITTEN).any(axis=1)
            found = difference(kernel.sym_name.data, native.reshape(-1)[written], meant.reshape(-1)[written])
            if not found.within(TOLERANCE):
                raise Mismatch(
                    f"kernel @{kernel.sym_name.data} gives other values as machine code than by its meaning: output {number} differs by "
                    f"{found.max_abs:.3e} ({found.max_rel:.3e} of its greatest magnitude, {found.mismatched} elements "
                    f"not alike) in blocks {list(blocks)}",
                    where=_where(launch),
                )


def _body(kernel: tile.KernelOp) -> str:
    """A kernel as text, without its name."""
    return str(kernel).replace(f"@{kernel.sym_name.data}(", "(", 1)


def _check_overlap(launch: tile.LaunchOp, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Raise Mismatch when a launch writes where it reads, but for an input whose memory the first output may take."""
    inplace = launch.inplace.get_values()
    for i, x in enumerate(inputs):
        for k, y in enumerate(outputs):
            if np.may_share_memory(x, y) and not (k == 0 and i in inplace):
                raise Mismatch(f"output {k} is written over input {i}, which is not in place", where=_where(launch))


def _aligned(array: Array, outputs: Sequence[Array]) -> Array:
    """An input at the alignment that weights have in an om; where it lies in what a launch writes, as it is."""
    if array.__array_interface__["data"][0] % abi.ALIGNMENT == 0 or any(np.may_share_memory(array, x) for x in outputs):
        return array
    raw = np.empty(array.nbytes + abi.ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % abi.ALIGNMENT
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _where(launch: tile.LaunchOp) -> str:
    names = ", ".join(location_names(launch))
    return f"launch '{launch.label.data}'" + (f", ONNX nodes {names}" if names else "")
