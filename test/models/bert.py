"""A BERT encoder (Devlin et al., 2018) as Hugging Face's eager attention comes out of torch's exporter."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto

from test.models.graph import Graph

LAYER_NORM_OPSET = 17
"""From here on a layer normalisation is one node; below, exporters decompose it."""


class Encoder(Graph):
    """A graph with the layers of a BERT of width `hidden`."""

    def __init__(self, hidden: int, heads: int, inner: int, opset: int, seed: int) -> None:
        super().__init__("bert", opset, seed)
        self.hidden, self.heads, self.inner = hidden, heads, inner

    def dim(self, x: str, axis: int, scope: str) -> str:
        """One size of x as a vector of one element, computed when the model runs."""
        size = self.node("Gather", self.node("Shape", x, scope=scope), self.constant(axis), scope=scope, axis=0)
        return self.node("Unsqueeze", size, self.constant([0]), scope=scope)

    def dense(self, x: str, scope: str, inputs: int, outputs: int) -> str:
        """A Linear layer of a tensor of rank 3: MatMul and Add, the bias first."""
        name = scope[1:].replace("/", ".")
        weight = self.weight(f"{name}.weight", self.normal(inputs, outputs, deviation=inputs**-0.5))
        bias = self.weight(f"{name}.bias", self.normal(outputs, deviation=0.1))
        return self.node("Add", bias, self.node("MatMul", x, weight, scope=scope), scope=scope)

    def layer_norm(self, x: str, scope: str, output: str | None = None) -> str:
        """Over the last dimension, with scale and offset."""
        name = scope[1:].replace("/", ".")
        scale = self.weight(f"{name}.weight", self.near_one(self.hidden))
        offset = self.weight(f"{name}.bias", self.normal(self.hidden, deviation=0.1))
        if self.opset >= LAYER_NORM_OPSET:
            return self.node("LayerNormalization", x, scale, offset, scope=scope, output=output, axis=-1, epsilon=1e-12)
        centred = self.node("Sub", x, self.node("ReduceMean", x, scope=scope, axes=[-1]), scope=scope)
        square = self.node("Pow", centred, self.constant(2.0, np.float32), scope=scope)
        variance = self.node("ReduceMean", square, scope=scope, axes=[-1])
        shifted = self.node("Add", variance, self.constant(1e-12, np.float32), scope=scope)
        normal = self.node("Div", centred, self.node("Sqrt", shifted, scope=scope), scope=scope)
        scaled = self.node("Mul", normal, scale, scope=scope)
        return self.node("Add", scaled, offset, scope=scope, output=output)

    def embeddings(self, ids: str, types: str, vocabulary: int, positions: int) -> str:
        """Words, token types and positions, added and normalised."""
        tables = {
            name: self.weight(f"embeddings.{name}_embeddings.weight", self.normal(count, self.hidden))
            for name, count in (("word", vocabulary), ("token_type", 2), ("position", positions))
        }
        numbers = self.weight("embeddings.position_ids", np.arange(positions, dtype=np.int64)[None])
        length = self.dim(ids, 1, "/embeddings")
        taken = self.node(
            "Slice", numbers, self.constant([0]), length, self.constant([1]), self.constant([1]), scope="/embeddings"
        )
        words = self.node("Gather", tables["word"], ids, scope="/embeddings/word_embeddings")
        kinds = self.node("Gather", tables["token_type"], types, scope="/embeddings/token_type_embeddings")
        places = self.node("Gather", tables["position"], taken, scope="/embeddings/position_embeddings")
        total = self.node("Add", words, kinds, scope="/embeddings")
        total = self.node("Add", total, places, scope="/embeddings")
        return self.layer_norm(total, "/embeddings/LayerNorm")

    def bias_of(self, mask: str) -> str:
        """What is added to scores: 0 where the mask is 1, the lowest f32 where it is 0."""
        rows = self.node("Unsqueeze", mask, self.constant([1]))
        wide = self.node("Unsqueeze", rows, self.constant([2]))
        number = self.node("Cast", wide, to=TensorProto.FLOAT)
        absent = self.node("Sub", self.constant(1.0, np.float32), number)
        return self.node("Mul", absent, self.constant(np.finfo(np.float32).min, np.float32))

    def split_heads(self, x: str, scope: str, perm: tuple[int, ...]) -> str:
        """[batch, length, hidden] as [batch, length, heads, size], transposed."""
        size = self.constant([self.hidden // self.heads])
        heads = self.constant([self.heads])
        batch, length = self.dim(x, 0, scope), self.dim(x, 1, scope)
        shape = self.node("Concat", batch, length, heads, size, scope=scope, axis=0)
        return self.node("Transpose", self.node("Reshape", x, shape, scope=scope), scope=scope, perm=list(perm))

    def attention(self, x: str, bias: str, scope: str) -> str:
        """Multi-head self-attention with its output layer, residual and normalisation."""
        own = f"{scope}/self"
        query = self.split_heads(self.dense(x, f"{own}/query", self.hidden, self.hidden), own, (0, 2, 1, 3))
        key = self.split_heads(self.dense(x, f"{own}/key", self.hidden, self.hidden), own, (0, 2, 3, 1))
        value = self.split_heads(self.dense(x, f"{own}/value", self.hidden, self.hidden), own, (0, 2, 1, 3))
        scores = self.node("MatMul", query, key, scope=own)
        scores = self.node("Div", scores, self.constant((self.hidden / self.heads) ** 0.5, np.float32), scope=own)
        scores = self.node("Add", scores, bias, scope=own)
        weights = self.node("Softmax", scores, scope=own, axis=-1)
        context = self.node("MatMul", weights, value, scope=own)
        context = self.node("Transpose", context, scope=own, perm=[0, 2, 1, 3])
        batch, length = self.dim(context, 0, own), self.dim(context, 1, own)
        shape = self.node("Concat", batch, length, self.constant([self.hidden]), scope=own, axis=0)
        joined = self.node("Reshape", context, shape, scope=own)
        result = self.dense(joined, f"{scope}/output/dense", self.hidden, self.hidden)
        return self.layer_norm(self.node("Add", result, x, scope=f"{scope}/output"), f"{scope}/output/LayerNorm")

    def layer(self, x: str, bias: str, scope: str, output: str | None) -> str:
        """Attention and the feed-forward block."""
        x = self.attention(x, bias, f"{scope}/attention")
        inner = self.dense(x, f"{scope}/intermediate/dense", self.hidden, self.inner)
        inner = self.erf_gelu(inner, f"{scope}/intermediate/intermediate_act_fn")
        result = self.dense(inner, f"{scope}/output/dense", self.inner, self.hidden)
        return self.layer_norm(
            self.node("Add", result, x, scope=f"{scope}/output"), f"{scope}/output/LayerNorm", output
        )


def bert(
    hidden: int = 128,
    heads: int = 4,
    inner: int = 512,
    *,
    layers: int = 2,
    vocabulary: int = 1000,
    positions: int = 128,
    opset: int = 17,
    seed: int = 0,
) -> ModelProto:
    """An encoder, f32: input_ids, attention_mask and token_type_ids [batch, length] of i64, both sizes open ->
    last_hidden_state [batch, length, hidden] and pooler_output [batch, hidden].

    Below opset 17 layer normalisations are decomposed, as exporters did.
    """
    g = Encoder(hidden, heads, inner, opset, seed)
    shape = ["batch", "length"]
    ids = g.input("input_ids", shape, TensorProto.INT64)
    mask = g.input("attention_mask", shape, TensorProto.INT64)
    types = g.input("token_type_ids", shape, TensorProto.INT64)
    x = g.embeddings(ids, types, vocabulary, positions)
    bias = g.bias_of(mask)
    for index in range(layers):
        last = "last_hidden_state" if index == layers - 1 else None
        x = g.layer(x, bias, f"/encoder/layer.{index}", last)
    first = g.node("Gather", x, g.constant(0), scope="/pooler", axis=1)
    pooled = g.linear(first, "/pooler/dense", hidden, hidden)
    g.node("Tanh", pooled, scope="/pooler/activation", output="pooler_output")
    g.output("last_hidden_state", ["batch", "length", hidden])
    g.output("pooler_output", ["batch", hidden])
    return g.model()
