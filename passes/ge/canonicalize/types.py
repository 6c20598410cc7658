"""Questions about types that the rules share."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.types import AnyTensor, dims, known, layout, tensor


def result_type(op: Operation) -> AnyTensor:
    """The type of the only result of a ge operator."""
    return tensor(op.results[0])


def is_constant(value: SSAValue) -> bool:
    """Whether a value is made by ge.Const."""
    return isinstance(value.owner, ge.Const)


def is_known(value: SSAValue) -> bool:
    """Whether a tensor has no unknown dimension."""
    return known(dims(value))


def is_row_major(value: SSAValue) -> bool:
    """Whether a tensor carries no layout."""
    return layout(tensor(value)) is None
