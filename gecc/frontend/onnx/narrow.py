"""Element types below a byte and floats of a byte: INT4, FLOAT8E4M3FN and their kin.

Within gecc they are no element types: a tensor of them is one of `ui8` that holds the bits of one element in each byte,
as numpy arrays of `ml_dtypes` do. Operators that move elements move these bytes; Cast, QuantizeLinear and
DequantizeLinear compute with them by what `ops/narrow.py` builds. The builder remembers which values are such tensors,
and the function's attributes `ge.input_types` and `ge.output_types` which of its inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import SSAValue

if TYPE_CHECKING:
    from gecc.frontend.onnx.builder import Builder


@dataclass(frozen=True)
class Narrow:
    """What the bits of an element mean."""

    name: str
    """The numpy dtype of `ml_dtypes`."""
    bits: int
    mantissa: int = 0
    """Bits of a float's fraction; 0 for integers, and for FLOAT8E8M0, which is an exponent alone."""
    bias: int = 0
    """Of a float's exponent."""
    most: int = 0
    """The bits of a float's largest finite number."""
    infinity: int | None = None
    """The bits of a float's infinity, or None when it has none."""
    nan: int | None = None
    """The bits of a float's NaN without sign, or None when it has none."""
    no_negative_zero: bool = False
    """Whether the bits of -0 are NaN instead (types called FNUZ)."""

    @property
    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.name.startswith("float")

    @property
    def is_signed(self) -> bool:
        """Whether an integer type has negative numbers."""
        return self.name.startswith("int")

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number of an integer type."""
        half = 2 ** (self.bits - 1)
        return (-half, half - 1) if self.is_signed else (0, 2 * half - 1)


NARROW: dict[int, Narrow] = {
    TensorProto.INT4: Narrow("int4", 4),
    TensorProto.UINT4: Narrow("uint4", 4),
    TensorProto.INT2: Narrow("int2", 2),
    TensorProto.UINT2: Narrow("uint2", 2),
    TensorProto.FLOAT8E4M3FN: Narrow("float8_e4m3fn", 8, 3, 7, 0x7E, None, 0x7F),
    TensorProto.FLOAT8E4M3FNUZ: Narrow("float8_e4m3fnuz", 8, 3, 8, 0x7F, None, 0x80, True),
    TensorProto.FLOAT8E5M2: Narrow("float8_e5m2", 8, 2, 15, 0x7B, 0x7C, 0x7E),
    TensorProto.FLOAT8E5M2FNUZ: Narrow("float8_e5m2fnuz", 8, 2, 16, 0x7F, None, 0x80, True),
    TensorProto.FLOAT8E8M0: Narrow("float8_e8m0fnu", 8, 0, 127, 0xFE, None, 0xFF),
    TensorProto.FLOAT4E2M1: Narrow("float4_e2m1fn", 4, 1, 1, 0x7),
}
"""By ONNX's number of the type."""

MOVES = frozenset(
    ("ConstantOfShape", "Dropout", "Flatten", "Identity", "Pad", "Reshape", "Squeeze", "Transpose", "Unsqueeze",
     "TensorScatter")
)  # fmt: skip
"""Operators of the standard that move elements, whose first output has the element type of the first input."""

KNOWS = frozenset(
    (
        "BitCast",
        "Cast",
        "CastLike",
        "DequantizeLinear",
        "GatherBlockQuantized",
        "If",
        "Loop",
        "QuantizeLinear",
        "Scan",
        "Shape",
        "Size",
    )
)
"""Operators whose import functions know these types, or do not look at elements."""

READS = frozenset(("IsNaN", "IsInf"))
"""Operators that are computed on the numbers as f32."""


def bits_of(tensor: TensorProto, array: np.ndarray) -> np.ndarray:
    """An array of the values of `tensor` as gecc holds it."""
    return array.view(np.uint8) if tensor.data_type in NARROW else array


def unpacked(data: np.ndarray, bits: int, shape: Sequence[int]) -> np.ndarray:
    """The elements that packed bytes hold, the first one in the lowest bits, one in each byte."""
    if bits == 8:
        return data.reshape(shape)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    every = (data[:, None] >> shifts) & np.uint8(2**bits - 1)
    return every.reshape(-1)[: prod(shape)].reshape(shape)


def packed_bytes(bits: int, shape: Sequence[int]) -> int:
    """Bytes that packed elements take."""
    return -(-prod(shape) * bits // 8)


def names_of(build: Builder, values: Sequence[SSAValue]) -> ArrayAttr[StringAttr] | None:
    """What the types of a function's inputs or outputs are called, `""` for ordinary ones; None when all are."""
    names = [NARROW[build.narrow[v]].name if v in build.narrow else "" for v in values]
    return ArrayAttr([StringAttr(name) for name in names]) if any(names) else None
