"""Whole models at every optimisation level and on every target this machine runs, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from test.models.bert import bert
from test.models.lstm import unrolled_lstm
from test.models.mlp import mlp
from test.models.mobilenet import mobilenet
from test.models.nasnet import nasnet
from test.models.resnet import resnet
from test.models.unet import unet, unet_plus_plus
from test.unit.models.harness import (
    HERE,
    Arrays,
    assert_close,
    compiled,
    kernel_names,
    reference,
    results,
)

TOLERANCE = 5e-6
"""Of the largest output. Orders of summation alone account for 1e-6 in a deep network."""

SMALL_STAGES = ((1, 8, 1, 1), (6, 16, 2, 2), (6, 24, 1, 2), (6, 32, 2, 1))


def images(batch: int, size: int) -> Arrays:
    return {"input": np.random.default_rng(1).standard_normal((batch, 3, size, size), np.float32)}


def steps(count: int, batch: int, width: int) -> Arrays:
    return {"input": np.random.default_rng(4).standard_normal((count, batch, width), np.float32)}


def rows(batch: int, width: int) -> Arrays:
    return {"x": np.random.default_rng(2).standard_normal((batch, width), np.float32)}


def sentences(batch: int, length: int, vocabulary: int = 1000) -> Arrays:
    """Token numbers; each sentence but the first is shorter than the one before."""
    rng = np.random.default_rng(3)
    shape = (batch, length)
    ends = length - 3 * np.arange(batch)[:, None]
    return {
        "input_ids": rng.integers(0, vocabulary, shape),
        "attention_mask": (np.arange(length) < ends).astype(np.int64),
        "token_type_ids": rng.integers(0, 2, shape),
    }


SMALL: dict[str, Callable[[], tuple[ModelProto, Arrays]]] = {
    "mlp": lambda: (mlp(7, 48, 200), rows(7, 48)),
    "mlp-erf": lambda: (mlp(3, 129, 257, opset=17), rows(3, 129)),
    "resnet18": lambda: (resnet(18, 33, 16, 10, batch=3, blocks=(1, 2, 1, 1)), images(3, 33)),
    "resnet50": lambda: (resnet(50, 40, 5, 7, batch=2, blocks=(2, 1, 1, 1)), images(2, 40)),
    "mobilenet": lambda: (mobilenet(50, 10, stages=SMALL_STAGES, last=66), images(1, 50)),
    "unet": lambda: (unet(24, 5, 2), images(1, 24)),
    "unet++": lambda: (unet_plus_plus(16, 6, 2), images(1, 16)),
    "nasnet": lambda: (nasnet(21, 6, 1), images(1, 21)),
    "lstm": lambda: (unrolled_lstm(5, 9, batch=3), steps(5, 3, 9)),
    "bert": lambda: (bert(), sentences(2, 16)),
    "bert-decomposed": lambda: (bert(40, 5, 100, opset=14), sentences(3, 13)),
}
"""Sizes that leave remainders: channels that fill no vector, images that no stride divides."""


@cache
def small(name: str) -> tuple[ModelProto, Arrays, Arrays]:
    """A small model, inputs for it and what ONNX Runtime makes of them."""
    model, feeds = SMALL[name]()
    return model, feeds, reference(model, feeds)


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("name", SMALL)
def test_small_models(name: str, target: str) -> None:
    model, feeds, wanted = small(name)
    assert_close(results(compiled(model, feeds, target=target), feeds), wanted, TOLERANCE)


@pytest.mark.parametrize("level", ["O0", "O1"])
@pytest.mark.parametrize("name", ["mlp-erf", "resnet18", "mobilenet", "bert", "bert-decomposed"])
def test_small_models_optimised_less(name: str, level: str) -> None:
    model, feeds, wanted = small(name)
    assert_close(results(compiled(model, feeds, level=level), feeds), wanted, TOLERANCE)


def mlp_in_f64(model: ModelProto, x: np.ndarray) -> np.ndarray:
    """The MLP in float64, from its weights."""
    from math import erf

    w = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in model.graph.initializer}
    inner = x.astype(np.float64) @ w["fc1.weight"].T + w["fc1.bias"]
    gelu = inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2.0)))
    return gelu @ w["fc2.weight"].T + w["fc2.bias"]


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("opset", [17, 20])
@pytest.mark.parametrize("batch", [1, 37])
def test_mlp_is_two_kernels(batch: int, opset: int, target: str) -> None:
    model, feeds = mlp(batch, opset=opset), rows(batch, 768)
    found = compiled(model, feeds, target=target)
    assert [task.label for task in found.om.tasks] == ["MatMulV2Gelu", "MatMulV2"]
    wanted = mlp_in_f64(model, feeds["x"])
    np.testing.assert_allclose(results(found, feeds)["y"], wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.whole
def test_resnet50() -> None:
    model, feeds = resnet(), images(1, 224)
    found = compiled(model, feeds)
    assert len(kernel_names(found.om)) <= 16
    assert_close(results(found, feeds), reference(model, feeds), TOLERANCE)


@pytest.mark.whole
def test_mobilenet() -> None:
    model, feeds = mobilenet(), images(1, 224)
    assert_close(results(compiled(model, feeds), feeds), reference(model, feeds), TOLERANCE)
