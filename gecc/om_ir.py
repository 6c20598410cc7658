"""`OmModel` <-> a module of the om dialect, without loss.

Bytes go to, and come from, a weight store; with the store's side file the text of the module is the whole model:

    om file --reader--> OmModel --from_model--> module + store --text--> x.mlir, x.mlir.weights
    om file <--writer-- OmModel <---to_model--- module + store <--text-- x.mlir, x.mlir.weights
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType, i8

from gecc.dialects.om.attrs import dictionary, dictionary_of
from gecc.dialects.om.build import build_model
from gecc.dialects.om.graph import WeightOp, tensor
from gecc.dialects.om.model import ModelOp
from gecc.errors import PassError
from gecc.om.graph import COMMAND
from gecc.om.records import Buffer, OmModel, Weights
from gecc.weights.attribute import WeightAttr
from gecc.weights.store import WeightStore


def from_model(model: OmModel, store: WeightStore) -> ModuleOp:
    """The module for a model. Weights and blob become entries of `store`, which keeps views of them."""
    whole = np.frombuffer(model.weights.materialize(), np.uint8)
    weights: list[WeightOp] = []
    for entry in model.weights.entries:
        digest = store.add_array(whole[entry.offset : entry.offset + entry.size])
        value = WeightAttr(digest, tensor(entry.dtype, entry.shape))
        weights.append(WeightOp(entry.name, entry.offset, value, entry.layout))
    name = None
    if memoryview(model.blob).nbytes:  # a portable model may have no kernels
        blob = np.frombuffer(model.blob, np.uint8)
        name = WeightAttr(store.add_array(blob), TensorType(i8, [blob.size]))
    return ModuleOp([build_model(model, weights, name)])


def note_options(module: ModuleOp, options: str) -> None:
    """Write into the `om.model` of a module with what options it was compiled."""
    for op in module.body.ops:
        if isinstance(op, ModelOp):
            op.values = dictionary({**dictionary_of(op.values), COMMAND: options})


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
            yield weight.offset.value.data, np.ascontiguousarray(store.memory(weight.value)).data

    model.weights = Weights(model.weights.entries, model.weights.size, chunks)
    return model
