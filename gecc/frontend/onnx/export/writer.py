"""What both exports share: names, types and constants as ONNX spells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects.ge.objects import ObjectType
from gecc.dialects.om.attrs import ObjectType as OmObjectType
from gecc.frontend.onnx.data_types import DATA_TYPES
from gecc.frontend.onnx.kinds import parsed
from gecc.rewrite import location_names
from gecc.weights import element_type

MAX_NESTING = 32
"""Types within one another that a type of an om is shown with."""


class Names:
    """Names that are free, and the names of values."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._values: dict[SSAValue, str] = {}

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted_1`, ... when it is taken."""
        count = self._taken.get(wanted)
        if count is None:
            self._taken[wanted] = 0
            return wanted
        while True:
            count += 1
            if (name := f"{wanted}_{count}") not in self._taken:
                self._taken[wanted] = count
                self._taken[name] = 0
                return name

    def bind(self, value: SSAValue, name: str) -> str:
        """Make `name` the name of `value` from here on."""
        self._values[value] = name
        return name

    def of(self, value: SSAValue) -> str:
        """The name of a value, a fresh one when it has none yet."""
        if value not in self._values:
            self._values[value] = self.fresh(value.name_hint or "value")
        return self._values[value]

    def knows(self, value: SSAValue) -> bool:
        """Whether a value has a name."""
        return value in self._values


def value_info(name: str, kind: Attribute, dims: Sequence[str] = ()) -> ValueInfoProto:
    """The type of a value; `dims` name its unknown dimensions (`?` names none)."""
    if isinstance(kind, ObjectType):
        return helper.make_value_info(name, parsed(kind.spelled.data))
    if isinstance(kind, OmObjectType):
        return _object_info(name, kind.type.data)
    if not isinstance(kind, TensorType | MemRefType):
        raise TypeError(f"expected a tensor or memref, found {kind}")
    shape: list[int | str | None] = [d if d >= 0 else None for d in kind.get_shape()]
    if len(dims) == len(shape):
        shape = [n if d is None and n != "?" else d for d, n in zip(shape, dims, strict=True)]
    return helper.make_tensor_value_info(name, DATA_TYPES[kind.get_element_type()], shape)


def _object_info(name: str, spelled: str) -> ValueInfoProto:
    """The type of an object as an om file spells it, which may be anything: then the value has no type."""
    try:
        return (
            helper.make_value_info(name, parsed(spelled))
            if spelled.count("(") <= MAX_NESTING
            else ValueInfoProto(name=name)
        )
    except ValueError:
        return ValueInfoProto(name=name)


def tensor_proto(name: str, array: np.ndarray[Any, Any]) -> TensorProto:
    """A constant, little-endian."""
    data_type = DATA_TYPES[element_type(array.dtype)]
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return helper.make_tensor(name, data_type, array.shape, np.ascontiguousarray(little).tobytes(), raw=True)


def node_name(names: Names, op: Operation) -> str:
    """The ONNX nodes that an operation comes from, as the name of a node."""
    return names.fresh("+".join(location_names(op)) or op.name)


def strings(function: FuncOp, attribute: str, prefix: str, count: int) -> list[str]:
    """The names in an attribute of the function, or `<prefix>0`, ... where it has none."""
    given = function.attributes.get(attribute)
    if isinstance(given, ArrayAttr) and len(given) == count:
        return [n.data if isinstance(n, StringAttr) else str(n) for n in given]
    return [f"{prefix}{i}" for i in range(count)]


def dim_names(function: FuncOp, argument: int) -> list[str]:
    """The names of an argument's dimensions in `ge.input_dims`."""
    given = function.attributes.get("ge.input_dims")
    if not isinstance(given, ArrayAttr) or argument >= len(given):
        return []
    dims = given.data[argument]
    return [d.data for d in dims if isinstance(d, StringAttr)] if isinstance(dims, ArrayAttr) else []


__all__ = [
    "DATA_TYPES",
    "Names",
    "NodeProto",
    "dim_names",
    "node_name",
    "strings",
    "tensor_proto",
    "value_info",
]
