"""Writing scalar regions: `Body` appends `arith` and `math` operations, one Python method for each idea.

Numbers may stand for values. Equal operations are made once, and index arithmetic with constants is folded, so that
a lowering can spell its formula in full and still produce short regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, f32, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from gecc.dialects.fused.base import is_unsigned, scalar_type
from gecc.dialects.fused.scalar import CheckIndexOp, LoadOp, YieldOp

Scalar: TypeAlias = SSAValue | int | float

INDEX = IndexType()

UNARY: dict[str, type[Operation]] = {
    op.name.removeprefix("math."): op
    for op in (
        math.AbsFOp, math.AbsIOp, math.AcosOp, math.AcoshOp, math.AsinOp, math.AsinhOp, math.AtanOp, math.AtanhOp,
        math.CeilOp, math.CosOp, math.CoshOp, math.ErfOp, math.ExpOp, math.FloorOp, math.Log1pOp, math.LogOp,
        math.RoundEvenOp, math.RsqrtOp, math.SinOp, math.SinhOp, math.SqrtOp, math.TanOp, math.TanhOp, math.TruncOp,
    )
}  # fmt: skip
"""Operations of one float that `Body.math` knows by the name after the dot."""

_FLOAT: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "max": arith.MaximumfOp,
    "min": arith.MinimumfOp,
    "pow": math.PowFOp,
}
_SIGNED: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "div": arith.DivSIOp,
    "rem": arith.RemSIOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "shl": arith.ShLIOp,
    "shr": arith.ShRSIOp,
}
_UNSIGNED: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    **_SIGNED,
    "div": arith.DivUIOp,
    "rem": arith.RemUIOp,
    "max": arith.MaxUIOp,
    "min": arith.MinUIOp,
    "shr": arith.ShRUIOp,
}
_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
}
_KINDS: dict[type[Operation], tuple[str, bool]] = {
    arith.AddiOp: ("add", False), arith.SubiOp: ("sub", False), arith.MuliOp: ("mul", False),
    arith.DivSIOp: ("div", False), arith.DivUIOp: ("div", True), arith.RemSIOp: ("rem", False),
    arith.RemUIOp: ("rem", True), arith.MaxSIOp: ("max", False), arith.MinSIOp: ("min", False),
}  # fmt: skip
"""Integer operation to its kind and whether it is unsigned: what `Body.copy` folds again on indices."""
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "uno": "uno"}


class Body:
    """Appends scalar operations to the block of a region."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._made: dict[tuple[object, ...], SSAValue] = {}
        self._ints: dict[SSAValue, int] = {}
        self._sums: dict[SSAValue, tuple[SSAValue, int]] = {}

    def emit(self, op: Operation) -> SSAValue:
        """Append `op`, or return the result of an equal operation made before."""
        key = (
            type(op),
            tuple(op.operands),
            tuple(sorted(((k, v) for k, v in op.properties.items()), key=lambda item: item[0])),
            tuple(op.result_types),
        )
        if key in self._made:
            op.drop_all_references()  # or its operands would count it among their uses
            return self._made[key]
        self.block.add_op(op)
        self._made[key] = op.results[0]
        return op.results[0]

    def copy(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """Append a copy of `op` on other operands; index arithmetic is folded again."""
        if isinstance(op.results[0].type, IndexType):
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
                return self.index(op.value.value.data)
            if type(op) in _KINDS:
                kind, unsigned = _KINDS[type(op)]
                return self.binary(kind, operands[0], operands[1], unsigned=unsigned)
        new = type(op).create(
            operands=operands,
            result_types=op.result_types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        new.results[0].name_hint = op.results[0].name_hint
        return self.emit(new)

    def constant(self, value: float, type: Attribute) -> SSAValue:
        """A constant of a float, integer or index type. Integers wrap to the type's width."""
        if isinstance(type, AnyFloat):
            return self.emit(arith.ConstantOp(FloatAttr(float(value), type)))
        if isinstance(type, IntegerType):
            return self.emit(arith.ConstantOp(IntegerAttr(int(value), type, truncate_bits=True)))
        assert isinstance(type, IndexType)
        result = self.emit(arith.ConstantOp(IntegerAttr(int(value), type)))
        self._ints[result] = int(value)
        return result

    def index(self, value: int) -> SSAValue:
        """An index constant."""
        return self.constant(value, INDEX)

    def known(self, value: Scalar) -> int | None:
        """The value of an index constant, None when it is not one."""
        return value if isinstance(value, int) else self._ints.get(value) if isinstance(value, SSAValue) else None

    def _pair(self, a: Scalar, b: Scalar) -> tuple[SSAValue, SSAValue]:
        if isinstance(a, SSAValue):
            return a, b if isinstance(b, SSAValue) else self.constant(b, a.type)
        if isinstance(b, SSAValue):
            return self.constant(a, b.type), b
        return self.index(int(a)), self.index(int(b))

    def load(self, tensor: SSAValue, indices: Sequence[Scalar]) -> SSAValue:
        """The element of a tensor argument at logical indices."""
        return self.emit(LoadOp(tensor, [i if isinstance(i, SSAValue) else self.index(int(i)) for i in indices]))

    def check_index(self, index: Scalar, bound: int) -> SSAValue:
        """`index`, failing the run unless it lies in [0, bound)."""
        return self.emit(CheckIndexOp(index if isinstance(index, SSAValue) else self.index(int(index)), bound))

    def binary(self, kind: str, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """`kind` is add, sub, mul, div, rem, max, min, and, or, xor, shl, shr, pow; the types of a and b choose the operation."""
        x, y = self.known(a), self.known(b)
        if x is not None and y is not None:
            if kind in _FOLD:
                return self.index(_FOLD[kind](x, y))
            if kind in ("div", "rem") and x >= 0 and y > 0:
                return self.index(x // y if kind == "div" else x % y)
        a, b = self._pair(a, b)
        if isinstance(a.type, IndexType):
            if (y == 0 and kind in ("add", "sub")) or (y == 1 and kind in ("mul", "div")):
                return a
            if (x == 0 and kind == "add") or (x == 1 and kind == "mul"):
                return b
            if (0 in (x, y) and kind == "mul") or (y == 1 and kind == "rem"):
                return self.index(0)
            if y is not None and kind in ("add", "sub"):
                return self._offset(a, y if kind == "add" else -y)
            if x is not None and kind == "add":
                return self._offset(b, x)
        if isinstance(a.type, AnyFloat):
            return self.emit(_FLOAT[kind](a, b))
        return self.emit((_UNSIGNED if unsigned else _SIGNED)[kind](a, b))

    def _offset(self, a: SSAValue, constant: int) -> SSAValue:
        """An index plus a constant; constants of a chain of sums are added up."""
        base, before = self._sums.get(a, (a, 0))
        total = before + constant
        if total == 0:
            return base
        op = arith.AddiOp if total > 0 else arith.SubiOp
        result = self.emit(op(base, self.index(abs(total))))
        self._sums[result] = (base, total)
        return result

    def add(self, a: Scalar, b: Scalar) -> SSAValue:
        """a + b."""
        return self.binary("add", a, b)

    def sub(self, a: Scalar, b: Scalar) -> SSAValue:
        """a - b."""
        return self.binary("sub", a, b)

    def mul(self, a: Scalar, b: Scalar) -> SSAValue:
        """a * b."""
        return self.binary("mul", a, b)

    def div(self, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """a / b; integers truncate towards zero, and b must not be 0 nor the quotient overflow."""
        return self.binary("div", a, b, unsigned=unsigned)

    def rem(self, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """The remainder of integers, with the sign of a."""
        return self.binary("rem", a, b, unsigned=unsigned)

    def maximum(self, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """The larger; NaN if either float is NaN."""
        return self.binary("max", a, b, unsigned=unsigned)

    def minimum(self, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """The smaller; NaN if either float is NaN."""
        return self.binary("min", a, b, unsigned=unsigned)

    def clamp(self, a: Scalar, low: Scalar, high: Scalar) -> SSAValue:
        """min(max(a, low), high), signed."""
        return self.minimum(self.maximum(a, low), high)

    def neg(self, a: SSAValue) -> SSAValue:
        """-a."""
        if isinstance(a.type, AnyFloat):
            return self.emit(arith.NegfOp(a))
        return self.binary("sub", self.constant(0, a.type), a)

    def compare(self, predicate: str, a: Scalar, b: Scalar, *, unsigned: bool = False) -> SSAValue:
        """eq, ne, lt, le, gt, ge; floats compare ordered, `ne` holds with NaN, `uno` is whether either is NaN."""
        a, b = self._pair(a, b)
        if isinstance(a.type, AnyFloat):
            return self.emit(arith.CmpfOp(a, b, _FLOAT_PREDICATES[predicate]))
        prefix = "" if predicate in ("eq", "ne") else "u" if unsigned else "s"
        return self.emit(arith.CmpiOp(a, b, prefix + predicate))

    def select(self, condition: SSAValue, a: Scalar, b: Scalar) -> SSAValue:
        """a where the i1 holds, else b. Both are evaluated."""
        a, b = self._pair(a, b)
        return a if a is b else self.emit(arith.SelectOp(condition, a, b))

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """The conjunction of conditions, where None is true."""
        if a is None or b is None:
            return b if a is None else a
        return self.binary("and", a, b)

    def math(self, name: str, a: SSAValue) -> SSAValue:
        """A function of one scalar: `exp`, `erf`, `absf`, `absi`, ... (the keys of UNARY)."""
        return self.emit(UNARY[name].create(operands=[a], result_types=[a.type], properties=_fastmath(name)))

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """a * b + c; floats are rounded once, integers wrap."""
        if not isinstance(a.type, AnyFloat):
            return self.add(self.mul(a, b), c)
        return self.emit(math.FmaOp.create(operands=[a, b, c], result_types=[a.type], properties=_fastmath("fma")))

    def to_index(self, a: SSAValue) -> SSAValue:
        """A signed integer as an index."""
        return self.emit(arith.IndexCastOp(a, INDEX))

    def from_index(self, a: SSAValue) -> SSAValue:
        """An index as an i64."""
        return self.emit(arith.IndexCastOp(a, i64))

    def convert(self, a: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """ONNX Cast between tensor element types; `a` has the scalar type of `source`.

        Floats round to nearest even, floats to integers truncate (wrapping through a wider integer when out of
        range, NaN unspecified), anything to bool is `!= 0`.
        """
        to = scalar_type(target)
        if source == target:
            return a
        if to == i1:
            return self.compare("ne", a, 0)
        if isinstance(source, AnyFloat):
            if isinstance(to, AnyFloat):
                return self._float_to_float(a, to)
            assert isinstance(to, IntegerType)
            if source.bitwidth < 32:
                a = self._float_to_float(a, f32)
            if is_unsigned(target) and to.width.data == 64:
                return self.emit(arith.FPToUIOp(a, to))
            wide = i64 if to.width.data == 64 or (is_unsigned(target) and to.width.data == 32) else i32
            return self._resize(self.emit(arith.FPToSIOp(a, wide)), to, unsigned=False)
        assert isinstance(a.type, IntegerType)
        unsigned = is_unsigned(source)
        if isinstance(to, AnyFloat):
            cast = arith.UIToFPOp if unsigned else arith.SIToFPOp
            if to.bitwidth < 32:
                return self._float_to_float(self.emit(cast(a, f32)), to)
            return self.emit(cast(a, to))
        assert isinstance(to, IntegerType)
        return self._resize(a, to, unsigned=unsigned)

    def _float_to_float(self, a: SSAValue, to: AnyFloat) -> SSAValue:
        assert isa(a.type, AnyFloat)
        if a.type == to:
            return a
        if a.type.bitwidth < to.bitwidth:
            return self.emit(arith.ExtFOp(a, to))
        if a.type.bitwidth > to.bitwidth:
            return self.emit(arith.TruncFOp(a, to))
        return self._float_to_float(self._float_to_float(a, f32), to)

    def _resize(self, a: SSAValue, to: IntegerType, *, unsigned: bool) -> SSAValue:
        assert isinstance(a.type, IntegerType)
        width, wanted = a.type.width.data, to.width.data
        if width == wanted:
            return a
        if width > wanted:
            return self.emit(arith.TruncIOp(a, to))
        return self.emit((arith.ExtUIOp if unsigned else arith.ExtSIOp)(a, to))

    def finish(self, value: SSAValue) -> None:
        """End the region with `value`, and remove what it does not need."""
        self.block.add_op(YieldOp(value))
        for op in reversed(list(self.block.ops)):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()


def _fastmath(name: str) -> dict[str, Attribute]:
    return {} if name == "absi" else {"fastmath": arith.FastMathFlagsAttr("none")}
