"""An LSTM layer unrolled over its steps, gate by gate, as exporters write cells that they do not know."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from test.models.graph import Graph


def unrolled_lstm(steps: int = 32, size: int = 64, *, layers: int = 2, batch: int = 4, seed: int = 0) -> ModelProto:
    """Layers of LSTM cells over `steps` inputs, f32: input [steps, batch, size] -> output [steps, batch, size]."""
    g = Graph("unrolled_lstm", 17, seed)
    x = g.input("input", [steps, batch, size])
    inputs = [g.node("Gather", x, g.constant(t), scope=f"/step.{t}", axis=0) for t in range(steps)]
    for layer in range(layers):
        w = g.weight(f"layer.{layer}.w", g.normal(size, 4 * size, deviation=size**-0.5))
        r = g.weight(f"layer.{layer}.r", g.normal(size, 4 * size, deviation=size**-0.5))
        b = g.weight(f"layer.{layer}.b", g.normal(4 * size, deviation=0.1))
        hidden = g.weight(f"layer.{layer}.h", np.zeros((batch, size), np.float32))
        cell = g.weight(f"layer.{layer}.c", np.zeros((batch, size), np.float32))
        outputs: list[str] = []
        for t, value in enumerate(inputs):
            scope = f"/layer.{layer}/step.{t}"
            total = g.node(
                "Add", g.node("MatMul", value, w, scope=scope), g.node("MatMul", hidden, r, scope=scope), scope=scope
            )
            total = g.node("Add", total, b, scope=scope)
            gates = [
                g.node("Slice", total, *(g.constant([n]) for n in (k * size, (k + 1) * size, 1)), scope=scope)
                for k in range(4)
            ]
            i, f, o = (g.node("Sigmoid", gate, scope=scope) for gate in gates[:3])
            new = g.node("Mul", i, g.node("Tanh", gates[3], scope=scope), scope=scope)
            cell = g.node("Add", g.node("Mul", f, cell, scope=scope), new, scope=scope)
            hidden = g.node("Mul", o, g.node("Tanh", cell, scope=scope), scope=scope)
            outputs.append(hidden)
        inputs = outputs
    rows = [g.node("Unsqueeze", h, g.constant([0]), scope=f"/out.{t}") for t, h in enumerate(inputs)]
    g.node("Concat", *rows, scope="/out", output="output", axis=0)
    g.output("output", [steps, batch, size])
    return g.model()
