"""Which operations on floats stand for integers: indices and sizes, where every digit counts, and quantised numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.types import i8, ui8

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


_SUMS = 32
"""Bits from which on an integer may be beyond the range of a narrow float."""

INDICES = "it computes indices or sizes"
QUANTISES = "it quantises, and scales need the range of f32"
SCALES_SUMS = "it scales sums of integers, which are beyond a narrow range"


def integer_arithmetic(module: ModuleOp) -> dict[Operation, str]:
    """Operations on floats that stand for integers, and how."""
    found = dict.fromkeys(_scaled_sums(module), SCALES_SUMS)
    casts = [op for op in module.walk() if isinstance(op, ge.Cast) and _is_byte(op.result) and not _is_integer(op.x)]
    found.update(dict.fromkeys(_before([(op.x, True) for op in casts]), QUANTISES))
    todo = [
        (op.operands[place], not _is_integer(op.operands[place]))
        for op in module.walk()
        for place in _READS_INDICES.get(type(op), ())
        if place < len(op.operands)
    ]
    found.update(dict.fromkeys(_before(todo), INDICES))
    return found


def _before(todo: list[tuple[SSAValue, bool]]) -> set[Operation]:
    """Operations on floats that the values (with whether they are floats) are computed by, up to a product and the like."""
    found: set[Operation] = set()
    seen: set[tuple[Operation, bool]] = set()
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


def _scaled_sums(module: ModuleOp) -> list[Operation]:
    """Operations on sums of integers that became floats: what is added before they are scaled, and all scaling."""
    raw: set[SSAValue] = set()
    scaled: set[SSAValue] = set()
    found: list[Operation] = []
    for op in module.walk():
        if isinstance(op, ge.Cast) and _is_sum(op.x) and not _is_integer(op.result):
            raw.add(op.result)
        elif isinstance(op, ge.Mul | ge.RealDiv) and any(v in raw or v in scaled for v in op.operands):
            scaled.add(op.result)
            found.append(op)
        elif isinstance(op, ge.Add | ge.Sub | ge.Reshape | ge.Transpose | ge.Expand):
            if any(v in raw for v in op.operands):
                raw.add(op.results[0])
                found.append(op)
            elif isinstance(op, ge.Reshape | ge.Transpose | ge.Expand) and op.operands[0] in scaled:
                scaled.add(op.results[0])
                found.append(op)
    return found


def _is_sum(value: SSAValue) -> bool:
    """Whether a value is an integer of many bits that a product, or a sum, made."""
    kind = value.type
    if not isinstance(kind, TensorType) or not isinstance(kind.element_type, IntegerType):
        return False
    owner = value.owner
    while isinstance(owner, ge.Reshape | ge.Transpose | ge.Add | ge.Sub):
        owner = owner.operands[0].owner
    made = (ge.MatMulV2, ge.Conv2D, ge.Conv3D, ge.ReduceSum, ge.CumSum)
    return kind.element_type.width.data >= _SUMS and isinstance(owner, made)


def _is_byte(value: SSAValue) -> bool:
    return _is_integer(value) and ge.elem(value) in (i8, ui8)


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, IntegerType)
