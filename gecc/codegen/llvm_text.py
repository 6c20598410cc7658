"""llvm-dialect functions to LLVM IR text.

A table from operation class to emitter; an operation without an emitter is an error, so nothing is ever dropped
silently. Block arguments become phi nodes, constants are written where they are used.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import cache

from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gecc.dialects import llvm
from gecc.errors import CodegenError

_FLOATS: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
}


@cache
def type_text(type_: Attribute) -> str:
    """A type in LLVM's spelling."""
    if isinstance(type_, IntegerType):
        return f"i{type_.width.data}"
    if isinstance(type_, xllvm.LLVMPointerType):
        return "ptr"
    if isinstance(type_, VectorType):
        return f"<{type_.get_shape()[0]} x {type_text(type_.get_element_type())}>"
    if isinstance(type_, xllvm.LLVMVoidType):
        return "void"
    if type(type_) in _FLOATS:
        return _FLOATS[type(type_)]
    raise CodegenError(f"no LLVM type for {type_}")


def float_text(value: float, type_: Attribute) -> str:
    """A float constant, exact, in hexadecimal."""
    if isinstance(type_, Float32Type):
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    if isinstance(type_, Float16Type):
        return "0xH" + struct.pack(">e", value).hex().upper()
    if isinstance(type_, BFloat16Type):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits += 0x7FFF + ((bits >> 16) & 1)
        return f"0xR{bits >> 16:04X}"
    return "0x" + struct.pack(">d", value).hex().upper()


def constant_text(value: Attribute, type_: Attribute) -> str:
    """A constant without its type."""
    if isinstance(value, IntegerAttr):
        if type_ == IntegerType(1):
            return "true" if value.value.data else "false"
        return str(value.value.data)
    if isinstance(value, FloatAttr):
        return float_text(value.value.data, type_)
    assert isinstance(value, DenseIntOrFPElementsAttr)
    assert isinstance(type_, VectorType)
    element = type_.get_element_type()
    name = type_text(element)
    items = value.get_values()
    lanes = type_.get_shape()[0]
    texts = [
        float_text(float(v), element)
        if not isinstance(element, IntegerType)
        else (("true" if v else "false") if element.width.data == 1 else str(int(v)))
        for v in items
    ]
    if len(set(texts)) == 1:
        if texts[0] in ("0", "false", "0x0000000000000000"):
            return "zeroinitializer"
        return f"splat ({name} {texts[0]})"
    if len(texts) != lanes:
        raise CodegenError(f"constant of {len(texts)} values for {type_text(type_)}")
    return "<" + ", ".join(f"{name} {text}" for text in texts) + ">"


class _Function:
    """Text of one function."""

    def __init__(self, func: xllvm.FuncOp, declarations: dict[str, str]) -> None:
        self.func = func
        self.declarations = declarations
        self.names: dict[SSAValue, str] = {}
        self.count = 0
        self.labels: dict[Block, str] = {block: f"b{i}" for i, block in enumerate(func.body.blocks)}
        self.incoming: dict[Block, list[tuple[str, list[SSAValue]]]] = {}
        self.lines: list[str] = []

    def name(self, value: SSAValue) -> str:
        """An operand: a literal for constants, else a register."""
        if (known := self.names.get(value)) is not None:
            return known
        match value.owner:
            case xllvm.ConstantOp() as op:
                name = constant_text(op.value, value.type)
            case llvm.PoisonOp() | xllvm.UndefOp():
                name = "poison"
            case xllvm.ZeroOp():
                name = "zeroinitializer"
            case _:
                name = f"%v{self.count}"
                self.count += 1
        self.names[value] = name
        return name

    def typed(self, value: SSAValue) -> str:
        return f"{type_text(value.type)} {self.name(value)}"

    def emit(self) -> list[str]:
        blocks = list(self.func.body.blocks)
        for block in blocks:
            last = block.last_op
            if isinstance(last, xllvm.BrOp):
                edges = [(last.successor, list(last.arguments))]
            elif isinstance(last, xllvm.CondBrOp):
                edges = [
                    (last.then_block, list(last.then_arguments)),
                    (last.else_block, list(last.else_arguments)),
                ]
                if last.then_block is last.else_block and edges[0][1] != edges[1][1]:
                    raise CodegenError("a conditional branch gives one block two different sets of arguments")
            else:
                edges = []
            for dest, args in edges:
                self.incoming.setdefault(dest, []).append((self.labels[block], args))
        type_ = self.func.function_type
        params = ", ".join(self.typed(arg) for arg in blocks[0].args)
        linkage = self.func.linkage.linkage.data
        prefix = "" if linkage == "external" else linkage + " "
        self.lines.append(f"define {prefix}{type_text(type_.output)} @{self.func.sym_name.data}({params}) #0 {{")
        for number, block in enumerate(blocks):
            self.lines.append(f"{self.labels[block]}:")
            if number:
                for position, arg in enumerate(block.args):
                    pairs = ", ".join(
                        f"[ {self.name(args[position])}, %{label} ]" for label, args in self.incoming.get(block, [])
                    )
                    self.lines.append(f"  {self.name(arg)} = phi {type_text(arg.type)} {pairs}")
            for op in block.ops:
                self.operation(op)
        self.lines.append("}")
        return self.lines

    def operation(self, op: Operation) -> None:
        emitter = _EMITTERS.get(type(op))
        if emitter is None:
            raise CodegenError(f"no LLVM text for operation '{op.name}'")
        emitter(self, op)

    def assign(self, op: Operation, text: str) -> None:
        self.lines.append(f"  {self.name(op.results[0])} = {text}")


