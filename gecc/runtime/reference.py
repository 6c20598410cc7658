"""Programs of the host engine, run by `onnx.reference`.

A program is a serialised onnx.ModelProto of one graph. Values are numpy arrays (of `object` or str for strings), lists
for sequences, None for an empty optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gecc.errors import GeccError, InvalidModelError, KernelError, UnsupportedError
from gecc.runtime.custom import REGISTRY

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from onnx import ModelProto

RANDOM = frozenset(
    ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""Operators whose results are drawn by chance."""


class Program:
    """A program made ready: its graph is checked to have an implementation throughout."""

    def __init__(self, data: bytes, where: str | None = None) -> None:
        """`where` is what messages call the program; by default the ONNX node it is named after.

        Raises UnsupportedError when onnx is missing, InvalidModelError for what is no program, or holds an operator
        without an implementation.
        """
        proto = _parse(data, where)
        if (tensor := _external(proto)) is not None:
            raise InvalidModelError(
                f"tensor '{tensor}' of the program is kept in another file; a program reads no files", where=where
            )
        self.inputs: list[str] = [i.name for i in proto.graph.input]
        self.outputs: list[str] = [o.name for o in proto.graph.output]
        self.where = where or f"ONNX node '{proto.graph.name}'"
        from onnx.reference import ReferenceEvaluator

        from gecc.runtime.additions import ADDITIONS
        from gecc.runtime.patches import patches_for

        opset = max((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=1)
        try:
            self._evaluator = ReferenceEvaluator(proto, new_ops=[*_custom(), *patches_for(opset), *ADDITIONS])
        except Exception as error:  # anything: see `run`
            raise InvalidModelError(
                f"the host engine does not take the program: {_said(error)}",
                where=self.where,
                hint="operators of one's own are registered with @gecc.custom_op, also where the om is loaded",
            ) from error

    def run(self, values: Sequence[Any], where: str | None = None) -> list[Any]:
        """The results, in order, for values of the inputs, in order. Raises KernelError naming the node, or `where`.

        No result shares memory with a tensor given: results may outlive the memory of a run (as a sequence does).
        """
        feeds = {n: np.array(v) if _is_tensor(v) else v for n, v in zip(self.inputs, values, strict=True)}
        try:
            with np.errstate(all="ignore"):
                results = self._evaluator.run(None, feeds)
        except GeccError:
            raise
        except Exception as error:  # it is written for tests, and calls others, down to decoders of images: anything
            raise KernelError(f"the host engine failed: {_said(error)}", where=where or self.where) from error
        assert isinstance(results, list)
        return [np.asarray(r) if isinstance(r, np.generic | int | float | str | bytes) else r for r in results]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != object


def _parse(data: bytes, where: str | None) -> ModelProto:
    try:
        from google.protobuf.message import DecodeError
        from onnx import ModelProto
    except ImportError as error:
        raise UnsupportedError(
            f"the host engine needs the package onnx: {error}", where=where, hint="pip install onnx"
        ) from error
    try:
        return ModelProto.FromString(data)
    except DecodeError as error:
        raise InvalidModelError(f"the host engine does not take the program: {error}", where=where) from error


def _external(message: Message) -> str | None:
    """The name of a tensor anywhere in a message whose data are in another file."""
    from onnx import TensorProto

    if isinstance(message, TensorProto):
        return message.name if message.data_location == TensorProto.EXTERNAL else None
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else (value,):
                if (found := _external(part)) is not None:
                    return found
    return None


def _custom() -> list[type]:
    """Registered operators with a numpy implementation, as classes of the reference implementation."""
    from onnx.reference.op_run import OpRun

    def made(domain: str, name: str, function: Any) -> type:
        def _run(self: Any, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
            results = function(*inputs, **attributes)
            return results if isinstance(results, tuple) else (results,)

        return type(name, (OpRun,), {"op_domain": domain, "_run": _run})

    found = sorted(REGISTRY.items())
    return [made(*key, op.compute) for key, op in found if op.compute is not None]


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
