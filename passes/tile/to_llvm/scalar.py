"""Emitters for arith and math: one llvm operation or a few, on scalars or on the vectors of lanes."""

from __future__ import annotations

import math as math_
import struct
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import BFloat16Type, FloatAttr, IndexType, IntegerAttr, IntegerType, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import llvm
from gecc.passes.tile.to_llvm.builder import Builder
from gecc.passes.tile.to_llvm.lowering import KernelLowering, Linear, Strided, Uniform, lowers, register_type

Binary = Callable[[SSAValue, SSAValue], Operation]

_FLOAT: dict[type[Operation], Binary] = {
    arith.AddfOp: xllvm.FAddOp,
    arith.SubfOp: xllvm.FSubOp,
    arith.MulfOp: xllvm.FMulOp,
    arith.DivfOp: xllvm.FDivOp,
}
_INTEGER: dict[type[Operation], Binary] = {
    arith.AndIOp: xllvm.AndOp,
    arith.OrIOp: xllvm.OrOp,
    arith.XOrIOp: xllvm.XOrOp,
}
_SHIFT: dict[type[Operation], Binary] = {
    arith.ShLIOp: xllvm.ShlOp,
    arith.ShRUIOp: xllvm.LShrOp,
    arith.ShRSIOp: xllvm.AShrOp,
}


@lowers(*_FLOAT, *_INTEGER)
def _binary(k: KernelLowering, op: Operation) -> None:
    build = _FLOAT.get(type(op)) or _INTEGER[type(op)]
    k.elementwise(op, lambda args: k.b.add(build(args[0], args[1])))


@lowers(*_SHIFT)
def _shift(k: KernelLowering, op: Operation) -> None:
    def build(args: Sequence[SSAValue]) -> SSAValue:
        amount = args[1] if k.checks is None else k.checks.amount(args[1])
        return k.b.add(_SHIFT[type(op)](args[0], amount))

    k.elementwise(op, build)


@lowers(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)
def _divide(k: KernelLowering, op: Operation) -> None:
    signed = isinstance(op, arith.DivSIOp | arith.RemSIOp)
    build = quotient if isinstance(op, arith.DivSIOp | arith.DivUIOp) else remainder
    k.elementwise(op, lambda args: build(k, args[0], _divisor(k, args[1]), signed))


def quotient(k: KernelLowering, x: SSAValue, y: SSAValue, signed: bool) -> SSAValue:
    """x / y, rounded toward zero."""
    divide = xllvm.SDivOp if signed else xllvm.UDivOp
    if k.checks is None:
        return k.b.add(divide(x, y))
    y, minus = k.checks.divisor(y, signed)
    result = k.b.add(divide(x, y))
    if minus is None:
        return result
    return k.b.add(llvm.SelectOp(minus, k.b.add(xllvm.SubOp(_zero(k.b, x), x)), result))


def remainder(k: KernelLowering, x: SSAValue, y: SSAValue, signed: bool) -> SSAValue:
    """What x / y leaves, of the sign of x."""
    if k.checks is not None:
        y, _ = k.checks.divisor(y, signed)  # 1 in the place of -1 leaves the same: nothing
    return k.b.add((xllvm.SRemOp if signed else xllvm.URemOp)(x, y))


def _zero(b: Builder, like: SSAValue) -> SSAValue:
    return b.splat_constant(0, like.type) if isinstance(like.type, VectorType) else b.scalar(0, like.type)


def _divisor(k: KernelLowering, value: SSAValue) -> SSAValue:
    """A divisor that is 1 in lanes that do not run: they loaded 0, by which a division would trap."""
    if k.lanes is None or k.lanes.mask is None or not isinstance(value.type, VectorType):
        return value
    return k.b.add(llvm.SelectOp(k.lanes.mask, value, k.b.splat_constant(1, value.type)))


