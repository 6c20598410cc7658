"""The arena bytes that a block of launches on tensors needs, for any order of its operations.

Counts as bufferization and the planner will: whole buffers of 64-byte multiples, views inside what they look into, what is
joined in pieces, nothing for inputs, weights and results that are graph outputs, memory taken over in place where the kernel
allows it. Phases are not known yet: one operation at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from gecc.dialects.tile import JoinOp, LaunchOp, ViewOp, WeightOp
from gecc.memory.problem import align_up
from gecc.passes.tile._joins import Home, homes, root_of, tensor_bytes
from gecc.passes.tile._sizes import ALIGNMENT


@dataclass(slots=True)
class Node:
    """An operation that computes, by its place among those of its block.

    needs    nodes that must come before
    users    nodes that must come after
    reads    buffers that it reads, one entry each
    makes    buffers that it writes
    inplace  groups of buffers of which the first one made may take over the memory
    """

    op: Operation
    needs: set[int] = field(default_factory=set[int])
    users: set[int] = field(default_factory=set[int])
    reads: tuple[int, ...] = ()
    makes: tuple[int, ...] = ()
    inplace: tuple[tuple[int, ...], ...] = ()


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
            if any(self._bytes(group) >= first and not any(left[b] for b in group) for group in node.inplace):
                taken = first
        unread = sum(self.sizes[buffer] for buffer in node.makes if not left[buffer])
        return live + made - dead - unread, live + made - taken

    @property
    def floor(self) -> int:
        """Bytes below which no order comes: those of the most demanding node alone."""
        best = 0
        for node in self.nodes:
            made = sum(self.sizes[b] for b in node.makes)
            free = max((self._bytes(group) for group in node.inplace), default=0)
            first = self.sizes[node.makes[0]] if node.makes else 0
            best = max(best, sum(self.sizes[b] for b in node.reads) + made - (first if free >= first else 0))
        return best

    def _bytes(self, buffers: Sequence[int]) -> int:
        return sum(self.sizes[buffer] for buffer in buffers)


def graph_memory(block: Block) -> GraphMemory:
    """The memory of a block of launches on tensors, host calls, branches and loops."""
    nodes: list[Node] = []
    number_of: dict[Operation, int] = {}
    held: dict[SSAValue, tuple[int, ...]] = {}  # the buffers that a tensor lies in
    makers: dict[SSAValue, frozenset[int]] = {}  # the nodes that make it
    sizes: list[int] = []
    readers: list[int] = []
    last = block.last_op
    terminator = last if last is not None and last.has_trait(IsTerminator) else None
    places = homes(block)
    outside = _outside(terminator, places)
    previous_host: int | None = None

    def buffer(bytes: int) -> tuple[int]:
        sizes.append(align_up(bytes, ALIGNMENT))
        readers.append(0)
        return (len(sizes) - 1,)

    for op in block.ops:
        if op is terminator or isinstance(op, WeightOp):
            continue
        if isinstance(op, ViewOp):
            held[op.result], makers[op.result] = held.get(op.source, ()), makers.get(op.source, frozenset())
            continue
        operands = _operands(op)
        if isinstance(op, JoinOp):
            operands = [part for i, part in enumerate(op.parts) if not _lies_there(op, i, places)]
            there = [part for i, part in enumerate(op.parts) if _lies_there(op, i, places)]
            held[op.result] = tuple(b for part in there for b in held.get(part, ()))
            makers[op.result] = frozenset[int]().union(*(makers.get(part, ()) for part in there))
            if not any(tensor_bytes(part) for part in operands):
                continue  # nothing is copied
        number = number_of[op] = len(nodes)
        node = Node(op)
        for result in op.results:
            makers[result] = makers.get(result, frozenset()) | {number}
            if result in outside or not isinstance(result.type, TensorType):
                continue
            bytes = sum(map(tensor_bytes, operands)) if isinstance(op, JoinOp) else tensor_bytes(result)
            made = buffer(bytes)
            node.makes += made
            held[result] = (*held.get(result, ()), *made)
        for value in op.operands if isinstance(op, JoinOp) else operands:
            node.needs |= makers.get(value, frozenset())
        node.reads = tuple(dict.fromkeys(b for value in operands for b in held.get(value, ())))
        for read in node.reads:
            readers[read] += 1
        if isinstance(op, LaunchOp):
            node.inplace = tuple(
                group
                for index in op.inplace.get_values()
                if (group := held.get(op.inputs[int(index)], ()))
                and sum(not set(group).isdisjoint(held.get(v, ())) for v in op.inputs) == 1
            )
        elif not isinstance(op, JoinOp):
            if previous_host is not None:  # what is no launch may act beyond its results: such keep their order
                node.needs.add(previous_host)
            previous_host = number
        nodes.append(node)
    for number, node in enumerate(nodes):
        for need in node.needs:
            nodes[need].users.add(number)
    return GraphMemory(nodes, sizes, readers)


def _lies_there(join: JoinOp, number: int, places: Mapping[SSAValue, Home]) -> bool:
    """Whether a part needs no copy."""
    home = places.get(root_of(join.parts[number]))
    return home is not None and home.join is join and home.number == number


def _outside(terminator: Operation | None, places: Mapping[SSAValue, Home]) -> set[SSAValue]:
    """What the block gives away: it lies in the caller's memory, not in the arena."""
    found: set[SSAValue] = set()
    stack = [root_of(value) for value in terminator.operands] if terminator is not None else []
    while stack:
        value = stack.pop()
        if value in found:
            continue
        found.add(value)
        if isinstance(join := value.owner, JoinOp):
            stack += [root_of(part) for i, part in enumerate(join.parts) if _lies_there(join, i, places)]
    return found


def _operands(op: Operation) -> list[SSAValue]:
    """Operands, and what regions use from outside."""
    if not op.regions:
        return list(op.operands)
    inner = [o for region in op.regions for o in region.walk()]
    blocks = [b for o in (op, *inner) for region in o.regions for b in region.blocks]
    own = {r for o in inner for r in o.results} | {a for b in blocks for a in b.args}
    return [*op.operands, *(v for o in inner for v in o.operands if v not in own)]
