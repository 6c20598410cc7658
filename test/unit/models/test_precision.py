"""Whole models in narrow element types, compiled and run, against a float64 run of what was imported."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

from gecc import api
from gecc.context import make_context
from gecc.interp import run_module
from gecc.precision import Precision, PrecisionWarning
from gecc.weights import store_of
from test.models.bert import bert
from test.models.lstm import unrolled_lstm
from test.models.mobilenet import mobilenet
from test.models.resnet import resnet
from test.unit.models.harness import Arrays, results

MODELS = Path(__file__).resolve().parents[3].parent / "shared" / "models"

EPSILON = {"f16": 2.0**-11, "bf16": 2.0**-8}
ELEMENT = {
    "fp16": "f16",
    "cube_fp16": "f16",
    "cube_fp16in_fp32out": "f16",
    "mixed_float16": "f16",
    "mixed_bfloat16": "bf16",
}
ROUNDINGS = 12.0
"""Errors allowed, in half units of the narrow type's last place relative to an output's largest value. The deepest of
these models rounds some 60 times in a row, and errors of either sign add like their root."""


def image(size: int, batch: int = 1) -> Arrays:
    return {"input": np.random.default_rng(1).normal(size=(batch, 3, size, size)).astype(np.float32)}


def tokens() -> Arrays:
    rng = np.random.default_rng(2)
    mask = np.ones((2, 9), np.int64)
    mask[1, 6:] = 0
    return {
        "input_ids": rng.integers(0, 50, (2, 9)),
        "attention_mask": mask,
        "token_type_ids": rng.integers(0, 2, (2, 9)),
    }


NETS = {
    "resnet": (lambda: resnet(18, 32, 8, 10, blocks=(1, 1, 1, 1)), lambda: image(32)),
    "mobilenet": (lambda: mobilenet(32, 10, width=0.25, stages=((1, 16, 1, 1), (6, 24, 2, 2))), lambda: image(32)),
    "bert": (lambda: bert(32, 2, 64, layers=2, vocabulary=50, positions=16), tokens),
    "bert decomposed": (lambda: bert(32, 2, 64, layers=1, vocabulary=50, positions=16, opset=13), tokens),
}


def yardstick(model: onnx.ModelProto | str, feeds: Arrays) -> Arrays:
    """The model as imported, in float64."""
    ctx = make_context()
    module = api.import_model(ctx, model, {name: array.shape for name, array in feeds.items()})
    return run_module(module, feeds, store=store_of(ctx), compute_dtype=np.float64)


def worst(found: Arrays, exact: Arrays) -> float:
    """The greatest error of an output relative to its largest value."""
    assert list(found) == list(exact)
    return max(float(np.abs(found[n].astype(np.float64) - exact[n]).max() / np.abs(exact[n]).max()) for n in exact)


@pytest.mark.parametrize(
    ("net", "mode"),
    [
        ("resnet", "fp16"),
        ("resnet", "mixed_bfloat16"),
        ("mobilenet", "cube_fp16in_fp32out"),
        ("mobilenet", "mixed_float16"),
        ("bert", "fp16"),
        ("bert", "mixed_float16"),
        ("bert", "mixed_bfloat16"),
        ("bert", "cube_fp16"),
        ("bert decomposed", "fp16"),
    ],
)
@pytest.mark.filterwarnings("ignore:1 elements of 1 constants:gecc.precision.PrecisionWarning")  # the mask's -3.4e38
def test_within_the_roundings_of_the_type(net: str, mode: str) -> None:
    make, feed = NETS[net]
    model, feeds = make(), feed()
    shapes = {name: array.shape for name, array in feeds.items()}
    exact = yardstick(model, feeds)
    compiled = api.compile(model, input_shapes=shapes, precision=mode)
    assert compiled.precision is not None and compiled.precision.changed
    found = results(compiled, feeds)
    assert {d.dtype for d in compiled.outputs} == {"f32"}, "outputs keep the model's type"
    unit = EPSILON[ELEMENT[mode]]
    error = worst(found, exact)
    wide = worst(results(api.compile(model, input_shapes=shapes), feeds), exact)
    assert error <= ROUNDINGS * unit, f"{error / unit:.1f} units"
    assert error > 4 * wide, "something must have been rounded"


@pytest.mark.parametrize("level", ["O0", "O1"])
@pytest.mark.filterwarnings("ignore:1 elements of 1 constants:gecc.precision.PrecisionWarning")
def test_other_levels(level: str) -> None:
    make, feed = NETS["bert"]
    model, feeds = make(), feed()
    shapes = {name: array.shape for name, array in feeds.items()}
    compiled = api.compile(model, input_shapes=shapes, precision="fp16", opt_level=level)
    assert compiled.precision is not None and compiled.precision.changed
    error = worst(results(compiled, feeds), yardstick(model, feeds))
    assert 2.0**-13 < error <= ROUNDINGS * EPSILON["f16"]


def test_weights_take_half_the_bytes() -> None:
    make, _ = NETS["resnet"]
    model = make()
    full = api.compile(model)
    half = api.compile(model, precision="fp16")
    assert half.om.weights.size < 0.6 * full.om.weights.size
    assert half.om.arena_bytes < 0.6 * full.om.arena_bytes


def test_a_recurrence_of_products_and_gates() -> None:
    feeds = {"input": np.random.default_rng(3).normal(size=(4, 2, 8)).astype(np.float32)}
    model = unrolled_lstm(4, 8, layers=1, batch=2)
    error = worst(results(api.compile(model, precision="mixed_float16"), feeds), yardstick(model, feeds))
    assert 2.0**-14 < error <= ROUNDINGS * EPSILON["f16"]


def test_loops_keep_what_they_carry() -> None:
    """Five products in a row; between them the state is f32 and reaches values that f16 has not."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]> net (float[2, 2] x, float[2, 2] w) => (float[2, 2] y) {
            most = Constant<value = int64 {5}>()
            go = Constant<value = bool {1}>()
            y = Loop(most, go, x) <body = step (int64 i, bool c, float[2, 2] v) => (bool again, float[2, 2] n) {
                again = Identity(c)
                tiny = Constant<value = float {0.00001}>()
                small = Mul(v, tiny)
                p = MatMul(small, w)
                huge = Constant<value = float {100000.0}>()
                n = Mul(p, huge)
            }>
        }"""
    )
    x, w = np.array([[2e5, 1e5], [-3e5, 0]], np.float32), np.array([[0.6, -0.8], [0.8, 0.6]], np.float32)
    feeds = {"x": x, "w": w}
    compiled = api.compile(model, precision="mixed_float16")
    assert compiled.precision is not None and [d.operator for d in compiled.precision.changed] == ["MatMulV2"]
    assert 2.0**-14 < worst(results(compiled, feeds), yardstick(model, feeds)) <= ROUNDINGS * EPSILON["f16"]


def overflowing(value: float) -> onnx.ModelProto:
    """A product with weights of `value` and `-value`, which may be beyond a narrow range."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [value, 1, -value, 1, 1, 1])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_clipping_is_told_and_can_be_switched_off() -> None:
    x = np.array([[0.5, 0.25, 0], [0.25, 0, 1]], np.float32)
    with pytest.warns(PrecisionWarning, match="2 elements of 1 constants were outside the range of f16 .*'w'"):
        clipped = api.compile(overflowing(1e6), precision="fp16")
    (found,) = results(clipped, {"x": x}).values()
    assert np.array_equal(found, np.array([[65504 / 4, 0.75], [65504 / 4 + 1, 1.25]]).astype(np.float16))
    with pytest.warns(PrecisionWarning, match="were made infinite"):
        infinite = api.compile(overflowing(1e6), precision=Precision("fp16", clip=False))
    (found,) = results(infinite, {"x": x[1:].repeat(2, 0)}).values()
    assert not np.isfinite(found[:, 0]).any() and np.isfinite(found[:, 1]).all()


