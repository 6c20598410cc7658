"""From what a caller passes to arrays that kernels may read in place, with every mistake told at once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gecc.errors import InputError
from gecc.om.records import IoDesc

Inputs: TypeAlias = Mapping[str, ArrayLike] | Sequence[ArrayLike]
"""Arrays by input name, or in the order of the inputs."""

_DTYPES: dict[str, np.dtype] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "i1": np.dtype(np.bool_),
}


class Binder:
    """Checks and orders the inputs of one model."""

    def __init__(self, inputs: Sequence[IoDesc]) -> None:
        self._specs = [(io.name, self.dtype(io), io.shape) for io in inputs]

    @staticmethod
    def dtype(io: IoDesc) -> np.dtype:
        """The numpy type of an input or output. numpy has no bf16: such an array holds its 16 bits as uint16."""
        return _DTYPES[io.dtype]

    def bind(self, inputs: Inputs) -> list[NDArray]:
        """The arrays in the model's order, contiguous and aligned, copied only where they are not.

        Raises InputError saying what was found and expected for every input that is missing, unknown or not as the
        model wants it.
        """
        if type(inputs) is dict and len(inputs) == len(self._specs):
            arrays: list[NDArray] = []
            for name, dtype, shape in self._specs:
                array = inputs.get(name)
                if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                    return self._bind(inputs)
                flags = array.flags
                arrays.append(array if flags.c_contiguous and flags.aligned else _copy(array))
            return arrays
        return self._bind(inputs)

    def _bind(self, inputs: Inputs) -> list[NDArray]:
        """What `bind` does, for any form of inputs, collecting what is wrong."""
        names = [name for name, _, _ in self._specs]
        problems: list[str] = []
        if isinstance(inputs, Mapping):
            named: Mapping[str, ArrayLike] = inputs
            problems += [f"'{name}' is missing" for name in names if name not in named]
            problems += [f"'{name}' is not an input of the model" for name in named if name not in names]
        elif isinstance(inputs, list | tuple):
            if len(inputs) != len(names):
                problems.append(f"found {len(inputs)} arrays, expected {len(names)}")
            named = dict(zip(names, inputs, strict=False))
        else:
            problems.append(f"found {type(inputs).__name__}, expected a mapping from names or a list of arrays")
            named = {}
        arrays: list[NDArray] = []
        for name, dtype, shape in self._specs:
            if name not in named:
                continue
            try:
                array = np.asarray(named[name])
            except ValueError as error:  # nested lists of uneven lengths
                problems.append(f"'{name}' is no array: {error}")
                continue
            if array.dtype != dtype:
                problems.append(f"'{name}' has element type {array.dtype}, expected {dtype}")
            if array.shape != shape:
                problems.append(f"'{name}' has shape {list(array.shape)}, expected {list(shape)}")
            arrays.append(array if array.flags.c_contiguous and array.flags.aligned else _copy(array))
        if problems:
            wanted = ", ".join(f"'{name}' {dtype}{list(shape)}" for name, dtype, shape in self._specs)
            raise InputError("wrong inputs: " + "; ".join(problems), hint=f"the model takes {wanted or 'no inputs'}")
        return arrays


_addressof = ctypes.addressof
_from_buffer: Any = ctypes.c_char.from_buffer


def address_of(array: NDArray) -> int:
    """Where the bytes of a contiguous array lie."""
    if array.flags.writeable and array.size:
        return _addressof(_from_buffer(array))  # four times as fast as numpy's own ways
    return array.__array_interface__["data"][0]


def _copy(array: NDArray) -> NDArray:
    return np.array(array, order="C", copy=True)
