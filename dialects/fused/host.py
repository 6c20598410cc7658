"""fused.host: an operator that the host runs; no kernel."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from gecc.dialects.ge.host import TensorHostCall


@irdl_op_definition
class HostOp(TensorHostCall):
    """What ge.HostOp is, between fused operations. Nothing is fused with it."""

    name = "fused.host"
