"""Block arguments in the custom syntax of operations."""

from __future__ import annotations

from xdsl.ir import BlockArgument
from xdsl.printer import Printer


def print_argument(printer: Printer, arg: BlockArgument) -> None:
    """`%x: f32`, what `parse_argument` reads: without location, which upstream prints but does not parse here."""
    printer.print_ssa_value(arg)
    printer.print_string(": ")
    printer.print_attribute(arg.type)
