"""Pack the right sides of products into panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, UnitAttr, i8, i16, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import fused
from gecc.dialects.fused import Body
from gecc.errors import PassError
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss
from gecc.weights import ConstantAttr, WeightAttr, WeightStore, store_of
from gecc.weights.transformations import Param, transformation

if TYPE_CHECKING:
    import numpy as np


@transformation("pack_matmul")
def pack_matmul(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    """[.., K, N] (with `transpose`, [.., N, K]) to panels [.., P, K, columns], the last one padded with zeros."""
    import numpy as np

    b, columns = sources[0], int(params["columns"])  # pyright: ignore[reportArgumentType]
    if params["transpose"]:
        b = np.swapaxes(b, -1, -2)
    *batch, depth, n = b.shape
    panels = -(-n // columns)
    padded = np.zeros((*batch, depth, panels * columns), _dtype(b.dtype, params))
    padded[..., :n] = b
    return _ordered(np.swapaxes(padded.reshape(*batch, depth, panels, columns), -2, -3), params)


@transformation("pack_conv")
def pack_conv(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    """[OC, C / group, KH, KW] to panels [group, P, KH * KW * C / group, columns]."""
    import numpy as np

    w, columns, group = sources[0], int(params["columns"]), int(params["group"])  # pyright: ignore[reportArgumentType]
    out, depth, height, width = w.shape
    per_group = out // group
    if fused.is_depthwise_panel(out, group, depth, columns):
        return np.ascontiguousarray(w.reshape(1, 1, out, height * width).swapaxes(-1, -2))
    panels = -(-per_group // columns)
    padded = np.zeros((group, panels * columns, height, width, depth), _dtype(w.dtype, params))
    padded[:, :per_group] = w.reshape(group, per_group, depth, height, width).transpose(0, 1, 3, 4, 2)
    packed = padded.reshape(group, panels, columns, height * width * depth)
    return _ordered(np.swapaxes(packed, -1, -2), params)


def _ordered(panels: np.ndarray, params: Mapping[str, Param]) -> np.ndarray:
    """Panels [.., K, columns] as they lie in memory: step by step, or with the numbers of two steps in pairs."""
    import numpy as np

    if params.get("pairs"):
        *batch, depth, columns = panels.shape
        pairs = np.swapaxes(panels.reshape(*batch, depth // 2, 2, columns), -1, -2)
        return np.ascontiguousarray(pairs).reshape(panels.shape)
    return np.ascontiguousarray(panels)


def _dtype(held: np.dtype[Any], params: Mapping[str, Param]) -> np.dtype[Any]:
    """The type of panels: that of the weights, or bytes that hold the same numbers (see `_words`)."""
    import numpy as np

    return np.dtype(np.int8) if params.get("narrow") else held


def _words(
    value: ConstantAttr, store: WeightStore, packed: TensorType, run: int, params: dict[str, Param]
) -> TensorType:
    """The type of panels of `value`; of i16 also how they are packed, in `params`.

    The micro-kernel multiplies i16 two steps at a time, for which neighbours of an even `run` are laid in pairs. Numbers
    that are those of bytes, as weights less their zero point mostly are, become i8: it widens them as it loads, and half as
    much streams from memory.
    """
    if packed.get_element_type() != i16:
        return packed
    params["pairs"] = run > 0 and run % 2 == 0
    numbers = store.array(value)
    if numbers.size and -128 <= int(numbers.min()) and int(numbers.max()) <= 127:
        params["narrow"] = True
        return TensorType(i8, packed.get_shape())
    return packed


def _panels(weight: WeightAttr) -> fused.ConstOp:
    """A constant in panels, marked so that the om can name its layout."""
    op = fused.ConstOp(weight)
    op.attributes["packed"] = UnitAttr()
    return op


def _columns(op: fused.MatmulOp | fused.ConvOp) -> int:
    if op.tiling is None:
        raise PassError(
            f"'{op.name}' \"{op.label.data}\" has no tiling", hint="run fused-choose-tilings before fused-pack-weights"
        )
    columns = op.tiling.data["columns"]
    assert isinstance(columns, IntegerAttr)
    return columns.value.data


class PackMatmul(Pattern):
    """A constant right side is packed at compile time, a computed one by an operation before the product."""

    ops: ClassVar = (fused.MatmulOp,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.MatmulOp)
        if op.packed is not None:
            return miss(op, "the right side is packed already")
        columns, (_, n, depth) = _columns(op), op.sizes
        transpose = op.transpose_b is not None
        batch = fused.shape_of(op.b)[:-2]
        packed_type = TensorType(fused.element_of(op.b), [*batch, -(-n // columns), depth, columns])
        if isinstance(op.b.owner, fused.ConstOp):
            params: dict[str, Param] = {"columns": columns, "transpose": transpose}
            packed_type = _words(op.b.owner.value, self.store, packed_type, depth, params)
            weight = self.store.add_recipe("pack_matmul", [op.b.owner.value], params, packed_type)
            packed: Operation = _panels(weight)
            pairs = bool(params.get("pairs"))
        else:
            pairs = False
            rank = len(batch)

            def body(b: Body, indices: Sequence[SSAValue], tensors: Sequence[SSAValue]) -> SSAValue:
                panel, k, j = indices[rank:]
                column = b.add(b.mul(panel, columns), j)
                return _padded(b, tensors[0], indices[:rank], k, column, n, columns, transpose)

            packed = fused.generic("TransData", packed_type, [op.b], body)
        rw.insert_before(op, packed)
        tensors = [op.a, packed.results[0], *op.extras]
        _replace(op, rw, tensors, columns, pairs)


class PackConv(Pattern):
    """As for products, by group; a depthwise convolution's weights become [1, 1, KH * KW, C]."""

    ops: ClassVar = (fused.ConvOp,)

    def __init__(self, store: WeightStore) -> None:
        self.store = store

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.ConvOp)
        if op.packed is not None:
            return miss(op, "the weights are packed already")
        columns, group = _columns(op), op.group.value.data
        out, depth, height, width = fused.shape_of(op.w)
        per_group = out // group
        element = fused.element_of(op.w)
        depthwise = fused.is_depthwise_panel(out, group, depth, columns)
        packed_type = TensorType(element, fused.packed_conv_shape(out, group, depth, height * width, columns))
        if isinstance(op.w.owner, fused.ConstOp):
            params: dict[str, Param] = {"columns": columns, "group": group}
            if not depthwise:
                packed_type = _words(op.w.owner.value, self.store, packed_type, depth, params)
            weight = self.store.add_recipe("pack_conv", [op.w.owner.value], params, packed_type)
            packed: Operation = _panels(weight)
            pairs = bool(params.get("pairs"))
        else:
            pairs = False

            def body(b: Body, indices: Sequence[SSAValue], tensors: Sequence[SSAValue]) -> SSAValue:
                g, panel, step, j = indices
                if depthwise:
                    return b.load(tensors[0], [j, b.index(0), b.div(step, width), b.rem(step, width)])
                column = b.add(b.mul(panel, columns), j)
                inside = None if per_group % columns == 0 else b.compare("lt", column, per_group)
                safe = column if inside is None else b.minimum(column, per_group - 1)
                tap, c = b.div(step, depth), b.rem(step, depth)
                place = [b.add(b.mul(g, per_group), safe), c, b.div(tap, width), b.rem(tap, width)]
                value = b.load(tensors[0], place)
                return value if inside is None else b.select(inside, value, 0)

            packed = fused.generic("TransData", packed_type, [op.w], body)
        rw.insert_before(op, packed)
        _replace(op, rw, [op.x, packed.results[0], *op.extras], columns, pairs)


