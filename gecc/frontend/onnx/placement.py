"""Where each ONNX node went: native operators, a constant, or the host, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from gecc.frontend.onnx.node import Node, spell


@dataclass(frozen=True)
class Placement:
    """One node. `engine` is native, constant (computed by the compiler), host, nowhere (refused), or unchecked: what it takes
    is not known because of one that is refused."""

    name: str
    index: int
    domain: str
    op_type: str
    opset: int
    inputs: str
    """Names, element types and shapes: `x: f32[1, 3], k: tensor(string)`."""
    outputs: str
    engine: str
    reason: str = ""
    """Why the node runs on the host, or nowhere, or is unchecked."""
    hint: str | None = None

    @property
    def operator(self) -> str:
        """The operator with its domain, `ai.onnx::NonZero`."""
        return f"{self.domain or 'ai.onnx'}::{self.op_type}"


def placement(node: Node, results: Sequence[SSAValue | None], engine: str, reason: str, hint: str | None) -> Placement:
    """The placement of a node whose outputs are known."""
    outputs = ", ".join(
        f"{name}: {spell(value)}"
        for name, value in zip(node.proto.output, results, strict=False)
        if name and value is not None
    )
    proto = node.proto
    return Placement(
        node.name,
        node.index,
        "" if proto.domain == "ai.onnx" else proto.domain,
        proto.op_type,
        node.opset,
        node.spell_inputs(),
        outputs,
        engine,
        reason,
        hint,
    )
