"""`OmModel` <-> a module of the om dialect, without loss.

Bytes go to, and come from, a weight store; with the store's side file the text of the module is the whole model:

    om file --reader--> OmModel --from_model--> module + store --text--> x.mlir, x.mlir.weights
    om file <--writer-- OmModel <---to_model--- module + store <--text-- x.mlir, x.mlir.weights
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType, i8
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.dialects.om.graph import InputOp, NodeOp, OutputOp, WeightOp, tensor
from gecc.dialects.om.model import ModelOp
from gecc.dialects.om.tasks import EntryOp, EventRecordOp, EventWaitOp, KernelOp
from gecc.errors import PassError
from gecc.om.records import Buffer, OmModel, Source, Weights
from gecc.rewrite import fuse_locations, name_location
from gecc.weights.attribute import WeightAttr
from gecc.weights.store import WeightStore


def from_model(model: OmModel, store: WeightStore) -> ModuleOp:
    """The module for a model. Weights and blob become entries of `store`, which keeps views of them."""
    ops: list[Operation] = []
    values: dict[Source, SSAValue] = {}
    for i, io in enumerate(model.inputs):
        ops.append(op := InputOp(io))
        values[Source("input", i)] = op.result
    whole = np.frombuffer(model.weights.materialize(), np.uint8)
    for i, entry in enumerate(model.weights.entries):
        digest = store.add_array(whole[entry.offset : entry.offset + entry.size])
        value = WeightAttr(digest, tensor(entry.dtype, entry.shape))
        ops.append(op := WeightOp(entry.name, entry.offset, value, entry.layout))
        values[Source("weight", i)] = op.result
    for i, node in enumerate(model.nodes):
        ops.append(op := NodeOp(node, [None if s is None else values[s] for s in node.inputs]))
        op.location = fuse_locations(name_location(name) for name in node.onnx_names)
        values.update((Source("node", i, o), value) for o, value in enumerate(op.results_))
    ops += [OutputOp(io, None if io.source is None else values[io.source]) for io in model.outputs]
    ops += [EntryOp(entry) for entry in model.kernels]
    ops += _tasks(model)
    blob = np.frombuffer(model.blob, np.uint8)
    name = WeightAttr(store.add_array(blob), TensorType(i8, [blob.size])) if blob.size else None
    return ModuleOp([ModelOp(model, name, Region(Block(ops) if ops else ()))])


def _tasks(model: OmModel) -> Iterator[Operation]:
    phase = 0
    for task in model.tasks:
        while phase < task.phase:
            yield EventRecordOp(phase)
            yield EventWaitOp(phase)
            phase += 1
        op = KernelOp(task)
        op.location = fuse_locations(name_location(name) for name in model.nodes[task.op_index].onnx_names)
        yield op


def to_model(module: ModuleOp, store: WeightStore) -> OmModel:
    """The model of the `om.model` in a module. Weights are read from `store` one at a time, when they are written.

    Raises PassError when the module has no or several models, WeightError for bytes that the store does not hold.
    """
    found = [op for op in module.body.ops if isinstance(op, ModelOp)]
    if len(found) != 1:
        raise PassError(f"the module has {len(found)} om.model operations, expected 1")
    op = found[0]
    model = op.records()
    if op.blob is not None:
        model.blob = store.array(op.blob.digest.data).data

    def chunks() -> Iterator[tuple[int, Buffer]]:
        for weight in op.all(WeightOp):
            # By digest, so that bytes stay in the order of the layout.
            key = weight.value.digest.data if isinstance(weight.value, WeightAttr) else weight.value
            yield (
                weight.offset.value.data,
                np.ascontiguousarray(store.array(key)).reshape(-1).view(np.uint8).data,
            )

    model.weights = Weights(model.weights.entries, model.weights.size, chunks)
    return model
