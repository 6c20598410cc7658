"""The xDSL context that every part of the compiler works in."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Dialect

_HOMES: dict[str, tuple[str, str]] = {
    "builtin": ("xdsl.dialects.builtin", "Builtin"),
    "func": ("xdsl.dialects.func", "Func"),
    "arith": ("xdsl.dialects.arith", "Arith"),
    "math": ("xdsl.dialects.math", "Math"),
    "scf": ("xdsl.dialects.scf", "Scf"),
    "cf": ("xdsl.dialects.cf", "Cf"),
    "memref": ("xdsl.dialects.memref", "MemRef"),
    "llvm": ("gecc.dialects.llvm", "LLVM"),
    "ge": ("gecc.dialects.ge", "GE"),
    "fused": ("gecc.dialects.fused", "Fused"),
    "tile": ("gecc.dialects.tile", "Tile"),
    "om": ("gecc.dialects.om", "Om"),
}
"""Dialect name to its module and variable."""


def dialect_factories() -> dict[str, Callable[[], Dialect]]:
    """Dialect name to a function that imports it. The ge dialect comes with a new, empty weight store each time."""

    def factory(module: str, variable: str) -> Callable[[], Dialect]:
        return lambda: getattr(import_module(module), variable)

    factories = {name: factory(*home) for name, home in _HOMES.items()}
    factories["ge"] = _ge_with_store
    return factories


def make_context() -> Context:
    """A context that knows all dialects, each imported when it is first used, and owns a weight store."""
    ctx = Context()
    for name, factory in dialect_factories().items():
        ctx.register_dialect(name, factory)
    ctx.load_registered_dialect("builtin")
    return ctx


def _ge_with_store() -> Dialect:
    from gecc.dialects.ge import GE
    from gecc.weights import WeightStore

    interfaces = [i for i in GE._interfaces if not isinstance(i, WeightStore)]
    return Dialect(GE.name, list(GE.operations), list(GE.attributes), [*interfaces, WeightStore()])
