"""`om.model`: everything an om file holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.om.attrs import Text, dictionary, dictionary_of, text_of
from gecc.dialects.om.graph import InputOp, NodeOp, OutputOp, WeightOp
from gecc.dialects.om.tasks import EntryOp, EventRecordOp, EventWaitOp, TaskOp
from gecc.errors import OmError
from gecc.om.records import GraphNode, IoDesc, KernelEntry, KernelTask, OmModel, Source, Weights
from gecc.weights.attribute import WeightAttr

_Op = TypeVar("_Op", bound=Operation)

ORDER: tuple[tuple[type[Operation], ...], ...] = (
    (InputOp,),
    (WeightOp,),
    (NodeOp,),
    (OutputOp,),
    (EntryOp,),
    (TaskOp, EventRecordOp, EventWaitOp),
)
"""The sections of a model's body, in order."""


class _Sources(dict[SSAValue, Source]):
    """Who makes a value. Asked before all else is verified, so a value may be nobody's."""

    def __missing__(self, value: SSAValue) -> NoReturn:
        raise VerifyException(f"om.model: uses a value of type {value.type} that no operation before makes")


@irdl_op_definition
class ModelOp(IRDLOperation):
    """A compiled model: inputs, weights, nodes, outputs, entries, tasks, in this order.

    Without `blob` the machine code is not there yet: tasks name kernels that are still to be compiled, and there are no
    entries. With `portable` the blob is the text of the kernels' tile IR.
    """

    name = "om.model"
    label = prop_def(Text)
    target = prop_def(Text)
    abi = prop_def(IntegerAttr.constr(type=i64))
    arena = prop_def(IntegerAttr.constr(type=i64))
    scratch = prop_def(IntegerAttr.constr(type=i64))
    slots = opt_prop_def(IntegerAttr.constr(type=i64))
    producer = prop_def(Text)
    dispatcher = opt_prop_def(Text)
    blob = opt_prop_def(WeightAttr)
    portable = opt_prop_def(UnitAttr)
    values = opt_prop_def(DictionaryAttr)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    assembly_format = (
        "$label `target` $target `abi` $abi `arena` $arena `scratch` $scratch (`slots` $slots^)? `producer` $producer"
        " (`dispatcher` $dispatcher^)? (`blob` $blob^)? (`portable` $portable^)? (`values` $values^)?"
        " attr-dict-with-keyword $body"
    )

    def __init__(self, model: OmModel, blob: WeightAttr | None, body: Region) -> None:
        super().__init__(
            properties={
                "label": StringAttr(model.name),
                "target": StringAttr(model.target),
                "abi": IntegerAttr(model.abi, i64),
                "arena": IntegerAttr(model.arena_bytes, i64),
                "scratch": IntegerAttr(model.scratch_bytes, i64),
                "slots": IntegerAttr(model.slots, i64) if model.slots else None,
                "producer": StringAttr(model.producer),
                "dispatcher": StringAttr(model.dispatcher) if model.dispatcher else None,
                "blob": blob,
                "portable": UnitAttr() if model.portable else None,
                "values": dictionary(model.attrs),
            },
            regions=[body],
        )

    @property
    def parts(self) -> Sequence[Operation]:
        """The operations of the body, in order."""
        return [op for block in self.body.blocks for op in block.ops]

    def all(self, kind: type[_Op]) -> Iterator[_Op]:
        """The operations of a class in the body, in order."""
        return (op for op in self.parts if isinstance(op, kind))

    def verify_(self) -> None:
        if len(self.body.blocks) > 1:
            raise VerifyException(f"om.model: has {len(self.body.blocks)} blocks, expected at most 1")
        section = 0
        for op in self.parts:
            at = next((i for i, kinds in enumerate(ORDER) if isinstance(op, kinds)), None)
            if at is None:
                raise VerifyException(f"om.model: holds '{op.name}', expected only operations of the om dialect")
            if at < section:
                later = "the first task" if section == len(ORDER) - 1 else f"'{ORDER[section][0].name}'"
                raise VerifyException(f"om.model: '{op.name}' comes after {later}, expected before")
            section = at
        self._verify_events()
        # Imported here: only the verification of an om needs it.
        from gecc.om.verifier import verify

        model = self.records()
        blob_size = self.blob.type.get_shape()[0] if self.blob is not None else 0
        if self.blob is None:
            if model.kernels:
                raise VerifyException(f"om.model: has {len(model.kernels)} entries and no blob")
            blob_size = self._pretend_code(model)
        try:
            verify(model, f"om.model {self.label}", blob_size=blob_size)
        except OmError as e:
            raise VerifyException(str(e)) from None

    def _verify_events(self) -> None:
        phase = 0
        recorded = False
        for op in self.parts:
            if not isinstance(op, ORDER[-1]):
                continue
            if isinstance(op, EventWaitOp) != recorded:
                expected = "om.event_wait after om.event_record" if recorded else "a task or om.event_record"
                raise VerifyException(f"om.model: task '{op.name}' in phase {phase}, expected {expected}")
            if isinstance(op, EventRecordOp | EventWaitOp):
                if op.event.value.data != phase:
                    raise VerifyException(f"{op.name}: event is {op.event.value.data}, expected {phase}, the phase's")
                phase += recorded
                recorded = not recorded
        if recorded:
            raise VerifyException(f"om.model: ends with om.event_record {phase}, expected its om.event_wait")

    @staticmethod
    def _pretend_code(model: OmModel) -> int:
        """Give each kernel that the tasks name an entry of one byte, so that all else can be verified."""
        names = dict.fromkeys(task.kernel for task in model.tasks if isinstance(task, KernelTask))
        names.pop(model.dispatcher, None)
        all_names = [*([model.dispatcher] if model.dispatcher else ()), *names]
        model.kernels = tuple(KernelEntry(name, i, 1) for i, name in enumerate(all_names))
        return len(all_names)

    def records(self) -> OmModel:
        """The model without bytes: its weights and its blob are empty. Raises VerifyException for odd attributes."""
        sources = _Sources()
        for i, op in enumerate(self.all(InputOp)):
            sources[op.result] = Source("input", i)
        entries = []
        for i, op in enumerate(self.all(WeightOp)):
            sources[op.result] = Source("weight", i)
            entries.append(op.record)
        nodes: list[GraphNode] = []
        for i, op in enumerate(self.all(NodeOp)):
            node = op.record
            inputs = tuple(None if value is None else sources[value] for value in op.positions)
            nodes.append(GraphNode(node.name, node.type, inputs, node.outputs, node.onnx_names, node.attrs))
            sources.update((value, Source("node", i, o)) for o, value in enumerate(op.results_))
        outputs: list[IoDesc] = []
        for op in self.all(OutputOp):
            io = op.record
            outputs.append(replace(io, source=sources[op.value[0]] if op.value else None))
        tasks = []
        phase = 0
        for op in self.parts:
            if isinstance(op, TaskOp):
                tasks.append(op.record(phase))
            phase += isinstance(op, EventWaitOp)
        return OmModel(
            name=text_of(self.label),
            target=text_of(self.target),
            abi=self.abi.value.data,
            inputs=tuple(op.record for op in self.all(InputOp)),
            outputs=tuple(outputs),
            nodes=tuple(nodes),
            weights=Weights(tuple(entries), entries[-1].offset + entries[-1].size if entries else 0),
            portable=self.portable is not None,
            kernels=tuple(op.record for op in self.all(EntryOp)),
            dispatcher=text_of(self.dispatcher) if self.dispatcher is not None else "",
            tasks=tuple(tasks),
            arena_bytes=self.arena.value.data,
            scratch_bytes=self.scratch.value.data,
            slots=self.slots.value.data if self.slots is not None else 0,
            producer=text_of(self.producer),
            attrs=dictionary_of(self.values),
        )
