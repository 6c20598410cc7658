"""Operators that only move elements, on arrays of anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.passes.ge.infer_shapes.elements import is_number

if TYPE_CHECKING:
    import numpy as np

    Elements = np.ndarray[Any, np.dtype[Any]]


def moved(op: Operation, inputs: Sequence[Elements]) -> list[Elements] | None:
    """The results of `op` when it moves elements to places that are known, else None. Shapes are static."""
    import numpy as np

    x = inputs[0]
    shape = ge.dims(op.results[0])
    match op:
        case ge.Identity():
            return [x]
        case ge.Reshape():
            return [x.reshape(shape)]
        case ge.Expand():
            return [np.broadcast_to(x, shape)]
        case ge.Transpose():
            return [x.transpose(op.perm.get_values())]
        case ge.Tile():
            return [np.tile(x, op.repeats.get_values())]
        case ge.Concat():
            return [np.concatenate(inputs, axis=op.axis.value.data)]
        case ge.Split():
            return list(np.split(x, np.cumsum(op.sizes.get_values())[:-1], axis=op.axis.value.data))
        case ge.Slice():
            return [_sliced(op, x)]
        case ge.Gather() | ge.GatherElements():
            return _gathered(op, x, inputs[1])
        case _:
            return None


def _sliced(op: ge.Slice, x: Elements) -> Elements:
    import numpy as np

    bounds = zip(*(p.get_values() for p in (op.starts, op.ends, op.axes, op.steps)), strict=True)
    for start, end, axis, step in bounds:
        first, by, count = ge.slice_bounds(x.shape[axis], start, end, step)
        x = x.take(first + by * np.arange(count), axis=axis)
    return x


def _gathered(op: ge.Gather | ge.GatherElements, x: Elements, indices: Elements) -> list[Elements] | None:
    import numpy as np

    if not all(is_number(i) for i in indices.flat):
        return None
    axis = op.axis.value.data
    places = indices.astype(np.int64)
    size = x.shape[axis]
    if places.size and not (-size <= places.min() and places.max() < size):
        return None  # the interpreter or the kernel reports it
    if isinstance(op, ge.Gather):
        return [np.asarray(x.take(places % size if size else places, axis=axis), dtype=object)]
    # the other dimensions of the indices may be smaller than those of x
    near = x[tuple(slice(None) if i == axis % x.ndim else slice(n) for i, n in enumerate(indices.shape))]
    return [np.take_along_axis(near, places % size if size else places, axis=axis)]
