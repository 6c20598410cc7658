"""A net of cells in the manner of NASNet (Zoph et al., 2018): many branches between two inputs, joined by Concat."""

from __future__ import annotations

from onnx import ModelProto

from test.models.graph import Graph


def _relu_conv_bn(g: Graph, x: str, scope: str, channels: int, filters: int, stride: int = 1) -> str:
    power = g.power[x]
    x = g.node("Relu", x, scope=scope)
    g.power[x] = power / 2
    return g.batch_norm(g.conv(x, f"{scope}/conv", channels, filters, 1, stride), f"{scope}/norm", filters)


def _separable(g: Graph, x: str, scope: str, channels: int, kernel: int, stride: int = 1) -> str:
    """ReLU, depthwise and pointwise convolution, batch normalisation; twice, as the cells have it."""
    for number, step in enumerate((stride, 1)):
        power = g.power[x]
        x = g.node("Relu", x, scope=f"{scope}/{number}")
        g.power[x] = power / 2
        x = g.conv(x, f"{scope}/{number}/depth", channels, channels, kernel, step, channels)
        x = g.conv(x, f"{scope}/{number}/point", channels, channels, 1)
        x = g.batch_norm(x, f"{scope}/{number}/norm", channels)
    return x


def _pool(g: Graph, x: str, scope: str, stride: int = 1, kind: str = "AveragePool") -> str:
    y = g.node(kind, x, scope=scope, kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2)
    g.power[y] = g.power[x]
    return y


def _add(g: Graph, a: str, b: str, scope: str) -> str:
    y = g.node("Add", a, b, scope=scope)
    g.power[y] = g.power[a] + g.power[b]
    return y


def nasnet(image: int = 64, width: int = 24, cells: int = 3, *, classes: int = 10, seed: int = 0) -> ModelProto:
    """Three stages of `cells` normal cells with a reduction cell between, f32: input [1, 3, image, image] ->
    output [1, classes]."""
    g = Graph("nasnet", 17, seed)
    x = g.input("input", [1, 3, image, image])
    x = g.batch_norm(g.conv(x, "/stem", 3, width, 3, 2), "/stem_norm", width)
    before, channels_before, stride_before = x, width, 1
    channels = width
    number = 0
    for stage in range(3):
        filters = width << stage
        for index in range(cells):
            reduce = stage > 0 and index == 0
            scope = f"/cell.{number}"
            number += 1
            h = _relu_conv_bn(g, x, f"{scope}/in", channels, filters)
            p = _relu_conv_bn(g, before, f"{scope}/before", channels_before, filters, stride_before)
            step = 2 if reduce else 1
            parts = [
                _add(
                    g,
                    _separable(g, h, f"{scope}/a5", filters, 5, step),
                    _separable(g, p, f"{scope}/a3", filters, 3, step),
                    f"{scope}/a",
                ),
                _add(
                    g,
                    _separable(g, p, f"{scope}/b5", filters, 5, step),
                    _separable(g, p, f"{scope}/b3", filters, 3, step),
                    f"{scope}/b",
                ),
                _add(g, _pool(g, h, f"{scope}/c1", step), _pool(g, p, f"{scope}/c2", step, "MaxPool"), f"{scope}/c"),
                _add(g, _pool(g, p, f"{scope}/d1", step), _pool(g, p, f"{scope}/d2", step), f"{scope}/d"),
                _add(
                    g, _separable(g, h, f"{scope}/e3", filters, 3, step), _pool(g, h, f"{scope}/e1", step), f"{scope}/e"
                ),
            ]
            if not reduce:
                parts.append(p)
            y = g.node("Concat", *parts, scope=scope, axis=1)
            g.power[y] = max(g.power[part] for part in parts)
            before, channels_before, stride_before = x, channels, step
            x, channels = y, filters * len(parts)
    x = g.node("Relu", x)
    x = g.node("GlobalAveragePool", x)
    x = g.node("Flatten", x, axis=1)
    weight = g.weight("head.weight", g.normal(classes, channels, deviation=channels**-0.5))
    bias = g.weight("head.bias", g.normal(classes, deviation=0.1))
    g.node("Gemm", x, weight, bias, scope="/head", output="output", transB=1)
    g.output("output", [1, classes])
    return g.model()
