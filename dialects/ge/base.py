"""The base of all ge operators: constructors that infer, one syntax, one verifier.

Every operator prints as

    %y = ge.Conv2D(%x, %w, %b) strides [2, 2] group 4 : (tensor<..>, tensor<..>, tensor<..>) -> tensor<..>

operands in order (an absent optional one before a present one is `none`), then properties that differ from their
default, in order of declaration, then attributes in braces, then types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, NoneAttr, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OptOperandDef,
    VarOperandDef,
    irdl_op_definition,
    traits_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.props import Kind, bool_attr, float_attr, int_attr, ints_attr
from gecc.dialects.ge.types import AnyTensor, agree, shape_of

Value: TypeAlias = SSAValue | Operation
Prop: TypeAlias = Attribute | bool | int | float | str | Sequence[int] | None
_OpT = TypeVar("_OpT", bound="GeOp")

OPS: list[type[GeOp]] = []
"""Every operator of the dialect, in order of definition."""


def ge_op(cls: type[_OpT]) -> type[_OpT]:
    """Class decorator: make `ge.<class name>` a registered operator."""
    cls.name = f"ge.{cls.__name__}"
    defined = irdl_op_definition(cls)
    OPS.append(defined)
    return defined


class GeOp(IRDLOperation):
    """An operator on ranked tensors without side effects."""

    traits = traits_def(Pure())

    def infer(self) -> Sequence[AnyTensor]:
        """The result types that follow from operands and properties; an unknown dimension is -1.

        Raises VerifyException when the operands do not fit the operator. Operators whose result type is free
        (Cast, Reshape, Expand, Resize, TransData) check the declared type and return it.
        """
        raise NotImplementedError(f"{self.name} does not define infer")

    def setup(
        self,
        operands: Sequence[Value | Sequence[Value] | None],
        properties: Mapping[str, Prop] | None = None,
        result_types: Sequence[AnyTensor] | None = None,
        *,
        results: int = 1,
    ) -> None:
        """Initialise from python values; result types are inferred when not given."""
        attrs = {name: to_attr(value) for name, value in (properties or {}).items()}
        types: Sequence[Attribute] = result_types or [NoneAttr()] * results
        variadic = bool(self.get_irdl_definition().results) and self._variadic_results()
        super().__init__(operands=operands, result_types=[types] if variadic else types, properties=attrs)
        if result_types is None:
            try:
                inferred = self.infer()
            except VerifyException:
                self.drop_all_references()  # else the operands count a use that came into no block
                raise
            for result, type in zip(self.results, inferred, strict=True):
                result._type = type

    @classmethod
    def _variadic_results(cls) -> bool:
        from xdsl.irdl import VarResultDef

        return any(isinstance(d, VarResultDef) for _, d in cls.get_irdl_definition().results)

    def verify_(self) -> None:
        inferred = self.infer()
        if len(inferred) != len(self.results):
            raise VerifyException(f"has {len(self.results)} results, expected {len(inferred)}")
        for i, (result, expected) in enumerate(zip(self.results, inferred, strict=True)):
            problem = mismatch(result.type, expected)
            if problem:
                which = "result" if len(inferred) == 1 else f"result {i}"
                raise VerifyException(f"{which} has type {result.type}, expected {expected}: {problem}")

    # ---- syntax

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(_trim(self._operand_slots()), lambda v: _print_operand(v, printer))
        printer.print_string(")")
        for name, prop in self.get_irdl_definition().properties.items():
            value = self.properties.get(name)
            if value is None or value == prop.default_value or not isinstance(prop.constr, Kind):
                continue
            printer.print_string(f" {name} ")
            prop.constr.print(value, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        definition = cls.get_irdl_definition()
        slots = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, lambda: _parse_operand(parser))
        kinds = {n: p.constr for n, p in definition.properties.items() if isinstance(p.constr, Kind)}
        properties: dict[str, Attribute] = {}
        while (name := parser.parse_optional_keyword_in(kinds)) is not None:
            if name in properties:
                parser.raise_error(f"property {name} is given twice")
            properties[name] = kinds[name].parse(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        present = [slot for slot in slots if slot is not None]
        operands = parser.resolve_operands(present, type.inputs.data, position)
        cls._add_segments(parser, slots, properties)
        return cls.create(
            operands=operands, result_types=type.outputs.data, properties=properties, attributes=attributes
        )

    @classmethod
    def _add_segments(cls, parser: Parser, slots: Sequence[object], properties: dict[str, Attribute]) -> None:
        definition = cls.get_irdl_definition()
        if not any(isinstance(o, AttrSizedOperandSegments) for o in definition.options):
            if None in slots:
                parser.raise_error(f"{cls.name} takes no `none` operand")
            return
        if len(slots) > len(definition.operands):
            parser.raise_error(f"{cls.name} takes at most {len(definition.operands)} operands, found {len(slots)}")
        sizes = [int(i < len(slots) and slots[i] is not None) for i in range(len(definition.operands))]
        properties[AttrSizedOperandSegments.attribute_name] = DenseArrayBase.from_list(i32, sizes)

    def _operand_slots(self) -> list[SSAValue | None]:
        slots: list[SSAValue | None] = []
        for name, definition in self.get_irdl_definition().operands:
            value = getattr(self, name)
            if isinstance(definition, OptOperandDef):
                slots.append(value)
            elif isinstance(definition, VarOperandDef):
                slots.extend(value)
            else:
                slots.append(value)
        return slots


def mismatch(declared: Attribute, inferred: AnyTensor) -> str | None:
    """Why a declared type contradicts an inferred one, or None. Dimensions conflict only when both are known."""
    if not isinstance(declared, TensorType):
        return "not a ranked tensor"
    if declared.element_type != inferred.element_type:
        return f"element type {declared.element_type} is not {inferred.element_type}"
    if declared.get_num_dims() != inferred.get_num_dims():
        return f"rank {declared.get_num_dims()} is not {inferred.get_num_dims()}"
    if declared.encoding != inferred.encoding:
        names = ["row-major" if isinstance(t.encoding, NoneAttr) else str(t.encoding) for t in (declared, inferred)]
        return f"layout {names[0]} is not {names[1]}"
    for i, (a, b) in enumerate(zip(shape_of(declared), shape_of(inferred), strict=True)):
        if not agree(a, b):
            return f"dimension {i} is {a}, not {b}"
    return None


def to_attr(value: Prop) -> Attribute | None:
    """A python value as the attribute that a property holds."""
    from xdsl.dialects.builtin import StringAttr

    if value is None or isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return bool_attr(value)
    if isinstance(value, int):
        return int_attr(value)
    if isinstance(value, float):
        return float_attr(value)
    if isinstance(value, str):
        return StringAttr(value)
    return ints_attr(value)


def types_of(result_type: AnyTensor | None) -> list[AnyTensor] | None:
    """A single optional result type as the list that `setup` takes."""
    return None if result_type is None else [result_type]


def _trim(slots: list[SSAValue | None]) -> list[SSAValue | None]:
    while slots and slots[-1] is None:
        slots.pop()
    return slots


def _print_operand(value: SSAValue | None, printer: Printer) -> None:
    if value is None:
        printer.print_string("none")
    else:
        printer.print_operand(value)


def _parse_operand(parser: Parser) -> UnresolvedOperand | None:
    if parser.parse_optional_keyword("none"):
        return None
    return parser.parse_unresolved_operand()
