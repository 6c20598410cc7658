"""Operators that write elements at indices."""

from __future__ import annotations

import numpy as np

from gecc.dialects import ge
from gecc.interp.base import Array, Env, meaning, wide
from gecc.interp.ge.indexing import checked

_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scattered(x: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    if reduction == "none":
        result = x.copy()
        result[places] = updates  # numpy keeps the last one
        return result
    result = wide(x).copy()
    _UFUNCS[reduction].at(result, places, wide(updates))
    return result


@meaning(ge.ScatterElements)
def scatter_elements(env: Env, op: ge.ScatterElements, x: Array, indices: Array, updates: Array) -> Array:
    """Single elements along an axis."""
    axis = op.axis.value.data % x.ndim
    places = list(np.indices(indices.shape))
    places[axis] = checked(op, indices, x.shape[axis])
    return _scattered(x, tuple(places), updates, op.reduction.data)


@meaning(ge.ScatterND)
def scatter_nd(env: Env, op: ge.ScatterND, x: Array, indices: Array, updates: Array) -> Array:
    """Slices at index vectors."""
    places = tuple(checked(op, indices[..., d], x.shape[d]) for d in range(indices.shape[-1]))
    return _scattered(x, places, updates, op.reduction.data)
