"""Values in the custom syntax of operations."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


def print_argument(printer: Printer, arg: BlockArgument) -> None:
    """`%x: f32`, what `parse_argument` reads: without location, which upstream prints but does not parse here."""
    printer.print_ssa_value(arg)
    printer.print_string(": ")
    printer.print_attribute(arg.type)


def parse_value(parser: Parser) -> SSAValue:
    """A value that the text has defined already and whose type it need not repeat."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(f"%{operand.operand_name} is used before its definition", operand.span)
    return values[operand.index]
