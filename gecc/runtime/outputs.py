"""Where the results of a run go: new arrays, or arrays of the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gecc.errors import GeccError, InputError
from gecc.om.records import IoDesc
from gecc.runtime.inputs import NUMPY_DTYPES, bits_of, type_of_bits

Outputs: TypeAlias = Mapping[str, NDArray]
"""Arrays by output name to write results into; outputs not named get new ones."""


class Results:
    """Makes or checks the arrays of one model's outputs."""

    def __init__(self, outputs: Sequence[IoDesc], narrow: Mapping[str, str] | None = None) -> None:
        """`narrow` are the types of outputs that numpy has no type for, by name."""
        self._outputs = list(outputs)
        self._kinds = {io.name: type_of_bits(io, narrow or {}) for io in outputs}
        self._types = [(io.shape, NUMPY_DTYPES[io.dtype]) if io.slot < 0 else None for io in outputs]

    def make(self) -> list[Any]:
        """New arrays in order; None for an object, which the host engine makes. Raises GeccError for want of memory."""
        return [_new(kind) for kind in self._types]

    def take(self, given: Outputs, inputs: Sequence[Any]) -> list[Any]:
        """The caller's arrays in order, as their bits where numpy has no such type, and new ones where there is none.

        Raises InputError, telling everything that is wrong: an unknown name, another type or shape, memory that is
        read-only, not contiguous or not aligned, or that overlaps an input or another output (an output may be written
        before an input is read for the last time).
        """
        if not isinstance(given, Mapping):
            raise InputError(f"wrong outputs: found {type(given).__name__}, expected a mapping from names to arrays")
        known = {io.name: io for io in self._outputs}
        problems = [f"'{name}' is not an output of the model" for name in given if name not in known]
        mine: list[tuple[str, NDArray]] = []
        results: list[Any] = []
        for io, new in zip(self._outputs, self._types, strict=True):
            if io.name not in given:
                results.append(_new(new))
            elif found := _problem(given[io.name], io, self._kinds[io.name]):
                problems.append(f"'{io.name}' {found}")
            else:
                results.append(bits_of(given[io.name], self._kinds[io.name], NUMPY_DTYPES[io.dtype]))
                mine.append((io.name, results[-1]))
        others = [("an input", array) for array in inputs if isinstance(array, np.ndarray)]
        for i, (name, array) in enumerate(mine):
            for other, memory in (*others, *((f"'{n}'", a) for n, a in mine[:i])):
                if np.may_share_memory(array, memory):
                    problems.append(f"'{name}' shares memory with {other}")
        if problems:
            raise InputError("wrong outputs: " + "; ".join(problems))
        return results


def _new(kind: tuple[tuple[int, ...], np.dtype] | None) -> NDArray | None:
    """A new array; None for an object. A file may ask for any size, so want of memory is an error in words."""
    try:
        return np.empty(*kind) if kind is not None else None
    except MemoryError as error:
        raise GeccError(f"cannot get the memory for a result: {error}", hint="give an array by outputs=") from None


def _problem(array: object, io: IoDesc, kind: str | None) -> str | None:
    """What is wrong with an array for an output."""
    if io.slot >= 0:
        return f"is a {io.dtype}, which no array can be given for"
    if not isinstance(array, np.ndarray):
        return f"is {type(array).__name__}, expected a numpy array"
    dtype = NUMPY_DTYPES[io.dtype]
    if bits_of(array, kind, dtype).dtype != dtype or array.shape != io.shape:
        return f"is {array.dtype}{list(array.shape)}, expected {kind or dtype}{list(io.shape)}"
    flags = array.flags
    missing = [
        word
        for word, held in (
            ("writeable", flags.writeable),
            ("contiguous", flags.c_contiguous),
            ("aligned", flags.aligned),
        )
        if not held
    ]
    return f"is not {' and '.join(missing)}" if missing else None
