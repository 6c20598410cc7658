"""Operations on constants, computed by their numpy meaning."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.weights import DENSE_LIMIT, WeightStore

if TYPE_CHECKING:
    import numpy as np


def can_evaluate(op: Operation) -> bool:
    """Whether the interpreter knows the operation."""
    from gecc.interp.base import MEANINGS

    import_module("gecc.interp.ge")
    return type(op) in MEANINGS


def evaluate(op: Operation, inputs: Sequence[np.ndarray], store: WeightStore) -> list[np.ndarray]:
    """The results of `op` on arrays of its operands' dtypes, in the dtypes of its results.

    Raises KeyError for an operation that the interpreter does not know, and what the interpreter raises for wrong
    values, such as an index out of range.
    """
    import numpy as np

    from gecc.interp.base import MEANINGS, Env, finish, operand_values

    import_module("gecc.interp.ge")
    env = Env(store)
    with np.errstate(all="ignore"):
        results = MEANINGS[type(op)](env, op, *operand_values(op, tuple(inputs)))
        return [np.asarray(array) for array in finish(env, op, results)]


def constant_of(array: np.ndarray, kind: ge.AnyTensor, store: WeightStore) -> ge.Const:
    """A constant of type `kind` that holds the (logical) `array`, its bytes in the order of the type's layout."""
    import numpy as np

    if array.nbytes < DENSE_LIMIT:
        return ge.Const(ge.dense(array, kind))
    order = ge.layout(kind)
    physical = array if order is None else np.ascontiguousarray(array.transpose(order.permutation))
    return ge.Const(ge.WeightAttr(store.add_array(physical), kind))
