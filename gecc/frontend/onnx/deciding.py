"""Which inputs of a model decide shapes: the values that a compiler must know before it can compile.

Reshape's target, the axes of a reduction, the `k` of TopK: such operands must be constants (or follow from shapes).
When one of them comes from an input of the graph, the caller who knows the input's value can fix it.
"""

from __future__ import annotations

from onnx import GraphProto, NodeProto

from gecc.frontend.onnx.order import captured

ALL = tuple(range(8))
"""Every operand of an operator that has a handful of them."""

DECIDING: dict[str, tuple[int, ...]] = {
    "AffineGrid": (1,), "BlackmanWindow": (0,), "CenterCropPad": (1,), "Col2Im": (1, 2), "ConstantOfShape": (0,),
    "CumProd": (1,), "CumSum": (1,), "DFT": (1, 2), "Dropout": (2,), "Expand": (1,), "HammingWindow": (0,),
    "HannWindow": (0,), "If": (0,), "Loop": (0, 1), "MaxUnpool": (2,), "MelWeightMatrix": ALL, "OneHot": (1,),
    "Pad": (1, 3), "Range": (0, 1, 2), "ReduceL1": (1,), "ReduceL2": (1,), "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,), "ReduceMax": (1,), "ReduceMean": (1,), "ReduceMin": (1,), "ReduceProd": (1,),
    "ReduceSum": (1,), "ReduceSumSquare": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "STFT": (1, 3),
    "Slice": (1, 2, 3, 4), "Split": (1,), "SplitToSequence": (1,), "Squeeze": (1,),
    "Tile": (1, 2), "TopK": (1,), "Trilu": (1,), "Unsqueeze": (1,), "Upsample": (1,),
}  # fmt: skip
"""The operands whose values decide shapes (or which code is made), by operator of the standard."""

DECIDING_MICROSOFT: dict[str, tuple[int, ...]] = {"GroupQueryAttention": (6,)}
"""The same for com.microsoft."""

_OF_SHAPES = ("Shape", "Size")
"""Operators whose result follows from the shape of their operand, not from its values."""


def deciding_inputs(graph: GraphProto) -> list[str]:
    """Names of the inputs of `graph` whose values decide shapes, in order; initializers are not among them."""
    wanted: set[str] = set()
    _visit(graph, wanted)
    known = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    return [i.name for i in graph.input if i.name in wanted and i.name not in known]


def _visit(graph: GraphProto, wanted: set[str]) -> None:
    """Add to `wanted` the names that decide shapes in `graph`, users before makers."""
    for node in reversed(graph.node):
        for inner in _subgraphs(node):
            _visit(inner, wanted)
        if wanted.intersection(node.output) and node.op_type not in _OF_SHAPES:
            wanted.update(node.input)
            wanted.update(captured(node))
        table = {"": DECIDING, "ai.onnx": DECIDING, "com.microsoft": DECIDING_MICROSOFT}.get(node.domain)
        if table is not None:
            deciding = table.get(node.op_type, ())
            wanted.update(name for i, name in enumerate(node.input) if i in deciding and name)


def _subgraphs(node: NodeProto) -> list[GraphProto]:
    return [a.g for a in node.attribute if a.HasField("g")]
