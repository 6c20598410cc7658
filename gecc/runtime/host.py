"""The host engine: parts of a model that have no native form, run by the reference evaluator of ONNX.

Only models with host calls need the package onnx where they run; for all others nothing here is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InvalidModelError, KernelError, OmError
from gecc.om.records import HostTask, HostTensor, OmModel, Operand
from gecc.runtime.inputs import NUMPY_DTYPES
from gecc.runtime.reference import Program

Memory = Callable[[Operand], NDArray[np.uint8]]
"""The bytes of an operand in the run at hand, as a view."""

Programs: TypeAlias = dict[Operand, Program]
"""Programs by their place in the weights."""


class HostProgram:
    """One host call, ready to run. Raises OmError for a program that onnx does not read, GeccError when it is missing."""

    def __init__(self, model: OmModel, index: int, task: HostTask, weights: memoryview, programs: Programs) -> None:
        """`programs` has the programs of the calls before, and gets that of this one: calls of one program share it.
        `weights` are the bytes of the model's weights."""
        self.task = task
        names = ", ".join(f"'{name}'" for name in model.nodes[task.op_index].onnx_names) or "none"
        self.where = f"task {index} '{task.label}' of '{model.name}', ONNX nodes: {names}"
        if task.program not in programs:
            start, stop = task.program.offset, task.program.offset + task.program.size
            try:
                programs[task.program] = Program(bytes(weights[start:stop]), self.where)
            except InvalidModelError as error:
                raise OmError(error.message, where=self.where, hint=error.hint) from error
        self._program = programs[task.program]
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
            ],
            self.where,
        )
        for number, (value, result) in enumerate(zip(self.task.outs, results, strict=True)):
            if isinstance(value, HostTensor):
                memory(value.place)[:] = self._given(result, value, number)
            else:
                objects[value.slot] = result

    def _given(self, result: object, value: HostTensor, number: int) -> NDArray[np.uint8]:
        """The bytes of a result, checked against what was compiled for."""
        expected = NUMPY_DTYPES[value.dtype]
        if not isinstance(result, np.ndarray):  # a sequence, a map, nothing
            found = type(result).__name__
            message = f"output {number} is {found}, expected {expected}{list(value.shape)}, as compiled for"
            raise GeccError(message, where=self.where)
        array = result
        if value.dtype == "bf16" and array.dtype.name == "bfloat16":
            array = array.view(np.uint16)
        if array.dtype != expected or array.shape != value.shape:
            found = f"{array.dtype}{list(array.shape)}"
            raise GeccError(
                f"output {number} is {found}, expected {expected}{list(value.shape)}, as compiled for", where=self.where
            )
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


MAX_NESTING = 64
"""Lists within lists that a result may be."""


def owned(value: Any) -> Any:
    """A result for a caller, who may change it: no array or list in it is also the program's own constant, or an input.

    What is there twice is copied once: lists of a list twice, of lists of a list twice .. would have no end. Raises
    KernelError for what is nested too deeply.
    """
    return _owned(value, {}, 0)


def _owned(value: Any, copies: dict[int, Any], depth: int) -> Any:
    if depth > MAX_NESTING:
        raise KernelError(f"a result is nested in more than {MAX_NESTING} lists or dictionaries")
    if id(value) not in copies:
        if isinstance(value, np.ndarray):
            copies[id(value)] = value.copy()
        elif isinstance(value, list):
            copies[id(value)] = [_owned(part, copies, depth + 1) for part in value]
        elif isinstance(value, dict):
            copies[id(value)] = {key: _owned(part, copies, depth + 1) for key, part in value.items()}
        else:
            return value
    return copies[id(value)]


def _taken(data: NDArray[np.uint8], value: HostTensor) -> NDArray:
    """A tensor's bytes as an array; the program takes a copy."""
    array = data.view(NUMPY_DTYPES[value.dtype]).reshape(value.shape)
    if value.dtype == "bf16":
        import ml_dtypes  # comes with onnx

        return array.view(ml_dtypes.bfloat16)
    return array
