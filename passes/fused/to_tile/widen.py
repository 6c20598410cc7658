"""Products of narrow integers: the micro-kernel multiplies in the type that it sums in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TensorType, i16
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused
from gecc.dialects.fused import Body
from gecc.errors import PassError
from gecc.passes.fused.choose_tilings import is_depthwise
from gecc.rewrite import Pattern, Rewriter


class WidenIntegers(Pattern):
    """The sides of a product of i8, ui8 or ui16 are converted to i32 before it.

    The micro-kernel itself widens i16, and a depthwise convolution converts while it loads.
    """

    ops: ClassVar = (fused.MatmulOp, fused.ConvOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.MatmulOp | fused.ConvOp)
        element, wide = fused.element_of(op.operands[0]), op.accumulator
        if not isinstance(element, IntegerType) or element == i16 or fused.scalar_type(element) == wide:
            return
        if isinstance(op, fused.ConvOp) and is_depthwise(op):
            return

        def convert(b: Body, indices: Sequence[SSAValue], tensors: Sequence[SSAValue]) -> SSAValue:
            return b.convert(b.load(tensors[0], indices), element, wide)

        region = op.detach_region(op.epilogue)
        first = len(region.block.args) - len(op.operands)
        operands = list(op.operands)
        for position in (0, 1):
            type_, argument = op.operands[position].type, region.block.args[first + position]
            assert isinstance(type_, TensorType)
            if argument.first_use is not None:
                raise PassError(
                    f"'{op.name}' \"{op.label.data}\": the epilogue reads operand {position} itself",
                    hint="give the tensor to the epilogue as an operand of its own",
                )
            copy = fused.generic(
                "Cast", TensorType(wide, type_.get_shape(), type_.encoding), [operands[position]], convert
            )
            rw.insert_before(op, copy)
            operands[position] = copy.result
            rw.replace_value_with_new_type(argument, copy.result.type)
        new = type(op).create(
            operands=operands, result_types=op.result_types, properties=dict(op.properties), regions=[region]
        )
        rw.replace(op, new)
