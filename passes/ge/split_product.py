"""ge-split-product: a product whose columns are split is a product for each part, and the whole is never made."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gecc.dialects import ge
from gecc.dialects.ge.types import normal_axis
from gecc.passes.ge._match import constant, named_const, producer, shape, uses
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import WeightStore, store_of

LANES = 16
"""Columns of a part must be a multiple of so many: panels of other widths are padded, and cost as much as if they were wider."""


class SplitProduct(Pattern):
    """`Split(MatMulV2(x, w, b))` along the columns is `MatMulV2(x, w_i, b_i)` for each part."""

    ops = (ge.Split,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Split)
        product = producer(op.x, ge.MatMulV2)
        rank = len(shape(op.x))
        if product is None or normal_axis(op.axis.value.data, rank) != rank - 1:
            return
        if uses(op.x) != 1:
            return miss(op, "the product has {} uses, need 1", uses(op.x))
        sizes = [int(v) for v in op.sizes.get_values()]
        if any(size % LANES or not size for size in sizes):
            return miss(op, "parts of {} columns, need multiples of {}", sizes, LANES)
        if len(shape(product.b)) != 2 or (product.bias is not None and shape(product.bias) != (sum(sizes),)):
            return miss(op, "the right side is {}, need a matrix, and a bias for each column", product.b.type)
        weight = constant(product.b, self.store)
        bias = None if product.bias is None else constant(product.bias, self.store)
        if weight is None or (product.bias is not None and bias is None):
            return miss(op, "the right side or the bias is no constant")
        import numpy as np

        transposed = bool(product.transpose_x2.value.data)
        new: list[Operation] = []
        results: list[ge.MatMulV2] = []
        start = 0
        for number, (size, part) in enumerate(zip(sizes, op.outputs, strict=True)):
            columns = slice(start, start + size)
            start += size
            piece = np.ascontiguousarray(weight[columns] if transposed else weight[:, columns])
            own = named_const(piece, self.store, f"{product.b.name_hint or 'weight'}_{number}")
            new.append(own)
            own_bias = None
            if bias is not None and product.bias is not None:
                own_bias = named_const(bias[columns], self.store, f"{product.bias.name_hint or 'bias'}_{number}")
                new.append(own_bias)
            results.append(
                ge.MatMulV2(
                    product.a,
                    own.result,
                    None if own_bias is None else own_bias.result,
                    transpose_x1=bool(product.transpose_x1.value.data),
                    transpose_x2=transposed,
                    result_type=part.type,
                )
            )
            new.append(results[-1])
        rw.replace(op, new, [result.result for result in results], absorbed=[product])


@dataclass(frozen=True)
class SplitProductPass(ModulePass):
    """Multiply with the parts of a weight instead of splitting the product with all of it.

    ```mlir
    %p = ge.MatMulV2(%x, %w) : (tensor<24x64xf32>, tensor<64x192xf32>) -> tensor<24x192xf32>
    %q, %k, %v = ge.Split(%p) axis 1 sizes [64, 64, 64] : (tensor<24x192xf32>) -> (tensor<24x64xf32>, ...)
    // becomes
    %q = ge.MatMulV2(%x, %w_0) : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>
    %k = ge.MatMulV2(%x, %w_1) : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>
    %v = ge.MatMulV2(%x, %w_2) : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>
    ```

    The joint product of queries, keys and values is the peak of many a transformer: it must stay until the last of its parts
    is taken. The columns are computed as before, in as many panels.

    Needs: a constant matrix (and bias), no other use of the product, parts of whole vectors.
    """

    name = "ge-split-product"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [SplitProduct(store_of(ctx))], ctx=ctx)
