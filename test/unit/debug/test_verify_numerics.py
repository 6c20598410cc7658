"""verify-numerics: sound pipelines pass, a pass that moves a result is named, worthless comparisons fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from gecc.api import import_model
from gecc.context import make_context
from gecc.debug.domains import domains, draw_inputs
from gecc.debug.verify_numerics import FACTOR, NumericsError, Step, degenerate, run
from gecc.dialects import ge, tile
from gecc.errors import ShapeError
from gecc.passes import load_pass
from gecc.pipeline import PIPELINES, quoted, specs_until, with_precision
from gecc.precision import Precision
from gecc.tools.gecc_opt import main as gecc_opt
from gecc.weights import store_of
from test.unit.tools.models import DIGITS, lookup, mlp, model, save, weights

Damage = Callable[[Context, ModuleOp], None]


def verify(proto: ModelProto, level: str = "O2") -> list[Step]:
    ctx = make_context()
    return run(ctx, import_model(ctx, proto), specs_until(level))


@pytest.mark.parametrize("level", list(PIPELINES))
@pytest.mark.parametrize("make", [mlp, lookup])
def test_pipelines_keep_results(make: Callable[[], ModelProto], level: str) -> None:
    steps = verify(make(), level)
    assert [step.name for step in steps] == list(PIPELINES[level])
    assert all(step.ratio <= 1 for step in steps)
    assert {step.stage for step in steps if step.changed} >= {"fused", "tile", "buffer", "om"}


def test_digits() -> None:
    ctx = make_context()
    steps = run(ctx, import_model(ctx, DIGITS, {"image": (2, 1, 8, 8)}), specs_until("O2"))
    assert max(step.ratio for step in steps) <= 1


def damaged(monkeypatch: pytest.MonkeyPatch, name: str, damage: Damage) -> None:
    """Let pass `name` do damage after its work."""
    cls = load_pass(name)
    sound = cls.apply

    def apply(self: object, ctx: Context, op: ModuleOp) -> None:
        sound(self, ctx, op)  # pyright: ignore[reportArgumentType]
        damage(ctx, op)

    monkeypatch.setattr(cls, "apply", apply)


def scale_a_weight(ctx: Context, module: ModuleOp) -> None:
    """Multiply a constant by 1.001."""
    store = store_of(ctx)
    const = next(op for op in module.walk() if isinstance(op, ge.Const))
    const.properties["value"] = store.attr_for(store.array(const.value) * np.float32(1.001))


def spoil_a_weight(ctx: Context, module: ModuleOp) -> None:
    store = store_of(ctx)
    const = next(op for op in module.walk() if isinstance(op, ge.Const))
    const.properties["value"] = store.attr_for(store.array(const.value) * np.float32(np.nan))


def place_on_each_other(one: int, other: int) -> Damage:
    """Give the outputs of two launches, by number, the same offset."""

    def damage(ctx: Context, module: ModuleOp) -> None:
        launches = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
        a, b = (launches[i].outputs[0].owner for i in (one, other))
        assert isinstance(a, tile.AllocOp) and isinstance(b, tile.AllocOp) and b.offset is not None
        a.properties["offset"] = b.offset

    return damage


def forget_a_parameter(ctx: Context, module: ModuleOp) -> None:
    """Launch a kernel with one block less."""
    launch = next(op for op in module.walk() if isinstance(op, tile.LaunchOp))
    launch.properties["blocks"] = IntegerAttr(launch.blocks.value.data - 1, i64)


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("ge-cse", scale_a_weight, "pass 'ge-cse' moved output 'y'"),
        ("ge-dce", spoil_a_weight, "pass 'ge-dce' spoiled output 'y': 100.0% of it is not finite"),
        ("tile-schedule", forget_a_parameter, "pass 'tile-schedule' spoiled output 'y'"),
    ],
)
def test_the_first_pass_that_moves_a_result_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, damage: Damage, said: str
) -> None:
    damaged(monkeypatch, name, damage)
    with pytest.raises(NumericsError, match=said):
        verify(mlp())


def branches() -> ModelProto:
    """Two products of x, both alive until they are added behind a third."""
    names = ("a", "b", "c", "s")
    nodes = [helper.make_node("MatMul", ["x", f"w{n}"], [n], n) for n in names[:3]]
    # a product reads all of its operand for each element, so it never works in place
    nodes += [helper.make_node("Mul", ["a", "b"], ["ab"], "ab"), helper.make_node("MatMul", ["c", "ws"], ["s"], "s")]
    nodes += [helper.make_node("MatMul", ["ab", "s"], ["y"], "y")]
    return model(
        nodes, [("x", [8, 8])], [("y", [8, 8])], {f"w{n}": weights(8, 8, seed=ord(n)) for n in names}, "branches"
    )


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ((3, 2), "'tile-allocate-buffers' (moved|spoiled) output 'y'"),
        (
            (0, 1),
            "'tile-allocate-buffers' the module cannot be run: output 0 is written over input 0, which is not in place",
        ),
    ],
)
def test_overlapping_buffers_show(monkeypatch: pytest.MonkeyPatch, launches: tuple[int, int], said: str) -> None:
    verify(branches())
    damaged(monkeypatch, "tile-allocate-buffers", place_on_each_other(*launches))
    with pytest.raises(NumericsError, match=said):
        verify(branches())


def test_open_dimensions_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"input 'x' \[batch, 32\]"):
        verify(mlp("batch"))


def test_a_yardstick_that_says_nothing_is_refused() -> None:
    nodes = [helper.make_node("Sub", ["x", "x"], ["z"]), helper.make_node("Div", ["z", "z"], ["y"])]
    with pytest.raises(NumericsError, match="100% of output 'y' is not finite in float64"):
        verify(model(nodes, [("x", [4])], [("y", [4])], {}, "nothing"))


def test_degenerate_results() -> None:
    wide = np.linspace(-1, 1, 200)
    assert degenerate(wide, wide) is None
    assert "its shape is [199], expected [200]" in (degenerate(wide[1:], wide) or "")
    assert "all elements are 0.5" in (degenerate(np.full(200, 0.5), wide) or "")
    holes = wide.copy()
    holes[:3] = np.inf
    assert "1.5% of it is not finite" in (degenerate(holes, wide) or "")
    assert degenerate(holes, np.where(np.isfinite(holes), wide, np.nan)) is None
    holes[1:3] = 0  # one in 200 is below the share that fails here; the comparison itself still sees it
    assert degenerate(holes, wide) is None
    assert degenerate(np.full(200, 0.5), np.full(200, 0.5)) is None
    assert FACTOR > 1


def test_inputs_are_drawn_from_their_domains() -> None:
    ctx = make_context()
    module = import_model(ctx, lookup(rows=3))
    found = domains(module, store_of(ctx))
    assert (found["ids"].low, found["ids"].high) == (0, 3)
    assert found["mask"].low is None
    drawn = [draw_inputs(module, store_of(ctx), seed) for seed in range(20)]
    assert {int(v) for d in drawn for v in d["ids"]} == {0, 1, 2}
    assert {int(v) for d in drawn for v in d["mask"].reshape(-1)} == {0, 1}


@pytest.mark.parametrize("kind", ["Log", "Sqrt"])
def test_logarithms_and_roots_get_positive_numbers(kind: str) -> None:
    ctx = make_context()
    nodes = [helper.make_node("Flatten", ["x"], ["f"]), helper.make_node(kind, ["f"], ["y"])]
    module = import_model(ctx, model(nodes, [("x", [4, 4])], [("y", [4, 4])], {}, "positive"))
    assert draw_inputs(module, store_of(ctx))["x"].min() > 0


def test_a_comparison_with_constants_gets_their_values() -> None:
    ctx = make_context()
    nodes = [helper.make_node("Equal", ["x", "classes"], ["e"]), helper.make_node("Cast", ["e"], ["y"], to=1)]
    proto = model(nodes, [("x", [64, 1], 7)], [("y", [64, 5])], {"classes": np.arange(5)}, "one_hot")
    module = import_model(ctx, proto)
    assert set(draw_inputs(module, store_of(ctx))["x"].reshape(-1)) == {0, 1, 2, 3, 4}


def test_gecc_opt_reports_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, out = save(mlp(), tmp_path), str(tmp_path / "out.mlir")
    assert gecc_opt([path, "-O1", "--verify-numerics", "-o", out]) == 0
    damaged(monkeypatch, "ge-cse", scale_a_weight)
    assert gecc_opt([path, "-O1", "--verify-numerics", "-o", out]) == 1
    assert "pass 'ge-cse' moved output 'y'" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["fp16", "mixed_bfloat16"])
def test_what_comes_after_a_choice_of_precision_is_compared_with_it(mode: str) -> None:
    ctx = make_context()
    specs = with_precision(specs_until("O2"), Precision(mode))
    steps = run(ctx, import_model(ctx, mlp()), specs)
    chosen = next(step for step in steps if step.name.startswith("ge-choose-precision"))
    assert chosen.changed and chosen.ratio == 0
    assert max(step.ratio for step in steps) <= 1


def test_a_pass_that_spoils_a_narrow_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(ctx: Context, module: ModuleOp) -> None:
        """The sum of a matrix product and twice its bias, wherever there is one."""
        for op in list(module.walk()):
            if isinstance(op, ge.MatMulV2) and op.bias is not None:
                twice = ge.Add(op.bias, op.bias)
                twice.location = op.location
                assert op.parent is not None
                op.parent.insert_op_before(twice, op)
                op.operands[2] = twice.result
                return

    damaged(monkeypatch, "ge-cse", wrong)
    ctx = make_context()
    with pytest.raises(NumericsError, match="ge-cse"):
        run(ctx, import_model(ctx, mlp()), "ge-choose-precision{mode=fp16},ge-cse")


def test_new_inputs_are_drawn_for_pictures() -> None:
    ctx = make_context()
    relu = helper.make_node("Relu", ["x"], ["y"])
    module = import_model(ctx, model([relu], [("x", [1, 3, 4, 4])], [("y", [1, 3, 4, 4])], {}, "picture"))
    text = "aipp_op { aipp_mode: static input_format: RGB888_U8 mean_chn_0: 3 }"
    steps = run(ctx, module, ["ge-insert-aipp{text=" + quoted(text) + "}", *specs_until("O2", "fused")])
    assert steps[0].changed and max(step.ratio for step in steps) <= 1
