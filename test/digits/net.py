"""A small convolutional net in numpy: forward, backward, Adam. Images are NCHW, f32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHANNELS = (16, 32)
HIDDEN = 48
CLASSES = 10
EPSILON = 1e-5
MOMENTUM = 0.9


class Conv:
    """3x3 convolution, stride 1, padding 1, without bias (batch norm has one)."""

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int) -> None:
        self.w = _normal(rng, (outputs, inputs, 3, 3), inputs * 9)

    def forward(self, x: Array) -> Array:
        """[n, ci, h, w] -> [n, co, h, w]."""
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        n, _, h, w = x.shape
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, -1)
        self.shape = x.shape
        return (self.columns @ self.w.reshape(len(self.w), -1).T).reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, grad: Array) -> Array:
        """Gradient of the input from that of the result."""
        n, c, h, w = self.shape
        flat = grad.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.dw = (flat.T @ self.columns).reshape(self.w.shape)
        patches = (flat @ self.w.reshape(len(self.w), -1)).reshape(n, h, w, c, 3, 3)
        padded = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i in range(3):
            for j in range(3):
                padded[:, :, i : i + h, j : j + w] += patches[..., i, j].transpose(0, 3, 1, 2)
        return padded[:, :, 1:-1, 1:-1]


class BatchNorm:
    """Normalises each channel over the batch while training, by running statistics afterwards."""

    def __init__(self, channels: int) -> None:
        self.w = np.ones(channels, np.float32)
        self.b = np.zeros(channels, np.float32)
        self.mean = np.zeros(channels, np.float32)
        self.var = np.ones(channels, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        """Normalise [n, c, h, w]."""
        mean, var = self.mean, self.var
        if training:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.mean = MOMENTUM * self.mean + (1 - MOMENTUM) * mean
            self.var = MOMENTUM * self.var + (1 - MOMENTUM) * var
        self.scale = (1 / np.sqrt(var + EPSILON)).astype(np.float32)
        self.normal = (x - _channel(mean)) * _channel(self.scale)
        return self.normal * _channel(self.w) + _channel(self.b)

    def backward(self, grad: Array) -> Array:
        """Gradient of the input from that of the result."""
        count = grad.size // len(self.w)
        self.db = grad.sum((0, 2, 3))
        self.dw = (grad * self.normal).sum((0, 2, 3))
        inner = grad - _channel(self.db / count) - self.normal * _channel(self.dw / count)
        return inner * _channel(self.w * self.scale)


class Dense:
    """[n, k] -> [n, m]."""

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int) -> None:
        self.w = _normal(rng, (outputs, inputs), inputs)
        self.b = np.zeros(outputs, np.float32)

    def forward(self, x: Array) -> Array:
        """x w^T + b."""
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, grad: Array) -> Array:
        """Gradient of the input from that of the result."""
        self.dw, self.db = grad.T @ self.x, grad.sum(0)
        return grad @ self.w


class Net:
    """Twice convolution, batch norm, ReLU; a max pool between; two dense layers. Images of 8x8 in [0, 16]."""

    def __init__(self, rng: np.random.Generator) -> None:
        first, second = CHANNELS
        self.conv1, self.norm1 = Conv(rng, 1, first), BatchNorm(first)
        self.conv2, self.norm2 = Conv(rng, first, second), BatchNorm(second)
        self.dense1 = Dense(rng, second * 16, HIDDEN)
        self.dense2 = Dense(rng, HIDDEN, CLASSES)
        self.moments: dict[tuple[int, str], tuple[Any, Any]] = {}
        self.steps = 0

    def forward(self, x: Array, training: bool = False) -> Array:
        """Logits [n, 10] of images [n, 1, 8, 8]."""
        self.a = np.maximum(self.norm1.forward(self.conv1.forward(x / 16), training), 0)
        tiles = self.a.reshape(*self.a.shape[:2], 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5)
        self.tiles = tiles.reshape(*tiles.shape[:4], 4)
        self.c = np.maximum(self.norm2.forward(self.conv2.forward(self.tiles.max(-1)), training), 0)
        self.d = np.maximum(self.dense1.forward(self.c.reshape(len(x), -1)), 0)
        return self.dense2.forward(self.d)

    def backward(self, grad: Array) -> None:
        """Gradients of all parameters from that of the logits."""
        grad = self.dense2.backward(grad) * (self.d > 0)
        grad = self.dense1.backward(grad).reshape(self.c.shape) * (self.c > 0)
        grad = self.conv2.backward(self.norm2.backward(grad))
        chosen = np.zeros_like(self.tiles)
        np.put_along_axis(chosen, self.tiles.argmax(-1)[..., None], grad[..., None], -1)
        n, c = self.a.shape[:2]
        grad = chosen.reshape(n, c, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(self.a.shape) * (self.a > 0)
        self.conv1.backward(self.norm1.backward(grad))

    def layers(self) -> Iterator[Any]:
        """All layers with parameters."""
        yield from (self.conv1, self.norm1, self.conv2, self.norm2, self.dense1, self.dense2)

    def step(self, rate: float, decay: float) -> None:
        """One step of Adam with decoupled weight decay."""
        self.steps += 1
        for number, layer in enumerate(self.layers()):
            for name in ("w", "b"):
                if not hasattr(layer, name):
                    continue
                value, grad = getattr(layer, name), getattr(layer, f"d{name}")
                m, v = self.moments.get((number, name), (np.zeros_like(value), np.zeros_like(value)))
                m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
                self.moments[number, name] = m, v
                update = (m / (1 - 0.9**self.steps)) / (np.sqrt(v / (1 - 0.999**self.steps)) + 1e-8)
                shrink = decay * value if name == "w" and value.ndim > 1 else 0
                setattr(layer, name, (value - rate * (update + shrink)).astype(np.float32))


def loss_and_gradient(logits: Array, labels: NDArray[np.int64]) -> tuple[float, Array]:
    """Mean cross entropy, and its gradient with respect to the logits."""
    shifted = logits - logits.max(1, keepdims=True)
    probabilities = np.exp(shifted)
    probabilities /= probabilities.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.log(probabilities[rows, labels] + 1e-12).mean())
    probabilities[rows, labels] -= 1
    return loss, (probabilities / len(labels)).astype(np.float32)


def _normal(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> Array:
    return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)


def _channel(values: Array) -> Array:
    return values.reshape(1, -1, 1, 1)
