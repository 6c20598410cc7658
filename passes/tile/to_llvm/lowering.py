"""The state of one kernel's lowering, and the table from operation class to emitter.

A value of the tile level becomes one of: `Uniform` (one llvm value, the same in all lanes), `Linear` (an index that
is base + step * lane; so a load at it is a vector load), `Strided` (the same with a step that is known at run time),
`Varying` (a vector, one element a lane), `RegisterTile` (vectors in rows) or `Memory` (a pointer). Outside lanes
everything is uniform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import BFloat16Type, IndexType, IntegerType, MemRefType, i1, i16, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gecc.errors import CodegenError
from gecc.passes.tile.to_llvm.builder import Builder, vector
from gecc.passes.tile.to_llvm.checks import Bounds, Checks
from gecc.target import Target


@dataclass(frozen=True)
class Uniform:
    """One llvm value, the same for all lanes."""

    ssa: SSAValue


@dataclass(frozen=True)
class Linear:
    """An index that grows by a constant step from lane to lane."""

    base: SSAValue
    step: int


@dataclass(frozen=True)
class Strided:
    """An index that is `base` plus the lane's element of the vector `steps`, which is the same in all turns of a loop."""

    base: SSAValue
    steps: SSAValue


@dataclass(frozen=True)
class Varying:
    """A vector with an element for each lane."""

    ssa: SSAValue


@dataclass(frozen=True)
class RegisterTile:
    """Rows of vectors."""

    rows: tuple[tuple[SSAValue, ...], ...]


@dataclass(frozen=True)
class Memory:
    """A pointer to elements of a type, and in a checked kernel how many there are."""

    pointer: SSAValue
    element: Attribute
    bounds: Bounds | None = None


LaneIndex = Linear | Strided | Varying
"""An index that differs between lanes."""

Value = Uniform | LaneIndex | RegisterTile | Memory


@dataclass(frozen=True)
class Lanes:
    """Inside lanes: their number, and which of them run (all when None)."""

    width: int
    mask: SSAValue | None


def register_type(type_: Attribute) -> Attribute:
    """The llvm type of a scalar: index is i64, integers are signless, bf16 is its bits (see tile-expand-math)."""
    if isinstance(type_, IndexType):
        return i64
    if isinstance(type_, IntegerType):
        return IntegerType(type_.width.data)
    return i16 if isinstance(type_, BFloat16Type) else type_


def memory_type(type_: Attribute) -> Attribute:
    """The llvm type of an element in memory: bits are bytes."""
    return IntegerType(8) if type_ == i1 else register_type(type_)


def byte_width(type_: Attribute) -> int:
    """Bytes of an element in memory."""
    memory = memory_type(type_)
    if isinstance(memory, IntegerType):
        return memory.width.data // 8
    return memory.bitwidth // 8  # pyright: ignore[reportAttributeAccessIssue]


Emitter = Callable[["KernelLowering", Operation], None]
EMITTERS: dict[type[Operation], Emitter] = {}


def lowers(*classes: type[Operation]) -> Callable[[Emitter], Emitter]:
    """Register the emitter of operation classes."""

    def register(emitter: Emitter) -> Emitter:
        for cls in classes:
            EMITTERS[cls] = emitter
        return emitter

    return register


class KernelLowering:
    """Lowers one kernel: `values` maps what has been lowered, `lanes` is set inside lanes."""

    def __init__(self, builder: Builder, target: Target, name: str) -> None:
        self.b = builder
        self.target = target
        self.name = name
        self.values: dict[SSAValue, Value] = {}
        self.lanes: Lanes | None = None
        self.scratch: SSAValue | None = None
        self.state: SSAValue | None = None
        self.checks: Checks | None = None
        """Set in a checked kernel: see `gecc.passes.tile.to_llvm.checks`."""

    def block(self, block: Block) -> None:
        """Lower all operations of a block but its terminator."""
        for op in block.ops:
            if op is block.last_op and not op.results and not op.regions and op.name.endswith(("yield", "return")):
                return
            self.operation(op)

    def operation(self, op: Operation) -> None:
        emitter = EMITTERS.get(type(op))
        if emitter is None:
            raise CodegenError(
                f"no machine code for operation '{op.name}' in kernel @{self.name}",
                hint="expand it to arith operations in passes/tile/expand_math or add an emitter to passes/tile/to_llvm",
            )
        emitter(self, op)

    def align(self, natural: int) -> int:
        """The alignment that an access may assume: `natural`, or none in a checked kernel."""
        return natural if self.checks is None else 1

    # --- reading values

    def memory(self, value: SSAValue) -> Memory:
        found = self.values[value]
        assert isinstance(found, Memory)
        return found

    def uniform(self, value: SSAValue) -> SSAValue:
        """The llvm value of something that must be the same in all lanes."""
        found = self.values[value]
        if not isinstance(found, Uniform):
            raise CodegenError(f"kernel @{self.name}: value {value} differs between lanes where one value is needed")
        return found.ssa

    def is_uniform(self, *values: SSAValue) -> bool:
        return all(isinstance(self.values[value], Uniform) for value in values)

    def vector(self, value: SSAValue) -> SSAValue:
        """The vector of a value's lanes, broadcast or computed when needed."""
        assert self.lanes is not None
        return self.as_vector(self.values[value])

    def as_vector(self, value: Value) -> SSAValue:
        assert self.lanes is not None
        width = self.lanes.width
        match value:
            case Varying(ssa):
                return ssa
            case Uniform(ssa):
                return self.b.splat(ssa, width)
            case Linear(base, step):
                from xdsl.dialects import llvm as xllvm

                return self.b.add(xllvm.AddOp(self.b.splat(base, width), self.b.iota(width, i64, step)))
            case Strided(base, steps):
                from xdsl.dialects import llvm as xllvm

                return self.b.add(xllvm.AddOp(self.b.splat(base, width), steps))
            case _:
                raise CodegenError(f"kernel @{self.name}: {type(value).__name__} is no scalar")

    def set(self, value: SSAValue, lowered: Value) -> None:
        self.values[value] = lowered

    def elementwise(self, op: Operation, build: Callable[[Sequence[SSAValue]], SSAValue]) -> None:
        """Lower a scalar operation: once when all operands are uniform, else on vectors."""
        if self.is_uniform(*op.operands):
            self.set(op.results[0], Uniform(build([self.uniform(v) for v in op.operands])))
        else:
            self.set(op.results[0], Varying(build([self.vector(v) for v in op.operands])))

    def result_type(self, op: Operation) -> Attribute:
        """The llvm type of an elementwise operation's result, a vector unless all operands are uniform."""
        type_ = register_type(op.results[0].type)
        if self.is_uniform(*op.operands):
            return type_
        assert self.lanes is not None
        return vector(type_, self.lanes.width)


def memory_element(memory: SSAValue) -> Attribute:
    """The element type of a memref value."""
    assert isinstance(memory.type, MemRefType)
    return memory.type.element_type
