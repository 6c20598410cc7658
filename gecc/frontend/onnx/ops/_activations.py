"""The functions that recurrent operators name in their attribute `activations`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.node import Node


@dataclass(frozen=True)
class Activation:
    """One function with its parameters; those that it does not have are 0."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0

    def __call__(self, n: Node, x: SSAValue) -> SSAValue:
        """The function of `x`."""
        return _FUNCTIONS[self.name](n, x, self.alpha, self.beta)


def activations(n: Node, count: int, default: Sequence[str]) -> list[Activation]:
    """`count` functions. Parameters are taken in order by the functions that have them, the rest have defaults."""
    names = [text.decode() for text in n.attributes["activations"].strings] if n.has_attr("activations") else []
    names = names or [default[i % len(default)] for i in range(count)]
    if len(names) != count:
        n.invalid(f"activations are {names}, expected {count}")
    alphas, betas = iter(n.attr_floats("activation_alpha", [])), iter(n.attr_floats("activation_beta", []))
    found: list[Activation] = []
    for name in names:
        key = name.lower()
        if key not in _FUNCTIONS:
            n.invalid(f"activation '{name}' is none of the standard's")
        alpha = next(alphas, _ALPHA[key]) if key in _ALPHA else 0.0
        beta = next(betas, _BETA[key]) if key in _BETA else 0.0
        found.append(Activation(key, alpha, beta))
    return found


_ALPHA = {
    "affine": 1.0,
    "leakyrelu": 0.01,
    "thresholdedrelu": 1.0,
    "scaledtanh": 1.0,
    "hardsigmoid": 0.2,
    "elu": 1.0,
}
"""Functions with a parameter alpha, and its default; of those without an operator, that of ONNX Runtime."""

_BETA = {"affine": 0.0, "scaledtanh": 1.0, "hardsigmoid": 0.5}


def _affine(n: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return n.add(ge.Add(n.add(ge.Mul(x, n.build.scalar(alpha, x))), n.build.scalar(beta, x)))


def _thresholded(n: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    above = n.add(ge.Greater(x, n.build.scalar(alpha, x)))
    return n.add(ge.Select(above, x, n.build.scalar(0, x)))


def _scaled_tanh(n: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    inner = n.add(ge.Tanh(n.add(ge.Mul(x, n.build.scalar(beta, x)))))
    return n.add(ge.Mul(inner, n.build.scalar(alpha, x)))


def _softsign(n: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return n.add(ge.RealDiv(x, n.add(ge.Add(n.add(ge.Abs(x)), n.build.scalar(1, x)))))


_FUNCTIONS: dict[str, Callable[[Node, SSAValue, float, float], SSAValue]] = {
    "relu": lambda n, x, a, b: n.add(ge.Relu(x)),
    "tanh": lambda n, x, a, b: n.add(ge.Tanh(x)),
    "sigmoid": lambda n, x, a, b: n.add(ge.Sigmoid(x)),
    "affine": _affine,
    "leakyrelu": lambda n, x, a, b: n.add(ge.LeakyRelu(x, alpha=a)),
    "thresholdedrelu": _thresholded,
    "scaledtanh": _scaled_tanh,
    "hardsigmoid": lambda n, x, a, b: n.add(ge.HardSigmoid(x, alpha=a, beta=b)),
    "elu": lambda n, x, a, b: n.add(ge.Elu(x, alpha=a)),
    "softsign": _softsign,
    "softplus": lambda n, x, a, b: n.add(ge.Softplus(x)),
}
