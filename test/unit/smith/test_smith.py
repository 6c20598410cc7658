"""Random models in every run, and that what finds faults would find one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from onnx.helper import make_node

from gecc.debug.smith.check import failure
from gecc.debug.smith.generate import generate
from gecc.debug.smith.oracle import Array, Rejected, evaluate, fault, given
from gecc.debug.smith.shrink import case_of, shrink

SEEDS = range(7000, 7050)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_model(seed: int) -> None:
    sample = generate(seed, nodes=4)
    failed = failure(sample.model, sample.feeds, sample.values)
    assert failed is None, f"{failed}\n{onnx.printer.to_text(sample.model)}"


def test_seed_decides_the_model() -> None:
    first, second = (generate(7100) for _ in range(2))
    assert first.model == second.model
    assert {name: a.tobytes() for name, a in first.feeds.items()} == {n: a.tobytes() for n, a in second.feeds.items()}
    assert generate(7101).model != first.model


def test_models_are_valid_and_differ() -> None:
    operators = Counter[str]()
    for seed in range(7200, 7260):
        model = generate(seed).model
        onnx.checker.check_model(model, full_check=True)
        operators.update(node.op_type for node in model.graph.node)
    assert len(operators) > 50
    assert {"Conv", "MatMul", "Reshape", "Softmax", "Concat", "Cast", "LayerNormalization"} <= set(operators)


def test_oracle_allows_roundings_and_no_more() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, (4, 64)).astype(np.float32)
    w = np.random.default_rng(2).uniform(-1, 1, (64, 3)).astype(np.float32)
    [y] = evaluate(make_node("MatMul", ["x", "w"], ["y"]), [given("x", x), given("w", w)], 21)
    assert fault(x @ w, y) is None
    assert fault((x.astype(np.float64) @ w).astype(np.float32), y) is None
    wrong = np.array(x @ w)
    wrong[2, 1] += 1e-3
    assert (told := fault(wrong, y)) is not None
    assert told.startswith("1 of 12 elements are wrong, first at [2, 1]")
    assert fault(wrong.T, y) == "float32[3, 4], expected float32[4, 3]"


def test_oracle_of_exact_operators_allows_nothing() -> None:
    x = np.array([0.1, -3.0, np.nan], np.float32)
    [y] = evaluate(make_node("Neg", ["x"], ["y"]), [given("x", x)], 21)
    assert y.slack == 0
    assert fault(-x, y) is None
    assert fault(np.nextafter(-x, np.float32(9)), y) is not None


def test_results_near_a_jump_are_rejected() -> None:
    [x] = evaluate(make_node("Exp", ["a"], ["x"]), [given("a", np.zeros(1, np.float32))], 21)
    with pytest.raises(Rejected, match="Floor"):
        evaluate(make_node("Floor", ["x"], ["y"]), [x], 21)
    one = given("x", np.ones(1, np.float32))
    assert evaluate(make_node("Floor", ["x"], ["y"]), [one], 21)[0].slack == 0


def test_division_by_zero_never_reaches_an_oracle() -> None:
    x, zero = given("x", np.ones(2, np.int32)), given("z", np.zeros(2, np.int32))
    with pytest.raises(Rejected, match="division by zero"):
        evaluate(make_node("Div", ["x", "z"], ["y"]), [x, zero], 21)


def test_shrinks_to_the_node_at_fault() -> None:
    sample = next(
        s for s in map(generate, range(7300, 7400)) if _has(s.model, "Transpose") and len(s.model.graph.node) > 5
    )

    def fails(model: ModelProto, feeds: dict[str, Array]) -> bool:
        return _has(model, "Transpose")

    case = shrink(case_of(sample.model, sample.feeds), fails)
    assert [node.op_type for node in case.nodes] == ["Transpose"]
    assert all(a.size <= 1 for a in (*case.feeds.values(), *case.constants.values()))


def _has(model: ModelProto, operator: str) -> bool:
    return any(node.op_type == operator for node in model.graph.node)
