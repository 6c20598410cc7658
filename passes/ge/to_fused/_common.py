"""What the lowering families share: loading in the compute type, scalar constants, index maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import fused
from gecc.dialects.fused import Body, Scalar
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.types import AnyTensor, layout, tensor

IndexMap = Callable[[Body, Values], Sequence[Scalar]]
"""(body, indices of the result) -> indices of the operand."""


def working_type(element: Attribute) -> Attribute:
    """The element type in which values of `element` are computed: f32 for f16 and bf16, else itself."""
    return fused.accumulator_type(element) if isinstance(element, AnyFloat) else element


def widen(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    """A loaded scalar in its working type."""
    return b.convert(value, element, working_type(element))


def narrow(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    """A scalar of the working type, or already of the result's, as the result's element."""
    if isinstance(element, AnyFloat) and value.type != element:
        return b.convert(value, working_type(element), element)
    return value


def scalar_constant(value: SSAValue) -> float | int | None:
    """The number that a constant of one element holds in the IR, None when `value` is not one."""
    owner = value.owner
    data = owner.properties.get("value") if isinstance(owner, Operation) else None
    if not isinstance(data, DenseIntOrFPElementsAttr) or not isinstance(value.type, TensorType):
        return None
    if any(extent != 1 for extent in value.type.get_shape()):
        return None
    number = next(iter(data.iter_values()))
    assert isinstance(number, int | float)
    return int(number) if isinstance(data.get_element_type(), IntegerType) else float(number)


def gather_map(label: str, x: SSAValue, result_type: TensorType[Any], index_map: IndexMap) -> Operation:
    """The operation whose result at each index is the element of `x` at `index_map` of it."""
    return fused.generic(label, result_type, [x], lambda b, d, t: b.load(t[0], index_map(b, d)))


def strided_order(type: AnyTensor) -> tuple[int, ...]:
    """Logical dimensions in physical order, outermost first, without those of extent 1."""
    order = layout(type)
    dims = range(type.get_num_dims()) if order is None else order.permutation
    return tuple(d for d in dims if type.get_shape()[d] != 1)


def moves_nothing(x: AnyTensor, result: AnyTensor, perm: Sequence[int]) -> bool:
    """Whether `result[i_perm[0], ..] = x[i_0, ..]` has the same bytes: only dimensions of extent 1 change place."""
    return tuple(perm[d] for d in strided_order(result)) == strided_order(x)


def floor_div(b: Body, value: SSAValue, divisor: int, least: int) -> SSAValue:
    """`floor(value / divisor)` of an index that is at least `least`, which may be negative."""
    shift = max(0, -(least // divisor))
    if shift == 0:
        return b.div(value, divisor, unsigned=True)
    return b.sub(b.div(b.add(value, shift * divisor), divisor, unsigned=True), shift)


def operand_type(value: SSAValue) -> AnyTensor:
    """The tensor type of an operand."""
    return tensor(value)
