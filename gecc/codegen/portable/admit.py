"""What may pass as a kernel: text is parsed within limits, verified, and held to what kernels are made of.

Allowed are the operations that the lowering knows, on numbers, flat memories and register tiles; of their attributes only
those that have a meaning here, each with values that it has one for. What is allowed is listed, all else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    Builtin,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from gecc.dialects import tile
from gecc.errors import CodegenError
from gecc.passes.tile import expand_math, to_llvm  # to_llvm fills the table of emitters  # noqa: F401
from gecc.passes.tile.to_llvm.lowering import EMITTERS

MAX_OPERATIONS = 4096
MAX_DEPTH = 16
"""Regions within one another."""
MAX_BRACKETS = 64
"""Brackets within one another, of any kind: what recursion of the parser follows."""
MAX_PARAMETERS = 256
MAX_TILE = 4096
"""Elements of a register tile."""
MAX_EMITTED = 1 << 17
"""Estimate of the operations that a kernel becomes: bodies of lanes and epilogues are emitted several times."""
MAX_MESSAGE = 500

_LANES_COPIES = 6
_LEAST_LANES = 8
_WIDTHS = (1, 8, 16, 32, 64)
_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)

ALLOWED: frozenset[type[Operation]] = frozenset(
    {
        *EMITTERS,
        *expand_math.UNARY,
        *(math.PowFOp, math.FPowIOp, math.IPowIOp),
        *(tile.ReturnOp, tile.YieldOp, scf.YieldOp),
    }
)
"""Operations that may stand in a kernel."""

_WHOLE = (tile.LanesOp, tile.FillOp, tile.MmaOp, tile.StoreTileOp)
"""What may not stand within lanes or an epilogue."""


def admit(text: str, name: str) -> tile.KernelOp:
    """The kernel that a text says, called `name`. Raises CodegenError saying what is not allowed, or where it does not parse."""
    _check_brackets(text)
    ctx = Context()
    for dialect in (Builtin, arith.Arith, math.Math, scf.Scf, tile.Tile):
        ctx.load_dialect(dialect)
    try:
        module = Parser(ctx, text, name).parse_module()
        kernel = module.body.block.first_op
        if not isinstance(kernel, tile.KernelOp) or kernel.next_op is not None:
            raise CodegenError("the text is not one tile.kernel")
        _Guard().kernel(kernel, name)
        module.verify()
    except (ParseError, VerifyException, DiagnosticException) as error:
        raise CodegenError(f"the text is no kernel: {str(error)[:MAX_MESSAGE]}") from None
    kernel.detach()
    return kernel


def first_written(kernel: tile.KernelOp) -> int:
    """Number of the first memory parameter that a kernel writes, or their count."""
    found = len(kernel.memories)
    for op in kernel.walk():
        if isinstance(op, tile.StoreOp | tile.StoreTileOp) and isinstance(op.memory, BlockArgument):
            found = min(found, op.memory.index)
    return found


def _check_brackets(text: str) -> None:
    depth = 0
    for letter in text:
        if letter in "([{<":
            depth += 1
            if depth > MAX_BRACKETS:
                raise CodegenError(f"the text has more than {MAX_BRACKETS} brackets within one another")
        elif letter in ")]}" or (letter == ">" and depth):
            depth -= 1


class _Guard:
    """Walks a kernel."""

    def __init__(self) -> None:
        self.operations = 0
        self.emitted = 0
        self.defined: set[SSAValue] = set()

    def kernel(self, kernel: tile.KernelOp, name: str) -> None:
        if kernel.sym_name.data != name:
            raise CodegenError(f"the kernel is called {ascii(kernel.sym_name.data)[:100]}, expected '{name}'")
        if kernel.attributes or set(kernel.properties) != {"sym_name"}:
            raise CodegenError("tile.kernel has attributes")
        blocks = list(kernel.body.blocks)
        if len(blocks) != 1:
            raise CodegenError(f"the kernel has {len(blocks)} blocks, expected 1")
        args = blocks[0].args
        if len(args) > MAX_PARAMETERS:
            raise CodegenError(f"the kernel has {len(args)} parameters, expected at most {MAX_PARAMETERS}")
        for arg in args:
            if not isinstance(arg.type, IndexType):
                _check_memory(arg.type)
        self.block(blocks[0], 1, 1, within=False)

    def block(self, block: Block, depth: int, copies: int, *, within: bool) -> None:
        """A block that is emitted `copies` times; `within` lanes or an epilogue."""
        if depth > MAX_DEPTH:
            raise CodegenError(f"the kernel has more than {MAX_DEPTH} regions within one another")
        visible = set(block.args)
        self.defined |= visible
        for op in block.ops:
            self.operation(op, depth, copies, within)
            visible |= set(op.results)
            self.defined |= visible
        self.defined -= visible

    def operation(self, op: Operation, depth: int, copies: int, within: bool) -> None:
        if type(op) not in ALLOWED or (within and isinstance(op, _WHOLE)):
            raise CodegenError(f"'{op.name}' may not stand {'within lanes' if within else 'in a kernel'}")
        for result in op.results:
            _check_result(op, result.type)
        self.operations += 1
        self.emitted += copies * _cost(op)
        if self.operations > MAX_OPERATIONS or self.emitted > MAX_EMITTED:
            raise CodegenError(
                f"the kernel is larger than {MAX_OPERATIONS} operations, or {MAX_EMITTED} once they are copied"
            )
        if op.attributes or op.successors:
            raise CodegenError(
                f"'{op.name}' has attributes or successors that it should not have: {sorted(op.attributes)}"
            )
        for name, value in op.properties.items():
            check = _PROPERTIES.get(name)
            if check is None or not check(op, value):
                raise CodegenError(f"'{op.name}' has the property {name} = {str(value)[:100]}")
        for operand in op.operands:
            if operand not in self.defined:
                raise CodegenError(f"'{op.name}' uses a value before it is there")
        copies *= _copies(op)
        for region in op.regions:
            blocks = list(region.blocks)
            if len(blocks) != 1:
                raise CodegenError(f"a region of '{op.name}' has {len(blocks)} blocks, expected 1")
            for arg in blocks[0].args:
                _check_number(op, arg.type)
            inner = within or isinstance(op, tile.LanesOp | tile.StoreTileOp)
            self.block(blocks[0], depth + 1, copies, within=inner)


def _tiles(type_: Attribute) -> int:
    """Vectors of a register tile on the target that has the smallest."""
    if not isinstance(type_, VectorType):
        return 1
    rows, columns = (*type_.get_shape(), 1)[:2]
    return max(1, rows * columns // _LEAST_LANES)


def _cost(op: Operation) -> int:
    if isinstance(op, tile.MmaOp):
        return 2 * (4 + 1) * _tiles(op.tile.type) + op.lines.value.data
    return _tiles(op.tile.type) if isinstance(op, tile.FillOp) else 1


def _copies(op: Operation) -> int:
    if isinstance(op, tile.LanesOp):
        return _LANES_COPIES
    return 2 * _tiles(op.tile.type) if isinstance(op, tile.StoreTileOp) else 1


def _is_element(type_: Attribute) -> bool:
    return isinstance(type_, _FLOATS) or (isinstance(type_, IntegerType) and type_.width.data in _WIDTHS)


def _check_number(op: Operation, type_: Attribute) -> None:
    if not _is_element(type_) and not isinstance(type_, IndexType):
        raise CodegenError(f"'{op.name}' has a value of type {str(type_)[:100]}, expected a number")


def _check_memory(type_: Attribute) -> None:
    flat = isinstance(type_, MemRefType) and tuple(type_.get_shape()) == (DYNAMIC_INDEX,)
    if not flat or not isinstance(type_, MemRefType) or not _is_element(type_.element_type):
        raise CodegenError(f"a memory is {str(type_)[:100]}, expected memref<?xT> of numbers")
    if not isinstance(type_.layout, NoneAttr) or not isinstance(type_.memory_space, NoneAttr):
        raise CodegenError(f"a memory is {str(type_)[:100]}, expected no layout and no space")


def _check_result(op: Operation, type_: Attribute) -> None:
    match op:
        case tile.ScratchOp():
            _check_memory(type_)
        case tile.FillOp() | tile.MmaOp():
            shape = type_.get_shape() if isinstance(type_, VectorType) else ()
            sane = len(shape) == 2 and min(shape) > 0 and shape[0] * shape[1] <= MAX_TILE
            if not sane or not isinstance(type_, VectorType) or not _is_element(type_.get_element_type()):
                raise CodegenError(
                    f"a register tile is {str(type_)[:100]}, expected at most {MAX_TILE} numbers in rows"
                )
            if any(scalable.value.data for scalable in type_.scalable_dims):
                raise CodegenError(f"a register tile is {str(type_)[:100]}, expected fixed sizes")
        case _:
            _check_number(op, type_)


def _is_none_flag(op: Operation, value: Any) -> bool:
    return isinstance(value, arith.FastMathFlagsAttr | arith.IntegerOverflowAttr) and not value.data


def _is_predicate(op: Operation, value: Any) -> bool:
    limit = {arith.CmpiOp: 10, arith.CmpfOp: 16}.get(type(op), 0)
    return isinstance(value, IntegerAttr) and 0 <= value.value.data < limit


def _is_value(op: Operation, value: Any) -> bool:
    return (
        isinstance(op, arith.ConstantOp) and isinstance(value, IntegerAttr | FloatAttr) and value.type == op.result.type
    )


def _are_combiners(op: Operation, value: Any) -> bool:
    if not isinstance(op, tile.LanesOp) or not isinstance(value, ArrayAttr):
        return False
    return all(isinstance(kind, StringAttr) and kind.data in tile.COMBINERS for kind in value.data)


def _is_lines(op: Operation, value: Any) -> bool:
    return isinstance(op, tile.MmaOp) and isinstance(value, IntegerAttr) and 0 <= value.value.data <= 64


def _is_pairs(op: Operation, value: Any) -> bool:
    return isinstance(op, tile.MmaOp) and isinstance(value, UnitAttr)


_PROPERTIES: dict[str, Callable[[Operation, Any], bool]] = {
    "fastmath": _is_none_flag,
    "overflowFlags": _is_none_flag,
    "predicate": _is_predicate,
    "value": _is_value,
    "combiners": _are_combiners,
    "lines": _is_lines,
    "pairs": _is_pairs,
}
"""Properties that may stand in a kernel, and what they may be."""
