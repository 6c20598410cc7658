"""A random ONNX graph while it grows: every value is known by its oracle from the moment it is made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from gecc.debug.smith.oracle import Array, Rejected, Value, check, evaluate, given

Dims: TypeAlias = tuple[int, ...]

SMALL = (1, 2, 3, 4, 5, 7, 8)
EDGES = (11, 12, 13, 15, 16, 17, 31, 32, 33, 47, 64, 65)
"""Extents around those of tiles and vectors."""

ELEMENTS = 6000
"""Most elements of a value."""

LARGEST = {"float32": 1e4, "float64": 1e4, "float16": 1e3}
"""Greatest magnitude of a value."""

F32, F64, F16 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16)
I8, I32, I64, U8, BOOL = (np.dtype(t) for t in (np.int8, np.int32, np.int64, np.uint8, np.bool_))
FLOATS = (F32, F64, F16)
INTEGERS = (I64, I32, I8, U8)


class Graph:
    """Values, nodes, inputs and constants so far. `rejected` counts the nodes that were not taken, by operator."""

    def __init__(self, rng: random.Random, opset: int) -> None:
        self.rng = rng
        self.opset = opset
        self.numbers = np.random.default_rng(rng.getrandbits(32))
        self.dtype = rng.choices((F32, F64, F16, I64, I32, I8, U8), (70, 6, 6, 5, 6, 4, 3))[0]
        """The element type that most values have."""
        self.constants_share = rng.choice((0.2, 0.5, 0.8))
        self.values: list[Value] = []
        self.nodes: list[NodeProto] = []
        self.inputs: dict[str, Value] = {}
        self.constants: dict[str, Value] = {}
        self.rejected: Counter[str] = Counter()

    # -- drawing ---------------------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def size(self) -> int:
        """An extent."""
        if self.chance(0.02):
            return 0
        return self.rng.choice(EDGES if self.chance(0.4) else SMALL)

    def dims(self, low: int = 0, high: int = 6, limit: int = ELEMENTS) -> Dims:
        """A shape of a rank from `low` to `high`."""
        rank = self.rng.choice([r for r in (0, 1, 2, 2, 3, 3, 4, 4, 5, 6) if low <= r <= high])
        result: list[int] = []
        for _ in range(rank):
            result.append(self.size())
            while np.prod(result) > limit:
                result[-1] = max(result[-1] // 3, 1)
                if result[-1] == 1:
                    break
        self.rng.shuffle(result)
        return tuple(result)

    def pick(self, wanted: Callable[[Value], bool], low: int = 0, high: int = 6) -> Value:
        """A value that was made, of late rather than long ago; else a new one of the graph's type."""
        found = [v for v in self.values if wanted(v) and low <= v.rank <= high]
        if found and self.chance(0.9):
            return found[-1] if self.chance(0.5) else self.rng.choice(found)
        for dtype in (self.dtype, *FLOATS, *INTEGERS, BOOL):
            probe = given("", np.zeros((1,) * max(low, min(high, 2)), dtype))
            if wanted(probe):
                return self.fresh(self.dims(low, high), dtype)
        raise Rejected("nothing fits")

    def floats(self, low: int = 0, high: int = 6) -> Value:
        """A value of floats."""
        return self.pick(lambda v: v.floating, low, high)

    def any(self, low: int = 0, high: int = 6) -> Value:
        """A value of any type but bool, mostly."""
        return self.pick(lambda v: v.dtype != BOOL or self.chance(0.3), low, high)

    def beside(self, shape: Sequence[int], dtype: np.dtype[Any], **limits: float) -> Value:
        """A value of exactly this type: one there is, at times, or a new one."""
        found = [v for v in self.values if v.shape == tuple(shape) and v.dtype == dtype]
        if found and not limits and self.chance(0.6):
            return self.rng.choice(found)
        return self.fresh(shape, dtype, **limits)

    def partner(self, x: Value, dtype: np.dtype[Any] | None = None, *, grow: bool = True, **limits: float) -> Value:
        """A value that broadcasts with x; unless `grow`, to the shape of x."""
        dims: list[int] = [1 if self.chance(0.25) else d for d in x.shape]
        if self.chance(0.4):
            dims = list(x.shape)
        if grow and self.chance(0.15):
            dims = [
                self.rng.choice(SMALL) if e == 1 and self.chance(0.5) else d for d, e in zip(dims, x.shape, strict=True)
            ]
        while dims and self.chance(0.15):
            dims.pop(0)
        while grow and len(dims) == x.rank and x.rank < 5 and self.chance(0.08):
            dims.insert(0, self.rng.choice((1, 2, 3)))
        if np.prod(np.broadcast_shapes(tuple(dims), x.shape)) > 4 * ELEMENTS:
            dims = list(x.shape)
        return self.beside(dims, dtype or x.dtype, **limits)

    def draw(self, shape: Sequence[int], dtype: np.dtype[Any], low: float = -2.5, high: float = 2.5) -> Array:
        """Random numbers."""
        if dtype == BOOL:
            return self.numbers.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            bottom, top = (-6, 7) if (low, high) == (-2.5, 2.5) else (int(low), int(high))
            bottom = max(bottom, 0) if dtype.kind == "u" else bottom
            return self.numbers.integers(bottom, max(top, bottom + 1), shape).astype(dtype)
        array = self.numbers.uniform(low, high, shape).astype(dtype)
        if low < 0 < high and array.size and self.chance(0.1):
            array.reshape(-1)[:: max(array.size // 3, 1)] = 0  # zeros of either sign are numbers too
        return array

    def fresh(self, shape: Sequence[int], dtype: np.dtype[Any], *, low: float = -2.5, high: float = 2.5) -> Value:
        """A new input or constant."""
        if self.chance(self.constants_share):
            return self.constant(self.draw(shape, dtype, low, high))
        value = given(f"x{len(self.inputs)}", self.draw(shape, dtype, low, high))
        self.inputs[value.name] = value
        self.values.append(value)
        return value

    def constant(self, array: Any, dtype: Any = None) -> Value:
        """A constant, which is not among the values to pick from."""
        value = given(f"c{len(self.constants)}", np.asarray(array, dtype))
        self.constants[value.name] = value
        return value

    def ints(self, values: Sequence[int]) -> Value:
        """A constant vector of i64."""
        return self.constant(np.array(values, np.int64))

    # -- nodes -----------------------------------------------------------------------------------------------------

    def nodes_of(self, op: str, *operands: Value | None, count: int, **attributes: Any) -> list[Value]:
        """A node of several results. Raises Rejected."""
        names = [f"v{len(self.nodes)}_{i}" if count > 1 else f"v{len(self.nodes)}" for i in range(count)]
        inputs = ["" if v is None else v.name for v in operands]
        while inputs and not inputs[-1]:
            inputs.pop()
        attributes = {key: value for key, value in attributes.items() if value is not None and value != []}
        node = helper.make_node(op, inputs, names, name=f"{op}_{len(self.nodes)}", **attributes)
        try:
            made = evaluate(node, operands[: len(inputs)], self.opset)
            for value in made:
                self._check(op, value)
            check(node, operands[: len(inputs)], made, self.opset)
        except Rejected:
            self.rejected[op] += 1
            raise
        self.nodes.append(node)
        self.values += made
        return made

    def node(self, op: str, *operands: Value | None, **attributes: Any) -> Value:
        """A node of one result. Raises Rejected."""
        return self.nodes_of(op, *operands, count=1, **attributes)[0]

    def _check(self, op: str, value: Value) -> None:
        if value.array.size > 4 * ELEMENTS or value.rank > 6:
            raise Rejected(f"{op} gives {value.array.size} elements of rank {value.rank}")
        if value.floating:
            finite = np.isfinite(value.wide)
            if not finite.all() and not self.chance(0.02):
                raise Rejected(f"{op} is not finite")
            if float(np.abs(value.wide[finite]).max(initial=0)) > LARGEST[value.dtype.name]:
                raise Rejected(f"{op} is too large")

    # -- the model -------------------------------------------------------------------------------------------------

    def model(self) -> ModelProto:
        """The graph as a model: unused values are its outputs, and some others."""
        used = {name for node in self.nodes for name in node.input}
        made = {name for node in self.nodes for name in node.output}
        outputs = [v for v in self.values if v.name in made and (v.name not in used or self.chance(0.1))]
        if self.inputs and self.chance(0.05):
            outputs.append(self.rng.choice(list(self.inputs.values())))
        if self.constants and self.chance(0.05):
            outputs.append(self.rng.choice(list(self.constants.values())))
        graph = helper.make_graph(
            self.nodes,
            "smith",
            [info(v) for v in self.inputs.values()],
            [info(v) for v in outputs],
            [tensor(v) for v in self.constants.values() if v.name in used or v in outputs],
        )
        return make_model(graph, self.opset)


def make_model(graph: Any, opset: int) -> ModelProto:
    """A model around a graph."""
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, producer_name="gecc smith"
    )


def info(value: Value) -> ValueInfoProto:
    """The declaration of a value."""
    return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def tensor(value: Value) -> TensorProto:
    """A value as an initializer."""
    return numpy_helper.from_array(value.array, value.name)
