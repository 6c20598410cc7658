"""The numpy meaning of scalar operations: signless integers, predicates, casts."""

from __future__ import annotations

import math as pymath

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation
from xdsl.irdl import IRDLOperation

from gecc.interp.scalar import evaluate, is_scalar_op, scalar_dtype


def values(*types: Attribute) -> Block:
    return Block(arg_types=types)


@pytest.mark.parametrize(
    ("cls", "a", "b", "want"),
    [
        (arith.DivSIOp, -7, 2, -3),
        (arith.DivSIOp, 7, -2, -3),
        (arith.DivSIOp, -6, 2, -3),
        (arith.DivSIOp, 5, 0, 0),
        (arith.DivUIOp, -1, 2, 127),
        (arith.FloorDivSIOp, -7, 2, -4),
        (arith.RemSIOp, -7, 3, -1),
        (arith.RemUIOp, -1, 16, 15),
        (arith.MaxSIOp, -1, 3, 3),
        (arith.MaxUIOp, -1, 3, -1),
        (arith.MinUIOp, -1, 3, 3),
        (arith.AddiOp, 127, 1, -128),
        (arith.MuliOp, 100, 3, 44),
        (arith.ShLIOp, 3, 2, 12),
        (arith.ShRSIOp, -8, 1, -4),
        (arith.ShRUIOp, -8, 1, 124),
        (arith.XOrIOp, 5, -1, -6),
    ],
)
def test_integers(cls: type[IRDLOperation], a: int, b: int, want: int) -> None:
    x, y = values(i8, i8).args
    got = evaluate(cls.create(operands=[x, y], result_types=[i8]), [np.array([a], np.int8), np.array([b], np.int8)])
    assert got.dtype == np.int8
    assert got.tolist() == [want]


NAN = pymath.nan
PREDICATES = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()


@pytest.mark.parametrize("predicate", PREDICATES)
def test_float_comparisons(predicate: str) -> None:
    x, y = values(f32, f32).args
    pairs = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (NAN, 1.0), (1.0, NAN)]
    got = evaluate(arith.CmpfOp(x, y, predicate), [np.array(c, np.float32) for c in zip(*pairs, strict=True)])

    def want(a: float, b: float) -> bool:
        unordered = a != a or b != b
        simple = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": not unordered and a != b}
        match predicate:
            case "false" | "true":
                return predicate == "true"
            case "ord" | "uno":
                return unordered == (predicate == "uno")
            case _:
                return simple[predicate[1:]] or (unordered and predicate[0] == "u")

    assert got.tolist() == [want(a, b) for a, b in pairs]


@pytest.mark.parametrize(
    ("predicate", "want"), [("slt", True), ("ult", False), ("sge", False), ("uge", True), ("eq", False), ("ne", True)]
)
def test_integer_comparisons(predicate: str, want: bool) -> None:
    x, y = values(i32, i32).args
    assert evaluate(arith.CmpiOp(x, y, predicate), [np.array(-1, np.int32), np.array(1, np.int32)]) == want


@pytest.mark.parametrize(
    ("cls", "source", "target", "value", "want"),
    [
        (arith.ExtUIOp, i8, i32, -1, 255),
        (arith.ExtSIOp, i8, i32, -1, -1),
        (arith.ExtUIOp, i1, i8, True, 1),
        (arith.ExtSIOp, i1, i8, True, -1),
        (arith.TruncIOp, i32, i8, 300, 44),
        (arith.TruncIOp, i8, i1, 2, False),
        (arith.UIToFPOp, i8, f32, -1, 255.0),
        (arith.SIToFPOp, i8, f32, -1, -1.0),
        (arith.FPToSIOp, f32, i32, -2.7, -2),
        (arith.FPToUIOp, f32, i8, 200.0, -56),
        (arith.IndexCastOp, i32, IndexType(), -3, -3),
        (arith.ExtFOp, f16, f32, 0.5, 0.5),
        (arith.TruncFOp, f64, bf16, 1 + 2**-8, 1.0),
        (arith.BitcastOp, f32, i32, 1.0, 0x3F800000),
    ],
)
def test_casts(cls: type[IRDLOperation], source: Attribute, target: Attribute, value: float, want: float) -> None:
    (x,) = values(source).args
    got = evaluate(cls.create(operands=[x], result_types=[target]), [np.array(value).astype(scalar_dtype(source))])
    assert got.dtype == scalar_dtype(target)
    assert got == want


def test_nan_in_maximum_and_maxnum() -> None:
    x, y = values(f32, f32).args
    operands = [np.array(NAN, np.float32), np.array(1, np.float32)]
    assert np.isnan(evaluate(arith.MaximumfOp(x, y), operands))
    assert evaluate(arith.MaxnumfOp(x, y), operands) == 1


def test_fma_rounds_once() -> None:
    x, y, z = values(f32, f32, f32).args
    a = np.float32(1 + 2**-12)
    got = evaluate(math.FmaOp(x, y, z), [np.array(v, np.float32) for v in (a, a, -(a * a))])
    assert got == np.float32(float(a) * float(a) - float(np.float32(a * a)))
    assert got != 0


@pytest.mark.parametrize("type", [Float16Type(), BFloat16Type()])
def test_half_formats_are_computed_in_f32(type: Attribute) -> None:
    (x,) = values(type).args
    one = np.array([1.0], np.float32).astype(scalar_dtype(type))
    got = evaluate(math.ExpOp.create(operands=[x], result_types=[type]), [one])
    assert got.dtype == scalar_dtype(type)
    assert got == np.exp(np.float32(1)).astype(scalar_dtype(type))


def test_f32_can_stand_for_float64() -> None:
    wide = np.dtype(np.float64)
    got = evaluate(arith.ConstantOp.from_int_and_width(3, IndexType()), [], wide)
    assert got.dtype == np.int64
    (x,) = values(i64).args
    assert evaluate(arith.SIToFPOp(x, f32), [np.array(2**53 + 2)], wide) == 2**53 + 2


def test_unknown_operation_is_an_error() -> None:
    (x,) = values(i32).args
    op: Operation = math.CountLeadingZerosOp.create(operands=[x], result_types=[i32])
    assert not is_scalar_op(op)
    with pytest.raises(NotImplementedError, match=r"math\.ctlz has no numpy meaning"):
        evaluate(op, [np.array(1, np.int32)])
