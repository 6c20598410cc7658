"""One ONNX node as its import function sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.errors import InvalidModelError
from gecc.frontend.onnx.builder import Builder, element, rank, shape
from gecc.frontend.onnx.model import OnnxModel
from gecc.frontend.onnx.subgraph import Scope


class Refusal(Exception):
    """A valid node that gecc cannot import: the rule it breaks, and what to do."""

    def __init__(self, rule: str, hint: str | None = None) -> None:
        super().__init__(rule)
        self.rule = rule
        self.hint = hint


@dataclass
class Node:
    """A node with its inputs as values. Import functions append to `build`."""

    proto: NodeProto
    index: int
    opset: int
    inputs: Sequence[SSAValue | None]
    build: Builder
    model: OnnxModel

    scope: Scope | None = None
    """What the node's subgraphs may use."""

    def __post_init__(self) -> None:
        self.attributes: dict[str, AttributeProto] = {a.name: a for a in self.proto.attribute}

    # -- naming ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The node's name, or `<operator>_<index>` when it has none."""
        return self.proto.name or f"{self.proto.op_type}_{self.index}"

    @property
    def where(self) -> str:
        """What messages call the node."""
        domain = f"{self.proto.domain}::" if self.proto.domain else ""
        return f"{domain}{self.proto.op_type} '{self.name}' (node {self.index}, opset {self.opset})"

    @property
    def outputs(self) -> int:
        """How many outputs the node names, an unnamed one before a named one included."""
        return max((i + 1 for i, name in enumerate(self.proto.output) if name), default=0)

    def wants(self, output: int) -> bool:
        """Whether output number `output` is named."""
        return output < len(self.proto.output) and bool(self.proto.output[output])

    # -- operands -------------------------------------------------------------------------------------------------

    def has(self, i: int) -> bool:
        """Whether input `i` is given."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def input(self, i: int) -> SSAValue:
        """Input `i`, which the standard requires."""
        value = self.inputs[i] if i < len(self.inputs) else None
        if value is None:
            self.invalid(f"input {i} is missing")
        return value

    def optional(self, i: int) -> SSAValue | None:
        """Input `i`, or None when it is not given."""
        return self.inputs[i] if i < len(self.inputs) else None

    def given(self) -> list[SSAValue]:
        """All inputs of a variadic operator."""
        return [self.input(i) for i in range(len(self.inputs))]

    def constant(self, i: int) -> np.ndarray | None:
        """The value of input `i` when it is given and constant."""
        value = self.optional(i)
        return None if value is None else self.build.constant(value)

    def required_constant(self, i: int, what: str) -> np.ndarray:
        """The value of input `i`, which must be constant. Refuses otherwise."""
        value = self.build.constant(self.input(i))
        if value is None:
            self.refuse(f"{what} (input {i}) must be constant", hint="fold the model's constants before")
        return value

    # -- attributes -----------------------------------------------------------------------------------------------

    def has_attr(self, name: str) -> bool:
        """Whether an attribute is given."""
        return name in self.attributes

    def attr_int(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        return self.attributes[name].i if name in self.attributes else self._default(name, default)

    def attr_float(self, name: str, default: float | None = None) -> float:
        """A float attribute, which is an f32; so is its default."""
        if name in self.attributes:
            return self.attributes[name].f
        return float(np.float32(self._default(name, default)))

    def attr_str(self, name: str, default: str | None = None) -> str:
        """A string attribute."""
        return self.attributes[name].s.decode() if name in self.attributes else self._default(name, default)

    def attr_ints(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers."""
        return list(self.attributes[name].ints if name in self.attributes else self._default(name, default))

    def attr_floats(self, name: str, default: Sequence[float] | None = None) -> list[float]:
        """A list of floats."""
        return list(self.attributes[name].floats if name in self.attributes else self._default(name, default))

    def _default(self, name: str, default: Any) -> Any:
        if default is None:
            self.invalid(f"attribute '{name}' is missing")
        return default

    # -- building -------------------------------------------------------------------------------------------------

    def add(self, op: Operation) -> SSAValue:
        """Append an operation of one result and return it."""
        return self.build.add(op)

    def axis(self, axis: int, rank: int, *, upto: int | None = None) -> int:
        """`axis` counted from the front; the model is invalid when it is out of `[-rank, rank)` (or `upto`)."""
        top = rank - 1 if upto is None else upto
        if not -rank <= axis <= top:
            self.invalid(f"axis {axis} is out of range [{-rank}, {top}] for rank {rank}")
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Sequence[int], rank: int) -> list[int]:
        """Axes counted from the front, sorted; the model is invalid when one is out of range or repeated."""
        result = sorted(self.axis(int(a), rank) for a in axes)
        if len(set(result)) != len(result):
            self.invalid(f"axes {list(axes)} name a dimension twice (rank {rank})")
        return result

    def subgraph(self, graph: GraphProto, given: Sequence[SSAValue]) -> list[SSAValue]:
        """Append what one of the node's subgraphs computes of its inputs, and return its outputs."""
        if self.scope is None:
            raise TypeError(f"{self.where} was made without a scope for its subgraphs")
        return self.scope.inline(graph, given, self)

    # -- refusing -------------------------------------------------------------------------------------------------

    def refuse(self, rule: str, hint: str | None = None) -> NoReturn:
        """The node is valid, but gecc cannot import it."""
        raise Refusal(rule, hint)

    def invalid(self, message: str) -> NoReturn:
        """The node contradicts the standard."""
        raise InvalidModelError(
            f"{message}; inputs are {self.spell_inputs()}", where=f"{self.where} of {self.model.name}"
        )

    def spell_inputs(self) -> str:
        """The inputs' types for messages: `x: f32[1, 3, ?, 48]`."""
        return ", ".join(
            "(none)" if value is None else f"{name}: {spell(value)}"
            for name, value in zip(self.proto.input, self.inputs, strict=False)
        )


def spell(value: SSAValue) -> str:
    """A value's type for messages: `f32[1, ?]`, `seq(tensor(float))`."""
    if isinstance(value.type, ge.ObjectType):
        return value.type.spelled.data
    return f"{element(value)}[{', '.join('?' if d == -1 else str(d) for d in shape(value))}]"


__all__ = ["Node", "Refusal", "element", "rank", "shape", "spell"]
