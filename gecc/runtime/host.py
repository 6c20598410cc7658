"""The host engine: parts of a model that have no native form, run by the reference evaluator of ONNX.

Only models with host calls need the package onnx where they run; for all others nothing here is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, OmError
from gecc.om.records import HostTask, HostTensor, OmModel, Operand
from gecc.runtime.inputs import NUMPY_DTYPES

Memory = Callable[[Operand], NDArray[np.uint8]]
"""The bytes of an operand in the run at hand, as a view."""


class HostProgram:
    """One host call, ready to run. Raises OmError for a program that onnx does not read, GeccError when it is missing."""

    def __init__(self, model: OmModel, index: int, task: HostTask, program: bytes) -> None:
        self.task = task
        names = ", ".join(f"'{name}'" for name in model.nodes[task.op_index].onnx_names) or "none"
        self.where = f"task {index} '{task.label}' of '{model.name}', ONNX nodes: {names}"
        try:
            import onnx
            from onnx.reference import ReferenceEvaluator
        except ImportError as error:
            raise GeccError(
                f"the host engine needs the package onnx: {error}", where=self.where, hint="pip install onnx"
            ) from error
        from google.protobuf.message import DecodeError

        try:
            proto = onnx.load_model_from_string(program)
            self._evaluator = ReferenceEvaluator(proto)
        except (DecodeError, ValueError, TypeError, NotImplementedError, RuntimeError) as error:
            raise OmError(f"the host engine does not take the program: {error}", where=self.where) from error
        self._inputs = [info.name for info in proto.graph.input]
        given = (len(proto.graph.input), len(proto.graph.output))
        if given != (len(task.ins), len(task.outs)):
            expected = f"{len(task.ins)} inputs and {len(task.outs)} outputs"
            raise OmError(
                f"the program has {given[0]} inputs and {given[1]} outputs, expected {expected}", where=self.where
            )

    def run(self, memory: Memory, objects: list[Any]) -> None:
        """Compute the outputs from the inputs, tensors in `memory`, the others in `objects`.

        Raises GeccError when the evaluator fails or gives a tensor of another type or shape than was compiled for.
        """
        feeds: dict[str, Any] = {}
        for name, value in zip(self._inputs, self.task.ins, strict=True):
            feeds[name] = _taken(memory(value.place), value) if isinstance(value, HostTensor) else objects[value.slot]
        try:
            results: Sequence[Any] = self._evaluator.run(None, feeds)  # pyright: ignore[reportAssignmentType]
        except Exception as error:  # whatever an operator of another library raises, it is the model's node that failed
            raise GeccError(f"the host engine failed: {type(error).__name__}: {error}", where=self.where) from error
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


def _taken(data: NDArray[np.uint8], value: HostTensor) -> NDArray:
    """A tensor's bytes as an array of its own: results may be views of inputs, and the arena is written again."""
    array = data.copy().view(NUMPY_DTYPES[value.dtype]).reshape(value.shape)
    if value.dtype == "bf16":
        import ml_dtypes  # comes with onnx

        return array.view(ml_dtypes.bfloat16)
    return array
