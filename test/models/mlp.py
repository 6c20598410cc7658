"""The feed-forward block of a transformer: Linear, exact GELU, Linear."""

from __future__ import annotations

from onnx import ModelProto

from test.models.graph import Graph


def mlp(batch: int = 128, width: int = 768, hidden: int = 3072, *, opset: int = 20, seed: int = 0) -> ModelProto:
    """Linear(width, hidden), GELU, Linear(hidden, width) of `batch` rows, f32: x [batch, width] -> y [batch, width].

    From opset 20 the GELU is one node; below, torch spells it with Erf.
    """
    g = Graph("mlp", opset, seed)
    x = g.input("x", [batch, width])
    inner = g.linear(x, "/fc1", width, hidden)
    activated = g.node("Gelu", inner, scope="/act", approximate="none") if opset >= 20 else g.erf_gelu(inner, "/act")
    weight = g.weight("fc2.weight", g.normal(width, hidden, deviation=hidden**-0.5))
    bias = g.weight("fc2.bias", g.normal(width, deviation=0.1))
    g.node("Gemm", activated, weight, bias, scope="/fc2", output="y", alpha=1.0, beta=1.0, transB=1)
    g.output("y", [batch, width])
    return g.model()
