"""Inputs and outputs of types that numpy has not: INT4, FLOAT8E4M3FN and their kin, one element a byte.

Such a tensor is one of `ui8` to the model: the bits of its elements. Two free attributes of the model, lists of strings
as long as its inputs and outputs, say what the bits mean by the name of the numpy dtype that the package ml_dtypes has
for them (`""` for an ordinary tensor). Nothing here needs that package: arrays of its types are recognised by name, and
results are viewed as them only where it is installed (else they are uint8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gecc.errors import InputError, OmError
from gecc.om.records import IoDesc, OmModel

INPUT_TYPES, OUTPUT_TYPES = "input_types", "output_types"
"""Names of the attributes."""

NARROW_TYPES = frozenset(
    ("int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
     "float8_e5m2fnuz", "float8_e8m0fnu")
)  # fmt: skip
"""Names of the types."""


class Interface:
    """Which inputs and outputs of a model are of narrow types. Raises OmError for attributes that do not fit it."""

    def __init__(self, model: OmModel) -> None:
        self._inputs = _types(model, INPUT_TYPES, model.inputs)
        self._outputs = _types(model, OUTPUT_TYPES, model.outputs)
        self._order = [io.name for io in model.inputs]

    def bits(self, inputs: Any) -> Any:
        """The inputs with narrow arrays as their bits. Raises InputError for one of another type."""
        if not self._inputs:
            return inputs
        if isinstance(inputs, Mapping):
            return {name: self._bits(name, value) for name, value in inputs.items()}
        if isinstance(inputs, list | tuple) and len(inputs) == len(self._order):
            return [self._bits(name, value) for name, value in zip(self._order, inputs, strict=True)]
        return inputs  # the binder says what is wrong

    def _bits(self, name: str, value: Any) -> Any:
        kind = self._inputs.get(name)
        if kind is None:
            return value
        array = np.asarray(value)
        if array.dtype.name not in ("uint8", kind, "void8"):  # the latter is what numpy reads from a file
            raise InputError(f"'{name}' has element type {array.dtype}, expected {kind}, or its bits as uint8")
        return array.view(np.uint8)

    def results(self, results: dict[str, Any]) -> dict[str, Any]:
        """The results by name, narrow ones of their type where numpy knows it."""
        if not self._outputs:
            return results
        return {n: _typed(a, self._outputs[n]) if n in self._outputs else a for n, a in results.items()}


def _types(model: OmModel, attribute: str, ends: Sequence[IoDesc]) -> dict[str, str]:
    """The narrow ones of a model's inputs or outputs, with the names of their types."""
    names = model.attrs.get(attribute, ())
    where = f"model '{model.name}'"
    if not isinstance(names, tuple) or (names and len(names) != len(ends)):
        raise OmError(f"attribute '{attribute}' is {names!r}, expected a list of {len(ends)} strings", where=where)
    found: dict[str, str] = {}
    for io, name in zip(ends, names, strict=False):
        if name == "":
            continue
        if name not in NARROW_TYPES or io.dtype != "ui8":
            known = ", ".join(sorted(NARROW_TYPES))
            raise OmError(f"'{io.name}' is {io.dtype} of type {name!r}, expected ui8 of one of {known}", where=where)
        assert isinstance(name, str)
        found[io.name] = name
    return found


def _typed(array: Any, name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return array
    return array.view(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else array