def test_sums_are_kept_in_f32() -> None:
    """10,000 ones and a weight of 1 / 16 each: in f16 a running sum would stop at 128."""
    n = 10_000
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["y"], name="product"),
            helper.make_node("ReduceSum", ["x", "one"], ["s"], name="sum", keepdims=0),
            helper.make_node("ReduceMean", ["x"], ["m"], name="mean", axes=[1], keepdims=0),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, n])],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, d) for o, d in (("y", [1, 1]), ("s", [1]), ("m", [1]))],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [n, 1], [1 / 16] * n),
            helper.make_tensor("one", TensorProto.INT64, [1], [1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for level in ("O0", "O2"):
        found = results(api.compile(model, precision="fp16", opt_level=level), {"x": np.ones((1, n), np.float32)})
        assert [float(a.reshape(-1)[0]) for a in found.values()] == [625.0, 10000.0, 1.0]


def test_softmax_and_norms_sum_in_f32() -> None:
    """4,096 equal scores: each share is 2^-12, and in f16 a running sum of exponentials would stop at 2,048."""
    n = 4096
    graph = helper.make_graph(
        [
            helper.make_node("Softmax", ["x"], ["p"], name="softmax", axis=-1),
            helper.make_node("LayerNormalization", ["x", "g"], ["l"], name="norm", axis=-1),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, n])],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, [1, n]) for o in ("p", "l")],
        [helper.make_tensor("g", TensorProto.FLOAT, [n], [1.0] * n)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made = api.compile(model, precision="fp16")
    assert np.array_equal(results(made, {"x": np.full((1, n), 3, np.float32)})["p"], np.full((1, n), 2.0**-12))
    x = np.where(np.arange(n) % 2, 300.0, -300.0).astype(np.float32)[None]  # squares beyond f16
    assert np.abs(results(made, {"x": x})["l"] - np.sign(x)).max() < 1e-3


@pytest.mark.whole
@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no models in {MODELS}")
@pytest.mark.parametrize(
    ("name", "mode", "units"),
    [
        ("hf_bert_eager.legacy17", "fp16", 12),
        ("rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer", "mixed_float16", 12),
        ("rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer", "cube_fp16in_fp32out", 12),
        ("text2tashkeel__rawi.int8", "fp16", 40),
        ("cls.fp16", "fp32", 12),
        ("hf_llama_kv.legacy17", "mixed_bfloat16", 12),
    ],
)
@pytest.mark.filterwarnings("ignore::gecc.precision.PrecisionWarning")
def test_models_from_elsewhere(name: str, mode: str, units: int) -> None:
    with np.load(MODELS / f"{name}.case0.npz") as data:
        feeds = {key[3:]: data[key] for key in data if key.startswith("in:")}
    path = str(MODELS / f"{name}.onnx")
    shapes = {key: array.shape for key, array in feeds.items()}
    exact = yardstick(path, feeds)
    compiled = api.compile(path, input_shapes=shapes, precision=mode)
    assert compiled.precision is not None and compiled.precision.changed
    found = results(compiled, feeds)
    error = worst({n: _wide(a, exact[n]) for n, a in found.items()}, exact)
    assert math.isfinite(error) and error <= units * EPSILON[ELEMENT.get(mode, "f16")]


def _wide(array: np.ndarray, like: np.ndarray) -> np.ndarray:
    return array.astype(like.dtype)
