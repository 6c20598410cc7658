"""Choose register tiles for matrix products and convolutions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from gecc.dialects import fused
from gecc.passes.fused._image import image_of
from gecc.target import Target, host, load
from gecc.target.tiling import choose_tile


def tiling_attr(**values: int) -> DictionaryAttr:
    """A tiling as an attribute: integers by name."""
    return DictionaryAttr({name: IntegerAttr(value, i64) for name, value in sorted(values.items())})


def is_depthwise(op: fused.ConvOp) -> bool:
    """Whether each output channel reads one input channel, its own."""
    channels = fused.shape_of(op.x)[1]
    return op.group.value.data == channels == op.result_type.get_shape()[1] and channels > 1


def tiling_of(op: fused.MatmulOp | fused.ConvOp, target: Target) -> DictionaryAttr:
    """rows: of a register tile; full, short: tiles of that many rows and of one less; columns: of a panel."""
    if isinstance(op, fused.MatmulOp):
        m, n, _ = op.sizes
        if len(fused.shape_of(op.b)) == 2:
            m = m * _product(op.result_type.get_shape()[:-2])
        choice = choose_tile(target, m, n)
    else:
        if is_depthwise(op):
            return tiling_attr(columns=op.result_type.get_shape()[1], full=0, rows=0, short=0)
        image = image_of(op)
        rows, pixels = image.outputs
        channels = op.result_type.get_shape()[1] // op.group.value.data
        choice = choose_tile(target, rows * pixels if image.is_flat else pixels, channels)
    return tiling_attr(rows=choice.rows, full=choice.full, short=choice.short, columns=choice.columns)


def _product(values: tuple[int, ...]) -> int:
    total = 1
    for value in values:
        total *= value
    return total


@dataclass(frozen=True)
class ChooseTilings(ModulePass):
    """Give every fused.matmul and fused.conv the tiles of its micro-kernel, from the target's description.

    ```mlir
    %y = fused.matmul "MatMulV2"(%x, %w) : (tensor<32x768xf32>, tensor<768x3072xf32>) -> tensor<32x3072xf32> ...
    // becomes
    %y = fused.matmul "MatMulV2"(%x, %w) {tiling = {columns = 64, full = 2, rows = 6, short = 4}} : ...
    ```

    Needs: static shapes. A depthwise convolution has no register tile; its panel is all channels.
    """

    name = "fused-choose-tilings"
    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = host() if self.target == "host" else load(self.target)
        for inner in op.walk():
            if isinstance(inner, fused.MatmulOp | fused.ConvOp) and inner.tiling is None:
                inner.properties["tiling"] = tiling_of(inner, target)
