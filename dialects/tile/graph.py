"""The graph of launches: first on tensors, after bufferization on memrefs with places in memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.const import print_value

Storage = base(TensorType) | base(MemRefType)
"""A whole tensor: a value before bufferization, a place in memory after it."""


def int_array(values: Sequence[int]) -> DenseArrayBase:
    """An array<i64: ...> attribute."""
    return DenseArrayBase.from_list(i64, list(values))


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Runs a kernel over its blocks.

    On tensors: operands are the kernel's inputs, results its outputs. On memrefs: `inputs` then `outputs`, no
    results. `params` are the kernel's index parameters (extents, strides), `blocks` the number of blocks, `scratch`
    the bytes of rank-local memory. `inplace` lists the inputs whose memory the first output may take over: block b
    reads no byte of them after another block, or itself, has written it. `phase` is set by the schedule.
    """

    name = "tile.launch"
    kernel = prop_def(SymbolRefAttr)
    inputs = var_operand_def(Storage)
    outputs = var_operand_def(base(MemRefType))
    params = prop_def(DenseArrayBase.constr(i64))
    blocks = prop_def(IntegerAttr.constr(type=i64))
    scratch = prop_def(IntegerAttr.constr(type=i64))
    label = prop_def(StringAttr)
    inplace = prop_def(DenseArrayBase.constr(i64))
    phase = opt_prop_def(IntegerAttr.constr(type=i64))
    results_ = var_result_def(base(TensorType))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$kernel $label `ins` `(` ($inputs^ `:` type($inputs))? `)` (`outs` `(` $outputs^ `:` type($outputs) `)`)? "
        "`params` $params `blocks` $blocks `scratch` $scratch `inplace` $inplace (`phase` $phase^)? attr-dict "
        "(`->` type($results_)^)?"
    )

    def __init__(
        self,
        kernel: str | SymbolRefAttr,
        label: str,
        inputs: Sequence[SSAValue],
        results: Sequence[Attribute] = (),
        *,
        outputs: Sequence[SSAValue] = (),
        params: Sequence[int] = (),
        blocks: int = 1,
        scratch: int = 0,
        inplace: Sequence[int] = (),
        phase: int | None = None,
    ) -> None:
        super().__init__(
            operands=[list(inputs), list(outputs)],
            result_types=[list(results)],
            properties={
                "kernel": SymbolRefAttr(kernel) if isinstance(kernel, str) else kernel,
                "label": StringAttr(label),
                "params": int_array(params),
                "blocks": IntegerAttr(blocks, i64),
                "scratch": IntegerAttr(scratch, i64),
                "inplace": int_array(inplace),
                "phase": None if phase is None else IntegerAttr(phase, i64),
            },
        )

    def verify_(self) -> None:
        name = f"tile.launch {self.kernel} '{self.label.data}'"
        if bool(self.outputs) == bool(self.results_):
            raise VerifyException(
                f"{name}: has {len(self.results_)} results and {len(self.outputs)} output memrefs, expected one kind"
            )
        if self.blocks.value.data < 0 or self.scratch.value.data < 0:
            raise VerifyException(
                f"{name}: blocks = {self.blocks.value.data} and scratch = {self.scratch.value.data} must not be negative"
            )
        for index in self.inplace.get_values():
            if not 0 <= index < len(self.inputs):
                raise VerifyException(f"{name}: inplace names input {index}, there are {len(self.inputs)}")
        on_memory = bool(self.outputs)
        for value in self.inputs:
            if isinstance(value.type, MemRefType) != on_memory:
                raise VerifyException(
                    f"{name}: input {value.type} does not fit a launch on {'memrefs' if on_memory else 'tensors'}"
                )


