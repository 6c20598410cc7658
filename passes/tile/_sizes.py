"""How large tensors are in memory."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import MemRefType, NoneAttr, TensorType
from xdsl.ir import Attribute

from gecc.dialects.ge.attrs import LayoutAttr
from gecc.errors import PassError
from gecc.weights.dtypes import item_bytes

ALIGNMENT = 64
"""Alignment of arena buffers in bytes: a cache line, and the widest vector."""


def memory_type(type: Attribute, what: str, where: str | None = None) -> MemRefType:
    """The memref of a tensor: its shape in physical order. Raises PassError for a dynamic dimension or a non-tensor."""
    if not isinstance(type, TensorType):
        raise PassError(f"{what} has type {type}, expected a ranked tensor", where=where)
    shape = type.get_shape()
    if any(d < 0 for d in shape):
        raise PassError(
            f"{what} has type {type}, expected static dimensions",
            where=where,
            hint="fix the input shapes (ge-specialize-shapes) and run ge-infer-shapes",
        )
    match type.encoding:
        case NoneAttr():
            pass
        case LayoutAttr() as layout:
            shape = layout.physical(shape)
        case other:
            raise PassError(f"{what} has encoding {other}, expected a #ge.layout or none", where=where)
    return MemRefType(type.element_type, shape)


def memory_bytes(type: Attribute) -> int:
    """Bytes of a memref of static shape."""
    assert isinstance(type, MemRefType)
    return math.prod(type.get_shape()) * item_bytes(type.element_type)
