"""Tiles chosen for products cover them and fit the registers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gecc.target import TARGETS, X86_64_V3, Target
from gecc.target.tiling import LONE_ROWS, choose_tile

NATIVE = [target for target in TARGETS.values() if target.native]


@pytest.mark.parametrize("target", NATIVE, ids=lambda t: t.name)
@given(rows=st.integers(1, 20_000), columns=st.integers(1, 5_000))
def test_tiles_cover_the_product_and_fit_the_registers(target: Target, rows: int, columns: int) -> None:
    tile = choose_tile(target, rows, columns)
    assert tile.full * tile.rows + tile.short * (tile.rows - 1) == rows
    assert (tile.panels - 1) * tile.columns < columns <= tile.panels * tile.columns
    vectors = tile.columns // target.f32_lanes
    assert tile.columns == vectors * target.f32_lanes
    assert tile.rows * vectors + vectors + 1 <= target.vector_registers
    if vectors == 1:
        assert tile.rows <= LONE_ROWS[target.vector_registers]


def test_streaming_is_counted_in_bytes() -> None:
    """Three short vectors of a panel come from the L2 cache as fast as four rows use them."""
    tile = choose_tile(X86_64_V3, 3136, 24)
    assert (tile.rows, tile.columns, tile.panels) == (4, 24, 1)
