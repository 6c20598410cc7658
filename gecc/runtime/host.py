"""The host engine: parts of a model that have no native form, run by the reference evaluator of ONNX.

Only models with host calls need the package onnx where they run; for all others nothing here is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InvalidModelError, OmError
from gecc.om.records import HostTask, HostTensor, OmModel, Operand
from gecc.runtime.inputs import NUMPY_DTYPES
from gecc.runtime.reference import Program

Memory = Callable[[Operand], NDArray[np.uint8]]
"""The bytes of an operand in the run at hand, as a view."""


class HostProgram:
    """One host call, ready to run. Raises OmError for a program that onnx does not read, GeccError when it is missing."""

    def __init__(self, model: OmModel, index: int, task: HostTask, program: bytes) -> None:
        self.task = task
        names = ", ".join(f"'{name}'" for name in model.nodes[task.op_index].onnx_names) or "none"
        self.where = f"task {index} '{task.label}' of '{model.name}', ONNX nodes: {names}"
        try:
            self._program = Program(program, self.where)
        except InvalidModelError as error:
            raise OmError(error.message, where=self.where, hint=error.hint) from error
        given = (len(self._program.inputs), len(self._program.outputs))
        if given != (len(task.ins), len(task.outs)):
            expected = f"{len(task.ins)} inputs and {len(task.outs)} outputs"
            raise OmError(
                f"the program has {given[0]} inputs and {given[1]} outputs, expected {expected}", where=self.where
            )

    def run(self, memory: Memory, objects: list[Any]) -> None:
        """Compute the outputs from the inputs, tensors in `memory`, the others in `objects`.

        Raises KernelError when the evaluator fails, GeccError when it gives a tensor of another type or shape than was compiled for.
        """
        results = self._program.run(
            [
                _taken(memory(value.place), value) if isinstance(value, HostTensor) else objects[value.slot]
                for value in self.task.ins
            ]
        )
        for number, (value, result) in enumerate(zip(self.task.outs, results, strict=True)):
            if isinstance(value, HostTensor):
                memory(value.place)[:] = self._given(result, value, number)
            else:
                objects[value.slot] = result

    def _given(self, result: object, value: HostTensor, number: int) -> NDArray[np.uint8]:
        """The bytes of a result, checked against what was compiled for."""
        array = np.asarray(result)
        expected = NUMPY_DTYPES[value.dtype]
        if value.dtype == "bf16" and array.dtype.name == "bfloat16":
            array = array.view(np.uint16)
        if array.dtype != expected or array.shape != value.shape:
            found = f"{array.dtype}{list(array.shape)}"
            raise GeccError(
                f"output {number} is {found}, expected {expected}{list(value.shape)}, as compiled for", where=self.where
            )
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def owned(value: Any) -> Any:
    """A result for a caller, who may change it: no array or list in it is also the program's own constant, or an input."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [owned(part) for part in value]
    if isinstance(value, dict):
        return {key: owned(part) for key, part in value.items()}
    return value


def _taken(data: NDArray[np.uint8], value: HostTensor) -> NDArray:
    """A tensor's bytes as an array; the program takes a copy."""
    array = data.view(NUMPY_DTYPES[value.dtype]).reshape(value.shape)
    if value.dtype == "bf16":
        import ml_dtypes  # comes with onnx

        return array.view(ml_dtypes.bfloat16)
    return array
