"""Products to kernels: fused.matmul and fused.conv are one loop structure around one micro-kernel.

Activations are channels-last, so a convolution is a matrix product whose left rows are pixels: pixel r of an output
row starts `stride * channels` elements after pixel r - 1, and for each row of taps the channels of all its taps are
contiguous. Nothing is gathered. Only where the image is padded are the rows that a block needs first copied, with
zeros around them, into the rank's scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.dialects import fused, tile
from gecc.errors import PassError
from gecc.passes.fused._image import image_of
from gecc.passes.fused.to_tile.affine import Linear, strides_of
from gecc.passes.fused.to_tile.grouped import Group, GroupedRegion, is_light
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered, element_bytes, inplace_extras
from gecc.passes.fused.to_tile.padding import Padding, copy_rows
from gecc.target import Target
from gecc.target.tiling import TileChoice, choose_grid

INDEX = IndexType()
STAGED_BYTES = 8
"""Room for an element of a register tile in scratch."""
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


def _is_repeated(op: Operation) -> bool:
    """Whether `op` stands in a loop."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, fused.WhileOp | tile.WhileOp):
            return True
        parent = parent.parent_op()
    return False


def lower_product(op: fused.MatmulOp | fused.ConvOp, target: Target) -> Lowered:
    """The kernel and launch of a product."""
    choice = tiling(op)
    p = matmul_product(op) if isinstance(op, fused.MatmulOp) else conv_product(op)
    inputs = [v.type for v in op.operands if isinstance(v.type, TensorType)]
    result = op.result_type
    shape = result.get_shape()
    size, right_size = element_bytes(inputs[0]), element_bytes(inputs[1])

    # blocks: items x blocks of rows x blocks of tiles x blocks of panels
    tiles = choice.full + choice.short
    if p.rows == 1:
        grid = choose_grid(target, choice, p.pixels, p.steps, p.items, size, repeated=_is_repeated(op))
        chunk_rows, row_blocks = 1, 1
        chunk_tiles, tile_blocks = max(1, grid.row_tiles), max(1, grid.row_blocks)
        chunk_panels, panel_blocks = grid.panels, grid.panel_blocks
        if p.padded is not None and isinstance(op, fused.ConvOp):
            p = conv_product(op, span=chunk_tiles * choice.rows)
    else:
        chunk_tiles, tile_blocks = max(1, tiles), 1  # a row of pixels is split no further
        chunk_rows, chunk_panels = image_blocks(p, choice, target, size)
        row_blocks, panel_blocks = -(-p.rows // chunk_rows), -(-choice.panels // chunk_panels)

    w = KernelWriter(inputs, [result])
    lhs, rhs, out = w.inputs[0], w.inputs[1], w.outputs[0]
    b = w.body
    a = w.argument
    n_rows, n_full, n_tiles, n_panels = (
        a(p.rows, "rows"),
        a(choice.full, "full"),
        a(tiles, "tiles"),
        a(choice.panels, "panels"),
    )
    n_columns = a(p.columns, "columns")
    c_rows, c_tiles, c_panels = (
        a(chunk_rows, "chunk_rows"),
        a(chunk_tiles, "chunk_tiles"),
        a(chunk_panels, "chunk_panels"),
    )
    b_rows, b_tiles, b_panels = (
        a(row_blocks, "row_blocks"),
        a(tile_blocks, "tile_blocks"),
        a(panel_blocks, "panel_blocks"),
    )
    left_item, left_row, left_pixel = a(p.left_item), a(p.left_row), a(p.left_pixel)
    depth = a(p.depth, "depth")
    many_steps = p.n1 > 1 or p.n2 > 1
    n1 = a(p.n1, "n1") if many_steps else b.index(1)
    stride1 = a(p.stride1, "stride1") if many_steps else b.index(0)
    n2 = a(p.n2, "n2") if many_steps else b.index(1)
    stride2 = a(p.stride2, "stride2") if many_steps else b.index(0)
    panel_size = a(p.steps * choice.columns, "panel")
    right_item, right_group = a(p.right_item), a(p.right_group)

    # which block this is
    panel_block, rest = b.rem(w.index, b_panels), b.div(w.index, b_panels)
    tile_block, rest = b.rem(rest, b_tiles), b.div(rest, b_tiles)
    row_block, item = b.rem(rest, b_rows), b.div(rest, b_rows)
    if p.groups > 1:
        groups = a(p.groups, "groups")
        image, group_index = b.div(item, groups), b.rem(item, groups)
        left_base = b.add(b.mul(image, left_item), b.mul(group_index, a(p.left_group)))
        right_base = b.mul(group_index, right_group)
        column_base = b.mul(group_index, n_columns)
    else:
        image, left_base, right_base, column_base = item, b.mul(item, left_item), b.mul(item, right_item), b.index(0)
    row0 = b.mul(row_block, c_rows)
    row1 = b.minimum(b.add(row0, c_rows), n_rows)
    tile0 = b.mul(tile_block, c_tiles)
    tile1 = b.minimum(b.add(tile0, c_tiles), n_tiles)
    panel0 = b.mul(panel_block, c_panels)
    panel1 = b.minimum(b.add(panel0, c_panels), n_panels)

    # the left side: in place, or rows copied with zeros around them
    scratch = 0
    # a heavy epilogue works on the tile in memory; that memory comes first, so that its place is the same in all shapes
    tile_scratch = 0 if is_light(op.epilogue) else -(-choice.rows * choice.columns * STAGED_BYTES // 64) * 64
    if p.padded is not None:
        scratch = p.padded.copied_rows(chunk_rows) * p.padded.width * p.padded.channels * size
        copy = w.scratch(tile_scratch, fused.scalar_type(inputs[0].get_element_type()))
        pixel0, pixel1 = (
            b.sub(b.mul(number, b.index(choice.rows)), b.maximum(b.sub(number, n_full), 0)) for number in (tile0, tile1)
        )
        copy_rows(w, p.padded, lhs, left_base, copy, (row0, b.sub(row1, row0)), (pixel0, b.sub(pixel1, pixel0)))
        left, left_origin, first_row = copy, b.sub(b.index(0), b.mul(pixel0, left_pixel)), row0
    else:
        left, left_origin, first_row = lhs, left_base, b.index(0)

    groups_of = [
        Group(p.item_dims, image),
        Group(p.row_dims),
        Group(p.pixel_dims),
        Group((p.column_dim,)),
    ]
    region = GroupedRegion(w, op.epilogue, shape, groups_of)
    args = region.args
    strides = strides_of(result)
    if shape[p.column_dim] > 1 and strides[p.column_dim] != 1:
        raise PassError(
            f"'{op.name}' \"{op.label.data}\": columns of the result {result} must be contiguous",
            hint="run ge-choose-layouts, which keeps convolutions channels-last",
        )
    store_address = Linear({arg: s for arg, s in zip(args, strides, strict=True) if s})
    region.declare("store", store_address)
    row_pitch = w.argument(strides[p.pixel_dims[-1]] if p.pixels > 1 else p.columns, "pitch")
    staged = w.scratch(0, op.accumulator) if tile_scratch else None

    # the tiles of a panel share the work of prefetching the next one: each takes other lines of every four panel rows
    slots = max(1, choice.columns * 4 * right_size // 64)
    block_tiles = min(chunk_rows, p.rows) * min(chunk_tiles, max(tiles, 1))
    lines = min(2, slots)
    while lines * block_tiles < slots:
        lines *= 2

    def micro_kernel(rows: int, y: SSAValue, number: SSAValue, pixel: SSAValue, panel: SSAValue) -> None:
        """Register tile `number` of output row y: `rows` pixels from `pixel` on, the columns of one panel."""
        body = w.body
        type_ = VectorType(op.accumulator, [rows, choice.columns])
        zero = body.constant(0, op.accumulator)
        fill = tile.FillOp(zero, type_)
        left_offset = body.add(
            left_origin, body.add(body.mul(body.sub(y, first_row), left_row), body.mul(pixel, left_pixel))
        )
        right_offset = body.add(right_base, body.mul(panel, panel_size))
        turn = body.mul(body.add(number, y), body.index(lines))
        slot = body.mul(body.rem(turn, body.index(slots)), body.index(64 // right_size))
        ahead = body.add(body.add(right_offset, panel_size), slot)
        outer = (n1, stride1, n2, stride2)
        pairs = op.pairs is not None
        mma = tile.MmaOp(
            fill.tile, left, left_offset, rhs, right_offset, left_pixel, depth, outer, ahead, lines, pairs=pairs
        )
        body.block.add_ops([fill, mma])
        first_column = body.mul(panel, body.index(choice.columns))
        valid = body.index(choice.columns)
        if p.columns % choice.columns:  # else no panel is cut off, and no code is made for one that is
            valid = body.minimum(body.sub(n_columns, first_column), valid)
        column_start = body.add(column_base, first_column)
        groups_of[1].value, groups_of[2].value, groups_of[3].value = y, pixel, column_start
        if staged is None:
            origin = region.offset("store", store_address)
            block = Block(arg_types=[op.accumulator, INDEX, INDEX])
            with w.inside(block):
                value, row, column = block.args
                groups_of[2].value = w.body.add(pixel, row)
                groups_of[3].value = w.body.add(column_start, column)
                block.add_op(tile.YieldOp(region.write([value], w.inputs)))
            body.block.add_op(tile.StoreTileOp(mma.tile, out, origin, row_pitch, valid, Region(block)))
            return
        block = Block(arg_types=[op.accumulator, INDEX, INDEX])
        block.add_op(tile.YieldOp(block.args[0]))
        width = body.index(choice.columns)
        memory = staged
        body.block.add_op(tile.StoreTileOp(mma.tile, memory, body.index(0), width, width, Region(block)))

        def one_row(row: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            groups_of[2].value = w.body.add(pixel, row)
            groups_of[3].value = column_start
            origin = region.offset("store", store_address)
            start = w.body.mul(row, w.body.index(choice.columns))

            def one_column(column: SSAValue) -> Sequence[SSAValue]:
                groups_of[3].value = w.body.add(column_start, column)
                value = w.load(memory, w.body.add(start, column))
                w.store(region.write([value], w.inputs), out, w.body.add(origin, column))
                return []

            w.lanes(0, valid, one_column)
            return []

        w.loop(0, rows, one_row)

    def over_tiles(y: SSAValue, panel: SSAValue) -> None:
        body = w.body
        if choice.full:
            last = body.minimum(tile1, n_full)

            def full(number: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
                micro_kernel(choice.rows, y, number, w.body.mul(number, w.body.index(choice.rows)), panel)
                return []

            w.loop(tile0, last, full)
        if choice.short:

            def short(number: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
                start = w.body.add(w.body.mul(number, w.body.index(choice.rows - 1)), n_full)
                micro_kernel(choice.rows - 1, y, number, start, panel)
                return []

            w.loop(body.maximum(tile0, n_full), tile1, short)

    def over_panels(panel: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        def over_rows(y: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            over_tiles(y, panel)
            return []

        w.loop(row0, row1, over_rows)
        return []

    w.loop(panel0, panel1, over_panels)
    blocks = p.items * row_blocks * tile_blocks * panel_blocks
    return Lowered(
        kernel=w.finish(f"{op.label.data}_{choice.rows}x{choice.columns}"),
        inputs=list(op.operands),
        result=result,
        params=w.params,
        blocks=blocks if prod(shape) else 0,
        scratch=tile_scratch + -(-scratch // 64) * 64,
        label=op.label.data,
        inplace=inplace_extras(op),
    )


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
