"""Turn a checked ONNX graph into a module at the ge level.

The module holds one function:

```mlir
func.func @main(%x: tensor<?x3x48x192xf32>) -> tensor<?x2xf32> attributes {
    ge.input_names = ["x"], ge.input_dims = [["batch", "3", "48", "192"]], ge.output_names = ["save_infer_model"]} {
  ...
}
```

Every operation carries the name of the ONNX node it comes from as its location. Only what the outputs need is
imported. A node is imported as native operators, or else as one that runs on the host (`ge.HostOp`): because it is
refused, a shape depends on data, or it takes what a host operator made and what is no tensor. For that to be decided
soundly, shapes are inferred along with the import. Without the host, nodes that cannot be imported are collected and
reported together; so are those that even the host cannot run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import onnx
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
from gecc.frontend.onnx.eager import Eager, drop_strays
from gecc.frontend.onnx.functions import definition, may_be_defined, needed
from gecc.frontend.onnx.host import HostImporter, Operand, outer_names
from gecc.frontend.onnx.inputs import declared_shape, specialise
from gecc.frontend.onnx.kinds import spelled
from gecc.frontend.onnx.model import NUMPY_DTYPES, OnnxModel, type_name
from gecc.frontend.onnx.narrow import NARROW, names_of
from gecc.frontend.onnx.node import Node, Refusal, spell
from gecc.frontend.onnx.ops.narrow import admit, inherit
from gecc.frontend.onnx.order import captured
from gecc.frontend.onnx.placeholders import Placeholders
from gecc.frontend.onnx.placement import Placement, placement
from gecc.frontend.onnx.registry import lookup
from gecc.frontend.onnx.report import Report
from gecc.frontend.onnx.schema import check_node
from gecc.frontend.onnx.subgraph import Scope
from gecc.passes.ge.infer_shapes import DataDependentShape
from gecc.runtime.custom import REGISTRY
from gecc.weights import WeightStore

__all__ = ["import_model"]

assert _ops


def import_model(
    model: OnnxModel,
    store: WeightStore,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    host: bool = False,
    placements: list[Placement] | None = None,
) -> ModuleOp:
    """Import the main graph of `model`; weights go to `store`.

    `input_shapes` gives static shapes to inputs by name; a dimension that is named in the model is then known in all
    inputs. Dimensions not given stay unknown (-1). Nodes without a native form become ge.HostOp when `host` allows it
    and the shapes of all inputs are known. Where each node went is appended to `placements`.

    Raises UnsupportedError listing every node that cannot be imported, InvalidModelError for a node that contradicts
    the standard, ShapeError for input shapes that do not fit.
    """
    return _Importer(model, store, input_shapes or {}, host, [] if placements is None else placements).run()


class _Importer:
    def __init__(
        self,
        model: OnnxModel,
        store: WeightStore,
        input_shapes: Mapping[str, Sequence[int]],
        host: bool,
        placements: list[Placement],
    ) -> None:
        self.model = model
        self.allow_host = host
        self.placements = placements
        self.input_shapes = input_shapes
        self.build = Builder(Block(), store)
        self.values: dict[str, SSAValue] = {}
        self.lost: set[str] = set()
        """Names whose value is unknown because the node that makes them was refused."""
        self.initializers: dict[str, TensorProto] = {t.name: t for t in model.graph.initializer}
        self.sparse = {t.values.name: t for t in model.graph.sparse_initializer}
        self.report = Report(model)
        self.placeholders = Placeholders(model, self.build)
        self.host = HostImporter(model, self.build)
        self.eager: Eager | None = None
        """Shape inference along the way; None while the shape of an input is unknown."""

    def run(self) -> ModuleOp:
        graph = self.model.graph
        inputs = [i for i in graph.input if i.name not in self.initializers and i.name not in self.sparse]
        attributes = self._add_arguments(inputs)
        if all(-1 not in ge.dims(a) for a in self.build.block.args if not ge.is_object(a)):
            self.eager = Eager(self.build, self.build.block.args)
        needed = self._needed()
        for index, proto in enumerate(graph.node):
            if index in needed:
                self._import_node(proto, index)
        self.report.raise_if_any()
        results = [self._output(info) for info in graph.output]
        self._clean()
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
            if self.allow_host and spelled(info.type) is not None:
                continue
            if kind != "tensor_type":
                self.report.add_input(info.name, f"a {kind or 'value without type'} is not supported")
            elif element_of(info.type.tensor_type.elem_type) is None:
                name = type_name(info.type.tensor_type.elem_type)
                self.report.add_input(info.name, f"element type {name} is not supported")
        self.report.raise_if_any()
        objects = {info.name: _object_type(info) for info in inputs}
        declared = [declared_shape(info, self.model.name) for info in inputs if objects[info.name] is None]
        shapes = specialise(declared, self.input_shapes)
        for info in inputs:
            if (kind := objects[info.name]) is not None:
                argument = self.build.block.insert_arg(kind, len(self.values))
                self.host.kinds[argument] = info.type
                self.values[info.name] = argument
                continue
            data_type = info.type.tensor_type.elem_type
            element = element_of(data_type)
            assert element is not None
            argument = self.build.block.insert_arg(ge.tensor_type(shapes[info.name], element), len(self.values))
            self.values[info.name] = argument
            if data_type in NARROW:
                self.build.mark(argument, data_type)
        # a scalar that is given as a vector of one has a size, and no name for it
        named = {i.name: zip(i.dims or shapes[i.name], shapes[i.name], strict=True) for i in declared}
        dims = [
            ArrayAttr([StringAttr(str(d) if s == -1 else str(s)) for d, s in named.get(info.name, ())])
            for info in inputs
        ]
        return {
            "ge.input_names": ArrayAttr([StringAttr(info.name) for info in inputs]),
            "ge.input_dims": ArrayAttr(dims),
        }

    def _output(self, info: ValueInfoProto) -> SSAValue:
        tensor = self.initializers.get(info.name)
        if tensor is not None and element_of(tensor.data_type) is None and self.allow_host:
            return self._constant_object(tensor)
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
            else:
                lost = next(name for name in proto.input if name in self.lost)
                reason = f"input '{lost}' comes from a node that cannot be imported"
                self.placements.append(placement(node, (), "unchecked", reason, None))
            self.lost.update(name for name in proto.output if name)
            return
        self.build.location = _name_loc(proto.name or f"{proto.op_type}_{index}")
        inputs: list[SSAValue | None] = []
        node = Node(proto, index, opset, inputs, self.build, self.model)
        try:
            self._embed(node, inputs)
            for name in captured(proto):
                if name not in self.initializers or element_of(self.initializers[name].data_type) is not None:
                    self._value(name)  # an initializer becomes a constant here, not in the region that uses it first
            node.scope = Scope(self._made, self._settled, self._outer, self.model.opsets)
            results, engine = self._placed(node)
        except Refusal as refusal:
            self._refuse(node, (refusal.rule, refusal.hint))
            return
        self.placements.append(placement(node, results, *engine))
        for name, value in zip(proto.output, results, strict=False):
            if name and value is not None:
                self.values[name] = value
                if value.name_hint is None and SSAValue.is_valid_name(name):
                    value.name_hint = name

    def _outer(self, name: str) -> SSAValue | None:
        """A value that a subgraph may use."""
        value = self.values.get(name)
        return None if value is None or ge.is_object(value) else value

    def _embed(self, node: Node, inputs: list[SSAValue | None]) -> None:
        """Fill in the inputs of a node. Refuses an initializer that is no tensor of gecc, unless the host may run."""
        for name in node.proto.input:
            tensor = self.initializers.get(name)
            if tensor is not None and name not in self.values and element_of(tensor.data_type) is None:
                if not self.allow_host:
                    raise Refusal(f"initializer '{name}' has element type {type_name(tensor.data_type)}")
                inputs.append(None)
                continue
            inputs.append(self._value(name) if name else None)

    def _placed(self, node: Node) -> tuple[Sequence[SSAValue | None], tuple[str, str, str | None]]:
        """The outputs of a node and (engine, reason, hint)."""
        if self.eager is not None:
            self.eager.begin()  # with the constants that the inputs brought
        reason = self._why_not_native(node)
        if reason is None:
            try:
                return self._native(node), ("native", "", None)
            except Refusal as refusal:
                if self.eager is not None:
                    self.eager.roll_back()
                reason = (refusal.rule, refusal.hint)
                if self.allow_host and reason == _unknown(node) and not _is_unheard_of(node):
                    reason = ("there is no native form of it", None)
        if not self.allow_host or _is_unheard_of(node):
            raise Refusal(*reason)
        if self.eager is None:
            raise Refusal(
                reason[0],
                reason[1] or "give the shapes of all inputs: which nodes run on the host is decided for known sizes",
            )
        check_node(node)
        operands, embedded = self._host_operands(node)
        results = self.host.call(node, operands, embedded, *reason)
        self.eager.catch_up()
        made = [None if value is None else self.eager.latest(value) for value in results]
        folded = all(value is None or isinstance(value.owner, ge.Const) for value in made)
        return made, ("constant", "", None) if folded else ("host", reason[0], reason[1])

    def _why_not_native(self, node: Node) -> tuple[str, str | None] | None:
        """Why a node is not even tried: it takes what is no tensor."""
        for i, name in enumerate(node.proto.input):
            value = node.inputs[i]
            if value is not None and ge.is_object(value):
                return f"input {i} '{name}' is {spell(value)}{_of_what(value)}", None
            if name and value is None and name in self.initializers:
                kind = type_name(self.initializers[name].data_type)
                return f"initializer '{name}' has element type {kind}", None
        for name in outer_names(node.proto):
            value = self.values.get(name)
            if value is not None and ge.is_object(value):
                return f"'{name}', which a subgraph uses, is {spell(value)}", None
        return None

    def _native(self, node: Node) -> Sequence[SSAValue | None]:
        """The outputs of a node as native operators, with shapes inferred. Refuses what has no native form."""
        try:
            results = self._made(node)
            if self.eager is not None:
                self._catch_up(self.eager)
        except UnsupportedError as error:
            raise Refusal(error.message, error.hint) from error
        except VerifyException as error:
            self._misfit(node, error)
        if self.eager is None:
            return results
        results = [None if value is None else self._latest(self.eager, value) for value in results]
        for i, value in enumerate(results):
            if self.allow_host and value is not None and -1 in ge.dims(value):
                raise Refusal(f"the shape of output {i} depends on data")
        return results

    def _latest(self, eager: Eager, value: SSAValue) -> SSAValue:
        return self.build.mark_like(eager.latest(value), value)

    def _catch_up(self, eager: Eager) -> None:
        """Infer the shapes of what a node has become. Refuses one that depends on data, when the host may run it."""
        try:
            eager.catch_up()
        except DataDependentShape as error:
            if self.allow_host:
                raise Refusal(error.message, error.hint) from error
            eager.stop()  # ge-infer-shapes will say so, if it still matters then

    def _settled(self, results: Sequence[SSAValue | None]) -> Sequence[SSAValue | None]:
        """The results of a node in a subgraph or definition, with shapes inferred. Refuses shapes that contradict."""
        if self.eager is None:
            return results
        try:
            self.eager.catch_up()
        except ShapeError as error:
            raise Refusal(error.message, error.hint) from error
        return [None if value is None else self.eager.latest(value) for value in results]

    def _host_operands(self, node: Node) -> tuple[list[Operand], list[TensorProto]]:
        """What a node reads: values, and initializers that are none."""
        operands: list[Operand] = []
        embedded: list[TensorProto] = []
        for name in outer_names(node.proto):
            tensor = self.initializers.get(name)
            if tensor is not None and (tensor.data_type in NARROW or element_of(tensor.data_type) is None):
                embedded.append(tensor)
            elif (value := self._value(name)) is not None:
                operands.append(Operand(name, value))
        return operands, embedded

    def _constant_object(self, tensor: TensorProto) -> SSAValue:
        """An initializer that is no tensor of gecc as a graph output."""
        proto = NodeProto(op_type="Identity", input=[tensor.name], output=[tensor.name + "_"], name=tensor.name)
        self.build.location = _name_loc(tensor.name)
        node = Node(proto, len(self.model.graph.node), self.model.opsets.get("", 1), [None], self.build, self.model)
        reason = f"initializer '{tensor.name}' has element type {type_name(tensor.data_type)}"
        [value] = self.host.call(node, [], [tensor], reason, None)
        assert value is not None
        return value

    def _clean(self) -> None:
        """Remove what attempts that were given up have left."""
        block = self.build.block
        drop_strays([*block.args, *(result for op in block.ops for result in op.results)], block)

    def _made(self, node: Node) -> Sequence[SSAValue | None]:
        """The outputs of a node: by its import function, else by the standard's definition of its operator.

        Outputs that nothing uses may be missing.
        """
        custom = REGISTRY.get((_domain(node.proto), node.proto.op_type))
        function = lookup(_domain(node.proto), node.proto.op_type, node.opset)
        if custom is not None and custom.decompose is not None:
            function = custom.decompose
        check_node(node)
        if function is None:
            body = definition(node)
            if body is None and custom is not None:
                raise Refusal("it is registered with a numpy implementation alone")
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
            inner.scope = Scope(self._made, self._settled, values.get, opsets)
            try:
                results = self._settled(self._made(inner))
            except Refusal as refusal:
                kind = node.proto.op_type
                raise Refusal(f"the definition of {kind} needs {proto.op_type}: {refusal.rule}", refusal.hint) from None
            values.update((n, v) for n, v in zip(proto.output, results, strict=False) if n and v is not None)
        return [values.get(name) for name in body.output]

    def _refuse(self, node: Node, why: tuple[str, str | None]) -> None:
        """Note a node for the report; its outputs get the types that ONNX infers, so that later nodes are seen too."""
        self.report.add(node, *why)
        self.placements.append(placement(node, (), "nowhere", *why))
        for name in node.proto.output:
            if name:
                value = self.placeholders.value(name)
                if value is None:
                    self.lost.add(name)
                else:
                    self.values[name] = value

    def _misfit(self, node: Node, error: VerifyException) -> NoReturn:
        """An operator that does not take these operands: an element type gecc lacks, or shapes that contradict."""
        message = str(error)
        if "element type" in message:
            raise Refusal(message) from error
        problem: type[GeccError] = ShapeError if self.input_shapes else InvalidModelError
        given = "; ".join(f"{k}: {list(v)}" for k, v in self.input_shapes.items())
        raise problem(
            f"{message}; inputs are {node.spell_inputs()}",
            where=f"{node.where} of {self.model.name}",
            hint=f"the input shapes given are {given}" if given else None,
        ) from error


def _object_type(info: ValueInfoProto) -> ge.ObjectType | None:
    """The type of an input that is no tensor of a native element type."""
    if info.type.HasField("tensor_type") and element_of(info.type.tensor_type.elem_type) is not None:
        return None
    text = spelled(info.type)
    return None if text is None else ge.ObjectType(text)


def _of_what(value: SSAValue) -> str:
    """Why a value is an object, for messages."""
    text = value.type.spelled.data if isinstance(value.type, ge.ObjectType) else ""
    native = {f"tensor({type_name(number).lower()})" for number in (*NUMPY_DTYPES, *NARROW)}
    return ", whose shape depends on data" if text in native else ""


def _is_unheard_of(node: Node) -> bool:
    """Whether a node claims to be of the standard, which has no such operator, and nobody registered it."""
    proto = node.proto
    known = onnx.defs.has(proto.op_type, node.opset) or ("", proto.op_type) in REGISTRY
    return _domain(proto) == "" and not known


def _unknown(node: Node) -> tuple[str, str | None]:
    if _is_unheard_of(node):
        return (
            f"the ONNX standard has no operator {node.proto.op_type} at opset {node.opset}",
            "operators of one's own are registered with @gecc.custom_op, also where the om is loaded",
        )
    domain = node.proto.domain or "ai.onnx"
    return f"operator {domain}::{node.proto.op_type} of opset {node.opset} is not supported", None


def _domain(proto: NodeProto) -> str:
    return "" if proto.domain == "ai.onnx" else proto.domain


def _name_loc(name: str) -> NameLoc:
    return NameLoc(StringAttr(name), NoneAttr())
