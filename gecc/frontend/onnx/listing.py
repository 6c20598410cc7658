"""The table of ONNX operators against what runs them, made from the import table and the standard's schemas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import onnx
from onnx.defs import OpSchema
from onnx.reference.op_run import RuntimeContextError, RuntimeImplementationError

from gecc.frontend.onnx import ops as _ops  # fills the table
from gecc.frontend.onnx.model import FIRST_OPSET, NUMPY_DTYPES, type_name
from gecc.frontend.onnx.narrow import KNOWS, MOVES, NARROW, READS
from gecc.frontend.onnx.registry import operators
from gecc.runtime.additions import ADDITIONS
from gecc.runtime.custom import REGISTRY
from gecc.runtime.reference import RANDOM
from gecc.weights import element_type

assert _ops

ENGINES = ("native", "definition", "host", "none")
"""`definition`: native, by the operators that the standard defines it by, as far as these are. `none`: nowhere."""

DTYPES: dict[str, str] = {
    f"tensor({type_name(number).lower()})": str(element_type(dtype)) for number, dtype in NUMPY_DTYPES.items()
}
"""Types of the standard to those of gecc."""

NARROW_DTYPES: dict[str, str] = {f"tensor({type_name(number).lower()})": kind.name for number, kind in NARROW.items()}
"""Types of the standard to the names of the narrow ones."""


@dataclass(frozen=True)
class Row:
    """An operator. `first` and `last` are the opsets of its domain in which it exists."""

    domain: str
    name: str
    first: int
    last: int
    engine: str
    dtypes: tuple[str, ...]
    """Native element types that the standard allows for its first input (or output, when it has none)."""

    def text(self) -> tuple[str, str, str, str]:
        """Cells: operator, opsets, engine, element types."""
        opsets = f"{self.first}-{self.last}" if self.last else str(self.first)
        return f"{self.domain or 'ai.onnx'}::{self.name}", opsets, self.engine, " ".join(self.dtypes)


def rows() -> list[Row]:
    """All operators, by domain and name: of the standard, those that gecc imports beyond it, and registered ones."""
    newest: dict[tuple[str, str], OpSchema] = {}
    first: dict[tuple[str, str], int] = {}
    schemas: Iterable[Any] = onnx.defs.get_all_schemas_with_history()
    for schema in schemas:
        key = (schema.domain, schema.name)
        first[key] = min(first.get(key, schema.since_version), schema.since_version)
        if key not in newest or schema.since_version > newest[key].since_version:
            newest[key] = schema
    imported = set(operators())
    found = [
        _row(schema, first[key], key in imported)
        for key, schema in newest.items()
        if not schema.deprecated or (key in imported and schema.since_version > FIRST_OPSET)
    ]
    found += [Row(*key, 1, 0, "native", ()) for key in imported if key not in newest]
    for key, op in REGISTRY.items():
        if key not in imported and key not in newest:
            found.append(Row(*key, 1, 0, "host" if op.decompose is None else "native", ()))
    return sorted(found, key=lambda row: (row.domain, row.name))


def _row(schema: OpSchema, first: int, imported: bool) -> Row:
    last = schema.since_version - 1 if schema.deprecated else _newest_opset(schema.domain)
    formal = [*schema.inputs, *schema.outputs][:1]
    allowed = {kind for parameter in formal for kind in parameter.types}
    objects = not allowed.intersection(DTYPES)  # sequences, strings: what defines it is no native operator either
    if imported:
        engine = "native"
    elif objects or schema.name in RANDOM:
        engine = "host" if _has_reference(schema) else "none"
    elif schema.has_function or schema.has_context_dependent_function:  # pyright: ignore[reportAttributeAccessIssue]
        engine = "definition"
    else:
        engine = "host" if _has_reference(schema) else "none"
    native = engine in ("native", "definition")
    known = {**DTYPES, **NARROW_DTYPES} if schema.name in (MOVES | KNOWS | READS) else DTYPES
    dtypes = tuple(short for kind, short in known.items() if native and kind in allowed)
    return Row(schema.domain, schema.name, first, last, engine, dtypes)


def _newest_opset(domain: str) -> int:
    return (
        int(onnx.defs.onnx_opset_version())
        if domain == ""
        else max(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.domain == domain)
    )


def _has_reference(schema: OpSchema) -> bool:
    """Whether the reference implementation has the operator, which the host engine runs."""
    if any((cls.op_domain, cls.__name__) == (schema.domain, schema.name) for cls in ADDITIONS):
        return True
    if schema.domain in ("", "ai.onnx"):
        from onnx.reference.ops import load_op
    elif schema.domain == "ai.onnx.ml":
        from onnx.reference.ops.aionnxml import load_op
    elif schema.domain == "ai.onnx.preview.training":
        from onnx.reference.ops.aionnx_preview_training import load_op
    else:
        return False
    try:
        return load_op(schema.domain, schema.name, schema.since_version) is not None
    except RuntimeContextError:
        return True
    except (RuntimeImplementationError, NotImplementedError, AttributeError, ValueError):
        return False