@lowers(arith.ConstantOp)
def _constant(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    assert isinstance(op.value, IntegerAttr | FloatAttr)
    type_, value = register_type(op.result.type), op.value.value.data
    if isinstance(op.result.type, BFloat16Type):
        value = bfloat16_bits(value)
    k.set(op.result, Uniform(k.b.scalar(value, type_)))


def bfloat16_bits(value: float) -> int:
    """The bits of a number as bf16, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return 0x7FC0 if math_.isnan(value) else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


@lowers(arith.AddiOp, arith.SubiOp)
def _add(k: KernelLowering, op: Operation) -> None:
    combine = k.b.iadd if isinstance(op, arith.AddiOp) else k.b.isub
    sign = 1 if isinstance(op, arith.AddiOp) else -1
    if isinstance(op.results[0].type, IndexType):
        a, b = (k.values[v] for v in op.operands)
        match a, b:
            case Linear(x, s), Linear(y, t):
                step = s + sign * t
                base = combine(x, y)
                k.set(op.results[0], Linear(base, step) if step else Uniform(base))
                return
            case Linear(x, s), Uniform(y):
                k.set(op.results[0], Linear(combine(x, y), s))
                return
            case Uniform(x), Linear(y, t):
                k.set(op.results[0], Linear(combine(x, y), sign * t))
                return
            case Strided(x, steps), Uniform(y):
                k.set(op.results[0], Strided(combine(x, y), steps))
                return
            case Uniform(x), Strided(y, steps) if sign > 0:
                k.set(op.results[0], Strided(combine(x, y), steps))
                return
            case _:
                pass
    build = xllvm.AddOp if isinstance(op, arith.AddiOp) else xllvm.SubOp
    if k.is_uniform(*op.operands):
        k.set(op.results[0], Uniform(combine(k.uniform(op.operands[0]), k.uniform(op.operands[1]))))
    else:
        k.elementwise(op, lambda args: k.b.add(build(args[0], args[1])))


@lowers(arith.MuliOp)
def _multiply(k: KernelLowering, op: Operation) -> None:
    if isinstance(op.results[0].type, IndexType):
        pair = [k.values[v] for v in op.operands]
        for linear, other in (pair, pair[::-1]):
            if isinstance(linear, Linear) and isinstance(other, Uniform):
                factor = Builder.known(other.ssa)
                base = k.b.imul(linear.base, other.ssa)
                if factor is None:
                    assert k.lanes is not None
                    width = k.lanes.width
                    steps = xllvm.MulOp(k.b.iota(width, i64, linear.step), k.b.splat(other.ssa, width))
                    k.set(op.results[0], Strided(base, k.b.add(steps)))
                    return
                if factor != 0:
                    k.set(op.results[0], Linear(base, linear.step * factor))
                    return
    if k.is_uniform(*op.operands):
        k.set(op.results[0], Uniform(k.b.imul(k.uniform(op.operands[0]), k.uniform(op.operands[1]))))
    else:
        k.elementwise(op, lambda args: k.b.add(xllvm.MulOp(args[0], args[1])))


def _element(type_: Attribute) -> Attribute:
    return type_.get_element_type() if isinstance(type_, VectorType) else type_


def minmax(b: Builder, x: SSAValue, y: SSAValue, greater: bool, signed: bool = True) -> SSAValue:
    """The larger (or smaller) of two values; NaN when either is NaN."""
    if isinstance(_element(x.type), IntegerType):
        prefix = "s" if signed else "u"
        return b.add(llvm.SelectOp(b.compare(f"{prefix}{'gt' if greater else 'lt'}", x, y), x, y))
    ordered = 2 if greater else 4  # ogt, olt: with the operands in this order x86 has them as one max or min
    for first, second in ((x, y), (y, x)):
        if _is_number(first):  # then an unordered comparison means that `second` is NaN, which the select returns
            return b.add(llvm.SelectOp(b.add(llvm.FCmpOp(ordered, first, second)), first, second))
    best = b.add(llvm.SelectOp(b.add(llvm.FCmpOp(ordered, x, y)), x, y))
    return b.add(llvm.SelectOp(b.add(llvm.FCmpOp(8 + 6, x, x)), x, best))  # uno: x is NaN


def _is_number(value: SSAValue) -> bool:
    """Whether a value is a constant that is not NaN."""
    if not isinstance(op := value.owner, xllvm.ConstantOp):
        return False
    if isinstance(op.value, FloatAttr):
        return op.value.value.data == op.value.value.data
    return isinstance(value.type, VectorType)  # splat constants come from the builder, never of NaN


@lowers(arith.MaximumfOp, arith.MinimumfOp)
def _minmax_float(k: KernelLowering, op: Operation) -> None:
    k.elementwise(op, lambda args: minmax(k.b, args[0], args[1], isinstance(op, arith.MaximumfOp)))


@lowers(arith.MaxnumfOp, arith.MinnumfOp)
def _minmax_number(k: KernelLowering, op: Operation) -> None:
    name = "llvm.maxnum" if isinstance(op, arith.MaxnumfOp) else "llvm.minnum"
    type_ = k.result_type(op)
    k.elementwise(op, lambda args: k.b.call(name, args, type_))


@lowers(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp)
def _minmax_integer(k: KernelLowering, op: Operation) -> None:
    greater = isinstance(op, arith.MaxSIOp | arith.MaxUIOp)
    signed = isinstance(op, arith.MaxSIOp | arith.MinSIOp)
    k.elementwise(op, lambda args: minmax(k.b, args[0], args[1], greater, signed))


@lowers(arith.FloorDivSIOp)
def _floor_divide(k: KernelLowering, op: Operation) -> None:
    def build(args: Sequence[SSAValue]) -> SSAValue:
        b, (x, y) = k.b, (args[0], _divisor(k, args[1]))
        result = quotient(k, x, y, signed=True)
        rest = b.add(xllvm.SubOp(x, b.add(xllvm.MulOp(result, y))))
        zero = _zero(b, x)
        signs_differ = b.compare("slt", b.add(xllvm.XOrOp(rest, y)), zero)
        adjust = b.add(xllvm.AndOp(b.compare("ne", rest, zero), signs_differ))
        return b.add(xllvm.AddOp(result, b.add(xllvm.SExtOp(adjust, x.type))))

    k.elementwise(op, build)


@lowers(arith.CeilDivSIOp, arith.CeilDivUIOp)
def _ceil_divide(k: KernelLowering, op: Operation) -> None:
    def build(args: Sequence[SSAValue]) -> SSAValue:
        b, (x, y) = k.b, (args[0], _divisor(k, args[1]))
        one = b.splat_constant(1, x.type) if isinstance(x.type, VectorType) else b.scalar(1, x.type)
        raised = b.add(xllvm.SubOp(b.add(xllvm.AddOp(x, y)), one))
        return quotient(k, raised, y, signed=isinstance(op, arith.CeilDivSIOp))

    k.elementwise(op, build)


@lowers(arith.CmpfOp)
def _compare_float(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, arith.CmpfOp)
    predicate = op.predicate.value.data
    k.elementwise(op, lambda args: k.b.add(llvm.FCmpOp(predicate, args[0], args[1])))


@lowers(arith.CmpiOp)
def _compare_int(k: KernelLowering, op: Operation) -> None:
    assert isinstance(op, arith.CmpiOp)
    number = IntegerAttr(op.predicate.value.data, i64)
    k.elementwise(op, lambda args: k.b.add(xllvm.ICmpOp(args[0], args[1], number)))


@lowers(arith.SelectOp)
def _select(k: KernelLowering, op: Operation) -> None:
    k.elementwise(op, lambda args: k.b.add(llvm.SelectOp(args[0], args[1], args[2])))


@lowers(arith.NegfOp)
def _negate(k: KernelLowering, op: Operation) -> None:
    k.elementwise(op, lambda args: k.b.add(xllvm.FNegOp(args[0])))


_CONVERT: dict[type[Operation], Callable[[SSAValue, Attribute], Operation]] = {
    arith.ExtFOp: xllvm.FPExtOp,
    arith.TruncFOp: xllvm.FPTruncOp,
    arith.SIToFPOp: xllvm.SIToFPOp,
    arith.UIToFPOp: llvm.UIToFPOp,
    arith.FPToSIOp: llvm.FPToSIOp,
    arith.FPToUIOp: llvm.FPToUIOp,
    arith.ExtSIOp: xllvm.SExtOp,
    arith.ExtUIOp: xllvm.ZExtOp,
    arith.TruncIOp: xllvm.TruncOp,
    arith.BitcastOp: xllvm.BitcastOp,
}


@lowers(*_CONVERT)
def _convert(k: KernelLowering, op: Operation) -> None:
    type_ = k.result_type(op)
    open_ended = k.checks is not None and isinstance(op, arith.FPToSIOp | arith.FPToUIOp)

    def build(args: Sequence[SSAValue]) -> SSAValue:
        value = k.b.add(_CONVERT[type(op)](args[0], type_))
        return k.checks.freeze(value) if k.checks is not None and open_ended else value

    k.elementwise(op, build)


def _width(type_: Attribute) -> int:
    element = _element(type_)
    assert isinstance(element, IntegerType)
    return element.width.data


@lowers(arith.IndexCastOp)
def _index_cast(k: KernelLowering, op: Operation) -> None:
    type_ = k.result_type(op)

    def build(args: Sequence[SSAValue]) -> SSAValue:
        source, target = _width(args[0].type), _width(type_)
        if source == target:
            return args[0]
        return k.b.add(xllvm.SExtOp(args[0], type_) if source < target else xllvm.TruncOp(args[0], type_))

    if isinstance(value := k.values[op.operands[0]], Linear) and isinstance(op.results[0].type, IndexType):
        k.set(op.results[0], value)
    else:
        k.elementwise(op, build)


_INTRINSICS: dict[type[Operation], str] = {
    math.SqrtOp: "llvm.sqrt",
    math.FloorOp: "llvm.floor",
    math.CeilOp: "llvm.ceil",
    math.RoundEvenOp: "llvm.roundeven",
    math.TruncOp: "llvm.trunc",
    math.AbsFOp: "llvm.fabs",
    math.FmaOp: "llvm.fma",
    math.CopySignOp: "llvm.copysign",
}


@lowers(*_INTRINSICS)
def _intrinsic(k: KernelLowering, op: Operation) -> None:
    type_ = k.result_type(op)
    k.elementwise(op, lambda args: k.b.call(_INTRINSICS[type(op)], args, type_))


@lowers(math.AbsIOp)
def _absolute(k: KernelLowering, op: Operation) -> None:
    def build(args: Sequence[SSAValue]) -> SSAValue:
        b, x = k.b, args[0]
        zero = b.splat_constant(0, x.type) if isinstance(x.type, VectorType) else b.scalar(0, x.type)
        return b.add(llvm.SelectOp(b.compare("slt", x, zero), b.add(xllvm.SubOp(zero, x)), x))

    k.elementwise(op, build)


def combine(b: Builder, kind: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Two partial results of a reduction as one."""
    integer = isinstance(_element(x.type), IntegerType)
    match kind:
        case "add":
            return b.add(xllvm.AddOp(x, y) if integer else xllvm.FAddOp(x, y))
        case "mul":
            return b.add(xllvm.MulOp(x, y) if integer else xllvm.FMulOp(x, y))
        case "max" | "min":
            return minmax(b, x, y, kind == "max")
        case "and":
            return b.add(xllvm.AndOp(x, y))
        case "or":
            return b.add(xllvm.OrOp(x, y))
        case _:
            raise ValueError(f"unknown combiner '{kind}'")
