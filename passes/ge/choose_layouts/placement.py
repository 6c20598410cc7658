"""Which operations write NHWC: the labelling that moves the fewest bytes, as a minimum cut.

Every operation that may write either layout is a node; the source stands for NHWC, the sink for row-major. A value
costs its bytes once when some consumer wants the other layout than its producer writes, however many there are: one
node per value and direction collects the consumers. A Transpose that moves nothing in one layout pays for the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge.choose_layouts.min_cut import FlowNetwork
from gecc.passes.ge.choose_layouts.rules import (
    RANK,
    Gives,
    Need,
    cost,
    gives,
    need,
    rank,
    same_bytes,
    transpose_is_free,
)

_NEVER = 1 << 60


@dataclass
class Placement:
    """The operations whose results of rank 4 are written in NHWC."""

    nhwc: dict[Operation, bool] = field(default_factory=dict)

    def writes_nhwc(self, value: SSAValue) -> bool:
        """Whether the producer of `value` writes it in NHWC."""
        return isinstance(value.owner, Operation) and self.nhwc.get(value.owner, False)

    def wants_nhwc(self, op: Operation, index: int) -> bool | None:
        """Whether `op` reads operand `index` in NHWC; None when it takes what it gets."""
        match need(op, index):
            case Need.NHWC:
                return True
            case Need.ROW_MAJOR:
                return False
            case Need.AS_RESULT:
                return self.nhwc.get(op, False)
            case Need.ANY:
                return None


def place(block: Block) -> Placement:
    """The cheapest placement for the operations of one block."""
    network = FlowNetwork()
    node: dict[Operation, int] = {}
    for op in block.ops:
        if any(rank(result) == RANK for result in op.results):
            match gives(op):
                case Gives.NHWC:
                    node[op] = network.source
                case Gives.ROW_MAJOR:
                    node[op] = network.sink
                case Gives.EITHER:
                    node[op] = network.add_node()
    for value in [*block.args, *(result for op in block.ops for result in op.results)]:
        if rank(value) == RANK:
            owner = value.owner
            _add_value(network, node, value, node[owner] if isinstance(owner, Operation) else network.sink)
    for op in block.ops:
        if isinstance(op, ge.Transpose):
            _add_transpose(network, node, op)
    _, side = network.cut()
    return Placement({op: side[number] for op, number in node.items()})


def _add_value(network: FlowNetwork, node: dict[Operation, int], value: SSAValue, producer: int) -> None:
    """Charge for `value` once per direction in which some consumer disagrees with its producer."""
    if isinstance(value.owner, ge.Const):  # moved at compile time
        return
    price = cost(value, same_bytes(ge.dims(value)))
    consumers: list[int] = []
    for use in value.uses:
        if use.operation.parent is not _block_of(value):
            consumers.append(network.sink)  # layouts do not cross the border of a region
            continue
        match need(use.operation, use.index):
            case Need.NHWC:
                consumers.append(network.source)
            case Need.ROW_MAJOR:
                consumers.append(network.sink)
            case Need.AS_RESULT:
                consumers.append(node[use.operation])
            case Need.ANY:
                pass
    if not consumers:
        return
    to_nhwc, to_row_major = network.add_node(), network.add_node()
    network.add_edge(to_nhwc, producer, price)
    network.add_edge(producer, to_row_major, price)
    for consumer in consumers:
        network.add_edge(consumer, to_nhwc, _NEVER)
        network.add_edge(to_row_major, consumer, _NEVER)


def _block_of(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _add_transpose(network: FlowNetwork, node: dict[Operation, int], op: ge.Transpose) -> None:
    """Charge a Transpose for the layouts in which it moves bytes."""
    x = op.operands[0]
    if rank(x) != RANK:
        return
    producer = node.get(x.owner, network.sink) if isinstance(x.owner, Operation) else network.sink
    if node.get(op, network.sink) != network.sink:  # free exactly when it writes NHWC
        network.add_edge(node[op], network.sink, cost(x, True))
        network.add_edge(network.source, node[op], cost(x, False))
        return
    network.add_edge(producer, network.sink, cost(x, transpose_is_free(op, True, False)))
    network.add_edge(network.source, producer, cost(x, transpose_is_free(op, False, False)))
