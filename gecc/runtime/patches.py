"""Operators that `onnx.reference` gets wrong or lacks, done right. Every class says what is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_identity, op_if, op_loop
from onnx.reference.ops.op_batch_normalization import BatchNormalization_9, _batchnorm_test_mode
from onnx.reference.ops.op_pad import Pad_11, Pad_18

Array = np.ndarray[Any, Any]


class _Optional(OpRun):
    """The reference takes no operator that returns an empty optional, None."""

    op_domain = ""

    def _check_and_fix_outputs(self, res: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(np.array(x) if np.isscalar(x) else x for x in res)


class Optional(_Optional):
    """The reference makes a list of one element, which is a sequence; an optional is the element itself, or None."""

    def _run(self, x: Any = None, type: Any = None) -> tuple[Any, ...]:
        return (x,)


class Identity(_Optional, op_identity.Identity):
    """For optionals without element."""

    def _run(self, a: Any) -> tuple[Any, ...]:
        return (None,) if a is None else op_identity.Identity._run(self, a)


class If(_Optional, op_if.If):
    """For branches that return an optional without element, which the reference makes an error."""

    _run_then_branch: Any
    _run_else_branch: Any

    def _run(
        self,
        cond: Any,
        context: Any = None,
        else_branch: Any = None,
        then_branch: Any = None,
        attributes: Any = None,
        bindings: Any = None,
    ) -> tuple[Any, ...]:
        branch = self._run_then_branch if np.asarray(cond).item() else self._run_else_branch
        return tuple(branch(context, attributes=attributes, bindings=bindings))


class Loop(_Optional, op_loop.Loop):
    """An absent condition is true, but stops the reference's loop before it starts; it joins the pieces of a scan output
    along their first dimension, where the standard stacks them along a new one; and of no pieces it makes an error.
    """

    body: Any
    _run_body: Any

    def _run(
        self,
        M: Any,
        cond: Any,
        *args: Any,
        context: Any = None,
        body: Any = None,
        attributes: Any = None,
        bindings: Any = None,
    ) -> tuple[Any, ...]:
        graph = self.body
        names, carried = graph.input_names, len(graph.input_names) - 2
        values = dict(context or {})
        state = list(args)
        pieces: list[list[Any]] = [[] for _ in graph.output_names[1 + carried :]]
        going = True if cond is None else bool(np.asarray(cond).item())
        trip, limit = 0, None if M is None else int(np.asarray(M).item())
        while going and (limit is None or trip < limit):
            values.update(zip(names, [np.array(trip, np.int64), np.array(going), *state], strict=True))
            made = self._run_body(values, attributes=attributes, bindings=bindings)
            going = bool(np.asarray(made[0]).item())
            state = list(made[1 : 1 + carried])
            for piece, value in zip(pieces, made[1 + carried :], strict=True):
                piece.append(value)
            trip += 1
        scans = [np.stack(p) if p else self._nothing(i) for i, p in enumerate(pieces)]
        return (*state, *scans)

    def _nothing(self, number: int) -> Array:
        """A scan output without pieces: no rows of the shape that the body declares, as far as it does."""
        graph = next(a.g for a in self.onnx_node.attribute if a.name == "body")
        kind = graph.output[len(graph.input) - 1 + number].type.tensor_type
        dims = [d.dim_value for d in kind.shape.dim]
        return np.zeros((0, *dims), tensor_dtype_to_np_dtype(kind.elem_type))


class BatchNormalization(BatchNormalization_9):
    """Before opset 14 a node with one output is for inference; the reference computes the statistics of training."""

    op_domain = ""

    def _run(self, *inputs: Any, **attributes: Any) -> Any:
        epsilon = attributes.get("epsilon", 1e-5)
        if len(self.onnx_node.output) > 1:
            momentum = attributes.get("momentum", 0.9)
            return BatchNormalization_9._run(self, *inputs, epsilon=epsilon, momentum=momentum)
        return (_batchnorm_test_mode(*inputs, epsilon=epsilon),)


class _Rows(OpRun):
    """Before opset 13 these see a matrix: the dimensions before `axis` (by default 1), and those from it on. The
    reference goes along one dimension, and along the last by default."""

    op_domain = ""

    def _rows(self, x: Array) -> Array:
        axis = next((a.i for a in self.onnx_node.attribute if a.name == "axis"), 1)
        axis += x.ndim if axis < 0 else 0
        return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


class Softmax(_Rows):
    """See `_Rows`."""

    def _run(self, X: Array, axis: Any = None) -> tuple[Any, ...]:
        return (np.exp(_log_softmax(self._rows(X), -1)).astype(X.dtype).reshape(X.shape),)


class LogSoftmax(_Rows):
    """See `_Rows`."""

    def _run(self, X: Array, axis: Any = None) -> tuple[Any, ...]:
        return (_log_softmax(self._rows(X), -1).astype(X.dtype).reshape(X.shape),)


class Hardmax(_Rows):
    """See `_Rows`."""

    def _run(self, X: Array, axis: Any = None) -> tuple[Any, ...]:
        rows = self._rows(X)
        result = np.zeros_like(rows)
        if rows.size:
            np.put_along_axis(result, rows.argmax(-1)[:, None], 1, -1)
        return (result.reshape(X.shape),)


def _log_softmax(x: Array, axis: int) -> Array:
    if not x.size:
        return x
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


class _Stable(OpRun):
    """The reference takes the logarithm of the softmax, which is -inf where that is too small for the type."""

    op_domain = ""

    def _run(self, X: Array, axis: Any = None) -> tuple[Any, ...]:
        return (_log_softmax(X, next((a.i for a in self.onnx_node.attribute if a.name == "axis"), -1)).astype(X.dtype),)


class DequantizeLinear(OpRun):
    """The reference has none before opset 19; the arithmetic is the same."""

    op_domain = ""

    def _run(self, x: Any, x_scale: Any, x_zero_point: Any = None, **_: Any) -> tuple[Any, ...]:
        axis = next((a.i for a in self.onnx_node.attribute if a.name == "axis"), 1)
        if x.dtype == np.int32 and x_zero_point is not None:  # not through float32, in which large integers are rounded
            x, x_zero_point = x.astype(np.int64) - _along(x_zero_point, x.ndim, axis), None
        scale = _along(x_scale, x.ndim, axis)
        zero = 0 if x_zero_point is None else _along(x_zero_point, x.ndim, axis).astype(np.int64)
        return (((x.astype(np.int64) - zero).astype(np.float32) * scale).astype(x_scale.dtype),)


def _along(values: Array, rank: int, axis: int) -> Array:
    """A scalar, or a vector along `axis` of a tensor."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * rank
    shape[axis] = values.size
    return values.reshape(shape)


