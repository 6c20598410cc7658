"""How a host operator is said in ONNX: as a function of the model, which keeps the opset of its node."""

from __future__ import annotations

from onnx import FunctionProto, ModelProto, helper

from gecc.dialects import ge
from gecc.frontend.onnx.export.operators import Emitter, export

DOMAIN = "gecc.host"
"""The domain of the functions."""


@export(ge.HostOp)
def host(e: Emitter, op: ge.HostOp) -> None:
    """A call of a function that holds the node, and as constants what its program holds as initializers."""
    program = ModelProto.FromString(e.store.array(op.program).tobytes())
    name = e.names.fresh(f"host_{op.op_type.data}")  # a name of the standard confuses the reference implementation
    constants = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in program.graph.initializer]
    e.functions.append(
        FunctionProto(
            domain=DOMAIN,
            name=name,
            input=[i.name for i in program.graph.input],
            output=[o.name for o in program.graph.output],
            node=[*constants, *program.graph.node],
            opset_import=program.opset_import,
        )
    )
    e.node_of_many(name, list(op.inputs), list(op.results), domain=DOMAIN)
