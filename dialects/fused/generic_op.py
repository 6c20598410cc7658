"""fused.generic: every computation that has no tuned schedule, as an iteration domain and a scalar region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    opt_region_def,
    region_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.fused.base import FusedOp, check_region, ints

COMBINERS = ("add", "mul", "max", "min", "and", "or")
BITWISE = ("and", "or")


@irdl_op_definition
class GenericOp(FusedOp):
    """A scalar computation over the result's index space.

    Without `reduction`, `body` (parallel indices, tensors) yields the result's element. With it, `body` (parallel
    indices, reduction indices, tensors) yields a value that `combiner` reduces over the reduction domain, from the
    combiner's identity (max of floats: minus infinity; of integers, signed: the least), and `epilogue` (parallel
    indices, reduced value, tensors) yields the result's element. The order of a reduction is not defined; NaN wins
    `max` and `min`. Unsigned max and min are written with the sign bit flipped before and after.
    """

    name = "fused.generic"
    REGIONS: ClassVar[tuple[str, ...]] = ("body", "epilogue")

    inputs = var_operand_def(TensorType)
    reduction = opt_prop_def(DenseArrayBase.constr(i64))
    combiner = opt_prop_def(StringAttr)
    body = region_def()
    epilogue = opt_region_def()

    def __init__(
        self,
        label: str,
        inputs: Sequence[SSAValue],
        result_type: TensorType,
        body: Region,
        *,
        reduction: Sequence[int] = (),
        combiner: str | None = None,
        epilogue: Region | None = None,
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "reduction": DenseArrayBase.from_list(i64, list(reduction)) if reduction else None,
                "combiner": StringAttr(combiner) if combiner else None,
            },
            regions=[body, [epilogue] if epilogue else []],
        )

    @property
    def domain(self) -> tuple[int, ...]:
        """Extents of the parallel indices: the logical shape of the result."""
        return self.result_type.get_shape()

    @property
    def reduction_domain(self) -> tuple[int, ...]:
        """Extents of the reduction indices; empty for a pointwise computation."""
        return ints(self.reduction)

    @property
    def accumulator(self) -> Attribute:
        """The type the body yields, in which the reduction runs."""
        last = self.body.block.last_op
        assert last is not None
        return last.operands[0].type

    def verify_op(self) -> None:
        rank, extents = len(self.domain), self.reduction_domain
        if not extents:
            for name, found in (
                ("reduction", self.reduction is not None),
                ("combiner", self.combiner is not None),
                ("epilogue", self.epilogue is not None),
            ):
                if found:
                    raise VerifyException(f"{self.name}: has {name}, expected none without reduction extents")
            check_region(self, "body", self.body, rank, (), self.result_scalar)
            return
        if any(extent < 0 for extent in extents):
            raise VerifyException(f"{self.name}: reduction extents are {list(extents)}, expected at least 0")
        if self.combiner is None or self.combiner.data not in COMBINERS:
            found = "absent" if self.combiner is None else f'"{self.combiner.data}"'
            raise VerifyException(f"{self.name}: combiner is {found}, expected one of {', '.join(COMBINERS)}")
        if self.epilogue is None:
            raise VerifyException(f"{self.name}: epilogue is absent, expected one after a reduction")
        accumulator = check_region(self, "body", self.body, rank + len(extents), (), None)
        is_int = isinstance(accumulator, IntegerType)
        if self.combiner.data in BITWISE and not is_int:
            raise VerifyException(
                f'{self.name}: combiner "{self.combiner.data}" needs integers, body yields {accumulator}'
            )
        check_region(self, "epilogue", self.epilogue, rank, (accumulator,), self.result_scalar)
