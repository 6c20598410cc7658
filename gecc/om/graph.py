"""MODEL_DEF: the graph and the model's figures <-> ge.proto.ModelDef.

The root graph holds, in this order, one `Data` op per input, one `Const` op per weight, the nodes, and `NetOutput`; an op's
id is its place there. Op names must be unique in the format, so a name met before is suffixed and the true one kept in the
attribute `gecc_name`. An input's description is a copy of its producer's, as viewers demand.
"""

from __future__ import annotations

from collections.abc import Mapping

from gecc.errors import OmError
from gecc.om.attributes import decode_attrs, encode_attr, encode_attrs, int_list, required, row_list, text_list
from gecc.om.gears import gear_count, gears_info
from gecc.om.records import (
    RESERVED_TYPES,
    SCHEMA_OF_BONDS,
    SCHEMA_OF_GEARS,
    SCHEMA_OF_PAIRS,
    AttrValue,
    GraphNode,
    IoDesc,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    TensorDesc,
    WeightEntry,
    is_object,
)
from gecc.om.schema import DATA_TYPE, DATA_TYPE_NAME, OBJECT_TYPE, STRING_TYPE, Message, ModelDef

DATA, CONST, NET_OUTPUT = RESERVED_TYPES

NAME = "gecc_name"
ONNX_NAMES = "_datadump_original_op_names"
NODE_ATTRS = (NAME, ONNX_NAMES)
OUTPUT_NAMES = "gecc_output_names"
SPACE, INDEX = "gecc_space", "gecc_index"
ONNX_TYPE = "gecc_onnx_type"
"""Of a value that is a Python object: its type."""
SLOT = "gecc_slot"
"""Of a graph input that is an object: its slot. Those of the outputs stand in `OUTPUT_SLOTS` of NetOutput."""
OUTPUT_SLOTS = "gecc_output_slots"
SLOTS = "gecc_slots"
GEAR_INPUTS, GEAR_OUTPUTS = "_all_origin_gears_inputs", "gecc_gear_shapes"
"""Of a graph input, and of the description of a graph output: its shape in each gear."""
ORIGIN_DIMS, GEARS_INFO = "_mbatch_origin_input_dims", "_all_gears_info"
"""Of an input: its shape, -1 where it depends on the gear. Of the model: the sizes of each gear as text. For people."""
EXTERNAL = "gecc_weights_file"
"""Name of the file beside the om that holds the weights; absent when they are in it."""

SCHEMA_ATTR = "gecc_schema"
ABI = "gecc_abi"
SCRATCH = "gecc_scratch_bytes"
DISPATCHER = "gecc_dispatcher"
DIGEST = "gecc_weights_sha256"
ARENA = "memory_size"
WEIGHT_SIZE = "weight_size"
TARGET = "soc_version"
PRODUCER = "atc_version"
COMMAND = "atc_cmdline"
"""A free attribute of the model: the options it was compiled with."""
MODEL_ATTRS = (
    *(SCHEMA_ATTR, ABI, SCRATCH, SLOTS, EXTERNAL, DISPATCHER, DIGEST, ARENA, WEIGHT_SIZE, TARGET, PRODUCER),
    GEARS_INFO,
    *("stream_num", "event_num", "label_num", "zero_copy_memory_size", "om_info_list", "attr_model_out_nodes_name"),
)

_SPACES = tuple(Space)


def weights_file(digest: str) -> str:
    """The name of the file beside an om that holds weights of this digest."""
    return f"{digest[:32]}.weights"


def first_node_id(model: OmModel) -> int:
    """The OpDef.id of node 0; node i has this plus i."""
    return len(model.inputs) + len(model.weights.entries)


# ---------------------------------------------------------------------------------------------------------- encoding


