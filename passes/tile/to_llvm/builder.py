"""Builds llvm-dialect code block by block, folding the trivial index arithmetic that address computations leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gecc.dialects import llvm

PTR = xllvm.LLVMPointerType()


@cache
def vector(element: Attribute, lanes: int) -> VectorType:
    """`vector<lanes x element>`."""
    return VectorType(element, [lanes])


@cache
def mangle(type_: Attribute) -> str:
    """A type as it stands in the name of an overloaded intrinsic: f32, i64, v16f32, p0."""
    if isinstance(type_, VectorType):
        return f"v{type_.get_shape()[0]}{mangle(type_.get_element_type())}"
    if isinstance(type_, xllvm.LLVMPointerType):
        return "p0"
    return str(type_)


# Properties are shared between operations: making an attribute costs more than making an operation from it.


@cache
def _gep_properties(offset: int) -> Mapping[str, Attribute]:
    """Of a byte offset, or with GEP_USE_SSA_VAL of one that comes as an operand."""
    return {
        "rawConstantIndices": DenseArrayBase.from_list(i32, [offset]),
        "elem_type": IntegerType(8),
        "noWrapFlags": IntegerAttr(0, i32),
    }


@cache
def _access_properties(align: int) -> Mapping[str, Attribute]:
    return {"ordering": IntegerAttr(0, i64), "alignment": IntegerAttr(align, i64)}


@cache
def _call_properties(name: str, args: int) -> Mapping[str, Attribute]:
    return dict(
        xllvm.CallIntrinsicOp.create(
            properties={
                "intrin": StringAttr(name),
                "op_bundle_sizes": DenseArrayBase.from_list(i32, ()),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, (args, 0)),
                "fastmathFlags": xllvm.FastMathAttr(None),
            }
        ).properties
    )


@cache
def _splat_mask(lanes: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [0] * lanes)


class Builder:
    """Appends operations at the end of `block`; constants go to the entry block, once each."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.entry = region.blocks[0]
        self.block = self.entry
        self._constants: dict[tuple[Attribute, Attribute], SSAValue] = {}
        self._ints: dict[tuple[int, IntegerType], SSAValue] = {}
        self._poison: dict[Attribute, SSAValue] = {}
        self._last_constant: Operation | None = None

    # --- blocks

    def new_block(self, arg_types: Sequence[Attribute] = ()) -> Block:
        """A new block, placed after all others when it is started."""
        return Block(arg_types=arg_types)

    def start(self, block: Block) -> None:
        """Continue in `block`, which must not have been started."""
        self.region.add_block(block)
        self.block = block

    def branch(self, dest: Block, *args: SSAValue) -> None:
        self.block.add_op(xllvm.BrOp(dest, *args))

    def branch_if(
        self, cond: SSAValue, then: Block, then_args: Sequence[SSAValue], other: Block, other_args: Sequence[SSAValue]
    ) -> None:
        self.block.add_op(xllvm.CondBrOp(cond, then, then_args, other, other_args))

    def add(self, op: Operation) -> SSAValue:
        """Append an operation with one result."""
        self.block.add_op(op)
        return op.results[0]

    def effect(self, op: Operation) -> None:
        """Append an operation without results."""
        self.block.add_op(op)

    # --- constants

    def constant(self, value: Attribute, type_: Attribute) -> SSAValue:
        key = (value, type_)
        if key not in self._constants:
            op = xllvm.ConstantOp(value, type_)
            self._place(op)
            self._constants[key] = op.result
        return self._constants[key]

    def _place(self, op: Operation) -> None:
        """Put a constant at the start of the entry block, after the constants that are there."""
        if self._last_constant is not None:
            self.entry.insert_op_after(op, self._last_constant)
        elif (first := self.entry.first_op) is not None:
            self.entry.insert_op_before(op, first)
        else:
            self.entry.add_op(op)
        self._last_constant = op

    def int(self, value: int, type_: IntegerType = i64) -> SSAValue:
        key = (value, type_)
        if key not in self._ints:
            self._ints[key] = self.constant(IntegerAttr(value, type_), type_)
        return self._ints[key]

    def scalar(self, value: float | int, type_: Attribute) -> SSAValue:
        """A constant of any scalar type."""
        if isinstance(type_, IntegerType):
            return self.int(int(value), type_)
        assert isinstance(type_, AnyFloat)
        return self.constant(FloatAttr(float(value), type_), type_)

    def splat_constant(self, value: float | int, type_: VectorType) -> SSAValue:
        """A vector whose lanes all are one number."""
        element = type_.get_element_type()
        if isinstance(element, IntegerType):
            attr = DenseIntOrFPElementsAttr.from_list(VectorType(element, type_.get_shape()), [int(value)])
        else:
            assert isinstance(element, AnyFloat)
            attr = DenseIntOrFPElementsAttr.from_list(VectorType(element, type_.get_shape()), [float(value)])
        return self.constant(attr, type_)

    def iota(self, lanes: int, type_: IntegerType, step: int = 1, start: int = 0) -> SSAValue:
        """<start, start + step, start + 2 * step, ...>."""
        values = [start + step * i for i in range(lanes)]
        attr = DenseIntOrFPElementsAttr.from_list(VectorType(type_, [lanes]), values)
        return self.constant(attr, vector(type_, lanes))

    @staticmethod
    def known(value: SSAValue) -> int | None:
        """The value of an integer constant, else None."""
        if isinstance(op := value.owner, xllvm.ConstantOp) and isinstance(op.value, IntegerAttr):
            return op.value.value.data
        return None

    # --- integer arithmetic on i64

    def iadd(self, a: SSAValue, b: SSAValue) -> SSAValue:
        x, y = self.known(a), self.known(b)
        if x is not None and y is not None and a.type == i64:
            return self.int(x + y)
        if x == 0:
            return b
        if y == 0:
            return a
        return self.add(xllvm.AddOp(a, b))

    def isub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        x, y = self.known(a), self.known(b)
        if x is not None and y is not None and a.type == i64:
            return self.int(x - y)
        return a if y == 0 else self.add(xllvm.SubOp(a, b))

    def imul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        x, y = self.known(a), self.known(b)
        if x is not None and y is not None and a.type == i64:
            return self.int(x * y)
        if x == 0 or y == 1:
            return a
        if y == 0 or x == 1:
            return b
        return self.add(xllvm.MulOp(a, b))

    def compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        number = xllvm.ICmpPredicateFlag(predicate).to_int()
        return self.add(xllvm.ICmpOp(a, b, IntegerAttr(number, i64)))

    # --- memory and vectors

    def gep(self, base: SSAValue, offset: SSAValue) -> SSAValue:
        """`base` plus `offset` bytes."""
        known = self.known(offset)
        if known == 0:
            return base
        constant = known is not None and abs(known) < 1 << 31
        op = xllvm.GEPOp.create(
            operands=[base] if constant else [base, offset],
            result_types=[PTR],
            properties=dict(_gep_properties(known if constant and known is not None else xllvm.GEP_USE_SSA_VAL)),
        )
        return self.add(op)

    def load(self, pointer: SSAValue, type_: Attribute, align: int) -> SSAValue:
        properties = dict(_access_properties(align))
        return self.add(xllvm.LoadOp.create(operands=[pointer], result_types=[type_], properties=properties))

    def store(self, value: SSAValue, pointer: SSAValue, align: int) -> None:
        self.effect(xllvm.StoreOp.create(operands=[value, pointer], properties=dict(_access_properties(align))))

    def splat(self, value: SSAValue, lanes: int) -> SSAValue:
        """All lanes equal to a scalar."""
        if isinstance(op := value.owner, xllvm.ConstantOp):
            attr = op.value
            if isinstance(attr, IntegerAttr | FloatAttr):
                return self.splat_constant(attr.value.data, vector(value.type, lanes))
        vec = vector(value.type, lanes)
        poison = self.poison(vec)
        first = self.add(xllvm.InsertElementOp.create(operands=[poison, value, self.int(0, i32)], result_types=[vec]))
        return self.add(
            xllvm.ShuffleVectorOp.create(
                operands=[first, poison], result_types=[vec], properties={"mask": _splat_mask(lanes)}
            )
        )

    def poison(self, type_: Attribute) -> SSAValue:
        """A value that nothing depends on, made once for each type."""
        if type_ not in self._poison:
            op = llvm.PoisonOp(type_)
            self._place(op)
            self._poison[type_] = op.result
        return self._poison[type_]

    def intrinsic(
        self, name: str, args: Sequence[SSAValue], result: Attribute | None, align: int | None = None
    ) -> SSAValue | None:
        """Call an intrinsic by its whole name; `align` is what its pointer arguments promise."""
        op = xllvm.CallIntrinsicOp.create(
            operands=args,
            result_types=[result] if result is not None else [],
            properties=dict(_call_properties(name, len(args))),
        )
        if align is not None:
            op.attributes["alignment"] = IntegerAttr(align, i64)
        self.block.add_op(op)
        return op.results[0] if op.results else None

    def call(self, name: str, args: Sequence[SSAValue], result: Attribute) -> SSAValue:
        """An intrinsic with a result; `name` is completed by the mangled result type."""
        value = self.intrinsic(f"{name}.{mangle(result)}", args, result)
        assert value is not None
        return value

    def opaque(self, value: SSAValue) -> SSAValue:
        """The same i64 or pointer, but LLVM may assume nothing about it (keeps address arithmetic as written)."""
        return self.add(xllvm.InlineAsmOp("", "=r,0", [value], [value.type]))

    def mask_to_bytes(self, mask: SSAValue) -> SSAValue:
        """Bits (i1 or a vector of them) as bytes 0 and 1."""
        return self.add(xllvm.ZExtOp(mask, llvm.like(mask.type, IntegerType(8))))

    def bytes_to_mask(self, value: SSAValue) -> SSAValue:
        """Bytes as bits: not zero."""
        zero = self.splat_constant(0, value.type) if isinstance(value.type, VectorType) else self.int(0, IntegerType(8))
        return self.compare("ne", value, zero)
