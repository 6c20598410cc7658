"""Register tiles and blocks for matrix products, from the description of a target.

A product of R rows and C columns is computed in tiles of `rows` or `rows - 1` rows (so that no thin tail is left)
and `columns` columns, a whole number of vectors. The cost model counts cycles of one step along the depth on a core
that issues two vector multiply-adds and two loads a cycle with a latency of four.
"""

from __future__ import annotations

from dataclasses import dataclass

from gecc.target.target import Target

FMA_LATENCY = 4
L2_BYTES = 25.6
"""Bytes that the second-level cache delivers in a cycle."""
GRAIN = 1 << 20
"""Multiply-adds that a block should hold at least, about ten microseconds."""
BLOCK_BYTES = 1 << 17
"""Bytes of weights that a block of a memory-bound product should stream at least."""
MAX_BLOCKS = 16
"""Large blocks ran faster than many: each starts its first panel cold, and rows that are split fetch it again."""
LEFT_CACHES = 2
"""Rows are split when their left side exceeds this many second-level caches."""
MAX_ROWS = 13
"""Rows that five general registers address."""
MIN_COLUMN_BLOCKS = 8
"""Rows are split as well when there are fewer blocks of columns than this."""


@dataclass(frozen=True)
class TileChoice:
    """Tiles of a product: `full` tiles of `rows` rows, then `short` tiles of rows - 1; `columns` is a panel's width."""

    rows: int
    full: int
    short: int
    columns: int
    panels: int
    cost: float


ACCUMULATORS = {16: 12, 32: 24}
"""Vector registers of a machine to the accumulators that a tile may hold: the most that measured without loss. One
more row of two vectors fits 32 registers too, but ran a tenth slower."""


LONE_ROWS = {16: 8, 32: 24}
"""The same for rows of one vector. Where a multiply-add cannot broadcast from memory (AVX2) it takes its result to the
register of the broadcast, which nothing else reads: sums wander among the registers, and more of them spill."""


def max_rows(target: Target, vectors: int) -> int:
    """The most rows of `vectors` accumulators each; a row of the right side and a broadcast scalar fit beside them."""
    registers = target.vector_registers
    accumulators = LONE_ROWS[registers] if vectors == 1 else ACCUMULATORS[registers]
    return max(1, min(accumulators // vectors, (registers - 1 - vectors) // vectors, MAX_ROWS))


def _cycles(target: Target, rows: int, vectors: int) -> float:
    """Cycles of one step: bound by multiply-adds, by loads, by latency, or by the panel streaming from the L2 cache."""
    if rows == 0:
        return 0.0
    streaming = vectors * target.vector_bytes / L2_BYTES
    return max(rows * vectors / 2, (rows + vectors) / 2, FMA_LATENCY, streaming)


def choose_tile(target: Target, rows: int, columns: int) -> TileChoice:
    """The cheapest tiles for a product of `rows` rows and `columns` columns."""
    lanes = target.f32_lanes
    best: TileChoice | None = None
    for vectors in (2, 3, 4, 1):  # of equally cheap tiles, tall ones stream less of the panel
        if vectors > 1 and (vectors - 1) * lanes >= columns:
            continue
        if vectors * lanes * 2 > target.vector_registers * lanes:
            continue
        panels = -(-columns // (vectors * lanes))
        for tile_rows in range(max_rows(target, vectors), 0, -1):
            short = -rows % tile_rows
            rest = rows - short * (tile_rows - 1)
            if rest < 0:
                continue
            full = rest // tile_rows
            full_cost, short_cost = (_cycles(target, r, vectors) for r in (tile_rows, tile_rows - 1))
            cost = panels * (full * full_cost + short * short_cost)
            if best is None or cost < best.cost * 0.999:
                best = TileChoice(tile_rows, full, short, vectors * lanes, panels, cost)
    assert best is not None
    return best


@dataclass(frozen=True)
class Grid:
    """Blocks of a product: `row_blocks` of `row_tiles` tiles each, `panel_blocks` of `panels` panels each."""

    row_tiles: int
    row_blocks: int
    panels: int
    panel_blocks: int


def choose_grid(
    target: Target,
    tile: TileChoice,
    rows: int,
    depth: int,
    items: int,
    element_bytes: int = 4,
    *,
    repeated: bool = False,
) -> Grid:
    """Split the work of one of `items` equal products into blocks.

    The weights of a `repeated` product, one in a loop, lie in the second-level cache if they fit, from which a block
    streams twice as much in the same time.

    Columns are split first, since blocks then share no weights; rows when columns give too few blocks, or when the
    rows' left side is much larger than the second-level cache.
    """
    tiles = tile.full + tile.short
    work = rows * depth * tile.panels * tile.columns
    streamed = depth * tile.panels * tile.columns * element_bytes
    least = BLOCK_BYTES * (2 if repeated and items * streamed <= target.l2_bytes else 1)
    wanted = max(1, min(MAX_BLOCKS, max(work // GRAIN, streamed // least)) // items)
    left_bytes = rows * depth * element_bytes
    row_blocks = max(1, min(tiles, -(-left_bytes // (LEFT_CACHES * target.l2_bytes))))
    panel_blocks = max(1, min(tile.panels, -(-wanted // row_blocks)))
    enough = min(wanted, max(1, MIN_COLUMN_BLOCKS // items))
    if panel_blocks * row_blocks < enough:
        row_blocks = min(tiles, -(-enough // panel_blocks))
    panels = -(-tile.panels // panel_blocks)
    row_tiles = -(-tiles // row_blocks) if tiles else 1
    return Grid(row_tiles, -(-tiles // row_tiles) if tiles else 0, panels, -(-tile.panels // panels))