def _unique_names(model: OmModel) -> list[str]:
    """Op names in the order of ids: never empty, never the same twice."""
    wanted = [
        *((d.name, DATA) for d in model.inputs),
        *((w.name, CONST) for w in model.weights.entries),
        *((n.name, n.type) for n in model.nodes),
        (NET_OUTPUT, NET_OUTPUT),
    ]
    taken = {name for name, _ in wanted}  # a suffixed name must not take a later op's own name
    used: set[str] = set()
    names: list[str] = []
    counter: dict[str, int] = {}
    for i, (name, kind) in enumerate(wanted):
        stem = name or f"{kind}_{i}"
        candidate = stem
        while candidate in used or (candidate != name and candidate in taken):
            counter[stem] = counter.get(stem, 0) + 1
            candidate = f"{stem}_{counter[stem]}"
        used.add(candidate)
        names.append(candidate)
    return names


def _describe(
    out: Message, dtype: str, shape: tuple[int, ...], layout: str = "ND", place: Operand | None = None
) -> None:
    if is_object(dtype):
        out.dtype = STRING_TYPE if dtype == "tensor(string)" else OBJECT_TYPE
        out.attr[ONNX_TYPE].s = dtype.encode()
    else:
        out.dtype = DATA_TYPE[dtype]
    out.shape.dim.extend(shape)
    out.shape.SetInParent()  # viewers take an absent shape for "no type"; a scalar's is present and empty
    out.layout = layout
    if place is not None:
        out.size = place.size
        out.data_offset = place.offset
        out.attr[SPACE].i = place.space
        if place.index:
            out.attr[INDEX].i = place.index


def _describe_weight(out: Message, weight: WeightEntry) -> None:
    _describe(out, weight.dtype, weight.shape, weight.layout)
    out.data_offset = weight.offset
    out.weight_size = weight.size


class _Encoder:
    def __init__(self, model: OmModel) -> None:
        self.model = model
        self.names = _unique_names(model)
        self.first_node = first_node_id(model)
        self.proto = ModelDef(name=model.name, version=2)
        self.graph = self.proto.graph.add(name=model.name)
        self.base = {"input": 0, "weight": len(model.inputs), "node": self.first_node}

    def id_of(self, source: Source) -> int:
        return self.base[source.kind] + source.index

    def add(self, kind: str, name: str) -> Message:
        op = self.graph.op.add(id=len(self.graph.op), name=self.names[len(self.graph.op)], type=kind)
        if op.name != name:
            op.attr[NAME].s = name.encode()
        return op

    def connect(self, op: Message, source: Source | None) -> None:
        """Append one input to `op`: its reference, its description, and where constants lie."""
        if source is None:
            op.input.append("")
            op.is_input_const.append(False)
            op.input_desc.add().shape.SetInParent()
            return
        producer = self.graph.op[self.id_of(source)]
        op.input.append(f"{producer.name}:{source.output}")
        op.is_input_const.append(source.kind == "weight")
        desc = op.input_desc.add()
        desc.CopyFrom(producer.output_desc[source.output])
        if source.kind != "weight":
            op.input_i.append(_arena_offset(desc))

    def ops(self) -> None:
        model = self.model
        for i, io in enumerate(model.inputs):
            op = self.add(DATA, io.name)
            op.attr["index"].i = i
            if io.slot >= 0:
                op.attr[SLOT].i = io.slot
            _describe(op.output_desc.add(), io.dtype, io.shape)
            if io.shapes:
                encode_attr(op.attr[GEAR_INPUTS], io.shapes, "shapes in gears")
                encode_attr(op.attr[ORIGIN_DIMS], io.shape, "shape")
            self.graph.input.append(f"{op.name}:0")
        for weight in model.weights.entries:
            op = self.add(CONST, weight.name)
            _describe_weight(op.attr["value"].t.desc, weight)
            _describe_weight(op.output_desc.add(), weight)
        for i, node in enumerate(model.nodes):
            op = self.add(node.type, node.name)
            if node.onnx_names:
                encode_attr(op.attr[ONNX_NAMES], node.onnx_names, f"ONNX names of node {i}")
            encode_attrs(op.attr, node.attrs, NODE_ATTRS, f"node {i} '{node.name}'")
            for source in node.inputs:
                self.connect(op, source)
            for desc in node.outputs:
                _describe(op.output_desc.add(), desc.dtype, desc.shape, desc.layout, desc.place)
                op.output_i.append(_arena_offset(op.output_desc[-1]))
        self.net_output()

    def net_output(self) -> None:
        op = self.add(NET_OUTPUT, NET_OUTPUT)
        exits: list[str] = []
        for io in self.model.outputs:
            self.connect(op, io.source)
            if io.source is None:
                _describe(op.input_desc[-1], io.dtype, io.shape)
            else:
                producer = self.graph.op[self.id_of(io.source)].name
                self.graph.output.append(f"{producer}:{io.source.output}")
                exits.append(f"{producer}:{io.source.output}:{io.name}")
            _describe(op.output_desc.add(), io.dtype, io.shape)
            if io.shapes:
                encode_attr(op.output_desc[-1].attr[GEAR_OUTPUTS], io.shapes, "shapes in gears")
        encode_attr(op.attr[OUTPUT_NAMES], tuple(io.name for io in self.model.outputs), "output names")
        if any(io.slot >= 0 for io in self.model.outputs):
            encode_attr(op.attr[OUTPUT_SLOTS], tuple(io.slot for io in self.model.outputs), "output slots")
        encode_attr(self.proto.attr["attr_model_out_nodes_name"], tuple(exits), "output nodes")


