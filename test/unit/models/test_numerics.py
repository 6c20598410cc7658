"""No pass moves a result: whole models are run before and after each pass of -O2."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto

from gecc.api import import_model
from gecc.context import make_context
from gecc.debug import verify_numerics
from gecc.pipeline import specs_until
from test.unit.models.test_handed import MODELS
from test.unit.models.test_models import SMALL

HANDED = {
    "rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer": {"x": (1, 3, 48, 64)},
    "magika__standard_v3_3__model": {"bytes": (1, 2048)},
    "hf_bert_eager.legacy17": {"input_ids": (2, 16), "attention_mask": (2, 16)},
}
"""Models from elsewhere and the sizes of their inputs, small: the interpreters take their time."""

LAST = ("tile-allocate-buffers", "tile-to-om")


def verify(model: ModelProto | Path, shapes: dict[str, tuple[int, ...]]) -> None:
    ctx = make_context()
    steps = verify_numerics.run(ctx, import_model(ctx, model, shapes), specs_until("O2"))
    assert max(step.ratio for step in steps) <= 1
    assert tuple(step.name for step in steps if step.changed)[-2:] == LAST


@pytest.mark.parametrize("name", ["resnet18", "mobilenet", "bert"])
def test_models(name: str) -> None:
    model, feeds = SMALL[name]()
    verify(model, {key: array.shape for key, array in feeds.items()})


@pytest.mark.whole
@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no models in {MODELS}")
@pytest.mark.parametrize("name", HANDED)
def test_handed_models(name: str) -> None:
    verify(MODELS / f"{name}.onnx", HANDED[name])
