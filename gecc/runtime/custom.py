"""Operators that users add: `@gecc.custom_op("domain::Name")`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from gecc.errors import InputError

_T = TypeVar("_T")


@dataclass(frozen=True)
class CustomOp:
    """What is known of an operator: at least one of `decompose` and `compute`."""

    domain: str
    name: str
    infer: Callable[..., Any] | None
    """(types of the inputs as (dtype, shape), attributes by name) -> the types of the outputs likewise."""
    decompose: Callable[..., Any] | None
    """(gecc.frontend.onnx.node.Node) -> its outputs as values of ge operators: compiled like any other."""
    compute: Callable[..., Any] | None
    """(numpy arrays, attributes by name) -> an array or a tuple of them: run by the host engine."""


REGISTRY: dict[tuple[str, str], CustomOp] = {}
"""(domain, name) -> operator, for this process."""


def custom_op(name: str) -> Callable[[type[_T]], type[_T]]:
    """Class decorator: make an ONNX operator of a domain of one's own known to gecc.

        @gecc.custom_op("my.domain::Scale")
        class Scale:
            @staticmethod
            def infer(x, *, factor):         # of each input (numpy dtype, shape); of each output the same
                return [x]

            @staticmethod
            def compute(x, *, factor):       # numpy, run on the host; or
                return x * factor

            @staticmethod
            def decompose(node):             # a gecc.frontend.onnx.node.Node: built from ge operators and compiled
                return node.add(ge.Mul(node.input(0), node.build.scalar(node.attr_float("factor"), node.input(0))))

    With both, the decomposition is compiled. Without `infer` the results of `compute` are objects: a run on zeros tells
    their element types, they may have any shape, and what uses them runs on the host as well. Attributes are passed by name. A model whose om runs `compute`
    needs the registration where it is loaded.

    Raises InputError for a name without domain, one of the standard's, one registered already, or a class that has
    neither function.
    """
    domain, separator, op_type = name.rpartition("::")
    if not separator or not domain or not op_type:
        raise InputError(f"'{name}' is no operator name", hint="expected domain::Name")
    if domain in ("ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training"):
        raise InputError(f"domain {domain} belongs to the standard", hint="use a domain of your own")

    def register(cls: type[_T]) -> type[_T]:
        parts = {part: getattr(cls, part, None) for part in ("infer", "decompose", "compute")}
        if parts["decompose"] is None and parts["compute"] is None:
            raise InputError(f"'{name}' has no function decompose and no function compute", hint="define one of them")
        if (domain, op_type) in REGISTRY:
            raise InputError(f"'{name}' is registered already", hint="unregister it first: gecc.runtime.custom.forget")
        REGISTRY[domain, op_type] = CustomOp(domain, op_type, **parts)
        return cls

    return register


def forget(name: str) -> None:
    """Take an operator back out of the registry; nothing when it is not there."""
    domain, _, op_type = name.rpartition("::")
    REGISTRY.pop((domain, op_type), None)
