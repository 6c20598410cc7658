"""If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import GraphProto
from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node, Refusal, spell
from gecc.frontend.onnx.registry import onnx_op

UNROLLED = 2048
"""At most so many nodes a loop may become that cannot stay one."""

_NUMBER = ge.tensor_type((), i64)

Step = Callable[[SSAValue, Sequence[SSAValue]], tuple[SSAValue | None, list[SSAValue], list[SSAValue]]]
"""(number of the iteration, carried values) -> condition (None: true), carried values for the next one, rows."""


def _graph(n: Node, name: str) -> GraphProto:
    if name not in n.attributes or not n.attributes[name].HasField("g"):
        n.invalid(f"attribute '{name}' is missing")
    return n.attributes[name].g


@onnx_op("If")
def if_(n: Node) -> Sequence[SSAValue]:
    """One of two subgraphs; only the one that is taken is imported when the condition is constant."""
    known = n.constant(0)
    if known is not None:
        if known.size != 1:
            n.invalid(f"the condition has {known.size} elements, expected one")
        return n.subgraph(_graph(n, "then_branch" if known.reshape(-1)[0] else "else_branch"), ())
    regions: list[Region] = []
    for name in ("then_branch", "else_branch"):
        block = Block()
        with n.build.inside(block):
            values = n.subgraph(_graph(n, name), ())
            block.add_op(ge.Yield(values))
        regions.append(Region(block))
    then, other = (region.block.last_op for region in regions)
    assert then is not None
    assert other is not None
    for i, (a, b) in enumerate(zip(then.operands, other.operands, strict=True)):
        if not _same_type(n, a, b):
            n.refuse(
                f"output {i} is {spell(a)} in one branch and {spell(b)} in the other, and the condition is computed"
            )
    sources = list(then.operands)
    results = n.build.add_all(ge.If(n.input(0), *regions))
    return [n.build.mark_like(result, source) for result, source in zip(results, sources, strict=True)]


def _same_type(n: Node, a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are of one element type and may have one shape."""
    return (
        element(a) == element(b)
        and n.build.narrow.get(a) == n.build.narrow.get(b)
        and rank(a) == rank(b)
        and all(-1 in pair or pair[0] == pair[1] for pair in zip(shape(a), shape(b), strict=True))
    )


def loop(
    n: Node,
    trips: SSAValue | None,
    condition: SSAValue | None,
    inits: Sequence[SSAValue],
    step: Step,
    rows_wanted: Sequence[bool],
) -> tuple[list[SSAValue], list[SSAValue | None]]:
    """A ge.While whose body is what `step` builds; the carried values at the end, and the rows of each iteration.

    Refuses a carried value that changes its shape, and rows whose number depends on data.
    """
    block = Block(arg_types=[_NUMBER, *(value.type for value in inits)])
    for argument, value in zip(block.args[1:], inits, strict=True):
        n.build.mark_like(argument, value)
    with n.build.inside(block):
        again, carried, rows = step(block.args[0], block.args[1:])
        if again is not None and (known := n.build.constant(again)) is not None and known.all():
            again = None
        rows = [row for row, wanted in zip(rows, rows_wanted, strict=True) if wanted]
        goes_on = n.build.const(np.array(True)) if again is None else again
        block.add_op(ge.Yield([goes_on, *carried, *rows]))
    for i, (first, later) in enumerate(zip(inits, carried, strict=True)):
        if not _same_type(n, first, later):
            n.refuse(f"carried value {i} begins as {spell(first)} and becomes {spell(later)}")
    if rows and (trips is None or again is not None or (condition is not None and not ge.is_true(condition))):
        n.refuse("the number of rows of a scan output depends on data")
    keep = _drop_unchanged(block, inits, carried)
    op = ge.While(trips, condition, [inits[i] for i in keep], Region(block))
    results = list(n.build.add_all(op))
    ends = list(inits)
    for i, result in zip(keep, results, strict=False):
        ends[i] = n.build.mark_like(result, inits[i])
    stacked = (n.build.mark_like(value, row) for value, row in zip(results[len(keep) :], rows, strict=True))
    return ends, [next(stacked) if wanted else None for wanted in rows_wanted]


