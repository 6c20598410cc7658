"""Inputs: every mistake told at once, any memory layout accepted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gecc.errors import InputError
from gecc.runtime.executor import Executor


@pytest.fixture
def executor(make) -> Iterator[Executor]:
    t = make.task
    tasks = [
        t("affine", 0, make.graph_input(0), make.graph_output(0), 2),
        t("affine", 0, make.graph_input(1), make.graph_output(1), 3),
    ]
    with Executor(make.model(tasks, inputs=("f32", "f32"), outputs=2), threads=1) as executor:
        yield executor


def test_all_problems_are_told_at_once(executor: Executor, make) -> None:
    with pytest.raises(InputError) as error:
        executor.run({"x0": np.zeros((2, 3)), "z": np.zeros(1)})
    text = str(error.value)
    assert "'x1' is missing" in text
    assert "'z' is not an input of the model" in text
    assert "'x0' has element type float64, expected float32" in text
    assert f"'x0' has shape [2, 3], expected [{make.N}]" in text
    assert f"the model takes 'x0' float32[{make.N}], 'x1' float32[{make.N}]" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: [x], "found 1 arrays, expected 2"),
        (lambda x: [x, x, x], "found 3 arrays, expected 2"),
        (lambda x: x, "found ndarray, expected a mapping from names or a list of arrays"),
        (lambda x: [x, x.astype(">f4")], "'x1' has element type >f4, expected float32"),
        (lambda x: [x, x.astype(np.int32)], "'x1' has element type int32, expected float32"),
        (lambda x: [x, x[:-1]], r"'x1' has shape \[95\], expected \[96\]"),
        (lambda x: [x, x.reshape(1, -1)], r"'x1' has shape \[1, 96\], expected \[96\]"),
        (lambda x: {"x0": x, "x1": [[1], [1, 2]]}, "'x1' is no array"),
        (lambda x: {"x0": x}, "'x1' is missing"),
        (lambda x: {}, "'x0' is missing; 'x1' is missing"),
    ],
)
def test_wrong_inputs(executor: Executor, x: np.ndarray, change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        executor.run(change(x))


def test_layouts_of_memory(executor: Executor, make, x: np.ndarray) -> None:
    strided = np.repeat(x, 3)[::3]
    backward = x[::-1].copy()[::-1]
    raw = np.zeros(4 * make.N + 1, np.uint8)
    misaligned = raw[1:].view(np.float32)
    misaligned[:] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    shared = np.concatenate([x, x])[make.N :]
    for array in (strided, backward, misaligned, frozen, shared):
        out = executor.run({"x1": array, "x0": x})
        np.testing.assert_array_equal(out["y1"], 3 * x + np.float32(1))
        np.testing.assert_array_equal(out["y0"], 2 * x + np.float32(1))


def test_lists_and_subclasses(executor: Executor, make, x: np.ndarray) -> None:
    class Sub(np.ndarray):
        pass

    np.testing.assert_array_equal(executor.run((x, x.view(Sub)))["y1"], 3 * x + np.float32(1))


def test_inputs_stay_and_outputs_are_new(executor: Executor, x: np.ndarray) -> None:
    before = x.copy()
    first = executor.run([x, x])
    kept = first["y0"].copy()
    second = executor.run([x + 1, x])
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(first["y0"], kept)
    assert not np.shares_memory(first["y0"], second["y0"])
