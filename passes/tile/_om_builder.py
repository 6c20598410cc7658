"""Tasks, graph and I/O of an om from the launches of an allocated module."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import om, tile
from gecc.dialects.ge.attrs import LayoutAttr, WeightAttr
from gecc.dialects.ge.objects import ObjectType
from gecc.errors import PassError
from gecc.om.records import (
    ITEMSIZE,
    AttrValue,
    GotoTask,
    GraphNode,
    HostObject,
    HostTask,
    HostTensor,
    HostValue,
    IoDesc,
    KernelTask,
    LabelTask,
    Operand,
    Source,
    Space,
    SwitchTask,
    Task,
    TensorDesc,
    place_weights,
)
from gecc.passes.tile._liveness import base_of
from gecc.passes.tile._sizes import memory_bytes
from gecc.rewrite import location_names


def spell(element: Attribute) -> str:
    """The om's name of an element type."""
    return str(element)


@dataclass
class Builder:
    """The om of functions of launches on memory: of one, or of the gears of a model, one after the other."""

    functions: Sequence[func.FuncOp]
    sources: dict[SSAValue, Source | None] = field(default_factory=dict[SSAValue, "Source | None"])
    places: dict[SSAValue, Operand] = field(default_factory=dict[SSAValue, Operand])
    descs: dict[SSAValue, tuple[str, tuple[int, ...], str]] = field(
        default_factory=dict[SSAValue, tuple[str, tuple[int, ...], str]]
    )
    nodes: list[GraphNode] = field(default_factory=list[GraphNode])
    tasks: list[Task] = field(default_factory=list[Task])
    outputs: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    slots: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    programs: dict[Attribute, Operand] = field(default_factory=dict[Attribute, Operand])
    """Where the programs of host calls lie in the weights."""
    names_used: dict[str, int] = field(default_factory=dict[str, int])
    slot_numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    """Objects that are the same input and outputs share a slot in all gears, others the slots of their order."""
    suffix: str = ""
    """What the names of the nodes of a gear end in."""
    marks: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])
    """Attributes of the nodes of a gear."""
    first_label: int = 0
    first_phase: int = 0

    def operand(self, value: SSAValue) -> Operand:
        base, offset = base_of(value)
        place = self.places[base]
        return Operand(place.space, place.offset + offset, memory_bytes(value.type), place.index)

    def source(self, value: SSAValue) -> Source | None:
        """Where a value that a launch reads comes from; a view becomes a Reshape or Slice node of its own, a join a Concat."""
        if value not in self.sources and isinstance(op := value.owner, tile.ViewOp | tile.JoinOp):
            if isinstance(op, tile.ViewOp):
                inner = (self.source(op.source),)
                whole = op.offset.value.data == 0 and memory_bytes(op.source.type) == memory_bytes(value.type)
                kind = "Reshape" if whole else "Slice"
            else:
                inner, kind = tuple(self.source(part) for part in op.parts), "Concat"
            desc = TensorDesc(*self.describe(value), self.operand(value))
            names = location_names(op)
            name = names[0] if names else f"view_{len(self.nodes)}"
            name = self.unique(name + self.suffix) if kind == "Concat" else name + self.suffix
            self.nodes.append(GraphNode(name, kind, inner, (desc,), names, self.marks))
            self.sources[value] = Source("node", len(self.nodes) - 1)
        return self.sources[value]

    def describe(self, value: SSAValue) -> tuple[str, tuple[int, ...], str]:
        """dtype, shape (physical) and layout name; of an object its ONNX type."""
        if isinstance(value.type, ObjectType):
            return value.type.spelled.data, (), "ND"
        assert isinstance(value.type, MemRefType)
        layout = "ND"
        if isinstance(owner := value.owner, Operation) and isinstance(
            encoding := owner.attributes.get("layout"), LayoutAttr
        ):
            layout = encoding.order.data
        return spell(value.type.element_type), tuple(value.type.get_shape()), layout

    def place_inputs(self, function: func.FuncOp) -> list[IoDesc]:
        """The inputs of a function, and the places of its memory."""
        names = texts(function, "ge.input_names")
        found: dict[int, IoDesc] = {}
        self.outputs = {}
        for op in function.body.block.ops:
            if isinstance(op, tile.SlotOp):
                slot = self.slots[op.result] = self.slot_of(op)
                if op.input is not None:
                    number = op.input.value.data
                    self.sources[op.result] = Source("input", number)
                    name = names[number] if number < len(names) else f"input_{number}"
                    found[number] = IoDesc(name, self.describe(op.result)[0], (), None, slot)
                for number in () if op.returned is None else op.returned.get_values():
                    self.outputs[int(number)] = op.result
            elif isinstance(op, tile.InputOp):
                number = op.index.value.data
                self.places[op.result] = Operand(Space.INPUT, 0, memory_bytes(op.result.type), number)
                self.sources[op.result] = Source("input", number)
                dtype, shape, _ = self.describe(op.result)
                name = names[number] if number < len(names) else f"input_{number}"
                found[number] = IoDesc(name, dtype, shape)
            elif isinstance(op, tile.OutputOp):
                number = op.index.value.data
                self.places[op.result] = Operand(Space.OUTPUT, 0, memory_bytes(op.result.type), number)
                self.outputs[number] = op.result
            elif isinstance(op, tile.AllocOp):
                if op.offset is None:
                    raise PassError(
                        "a tile.alloc has no offset", where=_where(op), hint="run tile-allocate-buffers first"
                    )
                self.places[op.result] = Operand(Space.ARENA, op.offset.value.data, op.bytes.value.data)
        return [found[number] for number in sorted(found)]

    def slot_of(self, op: tile.SlotOp) -> int:
        """The slot of an object: its own, or with gears one that is the same in all."""
        number = op.index.value.data
        if len(self.functions) == 1:
            return number
        returned = tuple(op.returned.get_values()) if op.returned is not None else ()
        key: Hashable = number if op.input is None and not returned else (op.input, returned)
        return self.slot_numbers.setdefault(key, len(self.slot_numbers))

    def place_weights(self) -> list[om.WeightOp]:
        """Weights in the order of first use; equal ones are stored once."""
        used: dict[Attribute, list[SSAValue]] = {}
        all_ops = [op for function in self.functions for op in function.body.block.ops]
        for op in all_ops:
            if isinstance(op, tile.HostOp):
                used.setdefault(op.program, [])
            if isinstance(op, tile.LaunchOp | tile.HostOp | tile.SwitchOp):
                for value in (op.index,) if isinstance(op, tile.SwitchOp) else op.inputs:
                    base, _ = base_of(value)
                    if isinstance(weight := base.owner, tile.WeightOp):
                        values = used.setdefault(weight.value, [])
                        if base not in values:
                            values.append(base)
        programs = {op.program for op in all_ops if isinstance(op, tile.HostOp)}
        offsets, _ = place_weights(_weight_bytes(value) for value in used)
        out: list[om.WeightOp] = []
        for number, ((value, uses), offset) in enumerate(zip(used.items(), offsets, strict=True)):
            if value in programs:
                self.programs[value] = Operand(Space.WEIGHTS, offset, _weight_bytes(value))
            if not uses:
                out.append(om.WeightOp(f"program_{number}", offset, value, "ND"))  # pyright: ignore[reportArgumentType]
                continue
            owner = uses[0].owner
            assert isinstance(owner, tile.WeightOp)
            names = location_names(owner)
            layout = "FRACTAL_Z" if _is_packed(owner) else self.describe(uses[0])[2]
            label = f"{names[0]}_{number}" if names else f"weight_{number}"
            out.append(om.WeightOp(label, offset, value, layout))  # pyright: ignore[reportArgumentType]
            for use in uses:
                self.places[use] = Operand(Space.WEIGHTS, offset, memory_bytes(use.type))
                self.sources[use] = Source("weight", number)
        return out

    def launches(self, function: func.FuncOp) -> None:
        """Tasks in program order, and a node of the graph for each."""
        for op in function.body.block.ops:
            match op:
                case tile.LaunchOp():
                    node = self.node(op)
                    task = KernelTask(
                        op.kernel.string_value(),
                        op.label.data,
                        node,
                        self.phase(op),
                        op.blocks.value.data,
                        tuple(self.operand(v) for v in (*op.inputs, *op.outputs)),
                        tuple(int(v) for v in op.params.get_values()),
                        len(op.outputs),
                    )
                case tile.HostOp():
                    reason = op.attributes.get("reason")
                    why = {"host_reason": reason.data} if isinstance(reason, StringAttr) else {}
                    node = self.node(op, {"host_operator": op.spelled, "host_opset": op.opset.value.data, **why})
                    ins, outs = (tuple(map(self.host_value, values)) for values in (op.inputs, op.outputs))
                    task = HostTask(op.label.data, node, self.phase(op), self.programs[op.program], ins, outs)
                case tile.Jump():
                    self.jump(op, self.phase(op))
                    continue
                case tile.JoinOp():
                    joined = self.source(op.result)
                    base, _ = base_of(op.result)
                    if memory_bytes(base.type) == memory_bytes(op.result.type):
                        self.sources[base] = joined
                    continue
                case _:
                    continue
            self.tasks.append(task)

    def node(self, op: tile.LaunchOp | tile.HostOp, attrs: Mapping[str, AttrValue] | None = None) -> int:
        """Adds the node of the graph that `op` computes; its number."""
        inputs = tuple(self.source(v) for v in op.inputs)
        onnx = location_names(op)
        name = (onnx[-1] if onnx else op.label.data) + self.suffix
        outs = tuple(TensorDesc(*self.describe(v), None if v in self.slots else self.operand(v)) for v in op.outputs)
        self.nodes.append(
            GraphNode(self.unique(name), op.label.data, inputs, outs, onnx, {**(attrs or {}), **self.marks})
        )
        node = len(self.nodes) - 1
        for number, value in enumerate(op.outputs):
            self.sources[value] = Source("node", node, number)
            base, _ = base_of(value)
            # else it is one of those that a join brings together
            if base is value or memory_bytes(base.type) == memory_bytes(value.type):
                self.sources.setdefault(base, Source("node", node, number))
        return node

    def unique(self, name: str) -> str:
        """`name`, with a number when a node has it already."""
        count = self.names_used.get(name, 0)
        self.names_used[name] = count + 1
        return name if count == 0 else f"{name}_{count}"

    def host_value(self, value: SSAValue) -> HostValue:
        """An argument of a host call."""
        dtype, shape, _ = self.describe(value)
        if value in self.slots:
            return HostObject(self.slots[value], dtype)
        return HostTensor(self.operand(value), dtype, shape)

    def jump(self, op: tile.Jump, phase: int) -> None:
        """A label or jump, and a node that stands for it."""
        node, onnx = len(self.nodes), location_names(op)
        inputs: tuple[Source | None, ...] = ()
        match op:
            case tile.LabelOp():
                kind, number = "LabelSet", self.first_label + op.label.value.data
                self.tasks.append(LabelTask(number, node, phase))
            case tile.GotoOp():
                kind, number = "LabelGoto", self.first_label + op.label.value.data
                self.tasks.append(GotoTask(number, node, phase))
            case tile.SwitchOp():
                inputs = (self.source(op.index),)
                node, kind, number = len(self.nodes), "LabelSwitchByIndex", len(self.tasks)
                targets = tuple(self.first_label + int(label) for label in op.labels.get_values())
                self.tasks.append(SwitchTask(self.operand(op.index), targets, node, phase))
            case _:
                raise AssertionError(op.name)
        name = f"{onnx[0] if onnx else 'graph'}/{kind}_{number}{self.suffix}"
        self.nodes.append(GraphNode(name, kind, inputs, (), onnx, self.marks))

    def phase(self, op: tile.LaunchOp | tile.HostOp | tile.Jump) -> int:
        return self.first_phase + _phase(op)

    def output_descs(self, function: func.FuncOp) -> list[IoDesc]:
        """The outputs of the function whose inputs were placed last."""
        names = texts(function, "ge.output_names")
        found: list[IoDesc] = []
        for number in sorted(self.outputs):
            value = self.outputs[number]
            dtype, shape, _ = self.describe(value)
            name = names[number] if number < len(names) else f"output_{number}"
            found.append(IoDesc(name, dtype, shape, self.sources.get(value), self.slots.get(value, -1)))
        return found


def _phase(op: tile.LaunchOp | tile.HostOp | tile.Jump) -> int:
    if op.phase is None:
        raise PassError(f"a {op.name} has no phase", where=_where(op), hint="run tile-schedule first")
    return op.phase.value.data


def _weight_bytes(value: Attribute) -> int:
    assert isinstance(value, WeightAttr | DenseIntOrFPElementsAttr)
    type_ = value.type
    assert isinstance(type_, TensorType)
    return math.prod(type_.get_shape()) * ITEMSIZE[spell(type_.get_element_type())]


def _is_packed(weight: tile.WeightOp) -> bool:
    return "packed" in weight.attributes


def texts(function: func.FuncOp, key: str) -> list[str]:
    """The strings in an attribute of a function; none without it."""
    found = function.attributes.get(key)
    return [name.data for name in found if isinstance(name, StringAttr)] if isinstance(found, ArrayAttr) else []


def _where(op: Operation) -> str:
    names = location_names(op)
    return f"{op.name} of ONNX node {', '.join(names)}" if names else op.name
