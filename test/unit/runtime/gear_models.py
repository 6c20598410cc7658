"""Models for tests of gears: what is compiled for several sizes at once, and what for one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

Shapes = dict[str, tuple[int, ...]]


def graph(text: str, **constants: np.ndarray) -> onnx.ModelProto:
    """A model of ONNX's text, `constants` as its initializers."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> {text}')
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return model


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def conv_net() -> onnx.ModelProto:
    """Convolutions with a residual, pooling and a classifier; its second output has the size of the image."""
    return graph(
        """net (float[n, 3, h, w] x) => (float[n, 5] y, float[n, 8, p, q] f) {
            a = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, k1)
            b = Relu(a)
            c = Conv<pads = [1, 1, 1, 1]>(b, k2)
            d = Add(c, b)
            f = Relu(d)
            g = GlobalAveragePool(f)
            v = Flatten(g)
            y = Gemm(v, m, bias)
        }""",
        k1=_random(8, 3, 3, 3),
        k2=_random(8, 8, 3, 3),
        m=_random(8, 5),
        bias=_random(5),
    )


def transformer() -> onnx.ModelProto:
    """A layer of attention with a mask, of any batch and length; sizes are computed from shapes in the graph."""
    return graph(
        """net (int64[b, s] ids, float[b, s] mask) => (float[b, s, 16] y, int64[3] size) {
            x = Gather(table, ids)
            q0 = MatMul(x, wq)
            k0 = MatMul(x, wk)
            v0 = MatMul(x, wv)
            size = Shape(x)
            ends = Constant<value_ints = [0]>()
            two = Constant<value_ints = [2]>()
            lead = Slice(size, ends, two)
            heads = Constant<value_ints = [2, 8]>()
            split = Concat<axis = 0>(lead, heads)
            q1 = Reshape(q0, split)
            k1 = Reshape(k0, split)
            v1 = Reshape(v0, split)
            q = Transpose<perm = [0, 2, 1, 3]>(q1)
            k = Transpose<perm = [0, 2, 3, 1]>(k1)
            v = Transpose<perm = [0, 2, 1, 3]>(v1)
            raw = MatMul(q, k)
            m1 = Unsqueeze(mask, axes)
            hidden = Mul(m1, far)
            masked = Add(raw, hidden)
            p = Softmax<axis = -1>(masked)
            o = MatMul(p, v)
            t = Transpose<perm = [0, 2, 1, 3]>(o)
            back = Reshape(t, size)
            added = Add(back, x)
            y = LayerNormalization<axis = -1>(added, gamma, beta)
        }""",
        table=_random(11, 16),
        wq=_random(16, 16),
        wk=_random(16, 16) + 1,
        wv=_random(16, 16) - 1,
        axes=np.array([1, 2]),
        far=np.array(-1e4, np.float32),
        gamma=_random(16) + 2,
        beta=_random(16) * 3,
    )


def several_inputs() -> onnx.ModelProto:
    """Three inputs of which two are open, one of fixed size, and a scalar; an output that is an input."""
    return graph(
        """net (float[n, 7] x, float[m] z, float[7] w, float scale) => (float[n, 7, m] y, float[m] same, float total) {
            a = Mul(x, w)
            axis = Constant<value_ints = [2]>()
            b = Unsqueeze(a, axis)
            c = Mul(b, z)
            y = Mul(c, scale)
            same = Identity(z)
            total = ReduceSum<keepdims = 0>(y)
        }"""
    )


def loop() -> onnx.ModelProto:
    """A loop and a branch whose sizes depend on the gear; how often the loop runs depends on the data."""
    return graph(
        """net (float[n] x, bool go) => (float[n] y, float[k, n] rows) {
            most = Constant<value = int64 {5}>()
            y1, rows = Loop(most, go, x) <body = step (int64 i, bool c, float[n] v) => (bool again, float[n] w, float[n] r) {
                again = Identity(c)
                w = Add(v, v)
                r = Exp(v)
            }>
            top = ReduceMax<keepdims = 0>(x)
            limit = Constant<value = float {1.0}>()
            big = Greater(top, limit)
            y = If(big) <then_branch = t () => (float[n] a) { a = Neg(y1) },
                         else_branch = e () => (float[n] b) { s = Sigmoid(y1) b = Mul(s, y1) }>
        }"""
    )


def host_call() -> onnx.ModelProto:
    """What runs on the host (places of what is not zero) beside native work."""
    return graph(
        """net (float[n, 4] x) => (float[n, 4] e, int64[2, k] places, int64[n, 4] order) {
            e = Exp(x)
            places = NonZero(x)
            order = CastLike(e, one)
        }""",
        one=np.array(1),
    )


def strings() -> onnx.ModelProto:
    """Strings of any length, which the host joins, beside numbers of the gear's size."""
    nodes = [
        helper.make_node("StringConcat", ["s", "s"], ["t"]),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("s", TensorProto.STRING, [2]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3]),
    ]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("t", TensorProto.STRING, [2]),
    ]
    made = helper.make_graph(nodes, "strings", inputs, outputs)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


CASES: dict[str, tuple[Callable[[], onnx.ModelProto], list[Shapes]]] = {
    "conv": (conv_net, [{"x": s} for s in ((1, 3, 8, 8), (2, 3, 8, 8), (2, 3, 13, 7), (5, 3, 9, 16))]),
    "transformer": (transformer, [{"ids": s, "mask": s} for s in ((1, 4), (3, 4), (2, 9), (1, 33))]),
    "several": (
        several_inputs,
        [{"x": (n, 7), "z": (m,), "w": (7,), "scale": ()} for n, m in ((1, 1), (1, 5), (4, 1), (3, 17))],
    ),
    "loop": (loop, [{"x": (n,), "go": ()} for n in (1, 5, 64, 1000)]),
    "host": (host_call, [{"x": (n, 4)} for n in (1, 3, 8)]),
}
"""Models, each with its gears."""


def feeds(model: onnx.ModelProto, shapes: Shapes, seed: int = 0) -> dict[str, np.ndarray]:
    """Random inputs of these shapes; whole numbers and truths are small enough for any table."""
    rng = np.random.default_rng(seed)
    kinds = {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    found: dict[str, np.ndarray] = {}
    for name, shape in shapes.items():
        dtype = helper.tensor_dtype_to_np_dtype(kinds[name])
        if dtype.kind == "f":
            found[name] = np.asarray(rng.standard_normal(shape), dtype)
        else:
            found[name] = np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 8, shape), dtype)
    return found
