"""The weight store: entries, recipes, attributes, side files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType

from gecc.context import make_context
from gecc.dialects import ge
from gecc.errors import WeightError
from gecc.weights import (
    Param,
    WeightAttr,
    WeightStore,
    element_type,
    item_bytes,
    numpy_dtype,
    store_of,
    transformation,
)

BIG = np.arange(400, dtype=np.float32).reshape(20, 20)
RUNS: list[int] = []


@transformation("test-scale")
def scale(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    RUNS.append(1)
    factor = params["factor"]
    assert isinstance(factor, int)
    return sources[0] * np.float32(factor)


def test_small_constants_stay_dense() -> None:
    store = WeightStore()
    arrays = [np.array(v, d) for d in "fdehilqBHILQ" for v in (3, [1, 2], [[1, 0], [0, 1]])]
    arrays += [np.array([True, False]), np.zeros((0, 3), np.int64), np.array([np.inf, np.nan], np.float32)]
    for array in arrays:
        attr = store.attr_for(array)
        assert isinstance(attr, DenseIntOrFPElementsAttr)
        back = store.array(attr)
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)
        assert store.nbytes(attr) == array.nbytes
    assert len(store) == 0


def test_equal_bytes_are_one_entry() -> None:
    store = WeightStore()
    first, second = store.attr_for(BIG), store.attr_for(BIG.reshape(400).copy())
    assert isinstance(first, WeightAttr)
    assert isinstance(second, WeightAttr)
    assert first.digest == second.digest
    assert len(store) == 1
    np.testing.assert_array_equal(store.array(first), BIG)
    np.testing.assert_array_equal(store.array(second), BIG.reshape(400))
    assert store.array(first.digest.data).tobytes() == BIG.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        store.array(first)[0, 0] = 1


def test_dtypes() -> None:
    for name in ("float64", "float32", "float16", "bfloat16", "bool", "int8", "uint8", "int64", "uint64"):
        element = element_type(name)
        assert numpy_dtype(element).name == name
        assert item_bytes(element) == numpy_dtype(element).itemsize
    with pytest.raises(TypeError, match="complex64 has no element type"):
        element_type(np.complex64)


def test_recipes_are_computed_when_read() -> None:
    store = WeightStore()
    weight = store.attr_for(BIG)
    kind = TensorType(element_type(np.float32), BIG.shape)
    RUNS.clear()
    recipe = store.add_recipe("test-scale", [weight], {"factor": 3}, kind)
    assert store.add_recipe("test-scale", [weight], {"factor": 3}, kind) == recipe
    assert store.add_recipe("test-scale", [weight], {"factor": 4}, kind) != recipe
    assert not RUNS
    assert store.nbytes(recipe) == BIG.nbytes
    assert store.is_recipe(recipe.digest.data)
    assert isinstance(weight, WeightAttr)
    assert store.sources(recipe.digest.data) == (weight.digest.data,)
    for _ in range(2):
        np.testing.assert_array_equal(store.array(recipe), BIG * 3)
    assert len(RUNS) == 1
    chained = store.add_recipe("transpose", [recipe], {"perm": (1, 0)}, kind)
    assert store.add_recipe("transpose", [recipe], {"perm": [1, 0]}, kind) == chained
    np.testing.assert_array_equal(store.array(chained), BIG.T * 3)


def test_recipes_of_dense_constants() -> None:
    store = WeightStore()
    dense = store.attr_for(np.array([1.0, 2.0], np.float32))
    recipe = store.add_recipe("cast", [dense], {"dtype": "bfloat16"}, TensorType(element_type("bfloat16"), [2]))
    np.testing.assert_array_equal(store.array(recipe).astype(np.float32), [1, 2])


def test_wrong_recipes() -> None:
    store = WeightStore()
    weight = store.attr_for(BIG)
    with pytest.raises(KeyError, match="no weight transformation is called 'none'; known: cast,"):
        store.add_recipe("none", [weight], {}, TensorType(element_type(np.float32), [1]))
    wrong = store.add_recipe("transpose", [weight], {"perm": [1, 0]}, TensorType(element_type(np.float32), [400]))
    with pytest.raises(WeightError, match=r"'transpose' made float32\[20, 20\], but .* states tensor<400xf32>"):
        store.array(wrong)


def test_a_transformation_has_one_meaning() -> None:
    with pytest.raises(ValueError, match="'transpose' is taken by"):
        transformation("transpose")(scale)


def test_layouts_give_the_logical_value() -> None:
    store = WeightStore()
    logical = np.arange(2 * 3 * 16 * 16, dtype=np.float32).reshape(2, 3, 16, 16)
    physical = store.add(np.ascontiguousarray(logical.transpose(0, 2, 3, 1)))
    attr = WeightAttr(physical.digest, TensorType(element_type(np.float32), logical.shape, ge.LayoutAttr("NHWC")))
    np.testing.assert_array_equal(store.array(attr), logical)


def test_missing_entries_name_digest_and_file(tmp_path: Path) -> None:
    store = WeightStore()
    digest = "ab" * 32
    with pytest.raises(WeightError, match=rf"weight {digest} is not in the store(.|\n)*hint: .*side file"):
        store.array(digest)
    path = tmp_path / "m.weights"
    store.save(path, [])
    store.attach(path)
    with pytest.raises(WeightError, match=rf"{digest}(.|\n)*m.weights"):
        store.array(WeightAttr(digest, TensorType(element_type(np.float32), [1])))


def test_side_files_hold_bytes_and_results_of_recipes(tmp_path: Path) -> None:
    store = WeightStore()
    weight, odd = store.add(BIG), store.add(np.arange(1027, dtype=np.uint8))
    recipe = store.add_recipe("test-scale", [weight], {"factor": 2}, weight.tensor_type)
    path = tmp_path / "m.weights"
    store.save(path, [odd.digest.data, weight.digest.data, recipe.digest.data])
    other = WeightStore()
    other.attach(path)
    np.testing.assert_array_equal(other.array(weight), BIG)
    np.testing.assert_array_equal(other.array(recipe), BIG * 2)
    assert other.array(odd).ctypes.data % 64 == 0
    assert not other.is_recipe(recipe.digest.data)
    assert [p.name for p in tmp_path.iterdir()] == ["m.weights"]
    again = tmp_path / "again.weights"
    other.save(again, [odd.digest.data, weight.digest.data, recipe.digest.data])
    assert again.read_bytes() == path.read_bytes()


def test_damaged_side_files(tmp_path: Path) -> None:
    store = WeightStore()
    path = tmp_path / "m.weights"
    store.save(path, [store.add(BIG).digest.data])
    whole = path.read_bytes()
    for data, message in (
        (b"", "not a file of weights"),
        (b"X" + whole[1:], "not a file of weights"),
        (whole[:40], "1 entries do not fit a file of 40 bytes"),
        (whole[:-4], r"lies at 64..1664, expected a multiple of 64 within 1660 bytes"),
    ):
        path.write_bytes(data)
        with pytest.raises(WeightError, match=message):
            WeightStore().attach(path)
    path.unlink()
    with pytest.raises(WeightError, match="cannot read the file of weights: No such file"):
        WeightStore().attach(path)


def test_every_context_has_its_store() -> None:
    first, second = make_context(), make_context()
    assert store_of(first) is store_of(first)
    assert store_of(first) is not store_of(second)
    with pytest.raises(ValueError, match="no weight store"):
        store_of(Context())


def test_importing_loads_no_numpy() -> None:
    code = "import sys, gecc.weights, gecc.context; c = gecc.context.make_context(); c.get_dialect('ge'); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
