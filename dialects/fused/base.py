"""What all operations with scalar regions share: assembly, and the checks of region arguments and yields.

A scalar region is one block, isolated from above. Its arguments are indices (`index`), then scalars (an
accumulator), then one tensor for each operand of the operation. Its operations are `arith` and `math` on scalars,
`fused.load` and `fused.check_index`; `fused.yield` ends it.

How element types are held in regions: `f64 f32 f16 bf16` as themselves, `i1` for bool, and integers always
signless: a `tensor<4xui8>` loads as `i8`. Whether an integer is unsigned is in the operations chosen by whoever wrote
the region (`arith.divui`, `arith.extui`, ...), as in MLIR.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseArrayBase,
    DictionaryAttr,
    Float16Type,
    IndexType,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gecc.dialects._arguments import print_argument
from gecc.dialects.fused.scalar import CheckIndexOp, LoadOp, YieldOp

REGION_OPS: tuple[type[Operation], ...] = (LoadOp, CheckIndexOp, YieldOp)
REGION_DIALECTS = ("arith", "math")
INDEX = IndexType()


def scalar_type(element: Attribute) -> Attribute:
    """The type an element of a tensor has inside a scalar region (`ui8` -> `i8`, others themselves)."""
    if isinstance(element, IntegerType) and element.signedness.data != Signedness.SIGNLESS:
        return IntegerType(element.width.data)
    return element


def is_unsigned(element: Attribute) -> bool:
    """Whether tensors of `element` hold unsigned integers (`ui8`...; bool counts as unsigned)."""
    return isinstance(element, IntegerType) and (
        element.signedness.data == Signedness.UNSIGNED or element.width.data == 1
    )


def accumulator_type(element: Attribute) -> Attribute:
    """The type products and sums of `element` are accumulated in: f16, bf16 in f32; i8, i16 in i32; others as is."""
    if isinstance(element, Float16Type | BFloat16Type):
        return f32
    if isinstance(element, IntegerType) and 1 < element.width.data < 32:
        return i32
    return scalar_type(element)


def compute_type(element: Attribute) -> Attribute:
    """The float type in which `fused.softmax` and `fused.norm` compute for results of `element` (f32 or f64)."""
    return element if isinstance(element, AnyFloat) and not isinstance(element, Float16Type | BFloat16Type) else f32


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The static logical shape of a tensor value."""
    assert isa(value.type, TensorType)
    return value.type.get_shape()


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    assert isa(value.type, TensorType)
    return value.type.get_element_type()


def ints(array: DenseArrayBase[IntegerType] | None) -> tuple[int, ...]:
    """The values of an i64 array property; empty when absent."""
    return () if array is None else tuple(int(v) for v in array.get_values())


def check_region(
    op: Operation, name: str, region: Region, indices: int, scalars: Sequence[Attribute], result: Attribute | None
) -> Attribute:
    """Check one scalar region of `op` and return the type it yields.

    `indices` is how many index arguments come first, `scalars` the types that follow; then come the types of the
    operands of `op`. `result` is the type that must be yielded, None for any.
    """
    if len(region.blocks) != 1:
        raise VerifyException(f"{op.name}: region {name} has {len(region.blocks)} blocks, expected 1")
    block = region.block
    expected = [*([INDEX] * indices), *scalars, *op.operand_types]
    if len(block.args) != len(expected):
        raise VerifyException(
            f"{op.name}: region {name} has {len(block.args)} arguments, expected {len(expected)}: "
            f"{indices} indices, {len(scalars)} scalars, {len(op.operands)} tensors"
        )
    for position, (arg, want) in enumerate(zip(block.args, expected, strict=True)):
        if arg.type != want:
            raise VerifyException(
                f"{op.name}: argument {position} of region {name} has type {arg.type}, expected {want}"
            )
    for inner in block.ops:
        if not isinstance(inner, REGION_OPS) and inner.dialect_name() not in REGION_DIALECTS:
            raise VerifyException(
                f"{op.name}: region {name} holds {inner.name}, expected arith, math, fused.load, "
                "fused.check_index or fused.yield"
            )
    last = block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{op.name}: region {name} ends with {last.name if last else 'nothing'}, not fused.yield")
    if len(last.values) != 1:
        raise VerifyException(f"{op.name}: region {name} yields {len(last.values)} values, expected 1")
    got = last.values[0].type
    if not isinstance(got, AnyFloat | IntegerType):
        raise VerifyException(f"{op.name}: region {name} yields {got}, expected a float or integer scalar")
    if result is not None and got != result:
        raise VerifyException(f"{op.name}: region {name} yields {got}, expected {result}")
    return got


def check_static(op: Operation) -> None:
    """All operands and results of `op` are ranked tensors of static shape."""
    for kind, values in (("operand", op.operands), ("result", op.results)):
        for position, value in enumerate(values):
            if not isa(value.type, TensorType):
                raise VerifyException(f"{op.name}: {kind} {position} has type {value.type}, expected a tensor")
            if not value.type.has_static_shape():
                raise VerifyException(
                    f"{op.name}: {kind} {position} has type {value.type}; shapes must be static at the fused level"
                )


class FusedOp(IRDLOperation, ABC):
    """An operation that becomes one kernel launch.

    Assembly: `fused.x "label"(%operands) {properties} : (types) -> type region(%args) { ... } region(%args) { ... }`.
    `label` is the name users know, made of the ge operators merged (`MatMulV2Gelu`); `tiling` (integers by name) is
    chosen from the target's description before the lowering to tile.
    """

    REGIONS: ClassVar[tuple[str, ...]]
    """Names of the regions in order; only `epilogue` of fused.generic may be absent."""

    label = prop_def(StringAttr)
    tiling = opt_prop_def(DictionaryAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure(), IsolatedFromAbove())

    @abstractmethod
    def verify_op(self) -> None:
        """The checks of this operation; shapes are static when it runs."""

    def verify_(self) -> None:
        check_static(self)
        self.verify_op()

    @property
    def result_type(self) -> TensorType:
        """The type of the result."""
        assert isa(self.result.type, TensorType)
        return self.result.type

    @property
    def result_scalar(self) -> Attribute:
        """The type of the result's elements inside regions."""
        return scalar_type(self.result_type.get_element_type())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = StringAttr(parser.parse_str_literal())
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        named = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        function_type = parser.parse_function_type()
        resolved = parser.resolve_operands(operands, function_type.inputs.data, pos)
        regions: list[Region] = []
        outer = parser.ssa_values
        for name in cls.REGIONS:
            if parser.parse_optional_keyword(name) is not None:
                args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
                parser.ssa_values = {}  # isolated from above, so a region may use any name again
                regions.append(parser.parse_region(args))
                parser.ssa_values = outer
        known = cls.get_irdl_definition().properties
        properties: dict[str, Attribute] = {"label": label}
        properties |= {key: value for key, value in named.items() if key in known}
        return cls.create(
            operands=resolved,
            result_types=function_type.outputs.data,
            properties=properties,
            attributes={key: value for key, value in named.items() if key not in known},
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_operands(self.operands)
        shown = {key: value for key, value in self.properties.items() if key != "label"}
        printer.print_op_attributes(dict(sorted(shown.items())) | dict(self.attributes))
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)
        for name, region in zip(self.REGIONS, self.regions, strict=False):
            printer.print_string(f" {name}")
            block = region.blocks.first
            with printer.in_parens():
                printer.print_list(block.args if block else (), lambda arg: print_argument(printer, arg))
            printer.print_string(" ")
            printer.print_region(region, print_entry_block_args=False, print_empty_block=False)