Emitter = Callable[[_Function, Operation], None]
_EMITTERS: dict[type[Operation], Emitter] = {}


def _emits(*classes: type[Operation]) -> Callable[[Emitter], Emitter]:
    def register(emitter: Emitter) -> Emitter:
        for cls in classes:
            _EMITTERS[cls] = emitter
        return emitter

    return register


@_emits(xllvm.ConstantOp, llvm.PoisonOp, xllvm.UndefOp, xllvm.ZeroOp)
def _literal(f: _Function, op: Operation) -> None:
    """Written where it is used."""


_BINARY: dict[type[Operation], str] = {
    xllvm.AddOp: "add",
    xllvm.SubOp: "sub",
    xllvm.MulOp: "mul",
    xllvm.UDivOp: "udiv",
    xllvm.SDivOp: "sdiv",
    xllvm.URemOp: "urem",
    xllvm.SRemOp: "srem",
    xllvm.AndOp: "and",
    xllvm.OrOp: "or",
    xllvm.XOrOp: "xor",
    xllvm.ShlOp: "shl",
    xllvm.LShrOp: "lshr",
    xllvm.AShrOp: "ashr",
    xllvm.FAddOp: "fadd",
    xllvm.FSubOp: "fsub",
    xllvm.FMulOp: "fmul",
    xllvm.FDivOp: "fdiv",
    xllvm.FRemOp: "frem",
}


@_emits(*_BINARY)
def _binary(f: _Function, op: Operation) -> None:
    lhs, rhs = op.operands
    f.assign(op, f"{_BINARY[type(op)]} {f.typed(lhs)}, {f.name(rhs)}")


_CONVERSION: dict[type[Operation], str] = {
    xllvm.TruncOp: "trunc",
    xllvm.ZExtOp: "zext",
    xllvm.SExtOp: "sext",
    xllvm.BitcastOp: "bitcast",
    xllvm.SIToFPOp: "sitofp",
    xllvm.FPExtOp: "fpext",
    xllvm.FPTruncOp: "fptrunc",
    xllvm.IntToPtrOp: "inttoptr",
    xllvm.PtrToIntOp: "ptrtoint",
    llvm.FPToSIOp: "fptosi",
    llvm.FPToUIOp: "fptoui",
    llvm.UIToFPOp: "uitofp",
}


@_emits(*_CONVERSION)
def _conversion(f: _Function, op: Operation) -> None:
    f.assign(op, f"{_CONVERSION[type(op)]} {f.typed(op.operands[0])} to {type_text(op.results[0].type)}")


@_emits(xllvm.FNegOp)
def _negate(f: _Function, op: Operation) -> None:
    f.assign(op, f"fneg {f.typed(op.operands[0])}")


@_emits(llvm.FreezeOp)
def _freeze(f: _Function, op: Operation) -> None:
    f.assign(op, f"freeze {f.typed(op.operands[0])}")


@_emits(xllvm.ICmpOp)
def _icmp(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.ICmpOp)
    predicate = xllvm.ICmpPredicateFlag.from_int(op.predicate.value.data)
    f.assign(op, f"icmp {predicate} {f.typed(op.lhs)}, {f.name(op.rhs)}")


@_emits(llvm.FCmpOp)
def _fcmp(f: _Function, op: Operation) -> None:
    assert isinstance(op, llvm.FCmpOp)
    predicate = str(xllvm.FCmpPredicateFlag.from_int(op.predicate.value.data)).lstrip("_")
    f.assign(op, f"fcmp {predicate} {f.typed(op.lhs)}, {f.name(op.rhs)}")


@_emits(llvm.SelectOp)
def _select(f: _Function, op: Operation) -> None:
    f.assign(op, "select " + ", ".join(f.typed(v) for v in op.operands))


@_emits(xllvm.GEPOp)
def _gep(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.GEPOp)
    indices = list(op.rawConstantIndices.get_values())
    dynamic = iter(op.ssa_indices)
    texts = [f.typed(next(dynamic)) if i == xllvm.GEP_USE_SSA_VAL else f"i64 {i}" for i in indices]
    f.assign(op, f"getelementptr {type_text(op.elem_type)}, {f.typed(op.ptr)}, {', '.join(texts)}")


