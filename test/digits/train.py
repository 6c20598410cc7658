"""Train the digits net and write it: `python test/digits/train.py` makes digits.onnx and held_out.npz anew.

The data are the 1,797 handwritten digits of 8x8 pixels that scikit-learn ships; a fifth is held out and never trained
on. The training loop is numpy (net.py). The same seed gives the same files on the same machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from net import EPSILON, Array, BatchNorm, Net, loss_and_gradient
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent

SEED = 7
EPOCHS = 40
BATCH = 32
RATE = 2e-3
DECAY = 1e-2


def data() -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Images [n, 1, 8, 8] in [0, 16] and labels: to train on, and held out."""
    pixels, digits = load_digits(return_X_y=True)
    images = np.asarray(pixels, np.float32).reshape(-1, 1, 8, 8)
    labels = np.asarray(digits, np.int64)
    order = np.random.default_rng(SEED).permutation(len(images))
    held = len(images) // 5
    return images[order[held:]], labels[order[held:]], images[order[:held]], labels[order[:held]]


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """Each image moved by up to one pixel in both directions."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moved = np.empty_like(images)
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (len(images), 2))):
        moved[i] = padded[i, :, dy : dy + 8, dx : dx + 8]
    return moved


def train() -> Net:
    """A trained net; prints the loss and the accuracy on held-out digits as it goes."""
    images, labels, held_images, held_labels = data()
    rng = np.random.default_rng(SEED)
    net = Net(rng)
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        total = 0.0
        order = rng.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            loss, grad = loss_and_gradient(net.forward(shifted(images[chosen], rng), training=True), labels[chosen])
            net.backward(grad)
            net.step(rate, DECAY)
            total += loss
        accuracy = (net.forward(held_images).argmax(1) == held_labels).mean()
        print(f"epoch {epoch + 1:2d}  loss {total / (len(order) // BATCH):.4f}  held out {accuracy:.2%}")
    return net


def to_onnx(net: Net) -> onnx.ModelProto:
    """The net with a batch of any size, and a softmax at the end."""
    weights = {
        "scale": np.array(1 / 16, np.float32),
        "conv1.w": net.conv1.w,
        "conv2.w": net.conv2.w,
        "dense1.w": net.dense1.w,
        "dense1.b": net.dense1.b,
        "dense2.w": net.dense2.w,
        "dense2.b": net.dense2.b,
    }
    norms: dict[str, BatchNorm] = {"norm1": net.norm1, "norm2": net.norm2}
    for name, norm in norms.items():
        weights |= {f"{name}.w": norm.w, f"{name}.b": norm.b, f"{name}.mean": norm.mean, f"{name}.var": norm.var}

    def node(kind: str, name: str, inputs: list[str], **attributes: Any) -> onnx.NodeProto:
        return helper.make_node(kind, inputs, [f"{name}.out"], name, **attributes)

    def normalise(name: str, x: str) -> onnx.NodeProto:
        names = [f"{name}.{part}" for part in ("w", "b", "mean", "var")]
        return node("BatchNormalization", name, [x, *names], epsilon=EPSILON)

    window: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        node("Mul", "to_unit", ["image", "scale"]),
        node("Conv", "conv1", ["to_unit.out", "conv1.w"], **window),
        normalise("norm1", "conv1.out"),
        node("Relu", "relu1", ["norm1.out"]),
        node("MaxPool", "pool", ["relu1.out"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "conv2", ["pool.out", "conv2.w"], **window),
        normalise("norm2", "conv2.out"),
        node("Relu", "relu2", ["norm2.out"]),
        node("Flatten", "flatten", ["relu2.out"]),
        node("Gemm", "dense1", ["flatten.out", "dense1.w", "dense1.b"], transB=1),
        node("Relu", "relu3", ["dense1.out"]),
        node("Gemm", "dense2", ["relu3.out", "dense2.w", "dense2.b"], transB=1),
        helper.make_node("Softmax", ["dense2.out"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Train, and write both files."""
    model = to_onnx(train())
    (HERE / "digits.onnx").write_bytes(model.SerializeToString(deterministic=True))
    _, _, images, labels = data()
    np.savez_compressed(HERE / "held_out.npz", images=images.astype(np.uint8), labels=labels.astype(np.uint8))
    for name in ("digits.onnx", "held_out.npz"):
        print(f"{name}: {(HERE / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
