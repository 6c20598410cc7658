"""Operators that run on the host stay whole."""

from __future__ import annotations

from xdsl.ir import Operation

from gecc.dialects import fused, ge
from gecc.rewrite import Pattern, Rewriter


class KeepHost(Pattern):
    """ge.HostOp becomes fused.host."""

    ops = (ge.HostOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.HostOp)
        rw.replace(
            op,
            fused.HostOp(
                op.op_type.data,
                op.domain.data,
                op.opset.value.data,
                op.program,
                list(op.inputs),
                [r.type for r in op.results_],
                dict(op.attributes),
            ),
        )


PATTERNS = (KeepHost,)
