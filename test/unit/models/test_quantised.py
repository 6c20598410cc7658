"""Quantised nodes as kernels, on every target of this machine, to the bit against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from test.unit.models.harness import HERE, Array, Arrays, compiled, reference, results

RNG = np.random.default_rng(7)
REAL, BYTE, SUM = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT32


def u8(*shape: int) -> Array:
    return RNG.integers(0, 256, shape, np.uint8)


def s8(*shape: int) -> Array:
    return RNG.integers(-128, 128, shape, np.int8)


def f32(value: float) -> Array:
    return np.array(value, np.float32)


def scales(count: int) -> Array:
    return RNG.uniform(0.01, 0.1, count).astype(np.float32)


def zero(value: int, dtype: Any = np.uint8) -> Array:
    return np.array(value, dtype)


class Graph:
    """A model in the making; its only input is `x`."""

    def __init__(self, x: Array) -> None:
        self.x, self.nodes, self.tensors = x, [], []

    def node(
        self, op: str, inputs: Sequence[str | Array | None], domain: str = "", count: int = 1, **attributes: Any
    ) -> Any:
        """A node; arrays become initializers. Returns the name of its output, or of all."""
        names: list[str] = []
        for value in inputs:
            if isinstance(value, np.ndarray):
                self.tensors.append(numpy_helper.from_array(value, f"c{len(self.tensors)}"))
                names.append(self.tensors[-1].name)
            else:
                names.append(value or "")
        outputs = [f"{op}{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, names, outputs, domain=domain, **attributes))
        return outputs[0] if count == 1 else outputs

    def model(self, outputs: dict[str, tuple[int, int]]) -> tuple[ModelProto, Arrays]:
        """The model with the outputs named, of element type and rank; and its input."""
        x = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(self.x.dtype), self.x.shape)
        ends = [
            helper.make_tensor_value_info(name, kind, [f"{name}_{i}" for i in range(rank)])
            for name, (kind, rank) in outputs.items()
        ]
        graph = helper.make_graph(self.nodes, "graph", [x], ends, self.tensors)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10), {"x": self.x}


def pointwise() -> tuple[ModelProto, Arrays]:
    """There and back by tensor, channel and block; sums and products of bytes."""
    g = Graph((np.arange(-240, 240, dtype=np.float32) / 4).reshape(2, 8, 30))
    whole = g.node("QuantizeLinear", ["x", f32(0.5), zero(3)])
    channel = g.node("QuantizeLinear", ["x", scales(8), s8(8)])
    block = g.node("QuantizeLinear", ["x", scales(2 * 8 * 4).reshape(2, 8, 4), u8(2, 8, 4)], axis=2, block_size=8)
    back = g.node("DequantizeLinear", [block, scales(30), u8(30)], axis=-1)
    both = [whole, f32(0.1), zero(128), block, f32(0.3), zero(77)]
    total = g.node("QLinearAdd", [*both, f32(0.2), zero(101)], "com.microsoft")
    product = g.node("QLinearMul", [*both, f32(4), zero(101)], "com.microsoft")
    kinds = {whole: BYTE, channel: TensorProto.INT8, back: REAL, total: BYTE, product: BYTE}
    return g.model({name: (kind, 3) for name, kind in kinds.items()})


def dynamic() -> tuple[ModelProto, Arrays]:
    """A dynamically quantised layer, and the same by one node of com.microsoft."""
    g = Graph(RNG.standard_normal((7, 33), np.float32))
    weight, scale, shift = s8(33, 19), scales(19), s8(19)
    q, s, z = g.node("DynamicQuantizeLinear", ["x"], count=3)
    sums = g.node("MatMulInteger", [q, weight, z, shift])
    real = g.node("Mul", [g.node("Cast", [sums], to=REAL), g.node("Mul", [s, scale])])
    other = g.node("DynamicQuantizeMatMul", ["x", weight, scale, shift], "com.microsoft")
    return g.model({sums: (SUM, 2), real: (REAL, 2), other: (REAL, 2)})


def convolutions() -> tuple[ModelProto, Arrays]:
    """Plain with a bias and scales of channels, strided, depthwise; a pool, a Concat and the mean of bytes."""
    g = Graph(u8(2, 6, 9, 11))
    first = ["x", f32(0.02), zero(120), s8(16, 6, 3, 3), scales(16), np.zeros(16, np.int8), f32(0.7), zero(101)]
    bias = RNG.integers(-5000, 5000, 16, np.int32)
    y = g.node("QLinearConv", [*first, bias], pads=[1, 1, 1, 1], strides=[2, 1])
    depth = [y, f32(0.7), zero(101), u8(16, 1, 3, 3), f32(0.03), zero(99), f32(0.9), zero(90)]
    z = g.node("QLinearConv", depth, pads=[1, 1, 1, 1], group=16)
    pool = g.node("MaxPool", [z], kernel_shape=[2, 2], strides=[2, 2])
    sums = g.node("ConvInteger", [pool, u8(4, 16, 1, 1), zero(90), zero(128)])
    both = g.node("QLinearConcat", [f32(0.8), zero(80), y, *first[6:], z, *depth[6:]], "com.microsoft", axis=1)
    mean = g.node(
        "QLinearGlobalAveragePool", [both, f32(0.8), zero(80), f32(0.1), zero(20)], "com.microsoft", channels_last=0
    )
    return g.model({sums: (SUM, 4), both: (BYTE, 4), mean: (BYTE, 4)})


def head() -> tuple[ModelProto, Arrays]:
    """What follows the last convolution: QGemm, activations, QLinearMatMul, QLinearSoftmax."""
    g = Graph(u8(5, 24))
    c = RNG.integers(-3000, 3000, 10, np.int32)
    a = g.node("QGemm", ["x", f32(0.05), zero(128), s8(10, 24), scales(10), np.zeros(10, np.int8), c, f32(0.5), zero(99)],
               "com.microsoft", transB=1)  # fmt: skip
    b = g.node("QLinearLeakyRelu", [a, f32(0.5), zero(99), f32(0.4), zero(77)], "com.microsoft", alpha=0.2)
    product = [b, f32(0.4), zero(77), s8(10, 12), scales(12), s8(12), f32(0.9), zero(110)]
    m = g.node("QLinearMatMul", product)
    s = g.node("QLinearSigmoid", [m, f32(0.05), zero(110), f32(1 / 256), zero(0)], "com.microsoft")
    p = g.node("QLinearSoftmax", [m, f32(0.05), zero(110), f32(1 / 256), zero(0)], "com.microsoft", axis=-1, opset=13)
    return g.model({name: (BYTE, 2) for name in (a, b, m, s, p)})


MODELS = {f.__name__: f() for f in (pointwise, dynamic, convolutions, head)}


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("name", MODELS)
def test_bits_of_onnx_runtime(name: str, target: str, level: str) -> None:
    model, feeds = MODELS[name]
    found = results(compiled(model, feeds, target=target, level=level), feeds)
    wanted = reference(model, feeds)
    assert list(found) == list(wanted)
    for output, want in wanted.items():
        assert (found[output].dtype, found[output].shape) == (want.dtype, want.shape)
        if want.dtype == np.float32:  # a bias, a product of scales may be rounded in another order
            np.testing.assert_allclose(found[output], want, rtol=1e-6, atol=1e-6 * np.abs(want).max(), err_msg=output)
        else:
            np.testing.assert_array_equal(found[output], want, err_msg=output)
        assert len(np.unique(want)) > 9, f"{output}: the reference is no yardstick"