def _padded(
    b: Body,
    tensor: SSAValue,
    batch: Sequence[SSAValue],
    k: SSAValue,
    column: SSAValue,
    n: int,
    columns: int,
    transpose: bool,
) -> SSAValue:
    """b[.., k, column], zero beyond the last column."""
    inside = None if n % columns == 0 else b.compare("lt", column, n)
    safe = column if inside is None else b.minimum(column, n - 1)
    value = b.load(tensor, [*batch, safe, k] if transpose else [*batch, k, safe])
    return value if inside is None else b.select(inside, value, 0)


def _replace(
    op: fused.MatmulOp | fused.ConvOp, rw: Rewriter, operands: Sequence[SSAValue], columns: int, pairs: bool
) -> None:
    """The same operation with a packed right side; its region's argument for it changes type."""
    properties: dict[str, Attribute] = {k: v for k, v in op.properties.items() if k != "transpose_b"}
    properties["packed"] = IntegerAttr(columns, i64)
    if pairs:
        properties["pairs"] = UnitAttr()
    region = op.detach_region(op.epilogue)
    position = len(region.block.args) - len(operands) + 1
    rw.replace_value_with_new_type(region.block.args[position], operands[1].type)
    new = type(op).create(
        operands=list(operands), result_types=op.result_types, properties=properties, regions=[region]
    )
    rw.replace(op, new)


@dataclass(frozen=True)
class PackWeights(ModulePass):
    """Bring right sides into panels: for each step of the depth, the columns of one register tile, contiguous.

    ```mlir
    %w = fused.const #ge.weight<"..."> : tensor<768x100xf32>
    %y = fused.matmul "MatMulV2"(%x, %w) {tiling = {columns = 64, ...}} : ...
    // becomes
    %w = fused.const #ge.weight<"..."> : tensor<2x768x64xf32>
    %y = fused.matmul "MatMulV2"(%x, %w) {packed = 64, tiling = {columns = 64, ...}} : ...
    ```

    A constant becomes a recipe in the weight store, computed when the file is written; one of i16 whose numbers fit bytes
    becomes i8. A right side that is computed at run time gets an operation that packs it. Needs: fused-choose-tilings.
    """

    name = "fused-pack-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        apply_patterns(op, [PackMatmul(store), PackConv(store)], ctx=ctx)