@_emits(llvm.LaneAddressesOp)
def _lane_addresses(f: _Function, op: Operation) -> None:
    assert isinstance(op, llvm.LaneAddressesOp)
    f.assign(op, f"getelementptr i8, {f.typed(op.pointer)}, {f.typed(op.offsets)}")


def _alignment(op: xllvm.LoadOp | xllvm.StoreOp) -> str:
    if op.alignment is None:
        raise CodegenError(f"'{op.name}' states no alignment")
    if op.ordering is not None and op.ordering.value.data:
        raise CodegenError(f"'{op.name}': atomic ordering is not supported")
    return f", align {op.alignment.value.data}"


@_emits(xllvm.LoadOp)
def _load(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.LoadOp)
    f.assign(op, f"load {type_text(op.dereferenced_value.type)}, {f.typed(op.ptr)}{_alignment(op)}")


@_emits(xllvm.StoreOp)
def _store(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.StoreOp)
    f.lines.append(f"  store {f.typed(op.value)}, {f.typed(op.ptr)}{_alignment(op)}")


@_emits(xllvm.InsertElementOp)
def _insert(f: _Function, op: Operation) -> None:
    f.assign(op, "insertelement " + ", ".join(f.typed(v) for v in op.operands))


@_emits(llvm.ExtractElementOp)
def _extract(f: _Function, op: Operation) -> None:
    f.assign(op, "extractelement " + ", ".join(f.typed(v) for v in op.operands))


@_emits(xllvm.ShuffleVectorOp)
def _shuffle(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.ShuffleVectorOp)
    values = op.mask.get_values()
    mask = "zeroinitializer" if not any(values) else "<" + ", ".join(f"i32 {v}" for v in values) + ">"
    f.assign(op, f"shufflevector {f.typed(op.v1)}, {f.typed(op.v2)}, <{len(values)} x i32> {mask}")


@_emits(xllvm.CallIntrinsicOp)
def _intrinsic(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.CallIntrinsicOp)
    alignment = op.attributes.get("alignment")

    def argument(value: SSAValue) -> str:
        pointers = isinstance(value.type, xllvm.LLVMPointerType) or (
            isinstance(value.type, VectorType) and isinstance(value.type.get_element_type(), xllvm.LLVMPointerType)
        )
        if isinstance(alignment, IntegerAttr) and pointers:
            return f"{type_text(value.type)} align {alignment.value.data} {f.name(value)}"
        return f.typed(value)

    result = type_text(op.results[0].type) if op.results else "void"
    name = op.intrin.data
    f.declarations[name] = f"declare {result} @{name}({', '.join(type_text(v.type) for v in op.args)})"
    call = f"call {result} @{name}({', '.join(argument(v) for v in op.args)})"
    if op.results:
        f.assign(op, call)
    else:
        f.lines.append("  " + call)


@_emits(xllvm.InlineAsmOp)
def _asm(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.InlineAsmOp)
    effects = "sideeffect " if op.has_side_effects is not None else ""
    result = type_text(op.results[0].type) if op.results else "void"
    args = ", ".join(f.typed(v) for v in op.operands)
    call = f'call {result} asm {effects}"{op.asm_string.data}", "{op.constraints.data}"({args})'
    if op.results:
        f.assign(op, call)
    else:
        f.lines.append("  " + call)


@_emits(xllvm.BrOp)
def _branch(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.BrOp)
    f.lines.append(f"  br label %{f.labels[op.successor]}")


@_emits(xllvm.CondBrOp)
def _branch_if(f: _Function, op: Operation) -> None:
    assert isinstance(op, xllvm.CondBrOp)
    then, other = f.labels[op.then_block], f.labels[op.else_block]
    f.lines.append(f"  br {f.typed(op.cond)}, label %{then}, label %{other}")


@_emits(xllvm.ReturnOp)
def _return(f: _Function, op: Operation) -> None:
    f.lines.append(f"  ret {f.typed(op.operands[0])}" if op.operands else "  ret void")


def functions_text(functions: Iterable[xllvm.FuncOp], vector_bits: int) -> str:
    """LLVM IR of some functions as one module. Raises CodegenError naming an operation that has no text."""
    declarations: dict[str, str] = {}
    lines: list[str] = []
    for func in functions:
        lines += _Function(func, declarations).emit()
    head = [declarations[name] for name in sorted(declarations)]
    attributes = (
        'attributes #0 = { nounwind "frame-pointer"="all" '
        f'"prefer-vector-width"="{vector_bits}" "min-legal-vector-width"="{vector_bits}" }}'
    )
    return "\n".join([*head, *lines, attributes, ""])


def module_text(module: ModuleOp, vector_bits: int) -> str:
    """LLVM IR of all functions of a module."""
    return functions_text((op for op in module.ops if isinstance(op, xllvm.FuncOp)), vector_bits)
