"""What the check of lives and runs between poison know of branches, loops and values read in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from numpy.typing import NDArray

import gecc
from gecc.om.reader import from_bytes
from gecc.om.records import OmModel

LEVELS = ("O0", "O1", "O2")
Array = NDArray[Any]

IF = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[300] x, bool first) => (float[300] y) {
    one = Constant <value = float {1.0}> ()
    a = Exp (x)
    b = Add (a, one)
    r = If (first) <
        then_branch = yes () => (float[300] t) { s = Exp (b) t = Add (s, a) },
        else_branch = no () => (float[300] e) { e = Sub (a, b) }>
    axis = Constant <value = int64 {0}> ()
    y = CumSum (r, axis)
}
"""

NESTED = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[300] x, bool first, bool second) => (float[300] y) {
    one = Constant <value = float {1.0}> ()
    a = Exp (x)
    b = Add (a, one)
    r = If (first) <
        then_branch = yes () => (float[300] t) { t = If (second) <
            then_branch = yes_yes () => (float[300] tt) { tt = Exp (b) },
            else_branch = yes_no () => (float[300] te) { te = Sub (a, b) }> },
        else_branch = no () => (float[300] e) { e = If (second) <
            then_branch = no_yes () => (float[300] et) { et = Mul (a, b) },
            else_branch = no_no () => (float[300] ee) { ee = Neg (b) }> }>
    axis = Constant <value = int64 {0}> ()
    y = CumSum (r, axis)
}
"""

LOOP = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[300] x, int64 times) => (float[300] y) {
    one = Constant <value = float {1.0}> ()
    a = Exp (x)
    b = Add (a, one)
    r = Loop (times, , a) <body = step (int64 i, bool go, float[300] c) => (bool on, float[300] d) {
        on = Identity (go)
        d = Sub (b, a)
    }>
    axis = Constant <value = int64 {0}> ()
    y = CumSum (r, axis)
}
"""

PIECES = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[2, 1224] x) => (float[2, 1224] y, float[3, 1224] z, float[1, 1224] m, float[1, 1224] n, float[1, 1224] s) {
    zero = Constant <value = int64[1] {0}> ()
    one = Constant <value = int64[1] {1}> ()
    two = Constant <value = int64[1] {2}> ()
    step = Constant <value = float {1.0}> ()
    a = Relu (x)
    b = Add (x, step)
    y = Add (b, a)
    late = Slice (a, one, two, zero)
    u = Slice (b, zero, one, zero)
    v = Slice (b, one, two, zero)
    s = Add (v, step)
    m0 = ReduceMax (x, zero)
    w = Ceil (v)
    z = Concat <axis = 0> (w, late, u)
    n = Neg (u)
    m = Abs (m0)
}
"""

HALF_OF_A_LOOP = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[2, 1224] x, int64 times) => (float[1, 1224] y, float[2, 1224] z) {
    zero = Constant <value = int64[1] {0}> ()
    one = Constant <value = int64[1] {1}> ()
    two = Constant <value = int64[1] {2}> ()
    axis = Constant <value = int64 {1}> ()
    a = Exp (x)
    r = Loop (times, , a) <body = step (int64 i, bool go, float[2, 1224] held) => (bool on, float[2, 1224] next) {
        on = Identity (go)
        next = Neg (x)
    }>
    y = Slice (r, one, two, zero)
    b = CumSum (x, axis)
    c = ReduceMax (b, zero)
    z = Add (c, b)
}
"""


