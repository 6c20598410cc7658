"""Which operations on floats compute indices or sizes, where every digit counts."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge

_READS_INDICES: dict[type[Operation], tuple[int, ...]] = {
    ge.Gather: (1,),
    ge.GatherElements: (1,),
    ge.GatherND: (1,),
    ge.ScatterElements: (1,),
    ge.ScatterND: (1,),
    ge.ReverseSequence: (1,),
    ge.RoiAlign: (2,),
    ge.DynReshape: (1,),
    ge.DynExpand: (1,),
    ge.DynSlice: (1, 2, 3, 4),
    ge.DynPad: (1,),
    ge.DynTile: (1,),
    ge.DynSqueeze: (1,),
    ge.DynUnsqueeze: (1,),
    ge.DynResize: (1, 2),
    ge.ConstantOfShape: (0,),
    ge.Range: (0, 1, 2),
}
"""Operators -> places of operands that say where, not what."""

_EXACT = (
    ge.Pointwise, ge.Cast, ge.Reshape, ge.Transpose, ge.Slice, ge.Concat, ge.Expand, ge.Tile, ge.Split, ge.Gather,
    ge.GatherElements, ge.GatherND, ge.Reduce, ge.CumSum, ge.CumProd, ge.Pad,
)  # fmt: skip
"""Operators through which the way back to where an index comes from goes on."""


def index_arithmetic(module: ModuleOp) -> set[Operation]:
    """Operations on floats whose result, converted to an integer, is used as an index or a size."""
    found: set[Operation] = set()
    seen: set[tuple[Operation, bool]] = set()
    todo: list[tuple[SSAValue, bool]] = []
    for op in module.walk():
        for place in _READS_INDICES.get(type(op), ()):
            if place < len(op.operands):
                todo.append((op.operands[place], not _is_integer(op.operands[place])))
    while todo:
        value, on_floats = todo.pop()
        owner = value.owner
        if not isinstance(owner, _EXACT) or (owner, on_floats) in seen:
            continue
        seen.add((owner, on_floats))
        if on_floats:
            found.add(owner)
        for operand in owner.operands:
            integer = _is_integer(operand)
            if integer or on_floats or isinstance(owner, ge.Cast):
                todo.append((operand, not integer))
    return found


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, IntegerType)
