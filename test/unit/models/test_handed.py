"""Models from elsewhere, where they are at hand: compiled and run, compared with recorded results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from gecc import api
from gecc.context import make_context
from gecc.frontend.onnx import import_onnx
from gecc.interp import run_module
from gecc.weights import store_of
from test.unit.models.harness import Arrays, assert_close, compiled, reference, results

MODELS = Path(__file__).resolve().parents[3].parent / "shared" / "models"

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(not MODELS.is_dir(), reason=f"no models in {MODELS}"),
]

TOLERANCE = {
    "rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer": 5e-5,
    "rapidocr_onnxruntime__ch_PP-OCRv4_det_infer": 1e-4,
    "magika__standard_v3_3__model": 5e-5,
    "hf_bert_eager.legacy17": 5e-5,
    "hf_bert.dynamodef": 5e-5,
    "hf_gpt2_kv.dynamodef": 5e-5,
    "hf_llama_kv.legacy17": 5e-5,
    "hf_llama_kv.dynamo23": 5e-5,
    "hf_t5.legacy17": 5e-5,
    "timm_vit_tiny.dynamodef": 5e-5,
    "diff_unet2dcond.legacy17": 5e-5,
    "bert_tiny.ort_fused": 5e-5,
    "gpt2_tiny.ort_fused": 5e-5,
    "llama_tiny.ort_fused": 5e-5,
    "cls.qop_u8s8": 1e-6,
    "silero_vad__silero_vad_16k_op15": 5e-5,
    "open_voicefilter_lite__voicefilter_lite.int8": 5e-6,
}
"""Difference from the recorded results that is allowed, relative to the largest of each output."""


def recorded(name: str, case: str) -> tuple[Arrays, Arrays]:
    """Inputs and outputs of a case."""
    with np.load(MODELS / f"{name}.{case}.npz") as data:
        feeds = {key[3:]: data[key] for key in data if key.startswith("in:")}
        return feeds, {key[4:]: data[key] for key in data if key.startswith("out:")}


CASES = [(n, c) for n in TOLERANCE for c in ("case0", "case1") if (n, c) != ("hf_llama_kv.dynamo23", "case1")]
"""The export of opset 23 has one case: that file's sizes are fixed."""


@pytest.mark.parametrize(("name", "case"), CASES)
def test_recorded_results(name: str, case: str) -> None:
    feeds, wanted = recorded(name, case)
    assert_close(results(compiled(MODELS / f"{name}.onnx", feeds), feeds), wanted, TOLERANCE[name])


@pytest.mark.parametrize("case", ["case0", "case1"])
@pytest.mark.parametrize("name", ["cls.qdq_s8s8_perchannel"])
def test_operators_between_dequantise_and_quantise_run_in_float(name: str, case: str) -> None:
    """But for the Softmax at the end, which is ONNX Runtime's on bytes: its rows add up to 254 / 255, where ONNX Runtime
    without its optimiser divides by the scale."""
    feeds, wanted = recorded(name, case)
    found = results(compiled(MODELS / f"{name}.onnx", feeds), feeds)
    for output, want in wanted.items():
        np.testing.assert_array_equal(found[output], want)
    for output, want in reference(onnx.load(MODELS / f"{name}.onnx"), feeds).items():
        np.testing.assert_allclose(found[output], want, rtol=0, atol=1.001 / 255)


@pytest.mark.parametrize("case", ["case0", "case1"])
def test_half_precision_is_as_near_to_float64_as_onnx_runtime(case: str) -> None:
    """The recorded results round differently from ONNX Runtime's own without graph optimisations; which way an f16
    rounds is noise, so each is measured against the model computed in float64 between its f16 weights."""
    feeds, wanted = recorded("cls.fp16", case)
    ctx = make_context()
    shapes = {name: array.shape for name, array in feeds.items()}
    module = import_onnx(ctx, MODELS / "cls.fp16.onnx", input_shapes=shapes)
    exact = run_module(module, feeds, store=store_of(ctx), compute_dtype=np.float64)
    found = results(compiled(MODELS / "cls.fp16.onnx", feeds), feeds)
    for name, want in wanted.items():
        noise = np.abs(want - exact[name]).max()
        assert found[name].dtype == want.dtype
        assert np.abs(found[name] - exact[name]).max() <= 1.5 * noise + 1e-6
        np.testing.assert_allclose(found[name], want, rtol=0, atol=5e-3)


@pytest.mark.parametrize("case", ["case0", "case1"])
def test_states_are_made_bytes_as_one_rank_of_onnxruntime_does(case: str) -> None:
    """ONNX Runtime gives each of its threads part of the batch, and finds the range of the hidden state of each part. The
    recorded results are those of two."""
    name = "text2tashkeel__rawi.int8"
    feeds, wanted = recorded(name, case)
    found = results(compiled(MODELS / f"{name}.onnx", feeds), feeds)
    assert_close(found, reference(onnx.load(MODELS / f"{name}.onnx"), feeds), 1e-3)
    assert_close(found, wanted, 2e-2)


@pytest.mark.parametrize("case", ["case0", "case1"])
def test_a_forest_runs_on_the_host(case: str) -> None:
    feeds, wanted = recorded("skl_rf_wine", case)
    shapes = {name: array.shape for name, array in feeds.items()}
    model = api.compile(MODELS / "skl_rf_wine.onnx", input_shapes=shapes)
    assert model.report is not None
    [forest] = model.report.host
    assert forest.operator == "ai.onnx.ml::TreeEnsembleClassifier"
    rows = feeds["X"].shape[0]
    assert forest.outputs == f"label: i64[{rows}], probabilities: f32[{rows}, 3]"
    found = results(model, feeds)
    np.testing.assert_array_equal(found["label"], wanted["label"])
    np.testing.assert_allclose(found["probabilities"], wanted["probabilities"], rtol=1e-6)
