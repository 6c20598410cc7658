"""The sizes of products and convolutions as their kernel's loops see them, and the blocks that their work is cut into."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IntegerAttr

from gecc.dialects import fused
from gecc.errors import PassError
from gecc.passes.fused._image import image_of
from gecc.passes.fused.to_tile.padding import Padding
from gecc.target import Target
from gecc.target.tiling import TileChoice

MAX_BLOCKS = 64
"""Blocks of a convolution at most."""
COPY_COST = 80
"""Multiply-adds that must go with each element copied to scratch, for the copy to be a twentieth of the work."""


@dataclass
class Product:
    """The sizes of a product as the loops see them; strides in elements.

    items: independent products. rows: output rows of each. pixels: micro-kernel rows in an output row. For item i =
    n * groups + g the left side starts at n * left_item + g * left_group, an output row moves by left_row, a pixel by
    left_pixel; n1 x n2 runs of `depth` contiguous elements, stride1 and stride2 apart, are contracted.
    """

    items: int
    groups: int
    rows: int
    pixels: int
    columns: int
    left_item: int
    left_group: int
    left_row: int
    left_pixel: int
    n1: int
    stride1: int
    n2: int
    stride2: int
    depth: int
    right_item: int
    right_group: int
    item_dims: tuple[int, ...]
    row_dims: tuple[int, ...]
    pixel_dims: tuple[int, ...]
    column_dim: int
    padded: Padding | None = None

    @property
    def steps(self) -> int:
        """Length of the contraction."""
        return self.n1 * self.n2 * self.depth


def tiling(op: fused.MatmulOp | fused.ConvOp) -> TileChoice:
    """The register tiles in an operation's attribute."""
    if op.tiling is None or op.packed is None:
        raise PassError(
            f"'{op.name}' \"{op.label.data}\" must have a tiling and a packed right side",
            hint="run fused-choose-tilings and fused-pack-weights before fused-to-tile",
        )
    values = {k: v.value.data for k, v in op.tiling.data.items() if isinstance(v, IntegerAttr)}
    right = op.b if isinstance(op, fused.MatmulOp) else op.w
    panels = fused.shape_of(right)[-3]
    return TileChoice(values["rows"], values["full"], values["short"], values["columns"], panels, 0.0)


def matmul_product(op: fused.MatmulOp) -> Product:
    """Sizes of a matmul; without batch in the right side all rows are one product."""
    m, n, k = op.sizes
    shape = op.result_type.get_shape()
    rank, batch = len(shape), prod(shape[:-2])
    right = fused.shape_of(op.b)
    batched = len(right) > 3
    panel_elements = right[-3] * right[-2] * right[-1]
    if not batched:
        m, batch = m * batch, 1
    return Product(
        items=batch, groups=1, rows=1, pixels=m, columns=n,
        left_item=m * k, left_group=0, left_row=0, left_pixel=k,
        n1=1, stride1=0, n2=1, stride2=0, depth=k,
        right_item=panel_elements if batched else 0, right_group=0,
        item_dims=tuple(range(rank - 2)) if batched else (),
        row_dims=(), pixel_dims=(rank - 2,) if batched else tuple(range(rank - 1)), column_dim=rank - 1,
    )  # fmt: skip


