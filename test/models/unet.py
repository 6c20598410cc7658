"""U-Net (Ronneberger et al., 2015) and U-Net++ (Zhou et al., 2018): skips that live long, joined by Concat."""

from __future__ import annotations

from onnx import ModelProto

from test.models.graph import Graph


def _block(g: Graph, x: str, scope: str, channels: int, filters: int) -> str:
    """Two convolutions of 3 x 3, each with batch normalisation and ReLU."""
    for number, inputs in enumerate((channels, filters)):
        x = g.conv(x, f"{scope}/conv.{number}", inputs, filters, 3)
        x = g.batch_norm(x, f"{scope}/norm.{number}", filters)
        power = g.power[x]
        x = g.node("Relu", x, scope=f"{scope}/relu.{number}")
        g.power[x] = power / 2
    return x


def _down(g: Graph, x: str, scope: str) -> str:
    y = g.node("MaxPool", x, scope=scope, kernel_shape=[2, 2], strides=[2, 2])
    g.power[y] = g.power[x]
    return y


def _up(g: Graph, x: str, scope: str, channels: int, filters: int) -> str:
    """A transposed convolution that doubles the image."""
    weight = g.weight(f"{scope[1:]}.weight", g.normal(channels, filters, 2, 2, deviation=channels**-0.5))
    y = g.node("ConvTranspose", x, weight, scope=scope, kernel_shape=[2, 2], strides=[2, 2])
    g.power[y] = g.power[x]
    return y


def _join(g: Graph, parts: list[str], scope: str) -> str:
    y = g.node("Concat", *parts, scope=scope, axis=1)
    g.power[y] = max(g.power[p] for p in parts)
    return y


def unet(image: int = 128, width: int = 16, depth: int = 4, *, classes: int = 2, seed: int = 0) -> ModelProto:
    """U-Net, f32: input [1, 3, image, image] -> output [1, classes, image, image]. `image` is a multiple of 2 ** depth."""
    g = Graph("unet", 17, seed)
    x = g.input("input", [1, 3, image, image])
    skips: list[str] = []
    channels = 3
    for level in range(depth):
        x = _block(g, x, f"/down.{level}", channels, width << level)
        channels = width << level
        skips.append(x)
        x = _down(g, x, f"/pool.{level}")
    x = _block(g, x, "/middle", channels, width << depth)
    channels = width << depth
    for level in reversed(range(depth)):
        filters = width << level
        x = _join(g, [_up(g, x, f"/up.{level}", channels, filters), skips[level]], f"/join.{level}")
        x = _block(g, x, f"/decode.{level}", 2 * filters, filters)
        channels = filters
    weight = g.weight("head.weight", g.normal(classes, channels, 1, 1, deviation=channels**-0.5))
    g.node("Conv", x, weight, scope="/head", output="output", kernel_shape=[1, 1])
    g.output("output", [1, classes, image, image])
    return g.model()


def unet_plus_plus(image: int = 128, width: int = 16, depth: int = 4, *, classes: int = 2, seed: int = 0) -> ModelProto:
    """U-Net++: a triangle of blocks, each fed by all before it on its level and by the one below, f32, as `unet`."""
    g = Graph("unet_plus_plus", 17, seed)
    x = g.input("input", [1, 3, image, image])
    grid: dict[tuple[int, int], str] = {}
    channels = 3
    for level in range(depth + 1):
        if level:
            x = _down(g, x, f"/pool.{level - 1}")
        x = grid[level, 0] = _block(g, x, f"/node.{level}.0", channels, width << level)
        channels = width << level
    for step in range(1, depth + 1):
        for level in range(depth + 1 - step):
            scope = f"{level}.{step}"
            filters = width << level
            below = _up(g, grid[level + 1, step - 1], f"/up.{scope}", width << (level + 1), filters)
            parts = [*(grid[level, k] for k in range(step)), below]
            joined = _join(g, parts, f"/join.{scope}")
            grid[level, step] = _block(g, joined, f"/node.{scope}", len(parts) * filters, filters)
    weight = g.weight("head.weight", g.normal(classes, width, 1, 1, deviation=width**-0.5))
    g.node("Conv", grid[0, depth], weight, scope="/head", output="output", kernel_shape=[1, 1])
    g.output("output", [1, classes, image, image])
    return g.model()
