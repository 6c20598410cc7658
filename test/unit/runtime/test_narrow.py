"""Inputs and outputs of types that numpy has not, through om files and native code."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import gecc
from gecc.errors import InputError, OmError
from gecc.om.fixed import FixedInput
from gecc.om.reader import from_bytes
from gecc.runtime.executor import Executor
from gecc.runtime.inputs import Binder

Array = np.ndarray[Any, Any]


def model(source: int, target: int) -> ModelProto:
    """x and z of a narrow type, converted to f32, added, converted to another one; and z itself."""
    infos = [helper.make_tensor_value_info(n, source, [3, 5]) for n in ("x", "z")]
    outputs = [helper.make_tensor_value_info("y", target, [3, 5]), helper.make_tensor_value_info("t", source, [5, 3])]
    nodes = [
        *(helper.make_node("Cast", [n], [f"{n}32"], to=TensorProto.FLOAT) for n in ("x", "z")),
        helper.make_node("Add", ["x32", "z32"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["y"], to=target),
        helper.make_node("Transpose", ["z"], ["t"]),
    ]
    graph = helper.make_graph(nodes, "narrow", infos, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def type_name(data_type: int) -> str:
    return helper.tensor_dtype_to_string(data_type)


KINDS: dict[int, Any] = {
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT2: ml_dtypes.uint2,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
    TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
}


def feeds(kind: Any) -> dict[str, Array]:
    numbers = np.arange(15).reshape(3, 5) % 2
    return {"x": numbers.astype(kind), "z": numbers[::-1].astype(kind)}


def executor(source: int, target: int, level: str = "O2", threads: int = 1) -> Executor:
    made = gecc.compile(model(source, target), opt_level=level)
    return Executor(from_bytes(made.to_bytes()), threads=threads, affinity="none")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("source", KINDS, ids=type_name)
def test_arrays_of_ml_dtypes(source: int, level: str, threads: int) -> None:
    x = feeds(KINDS[source])
    total = x["x"].astype(np.float32) + x["z"].astype(np.float32)
    with executor(source, TensorProto.FLOAT8E5M2, level, threads) as ready:
        for given in (x, list(x.values()), {n: a.view(np.uint8) for n, a in x.items()}):
            y, t = ready.run(given).values()
            assert (y.dtype, t.dtype) == (ml_dtypes.float8_e5m2, KINDS[source])
            np.testing.assert_array_equal(y.view(np.uint8), total.astype(ml_dtypes.float8_e5m2).view(np.uint8))
            np.testing.assert_array_equal(t.view(np.uint8), x["z"].T.view(np.uint8))


def test_arrays_from_a_file_have_no_name_for_their_type(tmp_path: Path) -> None:
    x = feeds(ml_dtypes.int4)
    for name, array in x.items():
        np.save(tmp_path / f"{name}.npy", array)
    read = {name: np.load(tmp_path / f"{name}.npy") for name in x}
    with executor(TensorProto.INT4, TensorProto.INT4) as ready:
        np.testing.assert_array_equal(ready.run(read)["t"], x["z"].T)


def test_without_ml_dtypes_results_are_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = feeds(ml_dtypes.int4)
    with executor(TensorProto.INT4, TensorProto.UINT4) as ready:
        monkeypatch.setitem(sys.modules, "ml_dtypes", None)
        t = ready.run({n: a.view(np.uint8) for n, a in x.items()})["t"]
        assert t.dtype == np.uint8
        np.testing.assert_array_equal(t, x["z"].T.view(np.uint8))


def test_another_type_is_refused() -> None:
    x = feeds(ml_dtypes.int4)
    with executor(TensorProto.UINT4, TensorProto.UINT4) as ready:
        with pytest.raises(InputError, match="'x' has element type int4, expected uint4, or its bits as uint8"):
            ready.run(x)
        with pytest.raises(InputError, match=r"'x' has shape \[5\]"):
            ready.run({"x": np.zeros(5, np.uint8), "z": np.zeros((3, 5), ml_dtypes.uint4)})
        with pytest.raises(InputError, match="'z' is missing"):
            ready.run({"x": np.zeros((3, 5), ml_dtypes.uint4)})


class Bytes:
    """Bits of another library's, over DLPack alone."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def test_any_form_of_an_array_will_do() -> None:
    x = feeds(ml_dtypes.int4)
    forms = [
        np.asfortranarray(x["x"]),
        np.repeat(x["x"], 2, axis=1)[:, ::2],
        x["x"][::-1].copy()[::-1],
        Bytes(x["x"].view(np.uint8)),
    ]
    with executor(TensorProto.INT4, TensorProto.INT4) as ready:
        expected = ready.run(x)["y"]
        for form in forms:
            np.testing.assert_array_equal(ready.run({**x, "x": form})["y"], expected)
        with pytest.raises(InputError, match=r"'z' is no array: (.|\n)*the model takes 'x' int4\[3, 5\], 'z' int4"):
            ready.run({**x, "z": [[1], [1, 2]]})


