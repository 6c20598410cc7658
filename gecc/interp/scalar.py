"""What the scalar operations of `arith` and `math` mean, on numpy arrays of any shape.

One table for the fused and the tile level. Values: floats as their dtype, integers signless as signed numpy
integers (unsigned operations view them as unsigned), `i1` as bool, `index` as int64. Arithmetic never warns:
overflow wraps, division by zero gives what IEEE says, and for integers 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation

from gecc.interp.special import erf
from gecc.weights import numpy_dtype

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Function: TypeAlias = Callable[..., Array]


F32 = np.dtype(np.float32)


def scalar_dtype(type: Attribute, f32: np.dtype[Any] = F32) -> np.dtype[Any]:
    """The numpy dtype that holds scalars of `type`: `i8` as int8, `i1` as bool, `index` as int64.

    `f32` stands for f32: float64 makes a yardstick of a computation.
    """
    if isinstance(type, Float32Type):
        return f32
    return np.dtype(np.int64) if isinstance(type, IndexType) else numpy_dtype(type)


def unsigned_view(a: Array) -> Array:
    """The same bits read as unsigned integers; bool stays."""
    return a if a.dtype == np.bool_ else a.view(np.dtype(f"u{a.dtype.itemsize}"))


def signless_view(a: Array) -> Array:
    """The same bits as the dtype regions use: unsigned integers become signed, everything else stays."""
    return a.view(np.dtype(f"i{a.dtype.itemsize}")) if a.dtype.kind == "u" else a


def divide_integers(a: Array, b: Array) -> Array:
    """Signed quotient rounded towards zero; 0 where b is 0."""
    quotient = np.floor_divide(a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0)) & (b != 0)
    return (quotient + inexact).astype(a.dtype)


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in a wider format, rounded to the dtype of a."""
    wide = np.float64 if a.dtype.itemsize < 8 else np.longdouble
    return (a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(a.dtype)


def _unsigned(function: Function) -> Function:
    return lambda a, b: signless_view(function(unsigned_view(a), unsigned_view(b)))


def _wide(function: Function) -> Function:
    """Functions of one float; half formats are computed in f32 and rounded."""
    return lambda x: (function(x.astype(np.float32)) if x.dtype.itemsize == 2 else function(x)).astype(x.dtype)


def _round_half_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def power_of_integers(x: Array, n: Array) -> Array:
    """x^n, wrapping; for n < 0 it is 1 / x^-n rounded towards zero, and 0 for x = 0."""
    x, n = np.broadcast_arrays(x, n)
    result, square, left = np.ones_like(x), x.copy(), np.where(n < 0, 0, n)
    while left.any():
        result = np.where(left & 1, result * square, result)
        square = square * square
        left = left >> 1
    reciprocal = np.where(x == 1, 1, np.where(x == -1, np.where(n & 1, -1, 1), 0)).astype(x.dtype)
    return np.where(n < 0, reciprocal, result)


_SIMPLE: dict[type[Operation], Function] = {
    arith.AddfOp: np.add, arith.SubfOp: np.subtract, arith.MulfOp: np.multiply, arith.DivfOp: np.divide,
    arith.NegfOp: np.negative, arith.MaximumfOp: np.maximum, arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax, arith.MinnumfOp: np.fmin,
    arith.AddiOp: np.add, arith.SubiOp: np.subtract, arith.MuliOp: np.multiply,
    arith.DivSIOp: divide_integers, arith.RemSIOp: np.fmod, arith.FloorDivSIOp: np.floor_divide,
    arith.DivUIOp: _unsigned(np.floor_divide), arith.RemUIOp: _unsigned(np.remainder),
    arith.MaxSIOp: np.maximum, arith.MinSIOp: np.minimum,
    arith.MaxUIOp: _unsigned(np.maximum), arith.MinUIOp: _unsigned(np.minimum),
    arith.AndIOp: np.bitwise_and, arith.OrIOp: np.bitwise_or, arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift, arith.ShRSIOp: np.right_shift, arith.ShRUIOp: _unsigned(np.right_shift),
    arith.SelectOp: np.where,
    math.AbsFOp: np.abs, math.AbsIOp: np.abs, math.CeilOp: np.ceil, math.FloorOp: np.floor,
    math.RoundEvenOp: np.rint, math.RoundOp: _round_half_away, math.TruncOp: np.trunc,
    math.CosOp: np.cos, math.SinOp: np.sin, math.TanOp: np.tan, math.AcosOp: _wide(np.arccos),
    math.AsinOp: _wide(np.arcsin), math.AtanOp: _wide(np.arctan), math.Atan2Op: np.arctan2,
    math.CoshOp: _wide(np.cosh), math.SinhOp: _wide(np.sinh), math.TanhOp: _wide(np.tanh),
    math.AcoshOp: _wide(np.arccosh), math.AsinhOp: _wide(np.arcsinh), math.AtanhOp: _wide(np.arctanh),
    math.ExpOp: _wide(np.exp), math.Exp2Op: _wide(np.exp2), math.ExpM1Op: np.expm1, math.LogOp: _wide(np.log),
    math.Log1pOp: np.log1p, math.Log2Op: np.log2, math.Log10Op: np.log10,
    math.SqrtOp: np.sqrt, math.RsqrtOp: lambda x: (1 / np.sqrt(x)).astype(x.dtype), math.CbrtOp: np.cbrt,
    math.ErfOp: erf, math.PowFOp: np.power, math.IPowIOp: power_of_integers,
    math.FPowIOp: lambda x, n: np.power(x, n.astype(np.float64)).astype(x.dtype), math.CopySignOp: np.copysign, math.FmaOp: fma,
}  # fmt: skip

_INT_PREDICATES: tuple[tuple[Function, bool], ...] = (
    (np.equal, False), (np.not_equal, False), (np.less, False), (np.less_equal, False), (np.greater, False),
    (np.greater_equal, False), (np.less, True), (np.less_equal, True), (np.greater, True), (np.greater_equal, True),
)  # fmt: skip
_FLOAT_PREDICATES: tuple[Function, ...] = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
"""In the order of oeq .. one (1 to 6), and of ueq .. une (8 to 13)."""


def _cmpi(op: arith.CmpiOp, f32: np.dtype[Any], a: Array, b: Array) -> Array:
    function, unsigned = _INT_PREDICATES[op.predicate.value.data]
    return function(unsigned_view(a), unsigned_view(b)) if unsigned else function(a, b)


def _cmpf(op: arith.CmpfOp, f32: np.dtype[Any], a: Array, b: Array) -> Array:
    predicate = op.predicate.value.data
    if predicate in (0, 15):
        return np.full(np.broadcast_shapes(a.shape, b.shape), predicate == 15)
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (7, 14):
        return unordered if predicate == 14 else ~unordered
    if predicate < 7:
        return _FLOAT_PREDICATES[predicate - 1](a, b) & ~unordered
    return _FLOAT_PREDICATES[predicate - 8](a, b) | unordered


def _constant(op: arith.ConstantOp, f32: np.dtype[Any]) -> Array:
    if not isinstance(op.value, IntegerAttr | FloatAttr):
        raise NotImplementedError(f"arith.constant of {op.result.type}: only scalars have a meaning here")
    return np.asarray(op.value.value.data).astype(scalar_dtype(op.result.type, f32))


def _cast(op: Operation, f32: np.dtype[Any], a: Array) -> Array:
    return a.astype(scalar_dtype(op.results[0].type, f32))


def _from_unsigned(op: Operation, f32: np.dtype[Any], a: Array) -> Array:
    return _cast(op, f32, unsigned_view(a))


def _fptoui(op: arith.FPToUIOp, f32: np.dtype[Any], a: Array) -> Array:
    target = scalar_dtype(op.result.type)
    return signless_view(a.astype(np.dtype(f"u{target.itemsize}")))


def _extsi(op: Operation, f32: np.dtype[Any], a: Array) -> Array:
    return _cast(op, f32, -a.astype(np.int8) if a.dtype == np.bool_ else a)


def _trunci(op: arith.TruncIOp, f32: np.dtype[Any], a: Array) -> Array:
    assert isinstance(op.result.type, IntegerType)
    return (a & 1).astype(np.bool_) if op.result.type.width.data == 1 else _cast(op, f32, a)


def _truncf(op: Operation, f32: np.dtype[Any], a: Array) -> Array:
    if isinstance(op.results[0].type, BFloat16Type) and a.dtype == np.float64:
        a = a.astype(np.float32)
    return _cast(op, f32, a)


def _bitcast(op: arith.BitcastOp, f32: np.dtype[Any], a: Array) -> Array:
    return a.view(scalar_dtype(op.result.type))


_WITH_OP: dict[type[Operation], Function] = {
    arith.ConstantOp: _constant, arith.CmpiOp: _cmpi, arith.CmpfOp: _cmpf, arith.BitcastOp: _bitcast,
    arith.IndexCastOp: _cast, arith.FPToSIOp: _cast, arith.FPToUIOp: _fptoui, arith.SIToFPOp: _cast,
    arith.UIToFPOp: _from_unsigned, arith.ExtFOp: _cast, arith.TruncFOp: _truncf, arith.TruncIOp: _trunci,
    arith.ExtSIOp: _extsi, arith.ExtUIOp: _from_unsigned,
}  # fmt: skip


def is_scalar_op(op: Operation) -> bool:
    """Whether `evaluate` knows the meaning of `op`."""
    return type(op) in _SIMPLE or type(op) in _WITH_OP


def evaluate(op: Operation, operands: Sequence[Array], f32: np.dtype[Any] = F32) -> Array:
    """The value of one `arith` or `math` operation on arrays that broadcast against each other.

    `f32` is the dtype that stands for f32. Raises NotImplementedError for an operation without a meaning here.
    """
    with np.errstate(all="ignore"):
        if (function := _SIMPLE.get(type(op))) is not None:
            return np.asarray(function(*operands))
        if (function := _WITH_OP.get(type(op))) is not None:
            return np.asarray(function(op, f32, *operands))
    raise NotImplementedError(f"{op.name} has no numpy meaning")
