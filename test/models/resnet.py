"""ResNet (He et al., 2015, in torchvision's form: the stride is in the 3x3 convolution) in inference."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto

from test.models.graph import Graph

BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}
"""Blocks of each stage by depth."""


def resnet(
    depth: int = 50,
    image: int = 224,
    width: int = 64,
    classes: int = 1000,
    *,
    batch: int = 1,
    blocks: Sequence[int] | None = None,
    seed: int = 0,
) -> ModelProto:
    """ResNet-18 (basic blocks) or ResNet-50 (bottlenecks), f32: input [batch, 3, image, image] -> [batch, classes].

    `width` is the number of channels after the stem, `blocks` the number of blocks of each stage.
    """
    g = Graph(f"resnet{depth}", 17, seed)
    x = g.input("input", [batch, 3, image, image])
    x = _conv_bn_relu(g, x, "/conv1", "/bn1", 3, width, 7, 2)
    power = g.power[x]
    x = g.node("MaxPool", x, scope="/maxpool", ceil_mode=0, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    g.power[x] = 3 * power
    channels = width
    expansion = 1 if depth == 18 else 4
    for stage, count in enumerate(blocks or BLOCKS[depth]):
        for index in range(count):
            planes = width << stage
            stride = 2 if stage and not index else 1
            block = _basic if depth == 18 else _bottleneck
            x = block(g, x, f"/layer{stage + 1}/layer{stage + 1}.{index}", channels, planes, stride)
            channels = planes * expansion
    x = g.node("GlobalAveragePool", x, scope="/avgpool")
    x = g.node("Flatten", x, scope="", axis=1)
    weight = g.weight("fc.weight", g.normal(classes, channels, deviation=channels**-0.5))
    bias = g.weight("fc.bias", g.normal(classes, deviation=0.1))
    g.node("Gemm", x, weight, bias, scope="/fc", output="output", alpha=1.0, beta=1.0, transB=1)
    g.output("output", [batch, classes])
    return g.model()


def _conv_bn(g: Graph, x: str, conv: str, bn: str, channels: int, filters: int, kernel: int, stride: int) -> str:
    return g.batch_norm(g.conv(x, conv, channels, filters, kernel, stride), bn, filters)


def _relu(g: Graph, x: str, scope: str) -> str:
    y = g.node("Relu", x, scope=f"{scope}/relu")
    g.power[y] = g.power[x] / 2
    return y


def _conv_bn_relu(g: Graph, x: str, conv: str, bn: str, channels: int, filters: int, kernel: int, stride: int) -> str:
    return _relu(g, _conv_bn(g, x, conv, bn, channels, filters, kernel, stride), conv.rpartition("/")[0])


def _join(g: Graph, x: str, y: str, scope: str, channels: int, filters: int, stride: int) -> str:
    """The block's result: its input, projected when sizes differ, added to what the block made of it."""
    if stride != 1 or channels != filters:
        x = _conv_bn(g, x, f"{scope}/downsample/0", f"{scope}/downsample/1", channels, filters, 1, stride)
    total = g.node("Add", y, x, scope=scope)
    g.power[total] = g.power[y] + g.power[x]
    return _relu(g, total, scope)


def _basic(g: Graph, x: str, scope: str, channels: int, planes: int, stride: int) -> str:
    y = _conv_bn_relu(g, x, f"{scope}/conv1", f"{scope}/bn1", channels, planes, 3, stride)
    y = _conv_bn(g, y, f"{scope}/conv2", f"{scope}/bn2", planes, planes, 3, 1)
    return _join(g, x, y, scope, channels, planes, stride)


def _bottleneck(g: Graph, x: str, scope: str, channels: int, planes: int, stride: int) -> str:
    y = _conv_bn_relu(g, x, f"{scope}/conv1", f"{scope}/bn1", channels, planes, 1, 1)
    y = _conv_bn_relu(g, y, f"{scope}/conv2", f"{scope}/bn2", planes, planes, 3, stride)
    y = _conv_bn(g, y, f"{scope}/conv3", f"{scope}/bn3", planes, 4 * planes, 1, 1)
    return _join(g, x, y, scope, channels, 4 * planes, stride)