def _arena_offset(desc: Message) -> int:
    return desc.data_offset if SPACE in desc.attr and desc.attr[SPACE].i == Space.ARENA else 0


def schema_of(model: OmModel) -> int:
    """The least encoding that can say what a model is, so that readers of before take what they know."""
    if model.portable:
        return SCHEMA_OF_PAIRS
    return SCHEMA_OF_GEARS if gear_count(model) else SCHEMA_OF_BONDS


def encode_graph(model: OmModel, partition_sizes: tuple[int, ...]) -> Message:
    """ModelDef of a verified model, but for the weights' digest (a placeholder of the same length).

    `partition_sizes` are the bytes of [weights, kernels, custom kernels, tasks].
    """
    encoder = _Encoder(model)
    encoder.ops()
    figures: Mapping[str, bool | int | str | tuple[int, ...]] = {
        SCHEMA_ATTR: schema_of(model),
        ABI: model.abi,
        SCRATCH: model.scratch_bytes,
        SLOTS: model.slots,
        DISPATCHER: model.dispatcher,
        DIGEST: "0" * 64,
        ARENA: model.arena_bytes,
        WEIGHT_SIZE: model.weights.size,
        TARGET: model.target,
        PRODUCER: model.producer,
        "stream_num": 1,
        "event_num": max(0, model.phases - 1),
        "label_num": sum(isinstance(task, LabelTask) for task in model.tasks),
        "zero_copy_memory_size": sum(io.nbytes for io in (*model.inputs, *model.outputs)),
        "om_info_list": partition_sizes,
    }
    for name, value in figures.items():
        encode_attr(encoder.proto.attr[name], value, name)
    if gear_count(model):
        encode_attr(encoder.proto.attr[GEARS_INFO], gears_info(model), "gears")
    encode_attrs(encoder.proto.attr, model.attrs, MODEL_ATTRS, "the model")
    return encoder.proto


# ---------------------------------------------------------------------------------------------------------- decoding


