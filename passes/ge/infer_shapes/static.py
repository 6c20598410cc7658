"""Forms that take shapes as operands, replaced by static ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.weights import DENSE_LIMIT, item_bytes

if TYPE_CHECKING:
    import numpy as np

    from gecc.passes.ge.infer_shapes.values import Values

FORMS: tuple[type[ge.GeOp], ...] = (
    *(ge.DynReshape, ge.DynExpand, ge.DynSlice, ge.DynPad, ge.DynTile, ge.DynResize, ge.DynSqueeze, ge.DynUnsqueeze),
    *(ge.ConstantOfShape, ge.Range),
)
"""What this module replaces."""


def shape_operands(op: Operation) -> list[tuple[str, SSAValue]]:
    """The operands of one of `FORMS` that shapes are read from, by name."""
    data = {"x", "value"}
    names = [name for name, _ in type(op).get_irdl_definition().operands if name not in data]  # pyright: ignore[reportAttributeAccessIssue]
    return [(name, value) for name in names if (value := getattr(op, name)) is not None]


def static_form(op: Operation, values: Values) -> list[Operation] | None:
    """The static operations that do what `op` does, the last one giving its result; None when not enough is known.

    The result type of `op` must be inferred and refined already.
    """
    shape = ge.dims(op.results[0])
    match op:
        case ge.DynReshape() | ge.DynSqueeze() | ge.DynUnsqueeze():
            # one unknown size follows from the number of elements, two do not
            return [ge.Reshape(op.x, shape)] if shape.count(ge.DYNAMIC) <= 1 else None
        case ge.DynExpand():
            return [ge.Expand(op.x, shape)] if ge.known(shape) else None
        case ge.ConstantOfShape():
            return _filled(op, shape) if ge.known(shape) else None
    numbers = {name: values.numbers(value) for name, value in shape_operands(op)}
    known = {name: array for name, array in numbers.items() if array is not None}
    if len(known) != len(numbers):
        return None
    if isinstance(op, ge.Range):
        return _range(op, values)
    integers = {name: [int(x) for x in array] for name, array in known.items() if array.dtype.kind in "iu"}
    match op:
        case ge.DynSlice():
            return [_slice(op, **integers)]
        case ge.DynPad():
            rank = ge.rank(op.x)
            pads = ge.spread_pads(integers["pads"], integers.get("axes", range(rank)), rank)
            return [ge.Pad(op.x, pads, op.value, mode=op.mode.data)]
        case ge.DynTile():
            return [ge.Tile(op.x, integers["repeats"])]
        case ge.DynResize():
            return _resize(op, shape, known.get("scales"))
        case _:
            return None


def _slice(
    op: ge.DynSlice,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> ge.Slice:
    return ge.Slice(op.x, starts, ends, axes, steps)


def _resize(op: ge.DynResize, shape: Sequence[int], scales: np.ndarray | None) -> list[Operation] | None:
    if scales is None and not (ge.known(shape) and ge.known(ge.dims(op.x))):
        return None
    factors = None if scales is None else [float(scale) for scale in scales]
    return [ge.Resize(op.x, shape, scales=factors, **op.sampling)]


def _filled(op: ge.ConstantOfShape, shape: Sequence[int]) -> list[Operation]:
    """A constant, or the expansion of one number where that is smaller."""
    import numpy as np

    kind = ge.tensor(op.result).element_type
    dtype = ge.numpy_dtype(kind)
    if op.value is None:
        number = np.zeros((), dtype)
    else:
        [scalar] = op.value.iter_values()
        number = np.array(scalar, dtype)
    if math.prod(shape) * item_bytes(kind) < DENSE_LIMIT:
        return [ge.Const(ge.dense(np.full(shape, number)))]
    const = ge.Const(ge.dense(number))
    return [const, ge.Expand(const, shape)]


def _range(op: ge.Range, values: Values) -> list[Operation]:
    import numpy as np

    start, limit, delta = (values.numbers(operand) for operand in op.operands)
    assert start is not None
    assert limit is not None
    assert delta is not None
    # ONNX: the count is computed in the type's precision, each element as start + i * delta
    count = max(0, math.ceil((limit.item() - start.item()) / delta.item()))
    array = (start + np.arange(count).astype(start.dtype) * delta).astype(start.dtype)
    return [ge.Const(values.store.attr_for(array))]
