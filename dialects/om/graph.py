"""The graph's side of an om: interface, constants, and the nodes that people see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.om.attrs import (
    MemAttr,
    ObjectType,
    SlotAttr,
    Text,
    dictionary,
    dictionary_of,
    int_array,
    ints_of,
    text_of,
)
from gecc.om.records import GraphNode, IoDesc, TensorDesc, WeightEntry, is_object
from gecc.weights.attribute import WeightAttr
from gecc.weights.dtypes import item_bytes

ELEMENTS: dict[str, Attribute] = {
    str(t): t
    for t in (
        *(f32, f64, f16, bf16, i1, i8, i16, i32, i64),
        *(IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)),
    )
}
"""Element types by their spelling, which is that of the records."""


_Rows: TypeAlias = ArrayAttr[DenseArrayBase[IntegerType]]

VALUE = base(TensorType) | base(ObjectType)
"""Types of values: tensors of numbers, and objects of the host engine."""


def value_type(dtype: str, shape: Sequence[int]) -> TensorType | ObjectType:
    """The type of a record: a tensor, or an object with what is known of its shape."""
    if is_object(dtype):
        return ObjectType(StringAttr(dtype))
    return tensor(dtype, shape)


def tensor(dtype: str, shape: Sequence[int]) -> TensorType:
    """The tensor type of a record, where an unknown extent is -1."""
    return TensorType(ELEMENTS[dtype], [DYNAMIC_INDEX if extent == -1 else extent for extent in shape])


def _dtype(type: Attribute, op: str) -> tuple[str, tuple[int, ...]]:
    if isinstance(type, ObjectType):
        return type.type.data, ()
    if not isinstance(type, TensorType) or str(type.element_type) not in ELEMENTS:
        raise VerifyException(f"{op}: {type} is no tensor of {', '.join(ELEMENTS)}")
    return str(type.element_type), tuple(-1 if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())


def _io(name: str, kind: tuple[str, tuple[int, ...]], place: SlotAttr | None, gears: _Rows | None) -> IoDesc:
    dtype, shape = kind
    shapes = tuple(ints_of(row) for row in gears) if gears is not None else ()
    if place is None:
        return IoDesc(name, dtype, shape, shapes=shapes)
    return IoDesc(name, dtype, ints_of(place.shape), None, place.slot.data)


def _shapes(desc: IoDesc) -> _Rows | None:
    """The shapes of a record in the gears; None without gears."""
    return ArrayAttr(int_array(shape) for shape in desc.shapes) if desc.shapes else None


@irdl_op_definition
class InputOp(IRDLOperation):
    """The next graph input, by its ONNX name; `gears` are its shapes in the gears of the model, if it has such."""

    name = "om.input"
    label = prop_def(Text)
    object = opt_prop_def(SlotAttr)
    gears = opt_prop_def(ArrayAttr.constr(DenseArrayBase.constr(i64)))
    result = result_def(VALUE)
    assembly_format = "$label (`object` $object^)? (`gears` $gears^)? attr-dict `:` type($result)"

    def __init__(self, desc: IoDesc) -> None:
        super().__init__(
            properties={"label": StringAttr(desc.name), "object": SlotAttr.of(desc), "gears": _shapes(desc)},
            result_types=[value_type(desc.dtype, desc.shape)],
        )

    @property
    def record(self) -> IoDesc:
        """What the container says of it."""
        return _io(text_of(self.label), _dtype(self.result.type, self.name), self.object, self.gears)


@irdl_op_definition
class OutputOp(IRDLOperation):
    """The next graph output, by its ONNX name: which value it is, if a node of the graph makes it, and its type."""

    name = "om.output"
    label = prop_def(Text)
    object = opt_prop_def(SlotAttr)
    gears = opt_prop_def(ArrayAttr.constr(DenseArrayBase.constr(i64)))
    type = prop_def(VALUE)
    value = var_operand_def(VALUE)
    assembly_format = (
        "$label (`object` $object^)? (`gears` $gears^)? `:` $type attr-dict (`=` $value^ `:` type($value))?"
    )

    def __init__(self, desc: IoDesc, value: SSAValue | None) -> None:
        super().__init__(
            operands=[[] if value is None else [value]],
            properties={
                "label": StringAttr(desc.name),
                "object": SlotAttr.of(desc),
                "gears": _shapes(desc),
                "type": value_type(desc.dtype, desc.shape),
            },
        )

    def verify_(self) -> None:
        if len(self.value) > 1:
            raise VerifyException(f"om.output {self.label}: has {len(self.value)} values, expected at most 1")

    @property
    def record(self) -> IoDesc:
        """What the container says of it, without its source."""
        return _io(text_of(self.label), _dtype(self.type, self.name), self.object, self.gears)


@irdl_op_definition
class WeightOp(IRDLOperation):
    """A constant and its place in WEIGHTS_DATA: bytes by digest (or dense), offset, name of their layout."""

    name = "om.weight"
    label = prop_def(Text)
    offset = prop_def(IntegerAttr.constr(type=i64))
    layout = prop_def(Text)
    value = prop_def(base(WeightAttr) | base(DenseIntOrFPElementsAttr))
    result = result_def(base(TensorType))
    assembly_format = "$label `at` $offset $layout $value attr-dict `:` type($result)"

    def __init__(
        self, label: str, offset: int, value: WeightAttr | DenseIntOrFPElementsAttr, layout: str = "ND"
    ) -> None:
        super().__init__(
            properties={
                "label": StringAttr(label),
                "offset": IntegerAttr(offset, i64),
                "layout": StringAttr(layout),
                "value": value,
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        if self.value.type != self.result.type:
            raise VerifyException(f"om.weight {self.label}: result is {self.result.type}, the value {self.value.type}")

    @property
    def record(self) -> WeightEntry:
        """What the container says of it."""
        dtype, shape = _dtype(self.result.type, self.name)
        size = item_bytes(ELEMENTS[dtype])
        for extent in shape:
            size *= extent
        return WeightEntry(text_of(self.label), self.offset.value.data, size, dtype, shape, text_of(self.layout))


@irdl_op_definition
class NodeOp(IRDLOperation):
    """A node of the optimised graph: operator, name, and the names of the ONNX nodes in it.

    `absent` lists the positions of optional inputs that are not there. `layouts` and `places` say, per result, the layout
    of its bytes and where they lie (`unit`: nowhere of its own); left out when all are "ND" or without place.
    """

    name = "om.node"
    type = prop_def(Text)
    label = prop_def(Text)
    inputs = var_operand_def(VALUE)
    absent = opt_prop_def(DenseArrayBase.constr(i64))
    onnx = prop_def(ArrayAttr.constr(Text))
    layouts = opt_prop_def(ArrayAttr.constr(Text))
    places = opt_prop_def(ArrayAttr.constr(base(MemAttr) | base(UnitAttr)))
    values = opt_prop_def(DictionaryAttr)
    results_ = var_result_def(VALUE)
    assembly_format = (
        "$type $label `(` ($inputs^ `:` type($inputs))? `)` (`absent` $absent^)? `onnx` $onnx (`layouts` $layouts^)?"
        " (`places` $places^)? (`values` $values^)? attr-dict (`->` type($results_)^)?"
    )

    def __init__(self, node: GraphNode, inputs: Sequence[SSAValue | None]) -> None:
        absent = [i for i, value in enumerate(inputs) if value is None]
        layouts = [desc.layout for desc in node.outputs]
        places = [desc.place for desc in node.outputs]
        super().__init__(
            operands=[[value for value in inputs if value is not None]],
            result_types=[[value_type(desc.dtype, desc.shape) for desc in node.outputs]],
            properties={
                "type": StringAttr(node.type),
                "label": StringAttr(node.name),
                "absent": int_array(absent) if absent else None,
                "onnx": ArrayAttr(StringAttr(name) for name in node.onnx_names),
                "layouts": None if all(x == "ND" for x in layouts) else ArrayAttr(StringAttr(x) for x in layouts),
                "places": None
                if all(p is None for p in places)
                else ArrayAttr(UnitAttr() if p is None else MemAttr.of(p) for p in places),
                "values": dictionary(node.attrs),
            },
        )

    def verify_(self) -> None:
        for what, given in (("layouts", self.layouts), ("places", self.places)):
            if given is not None and len(given) != len(self.results_):
                raise VerifyException(f"{self._who}: has {len(given)} {what} for {len(self.results_)} results")
        absent = ints_of(self.absent) if self.absent is not None else ()
        total = len(self.inputs) + len(absent)
        if sorted(set(absent)) != list(absent) or any(not 0 <= i < total for i in absent):
            raise VerifyException(f"{self._who}: absent is {list(absent)}, expected ascending positions below {total}")

    @property
    def _who(self) -> str:
        return f"om.node {self.type} {self.label}"

    @property
    def positions(self) -> list[SSAValue | None]:
        """The inputs with None for the absent ones."""
        absent = ints_of(self.absent) if self.absent is not None else ()
        present = iter(self.inputs)
        return [None if i in absent else next(present) for i in range(len(self.inputs) + len(absent))]

    @property
    def record(self) -> GraphNode:
        """What the container says of it, without its inputs."""
        outputs: list[TensorDesc] = []
        for i, value in enumerate(self.results_):
            layout = text_of(self.layouts.data[i]) if self.layouts is not None else "ND"
            place = self.places.data[i] if self.places is not None else None
            operand = place.operand if isinstance(place, MemAttr) else None
            outputs.append(TensorDesc(*_dtype(value.type, self._who), layout, operand))
        return GraphNode(
            text_of(self.label),
            text_of(self.type),
            (),
            tuple(outputs),
            tuple(text_of(name) for name in self.onnx),
            dictionary_of(self.values),
        )
