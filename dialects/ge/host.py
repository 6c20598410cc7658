"""ge.HostOp: an ONNX operator without a native form, run on the host by ONNX's reference implementation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, NoneAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.objects import ObjectType
from gecc.dialects.ge.types import ui8

Whole = base(TensorType) | base(ObjectType)
"""A whole value of the graph: a tensor or an object."""


class HostCall(IRDLOperation):
    """What a host operator says at the levels where values are tensors and objects.

    `program` names a weight that is a serialised onnx.ModelProto: one graph with the ONNX node (its subgraphs, and
    functions that it calls, included), whose inputs and outputs are the operands and results in order. `op_type`,
    `domain` and `opset` say which operator it is. The attributes `reason` and `hint` say why it is here.
    """

    op_type = prop_def(StringAttr)
    domain = prop_def(StringAttr)
    opset = prop_def(IntegerAttr.constr(type=i64))
    program = prop_def(base(WeightAttr))

    def check(self, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> None:
        """The checks that all levels share. Raises VerifyException."""
        what = f"{self.name} {self.spelled}"
        if not self.op_type.data:
            raise VerifyException(f"{self.name}: op_type is empty")
        if self.opset.value.data < 1:
            raise VerifyException(f"{what}: opset is {self.opset.value.data}, expected 1 or more")
        kind = self.program.type
        if not isinstance(kind, TensorType) or kind.element_type != ui8 or kind.get_num_dims() != 1:
            raise VerifyException(f"{what}: the program is {kind}, expected the bytes of a model, tensor<?xui8>")
        if not outs:
            raise VerifyException(f"{what}: has no results, expected one or more")
        for role, values in (("operand", ins), ("result", outs)):
            for i, value in enumerate(values):
                if isinstance(value.type, TensorType) and not isinstance(value.type.encoding, NoneAttr):
                    raise VerifyException(f"{what}: {role} {i} has type {value.type}, expected a row-major tensor")
        for name in ("reason", "hint"):
            if not isinstance(self.attributes.get(name, StringAttr("")), StringAttr):
                raise VerifyException(f"{what}: {name} is {self.attributes[name]}, expected a string")

    @property
    def spelled(self) -> str:
        """The operator with its domain: `ai.onnx::NonZero`."""
        return f"{self.domain.data or 'ai.onnx'}::{self.op_type.data}"


class TensorHostCall(HostCall):
    """A host operator on tensors and objects: operands in, results out."""

    inputs = var_operand_def(Whole)
    results_ = var_result_def(Whole)

    irdl_options = (ParsePropInAttrDict(),)
    # reading makes two equal calls two calls (random numbers), and an unused one none
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$op_type `domain` $domain `opset` $opset `program` $program `(` $inputs `)` attr-dict `:` "
        "functional-type($inputs, $results_)"
    )

    def __init__(
        self,
        op_type: str,
        domain: str,
        opset: int,
        program: Attribute,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[list(inputs)],
            result_types=[list(result_types)],
            properties=properties_of(op_type, domain, opset, program),
            attributes=attributes or {},
        )

    def verify_(self) -> None:
        self.check(self.inputs, self.results_)
        for i, value in enumerate(self.results_):
            if isinstance(value.type, TensorType) and not value.type.has_static_shape():
                raise VerifyException(
                    f"{self.name} {self.spelled}: result {i} has type {value.type}; what has no static shape is an "
                    "object"
                )


def properties_of(op_type: str, domain: str, opset: int, program: Attribute) -> dict[str, Attribute | None]:
    """The properties of a host operator, of any level."""
    return {
        "op_type": StringAttr(op_type),
        "domain": StringAttr(domain),
        "opset": IntegerAttr(opset, i64),
        "program": program,
    }


@irdl_op_definition
class HostOp(TensorHostCall):
    """An ONNX operator that the host engine runs."""

    name = "ge.HostOp"


__all__ = ["HostCall", "HostOp", "TensorHostCall", "Whole", "properties_of"]
