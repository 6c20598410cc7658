"""Inputs and outputs of other element types than the model's, in numbers, as kernels."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from gecc import api
from gecc.errors import CliError

OUTPUTS = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64"]


def doubled(element: int = TensorProto.FLOAT) -> ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"], name="double")],
        "g",
        [helper.make_tensor_value_info("x", element, [9])],
        [helper.make_tensor_value_info("y", element, [9])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model: api.Model, x: np.ndarray) -> np.ndarray:
    with api.load(model, threads=1) as executor:
        return executor.run({"x": x})["y"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs(name: str) -> None:
    x = np.array([0, 0.3, 1.6, -1.6, 63.9, 64.2, -64.5, 200.0, -30.2], np.float32)
    found = run(api.compile(doubled(), output_types={"y": name}), x)
    wanted = 2 * x
    if name in ("int8", "uint8"):
        info = np.iinfo(name)
        wanted = np.clip(wanted, info.min, info.max)
    if name in ("uint16",):
        wanted = np.maximum(wanted, 0)
    assert found.dtype == name and np.array_equal(found, wanted.astype(name))


@pytest.mark.parametrize(("name", "most"), [("int16", 32767), ("uint16", 65535), ("int8", 127), ("uint8", 255)])
def test_what_is_beyond_a_small_type(name: str, most: int) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0, 1, 2, 3], np.float32)
    found = run(api.compile(doubled(), output_types=name), x)
    least = np.iinfo(name).min
    assert found.tolist() == [most, least, 0, most, least, 0, 2, 4, 6]


def test_f16_to_unsigned_words_is_clipped_within_f16() -> None:
    x = np.array([32752, np.inf, -1, np.nan, 1, 2, 3, 4, 5], np.float16)
    found = run(api.compile(doubled(TensorProto.FLOAT16), output_types="UINT16"), x)
    assert found.tolist() == [65504, 65504, 0, 0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("element", "name", "most"),
    [
        ("float16", "int16", 32752),
        ("float16", "uint16", 65504),
        ("bfloat16", "int16", 32640),
        ("bfloat16", "uint16", 65280),
        ("float16", "int8", 127),
        ("bfloat16", "uint8", 255),
        ("float64", "int16", 32767),
    ],
)
def test_the_greatest_that_the_float_has_within_the_integers(element: str, name: str, most: int) -> None:
    number = helper.np_dtype_to_tensor_dtype(np.dtype(getattr(ml_dtypes, element, element)))
    x = np.array([np.inf, -np.inf, 6e4, -6e4, np.nan, 0, 1, 2, 3], getattr(ml_dtypes, element, element))
    found = run(api.compile(doubled(number), output_types=name), x.view(np.uint16) if element == "bfloat16" else x)
    least = np.iinfo(name).min
    assert found.tolist() == [most, least, most, least, 0, 0, 2, 4, 6]


@pytest.mark.parametrize("name", ["float16", "float64", "uint8", "int32"])
def test_inputs(name: str) -> None:
    x = np.array([0, 1, 2, 3, 100, 200, 7, 8, 255]).astype(name)
    found = run(api.compile(doubled(), input_types={"x": name}), x)
    assert found.dtype == np.float32 and np.array_equal(found, 2 * x.astype(np.float32))


def test_bfloat16_as_its_bits() -> None:
    x = np.array([1, 1.00390625, 3.1415927, -2, 0, 1e30, 5, 6, 7], np.float32)
    bits = run(api.compile(doubled(), output_types="BF16"), x)
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    assert bits.dtype == np.uint16 and np.allclose(wide, 2 * x, rtol=2**-8)


def test_names_and_types_are_checked() -> None:
    with pytest.raises(CliError, match="E10016: no output is called 'z'"):
        api.compile(doubled(), output_types={"z": "FP16"})
    with pytest.raises(CliError, match="'string' in 'x:string' is no element type"):
        api.compile(doubled(), input_types={"x": "string"})
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT8E4M3FN, [9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT8E4M3FN, [9])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    with pytest.raises(CliError, match="cannot be changed"):
        api.compile(model, output_types="FP16")
