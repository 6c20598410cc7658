"""Operators of com.microsoft that ONNX Runtime's optimiser makes of several: products, convolutions, activations.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. All are taken apart again; the
compiler fuses what its own kernels can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.conv import convolve
from gecc.frontend.onnx.ops.matmul import general_product, product
from gecc.frontend.onnx.ops.pool import pool_max
from gecc.frontend.onnx.registry import onnx_op

DOMAIN = "com.microsoft"

# -- activations -------------------------------------------------------------------------------------------------------


@onnx_op("Gelu", domain=DOMAIN)
def gelu(n: Node) -> SSAValue:
    """By erf."""
    return n.add(ge.Gelu(n.input(0)))


@onnx_op("BiasGelu", domain=DOMAIN)
def bias_gelu(n: Node) -> SSAValue:
    """Of the sum of both inputs, by erf."""
    return n.add(ge.Gelu(n.add(ge.Add(n.input(0), n.input(1)))))


@onnx_op("FastGelu", domain=DOMAIN)
def fast_gelu(n: Node) -> SSAValue:
    """Of the sum of both inputs (the second one may be missing), by tanh."""
    x = n.add(ge.Add(n.input(0), n.input(1))) if n.has(1) else n.input(0)
    return n.add(ge.Gelu(x, approximate="tanh"))


@onnx_op("QuickGelu", domain=DOMAIN)
def quick_gelu(n: Node) -> SSAValue:
    """x sigmoid(alpha x)."""
    x, alpha = n.input(0), n.attr_float("alpha", 1.702)
    inner = x if alpha == 1 else n.add(ge.Mul(x, n.build.scalar(alpha, x)))
    return n.add(ge.Mul(x, n.add(ge.Sigmoid(inner))))


@onnx_op("BiasAdd", domain=DOMAIN)
def bias_add(n: Node) -> SSAValue:
    """The sum of all three inputs."""
    return reduce(lambda a, b: n.add(ge.Add(a, b)), (n.input(i) for i in range(3)))


Activation: TypeAlias = Callable[[Node, SSAValue, Sequence[float]], SSAValue]
"""(node, x, parameters) -> the activation of x."""


def _clip(n: Node, x: SSAValue, bounds: Sequence[float]) -> SSAValue:
    return n.add(ge.ClipByValue(x, *(n.build.scalar(b, x) for b in bounds)))


ACTIVATIONS: dict[str, tuple[Sequence[float], Activation]] = {
    "": ((), lambda n, x, p: x),
    "Relu": ((), lambda n, x, p: n.add(ge.Relu(x))),
    "Tanh": ((), lambda n, x, p: n.add(ge.Tanh(x))),
    "Sigmoid": ((), lambda n, x, p: n.add(ge.Sigmoid(x))),
    "LeakyRelu": ((0.01,), lambda n, x, p: n.add(ge.LeakyRelu(x, alpha=p[0]))),
    "Elu": ((1.0,), lambda n, x, p: n.add(ge.Elu(x, alpha=p[0]))),
    "HardSigmoid": ((0.2, 0.5), lambda n, x, p: n.add(ge.HardSigmoid(x, alpha=p[0], beta=p[1]))),
    "Clip": ((-3.4028234663852886e38, 3.4028234663852886e38), _clip),
    "Softplus": ((), lambda n, x, p: n.add(ge.Softplus(x))),
    "HardSwish": ((), lambda n, x, p: n.add(ge.HardSwish(x))),
}
"""The activations of fused operators with the defaults of their parameters."""


def activated(n: Node, x: SSAValue, given: Sequence[float]) -> SSAValue:
    """x after the node's `activation`, of which the first parameters are given."""
    name = n.attr_str("activation", "")
    if name not in ACTIVATIONS:
        n.refuse(f"activation '{name}' is not supported, expected one of {', '.join(filter(None, ACTIVATIONS))}")
    defaults, function = ACTIVATIONS[name]
    if len(given) > len(defaults):
        given = given[: len(defaults)]
    return function(n, x, [*given, *defaults[len(given) :]])


# -- products ----------------------------------------------------------------------------------------------------------


def _fused_matmul(n: Node) -> SSAValue:
    """alpha A B; either side transposed in its last dimensions, or with its first dimension moved before the last."""
    a, b = (_batch_moved(n, n.input(i), f"transBatch{side}") for i, side in enumerate("AB"))
    turned = [bool(n.attr_int(f"trans{side}", 0)) and rank(x) > 1 for side, x in (("A", a), ("B", b))]
    y = product(n, a, b, transpose_a=turned[0], transpose_b=turned[1])
    alpha = n.attr_float("alpha", 1.0)
    return y if alpha == 1 else n.add(ge.Mul(y, n.build.scalar(alpha, y)))


def _batch_moved(n: Node, x: SSAValue, attribute: str) -> SSAValue:
    """[d0, d1, ..., dk, c] as [d1, ..., dk, d0, c] when the attribute says so."""
    if not n.attr_int(attribute, 0):
        return x
    if rank(x) < 3:
        n.invalid(f"{attribute} needs a rank of 3 or more, found {rank(x)}")
    return n.build.transpose(x, [*range(1, rank(x) - 1), 0, rank(x) - 1])


onnx_op("FusedMatMul", domain=DOMAIN)(_fused_matmul)
onnx_op("TransposeMatMul", domain=DOMAIN)(_fused_matmul)


@onnx_op("FusedGemm", domain=DOMAIN)
def fused_gemm(n: Node) -> SSAValue:
    """Gemm and an activation, whose parameters are attributes."""
    names = [f"activation_{g}" for g in ("alpha", "beta", "gamma")]
    given = [n.attr_float(name) for name in names if n.has_attr(name)]
    return activated(n, general_product(n), given)


@onnx_op("FusedConv", domain=DOMAIN)
def fused_conv(n: Node) -> SSAValue:
    """Convolution, plus Z where given, and an activation."""
    y = convolve(n, n.input(0), n.input(1), n.optional(2))
    if n.has(3):
        y = n.add(ge.Add(y, n.input(3)))
    return activated(n, y, n.attr_floats("activation_params", []))


@onnx_op("NhwcMaxPool", domain=DOMAIN)
def nhwc_max_pool(n: Node) -> SSAValue:
    """MaxPool with the channels last."""
    x = n.input(0)
    if rank(x) < 3:
        n.invalid(f"input 0 has rank {rank(x)}, expected 3 or more")
    spatial = range(1, rank(x) - 1)
    (y,) = pool_max(n, n.build.transpose(x, [0, rank(x) - 1, *spatial]))
    return n.build.transpose(y, [0, *range(2, rank(x)), 1])
