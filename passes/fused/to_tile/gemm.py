"""Products to kernels: fused.matmul and fused.conv are one loop structure around one micro-kernel.

Activations are channels-last, so a convolution is a matrix product whose left rows are pixels: pixel r of an output
row starts `stride * channels` elements after pixel r - 1, and for each row of taps the channels of all its taps are
contiguous. Nothing is gathered. Only where the image is padded are the rows that a block needs first copied, with
zeros around them, into the rank's scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IndexType, TensorType, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.dialects import fused, tile
from gecc.errors import PassError
from gecc.passes.fused.to_tile.affine import Linear, strides_of
from gecc.passes.fused.to_tile.grouped import Group, GroupedRegion, is_light
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered, element_bytes, inplace_extras
from gecc.passes.fused.to_tile.padding import copy_rows
from gecc.passes.fused.to_tile.product import conv_product, image_blocks, matmul_product, tiling
from gecc.target import Target
from gecc.target.tiling import choose_grid

INDEX = IndexType()
STAGED_BYTES = 8
"""Room for an element of a register tile in scratch."""


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
