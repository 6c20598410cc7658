"""Inputs and outputs of types that numpy has not: INT4, FLOAT8E4M3FN and their kin, one element a byte.

Such a tensor is one of `ui8` to the model: the bits of its elements. Two free attributes of the model, lists of strings
as long as its inputs and outputs, say what the bits mean by the name of the numpy dtype that the package ml_dtypes has
for them (`""` for an ordinary tensor). `gecc.runtime.inputs` takes both such arrays and their bits. Nothing here needs that
package: arrays of its types are recognised by name, and results are viewed as them only where it is installed (else they
are uint8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gecc.errors import OmError
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
        self.inputs: Mapping[str, str] = _types(model, INPUT_TYPES, model.inputs)
        """Names of the narrow inputs' types, by the inputs' names."""
        self.outputs: Mapping[str, str] = _types(model, OUTPUT_TYPES, model.outputs)

    def results(self, results: dict[str, Any]) -> dict[str, Any]:
        """The results by name, narrow ones of their type where numpy knows it."""
        for name, kind in self.outputs.items():
            results[name] = _typed(results[name], kind)
        return results


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
