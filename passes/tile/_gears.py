"""The gears of a model as one list of tasks: a switch on the number of the gear, then the tasks of each between labels.

Nodes and attributes are called as Ascend's compiler calls those of a model with several batches: a Case that chooses, the
operators of gear i with the suffix `_ascend_mbatch_batch_<i>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gecc.errors import PassError
from gecc.gear_module import KINDS, PREFIX
from gecc.om.gears import GEAR
from gecc.om.records import (
    AttrValue,
    GotoTask,
    GraphNode,
    IoDesc,
    LabelTask,
    Operand,
    Source,
    Space,
    SwitchTask,
    TensorDesc,
    joined_shape,
)

if TYPE_CHECKING:
    from gecc.dialects import om
    from gecc.passes.tile._om_builder import Builder

CASE, MERGE = "ascend_mbatch_shape_case", "ascend_mbatch_shape_merge"
"""Names of the nodes that choose the gear and that bring the results of all together."""


def join_gears(b: Builder, kind: str) -> tuple[list[IoDesc], list[om.WeightOp], list[IoDesc]]:
    """Write nodes and tasks of all functions of `b`; the inputs, weights and outputs of the model."""
    inputs: list[list[IoDesc]] = []
    results = []
    for function in b.functions:
        inputs.append(b.place_inputs(function))
        results.append(b.outputs)
    weights = b.place_weights()
    joined = _joined(inputs)
    end = len(b.functions)
    readable = tuple(Source("input", i) for i in range(len(joined)))
    b.nodes.append(GraphNode(CASE, "Case", readable, (), (), _case_attrs(joined, kind)))
    b.tasks.append(SwitchTask(GEAR, tuple(range(end)), 0, 0))
    b.first_label = end + 1
    outputs: list[list[IoDesc]] = []
    for gear, (function, returned) in enumerate(zip(b.functions, results, strict=True)):
        b.suffix, b.marks = f"_ascend_mbatch_batch_{gear}", {"_batch_label": f"{PREFIX}{gear}"}
        _label(b, gear)
        b.first_phase = b.tasks[-1].phase + 1
        b.outputs = returned
        before = len(b.tasks)
        b.launches(function)
        b.first_label += sum(isinstance(task, LabelTask) for task in b.tasks[before:])
        outputs.append(b.output_descs(function))
        b.nodes.append(GraphNode(f"goto_{end}{b.suffix}", "LabelGoto", (), (), (), b.marks))
        b.tasks.append(GotoTask(end, len(b.nodes) - 1, b.tasks[-1].phase + 1))
    sources = tuple(io.source for descs in outputs for io in descs)
    merged = _joined(outputs)
    b.nodes.append(GraphNode(MERGE, "Merge", sources, tuple(_result(i, io) for i, io in enumerate(merged))))
    merge = len(b.nodes) - 1
    b.tasks.append(LabelTask(end, merge, b.tasks[-1].phase + 1))
    return joined, weights, [replace(io, source=Source("node", merge, i)) for i, io in enumerate(merged)]


def _label(b: Builder, gear: int) -> None:
    b.nodes.append(GraphNode(f"label_{gear}{b.suffix}", "LabelSet", (), (), (), b.marks))
    b.tasks.append(LabelTask(gear, len(b.nodes) - 1, b.tasks[-1].phase + 1))


def _joined(gears: Sequence[Sequence[IoDesc]]) -> list[IoDesc]:
    """The inputs or outputs of a model from those of its gears."""
    found: list[IoDesc] = []
    for descs in zip(*gears, strict=True):
        first = descs[0]
        if len({io.slot for io in descs}) > 1:
            raise PassError(f"'{first.name}' is an object that is not the same value in every gear")
        if first.slot >= 0:
            found.append(first)
            continue
        shapes = tuple(io.shape for io in descs)
        found.append(replace(first, shape=joined_shape(shapes), shapes=shapes))
    return found


def _case_attrs(inputs: Sequence[IoDesc], kind: str) -> dict[str, AttrValue]:
    """The gear table as Ascend's Case holds it: per gear the sizes of all open dimensions, in order."""
    dynamic = [(io, axis) for io in inputs for axis, size in enumerate(io.shape) if size == -1 and io.shapes]
    count = max(len(io.shapes) for io in inputs)
    attrs: dict[str, AttrValue] = {
        "_batch_num": count,
        "_insert_by_mbatch": True,
        "_mbatch_dynamic_type": KINDS[kind],
        "_user_designate_shape_order": tuple(dict.fromkeys(io.name for io, _ in dynamic)),
    }
    for gear in range(count):
        attrs[f"_pred_value_{gear}"] = tuple(io.shapes[gear][axis] for io, axis in dynamic)
    return attrs


def _result(number: int, io: IoDesc) -> TensorDesc:
    if io.slot >= 0:
        return TensorDesc(io.dtype, ())
    return TensorDesc(io.dtype, io.shape, "ND", Operand(Space.OUTPUT, 0, io.nbytes, number))
