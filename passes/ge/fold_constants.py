"""ge-fold-constants: what depends on constants alone is computed now."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gecc.dialects import ge
from gecc.passes.ge._evaluate import can_evaluate, constant_of, evaluate
from gecc.rewrite import fuse_locations, miss
from gecc.weights import WeightStore, item_bytes, store_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class FoldConstants(ModulePass):
    """Evaluate operations of which every operand is constant, by their numpy meaning.

    ```mlir
    %a = ge.Const dense<[1.0, 2.0]> : tensor<2xf32>
    %y = ge.Mul(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // becomes
    %y = ge.Const dense<[1.0, 4.0]> : tensor<2xf32>
    ```

    Results go to the weight store when they are large. Needs: static result types, and results of at most `limit`
    bytes or `growth` times the bytes of the operands, so that an Expand or Tile of a small constant stays small.
    Constants that lose their last use are removed.
    """

    name = "ge-fold-constants"

    limit: int = 65536
    growth: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        arrays: dict[SSAValue, np.ndarray] = {}
        for inner in list(op.walk()):
            if isinstance(inner, ge.GeOp) and not isinstance(inner, ge.Const):
                self._fold(inner, arrays, store)
        for inner in reversed(list(op.walk())):
            if isinstance(inner, ge.Const) and inner.result.first_use is None:
                Rewriter.erase_op(inner)

    def _fold(self, op: ge.GeOp, arrays: dict[SSAValue, np.ndarray], store: WeightStore) -> None:
        sources = [operand.owner for operand in op.operands]
        consts = [source for source in sources if isinstance(source, ge.Const)]
        if len(consts) != len(sources):
            return
        kinds = [ge.tensor(result) for result in op.results]
        if not all(kind.has_static_shape() for kind in kinds):
            return miss(op, "the shape of the result is not known")
        size = sum(_nbytes(kind) for kind in kinds)
        given = sum(_nbytes(ge.tensor(const.result)) for const in consts)
        if size > max(self.limit, self.growth * given):
            return miss(op, "{} bytes of operands would become {}, limit is {}", given, size, self.limit)
        if not can_evaluate(op):
            return miss(op, "{} has no numpy meaning", op.name)
        inputs: list[np.ndarray] = []
        for const in consts:
            if const.result not in arrays:
                arrays[const.result] = store.array(const.value)
            inputs.append(arrays[const.result])
        for result, kind, array in zip(list(op.results), kinds, evaluate(op, inputs, store), strict=True):
            made = constant_of(array, kind, store)
            made.location = fuse_locations([op.location])
            made.result.name_hint = result.name_hint
            Rewriter.insert_op(made, InsertPoint.before(op))
            result.replace_all_uses_with(made.result)
        Rewriter.erase_op(op)


def _nbytes(kind: ge.AnyTensor) -> int:
    return math.prod(kind.get_shape()) * item_bytes(kind.element_type)