@irdl_op_definition
class WeightOp(IRDLOperation):
    """A constant of the model, in the weights of the file."""

    name = "tile.weight"
    value = prop_def(base(DenseIntOrFPElementsAttr) | base(WeightAttr))
    result = result_def(Storage)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())

    def __init__(self, value: Attribute, result: Attribute) -> None:
        super().__init__(properties={"value": value}, result_types=[result])

    def print(self, printer: Printer) -> None:
        """Print the value so that it parses to the same bytes."""
        printer.print_string(" ")
        print_value(self.value, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse what `print` prints."""
        value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.create(properties={"value": value}, result_types=[parser.parse_type()], attributes=attributes)


@irdl_op_definition
class ViewOp(IRDLOperation):
    """Bytes of another tensor or memref, seen with another shape from a byte offset on. Costs nothing."""

    name = "tile.view"
    source = operand_def(Storage)
    offset = prop_def(IntegerAttr.constr(type=i64))
    result = result_def(Storage)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$source `offset` $offset attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, result: Attribute, offset: int = 0) -> None:
        super().__init__(operands=[source], properties={"offset": IntegerAttr(offset, i64)}, result_types=[result])

    def verify_(self) -> None:
        if isinstance(self.source.type, TensorType) != isinstance(self.result.type, TensorType):
            raise VerifyException(
                f"tile.view: from {self.source.type} to {self.result.type}: both must be tensors or memrefs"
            )
        if self.offset.value.data < 0:
            raise VerifyException(f"tile.view: offset {self.offset.value.data} must not be negative")


@irdl_op_definition
class JoinOp(IRDLOperation):
    """Tensors one behind the other: the bytes of the result are those of the parts, in their order.

    On tensors bufferization lets parts be made where they lie in the result, and copies the others there; with `copied`
    it copies all. On memrefs the parts do lie one behind the other, and to see them as one costs nothing.
    """

    name = "tile.join"
    parts = var_operand_def(Storage)
    copied = opt_prop_def(UnitAttr)
    result = result_def(Storage)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$parts (`copied` $copied^)? attr-dict `:` type($parts) `->` type($result)"

    def __init__(self, parts: Sequence[SSAValue], result: Attribute, copied: bool = False) -> None:
        super().__init__(
            operands=[list(parts)],
            properties={"copied": UnitAttr()} if copied else {},
            result_types=[result],
        )

    def verify_(self) -> None:
        types = [x.type for x in (*self.parts, self.result)]
        if len(types) < 2:
            raise VerifyException("tile.join: no parts, expected at least one")
        shaped = [t for t in types if isinstance(t, TensorType)] or [t for t in types if isinstance(t, MemRefType)]
        if len(shaped) < len(types):
            raise VerifyException(f"tile.join: {', '.join(map(str, types))}: all must be tensors or all memrefs")
        if any(t.get_element_type() != shaped[-1].get_element_type() for t in shaped):
            raise VerifyException(f"tile.join: {', '.join(map(str, types))}: all must have the same elements")
        if any(d < 0 for t in shaped for d in t.get_shape()):
            raise VerifyException(f"tile.join: {', '.join(map(str, types))}: the shapes must be static")
        *parts, whole = (prod(t.get_shape()) for t in shaped)
        if sum(parts) != whole:
            raise VerifyException(f"tile.join: parts of {sum(parts)} elements, expected the {whole} of {shaped[-1]}")


@irdl_op_definition
class InputOp(IRDLOperation):
    """The memory of graph input number `index`, given by the caller of a run."""

    name = "tile.input"
    index = prop_def(IntegerAttr.constr(type=i64))
    result = result_def(base(MemRefType))
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: int, result: Attribute) -> None:
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[result])


@irdl_op_definition
class OutputOp(IRDLOperation):
    """The memory of graph output number `index`."""

    name = "tile.output"
    index = prop_def(IntegerAttr.constr(type=i64))
    result = result_def(base(MemRefType))
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: int, result: Attribute) -> None:
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[result])


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer in the arena. `offset` is set by allocate-buffers and is its place in bytes."""

    name = "tile.alloc"
    bytes = prop_def(IntegerAttr.constr(type=i64))
    alignment = prop_def(IntegerAttr.constr(type=i64))
    offset = opt_prop_def(IntegerAttr.constr(type=i64))
    result = result_def(base(MemRefType))
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "`bytes` $bytes `align` $alignment (`offset` $offset^)? attr-dict `:` type($result)"

    def __init__(self, nbytes: int, result: Attribute, alignment: int = 64, offset: int | None = None) -> None:
        super().__init__(
            properties={
                "bytes": IntegerAttr(nbytes, i64),
                "alignment": IntegerAttr(alignment, i64),
                "offset": None if offset is None else IntegerAttr(offset, i64),
            },
            result_types=[result],
        )

    def verify_(self) -> None:
        nbytes, alignment = self.bytes.value.data, self.alignment.value.data
        if nbytes < 0:
            raise VerifyException(f"tile.alloc: bytes = {nbytes} must not be negative")
        if alignment <= 0 or alignment & (alignment - 1):
            raise VerifyException(f"tile.alloc: alignment = {alignment} must be a power of two")
        if self.offset is not None and (self.offset.value.data < 0 or self.offset.value.data % alignment):
            raise VerifyException(
                f"tile.alloc: offset = {self.offset.value.data} must be a non-negative multiple of {alignment}"
            )
