"""Register tiles: one value is a whole micro-kernel tile, such as `vector<6x64xf32>`."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, VectorType, i16, i64
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from gecc.dialects._arguments import parse_value, print_argument
from gecc.dialects.tile.kernel import YieldOp


def _check_tile(op: IRDLOperation, value: SSAValue) -> tuple[int, int]:
    if not isinstance(value.type, VectorType) or value.type.get_num_dims() != 2:
        raise VerifyException(f"{op.name}: a register tile is a vector of rank 2, got {value.type}")
    rows, columns = value.type.get_shape()
    return rows, columns


@irdl_op_definition
class FillOp(IRDLOperation):
    """A register tile whose elements all are one scalar."""

    name = "tile.fill"
    scalar = operand_def(AnyAttr())
    tile = result_def(base(VectorType))
    traits = traits_def(Pure())
    assembly_format = "$scalar attr-dict `:` type($scalar) `to` type($tile)"

    def __init__(self, scalar: SSAValue, tile_type: VectorType) -> None:
        super().__init__(operands=[scalar], result_types=[tile_type])

    def verify_(self) -> None:
        _check_tile(self, self.tile)
        if self.scalar.type != self.tile.type.get_element_type():
            raise VerifyException(f"tile.fill: the scalar is {self.scalar.type}, the tile {self.tile.type}")


@irdl_op_definition
class MmaOp(IRDLOperation):
    """Adds a product to a register tile of R rows and C columns, contracting whole panels held in memory.

        acc[r, c] += sum over s < n1, t < n2, k < depth of
            lhs[lhs_offset + r * row_stride + s * stride1 + t * stride2 + k] *
            rhs[rhs_offset + ((s * n2 + t) * depth + k) * C + c]

    The left side is read in place, so a convolution over channels-last rows is the same operation as a matrix
    product: its taps are the two outer loops. The right side is packed: C values for each step, steps consecutive.

    With `pairs`, `depth` is even and the right side's steps lie in pairs: those of k and k + 1 for column 0, for column 1,
    and so on. i16 on the left may meet i8 on the right.

    `ahead` is an offset in rhs that a later tile will need: in each pass of four steps `lines` cache lines from there
    on are prefetched, and `ahead` moves on with the right side. It changes no value.
    """

    name = "tile.mma"
    acc = operand_def(base(VectorType))
    lhs = operand_def(base(MemRefType))
    lhs_offset = operand_def(IndexType)
    rhs = operand_def(base(MemRefType))
    rhs_offset = operand_def(IndexType)
    row_stride = operand_def(IndexType)
    depth = operand_def(IndexType)
    n1 = operand_def(IndexType)
    stride1 = operand_def(IndexType)
    n2 = operand_def(IndexType)
    stride2 = operand_def(IndexType)
    ahead = opt_operand_def(IndexType)
    lines = prop_def(IntegerAttr.constr(type=i64))
    pairs = opt_prop_def(UnitAttr)
    tile = result_def(base(VectorType))
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        acc: SSAValue,
        lhs: SSAValue,
        lhs_offset: SSAValue,
        rhs: SSAValue,
        rhs_offset: SSAValue,
        row_stride: SSAValue,
        depth: SSAValue,
        outer: tuple[SSAValue, SSAValue, SSAValue, SSAValue],
        ahead: SSAValue | None = None,
        lines: int = 0,
        *,
        pairs: bool = False,
    ) -> None:
        super().__init__(
            operands=[acc, lhs, lhs_offset, rhs, rhs_offset, row_stride, depth, *outer, ahead],
            result_types=[acc.type],
            properties={"lines": IntegerAttr(lines, i64), "pairs": UnitAttr() if pairs else None},
        )

    def verify_(self) -> None:
        _check_tile(self, self.acc)
        if self.acc.type != self.tile.type:
            raise VerifyException(f"tile.mma: accumulator {self.acc.type}, result {self.tile.type}")
        lines = self.lines.value.data
        if lines < 0 or (lines > 0) != (self.ahead is not None):
            raise VerifyException(
                f"tile.mma: lines = {lines}, expected a positive number with an offset to prefetch and 0 without"
            )
        assert isinstance(self.lhs.type, MemRefType)
        if self.pairs is not None and self.lhs.type.element_type != i16:
            raise VerifyException(f"tile.mma: pairs of {self.lhs.type.element_type}, expected i16")

    @classmethod
    def parse(cls, parser: Parser) -> MmaOp:
        acc = parse_value(parser)
        parser.parse_punctuation(",")
        lhs = parse_value(parser)
        parser.parse_punctuation("[")
        lhs_offset = parse_value(parser)
        parser.parse_punctuation("]")
        parser.parse_punctuation(",")
        rhs = parse_value(parser)
        parser.parse_punctuation("[")
        rhs_offset = parse_value(parser)
        parser.parse_punctuation("]")
        parser.parse_keyword("rows")
        row_stride = parse_value(parser)
        parser.parse_keyword("depth")
        depth = parse_value(parser)
        parser.parse_keyword("outer")
        parser.parse_punctuation("(")
        n1 = parse_value(parser)
        parser.parse_keyword("by")
        stride1 = parse_value(parser)
        parser.parse_punctuation(",")
        n2 = parse_value(parser)
        parser.parse_keyword("by")
        stride2 = parse_value(parser)
        parser.parse_punctuation(")")
        ahead, lines = None, 0
        if parser.parse_optional_keyword("ahead") is not None:
            ahead = parse_value(parser)
            parser.parse_keyword("lines")
            lines = parser.parse_integer()
        pairs = parser.parse_optional_keyword("pairs") is not None
        parser.parse_punctuation(":")
        parser.parse_type()
        outer = (n1, stride1, n2, stride2)
        return cls(acc, lhs, lhs_offset, rhs, rhs_offset, row_stride, depth, outer, ahead, lines, pairs=pairs)

    def print(self, printer: Printer) -> None:
        def show(*parts: SSAValue | str) -> None:
            for part in parts:
                if isinstance(part, str):
                    printer.print_string(part)
                else:
                    printer.print_ssa_value(part)

        show(" ", self.acc, ", ", self.lhs, "[", self.lhs_offset, "], ", self.rhs, "[", self.rhs_offset, "] rows ")
        show(self.row_stride, " depth ", self.depth, " outer(", self.n1, " by ", self.stride1, ", ")
        show(self.n2, " by ", self.stride2, ")")
        if self.ahead is not None:
            show(" ahead ", self.ahead, f" lines {self.lines.value.data}")
        if self.pairs is not None:
            show(" pairs")
        show(" : ")
        printer.print_attribute(self.tile.type)


@irdl_op_definition
class StoreTileOp(IRDLOperation):
    """Stores a register tile through an epilogue: memory[offset + r * row_stride + c] = body(acc[r, c], r, c).

    Only the first `columns` columns are stored (the epilogue is not run for others). The body is scalar: its
    arguments are the accumulator, the row and the column.
    """

    name = "tile.store_tile"
    tile = operand_def(base(VectorType))
    memory = operand_def(base(MemRefType))
    offset = operand_def(IndexType)
    row_stride = operand_def(IndexType)
    columns = operand_def(IndexType)
    body = region_def("single_block")
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        tile: SSAValue,
        memory: SSAValue,
        offset: SSAValue,
        row_stride: SSAValue,
        columns: SSAValue,
        body: Region,
    ) -> None:
        super().__init__(operands=[tile, memory, offset, row_stride, columns], regions=[body])

    def verify_(self) -> None:
        _check_tile(self, self.tile)
        assert isinstance(self.tile.type, VectorType) and isinstance(self.memory.type, MemRefType)
        args = [arg.type for arg in self.body.block.args]
        expected = [self.tile.type.get_element_type(), IndexType(), IndexType()]
        if args != expected:
            raise VerifyException(
                f"tile.store_tile: the epilogue takes {[str(t) for t in expected]}, got {[str(t) for t in args]}"
            )
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != [self.memory.type.element_type]:
            raise VerifyException(f"tile.store_tile: the epilogue must yield one {self.memory.type.element_type}")

    @classmethod
    def parse(cls, parser: Parser) -> StoreTileOp:
        tile = parse_value(parser)
        parser.parse_punctuation(",")
        memory = parse_value(parser)
        parser.parse_punctuation("[")
        offset = parse_value(parser)
        parser.parse_punctuation("]")
        parser.parse_keyword("rows")
        row_stride = parse_value(parser)
        parser.parse_keyword("columns")
        columns = parse_value(parser)
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        return cls(tile, memory, offset, row_stride, columns, parser.parse_region(args))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_string(", ")
        printer.print_ssa_value(self.memory)
        printer.print_string("[")
        printer.print_ssa_value(self.offset)
        printer.print_string("] rows ")
        printer.print_ssa_value(self.row_stride)
        printer.print_string(" columns ")
        printer.print_ssa_value(self.columns)
        printer.print_string(" (")
        printer.print_list(self.body.block.args, lambda arg: print_argument(printer, arg))
        printer.print_string(") ")
        printer.print_region(self.body, print_entry_block_args=False)
