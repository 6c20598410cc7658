"""Lower an allocated graph of launches to the tasks of an om."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import om, tile
from gecc.dialects.ge.attrs import LayoutAttr, WeightAttr
from gecc.dialects.om.build import build_model
from gecc.errors import PassError
from gecc.om.records import (
    ITEMSIZE,
    AttrValue,
    GotoTask,
    GraphNode,
    IoDesc,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    SwitchTask,
    Task,
    TensorDesc,
    place_weights,
)
from gecc.rewrite import location_names
from gecc.runtime import abi
from gecc.target import host, load


def _spell(element: Attribute) -> str:
    return str(element)


def _bytes(type_: Attribute) -> int:
    assert isinstance(type_, MemRefType)
    return math.prod(type_.get_shape()) * ITEMSIZE[_spell(type_.element_type)]


@dataclass
class _Builder:
    """The om of one function of launches on memory."""

    function: func.FuncOp
    weights: list[tile.WeightOp] = field(default_factory=list[tile.WeightOp])
    sources: dict[SSAValue, Source | None] = field(default_factory=dict[SSAValue, "Source | None"])
    places: dict[SSAValue, Operand] = field(default_factory=dict[SSAValue, Operand])
    descs: dict[SSAValue, tuple[str, tuple[int, ...], str]] = field(
        default_factory=dict[SSAValue, tuple[str, tuple[int, ...], str]]
    )
    nodes: list[GraphNode] = field(default_factory=list[GraphNode])
    tasks: list[Task] = field(default_factory=list[Task])
    outputs: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def root(self, value: SSAValue) -> tuple[SSAValue, int]:
        """The memory that a view is part of, and its byte offset there."""
        offset = 0
        while isinstance(op := value.owner, tile.ViewOp):
            offset += op.offset.value.data
            value = op.source
        return value, offset

    def operand(self, value: SSAValue) -> Operand:
        base, offset = self.root(value)
        place = self.places[base]
        return Operand(place.space, place.offset + offset, _bytes(value.type), place.index)

    def source(self, value: SSAValue) -> Source | None:
        """Where a value that a launch reads comes from; a view becomes a Reshape or Slice node of its own."""
        if value not in self.sources and isinstance(op := value.owner, tile.ViewOp):
            inner = self.source(op.source)
            whole = op.offset.value.data == 0 and _bytes(op.source.type) == _bytes(value.type)
            desc = TensorDesc(*self.describe(value), self.operand(value))
            names = location_names(op)
            self.nodes.append(
                GraphNode(
                    names[0] if names else f"view_{len(self.nodes)}",
                    "Reshape" if whole else "Slice",
                    (inner,),
                    (desc,),
                    names,
                )
            )
            self.sources[value] = Source("node", len(self.nodes) - 1)
        return self.sources[value]

    def describe(self, value: SSAValue) -> tuple[str, tuple[int, ...], str]:
        """dtype, shape (physical) and layout name."""
        assert isinstance(value.type, MemRefType)
        layout = "ND"
        if isinstance(owner := value.owner, Operation) and isinstance(
            encoding := owner.attributes.get("layout"), LayoutAttr
        ):
            layout = encoding.order.data
        return _spell(value.type.element_type), tuple(value.type.get_shape()), layout

    def place_inputs(self) -> list[IoDesc]:
        names = _names(self.function, "ge.input_names")
        found: list[IoDesc] = []
        for op in self.function.body.block.ops:
            if isinstance(op, tile.InputOp):
                number = op.index.value.data
                self.places[op.result] = Operand(Space.INPUT, 0, _bytes(op.result.type), number)
                self.sources[op.result] = Source("input", number)
                dtype, shape, _ = self.describe(op.result)
                name = names[number] if number < len(names) else f"input_{number}"
                found.append(IoDesc(name, dtype, shape))
            elif isinstance(op, tile.OutputOp):
                number = op.index.value.data
                self.places[op.result] = Operand(Space.OUTPUT, 0, _bytes(op.result.type), number)
                self.outputs[number] = op.result
            elif isinstance(op, tile.AllocOp):
                if op.offset is None:
                    raise PassError(
                        "a tile.alloc has no offset", where=_where(op), hint="run tile-allocate-buffers first"
                    )
                self.places[op.result] = Operand(Space.ARENA, op.offset.value.data, op.bytes.value.data)
        return found

    def place_weights(self) -> list[om.WeightOp]:
        """Weights in the order of first use; equal ones are stored once."""
        used: dict[Attribute, list[SSAValue]] = {}
        for op in self.function.body.block.ops:
            if isinstance(op, tile.LaunchOp | tile.SwitchOp):
                for value in op.inputs if isinstance(op, tile.LaunchOp) else (op.index,):
                    base, _ = self.root(value)
                    if isinstance(weight := base.owner, tile.WeightOp):
                        values = used.setdefault(weight.value, [])
                        if base not in values:
                            values.append(base)
        offsets, _ = place_weights(_weight_bytes(value) for value in used)
        out: list[om.WeightOp] = []
        for number, ((value, uses), offset) in enumerate(zip(used.items(), offsets, strict=True)):
            owner = uses[0].owner
            assert isinstance(owner, tile.WeightOp)
            names = location_names(owner)
            layout = "FRACTAL_Z" if _is_packed(owner) else self.describe(uses[0])[2]
            label = f"{names[0]}_{number}" if names else f"weight_{number}"
            out.append(om.WeightOp(label, offset, value, layout))  # pyright: ignore[reportArgumentType]
            for use in uses:
                self.places[use] = Operand(Space.WEIGHTS, offset, _bytes(use.type))
                self.sources[use] = Source("weight", number)
        return out

    def launches(self) -> None:
        names_used: dict[str, int] = {}
        for op in self.function.body.block.ops:
            if not isinstance(op, tile.LaunchOp | tile.Jump):
                continue
            if op.phase is None:
                raise PassError(f"a {op.name} has no phase", where=_where(op), hint="run tile-schedule first")
            if isinstance(op, tile.Jump):
                self.jump(op, op.phase.value.data)
                continue
            inputs = tuple(self.source(v) for v in op.inputs)
            onnx = location_names(op)
            name = onnx[-1] if onnx else op.label.data
            count = names_used.get(name, 0)
            names_used[name] = count + 1
            outs = tuple(TensorDesc(*self.describe(v), self.operand(v)) for v in op.outputs)
            self.nodes.append(GraphNode(name if count == 0 else f"{name}_{count}", op.label.data, inputs, outs, onnx))
            node = len(self.nodes) - 1
            for number, value in enumerate(op.outputs):
                self.sources[value] = Source("node", node, number)
                base, _ = self.root(value)
                self.sources.setdefault(base, Source("node", node, number))
            self.tasks.append(
                KernelTask(
                    op.kernel.string_value(),
                    op.label.data,
                    node,
                    op.phase.value.data,
                    op.blocks.value.data,
                    tuple(self.operand(v) for v in (*op.inputs, *op.outputs)),
                    tuple(int(v) for v in op.params.get_values()),
                    len(op.outputs),
                )
            )

    def jump(self, op: tile.Jump, phase: int) -> None:
        """A label or jump, and a node that stands for it."""
        node, onnx = len(self.nodes), location_names(op)
        inputs: tuple[Source | None, ...] = ()
        match op:
            case tile.LabelOp():
                kind, number = "LabelSet", op.label.value.data
                self.tasks.append(LabelTask(number, node, phase))
            case tile.GotoOp():
                kind, number = "LabelGoto", op.label.value.data
                self.tasks.append(GotoTask(number, node, phase))
            case tile.SwitchOp():
                inputs = (self.source(op.index),)
                node, kind, number = len(self.nodes), "LabelSwitchByIndex", len(self.tasks)
                targets = tuple(int(label) for label in op.labels.get_values())
                self.tasks.append(SwitchTask(self.operand(op.index), targets, node, phase))
            case _:
                raise AssertionError(op.name)
        self.nodes.append(GraphNode(f"{onnx[0] if onnx else 'graph'}/{kind}_{number}", kind, inputs, (), onnx))

    def output_descs(self) -> list[IoDesc]:
        names = _names(self.function, "ge.output_names")
        found: list[IoDesc] = []
        for number in sorted(self.outputs):
            value = self.outputs[number]
            dtype, shape, _ = self.describe(value)
            name = names[number] if number < len(names) else f"output_{number}"
            found.append(IoDesc(name, dtype, shape, self.sources.get(value)))
        return found


def _weight_bytes(value: Attribute) -> int:
    assert isinstance(value, WeightAttr | DenseIntOrFPElementsAttr)
    type_ = value.type
    assert isinstance(type_, TensorType)
    return math.prod(type_.get_shape()) * ITEMSIZE[_spell(type_.get_element_type())]


def _is_packed(weight: tile.WeightOp) -> bool:
    return "packed" in weight.attributes


def _names(function: func.FuncOp, key: str) -> list[str]:
    found = function.attributes.get(key)
    return [name.data for name in found if isinstance(name, StringAttr)] if isinstance(found, ArrayAttr) else []


def _where(op: Operation) -> str:
    names = location_names(op)
    return f"{op.name} of ONNX node {', '.join(names)}" if names else op.name


@dataclass(frozen=True)
class ToOm(ModulePass):
    """Turn an allocated graph of launches into an `om.model`; the kernels stay beside it, to be compiled.

    ```mlir
    func.func @main() {
      %x = tile.input 0 : memref<16xf32>
      %y = tile.output 0 : memref<16xf32>
      tile.launch @Relu "Relu" ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) params [16, 64] blocks 1 ... phase 0
      func.return
    }
    ```
    becomes
    ```mlir
    om.model "main" target "x86-64-v4" abi 2 arena 0 scratch 0 producer "gecc" {
      %0 = om.input "x" : tensor<16xf32>
      %1 = om.node "Relu" "relu" (%0 : tensor<16xf32>) onnx ["relu"] ... -> tensor<16xf32>
      om.output "y" : tensor<16xf32> = %1 : tensor<16xf32>
      om.kernel "Relu" "Relu" node 0 blocks 1 ins [...] outs [...] params [16, 64]
    }
    ```

    Needs: tile-bufferize, tile-schedule and tile-allocate-buffers.
    """

    name = "tile-to-om"
    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = host() if self.target == "host" else load(self.target)
        functions = [f for f in op.ops if isinstance(f, func.FuncOp)]
        if len(functions) != 1:
            raise PassError(f"the module has {len(functions)} functions, expected one")
        function = functions[0]
        b = _Builder(function)
        inputs = b.place_inputs()
        weight_ops = b.place_weights()
        b.launches()
        memory = op.attributes.get("tile.memory")
        arena = 0
        attrs: dict[str, AttrValue] = {}
        if isinstance(memory, DictionaryAttr):
            for key, value in sorted(memory.data.items()):
                if isinstance(value, IntegerAttr):
                    attrs[f"memory_{key}"] = value.value.data
                    arena = value.value.data if key == "arena" else arena
        for attribute in ("input_types", "output_types"):  # see gecc/runtime/narrow.py
            if types := _names(function, f"ge.{attribute}"):
                attrs[attribute] = tuple(types)
        launches = [o for o in function.body.block.ops if isinstance(o, tile.LaunchOp)]
        name = op.attributes.get("ge.model_name")
        model = OmModel(
            name=name.data if isinstance(name, StringAttr) else function.sym_name.data,
            target=target.name,
            abi=abi.ABI,
            inputs=tuple(inputs),
            outputs=tuple(b.output_descs()),
            nodes=tuple(b.nodes),
            tasks=tuple(b.tasks),
            arena_bytes=arena,
            scratch_bytes=max((launch.scratch.value.data for launch in launches), default=0),
            dispatcher=abi.RUN,
            attrs=attrs,
        )
        model_op = build_model(model, weight_ops, None)
        model_op.location = function.location
        op.body.block.insert_op_after(model_op, function)
        function.detach()
        function.erase()
