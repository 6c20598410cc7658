"""Attributes of the om dialect: places in memory, and the values that a container's attributes can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    Float32Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import base, irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gecc.om.records import AttrValue, HostObject, HostTensor, HostValue, IoDesc, Operand, Space

Text = base(StringAttr) | base(BytesAttr)
"""A string. xDSL's own parser reads a literal with other than ASCII characters as bytes, so these do as well (UTF-8)."""


def text_of(attr: Attribute) -> str:
    """The string that a `Text` attribute holds. Raises VerifyException for another attribute or bytes not UTF-8."""
    if isinstance(attr, StringAttr):
        return attr.data
    if not isinstance(attr, BytesAttr):
        raise VerifyException(f"expected a string, found {attr}")
    try:
        return attr.data.decode()
    except UnicodeDecodeError as e:
        raise VerifyException(f"expected a string in UTF-8, found {attr}: {e.reason} at byte {e.start}") from None


@irdl_attr_definition
class MemAttr(ParametrizedAttribute):
    """`#om.mem<arena, 64, 32>` or `#om.mem<input 0, 0, 32>`: the bytes at an offset of a space; offset, then size."""

    name = "om.mem"

    space: StringAttr
    index: IntAttr
    offset: IntAttr
    size: IntAttr

    @staticmethod
    def of(operand: Operand) -> MemAttr:
        """The attribute for a record."""
        return MemAttr(
            StringAttr(operand.space.name.lower()),
            IntAttr(operand.index),
            IntAttr(operand.offset),
            IntAttr(operand.size),
        )

    @property
    def operand(self) -> Operand:
        """The record for this attribute."""
        return Operand(Space[self.space.data.upper()], self.offset.data, self.size.data, self.index.data)

    def verify(self) -> None:
        names = [space.name.lower() for space in Space]
        if self.space.data not in names:
            raise VerifyException(f"space is '{self.space.data}', expected one of {', '.join(names)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            space = parser.parse_identifier()
            index = parser.parse_optional_integer(allow_boolean=False, allow_negative=False) or 0
            parser.parse_punctuation(",")
            offset = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            size = parser.parse_integer(allow_boolean=False)
        return [StringAttr(space), IntAttr(index), IntAttr(offset), IntAttr(size)]

    def print_parameters(self, printer: Printer) -> None:
        indexed = self.space.data in ("input", "output") or self.index.data
        index = f" {self.index.data}" if indexed else ""
        printer.print_string(f"<{self.space.data}{index}, {self.offset.data}, {self.size.data}>")


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """`!om.object<"seq(tensor(float))">`: a Python object of this ONNX type."""

    name = "om.object"

    type: StringAttr


@irdl_attr_definition
class HostTensorAttr(ParametrizedAttribute):
    """`#om.tensor<#om.mem<arena, 0, 32>, "f32", array<i64: 8>>`: an argument of a host call in planned memory."""

    name = "om.tensor"

    place: MemAttr
    dtype: StringAttr
    shape: DenseArrayBase[IntegerType]

    @property
    def value(self) -> HostTensor:
        """The record for this attribute."""
        return HostTensor(self.place.operand, self.dtype.data, ints_of(self.shape))


@irdl_attr_definition
class ObjectAttr(ParametrizedAttribute):
    """`#om.slot<0, "tensor(string)">`: an argument of a host call that is the object in this slot."""

    name = "om.slot"

    slot: IntAttr
    type: StringAttr

    @property
    def value(self) -> HostObject:
        """The record for this attribute."""
        return HostObject(self.slot.data, self.type.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            slot = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            return [IntAttr(slot), StringAttr(parser.parse_str_literal())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.slot.data}, ")
            printer.print_string_literal(self.type.data)


@irdl_attr_definition
class SlotAttr(ParametrizedAttribute):
    """`#om.io<0, array<i64: -1, 3>>`: a graph input or output in a slot, with what is known of its extents."""

    name = "om.io"

    slot: IntAttr
    shape: DenseArrayBase[IntegerType]

    @staticmethod
    def of(desc: IoDesc) -> SlotAttr | None:
        """The attribute for a record, None for a tensor."""
        return SlotAttr(IntAttr(desc.slot), int_array(desc.shape)) if desc.slot >= 0 else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            slot = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            return [IntAttr(slot), parser.parse_attribute()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.slot.data}, ")
            printer.print_attribute(self.shape)


def host_attr(value: HostValue) -> HostTensorAttr | ObjectAttr:
    """The attribute for a value of a host call."""
    if isinstance(value, HostTensor):
        return HostTensorAttr(MemAttr.of(value.place), StringAttr(value.dtype), int_array(value.shape))
    return ObjectAttr(IntAttr(value.slot), StringAttr(value.type))


def value_attr(value: AttrValue) -> Attribute:
    """The IR's form of an attribute's value; `value_of` is the inverse."""
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f32)
    if isinstance(value, str):
        return StringAttr(value)
    if value and all(isinstance(v, bool) for v in value):
        return DenseArrayBase.from_list(i1, [int(v) for v in value if isinstance(v, bool)])
    if value and all(isinstance(v, int) for v in value):
        return int_array(v for v in value if isinstance(v, int))
    # Not array<f32: ...>: its parser does not take back infinities and NaN.
    return ArrayAttr(value_attr(v) if isinstance(v, float | str) else int_array(_row(v)) for v in value)


def _row(value: object) -> tuple[int, ...]:
    if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
        raise VerifyException(f"a list holds {value!r}, expected floats, strings or rows of ints")
    return value


def value_of(attr: Attribute) -> AttrValue:
    """The value of an attribute. Raises VerifyException for one that the container has no form for."""
    match attr:
        case IntegerAttr(type=IntegerType(width=IntAttr(data=1))):
            return bool(attr.value.data)
        case IntegerAttr(type=IntegerType(width=IntAttr(data=64))):
            return attr.value.data
        case FloatAttr(type=Float32Type()):
            return attr.value.data
        case StringAttr() | BytesAttr():
            return text_of(attr)
        case ArrayAttr():
            return _list_of(attr)
    if isa(attr, DenseArrayBase[IntegerType]) and attr.elt_type == i64:
        return ints_of(attr)
    if isa(attr, DenseArrayBase[IntegerType]) and attr.elt_type == i1:
        return tuple(bool(v) for v in attr.get_values())
    raise VerifyException(f"{attr} has no form in the container: expected i1, i64, f32, a string, or an array of them")


def _list_of(attr: ArrayAttr) -> AttrValue:
    values = [value_of(v) for v in attr]
    if all(isinstance(v, str) for v in values):
        return tuple(v for v in values if isinstance(v, str))
    if all(isinstance(v, float) for v in values):
        return tuple(v for v in values if isinstance(v, float))
    rows = tuple(ints_of(v) for v in attr if isa(v, DenseArrayBase[IntegerType]) and v.elt_type == i64)
    if len(rows) != len(values):
        raise VerifyException(f"{attr} is an array of mixed values, expected strings, f32, or arrays of i64")
    return rows


def int_array(values: Iterable[int]) -> DenseArrayBase[IntegerType]:
    """An array<i64: ...> attribute."""
    return DenseArrayBase.from_list(i64, list(values))


def ints_of(attr: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The values of an array<i64: ...> attribute."""
    return tuple(int(v) for v in attr.get_values())


def dictionary(values: Mapping[str, AttrValue]) -> DictionaryAttr | None:
    """A dictionary ordered by name, or None when there is nothing in it."""
    return DictionaryAttr({name: value_attr(values[name]) for name in sorted(values)}) if values else None


def dictionary_of(attr: DictionaryAttr | None) -> dict[str, AttrValue]:
    """The values of a dictionary."""
    return {name: value_of(value) for name, value in attr.data.items()} if attr is not None else {}
