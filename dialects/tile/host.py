"""tile.host and tile.slot: calls of the host engine, and the places of Python objects in a run."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, StringAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.host import HostCall, properties_of
from gecc.dialects.ge.objects import ObjectType

Place = base(TensorType) | base(MemRefType) | base(ObjectType)
"""A value of the graph before bufferization, or where it lies after."""


@irdl_op_definition
class HostOp(HostCall):
    """Runs a program on the host, all ranks waiting.

    On tensors and objects: operands are the program's inputs, results its outputs. On memory: `inputs` then `outputs`,
    no results; an object is a `tile.slot`. `phase` is set by the schedule: a host call is alone in its own.
    """

    name = "tile.host"
    inputs = var_operand_def(Place)
    outputs = var_operand_def(Place)
    phase = opt_prop_def(IntegerAttr.constr(type=i64))
    results_ = var_result_def(Place)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$op_type `domain` $domain `opset` $opset `program` $program `ins` `(` ($inputs^ `:` type($inputs))? `)` "
        "(`outs` `(` $outputs^ `:` type($outputs) `)`)? (`phase` $phase^)? attr-dict (`->` type($results_)^)?"
    )

    def __init__(
        self,
        op_type: str,
        domain: str,
        opset: int,
        program: Attribute,
        inputs: Sequence[SSAValue],
        results: Sequence[Attribute] = (),
        *,
        outputs: Sequence[SSAValue] = (),
        phase: int | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[list(inputs), list(outputs)],
            result_types=[list(results)],
            properties={
                **properties_of(op_type, domain, opset, program),
                "phase": None if phase is None else IntegerAttr(phase, i64),
            },
            attributes=attributes or {},
        )

    @property
    def label(self) -> StringAttr:
        """The name that users know: the operator's."""
        return self.op_type

    @property
    def inplace(self) -> DenseArrayBase:
        """Inputs whose memory an output may take over: none."""
        return DenseArrayBase.from_list(i64, [])

    def verify_(self) -> None:
        if bool(self.outputs) == bool(self.results_):
            raise VerifyException(
                f"tile.host {self.spelled}: has {len(self.results_)} results and {len(self.outputs)} outputs in "
                "memory, expected one kind"
            )
        self.check(self.inputs, self.outputs or self.results_)
        wanted, what = (MemRefType, "memory") if self.outputs else (TensorType, "a tensor")
        for role, values in (("input", self.inputs), ("output", self.outputs or self.results_)):
            for i, value in enumerate(values):
                if not isinstance(value.type, wanted | ObjectType):
                    raise VerifyException(
                        f"tile.host {self.spelled}: {role} {i} is {value.type}, expected {what} or an object"
                    )


@irdl_op_definition
class SlotOp(IRDLOperation):
    """The place of a Python object in a run. `input` is the number of the graph input that fills it."""

    name = "tile.slot"
    index = prop_def(IntegerAttr.constr(type=i64))
    input = opt_prop_def(IntegerAttr.constr(type=i64))
    returned = opt_prop_def(DenseArrayBase.constr(i64))
    """Numbers of the graph outputs that it is."""
    result = result_def(base(ObjectType))
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$index (`input` $input^)? (`output` $returned^)? attr-dict `:` type($result)"

    def __init__(self, index: int, type: Attribute, *, input: int | None = None, returned: Sequence[int] = ()) -> None:
        super().__init__(
            properties={
                "index": IntegerAttr(index, i64),
                "input": None if input is None else IntegerAttr(input, i64),
                "returned": DenseArrayBase.from_list(i64, list(returned)) if returned else None,
            },
            result_types=[type],
        )

    def verify_(self) -> None:
        if self.index.value.data < 0:
            raise VerifyException(f"tile.slot: index {self.index.value.data} must not be negative")
