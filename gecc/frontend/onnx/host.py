"""ONNX nodes without a native form as ge.HostOp: their programs, and the types of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.errors import GeccError
from gecc.frontend.onnx.builder import Builder
from gecc.frontend.onnx.kinds import kind_of, spelled, type_of
from gecc.frontend.onnx.model import NUMPY_DTYPES, OnnxModel, type_name
from gecc.frontend.onnx.node import Node, Refusal
from gecc.runtime.custom import REGISTRY
from gecc.runtime.reference import RANDOM, Program
from gecc.weights import numpy_dtype

SMALL = 1024
"""Elements of a constant that shape inference is told at most."""

CLASSICAL = "ai.onnx.ml"
"""The domain of classical models, for many of which ONNX infers no shapes."""

MISJUDGED = frozenset((("", "STFT"),))
"""Operators whose result has another shape than ONNX's inference says: STFT, which is onesided unless told otherwise."""

FOLDED_BYTES = 64 << 20
"""Bytes of results at most that are computed while importing."""


@dataclass(frozen=True)
class Operand:
    """A value that a node reads, by its name in the model."""

    name: str
    value: SSAValue


class HostImporter:
    """Builds host operators. `kinds` holds what is known of objects' types beyond their spelling."""

    def __init__(self, model: OnnxModel, build: Builder) -> None:
        self.model = model
        self.build = build
        self.kinds: dict[SSAValue, TypeProto] = {}
        declared = [*model.graph.value_info, *model.graph.output]
        self.declared = {info.name: info.type for info in declared}

    def call(
        self, node: Node, operands: Sequence[Operand], embedded: Sequence[TensorProto], reason: str, hint: str | None
    ) -> list[SSAValue | None]:
        """The outputs of `node` run on the host, None for those without a name.

        `embedded` are initializers that the node reads and that are no tensors of gecc. A node that only constants
        decide is run now. Raises Refusal when the host cannot run the node either.
        """
        for operand in operands:
            if operand.value in self.build.narrow:
                kind = type_name(self.build.narrow[operand.value])
                raise Refusal(f"{reason}; the host does not take '{operand.name}', which is {kind}", hint)
        names = [name for name in node.proto.output if name]
        program = self._program(node.proto, operands, embedded, names)
        data = program.SerializeToString(deterministic=True)
        try:
            runner = Program(data)
        except GeccError as error:
            raise Refusal(f"{reason}; the host cannot run it: {error.message}", hint or error.hint) from error
        results = self._folded(node, operands, runner, names)
        if results is None:
            results = self._host_op(node, operands, program, runner, names, reason, hint)
        made = iter(results)
        return [next(made) if name else None for name in node.proto.output]

    def _host_op(
        self,
        node: Node,
        operands: Sequence[Operand],
        program: ModelProto,
        runner: Program,
        names: Sequence[str],
        reason: str,
        hint: str | None,
    ) -> list[SSAValue]:
        custom = REGISTRY.get((node.proto.domain, node.proto.op_type))
        misjudged = (node.proto.domain, node.proto.op_type) in MISJUDGED
        kinds = {n: _shapeless(k) if misjudged else k for n, k in self._infer(program, operands).items()}
        kinds.update(self._observed(runner, operands, names, kinds, node.proto.domain == CLASSICAL))
        if custom is not None and custom.infer is not None:
            kinds.update(zip(names, self._told(node, custom.infer, operands), strict=True))
        types = [self._result_type(node, name, kinds.get(name), reason) for name in names]
        attributes: dict[str, Attribute] = {"reason": StringAttr(reason)}
        if hint:
            attributes["hint"] = StringAttr(hint)
        weight = self.build.store.add(np.frombuffer(program.SerializeToString(deterministic=True), np.uint8))
        domain = node.proto.domain
        call = ge.HostOp(node.proto.op_type, domain, node.opset, weight, [o.value for o in operands], types, attributes)
        results = list(self.build.add_all(call))
        for name, result in zip(names, results, strict=True):
            if ge.is_object(result) and name in kinds:
                self.kinds[result] = kinds[name]
        return results

    def _observed(
        self,
        runner: Program,
        operands: Sequence[Operand],
        names: Sequence[str],
        kinds: dict[str, TypeProto],
        classical: bool,
    ) -> dict[str, TypeProto]:
        """Types that inference leaves open, from a run on zeros; shapes of classical models alone, which depend on no
        value. Nothing for outputs that are no tensors, or have another element type than was inferred.
        """

        def is_open(name: str) -> bool:
            kind = kinds.get(name, TypeProto())
            known = type_of(kind)
            return (
                isinstance(known, ge.ObjectType) and kind.HasField("tensor_type") if classical and known else not known
            )

        missing = [name for name in names if is_open(name)]
        if not missing or any(ge.is_object(o.value) for o in operands):
            return {}
        try:
            results = runner.run([np.zeros(ge.dims(o.value), numpy_dtype(ge.elem(o.value))) for o in operands])
        except GeccError:
            return {}
        numbers = {dtype: number for number, dtype in NUMPY_DTYPES.items()}
        found: dict[str, TypeProto] = {}
        for name, result in zip(names, results, strict=True):
            element = kinds.get(name, TypeProto()).tensor_type.elem_type
            number = numbers.get(result.dtype) if isinstance(result, np.ndarray) else None
            if name in missing and number is not None and element in (number, TensorProto.UNDEFINED):
                found[name] = onnx.helper.make_tensor_type_proto(number, result.shape if classical else None)
        return found

    def _told(self, node: Node, infer: Callable[..., Any], operands: Sequence[Operand]) -> list[TypeProto]:
        """The types of the outputs of an operator of the user's, by its own word."""
        by_name = {o.name: o.value for o in operands}
        values = [by_name.get(name) for name in node.proto.input]
        attributes = {a.name: _plain(a) for a in node.proto.attribute}
        found = infer(*(None if v is None else _dtype_and_shape(v) for v in values), **attributes)
        made = list(found) if isinstance(found, list) else [found]
        count = sum(1 for name in node.proto.output if name)
        if len(made) != count:
            raise Refusal(f"its function infer tells {len(made)} types, the node has {count} outputs")
        try:
            return [
                onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
                for dtype, shape in made
            ]
        except (TypeError, ValueError, KeyError) as error:
            raise Refusal(f"its function infer tells {made}, expected pairs of a dtype and a shape: {error}") from error

    def _result_type(self, node: Node, name: str, kind: TypeProto | None, reason: str) -> Attribute:
        """The type of a result: as inferred; what inference cannot say at all is as the model declares."""
        found = TypeProto() if kind is None else kind
        declared = self.declared.get(name, TypeProto())
        if spelled(found) is None or (found.HasField("tensor_type") and not found.tensor_type.HasField("shape")):
            found = declared if spelled(declared) is not None else found
        result = type_of(found)
        key = (node.proto.domain, node.proto.op_type)
        if result is None:
            hint = "give the operator a function infer" if key in REGISTRY else None
            raise Refusal(f"{reason}; and ONNX's inference does not tell the type of output '{name}'", hint)
        return result

    def _program(
        self, proto: NodeProto, operands: Sequence[Operand], embedded: Sequence[TensorProto], names: Sequence[str]
    ) -> ModelProto:
        node = NodeProto()
        node.CopyFrom(proto)
        node.doc_string = ""
        self._bring_in(node)
        inputs = [ValueInfoProto(name=o.name, type=self._kind(o.value)) for o in operands]
        outputs = [ValueInfoProto(name=name) for name in names]
        graph = onnx.helper.make_graph([node], proto.name or proto.op_type, inputs, outputs, initializer=embedded)
        opsets = [onnx.helper.make_opsetid(d, v) for d, v in sorted(self.model.opsets.items())]
        return onnx.helper.make_model(
            graph,
            opset_imports=opsets,
            functions=list(self.model.proto.functions),
            ir_version=self.model.proto.ir_version,
            producer_name="gecc",
        )

    def _kind(self, value: SSAValue) -> TypeProto:
        return self.kinds[value] if value in self.kinds else kind_of(value)

    def _bring_in(self, node: NodeProto) -> None:
        """Tensors of the node whose data lies in other files come into the program."""
        for tensor in _tensors(node):
            if tensor.data_location == TensorProto.EXTERNAL:
                tensor.CopyFrom(onnx.numpy_helper.from_array(self.model.array(tensor), tensor.name))

    def _infer(self, program: ModelProto, operands: Sequence[Operand]) -> dict[str, TypeProto]:
        """Types of the program's outputs by name, as far as ONNX's shape inference tells them."""
        probe = ModelProto()
        probe.CopyFrom(program)
        for operand in operands:
            array = self.build.constant(operand.value) if not ge.is_object(operand.value) else None
            if array is not None and array.size <= SMALL:
                probe.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), operand.name))
        try:
            found = onnx.shape_inference.infer_shapes(probe, data_prop=True)
        except (onnx.shape_inference.InferenceError, ValueError):  # a model may be beyond ONNX's own inference
            return {}
        return {info.name: info.type for info in found.graph.output if info.HasField("type")}

    def _folded(
        self, node: Node, operands: Sequence[Operand], runner: Program, names: Sequence[str]
    ) -> list[SSAValue] | None:
        """The outputs as constants, when all operands are and chance has no part; None otherwise."""
        if is_random(node.proto):
            return None
        arrays = [None if ge.is_object(o.value) else self.build.constant(o.value) for o in operands]
        if any(array is None for array in arrays):
            return None
        given = [np.asarray(a, numpy_dtype(ge.elem(o.value))) for a, o in zip(arrays, operands, strict=True)]
        try:
            results = runner.run(given)
        except GeccError:
            return None  # it shall fail where the model runs
        native = set(NUMPY_DTYPES.values())
        if not all(isinstance(r, np.ndarray | np.generic) and r.dtype in native for r in results):
            return None
        if sum(r.nbytes for r in results) > FOLDED_BYTES:
            return None
        return [self.build.const(np.asarray(r)) for r in results]


