"""Element types, shapes and layouts: the vocabulary in which ge operators state their rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.attrs import LayoutAttr
from gecc.weights.dtypes import element_type, numpy_dtype

__all__ = [
    "ANY",
    "BOOL",
    "DYNAMIC",
    "FLOAT",
    "INDEX",
    "INTEGER",
    "NUMERIC",
    "SIGNED",
    "UNSIGNED",
    "AnyTensor",
    "DTypes",
    "agree",
    "bf16",
    "broadcast",
    "check_dtype",
    "check_rank",
    "check_row_major",
    "check_same_dtype",
    "common_layout",
    "declared_encoding",
    "dims",
    "elem",
    "element_type",
    "f16",
    "f32",
    "f64",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "known",
    "layout",
    "like",
    "meet",
    "normal_axes",
    "normal_axis",
    "numpy_dtype",
    "rank",
    "row_major",
    "shape_of",
    "spell",
    "tensor",
    "tensor_type",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
]  # fmt: skip

AnyTensor: TypeAlias = TensorType[Any]

f16, bf16, f32, f64 = Float16Type(), BFloat16Type(), Float32Type(), Float64Type()
i1, i8, i16, i32, i64 = (IntegerType(w) for w in (1, 8, 16, 32, 64))
ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64))

DTypes: TypeAlias = tuple[Attribute, ...]
FLOAT: DTypes = (f32, f64, f16, bf16)
SIGNED: DTypes = (i8, i16, i32, i64)
UNSIGNED: DTypes = (ui8, ui16, ui32, ui64)
INTEGER: DTypes = SIGNED + UNSIGNED
NUMERIC: DTypes = FLOAT + INTEGER
BOOL: DTypes = (i1,)
INDEX: DTypes = (i32, i64)
ANY: DTypes = NUMERIC + BOOL

DYNAMIC = -1
"""A dimension that is not known yet, in the shapes that `dims` returns and the type makers take.

A type in the IR holds builtin's DYNAMIC_INDEX there, which prints as `?`.
"""


def dims(value: SSAValue) -> tuple[int, ...]:
    """The logical shape of a tensor value; an unknown dimension is -1."""
    return shape_of(tensor(value))


def shape_of(type: AnyTensor) -> tuple[int, ...]:
    """The logical shape of a tensor type; an unknown dimension is -1."""
    return tuple(d if d >= 0 else DYNAMIC for d in type.get_shape())


def tensor_type(shape: Sequence[int], element: Attribute, encoding: Attribute | None = None) -> AnyTensor:
    """A tensor type; an unknown dimension is -1, no encoding is row-major."""
    spelled = [d if d >= 0 else DYNAMIC_INDEX for d in shape]
    return TensorType(element, spelled, NoneAttr() if encoding is None else encoding)


def rank(value: SSAValue) -> int:
    """The number of dimensions of a tensor value."""
    return tensor(value).get_num_dims()


def elem(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    return tensor(value).element_type


def tensor(value: SSAValue) -> AnyTensor:
    """The type of a value, which must be a ranked tensor."""
    if not isinstance(value.type, TensorType):
        raise VerifyException(f"expected a ranked tensor, found {value.type}")
    return value.type


def known(shape: Sequence[int]) -> bool:
    """Whether no dimension is unknown."""
    return DYNAMIC not in shape


def spell(shape: Sequence[int]) -> str:
    """A shape for messages: `[2, ?, 64]`."""
    return "[" + ", ".join("?" if d < 0 else str(d) for d in shape) + "]"


def agree(a: int, b: int) -> bool:
    """Whether two dimensions may be equal at run time."""
    return a == b or DYNAMIC in (a, b)


def meet(a: int, b: int) -> int:
    """The better known of two dimensions that agree."""
    return b if a == DYNAMIC else a


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The numpy broadcast of shapes; an unknown dimension against one other than 1 takes that one.

    Raises VerifyException when two known dimensions differ and neither is 1.
    """
    width = max((len(s) for s in shapes), default=0)
    result: list[int] = []
    for i in range(width):
        column = [s[i - width + len(s)] for s in shapes if i - width + len(s) >= 0]
        sizes = list(dict.fromkeys(d for d in column if d not in (1, DYNAMIC)))
        if len(sizes) > 1:
            text = " and ".join(spell(s) for s in shapes)
            raise VerifyException(f"shapes {text} do not broadcast: {sizes[0]} and {sizes[1]} in dimension {i}")
        result.append(sizes[0] if sizes else DYNAMIC if DYNAMIC in column else 1)
    return tuple(result)