class _Cropping:
    """Negative pads cut off; numpy, and with it the reference, refuses them."""

    op_domain = ""

    @staticmethod
    def cropped(data: Array, pads: Array, axes: Any) -> tuple[Array, Array]:
        """The data without what negative pads cut off, and the pads without them."""
        places = range(data.ndim) if axes is None else [int(a) % data.ndim for a in np.asarray(axes).reshape(-1)]
        begins, ends = (list(map(int, part)) for part in np.split(np.asarray(pads), 2))
        cut = [slice(None)] * data.ndim
        for axis, begin, end in zip(places, begins, ends, strict=True):
            cut[axis] = slice(max(-begin, 0), data.shape[axis] - max(-end, 0))
        return data[tuple(cut)], np.maximum(pads, 0)


class _Pad11(_Cropping, Pad_11):
    def _run(self, data: Any, pads: Any, constant_value: Any = None, mode: Any = None) -> tuple[Any, ...]:
        data, pads = self.cropped(data, pads, None)
        return Pad_11._run(self, data, pads, constant_value, mode)


class _Pad18(_Cropping, Pad_18):
    def _run(
        self, data: Any, pads: Any, constant_value: Any = None, axes: Any = None, mode: Any = None
    ) -> tuple[Any, ...]:
        data, pads = self.cropped(data, pads, axes)
        return Pad_18._run(self, data, pads, constant_value, axes, mode)


def _named(cls: type[OpRun], name: str) -> type[OpRun]:
    """The class under the operator's name, by which the reference finds it."""
    return type(name, (cls,), {"__doc__": cls.__doc__})


LATEST = 1 << 30

PATCHES: tuple[tuple[type[OpRun], int, int], ...] = (
    (BatchNormalization, 9, 13),
    (DequantizeLinear, 10, 18),
    (Hardmax, 1, 12),
    (Identity, 1, LATEST),
    (If, 1, LATEST),
    (LogSoftmax, 1, 12),
    (_named(_Stable, "LogSoftmax"), 13, LATEST),
    (Loop, 1, LATEST),
    (Optional, 1, LATEST),
    (_named(_Pad11, "Pad"), 11, 17),
    (_named(_Pad18, "Pad"), 18, LATEST),
    (Softmax, 1, 12),
)
"""Classes with the first and last opset of the standard that they serve, taken before those of onnx."""


def patches_for(opset: int) -> list[type[OpRun]]:
    """The patches for a model of an opset of the standard's domain."""
    return [cls for cls, first, last in PATCHES if first <= opset <= last]