def _drop_unchanged(block: Block, inits: Sequence[SSAValue], carried: Sequence[SSAValue]) -> list[int]:
    """Let the body use the first value of what it carries on as it is; which carried values are left."""
    last = block.last_op
    assert last is not None
    args = list(block.args[1:])
    keep = [i for i, (arg, value) in enumerate(zip(args, carried, strict=True)) if arg is not value]
    for i in reversed([i for i in range(len(args)) if i not in keep]):
        operands = [*last.operands]
        del operands[1 + i]
        last.operands = operands
        args[i].replace_all_uses_with(inits[i])
        block.erase_arg(args[i])
    return keep


@onnx_op("Loop")
def loop_(n: Node) -> Sequence[SSAValue | None]:
    """A loop with a trip count, a condition, carried values and scan outputs."""
    graph = _graph(n, "body")
    inits = [n.input(i) for i in range(2, len(n.inputs))]
    count = len(inits)
    if len(graph.input) != 2 + count or len(graph.output) < 1 + count:
        n.invalid(f"the body has {len(graph.input)} inputs and {len(graph.output)} outputs for {count} carried values")
    trips, condition = n.optional(0), n.optional(1)

    def step(number: SSAValue, carried: Sequence[SSAValue]) -> tuple[SSAValue | None, list[SSAValue], list[SSAValue]]:
        # the body only runs while the condition holds
        values = n.subgraph(graph, [number, n.build.const(np.array(True)), *carried])
        return values[0], values[1 : 1 + count], values[1 + count :]

    wanted = [n.wants(i) for i in range(count, len(graph.output) - 1)]
    try:
        ends, rows = loop(n, _number(n, trips), condition, inits, step, wanted)
    except Refusal as refusal:  # shapes that change, or that follow from the number of the iteration
        try:
            unrolled = _unrolled(n, trips, condition, inits, step, len(graph.node))
        except Refusal:
            raise refusal from None
        if unrolled is None:
            raise
        ends, rows = unrolled
    return [*ends, *rows]


def _number(n: Node, trips: SSAValue | None) -> SSAValue | None:
    """A trip count; None when it is none: the greatest numbers say that only the condition ends the loop."""
    known = None if trips is None else n.build.constant(trips)
    return None if known is not None and known.size == 1 and int(known.reshape(-1)[0]) >= 2**31 - 1 else trips


def _unrolled(
    n: Node,
    trips: SSAValue | None,
    condition: SSAValue | None,
    inits: Sequence[SSAValue],
    step: Step,
    nodes: int,
) -> tuple[list[SSAValue], list[SSAValue | None]] | None:
    """The iterations of a short loop one after the other; None when how many there are is not known, or too many."""
    known = None if trips is None else n.build.constant(trips)
    if known is None or known.size != 1 or (condition is not None and not ge.is_true(condition)):
        return None
    count = int(known.reshape(-1)[0])
    if count < 1 or count * max(nodes, 1) > UNROLLED:
        return None
    carried, rows = list(inits), list[list[SSAValue]]()
    for i in range(count):
        again, carried, row = step(n.build.const(np.array(i, np.int64)), carried)
        rows.append(row)
        decided = np.array(True) if again is None else n.build.constant(again)
        if decided is None:
            return None
        if not decided.all():
            break
    stacked: list[SSAValue | None] = []
    for column in zip(*rows, strict=True):
        if any(shape(value) != shape(column[0]) for value in column):
            return None
        parts = [n.build.unsqueeze(value, [0]) for value in column]
        whole = parts[0] if len(parts) == 1 else n.add(ge.Concat(parts, axis=0))
        stacked.append(n.build.mark_like(whole, column[0]))
    return carried, stacked


