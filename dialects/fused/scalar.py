"""Operations that only live inside scalar regions: load, check_index, yield."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, Signedness, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def _loaded(element: Attribute) -> Attribute:
    if isinstance(element, IntegerType) and element.signedness.data != Signedness.SIGNLESS:
        return IntegerType(element.width.data)
    return element


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read one element of a tensor argument: `%v = fused.load %t[%i, %j] : tensor<4x8xf32>`.

    Indices are logical, one for each dimension, and must lie within the shape: a value that may not is passed through
    `fused.check_index` or clamped first. Unsigned elements arrive signless.
    """

    name = "fused.load"
    source = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, indices: Sequence[SSAValue | Operation]) -> None:
        assert isa(source.type, TensorType)
        super().__init__(operands=[source, indices], result_types=[_loaded(source.type.get_element_type())])

    def verify_(self) -> None:
        assert isa(self.source.type, TensorType)
        rank = self.source.type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"fused.load: {len(self.indices)} indices for {self.source.type}, expected {rank}")
        want = _loaded(self.source.type.get_element_type())
        if self.result.type != want:
            raise VerifyException(f"fused.load: result has type {self.result.type}, expected {want}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType()))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        source_type = parser.parse_type()
        if not isa(source_type, TensorType):
            parser.raise_error(f"fused.load: expected a tensor type, found {source_type}", pos)
        op = cls(parser.resolve_operand(source, source_type), indices)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)


@irdl_op_definition
class CheckIndexOp(IRDLOperation):
    """An index that comes from data: `%j = fused.check_index %i, 30`.

    The result is the operand when `0 <= operand < bound`. Otherwise the run fails: a kernel sets the control block's
    error word and goes on with 0, so that memory stays safe; the interpreter raises `KernelError`. It is evaluated at
    every point of the domain, whichever side an `arith.select` takes.
    """

    name = "fused.check_index"
    index = operand_def(IndexType)
    bound = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    assembly_format = "$index `,` $bound attr-dict"

    def __init__(self, index: SSAValue | Operation, bound: int) -> None:
        super().__init__(operands=[index], result_types=[IndexType()], properties={"bound": IntegerAttr(bound, i64)})

    def verify_(self) -> None:
        if self.bound.value.data < 0:
            raise VerifyException(f"fused.check_index: bound is {self.bound.value.data}, expected at least 0")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a scalar region with its value: `fused.yield %v : f32`."""

    name = "fused.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[values])
