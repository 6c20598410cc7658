"""The table from ONNX operator to import function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

if TYPE_CHECKING:
    from gecc.frontend.onnx.node import Node

ImportFunction: TypeAlias = "Callable[[Node], SSAValue | Sequence[SSAValue | None]]"
"""Builds what a node means and returns its outputs, in order; None is one that nothing uses and that was left out."""

_TABLE: dict[tuple[str, str], list[tuple[int, ImportFunction]]] = {}


def onnx_op(op_type: str, *, since: int = 1, domain: str = "") -> Callable[[ImportFunction], ImportFunction]:
    """Register the import function of an operator from opset `since` on.

    Several functions may share an operator; the newest one not above the model's opset is taken. A function serves
    all versions until the next one, so it must know their differences.
    """

    def register(function: ImportFunction) -> ImportFunction:
        versions = _TABLE.setdefault((domain, op_type), [])
        if any(v == since for v, _ in versions):
            raise ValueError(f"{domain}::{op_type} since {since} is registered twice")
        versions.append((since, function))
        versions.sort(key=lambda entry: entry[0])
        return function

    return register


def lookup(domain: str, op_type: str, opset: int) -> ImportFunction | None:
    """The import function of an operator at an opset, or None."""
    found = None
    for since, function in _TABLE.get((domain, op_type), []):
        if since <= opset:
            found = function
    return found


def operators() -> list[tuple[str, str]]:
    """All (domain, operator) pairs with an import function, sorted."""
    return sorted(_TABLE)