class GraphReader:
    """Reads a ModelDef of our own schema. `where` names file and partition in errors."""

    def __init__(self, proto: Message, where: str) -> None:
        self.proto = proto
        self.where = where
        if len(proto.graph) != 1:
            raise OmError(f"MODEL_DEF has {len(proto.graph)} graphs, expected 1", where=where)
        self.ops = list(proto.graph[0].op)
        if not self.ops or self.ops[-1].type != NET_OUTPUT:
            last = f"'{self.ops[-1].type}'" if self.ops else "no op"
            raise OmError(f"the graph ends in {last}, expected '{NET_OUTPUT}'", where=where)
        kinds = [op.type for op in self.ops]
        self.n_inputs = _run(kinds, DATA, 0)
        self.first_node = self.n_inputs + _run(kinds, CONST, self.n_inputs)
        self.n_nodes = len(kinds) - 1 - self.first_node
        self.ids: dict[str, int] = {}
        for i, op in enumerate(self.ops):
            if op.id != i:
                raise OmError(f"op '{op.name}' has id {op.id}, expected {i}, its place", where=where)
            if op.name in self.ids:
                raise OmError(f"op name '{op.name}' appears at {self.ids[op.name]} and at {i}", where=where)
            if op.type in RESERVED_TYPES and self.first_node <= i < len(kinds) - 1:
                raise OmError(f"op {i} '{op.name}' of type {op.type} stands among the nodes", where=where)
            self.ids[op.name] = i

    def node_of(self, op_id: int) -> int | None:
        """Index of the node with this OpDef.id, or None for another op or none."""
        index = op_id - self.first_node
        return index if 0 <= index < self.n_nodes else None

    def figure_int(self, name: str) -> int:
        """A model attribute that is an int >= 0."""
        value = required(self.proto.attr, name, int, "the model", self.where)
        if value < 0:
            raise OmError(f"attribute '{name}' of the model is {value}, expected at least 0", where=self.where)
        return value

    def figure_text(self, name: str) -> str:
        """A model attribute that is a string."""
        return required(self.proto.attr, name, str, "the model", self.where)

    def _place(self, op: Message) -> str:
        return f"{self.where}, op {op.id} '{op.name}'"

    def _name(self, op: Message) -> str:
        return required(op.attr, NAME, str, "the op", self._place(op)) if NAME in op.attr else op.name

    def _dtype(self, desc: Message, where: str) -> str:
        if ONNX_TYPE in desc.attr:
            found = required(desc.attr, ONNX_TYPE, str, "a value", where)
            expected = STRING_TYPE if found == "tensor(string)" else OBJECT_TYPE
            if not is_object(found) or desc.dtype != expected:
                raise OmError(
                    f"a value has dtype {desc.dtype} and ONNX type '{found}', which do not agree", where=where
                )
            return found
        if desc.dtype not in DATA_TYPE_NAME:
            raise OmError(f"dtype is {desc.dtype}, expected one of {sorted(DATA_TYPE_NAME)}", where=where)
        return DATA_TYPE_NAME[desc.dtype]

    def _only_desc(self, op: Message) -> Message:
        if len(op.output_desc) != 1 or op.input:
            raise OmError(
                f"{op.type} has {len(op.input)} inputs and {len(op.output_desc)} outputs, expected 0 and 1",
                where=self._place(op),
            )
        return op.output_desc[0]

    def inputs(self) -> tuple[IoDesc, ...]:
        """Graph inputs."""
        out: list[IoDesc] = []
        for i, op in enumerate(self.ops[: self.n_inputs]):
            desc = self._only_desc(op)
            index = required(op.attr, "index", int, "the op", self._place(op))
            if index != i:
                raise OmError(f"Data has index {index}, expected {i}", where=self._place(op))
            slot = required(op.attr, SLOT, int, "the op", self._place(op)) if SLOT in op.attr else -1
            dtype = self._dtype(desc, self._place(op))
            shapes = row_list(op.attr, GEAR_INPUTS, "the op", self._place(op))
            out.append(IoDesc(self._name(op), dtype, tuple(desc.shape.dim), None, slot, shapes))
        return tuple(out)

    def weights(self) -> tuple[WeightEntry, ...]:
        """Constants."""
        out: list[WeightEntry] = []
        for op in self.ops[self.n_inputs : self.first_node]:
            place = self._place(op)
            self._only_desc(op)
            if op.attr["value"].WhichOneof("value") != "t":
                raise OmError("Const has no tensor in its attribute 'value'", where=place)
            desc = op.attr["value"].t.desc
            dtype, shape = self._dtype(desc, place), tuple(desc.shape.dim)
            out.append(WeightEntry(self._name(op), desc.data_offset, desc.weight_size, dtype, shape, desc.layout))
        return tuple(out)

    def _source(self, op: Message, i: int, reference: str) -> Source | None:
        if not reference:
            return None
        name, _, number = reference.rpartition(":")
        at = self.ids.get(name)
        if at is None or not number.isdecimal() or not number.isascii():
            raise OmError(
                f"input {i} is '{reference}', expected 'op:number' of an op in the graph", where=self._place(op)
            )
        output = int(number[:9])  # more digits are out of range whatever they say
        if output >= len(self.ops[at].output_desc) or at >= op.id:
            raise OmError(
                f"input {i} is '{reference}', but op {at} has {len(self.ops[at].output_desc)} outputs"
                f" and must come before op {op.id}",
                where=self._place(op),
            )
        if at < self.n_inputs:
            return Source("input", at, output)
        if at < self.first_node:
            return Source("weight", at - self.n_inputs, output)
        return Source("node", at - self.first_node, output)

    def _tensor(self, desc: Message, where: str) -> TensorDesc:
        place = None
        attrs = desc.attr
        if SPACE in attrs:
            space = required(attrs, SPACE, int, "a result", where)
            if not 0 <= space < len(_SPACES):
                raise OmError(f"a result lies in space {space}, expected 0 to {len(_SPACES) - 1}", where=where)
            index = required(attrs, INDEX, int, "a result", where) if INDEX in attrs else 0
            place = Operand(_SPACES[space], desc.data_offset, desc.size, index)
        return TensorDesc(self._dtype(desc, where), tuple(desc.shape.dim), desc.layout, place)

    def nodes(self) -> tuple[GraphNode, ...]:
        """Computing nodes."""
        return tuple(self._node(op) for op in self.ops[self.first_node : -1])

    def _node(self, op: Message) -> GraphNode:
        place = self._place(op)
        return GraphNode(
            self._name(op),
            op.type,
            tuple(self._source(op, i, reference) for i, reference in enumerate(op.input)),
            tuple(self._tensor(desc, place) for desc in op.output_desc),
            text_list(op.attr, ONNX_NAMES, "the op", place),
            decode_attrs(op.attr, NODE_ATTRS, "the op", place),
        )

    def outputs(self) -> tuple[IoDesc, ...]:
        """Graph outputs."""
        op = self.ops[-1]
        place = self._place(op)
        names = text_list(op.attr, OUTPUT_NAMES, "the op", place)
        if not len(names) == len(op.input) == len(op.output_desc):
            raise OmError(
                f"NetOutput has {len(names)} names, {len(op.input)} inputs and {len(op.output_desc)} descriptions,"
                " expected as many of each",
                where=place,
            )
        slots = int_list(op.attr, OUTPUT_SLOTS, "the op", place) if OUTPUT_SLOTS in op.attr else (-1,) * len(names)
        if len(slots) != len(names):
            raise OmError(f"NetOutput has {len(slots)} slots, expected {len(names)}, one an output", where=place)
        return tuple(
            IoDesc(
                name,
                self._dtype(desc, place),
                tuple(desc.shape.dim),
                self._source(op, i, reference),
                slots[i],
                row_list(desc.attr, GEAR_OUTPUTS, "an output", place),
            )
            for i, (name, reference, desc) in enumerate(zip(names, op.input, op.output_desc, strict=True))
        )

    def attrs(self) -> dict[str, AttrValue]:
        """Free attributes of the model."""
        return decode_attrs(self.proto.attr, MODEL_ATTRS, "the model", self.where)


def _run(kinds: list[str], kind: str, start: int) -> int:
    """How many of `kinds` from `start` on are `kind`, without a break."""
    end = start
    while end < len(kinds) and kinds[end] == kind:
        end += 1
    return end - start
