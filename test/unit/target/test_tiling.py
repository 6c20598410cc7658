"""Tiles chosen for products cover them and fit the registers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gecc.passes.fused.to_tile.launch import MAX_BLOCKS as MAX_LOOP_BLOCKS
from gecc.passes.fused.to_tile.launch import blocks_for
from gecc.target import TARGETS, X86_64_V3, Target
from gecc.target.tiling import LONE_ROWS, MAX_BLOCKS, choose_grid, choose_tile, max_rows

NATIVE = [target for target in TARGETS.values() if target.native]


@pytest.mark.parametrize("target", NATIVE, ids=lambda t: t.name)
@given(rows=st.integers(1, 20_000), columns=st.integers(1, 5_000))
def test_tiles_cover_the_product_and_fit_the_registers(target: Target, rows: int, columns: int) -> None:
    tile = choose_tile(target, rows, columns)
    assert tile.full * tile.rows + tile.short * (tile.rows - 1) == rows
    assert (tile.panels - 1) * tile.columns < columns <= tile.panels * tile.columns
    vectors = tile.columns // target.f32_lanes
    assert tile.columns == vectors * target.f32_lanes
    assert 1 <= tile.rows <= max_rows(target, vectors)
    assert min(tile.full, tile.short) >= 0
    assert tile.rows * vectors + vectors + 1 <= target.vector_registers
    if vectors == 1:
        assert tile.rows <= LONE_ROWS[target.vector_registers]


def test_streaming_is_counted_in_bytes() -> None:
    """Three short vectors of a panel come from the L2 cache as fast as four rows use them."""
    tile = choose_tile(X86_64_V3, 3136, 24)
    assert (tile.rows, tile.columns, tile.panels) == (4, 24, 1)


@pytest.mark.parametrize("target", NATIVE, ids=lambda t: t.name)
@given(
    rows=st.integers(1, 5_000),
    columns=st.integers(1, 5_000),
    depth=st.integers(0, 5_000),
    items=st.integers(1, 200),
    size=st.sampled_from((1, 2, 4, 8)),
)
def test_blocks_cover_all_tiles(target: Target, rows: int, columns: int, depth: int, items: int, size: int) -> None:
    """Every tile and panel is in exactly one block, none of which is empty, and there are not too many."""
    tile = choose_tile(target, rows, columns)
    grid = choose_grid(target, tile, rows, depth, items, size)
    tiles = tile.full + tile.short
    assert (grid.row_blocks - 1) * grid.row_tiles < tiles <= grid.row_blocks * grid.row_tiles
    assert (grid.panel_blocks - 1) * grid.panels < tile.panels <= grid.panel_blocks * grid.panels
    fits = -(-rows * depth * size // (target.l2_bytes // 2))
    assert grid.row_blocks * grid.panel_blocks <= 2 * max(MAX_BLOCKS, fits)


@given(work=st.integers(0, 1 << 40), extent=st.integers(0, 1 << 20), unit=st.sampled_from((1, 16, 64)))
def test_loops_are_split_without_rest(work: int, extent: int, unit: int) -> None:
    """Blocks cover the loop, all but the last are whole units, and none is empty."""
    blocks, chunk = blocks_for(work, extent, unit)
    assert chunk % unit == 0 and chunk > 0
    assert blocks <= MAX_LOOP_BLOCKS
    assert (blocks - 1) * chunk < max(extent, 1)
    assert blocks * chunk >= extent
