"""tile.mma of pairs: the same product whether two steps of a panel lie side by side or one behind the other."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser

from gecc.context import make_context
from gecc.dialects import tile
from gecc.errors import KernelError
from gecc.interp.tile import run_kernel

ROWS, COLUMNS = 2, 16


def product(left: np.ndarray, panel: np.ndarray, *, pairs: bool) -> np.ndarray:
    """left [ROWS, K] times panel, of K rows of COLUMNS."""
    text = f"""
tile.kernel @k(%a: memref<?xi16>, %b: memref<?xi8>, %y: memref<?xi32>, %n: index, %block: index) {{
  %zero = arith.constant 0 : i32
  %o = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant {COLUMNS} : index
  %t = tile.fill %zero : i32 to vector<{ROWS}x{COLUMNS}xi32>
  %u = tile.mma %t, %a[%o], %b[%o] rows %n depth %n outer(%one by %o, %one by %o) {"pairs " * pairs}: vector<{ROWS}x{COLUMNS}xi32>
  tile.store_tile %u, %y[%o] rows %c columns %c (%v: i32, %i: index, %j: index) {{
    tile.yield %v : i32
  }}
}}"""
    kernel = Parser(make_context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, tile.KernelOp)
    kernel.verify()
    found = np.zeros((ROWS, COLUMNS), np.int32)
    run_kernel(kernel, [left, panel, found], [left.shape[1]], [0], 0, "a test")
    return found


def test_pairs_are_two_steps_of_a_column() -> None:
    rng = np.random.default_rng(3)
    left = rng.integers(-255, 256, (ROWS, 6)).astype(np.int16)
    panel = rng.integers(-128, 128, (6, COLUMNS)).astype(np.int8)
    paired = np.ascontiguousarray(panel.reshape(3, 2, COLUMNS).swapaxes(1, 2)).reshape(panel.shape)
    wanted = left.astype(np.int32) @ panel.astype(np.int32)
    np.testing.assert_array_equal(product(left, panel, pairs=False), wanted)
    np.testing.assert_array_equal(product(left, paired, pairs=True), wanted)


def test_an_odd_run_has_no_pairs() -> None:
    with pytest.raises(KernelError, match="pairs in runs of 5, expected an even number"):
        product(np.zeros((ROWS, 5), np.int16), np.zeros((5, COLUMNS), np.int8), pairs=True)
