"""A graph of any level as a picture: a node per operation, in the domain `gecc`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from gecc.dialects._control import BranchOp, LoopOp
from gecc.dialects.ge import Control
from gecc.dialects.om import InputOp as OmInput
from gecc.dialects.om import ModelOp
from gecc.dialects.om import NodeOp as OmNode
from gecc.dialects.om import OutputOp as OmOutput
from gecc.dialects.om.attrs import text_of
from gecc.dialects.tile import AllocOp, InputOp, LaunchOp, OutputOp, ViewOp
from gecc.frontend.onnx.export.writer import (
    DATA_TYPES,
    Names,
    dim_names,
    node_name,
    strings,
    tensor_proto,
    value_info,
)
from gecc.rewrite import location_names
from gecc.weights import ConstantAttr, WeightAttr, WeightStore

DOMAIN = "gecc"
SHOWN = 400
"""Characters of an attribute that are shown."""


def view(graph: FuncOp | ModelOp, store: WeightStore) -> ModelProto:
    """The picture of a graph. Weights keep their types; their bytes stay out."""
    return _View(graph, store).run()


class _View:
    def __init__(self, graph: FuncOp | ModelOp, store: WeightStore) -> None:
        self.graph = graph
        self.store = store
        self.names = Names()
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self.infos: list[ValueInfoProto] = []

    def run(self) -> ModelProto:
        ops = list(self.graph.regions[0].block.ops)
        if isinstance(self.graph, FuncOp):
            self._interface(self.graph, ops)
        for op in ops:
            self._add(op)
        title = (location_names(self.graph) or ("graph",))[0]
        graph = helper.make_graph(
            self.nodes, title, self.inputs, self.outputs, self.initializers, value_info=self.infos
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(DOMAIN, 1)],
            ir_version=min(10, int(onnx.IR_VERSION)),
            producer_name="gecc",
            doc_string="A picture of a graph inside gecc: to look at, not to run.",
        )

    def _interface(self, function: FuncOp, ops: Sequence[Operation]) -> None:
        """Inputs and outputs of a function: arguments and returned values, or `tile.input` and `tile.output`."""
        args = function.body.block.args
        given = [op for op in ops if isinstance(op, InputOp)]
        taken = [op for op in ops if isinstance(op, OutputOp)]
        inputs = strings(function, "ge.input_names", "in", len(args) or len(given))
        outputs = strings(function, "ge.output_names", "out", len(function.function_type.outputs) or len(taken))
        for name in (*inputs, *outputs):
            self.names.fresh(name)
        for i, argument in enumerate(args):
            self.inputs.append(value_info(self.names.bind(argument, inputs[i]), argument.type, dim_names(function, i)))
        for op in given:
            name = inputs[op.index.value.data]
            self.inputs.append(value_info(self.names.bind(op.result, name), op.result.type))
        for op in taken:
            name = outputs[op.index.value.data]
            self.outputs.append(value_info(self.names.bind(op.result, name), op.result.type))
        self.results = outputs

    def _add(self, op: Operation) -> None:
        match op:
            case ReturnOp():
                self._return(op)
            case AllocOp() | InputOp() | OutputOp():
                pass
            case ViewOp():
                self.names.bind(op.results[0], self.names.of(op.source))
            case LaunchOp():
                written = [self._written(value) for value in op.outputs]
                self._node(op, op.label.data, [self.names.of(v) for v in op.inputs], written)
            case OmInput():
                name = self.names.bind(op.result, self.names.fresh(op.record.name))
                self.inputs.append(value_info(name, op.result.type))
            case OmOutput():
                self.outputs.append(value_info(op.record.name, op.type))
                if op.value:
                    self._alias(op.value[0], op.record.name, op)
            case OmNode():
                self._node(op, _text(op.type), [self.names.of(v) for v in op.inputs], [])
            case _ if isinstance(value := op.properties.get("value"), DenseIntOrFPElementsAttr | WeightAttr):
                self._constant(op, value)
            case Control() | BranchOp() | LoopOp():
                kind = op.name.partition(".")[2].capitalize()
                bodies = {
                    name: self._body(op.regions[i])
                    for i, name in enumerate(("then_branch", "else_branch") if len(op.regions) == 2 else ("body",))
                }
                self._node(op, kind, [self.names.of(v) for v in op.operands], [], bodies)
            case _ if op.results:
                label = op.properties.get("label")
                kind = op.name.partition(".")[2] if label is None else _text(label)
                self._node(op, kind, [self.names.of(v) for v in op.operands], [])
            case _:
                pass  # kernels and events of an om: its graph is in its nodes

    def _body(self, region: Region) -> GraphProto:
        """A region as a picture of its own; values of outside have the same names there."""
        outer = self.nodes, self.initializers, self.infos
        self.nodes, self.initializers, self.infos = [], [], []
        given = [value_info(self.names.of(arg), arg.type) for arg in region.block.args]
        for inner in region.block.ops:
            self._add(inner)
        last = region.block.last_op
        made: list[ValueInfoProto] = []
        assert last is not None
        for value in last.operands:
            made.append(value_info(self.names.fresh("yielded"), value.type))
            self._alias(value, made[-1].name, last)
        graph = helper.make_graph(self.nodes, "body", given, made, self.initializers, value_info=self.infos)
        self.nodes, self.initializers, self.infos = outer
        return graph

    def _return(self, op: ReturnOp) -> None:
        for name, value in zip(self.results, op.arguments, strict=False):
            self.outputs.append(value_info(name, value.type))
            self._alias(value, name, op)

    def _alias(self, value: SSAValue, name: str, op: Operation) -> None:
        source = self.names.of(value)
        self.nodes.append(
            helper.make_node("Output", [source], [name], name=self.names.fresh(f"output {name}"), domain=DOMAIN)
        )

    def _written(self, value: SSAValue) -> str:
        """The name of what a launch leaves in memory: a new one at every write, but for a graph output's."""
        if self.names.knows(value) and self.names.of(value) in self.results:
            return self.names.of(value)
        return self.names.bind(value, self.names.fresh(value.name_hint or "buffer"))

    def _node(
        self,
        op: Operation,
        kind: str,
        inputs: Sequence[str],
        written: Sequence[str],
        bodies: Mapping[str, GraphProto] | None = None,
    ) -> None:
        made = [self.names.of(r) for r in op.results]
        attributes: dict[str, Any] = {"op": op.name, **(bodies or {})}
        for key, attr in {**op.properties, **op.attributes}.items():
            if key not in ("label", "operandSegmentSizes", "resultSegmentSizes"):
                attributes[f"host_{key}" if key in ("op_type", "domain") else key] = _shown(attr)
        if names := location_names(op):
            attributes["onnx_nodes"] = ", ".join(names)
        layouts = [str(r.type.encoding) for r in op.results if isinstance(r.type, TensorType) and _laid_out(r.type)]
        if layouts:
            attributes["layouts"] = ", ".join(layouts)
        self.nodes.append(
            helper.make_node(
                kind, list(inputs), [*made, *written], name=node_name(self.names, op), domain=DOMAIN, **attributes
            )
        )
        for result in op.results:
            if isinstance(result.type, TensorType | MemRefType) and result.type.get_element_type() in DATA_TYPES:
                self.infos.append(value_info(self.names.of(result), result.type))

    def _constant(self, op: Operation, value: ConstantAttr) -> None:
        hint = op.results[0].name_hint or "".join(location_names(op)[:1]) or "constant"
        name = self.names.bind(op.results[0], self.names.fresh(hint))
        if not isinstance(value, WeightAttr):
            self.initializers.append(tensor_proto(name, self.store.array(value)))
            return
        kind = value.tensor_type
        # Without data, not with external data: Netron opens no file of which a part is missing.
        tensor = TensorProto(name=name, data_type=DATA_TYPES[kind.get_element_type()], dims=kind.get_shape())
        tensor.doc_string = f"{kind} {value.digest.data}"
        self.initializers.append(tensor)


def _laid_out(kind: TensorType) -> bool:
    return str(kind.encoding) != "none"


def _text(attr: Attribute) -> str:
    return text_of(attr) if isinstance(attr, StringAttr | BytesAttr) else str(attr)


def _shown(attr: Attribute) -> int | str:
    """A property for people: numbers as numbers, everything else as its text, cut short."""
    if isinstance(attr, IntegerAttr):
        return attr.value.data
    text = _text(attr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
