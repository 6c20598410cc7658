"""The arena bytes that a block of launches on tensors needs, for any order of its operations.

Counts as bufferization and the planner will: whole buffers of 64-byte multiples, views inside what they look into, nothing
for inputs, weights and results that are graph outputs, memory taken over in place where the kernel allows it. Phases are
not known yet: one operation at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from gecc.dialects.tile import LaunchOp, ViewOp, WeightOp
from gecc.memory.problem import align_up
from gecc.passes.tile.bufferize import ALIGNMENT, memory_bytes, memory_type


@dataclass(slots=True)
class Node:
    """An operation that computes, by its place among those of its block.

    needs    nodes that must come before
    users    nodes that must come after
    reads    buffers that it reads, one entry each
    makes    buffers that it writes
    inplace  buffers of which the first one made may take over the memory
    """

    op: Operation
    needs: set[int] = field(default_factory=set[int])
    users: set[int] = field(default_factory=set[int])
    reads: tuple[int, ...] = ()
    makes: tuple[int, ...] = ()
    inplace: tuple[int, ...] = ()


@dataclass(slots=True)
class GraphMemory:
    """The nodes of a block in program order, and the bytes and readers of each buffer; 0 bytes: not in the arena."""

    nodes: list[Node]
    sizes: list[int]
    readers: list[int]
    """How many nodes read each buffer."""

    def peak(self, order: Sequence[int]) -> int:
        """The most bytes alive at once when the nodes run in this order."""
        left = list(self.readers)
        live = top = 0
        for number in order:
            live, high = self.step(number, live, left)
            top = max(top, high)
        return top

    def step(self, number: int, live: int, left: list[int]) -> tuple[int, int]:
        """Bytes alive after a node and while it runs, from those before; `left`, readers to come, is updated."""
        node = self.nodes[number]
        dead = 0
        taken = 0
        for buffer in node.reads:
            left[buffer] -= 1
            if left[buffer] == 0:
                dead += self.sizes[buffer]
        made = sum(self.sizes[buffer] for buffer in node.makes)
        if node.makes and self.sizes[node.makes[0]]:
            first = self.sizes[node.makes[0]]
            if any(left[b] == 0 and self.sizes[b] >= first for b in node.inplace):
                taken = first
        unread = sum(self.sizes[buffer] for buffer in node.makes if not left[buffer])
        return live + made - dead - unread, live + made - taken

    @property
    def floor(self) -> int:
        """Bytes below which no order comes: those of the most demanding node alone."""
        best = 0
        for node in self.nodes:
            made = sum(self.sizes[b] for b in node.makes)
            free = max((self.sizes[b] for b in node.inplace), default=0)
            first = self.sizes[node.makes[0]] if node.makes else 0
            best = max(best, sum(self.sizes[b] for b in node.reads) + made - (first if free >= first else 0))
        return best


def graph_memory(block: Block) -> GraphMemory:
    """The memory of a block of launches on tensors, host calls, branches and loops."""
    nodes: list[Node] = []
    number_of: dict[Operation, int] = {}
    roots: dict[SSAValue, SSAValue] = {}
    buffers: dict[SSAValue, int] = {}
    sizes: list[int] = []
    readers: list[int] = []
    last = block.last_op
    terminator = last if last is not None and last.has_trait(IsTerminator) else None
    outside = _outside(terminator)
    previous_host: int | None = None
    for op in block.ops:
        if op is terminator or isinstance(op, WeightOp):
            continue
        if isinstance(op, ViewOp):
            roots[op.result] = _root(op.source, roots)
            continue
        number = number_of[op] = len(nodes)
        node = Node(op)
        for result in op.results:
            if result in outside or not isinstance(result.type, TensorType):
                continue
            buffers[result] = len(sizes)
            sizes.append(align_up(memory_bytes(memory_type(result.type, "a result")), ALIGNMENT))
            readers.append(0)
        node.makes = tuple(buffers[r] for r in op.results if r in buffers)
        read: dict[int, None] = {}
        for value in _operands(op):
            root = _root(value, roots)
            owner = root.owner
            if isinstance(owner, Operation) and owner in number_of and owner is not op:
                node.needs.add(number_of[owner])
            if root in buffers:
                read.setdefault(buffers[root])
        node.reads = tuple(read)
        for buffer in node.reads:
            readers[buffer] += 1
        if isinstance(op, LaunchOp):
            node.inplace = tuple(
                buffers[root]
                for index in op.inplace.get_values()
                if (root := _root(op.inputs[int(index)], roots)) in buffers
                and sum(_root(v, roots) is root for v in op.inputs) == 1
            )
        elif previous_host is not None:  # what is no launch may act beyond its results: such keep their order
            node.needs.add(previous_host)
        if not isinstance(op, LaunchOp):
            previous_host = number
        nodes.append(node)
    for number, node in enumerate(nodes):
        for need in node.needs:
            nodes[need].users.add(number)
    return GraphMemory(nodes, sizes, readers)


def _root(value: SSAValue, roots: dict[SSAValue, SSAValue]) -> SSAValue:
    return roots.get(value, value)


def _outside(terminator: Operation | None) -> set[SSAValue]:
    """What the block gives away: it lies in the caller's memory, not in the arena."""
    found: set[SSAValue] = set()
    for value in terminator.operands if terminator is not None else ():
        while isinstance(value.owner, ViewOp):
            value = value.owner.source
        found.add(value)
    return found


def _operands(op: Operation) -> list[SSAValue]:
    """Operands, and what regions use from outside."""
    if not op.regions:
        return list(op.operands)
    inner = [o for region in op.regions for o in region.walk()]
    blocks = [b for o in (op, *inner) for region in o.regions for b in region.blocks]
    own = {r for o in inner for r in o.results} | {a for b in blocks for a in b.args}
    return [*op.operands, *(v for o in inner for v in o.operands if v not in own)]
