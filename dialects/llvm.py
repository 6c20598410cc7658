"""The llvm dialect: xDSL's, with the vector forms and conversions that it lacks.

`llvm.fcmp` and `llvm.select` take vectors here, and `llvm.fptosi`, `llvm.fptoui`, `llvm.uitofp`,
`llvm.extractelement`, `llvm.mlir.poison`, `llvm.freeze` and `llvm.lane_addresses` exist.
"""

from __future__ import annotations

from xdsl.dialects import llvm as upstream
from xdsl.dialects.builtin import IntegerAttr, IntegerType, VectorType, i1, i64
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure


def like(value_type: Attribute, element: Attribute) -> Attribute:
    """`element`, or a vector of it when `value_type` is a vector."""
    return VectorType(element, value_type.get_shape()) if isinstance(value_type, VectorType) else element


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """Compares floats or vectors of floats; the predicate is LLVM's number (1 oeq, 2 ogt, ... 14 une... )."""

    name = "llvm.fcmp"
    predicate = prop_def(IntegerAttr.constr(type=i64))
    lhs = operand_def(AnyAttr())
    rhs = operand_def(AnyAttr())
    res = result_def(AnyAttr())
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($res)"

    def __init__(self, predicate: int, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(
            operands=[lhs, rhs],
            result_types=[like(lhs.type, i1)],
            properties={"predicate": IntegerAttr(predicate, i64)},
        )


@irdl_op_definition
class SelectOp(IRDLOperation):
    """Chooses by a bit, or lane by lane by a vector of bits."""

    name = "llvm.select"
    cond = operand_def(AnyAttr())
    lhs = operand_def(AnyAttr())
    rhs = operand_def(AnyAttr())
    res = result_def(AnyAttr())
    traits = traits_def(Pure())
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($lhs) `,` type($rhs) `->` type($res)"

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])


class _Conversion(IRDLOperation):
    arg = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"

    def __init__(self, arg: SSAValue, result_type: Attribute) -> None:
        super().__init__(operands=[arg], result_types=[result_type])


@irdl_op_definition
class FPToSIOp(_Conversion):
    """Float to signed integer, toward zero."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(_Conversion):
    """Float to unsigned integer, toward zero."""

    name = "llvm.fptoui"


@irdl_op_definition
class UIToFPOp(_Conversion):
    """Unsigned integer to float."""

    name = "llvm.uitofp"


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """One element of a vector."""

    name = "llvm.extractelement"
    vector = operand_def(VectorType)
    index = operand_def(IntegerType)
    result = result_def(AnyAttr())
    traits = traits_def(Pure())
    assembly_format = "$vector `[` $index `:` type($index) `]` attr-dict `:` type($vector) `->` type($result)"

    def __init__(self, vector: SSAValue, index: SSAValue) -> None:
        assert isinstance(vector.type, VectorType)
        super().__init__(operands=[vector, index], result_types=[vector.type.get_element_type()])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A value that nothing may depend on."""

    name = "llvm.mlir.poison"
    result = result_def(AnyAttr())
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result_type: Attribute) -> None:
        super().__init__(result_types=[result_type])


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """Its operand, or, where that is poison or undefined, some value that is the same for all who use it."""

    name = "llvm.freeze"
    value = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value], result_types=[value.type])


@irdl_op_definition
class LaneAddressesOp(IRDLOperation):
    """An address for each lane: a pointer plus a vector of byte offsets (LLVM's getelementptr of a vector)."""

    name = "llvm.lane_addresses"
    pointer = operand_def(upstream.LLVMPointerType)
    offsets = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$pointer `[` $offsets `]` attr-dict `:` type($pointer) `,` type($offsets) `->` type($result)"

    def __init__(self, pointer: SSAValue, offsets: SSAValue) -> None:
        super().__init__(operands=[pointer, offsets], result_types=[like(offsets.type, upstream.LLVMPointerType())])


_OURS = [FCmpOp, SelectOp, FPToSIOp, FPToUIOp, UIToFPOp, ExtractElementOp, PoisonOp, FreezeOp, LaneAddressesOp]
_replaced = {op.name for op in _OURS}

LLVM = Dialect(
    "llvm",
    [*(op for op in upstream.LLVM.operations if op.name not in _replaced), *_OURS],
    list(upstream.LLVM.attributes),
)
