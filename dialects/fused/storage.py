"""Operations that launch no kernel: constants and views."""

from __future__ import annotations

from math import prod
from typing import Self

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import AnyOf, BaseAttr, IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gecc.dialects.fused.base import check_static
from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.const import ConstValue, const_type, print_value


@irdl_op_definition
class ConstOp(IRDLOperation):
    """A constant: `fused.const dense<[1.0, 2.0]> : tensor<2xf32>`, or `#ge.weight` for bytes in the weight store.

    The type of the value is the type of the result.
    """

    name = "fused.const"
    value = prop_def(AnyOf((BaseAttr(DenseIntOrFPElementsAttr), BaseAttr(WeightAttr))))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, value: ConstValue) -> None:
        super().__init__(result_types=[const_type(value)], properties={"value": value})

    def verify_(self) -> None:
        check_static(self)
        found = const_type(self.value)
        if found != self.result.type:
            raise VerifyException(f"fused.const: value has type {found}, result {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr | WeightAttr):
            parser.raise_error(f"found {value}, expected a dense or #ge.weight attribute")
        op = cls(value)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_value(self.value, printer)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same bytes under another type: `fused.view %x : tensor<2x6xf32> -> tensor<3x4xf32>`.

    The elements of the result in its physical order are those of the operand in its physical order. Between
    row-major types this is a reshape; to or from another layout it is a re-indexing that moves nothing.
    """

    name = "fused.view"
    x = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, result_type: TensorType) -> None:
        super().__init__(operands=[x], result_types=[result_type])

    def verify_(self) -> None:
        check_static(self)
        assert isa(self.x.type, TensorType)
        assert isa(self.result.type, TensorType)
        if self.x.type.element_type != self.result.type.element_type:
            raise VerifyException(
                f"fused.view: operand holds {self.x.type.element_type}, result {self.result.type.element_type}"
            )
        before, after = prod(self.x.type.get_shape()), prod(self.result.type.get_shape())
        if before != after:
            raise VerifyException(
                f"fused.view: operand {self.x.type} has {before} elements, result {self.result.type} has {after}"
            )