def check_dtype(what: str, value: SSAValue, allowed: DTypes) -> None:
    """Raise unless the element type of `value` is one of `allowed`."""
    if elem(value) not in allowed:
        names = ", ".join(str(t) for t in allowed)
        raise VerifyException(f"{what} has element type {elem(value)}, expected one of {names}")


def check_same_dtype(**values: SSAValue | None) -> None:
    """Raise unless all values that are present have one element type."""
    present = [(name, v) for name, v in values.items() if v is not None]
    first, value = present[0]
    for name, other in present[1:]:
        if elem(other) != elem(value):
            raise VerifyException(f"{name} has element type {elem(other)}, but {first} has {elem(value)}")


def check_rank(what: str, value: SSAValue, expected: int) -> None:
    """Raise unless `value` has `expected` dimensions."""
    if rank(value) != expected:
        raise VerifyException(f"{what} has rank {rank(value)} {spell(dims(value))}, expected rank {expected}")


def check_row_major(what: str, value: SSAValue) -> None:
    """Raise when `value` carries a layout: the operator knows row-major tensors only."""
    if layout(tensor(value)) is not None:
        raise VerifyException(f"{what} has layout {tensor(value).encoding}, expected row-major (insert ge.TransData)")


def normal_axis(axis: int, rank: int, *, upto: int | None = None) -> int:
    """`axis` counted from the front. Legal range: [-rank, rank), or [-rank, upto] when given."""
    top = rank - 1 if upto is None else upto
    if not -rank <= axis <= top:
        raise VerifyException(f"axis {axis} is out of range [{-rank}, {top}] for rank {rank}")
    return axis + rank if axis < 0 else axis


def normal_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front; raises when one is out of range or repeated."""
    result = tuple(normal_axis(a, rank) for a in axes)
    if len(set(result)) != len(result):
        raise VerifyException(f"axes {list(axes)} name a dimension twice (rank {rank})")
    return result


def layout(type: AnyTensor) -> LayoutAttr | None:
    """The layout of a tensor type; None is row-major."""
    return type.encoding if isinstance(type.encoding, LayoutAttr) else None


def like(type: AnyTensor, shape: Sequence[int] | None = None, element: Attribute | None = None) -> AnyTensor:
    """`type` with another shape or element type; the layout is kept while the rank stays."""
    shape = shape_of(type) if shape is None else tuple(shape)
    encoding = type.encoding if len(shape) == type.get_num_dims() else NoneAttr()
    return tensor_type(shape, type.element_type if element is None else element, encoding)


def row_major(shape: Sequence[int], element: Attribute) -> AnyTensor:
    """A row-major tensor type."""
    return tensor_type(shape, element)


def common_layout(rank: int, **values: SSAValue | None) -> Attribute:
    """The encoding shared by all values of full rank; raises when two differ."""
    first: tuple[str, Attribute] | None = None
    for name, value in values.items():
        if value is None or tensor(value).get_num_dims() != rank:
            continue
        encoding = tensor(value).encoding
        if first is None:
            first = (name, encoding)
        elif first[1] != encoding:
            raise VerifyException(
                f"{name} has layout {_layout_name(encoding)}, but {first[0]} has {_layout_name(first[1])}"
            )
    return NoneAttr() if first is None else first[1]


def declared_encoding(result: SSAValue) -> Attribute:
    """The encoding of a result whose layout is free; row-major while its type is still being inferred."""
    return result.type.encoding if isinstance(result.type, TensorType) else NoneAttr()


def _layout_name(encoding: Attribute) -> str:
    return "row-major" if isinstance(encoding, NoneAttr) else str(encoding)