@pytest.mark.parametrize("form", [ml_dtypes.int4, np.uint8])
def test_results_go_into_the_given_array(form: Any) -> None:
    x = feeds(ml_dtypes.int4)
    mine = np.zeros((5, 3), form)
    with executor(TensorProto.INT4, TensorProto.INT4) as ready:
        expected = ready.run(x)["t"]
        found = ready.run(x, outputs={"t": mine})["t"]
        assert found is mine
        np.testing.assert_array_equal(mine.view(np.uint8), expected.view(np.uint8))
        with pytest.raises(InputError, match=r"'t' is uint4\[5, 3\], expected int4\[5, 3\]"):
            ready.run(x, outputs={"t": np.zeros((5, 3), ml_dtypes.uint4)})
        shared = np.zeros(15, ml_dtypes.int4)
        with pytest.raises(InputError, match="'t' shares memory with an input"):
            ready.run({**x, "x": shared.reshape(3, 5)}, outputs={"t": shared.reshape(5, 3)})


def test_bf16_is_taken_as_such_and_as_bits() -> None:
    infos = [helper.make_tensor_value_info(n, TensorProto.BFLOAT16, [4]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "bf16", infos[:1], infos[1:])
    x: Array = np.array([1.5, -2, 0, 3], ml_dtypes.bfloat16)
    expected = np.array([-1.5, 2, -0.0, -3], ml_dtypes.bfloat16)
    with gecc.load(gecc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))) as ready:
        for form in (x, x.view(np.uint16), np.repeat(x, 2)[::2]):
            np.testing.assert_array_equal(ready.run([form])["y"].view(ml_dtypes.bfloat16), expected)
        mine = np.empty(4, ml_dtypes.bfloat16)
        assert ready.run([x], outputs={"y": mine})["y"] is mine
        np.testing.assert_array_equal(mine, expected)
        with pytest.raises(InputError, match="'x' has element type float32, expected bfloat16, or its bits as uint16"):
            ready.run([x.astype(np.float32)])


def test_a_fixed_bf16_is_given_as_such_and_as_bits() -> None:
    x: Array = np.array([1.5, -2], ml_dtypes.bfloat16)
    binder = Binder([], [FixedInput.of("x", "bf16", (2,), x.tobytes())])
    for form in (x, x.view(np.uint16)):
        assert binder.bind({"x": form}) == []
        with pytest.raises(InputError, match="'x' was fixed to"):
            binder.bind({"x": form[::-1]})


@pytest.mark.parametrize("names", [("int4",), ("int4", "int5"), (1, 2), "int4"])
def test_attributes_that_do_not_fit_are_refused(names: Any) -> None:
    om = from_bytes(gecc.compile(model(TensorProto.INT4, TensorProto.INT4)).to_bytes())
    om = replace(om, attrs={**om.attrs, "input_types": names})
    with pytest.raises(OmError, match=r"expected (a list of 2 strings|ui8 of one of)"):
        Executor(om, threads=1, affinity="none")
