"""MobileNetV2 (Sandler et al., 2018): inverted residuals with depthwise convolutions and ReLU6, in inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto

from test.models.graph import Graph

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Of each stage: expansion, channels, blocks, stride of the first block."""


def mobilenet(
    image: int = 224,
    classes: int = 1000,
    *,
    width: float = 1.0,
    stages: Sequence[tuple[int, int, int, int]] = STAGES,
    last: int = 1280,
    batch: int = 1,
    seed: int = 0,
) -> ModelProto:
    """MobileNetV2, f32: input [batch, 3, image, image] -> output [batch, classes].

    `width` scales all channel counts, which stay multiples of 8.
    """
    g = Graph("mobilenet_v2", 17, seed)
    x = g.input("input", [batch, 3, image, image])
    channels = _scaled(32, width)
    x = _layer(g, x, "/features/features.0", 3, channels, 3, 2)
    number = 1
    for expansion, planes, count, first in stages:
        filters = _scaled(planes, width)
        for index in range(count):
            scope = f"/features/features.{number}"
            x = _inverted_residual(g, x, scope, channels, filters, expansion, first if index == 0 else 1)
            channels, number = filters, number + 1
    x = _layer(g, x, f"/features/features.{number}", channels, last, 1, 1)
    x = g.node("GlobalAveragePool", x)
    x = g.node("Flatten", x, axis=1)
    weight = g.weight("classifier.1.weight", g.normal(classes, last, deviation=last**-0.5))
    bias = g.weight("classifier.1.bias", g.normal(classes, deviation=0.1))
    g.node("Gemm", x, weight, bias, scope="/classifier/classifier.1", output="output", alpha=1.0, beta=1.0, transB=1)
    g.output("output", [batch, classes])
    return g.model()


def _scaled(channels: int, width: float) -> int:
    return max(8, round(channels * width / 8) * 8)


def _layer(g: Graph, x: str, scope: str, channels: int, filters: int, kernel: int, stride: int, group: int = 1) -> str:
    """Convolution, batch normalisation, ReLU6 (a Clip with constant bounds)."""
    y = g.conv(x, f"{scope}/{scope.rpartition('/')[2]}.0", channels, filters, kernel, stride, group)
    y = g.batch_norm(y, f"{scope}/{scope.rpartition('/')[2]}.1", filters)
    power = g.power[y]
    y = g.node("Clip", y, g.constant(0.0, np.float32), g.constant(6.0, np.float32), scope=scope)
    g.power[y] = power / 2
    return y


def _inverted_residual(g: Graph, x: str, scope: str, channels: int, filters: int, expansion: int, stride: int) -> str:
    inner = channels * expansion
    y = x
    if expansion != 1:
        y = _layer(g, y, f"{scope}/expand", channels, inner, 1, 1)
    y = _layer(g, y, f"{scope}/depthwise", inner, inner, 3, stride, inner)
    y = g.batch_norm(g.conv(y, f"{scope}/project", inner, filters, 1), f"{scope}/project_bn", filters)
    if stride != 1 or channels != filters:
        return y
    total = g.node("Add", x, y, scope=scope)
    g.power[total] = g.power[x] + g.power[y]
    return total