def _plain(attribute: AttributeProto) -> Any:
    """The value of an attribute, strings as such."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [item.decode() for item in value]
    return value


def _dtype_and_shape(value: SSAValue) -> tuple[Any, tuple[int, ...] | None]:
    """(dtype, shape) of a tensor; of an object its type as ONNX spells it, and None."""
    if isinstance(value.type, ge.ObjectType):
        return value.type.spelled.data, None
    return numpy_dtype(ge.elem(value)), ge.dims(value)


def _shapeless(kind: TypeProto) -> TypeProto:
    """A tensor type with nothing said of its shape but the rank."""
    result = TypeProto()
    result.CopyFrom(kind)
    for dim in result.tensor_type.shape.dim:
        dim.Clear()
    return result


def is_random(proto: NodeProto) -> bool:
    """Whether a node, or one in its subgraphs, draws random numbers."""
    if proto.op_type in RANDOM:
        return True
    return any(is_random(inner) for graph in _subgraphs(proto) for inner in graph.node)


def outer_names(proto: NodeProto) -> list[str]:
    """Names that a node reads, once each: its inputs, then what its subgraphs take from outside."""
    found = {name: None for name in proto.input if name}
    for graph in _subgraphs(proto):
        found.update(dict.fromkeys(_free(graph)))
    return list(found)


def _free(graph: GraphProto) -> list[str]:
    own = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    own |= {t.values.name for t in graph.sparse_initializer}
    found: list[str] = []
    for node in graph.node:
        found += [name for name in outer_names(node) if name not in own]
        own.update(node.output)
    return found + [o.name for o in graph.output if o.name not in own]


def _subgraphs(proto: NodeProto) -> list[GraphProto]:
    found: list[GraphProto] = []
    for attribute in proto.attribute:
        found += [attribute.g] if attribute.type == AttributeProto.GRAPH else []
        found += attribute.graphs
    return found


def _tensors(proto: NodeProto) -> list[TensorProto]:
    found: list[TensorProto] = []
    for attribute in proto.attribute:
        found += [attribute.t] if attribute.HasField("t") else []
        found += attribute.tensors
    for graph in _subgraphs(proto):
        found += graph.initializer
        for inner in graph.node:
            found += _tensors(inner)
    return found


__all__ = ["HostImporter", "Operand", "is_random", "outer_names"]
