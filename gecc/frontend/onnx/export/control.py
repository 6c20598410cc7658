"""How branches and loops are said in ONNX."""

from __future__ import annotations

from gecc.dialects import ge
from gecc.frontend.onnx.export.operators import Emitter, export


@export(ge.If)
def if_(e: Emitter, op: ge.If) -> None:
    """Two subgraphs."""
    then_branch, else_branch = (e.subgraph(region, []) for region in op.regions)
    e.node_of_many("If", [op.condition], list(op.results), then_branch=then_branch, else_branch=else_branch)


@export(ge.While)
def while_(e: Emitter, op: ge.While) -> None:
    """A Loop, whose body has the condition as an argument that it does not use."""
    number, *carried = op.body.block.args
    body = e.subgraph(op.body, [number, op.next_condition.type, *carried])
    e.node_of_many("Loop", [op.trips, op.condition, *op.inits], list(op.results), body=body)
