"""Writing an ONNX graph node by node, with weights drawn so that activations stay in range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

Array: TypeAlias = np.ndarray[Any, Any]
Dim: TypeAlias = "int | str"


class Graph:
    """An ONNX graph under construction. Values are known by name; a node is named as its scope and operator.

    `power` holds the expected mean square of some activations, from which batch statistics are drawn.
    """

    def __init__(self, name: str, opset: int, seed: int = 0) -> None:
        self.name = name
        self.opset = opset
        self.rng = np.random.default_rng(seed)
        self.power: dict[str, float] = {}
        self.nodes: list[NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self._used: dict[str, int] = {}

    def input(self, name: str, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> str:
        """A graph input, standard normal as far as `power` goes; a dimension may be a name."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        self.power[name] = 1.0
        return name

    def output(self, value: str, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> None:
        """Declare a value a graph output."""
        self.outputs.append(helper.make_tensor_value_info(value, dtype, list(shape)))

    def weight(self, name: str, array: Array) -> str:
        """An initializer of that name."""
        assert name not in self.initializers, name
        self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        """A Constant node, as exporters write every small number."""
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(value, dtype)))

    def node(self, op: str, *inputs: str, scope: str = "", output: str | None = None, **attributes: Any) -> str:
        """A node with one result, whose name is returned; "" as an input is one left out."""
        name = f"{scope}/{op}"
        count = self._used.get(name, 0)
        self._used[name] = count + 1
        if count:
            name = f"{name}_{count}"
        result = output or f"{name}_output_0"
        self.nodes.append(helper.make_node(op, list(inputs), [result], name=name, **attributes))
        return result

    def normal(self, *shape: int, deviation: float = 1.0) -> Array:
        """Normally distributed f32 numbers."""
        return (self.rng.standard_normal(shape, np.float32) * np.float32(deviation)).astype(np.float32)

    def near_one(self, count: int) -> Array:
        """f32 numbers in [0.75, 1.25)."""
        return self.rng.uniform(0.75, 1.25, count).astype(np.float32)

    def conv(
        self,
        x: str,
        scope: str,
        channels: int,
        filters: int,
        kernel: int,
        stride: int = 1,
        group: int = 1,
        bias: bool = False,
    ) -> str:
        """A square convolution with "same" padding and weights of He's scale: mean square 2 / fan-in."""
        depth = channels // group
        fan_in = depth * kernel * kernel
        shape = (filters, depth, kernel, kernel)
        operands = [x, self.weight(f"{scope[1:]}.weight", self.normal(*shape, deviation=(2 / fan_in) ** 0.5))]
        if bias:
            operands.append(self.weight(f"{scope[1:]}.bias", self.normal(filters, deviation=0.1)))
        pad = (kernel - 1) // 2
        y = self.node(
            "Conv",
            *operands,
            scope=scope,
            dilations=[1, 1],
            group=group,
            kernel_shape=[kernel, kernel],
            pads=[pad] * 4,
            strides=[stride, stride],
        )
        self.power[y] = 2 * self.power[x]
        return y

    def batch_norm(self, x: str, scope: str, channels: int) -> str:
        """BatchNormalization of a value of known power: its statistics fit the value, so that its result is of order 1."""
        name = scope[1:]
        scale = self.weight(f"{name}.weight", self.near_one(channels))
        offset = self.weight(f"{name}.bias", self.normal(channels, deviation=0.2))
        mean = self.weight(f"{name}.running_mean", self.normal(channels, deviation=0.2 * self.power[x] ** 0.5))
        variance = self.weight(f"{name}.running_var", self.near_one(channels) * np.float32(self.power[x]))
        y = self.node("BatchNormalization", x, scale, offset, mean, variance, scope=scope, epsilon=1e-5, momentum=0.9)
        self.power[y] = 1.1
        return y

    def linear(self, x: str, scope: str, inputs: int, outputs: int) -> str:
        """A Linear layer of a matrix, as torch exports it: Gemm with the weight transposed."""
        weight = self.weight(f"{scope[1:]}.weight", self.normal(outputs, inputs, deviation=inputs**-0.5))
        bias = self.weight(f"{scope[1:]}.bias", self.normal(outputs, deviation=0.1))
        return self.node("Gemm", x, weight, bias, scope=scope, alpha=1.0, beta=1.0, transB=1)

    def erf_gelu(self, x: str, scope: str) -> str:
        """The exact GELU as torch spells it below opset 20: x * (1 + erf(x / sqrt(2))) * 0.5."""
        scaled = self.node("Div", x, self.constant(1.4142135381698608, np.float32), scope=scope)
        shifted = self.node("Add", self.node("Erf", scaled, scope=scope), self.constant(1.0, np.float32), scope=scope)
        product = self.node("Mul", x, shifted, scope=scope)
        return self.node("Mul", product, self.constant(0.5, np.float32), scope=scope)

    def model(self) -> ModelProto:
        """The finished model."""
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.initializers.values()))
        ir_version = 8 if self.opset < 20 else 9
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=ir_version,
            producer_name="gecc tests",
        )
