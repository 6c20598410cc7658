"""Kernels, their memory and their loops. See the package for the whole picture."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException

from gecc.dialects._arguments import parse_value, print_argument

COMBINERS = ("add", "mul", "max", "min", "and", "or")
"""Reductions that lanes may carry. `max` and `min` propagate NaN."""


def identity(combiner: str, type_: Attribute) -> float | int:
    """The value that a combiner leaves unchanged; integers are signed."""
    width = type_.width.data if isinstance(type_, IntegerType) else 0
    match combiner:
        case "add" | "or":
            return 0
        case "mul":
            return 1
        case "and":
            return -1
        case "max":
            return -(2 ** (width - 1)) if width else float("-inf")
        case "min":
            return 2 ** (width - 1) - 1 if width else float("inf")
        case _:
            raise ValueError(f"unknown combiner '{combiner}', expected one of {', '.join(COMBINERS)}")


def _check_memory(op: Operation, memory: SSAValue, element: Attribute, what: str) -> None:
    if not isinstance(memory.type, MemRefType):
        raise VerifyException(f"{op.name}: {what} must be a memref, got {memory.type}")
    if memory.type.element_type != element:
        raise VerifyException(f"{op.name}: {what} holds {memory.type.element_type}, the value is {element}")


# --- kernels -----------------------------------------------------------------------------------------------------


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel."""

    name = "tile.return"
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict"


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a `tile.lanes` body (values to be reduced) or a `tile.store_tile` epilogue (the value to be stored)."""

    name = "tile.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A native kernel: what one block of a launch does."""

    name = "tile.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(ReturnOp))

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])
        ensure_terminator(self, SingleBlockImplicitTerminator(ReturnOp))

    @property
    def memories(self) -> Sequence[SSAValue]:
        """The memory parameters, inputs then outputs."""
        return [arg for arg in self.body.block.args if isinstance(arg.type, MemRefType)]

    @property
    def scalars(self) -> Sequence[SSAValue]:
        """The index parameters without the block number."""
        return self.body.block.args[len(self.memories) : -1]

    def verify_(self) -> None:
        args = self.body.block.args
        seen_index = False
        for number, arg in enumerate(args):
            if isinstance(arg.type, MemRefType):
                if seen_index:
                    raise VerifyException(
                        f"tile.kernel @{self.sym_name.data}: memory parameter {number} after an index"
                    )
                if tuple(arg.type.get_shape()) != (DYNAMIC_INDEX,):
                    raise VerifyException(
                        f"tile.kernel @{self.sym_name.data}: parameter {number} must be flat (memref<?xT>), got {arg.type}"
                    )
            elif isinstance(arg.type, IndexType):
                seen_index = True
            else:
                raise VerifyException(
                    f"tile.kernel @{self.sym_name.data}: parameter {number} must be a memref or index, got {arg.type}"
                )
        if not seen_index:
            raise VerifyException(
                f"tile.kernel @{self.sym_name.data}: the last parameter, the block number, is missing"
            )

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name()
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        body = parser.parse_region(args)
        return cls(name.data, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        printer.print_list(self.body.block.args, lambda arg: print_argument(printer, arg))
        printer.print_string(") ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=False)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Loads one element. Inside lanes each lane loads its own: consecutive offsets become one vector load."""

    name = "tile.load"
    memory = operand_def(base(MemRefType))
    offset = operand_def(IndexType)
    value = result_def(AnyAttr())
    traits = traits_def(MemoryReadEffect())

    def __init__(self, memory: SSAValue, offset: SSAValue) -> None:
        assert isinstance(memory.type, MemRefType)
        super().__init__(operands=[memory, offset], result_types=[memory.type.element_type])

    def verify_(self) -> None:
        _check_memory(self, self.memory, self.value.type, "the memory")

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        memory = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset = parse_value(parser)
        parser.parse_punctuation("]")
        parser.parse_punctuation(":")
        return cls(parser.resolve_operand(memory, parser.parse_type()), offset)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memory)
        printer.print_string("[")
        printer.print_ssa_value(self.offset)
        printer.print_string("] : ")
        printer.print_attribute(self.memory.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Stores one element."""

    name = "tile.store"
    value = operand_def(AnyAttr())
    memory = operand_def(base(MemRefType))
    offset = operand_def(IndexType)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue, memory: SSAValue, offset: SSAValue) -> None:
        super().__init__(operands=[value, memory, offset])

    def verify_(self) -> None:
        _check_memory(self, self.memory, self.value.type, "the memory")

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parse_value(parser)
        parser.parse_punctuation(",")
        memory = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset = parse_value(parser)
        parser.parse_punctuation("]")
        parser.parse_punctuation(":")
        return cls(value, parser.resolve_operand(memory, parser.parse_type()), offset)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.memory)
        printer.print_string("[")
        printer.print_ssa_value(self.offset)
        printer.print_string("] : ")
        printer.print_attribute(self.memory.type)


@irdl_op_definition
class ScratchOp(IRDLOperation):
    """The rank's scratch memory from a byte offset on, seen as elements of the result's type."""

    name = "tile.scratch"
    offset = operand_def(IndexType)
    memory = result_def(base(MemRefType))
    traits = traits_def(Pure())
    assembly_format = "$offset attr-dict `:` type($memory)"

    def __init__(self, offset: SSAValue, element: Attribute) -> None:
        super().__init__(operands=[offset], result_types=[MemRefType(element, [DYNAMIC_INDEX])])


@irdl_op_definition
class CheckIndexOp(IRDLOperation):
    """An index read from memory, checked: outside [0, extent) the launch fails and 0 is used instead."""

    name = "tile.check_index"
    index = operand_def(IndexType)
    extent = operand_def(IndexType)
    checked = result_def(IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$index `in` $extent attr-dict"

    def __init__(self, index: SSAValue, extent: SSAValue) -> None:
        super().__init__(operands=[index, extent], result_types=[IndexType()])


@irdl_op_definition
class LanesOp(IRDLOperation):
    """A loop over lanes: iterations are independent, values yielded are reduced into the results.

    `%r = tile.lanes %i = %lo to %hi reduce("add" %init : f32) {...}` runs its body for lo <= i < hi in any order and
    grouping; the result is init combined with all values yielded.
    """

    name = "tile.lanes"
    lower = operand_def(IndexType)
    upper = operand_def(IndexType)
    inits = var_operand_def()
    combiners = prop_def(ArrayAttr[StringAttr])
    sums = var_result_def()
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp))

    def __init__(
        self,
        lower: SSAValue,
        upper: SSAValue,
        body: Region,
        combiners: Sequence[str] = (),
        inits: Sequence[SSAValue] = (),
    ) -> None:
        super().__init__(
            operands=[lower, upper, list(inits)],
            properties={"combiners": ArrayAttr([StringAttr(kind) for kind in combiners])},
            result_types=[[value.type for value in inits]],
            regions=[body],
        )
        if not inits:
            ensure_terminator(self, SingleBlockImplicitTerminator(YieldOp))

    def verify_(self) -> None:
        block = self.body.block
        if len(block.args) != 1 or not isinstance(block.args[0].type, IndexType):
            raise VerifyException(f"tile.lanes: the body takes one index, got {[str(a.type) for a in block.args]}")
        kinds = [kind.data for kind in self.combiners]
        for kind in kinds:
            if kind not in COMBINERS:
                raise VerifyException(f"tile.lanes: unknown combiner '{kind}', expected one of {', '.join(COMBINERS)}")
        if not len(kinds) == len(self.inits) == len(self.sums):
            raise VerifyException(
                f"tile.lanes: {len(kinds)} combiners, {len(self.inits)} initial values and {len(self.sums)} results"
                " must be equally many"
            )
        if not isinstance(last := block.last_op, YieldOp):
            raise VerifyException("tile.lanes: the body must end in tile.yield")
        yielded = [value.type for value in last.values]
        if yielded != [value.type for value in self.sums]:
            raise VerifyException(
                f"tile.lanes: yields {[str(t) for t in yielded]}, results are {[str(v.type) for v in self.sums]}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> LanesOp:
        index = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lower = parse_value(parser)
        parser.parse_keyword("to")
        upper = parse_value(parser)
        kinds: list[str] = []
        inits: list[SSAValue] = []
        if parser.parse_optional_keyword("reduce") is not None:

            def parse_reduction() -> None:
                kinds.append(parser.parse_str_literal())
                value = parser.parse_unresolved_operand()
                parser.parse_punctuation(":")
                inits.append(parser.resolve_operand(value, parser.parse_type()))

            parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_reduction)
        body = parser.parse_region([index.resolve(IndexType())])
        return cls(lower, upper, body, kinds, inits)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.body.block.args[0])
        printer.print_string(" = ")
        printer.print_ssa_value(self.lower)
        printer.print_string(" to ")
        printer.print_ssa_value(self.upper)
        printer.print_string(" ")
        if self.inits:
            printer.print_string("reduce(")

            def print_reduction(pair: tuple[StringAttr, SSAValue]) -> None:
                printer.print_attribute(pair[0])
                printer.print_string(" ")
                printer.print_ssa_value(pair[1])
                printer.print_string(" : ")
                printer.print_attribute(pair[1].type)

            printer.print_list(list(zip(self.combiners, self.inits, strict=True)), print_reduction)
            printer.print_string(") ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=bool(self.inits))
