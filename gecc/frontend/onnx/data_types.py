"""Element types of gecc as ONNX numbers them."""

from __future__ import annotations

from xdsl.ir import Attribute

from gecc.frontend.onnx.model import NUMPY_DTYPES
from gecc.weights import element_type

DATA_TYPES: dict[Attribute, int] = {element_type(dtype): number for number, dtype in NUMPY_DTYPES.items()}
"""Element type to ONNX's number for it."""