def conv_product(op: fused.ConvOp, *, per_channel: bool = False, span: int | None = None) -> Product:
    """Sizes of a convolution on channels-last tensors; `per_channel`: of a depthwise one, all channels at once.

    `span` limits the output pixels of a row for which input is copied at a time.
    """
    images, channels, _, _ = fused.shape_of(op.x)
    image = image_of(op)
    (height, width), (out_rows, out_pixels), (kh, kw) = image.extents, image.outputs, image.kernel
    (sy, sx), (dy, dx) = image.strides, image.dilations
    group = op.group.value.data
    depth = channels if per_channel else channels // group
    group = 1 if per_channel else group
    packed = fused.shape_of(op.w)
    panel_elements = packed[1] * packed[2] * packed[3]
    padded = None
    if any((*image.before, *image.behind)):
        reach = ((kh - 1) * dy + 1, (kw - 1) * dx + 1)
        padded = Padding(
            extents=image.extents, before=image.before, step=image.strides, reach=reach,
            width=(min(span or out_pixels, out_pixels) - 1) * sx + reach[1],
            channels=depth, pixel=channels, row=width * channels,
        )  # fmt: skip
    row, pixel = (padded.width * depth, depth) if padded else (width * channels, channels)
    contiguous = dx == 1 and pixel == depth
    flat = image.is_flat
    return Product(
        items=images * group, groups=group,
        rows=1 if flat else out_rows, pixels=out_rows * out_pixels if flat else out_pixels,
        columns=op.result_type.get_shape()[1] // group,
        left_item=height * width * channels, left_group=depth,
        left_row=sy * row, left_pixel=sx * pixel,
        n1=1 if flat else kh, stride1=dy * row,
        n2=1 if flat or contiguous else kw, stride2=0 if flat or contiguous else dx * pixel,
        depth=depth if flat or not contiguous else kw * depth,
        right_item=0, right_group=panel_elements,
        item_dims=(0,), row_dims=() if flat else image.dims[:1], pixel_dims=image.dims if flat else image.dims[1:],
        column_dim=1, padded=padded,
    )  # fmt: skip


def fitting_rows(p: Product, target: Target, size: int) -> int:
    """Output rows whose input rows take at most half of the second-level cache."""
    room = target.l2_bytes // 2
    if p.padded is None:
        return max(1, min(p.rows, room // max(1, p.left_row * size)))
    row_bytes = p.padded.width * p.padded.channels * size
    return max(1, min(p.rows, (room // row_bytes - p.padded.reach[0]) // p.padded.step[0] + 1))


def rows_per_block(p: Product, target: Target, size: int) -> int:
    """Output rows of a block when blocks differ in rows only."""
    wanted = max(1, min(MAX_BLOCKS, p.items * p.rows * p.pixels * p.steps * p.columns >> 18))
    rows = max(min(2, p.rows), -(-p.rows // max(1, -(-wanted // p.items))))
    return even_chunk(p.rows, min(rows, fitting_rows(p, target, size)))


def even_chunk(total: int, chunk: int) -> int:
    """The smallest chunk that needs no more chunks than `chunk` does."""
    return -(-total // -(-total // chunk))


def image_blocks(p: Product, choice: TileChoice, target: Target, size: int) -> tuple[int, int]:
    """(output rows, panels) of a block of a convolution.

    Rows are split freely while all weights stay in the second-level cache; if they do not, each block of rows would
    fetch them again, so panels are split instead. But every block copies its padded rows, so it must hold enough
    panels for that to be little work.
    """
    work = p.rows * p.pixels * p.steps * p.columns
    wanted = max(1, min(MAX_BLOCKS // 2, work >> 20))
    wanted = -(-wanted // p.items)
    fits = fitting_rows(p, target, size)
    weights = choice.panels * choice.columns * p.steps * size
    row_blocks = -(-p.rows // fits)
    if weights <= target.l2_bytes // 2:
        row_blocks = max(row_blocks, min(wanted, max(1, p.rows // 4)))
    least = 1
    if p.padded is not None:
        rows = -(-p.rows // row_blocks)
        copied = p.padded.copied_rows(rows) * p.padded.width * p.padded.channels
        computed = rows * p.pixels * p.steps * choice.columns
        least = -(-copied * COPY_COST // max(1, computed))
    panel_blocks = max(1, min(choice.panels // min(least, choice.panels), -(-wanted // row_blocks)))
    return even_chunk(p.rows, -(-p.rows // row_blocks)), even_chunk(choice.panels, -(-choice.panels // panel_blocks))
