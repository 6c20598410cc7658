"""Element types of tensors, and the numpy dtypes that hold them.

Signed integers are spelled signless (`i8`, `i64`), unsigned ones `ui8`, `ui64`, booleans `i1` (one byte an element).
numpy has no bfloat16 of its own; the `ml_dtypes` one stands for it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

if TYPE_CHECKING:
    import numpy as np

_FLOATS: dict[str, Attribute] = {
    "float64": Float64Type(),
    "float32": Float32Type(),
    "float16": Float16Type(),
    "bfloat16": BFloat16Type(),
}


def element_type(dtype: np.dtype | type | str) -> Attribute:
    """The element type that spells a numpy dtype. Raises TypeError for one that tensors cannot hold (str, complex)."""
    import numpy as np

    name = "bfloat16" if dtype == "bfloat16" else str(np.dtype(dtype).name)
    if name in _FLOATS:
        return _FLOATS[name]
    if name == "bool":
        return IntegerType(1)
    for prefix, signedness in (("uint", Signedness.UNSIGNED), ("int", Signedness.SIGNLESS)):
        if name.startswith(prefix) and name[len(prefix) :] in ("8", "16", "32", "64"):
            return IntegerType(int(name[len(prefix) :]), signedness)
    raise TypeError(f"numpy dtype {name} has no element type; expected a float of 16 to 64 bits, an integer or bool")


def dtype_name(element: Attribute) -> str:
    """The name of the numpy dtype that holds an element type. Raises TypeError where there is none."""
    match element:
        case Float64Type():
            return "float64"
        case Float32Type():
            return "float32"
        case Float16Type():
            return "float16"
        case BFloat16Type():
            return "bfloat16"
        case IndexType():
            return "int64"
        case IntegerType():
            bits = element.width.data
            if bits == 1:
                return "bool"
            if bits in (8, 16, 32, 64):
                return f"{'u' if element.signedness.data == Signedness.UNSIGNED else ''}int{bits}"
    raise TypeError(f"element type {element} has no numpy dtype")


def item_bytes(element: Attribute) -> int:
    """Bytes of one element in memory (`i1` takes one). Needs no numpy."""
    name = dtype_name(element)
    return 1 if name == "bool" else int("".join(c for c in name if c.isdigit())) // 8


@cache
def _dtype_of_name(name: str) -> np.dtype:
    import numpy as np

    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def numpy_dtype(element: Attribute) -> np.dtype:
    """The numpy dtype that holds an element type. Raises TypeError where there is none."""
    return _dtype_of_name(dtype_name(element))
