"""Element types of gecc as ONNX numbers them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue

from gecc.frontend.onnx.builder import Builder, element
from gecc.frontend.onnx.model import NUMPY_DTYPES
from gecc.frontend.onnx.narrow import NARROW
from gecc.weights import element_type

DATA_TYPES: dict[Attribute, int] = {element_type(dtype): number for number, dtype in NUMPY_DTYPES.items()}
"""Element type to ONNX's number for it."""


def element_of(data_type: int) -> Attribute | None:
    """The element type of the tensors that hold elements of ONNX's type number, or None when gecc does not know it."""
    if data_type in NARROW:
        return IntegerType(8, Signedness.UNSIGNED)
    return element_type(NUMPY_DTYPES[data_type]) if data_type in NUMPY_DTYPES else None


def data_type_of(build: Builder, value: SSAValue) -> int:
    """ONNX's number of a value's element type."""
    return build.narrow[value] if value in build.narrow else DATA_TYPES[element(value)]
