"""An `om.model` from its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.dialects.om.graph import InputOp, NodeOp, OutputOp, WeightOp
from gecc.dialects.om.model import ModelOp
from gecc.dialects.om.tasks import EntryOp, EventRecordOp, EventWaitOp, task_op
from gecc.om.records import OmModel, Source
from gecc.rewrite import fuse_locations, name_location
from gecc.weights.attribute import WeightAttr


def build_model(model: OmModel, weights: Sequence[WeightOp], blob: WeightAttr | None) -> ModelOp:
    """The operation for a model whose constants are `weights` and whose machine code is `blob` (None: not yet there)."""
    ops: list[Operation] = []
    values: dict[Source, SSAValue] = {}
    for i, io in enumerate(model.inputs):
        ops.append(op := InputOp(io))
        values[Source("input", i)] = op.result
    for i, op in enumerate(weights):
        ops.append(op)
        values[Source("weight", i)] = op.result
    for i, node in enumerate(model.nodes):
        ops.append(op := NodeOp(node, [None if s is None else values[s] for s in node.inputs]))
        op.location = fuse_locations(name_location(name) for name in node.onnx_names)
        values.update((Source("node", i, o), value) for o, value in enumerate(op.results_))
    ops += [OutputOp(io, None if io.source is None else values[io.source]) for io in model.outputs]
    ops += [EntryOp(entry) for entry in model.kernels]
    ops += _tasks(model)
    return ModelOp(model, blob, Region(Block(ops) if ops else ()))


def _tasks(model: OmModel) -> Iterator[Operation]:
    phase = 0
    for task in model.tasks:
        while phase < task.phase:
            yield EventRecordOp(phase)
            yield EventWaitOp(phase)
            phase += 1
        op = task_op(task)
        op.location = fuse_locations(name_location(name) for name in model.nodes[task.op_index].onnx_names)
        yield op
