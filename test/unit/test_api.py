"""The public interface: compile, save, load, run; what each refuses, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import gecc
from gecc import api
from gecc.errors import CliError, GeccError, InputError, InvalidModelError, ShapeError, UnsupportedError
from gecc.om.records import Weights
from gecc.pipeline import MemoryOptions
from gecc.target import X86_64_V3, supports
from test.unit.tools.models import DIGITS, mlp, save, unsupported

X = np.random.default_rng(5).standard_normal((4, 32)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> gecc.Model:
    return gecc.compile(mlp())


def run(model: gecc.Model | str | Path, feeds: Any, **options: Any) -> dict[str, np.ndarray]:
    with gecc.load(model, **options) as executor:
        return executor.run(feeds)


def onnxruntime_results(proto: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return [np.asarray(result) for result in session.run(None, feeds)]


def test_names_are_found_lazily() -> None:
    assert gecc.compile is api.compile and gecc.load is api.load and gecc.Model is api.Model
    with pytest.raises(AttributeError, match="module 'gecc' has no attribute 'decompile'"):
        gecc.decompile  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


def test_what_a_model_says(model: gecc.Model) -> None:
    assert model.name == "mlp" and model.target.startswith("x86-64")
    assert [(io.name, io.dtype, io.shape) for io in model.inputs] == [("x", "f32", (4, 32))]
    assert [(io.name, io.dtype, io.shape) for io in model.outputs] == [("y", "f32", (4, 32))]
    assert [task.label for task in model.om.tasks] == ["MatMulV2Gelu", "MatMulV2"]


def test_file_bytes_and_message_are_one_model(model: gecc.Model, tmp_path: Path) -> None:
    path = save(mlp(), tmp_path)
    expected = model.to_bytes()
    for source in (path, Path(path), mlp().SerializeToString()):
        assert gecc.compile(source).to_bytes() == expected


def test_compile_leaves_the_message_alone() -> None:
    proto = mlp("batch")
    before = proto.SerializeToString(deterministic=True)
    gecc.compile(proto, input_shapes={"x": (2, 32)})
    assert proto.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("level", ["O0", "O1", "O2", 0, 1, 2])
def test_every_level_agrees_with_onnxruntime(level: str | int) -> None:
    found = run(gecc.compile(mlp(), opt_level=level), {"x": X})
    np.testing.assert_allclose(found["y"], onnxruntime_results(mlp(), {"x": X})[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_shapes_given_at_compile_time(batch: int) -> None:
    x = np.random.default_rng(batch).standard_normal((batch, 32)).astype(np.float32)
    found = run(gecc.compile(mlp("batch"), input_shapes={"x": (batch, 32)}), {"x": x})
    np.testing.assert_allclose(found["y"], onnxruntime_results(mlp("batch"), {"x": x})[0], rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(bool(supports(X86_64_V3)), reason="this machine does not run x86-64-v3")
def test_another_target() -> None:
    model = gecc.compile(mlp(), target="x86-64-v3")
    assert model.target == "x86-64-v3"
    found = run(model, {"x": X})
    np.testing.assert_allclose(found["y"], onnxruntime_results(mlp(), {"x": X})[0], rtol=1e-5, atol=1e-5)


def test_saved_and_in_memory_are_the_same(model: gecc.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "a.om")
    assert (tmp_path / "a.om").read_bytes() == model.to_bytes()
    expected = run(model, {"x": X}, threads=1)["y"]
    for source in (tmp_path / "a.om", str(tmp_path / "a.om")):
        for verify in ("fast", "full"):
            np.testing.assert_array_equal(run(source, {"x": X}, verify=verify)["y"], expected)
    with gecc.load(model.om) as executor:
        np.testing.assert_array_equal(executor.run([X])["y"], expected)


@pytest.mark.parametrize("source", ["mlp", "digits"])
def test_ranks_do_not_change_results(source: str) -> None:
    if source == "mlp":
        proto, feeds = mlp(64, 96, 160), {"x": np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)}
        compiled = gecc.compile(proto)
    else:
        compiled = gecc.compile(DIGITS, input_shapes={"image": (33, 1, 8, 8)})
        feeds = {"image": np.random.default_rng(1).uniform(0, 16, (33, 1, 8, 8)).astype(np.float32)}
    name = compiled.outputs[0].name
    expected = run(compiled, feeds, threads=1, affinity="none")[name]
    for threads in (2, 3):
        np.testing.assert_array_equal(run(compiled, feeds, threads=threads, affinity="none")[name], expected)


def test_failed_save_leaves_the_old_file(model: gecc.Model, tmp_path: Path) -> None:
    path = tmp_path / "a.om"
    path.write_bytes(b"old")

    def torn() -> Any:
        yield 512, b"half of the weights"
        raise OSError(28, "No space left on device")

    broken = gecc.compile(mlp())
    broken.om.weights = Weights(broken.om.weights.entries, broken.om.weights.size, torn)
    with pytest.raises(OSError, match="No space left"):
        broken.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.om"] and path.read_bytes() == b"old"


def test_missing_sizes_name_input_and_dimensions() -> None:
    with pytest.raises(ShapeError, match=r"unknown in input 'x' \[batch, 32\]"):
        gecc.compile(mlp("batch"))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"opt_level": "O3"}, CliError, "unknown optimisation level 'O3', expected one of O0, O1, O2"),
        ({"opt_level": 5}, CliError, "unknown optimisation level 'O5'"),
        ({"target": "pdp11"}, UnsupportedError, "target 'pdp11' is not known"),
        ({"input_shapes": {"x": (4, 31)}}, ShapeError, "is 32, found 31"),
        ({"input_shapes": {"q": (4, 31)}}, ShapeError, "no input is called 'q'"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[GeccError], said: str) -> None:
    with pytest.raises(error, match=said):
        gecc.compile(mlp(), **options)


def test_wrong_models(tmp_path: Path) -> None:
    with pytest.raises(InvalidModelError, match="No such file"):
        gecc.compile(tmp_path / "none.onnx")
    with pytest.raises(InvalidModelError, match="not an ONNX model"):
        gecc.compile(b"\xff\xff\xff")
    with pytest.raises(UnsupportedError, match=r"(?s)first_draw.*second_draw"):
        gecc.compile(unsupported(), host="forbid")


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        ({}, "'x' is missing"),
        ({"y": X}, "'y' is not an input of the model"),
        ({"x": X, "z": X}, "'z' is not an input"),
        ({"x": X[:2]}, r"'x' has shape \[2, 32\], expected \[4, 32\]"),
        ({"x": X.astype(np.float64)}, "'x' has element type float64, expected float32"),
        ([X, X], "found 2 arrays, expected 1"),
    ],
)
def test_wrong_inputs(model: gecc.Model, feeds: Any, said: str) -> None:
    with gecc.load(model, threads=1) as executor:
        with pytest.raises(InputError, match=said):
            executor.run(feeds)
        assert executor.run({"x": X})["y"].shape == (4, 32)


def test_arrays_in_any_order_of_memory(model: gecc.Model) -> None:
    with gecc.load(model, threads=1) as executor:
        expected = executor.run({"x": X})["y"]
        wide = np.zeros((4, 64), np.float32)
        wide[:, ::2] = X
        for x in (np.asfortranarray(X), wide[:, ::2], X.copy()[::-1][::-1]):
            np.testing.assert_array_equal(executor.run({"x": x})["y"], expected)


def test_digits_are_recognised() -> None:
    with np.load(DIGITS.with_name("held_out.npz")) as held_out:
        images, labels = held_out["images"].astype(np.float32), held_out["labels"]
    found = run(gecc.compile(DIGITS, input_shapes={"image": images.shape}), {"image": images})["probabilities"]
    assert (found.argmax(1) == labels).mean() > 0.98
    expected = onnxruntime_results(onnx.load(DIGITS), {"image": images})[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


WRONG_KINDS: dict[str, dict[str, Any]] = {
    "outputs is 'y', expected a list of names": {"outputs": "y"},
    r"outputs is \[5\], expected a list of names": {"outputs": [5]},
    "outputs is 5, expected a list of names": {"outputs": 5},
    "memory is 5, expected MemoryOptions": {"memory": 5},
    "precision is 5, expected str or Precision": {"precision": 5},
    r"precision is \['fp16'\], expected str or Precision": {"precision": ["fp16"]},
    "switches is .*, expected Switches": {"switches": ["ge-cse"]},
    "aipp is 5, expected str or PathLike": {"aipp": 5},
    "aipp is '', expected a file or its text": {"aipp": ""},
    "input_format is 'FOO', expected 'NCHW' or 'NHWC'": {"input_format": "FOO"},
    "input_types is 'float16', expected texts by name": {"input_types": "float16"},
    r"input_types is \{'x': 5\}, expected texts by name": {"input_types": {"x": 5}},
    r"output_types is \['float16'\], expected a text, or texts by name": {"output_types": ["float16"]},
    "input_values is 5, expected Mapping": {"input_values": 5},
    "input_shapes is 5, expected shapes by input name": {"input_shapes": 5},
    "input 'x' is given the shape 5, expected a list of sizes": {"input_shapes": {"x": 5}},
    "input 'x' is given the shape '4,32', expected a list of sizes": {"input_shapes": {"x": "4,32"}},
    r"shape \[4, 32.5\]: 32.5 is no size": {"input_shapes": {"x": (4, 32.5)}},
    r"shape \[4, True\]: True is no size": {"input_shapes": {"x": (4, True)}},
    r"shape \[4, 'n'\]: 'n' is no size": {"input_shapes": {"x": (4, "n")}},
    "more elements than memory has bytes": {"input_shapes": {"x": (2**40, 2**20)}},
}


@pytest.mark.parametrize("said", WRONG_KINDS)
def test_arguments_of_a_wrong_kind_are_refused_in_words(said: str) -> None:
    with pytest.raises((CliError, ShapeError), match=said):
        gecc.compile(mlp(), **WRONG_KINDS[said])


@pytest.mark.parametrize("given", [None, b"\0", 5, ["net.om"]])
def test_what_is_no_model_cannot_be_loaded(given: Any) -> None:
    with pytest.raises(CliError, match=f"is of type {type(given).__name__}, expected the path of an om file or a comp"):
        gecc.load(given)


@pytest.mark.parametrize("target", ["x86-64-v3", "z80"])
def test_native_kernels_are_compiled_for_no_other_target(tmp_path: Path, target: str) -> None:
    made = gecc.compile(mlp())
    path = tmp_path / "m.om"
    made.save(path)
    for form in (made, made.om, path):
        if target == made.target:
            gecc.load(form, target=target).close()
            continue
        with pytest.raises(CliError, match=f"target is '{target}', but the om has kernels for {made.target}"):
            gecc.load(form, target=target)
        gecc.load(form, target=made.target).close()


@pytest.mark.parametrize("options", [{"limit": "8M"}, {"limit": -1}, {"limit": 1.5}, {"slack": -1}, {"slack": "x"}])
def test_memory_options_are_sizes(options: dict[str, Any]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(CliError, match=f"{name} is {value!r}, expected an integer from 0 on"):
        MemoryOptions(**options)


def test_sizes_are_integers_of_any_kind() -> None:
    shapes: list[Any] = [np.array([4, 32]), [np.int64(4), np.uint8(32)], (size for size in (4, 32))]
    for shape in shapes:
        assert gecc.compile(mlp(), input_shapes={"x": shape}).inputs[0].shape == (4, 32)
