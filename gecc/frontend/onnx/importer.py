"""Turn a checked ONNX graph into a module at the ge level.

The module holds one function:

```mlir
func.func @main(%x: tensor<?x3x48x192xf32>) -> tensor<?x2xf32> attributes {
    ge.input_names = ["x"], ge.input_dims = [["batch", "3", "48", "192"]], ge.output_names = ["save_infer_model"]} {
  ...
}
```

Every operation carries the name of the ONNX node it comes from as its location. Only what the outputs need is
imported. Nodes that cannot be imported are collected and reported together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import FunctionProto, NodeProto, TensorProto, ValueInfoProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.errors import GeccError, InvalidModelError, ShapeError, UnsupportedError
from gecc.frontend.onnx import ops as _ops  # fills the table
from gecc.frontend.onnx.builder import Builder
from gecc.frontend.onnx.data_types import data_type_of, element_of
from gecc.frontend.onnx.functions import definition, may_be_defined, needed
from gecc.frontend.onnx.inputs import declared_shape, specialise
from gecc.frontend.onnx.model import OnnxModel, type_name
from gecc.frontend.onnx.narrow import NARROW, names_of
from gecc.frontend.onnx.node import Node, Refusal
from gecc.frontend.onnx.ops.narrow import admit, inherit
from gecc.frontend.onnx.order import captured
from gecc.frontend.onnx.placeholders import Placeholders
from gecc.frontend.onnx.registry import lookup
from gecc.frontend.onnx.report import Report
from gecc.frontend.onnx.schema import check_node
from gecc.frontend.onnx.subgraph import Scope
from gecc.weights import WeightStore

__all__ = ["import_model"]

assert _ops


def import_model(
    model: OnnxModel, store: WeightStore, *, input_shapes: Mapping[str, Sequence[int]] | None = None
) -> ModuleOp:
    """Import the main graph of `model`; weights go to `store`.

    `input_shapes` gives static shapes to inputs by name; a dimension that is named in the model is then known in all
    inputs. Dimensions not given stay unknown (-1).

    Raises UnsupportedError listing every node that cannot be imported, InvalidModelError for a node that contradicts
    the standard, ShapeError for input shapes that do not fit.
    """
    return _Importer(model, store, input_shapes or {}).run()


class _Importer:
    def __init__(self, model: OnnxModel, store: WeightStore, input_shapes: Mapping[str, Sequence[int]]) -> None:
        self.model = model
        self.input_shapes = input_shapes
        self.build = Builder(Block(), store)
        self.values: dict[str, SSAValue] = {}
        self.lost: set[str] = set()
        """Names whose value is unknown because the node that makes them was refused."""
        self.initializers: dict[str, TensorProto] = {t.name: t for t in model.graph.initializer}
        self.sparse = {t.values.name: t for t in model.graph.sparse_initializer}
        self.report = Report(model)
        self.placeholders = Placeholders(model, self.build)

    def run(self) -> ModuleOp:
        graph = self.model.graph
        inputs = [i for i in graph.input if i.name not in self.initializers and i.name not in self.sparse]
        attributes = self._add_arguments(inputs)
        needed = self._needed()
        for index, proto in enumerate(graph.node):
            if index in needed:
                self._import_node(proto, index)
        self.report.raise_if_any()
        results = [self._output(info) for info in graph.output]
        attributes["ge.output_names"] = ArrayAttr([StringAttr(info.name) for info in graph.output])
        self.build.location = _name_loc(graph.name or "graph")
        block = self.build.block
        ret = ReturnOp(*results)
        ret.location = self.build.location
        block.add_op(ret)
        kind = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
        function = FuncOp("main", kind, Region(block))
        function.attributes.update(attributes)
        for key, values in (("ge.input_types", block.args), ("ge.output_types", results)):
            if (names := names_of(self.build, values)) is not None:
                function.attributes[key] = names
        function.location = self.build.location
        module = ModuleOp([function])
        module.location = self.build.location
        return module

    # -- inputs and outputs ---------------------------------------------------------------------------------------

    def _add_arguments(self, inputs: Sequence[ValueInfoProto]) -> dict[str, ArrayAttr]:
        for info in inputs:
            kind = info.type.WhichOneof("value")
            if kind != "tensor_type":
                self.report.add_input(info.name, f"a {kind or 'value without type'} is not supported")
            elif element_of(info.type.tensor_type.elem_type) is None:
                name = type_name(info.type.tensor_type.elem_type)
                self.report.add_input(info.name, f"element type {name} is not supported")
        self.report.raise_if_any()
        declared = [declared_shape(info, self.model.name) for info in inputs]
        shapes = specialise(declared, self.input_shapes)
        for info in inputs:
            data_type = info.type.tensor_type.elem_type
            element = element_of(data_type)
            assert element is not None
            argument = self.build.block.insert_arg(ge.tensor_type(shapes[info.name], element), len(self.values))
            self.values[info.name] = argument
            if data_type in NARROW:
                self.build.mark(argument, data_type)
        dims = [
            ArrayAttr([StringAttr(str(d) if s == -1 else str(s)) for d, s in zip(i.dims, shapes[i.name], strict=True)])
            for i in declared
        ]
        return {
            "ge.input_names": ArrayAttr([StringAttr(info.name) for info in inputs]),
            "ge.input_dims": ArrayAttr(dims),
        }

    def _output(self, info: ValueInfoProto) -> SSAValue:
        value = self._value(info.name)
        if value is None:
            raise InvalidModelError("nothing in the graph makes the output", where=f"output '{info.name}'")
        declared = info.type.tensor_type.elem_type
        if element_of(declared) is not None and isinstance(value.type, TensorType):
            found = data_type_of(self.build, value)
            if found != declared:
                raise InvalidModelError(
                    f"the graph declares {type_name(declared)}, but the node that makes it gives {type_name(found)}",
                    where=f"output '{info.name}' of {self.model.name}",
                )
        return value

    def _needed(self) -> set[int]:
        """Indices of the nodes that the outputs need."""
        wanted = {info.name for info in self.model.graph.output}
        needed: set[int] = set()
        for index, proto in reversed(list(enumerate(self.model.graph.node))):
            if wanted.intersection(proto.output):
                needed.add(index)
                wanted.update(proto.input)
                wanted.update(captured(proto))
        return needed

    # -- values ---------------------------------------------------------------------------------------------------

    def _value(self, name: str) -> SSAValue | None:
        """The value called `name`; an initializer becomes a constant when it is first used."""
        known = self.values.get(name)
        if known is not None or name not in (*self.initializers, *self.sparse):
            return known
        before, self.build.location = self.build.location, _name_loc(name)
        tensor = self.initializers.get(name)
        array = self.model.array(tensor) if tensor is not None else self.model.dense(self.sparse[name])
        self.values[name] = self.build.const(array)
        if tensor is not None and tensor.data_type in NARROW:
            self.build.mark(self.values[name], tensor.data_type)
        self.build.location = before
        return self.values[name]

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _import_node(self, proto: NodeProto, index: int) -> None:
        opset = self.model.opsets.get(_domain(proto), 1)
        if any(name in self.lost for name in proto.input):
            node = Node(proto, index, opset, [], self.build, self.model)
            if lookup(_domain(proto), proto.op_type, opset) is None and not may_be_defined(node):
                self._refuse(node, _unknown(node))
            self.lost.update(name for name in proto.output if name)
            return
        self.build.location = _name_loc(proto.name or f"{proto.op_type}_{index}")
        inputs: list[SSAValue | None] = []
        node = Node(proto, index, opset, inputs, self.build, self.model)
        try:
            inputs += [self._value(name) if name else None for name in proto.input]
            for name in captured(proto):
                self._value(name)  # an initializer becomes a constant here, not in the region that uses it first
            node.scope = Scope(self._made, self.values.get, self.model.opsets)
            results = self._made(node)
        except UnsupportedError as error:
            self._refuse(node, (error.message, error.hint))
            return
        except Refusal as refusal:
            self._refuse(node, (refusal.rule, refusal.hint))
            return
        except VerifyException as error:
            self._misfit(node, error)
            return
        for name, value in zip(proto.output, results, strict=False):
            if name and value is not None:
                self.values[name] = value
                if value.name_hint is None and SSAValue.is_valid_name(name):
                    value.name_hint = name

    def _made(self, node: Node) -> Sequence[SSAValue | None]:
        """The outputs of a node: by its import function, else by the standard's definition of its operator.

        Outputs that nothing uses may be missing.
        """
        function = lookup(_domain(node.proto), node.proto.op_type, node.opset)
        check_node(node)
        if function is None:
            body = definition(node)
            if body is None:
                raise Refusal(*_unknown(node))
            return self._by_definition(node, body)
        admit(node)
        made = function(node)
        results = [made] if isinstance(made, SSAValue) else list(made)
        inherit(node, results)
        if len(results) < node.outputs:
            raise Refusal(f"output {node.outputs - 1} is not supported")
        return results

    def _by_definition(self, node: Node, body: FunctionProto) -> Sequence[SSAValue | None]:
        values = {name: value for name, value in zip(body.input, node.inputs, strict=False) if value is not None}
        own = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in body.opset_import}
        opsets = {**self.model.opsets, **own}
        for proto in needed(body, node):
            inputs = [values.get(name) for name in proto.input]
            opset = opsets.get(_domain(proto), node.opset)
            inner = Node(proto, node.index, opset, inputs, self.build, self.model)
            inner.scope = Scope(self._made, values.get, opsets)
            try:
                results = self._made(inner)
            except Refusal as refusal:
                kind = node.proto.op_type
                raise Refusal(f"the definition of {kind} needs {proto.op_type}: {refusal.rule}", refusal.hint) from None
            values.update((n, v) for n, v in zip(proto.output, results, strict=False) if n and v is not None)
        return [values.get(name) for name in body.output]

    def _refuse(self, node: Node, why: tuple[str, str | None]) -> None:
        """Note a node for the report; its outputs get the types that ONNX infers, so that later nodes are seen too."""
        self.report.add(node, *why)
        for name in node.proto.output:
            if name:
                value = self.placeholders.value(name)
                if value is None:
                    self.lost.add(name)
                else:
                    self.values[name] = value

    def _misfit(self, node: Node, error: VerifyException) -> None:
        """An operator that does not take these operands: an element type gecc lacks, or shapes that contradict."""
        message = str(error)
        if "element type" in message:
            self._refuse(node, (message, None))
            return
        problem: type[GeccError] = ShapeError if self.input_shapes else InvalidModelError
        given = "; ".join(f"{k}: {list(v)}" for k, v in self.input_shapes.items())
        raise problem(
            f"{message}; inputs are {node.spell_inputs()}",
            where=f"{node.where} of {self.model.name}",
            hint=f"the input shapes given are {given}" if given else None,
        ) from error


def _unknown(node: Node) -> tuple[str, str | None]:
    domain = node.proto.domain or "ai.onnx"
    return f"operator {domain}::{node.proto.op_type} of opset {node.opset} is not supported", None


def _domain(proto: NodeProto) -> str:
    return "" if proto.domain == "ai.onnx" else proto.domain


def _name_loc(name: str) -> NameLoc:
    return NameLoc(StringAttr(name), NoneAttr())
