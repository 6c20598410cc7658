"""ge.Const, and constants from numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, FloatAttr, IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyOf, BaseAttr, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.base import GeOp, ge_op
from gecc.dialects.ge.types import (
    ANY,
    AnyTensor,
    check_dtype,
    element_type,
    i1,
    layout,
    numpy_dtype,
    shape_of,
    tensor_type,
)

if TYPE_CHECKING:
    import numpy as np

    from gecc.weights.store import WeightStore

ConstValue: TypeAlias = DenseIntOrFPElementsAttr[Any] | WeightAttr


@ge_op
class Const(GeOp):
    """A constant tensor. Bytes are in the physical order of the type's layout."""

    value = prop_def(AnyOf((BaseAttr(DenseIntOrFPElementsAttr), BaseAttr(WeightAttr))))
    result = result_def(TensorType)

    traits = traits_def(ConstantLike())

    def __init__(self, value: ConstValue) -> None:
        self.setup([], {"value": value}, [const_type(value)])

    def infer(self) -> Sequence[AnyTensor]:
        type = const_type(self.value)
        check_dtype("value", self.result, ANY)
        if isinstance(self.value, DenseIntOrFPElementsAttr):
            if (count := math.prod(type.get_shape())) != len(self.value):
                raise VerifyException(f"value holds {len(self.value)} elements, but {type} has {count}")
        if (order := layout(type)) is not None:
            order.physical(type.get_shape())
        return [type]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_value(self.value, printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr | WeightAttr):
            parser.raise_error(f"found {value}, expected a dense or #ge.weight attribute")
        attributes = parser.parse_optional_attr_dict()
        return cls.create(properties={"value": value}, result_types=[const_type(value)], attributes=attributes)


def const_type(value: Attribute) -> AnyTensor:
    """The tensor type of a constant's value."""
    type = value.type if isinstance(value, DenseIntOrFPElementsAttr | WeightAttr) else None
    if not isinstance(type, TensorType):
        raise VerifyException(f"constant has type {type}, expected a ranked tensor")
    return type


def print_value(value: Attribute, printer: Printer) -> None:
    """Print the value of a constant so that it parses to the same bytes."""
    if isinstance(value, DenseIntOrFPElementsAttr) and not _prints_exactly(value):
        printer.print_string(f'dense<"0x{value.data.data.hex().upper()}"> : ')
        printer.print_attribute(value.type)
    else:
        printer.print_attribute(value)


def _prints_exactly(value: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether the printed list parses to the same bytes: xDSL spells some floats as hex, which it reads as integers."""
    if isinstance(value.get_element_type(), IntegerType):
        return True
    element = value.get_element_type()
    return all("0x" not in str(FloatAttr(v, element)) for v in value.iter_values() if isinstance(v, float))


def dense(array: np.ndarray, type: AnyTensor | None = None) -> DenseIntOrFPElementsAttr[Any]:
    """An array as a dense attribute. With a type that carries a layout, the (logical) array is stored physically."""
    import numpy as np

    type = tensor_type(array.shape, element_type(array.dtype)) if type is None else type
    if tuple(array.shape) != shape_of(type) or array.dtype != numpy_dtype(type.element_type):
        raise VerifyException(f"array is {array.dtype}{list(array.shape)}, but the type says {type}")
    if (order := layout(type)) is not None:
        array = array.transpose(order.permutation)
    if type.element_type == i1:
        # a dense `true` is all ones, as the parser makes it
        array = np.where(array, np.uint8(255), np.uint8(0))
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return DenseIntOrFPElementsAttr(type, BytesAttr(little.tobytes()))


def const(array: np.ndarray, store: WeightStore | None = None) -> Const:
    """A constant from a numpy array: dense below 1 kB (or without a store), else a weight of `store`."""
    return Const(dense(array) if store is None else store.attr_for(array))


def const_ints(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of an integer constant that is held in the IR, or None when `value` is not one."""
    if not isinstance(value.owner, Const) or not isinstance(value.owner.value, DenseIntOrFPElementsAttr):
        return None
    data = value.owner.value
    if not isinstance(data.get_element_type(), IntegerType):
        return None
    return tuple(int(v) for v in data.iter_values() if isinstance(v, int))
