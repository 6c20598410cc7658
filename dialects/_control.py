"""Control flow below the graph level: one form of branch and one of loop, for the fused and the tile dialect.

Regions are single blocks that see the values around them. The last operation of each yields its values; which
operation that is, each dialect says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TensorType, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_I1 = IntegerType(1)


def _yielded(op: IRDLOperation, region: Region, terminator: type[Operation]) -> Sequence[SSAValue]:
    last = region.block.last_op
    if not isinstance(last, terminator):
        raise VerifyException(f"{op.name}: a region ends in {last.name if last else 'nothing'}, expected its yield")
    return last.operands


def _check_condition(op: IRDLOperation, what: str, value: SSAValue) -> None:
    kind = value.type
    if not isinstance(kind, TensorType) or kind.element_type != _I1 or any(d != 1 for d in kind.get_shape()):
        raise VerifyException(f"{op.name}: {what} is {kind}, expected one element of i1")


class BranchOp(IRDLOperation):
    """What `then_body` yields when `condition` holds, else what `else_body` yields, which has the same types."""

    TERMINATOR: ClassVar[type[Operation]]

    condition = operand_def(TensorType)
    results_ = var_result_def(TensorType)
    then_body = region_def("single_block")
    else_body = region_def("single_block")
    traits = traits_def(Pure())
    assembly_format = "$condition attr-dict `:` type($condition) (`->` type($results_)^)? $then_body `else` $else_body"

    def __init__(self, condition: SSAValue, results: Sequence[Attribute], then_body: Region, else_body: Region) -> None:
        super().__init__(operands=[condition], result_types=[list(results)], regions=[then_body, else_body])

    def yielded(self, region: Region) -> Sequence[SSAValue]:
        """What a branch yields."""
        return _yielded(self, region, self.TERMINATOR)

    def verify_(self) -> None:
        _check_condition(self, "the condition", self.condition)
        for name, region in (("then", self.then_body), ("else", self.else_body)):
            if region.block.args:
                raise VerifyException(f"{self.name}: {name} has {len(region.block.args)} arguments, expected none")
            kinds = [value.type for value in self.yielded(region)]
            if kinds != list(self.result_types):
                raise VerifyException(
                    f"{self.name}: {name} yields {', '.join(map(str, kinds)) or 'nothing'}, "
                    f"expected {', '.join(map(str, self.result_types)) or 'nothing'}"
                )


class LoopOp(IRDLOperation):
    """A loop that runs while its condition holds.

    The body gets the carried values, `inits` at first; it yields the condition, the carried values for the next
    iteration, and rows. Results are the carried values at the end, and for each row a tensor with a new first
    dimension: every iteration writes its row at the place that the first carried value, a number, has in it.
    """

    TERMINATOR: ClassVar[type[Operation]]

    condition = operand_def(TensorType)
    inits = var_operand_def(TensorType)
    results_ = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure())
    assembly_format = (
        "$condition attr-dict `:` type($condition) (`init` `(` $inits^ `:` type($inits) `)`)? "
        "(`->` type($results_)^)? $body"
    )

    def __init__(
        self, condition: SSAValue, inits: Sequence[SSAValue], results: Sequence[Attribute], body: Region
    ) -> None:
        super().__init__(operands=[condition, list(inits)], result_types=[list(results)], regions=[body])

    @property
    def next_condition(self) -> SSAValue:
        """Whether another iteration follows."""
        return _yielded(self, self.body, self.TERMINATOR)[0]

    @property
    def next_values(self) -> Sequence[SSAValue]:
        """The carried values for the next iteration."""
        return _yielded(self, self.body, self.TERMINATOR)[1 : 1 + len(self.inits)]

    @property
    def rows(self) -> Sequence[SSAValue]:
        """What the body yields for the results beyond the carried values."""
        return _yielded(self, self.body, self.TERMINATOR)[1 + len(self.inits) :]

    def verify_(self) -> None:
        _check_condition(self, "the condition", self.condition)
        kinds = list(self.operand_types[1:])
        if list(self.body.block.arg_types) != kinds:
            raise VerifyException(
                f"{self.name}: the body takes {', '.join(map(str, self.body.block.arg_types)) or 'nothing'}, "
                f"expected the types of the inits, {', '.join(map(str, kinds)) or 'nothing'}"
            )
        values = _yielded(self, self.body, self.TERMINATOR)
        if len(values) < 1 + len(kinds):
            raise VerifyException(
                f"{self.name}: the body yields {len(values)} values, expected a condition and {len(kinds)} more"
            )
        _check_condition(self, "the first value yielded", values[0])
        found = [value.type for value in self.next_values]
        if found != kinds or list(self.result_types[: len(kinds)]) != kinds:
            raise VerifyException(f"{self.name}: carried values are {kinds}, but {found} are yielded")
        rows, stacked = self.rows, list(self.result_types[len(kinds) :])
        if len(rows) != len(stacked):
            raise VerifyException(f"{self.name}: {len(rows)} rows are yielded for {len(stacked)} results")
        if rows and (not kinds or kinds[0] != TensorType(i64, [])):
            raise VerifyException(
                f"{self.name}: the first carried value is {kinds[0] if kinds else 'missing'}, expected the number of "
                "the iteration as tensor<i64>, which says where rows go"
            )
        for row, whole in zip(rows, stacked, strict=True):
            assert isinstance(row.type, TensorType)
            if not (
                isinstance(whole, TensorType)
                and whole.element_type == row.type.element_type
                and whole.get_shape()[1:] == row.type.get_shape()
            ):
                raise VerifyException(f"{self.name}: rows of {row.type} do not make {whole}")