ROWS = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[408] x, float[408] y, float[5, 1, 2] t, float[2, 12, 2] w, float[2, 12, 3] r, float[2, 24] b)
    => (float[408] p, float[408] q, float[5, 2, 1, 3] z) {
    once = Constant <value = int64 {1}> ()
    s = Sigmoid (x)
    p, q = Loop (once, , s, y) <body = step (int64 i, bool go, float[408] c, float[408] d)
        => (bool on, float[408] e, float[408] f) {
        on = Identity (go)
        e = Max (c, d)
        f = Sigmoid (d)
    }>
    z, last, cell = LSTM <hidden_size = 3, direction = "bidirectional"> (t, w, r, b)
}
"""


def compiled(text: str, level: str) -> OmModel:
    """As a file: read in full, its lives proven."""
    return from_bytes(gecc.compile(onnx.parser.parse_model(text), opt_level=level).to_bytes(), verify="full")


def run(om: OmModel, feeds: Mapping[str, Array], *, poison: bool) -> dict[str, Array]:
    with gecc.load(om, threads=1, poison=poison) as executor:
        return {name: np.array(value) for name, value in executor.run(feeds).items()}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("text", "second"), [(IF, None), (NESTED, True), (NESTED, False)])
def test_what_any_branch_wrote_is_read_behind_it(text: str, second: bool | None, first: bool, level: str) -> None:
    x = np.linspace(-1, 1, 300, dtype=np.float32)
    feeds: dict[str, Array] = {"x": x, "first": np.array(first)}
    if second is not None:
        feeds["second"] = np.array(second)
    a, b = np.exp(x), np.exp(x) + 1
    if second is None:
        wanted = np.exp(b) + a if first else a - b
    else:
        wanted = {(True, True): np.exp(b), (True, False): a - b, (False, True): a * b, (False, False): -b}[
            first, second
        ]
    om = compiled(text, level)
    plain, poisoned = run(om, feeds, poison=False)["y"], run(om, feeds, poison=True)["y"]
    np.testing.assert_allclose(plain, np.cumsum(wanted), rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(poisoned, plain)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("times", [0, 1, 3])
def test_what_lay_before_a_loop_is_read_behind_it(times: int, level: str) -> None:
    x = np.linspace(-1, 1, 300, dtype=np.float32)
    om = compiled(LOOP, level)
    feeds: dict[str, Array] = {"x": x, "times": np.array(times)}
    plain, poisoned = run(om, feeds, poison=False)["y"], run(om, feeds, poison=True)["y"]
    np.testing.assert_allclose(plain, np.cumsum(np.ones(300) if times else np.exp(x)), rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(poisoned, plain)


@pytest.mark.parametrize("level", LEVELS)
def test_a_plan_by_the_piece_is_not_refused(level: str) -> None:
    """Half of a value is read to the end, in the place of the other half something else lies by then."""
    x = np.linspace(-1, 1, 2448, dtype=np.float32).reshape(2, 1224)
    om = compiled(PIECES, level)
    plain, poisoned = run(om, {"x": x}, poison=False), run(om, {"x": x}, poison=True)
    a, b = np.maximum(x, 0), x + 1
    np.testing.assert_allclose(plain["z"], np.concatenate([np.ceil(b[1:]), a[1:], b[:1]]), rtol=1e-6)
    np.testing.assert_allclose(plain["m"], np.abs(x.max(0, keepdims=True)), rtol=1e-6)
    for name, value in plain.items():
        np.testing.assert_array_equal(poisoned[name], value)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("times", [0, 2])
def test_of_what_a_loop_leaves_only_what_is_read_lives_on(times: int, level: str) -> None:
    """The first half of the loop's value dies with the loop, that which lay there before as well."""
    x = np.linspace(-1, 1, 2448, dtype=np.float32).reshape(2, 1224)
    om = compiled(HALF_OF_A_LOOP, level)
    feeds: dict[str, Array] = {"x": x, "times": np.array(times)}
    plain, poisoned = run(om, feeds, poison=False), run(om, feeds, poison=True)
    np.testing.assert_allclose(plain["y"], (-x if times else np.exp(x))[1:], rtol=1e-5)
    for name, value in plain.items():
        np.testing.assert_array_equal(poisoned[name], value)


@pytest.mark.parametrize("level", LEVELS)
def test_rows_of_a_loop_that_runs_need_nothing_from_before_it(level: str) -> None:
    """The hidden states are made row by row, in bytes that held something else before."""
    rng = np.random.default_rng(0)
    sizes = {"x": (408,), "y": (408,), "t": (5, 1, 2), "w": (2, 12, 2), "r": (2, 12, 3), "b": (2, 24)}
    feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
    om = compiled(ROWS, level)
    plain, poisoned = run(om, feeds, poison=False), run(om, feeds, poison=True)
    np.testing.assert_allclose(plain["p"], np.maximum(1 / (1 + np.exp(-feeds["x"])), feeds["y"]), rtol=1e-5)
    for name, array in plain.items():
        np.testing.assert_array_equal(poisoned[name], array)
