"""Which parts of a tile.join may be made where they lie in it, so that nothing copies them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from gecc.dialects.tile import JoinOp, KernelOp, LaunchOp, MmaOp, ViewOp
from gecc.passes.tile._sizes import memory_bytes, memory_type


@dataclass(frozen=True, slots=True)
class Home:
    """The place of a tensor: part `number` of a join, `offset` bytes from its start."""

    join: JoinOp
    number: int
    offset: int


def homes(block: Block) -> dict[SSAValue, Home]:
    """The results of launches and joins of a block that lie in a join from the start.

    A part may when it is all of what a launch or join of this block makes, seen through views. It may not when

    - the join is marked `copied`, or an earlier part or join has it already: the same tensor lies in one place;
    - the block gives it away: it lies in the caller's memory;
    - a kernel reads it as the packed side of a product, which starts on a cache line: a part starts anywhere;
    - the join is given away by a branch or a loop, whose old values must stay until the join is reached.
    """
    last = block.last_op
    given = _roots(last) if last is not None and last.has_trait(IsTerminator) else set[SSAValue]()
    outermost = isinstance(block.parent_op(), FuncOp)
    aligned: dict[str, frozenset[int]] | None = None
    found: dict[SSAValue, Home] = {}
    for join in block.ops:
        if not isinstance(join, JoinOp) or join.copied is not None or (join.result in given and not outermost):
            continue
        aligned = _aligned_operands(block) if aligned is None else aligned
        offset = 0
        for number, part in enumerate(join.parts):
            root, size = root_of(part), tensor_bytes(part)
            owner = root.owner
            if (
                isinstance(owner, LaunchOp | JoinOp)
                and owner.parent is block
                and size
                and tensor_bytes(root) == size
                and root not in found
                and root not in given
                and not _is_aligned(root, aligned)
            ):
                found[root] = Home(join, number, offset)
            offset += size
    return found


def blocks_of(function: FuncOp) -> list[Block]:
    """The blocks of a function and of its branches and loops."""
    return [*function.body.blocks, *(b for op in function.body.walk() for r in op.regions for b in r.blocks)]


def root_of(value: SSAValue) -> SSAValue:
    """What `value` is a view of."""
    while isinstance(value.owner, ViewOp):
        value = value.owner.source
    return value


def tensor_bytes(value: SSAValue) -> int:
    """Bytes of a tensor."""
    return memory_bytes(memory_type(value.type, "a part"))


def _roots(op: Operation) -> set[SSAValue]:
    return {root_of(value) for value in op.operands}


def _aligned_operands(block: Block) -> dict[str, frozenset[int]]:
    """Kernel to the operands that it reads as whole panels."""
    top = block.parent_op()
    while top is not None and not isinstance(top, ModuleOp):
        top = top.parent_op()
    found: dict[str, frozenset[int]] = {}
    for kernel in top.ops if isinstance(top, ModuleOp) else ():
        if isinstance(kernel, KernelOp):
            arguments: list[SSAValue] = list(kernel.body.block.args)
            panels = [op.rhs for op in kernel.walk() if isinstance(op, MmaOp)]
            found[kernel.sym_name.data] = frozenset(arguments.index(p) for p in panels if p in arguments)
    return found


def _is_aligned(root: SSAValue, aligned: dict[str, frozenset[int]]) -> bool:
    """Whether a launch reads `root`, or a view of it, as panels."""
    for use in root.uses:
        user = use.operation
        if isinstance(user, ViewOp) and _is_aligned(user.result, aligned):
            return True
        if isinstance(user, LaunchOp) and use.index in aligned.get(user.kernel.string_value(), ()):
            return True
    return False