@onnx_op("Scan", since=9)
def scan(n: Node) -> Sequence[SSAValue | None]:
    """A loop over the slices of some inputs; outputs are final states and rows put together."""
    graph = _graph(n, "body")
    count = n.attr_int("num_scan_inputs")
    states, sequences = n.given()[: len(n.inputs) - count], n.given()[len(n.inputs) - count :]
    outputs = len(graph.output) - len(states)
    if not sequences or outputs < 0:
        n.invalid(f"num_scan_inputs is {count} of {len(n.inputs)} inputs; the body has {len(graph.output)} outputs")
    axes = [
        n.axis(axis, rank(x)) for axis, x in zip(n.attr_ints("scan_input_axes", [0] * count), sequences, strict=True)
    ]
    backwards = n.attr_ints("scan_input_directions", [0] * count)
    wanted = [n.wants(i) for i in range(len(states), len(graph.output))]
    ends, rows = scanned(n, graph, states, sequences, axes, backwards, wanted)
    result: list[SSAValue | None] = list(ends)
    out_axes = n.attr_ints("scan_output_axes", [0] * outputs)
    out_backwards = n.attr_ints("scan_output_directions", [0] * outputs)
    for value, axis, backward in zip(rows, out_axes, out_backwards, strict=True):
        result.append(None if value is None else n.build.mark_like(_placed(n, value, axis, bool(backward)), value))
    return result


def _placed(n: Node, value: SSAValue, axis: int, backward: bool) -> SSAValue:
    """Rows along dimension 0 in the order and along the axis wanted."""
    if backward:
        value = n.add(ge.Slice(value, [-1], [-(2**63) + 1], [0], [-1]))
    axis = n.axis(axis, rank(value))
    order = list(range(1, rank(value)))
    return n.build.transpose(value, [*order[:axis], 0, *order[axis:]])


def scanned(
    n: Node,
    graph: GraphProto,
    states: Sequence[SSAValue],
    sequences: Sequence[SSAValue],
    axes: Sequence[int],
    backwards: Sequence[int],
    wanted: Sequence[bool],
) -> tuple[list[SSAValue], list[SSAValue | None]]:
    """A Scan without the order of its outputs: states at the end, and rows along dimension 0."""
    lengths = {shape(x)[axis] for x, axis in zip(sequences, axes, strict=True)} - {-1}
    if len(lengths) > 1:
        n.invalid(f"the scan inputs have lengths {sorted(lengths)}, expected one")
    first = n.build.extents(sequences[0], axes[0], axes[0] + 1)
    trips = n.build.const(np.array(lengths.pop(), np.int64)) if lengths else n.build.squeeze(first, [0])

    def step(number: SSAValue, carried: Sequence[SSAValue]) -> tuple[SSAValue | None, list[SSAValue], list[SSAValue]]:
        parts: list[SSAValue] = []
        for x, axis, backward in zip(sequences, axes, backwards, strict=True):
            place = number
            if backward:
                last = n.add(ge.Sub(trips, n.build.const(np.array(1, np.int64))))
                place = n.add(ge.Sub(last, number))
            parts.append(n.build.mark_like(n.add(ge.Gather(x, place, axis=axis)), x))
        values = n.subgraph(graph, [*carried, *parts])
        return None, values[: len(states)], values[len(states) :]

    return loop(n, trips, None, states, step, wanted)


@onnx_op("Scan", since=8)
def scan_8(n: Node) -> Sequence[SSAValue | None]:
    """The first form of Scan: every input has a batch dimension before the sequence's, and all are scanned apart."""
    graph = _graph(n, "body")
    count = n.attr_int("num_scan_inputs")
    if n.has(0):
        n.refuse("sequence_lens of Scan from opset 8 is not supported", hint="convert the model to opset 9 or newer")
    given = [n.input(i) for i in range(1, len(n.inputs))]
    states, sequences = given[: len(given) - count], given[len(given) - count :]
    batch = shape(sequences[0])[0]
    if batch < 1:
        n.refuse("Scan from opset 8 needs a known batch of at least 1", hint="give input shapes")
    wanted = [n.wants(i) for i in range(len(states), len(graph.output))]
    parts: list[list[SSAValue | None]] = []
    for b in range(batch):
        at = n.build.const(np.array(b, np.int64))
        own = [n.add(ge.Gather(x, at, axis=0)) for x in states]
        slices = [n.add(ge.Gather(x, at, axis=0)) for x in sequences]
        ends, rows = scanned(n, graph, own, slices, [0] * count, n.attr_ints("directions", [0] * count), wanted)
        parts.append([*ends, *rows])
    return [_batched(n, column) for column in zip(*parts, strict=True)]


def _batched(n: Node, column: Sequence[SSAValue | None]) -> SSAValue | None:
    values = [n.build.unsqueeze(value, [0]) for value in column if value is not None]
    if len(values) <= 1:
        return values[0] if values else None
    return n.add(ge.Concat(values, axis=0))
