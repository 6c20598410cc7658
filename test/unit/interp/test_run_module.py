"""Running modules: names, freeing of values, what is observed."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser

from gecc.context import make_context
from gecc.errors import InvalidModelError
from gecc.interp import run_module


def parse(text: str):
    """A verified module."""
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


CHAIN = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {ge.input_names = ["x", "y"], ge.output_names = ["a", "b", "c"]} {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %unused = ge.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ge.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ge.Mul(%1, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = ge.Add(%2, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3, %3, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
"""


class Watch(Interpreter.Listener):
    """Notes which results are still alive when each operation starts."""

    def __init__(self) -> None:
        self.made: dict[str, weakref.ref[np.ndarray]] = {}
        self.alive: dict[str, list[str]] = {}

    def will_interpret_op(self, op, args) -> None:
        self.alive[op.name] = [name for name, ref in self.made.items() if ref() is not None]

    def did_interpret_op(self, op, results) -> None:
        for result in results:
            self.made[op.name] = weakref.ref(result)


def test_names_and_repeated_results() -> None:
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    out = run_module(parse(CHAIN), {"y": y, "x": x})
    assert list(out) == ["a", "b", "c"]
    np.testing.assert_allclose(out["a"], np.exp(2 * x) + np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(out["b"], out["a"])
    np.testing.assert_array_equal(out["c"], y)


def test_a_value_is_forgotten_after_its_last_use() -> None:
    watch = Watch()
    run_module(parse(CHAIN), [np.zeros(4, np.float32)] * 2, listeners=[watch])
    assert "ge.Exp" in watch.alive["ge.Add"]
    assert "ge.Neg" not in watch.alive["ge.Add"]
    assert watch.alive["func.return"] == ["ge.Add"]


def test_calls_are_run() -> None:
    module = parse("""
    func.func @twice(%x: tensor<f32>) -> tensor<f32> {
      %0 = ge.Add(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      func.return %0 : tensor<f32>
    }
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @twice(%x) : (tensor<f32>) -> tensor<f32>
      %1 = func.call @twice(%0) : (tensor<f32>) -> tensor<f32>
      func.return %1 : tensor<f32>
    }
    """)
    assert run_module(module, [np.array(3, np.float32)])["out0"] == 12


def test_names_must_match_in_number() -> None:
    module = parse("""
    func.func @main(%x: tensor<f32>) -> tensor<f32> attributes {ge.input_names = ["a", "b"]} {
      func.return %x : tensor<f32>
    }
    """)
    with pytest.raises(InvalidModelError, match="expected 1 names"):
        run_module(module, [np.array(3, np.float32)])
