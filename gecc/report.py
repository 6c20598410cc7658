"""What of a model runs where, and why: made when a model is imported."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from gecc.frontend.onnx.placement import Placement

SHOWN = 20
"""Nodes that the short form names at most."""


@dataclass(frozen=True)
class Report:
    """Where the nodes of a model went. `host_share` is the part of the estimated work that the host engine does; None
    when a node runs nowhere, so that the work of others is not known."""

    placements: tuple[Placement, ...]
    host_share: float | None
    whole: bool = True
    """Whether all nodes of a model are here; of a module that was not imported just now only those on the host are."""

    @property
    def host(self) -> tuple[Placement, ...]:
        """The nodes that run on the host."""
        return tuple(p for p in self.placements if p.engine == "host")

    def short(self) -> str:
        """A few lines about what runs on the host; nothing when nothing does."""
        host = self.host
        if not host:
            return ""
        share = "" if self.host_share is None else f", {_percent(self.host_share)} of the estimated work"
        total = f" of {len(self.placements)}" if self.whole else ""
        lines = [f"{len(host)}{total} nodes run on the host{share}:"]
        for p in host[:SHOWN]:
            lines.append(f"  {p.operator} '{p.name}' (opset {p.opset}): {p.reason}" + (f"; {p.hint}" if p.hint else ""))
        if len(host) > SHOWN:
            counts = Counter(p.operator for p in host[SHOWN:])
            rest = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
            lines.append(f"  and {len(host) - SHOWN} more: {rest}")
        return "\n".join(lines)

    def full(self) -> str:
        """Every node with its engine, operator, types, and for the host the reason and a hint."""
        counts = Counter(p.engine for p in self.placements)
        summary = ", ".join(
            f"{counts[engine]} {engine}"
            for engine in ("native", "constant", "host", "nowhere", "unchecked")
            if counts[engine]
        )
        lines = [f"{len(self.placements)} nodes: {summary or 'none'}"]
        for p in self.placements:
            lines.append(
                f"  {p.engine:8} {p.operator} '{p.name}' (node {p.index}, opset {p.opset}): {p.inputs} -> {p.outputs}"
            )
            if p.reason:
                lines.append(f"           {p.reason}")
            if p.hint:
                lines.append(f"           hint: {p.hint}")
        if self.host_share is not None:
            lines.append(f"estimated work on the host: {_percent(self.host_share)}")
        return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 or share == 0 else "less than 0.1 %"


def make_report(module: ModuleOp, placements: Sequence[Placement]) -> Report:
    """The report of a module as imported."""
    from gecc.dialects import ge

    host = native = 0
    for op in module.walk():
        if isinstance(op, ge.HostOp):
            host += work(op)
        elif isinstance(op, ge.GeOp) and not isinstance(op, ge.Const | ge.Reshape):
            native += work(op)
    total = host + native
    return Report(tuple(placements), host / total if total else 0.0)


def report_of(module: ModuleOp) -> Report:
    """What a module of the ge level says itself: its operators on the host, with why."""
    from xdsl.dialects.builtin import StringAttr

    from gecc.dialects import ge
    from gecc.rewrite import location_names

    def said(op: ge.HostOp, key: str) -> str:
        attr = op.attributes.get(key)
        return attr.data if isinstance(attr, StringAttr) else ""

    found = [op for op in module.walk() if isinstance(op, ge.HostOp)]
    if not found:
        return Report((), 0.0, whole=False)
    from gecc.frontend.onnx.placement import Placement  # which needs onnx

    placements = tuple(
        Placement(
            "+".join(location_names(op)) or op.op_type.data,
            number,
            op.domain.data,
            op.op_type.data,
            op.opset.value.data,
            ", ".join(str(x.type) for x in op.inputs),
            ", ".join(str(x.type) for x in op.results_),
            "host",
            said(op, "reason"),
            said(op, "hint") or None,
        )
        for number, op in enumerate(found)
    )
    return Report(placements, make_report(module, placements).host_share, whole=False)


def work(op: Operation) -> int:
    """Elementary operations that `op` takes, roughly: products by their size, everything else by what it touches."""
    from gecc.dialects import ge

    touched = max(_elements(op.operands), _elements(op.results), 1)
    match op:
        case ge.MatMulV2():
            a = ge.dims(op.operands[0])
            inner = a[-2 if op.transpose_x1.value.data and len(a) > 1 else -1] if a else 1
            return 2 * _elements(op.results) * max(inner, 1)
        case _ if op.name.startswith(("ge.Conv", "ge.DepthwiseConv")) and len(op.operands) > 1:
            w = ge.dims(op.operands[1])
            return 2 * max(_elements(op.results), _elements(op.operands[:1])) * math.prod(w[1:])
        case _:
            return touched


def _elements(values: Iterable[object]) -> int:
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import SSAValue

    total = 0
    for value in values:
        if isinstance(value, SSAValue) and isinstance(value.type, TensorType):
            total += math.prod(max(d, 1) for d in value.type.get_shape())
    return total
