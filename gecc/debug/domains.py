"""What values the inputs of a graph may have, told from how the graph uses them.

A number that picks a row of a table must be one of its rows, a mask is 0 or 1, what a logarithm is taken of is
positive. Random inputs outside of these would test nothing but error handling, or drown a model in NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from gecc.dialects import ge
from gecc.gear_module import input_names
from gecc.weights import WeightStore, numpy_dtype

MOVES = (
    *(ge.Cast, ge.Identity, ge.Reshape, ge.Transpose, ge.Expand, ge.Tile, ge.Slice, ge.Split, ge.Concat, ge.DynReshape),
    *(ge.DynExpand, ge.DynSlice, ge.DynSqueeze, ge.DynUnsqueeze, ge.DynTile),
)
"""Operations whose result has the values of their operand."""

POSITIVE = (ge.Log, ge.Sqrt, ge.Rsqrt, ge.Reciprocal)


@dataclass(frozen=True)
class Domain:
    """Values of an input: `[low, high)` for numbers, or standard normal when both are None."""

    low: float | None = None
    high: float | None = None

    def draw(self, rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Random values of the domain."""
        if dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            low, high = (0, 2) if self.low is None or self.high is None else (int(self.low), int(self.high))
            return rng.integers(low, max(high, low + 1), shape).astype(dtype)
        if self.low is None or self.high is None:
            return rng.standard_normal(shape).astype(dtype)
        return rng.uniform(self.low, self.high, shape).astype(dtype)


def domains(module: ModuleOp, store: WeightStore, function: str = "main") -> dict[str, Domain]:
    """The domain of each input of `@main`, or of the gear `function`, by name."""
    main = _main(module, function)
    return {name: _domain(arg, store) for name, arg in zip(input_names(main), main.args, strict=True)}


def draw_inputs(module: ModuleOp, store: WeightStore, seed: int = 0, function: str = "main") -> dict[str, NDArray[Any]]:
    """Random inputs for `@main`, or the gear `function`, by name, each from its domain. Every dimension must be known.
    Objects get none."""
    main = _main(module, function)
    found = domains(module, store, function)
    inputs: dict[str, NDArray[Any]] = {}
    for i, (name, arg) in enumerate(zip(input_names(main), main.args, strict=True)):
        if not isinstance(arg.type, TensorType):
            continue
        rng = np.random.default_rng([seed, i])
        inputs[name] = found[name].draw(rng, arg.type.get_shape(), numpy_dtype(arg.type.element_type))
    return inputs


def _main(module: ModuleOp, name: str) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


def _domain(value: SSAValue, store: WeightStore) -> Domain:
    """The narrowest domain that any use asks for."""
    bounds = list(_bounds(value, store, set()))
    if not bounds:
        return Domain()
    return Domain(max(low for low, _ in bounds), min(high for _, high in bounds))


def _bounds(value: SSAValue, store: WeightStore, seen: set[SSAValue]) -> Iterator[tuple[float, float]]:
    if value in seen:
        return
    seen.add(value)
    for use in value.uses:
        op = use.operation
        if (isinstance(op, MOVES) and use.index == 0) or isinstance(op, ge.Concat):
            for result in op.results:
                yield from _bounds(result, store, seen)
        elif (bound := _asked(op, use.index, store)) is not None:
            yield bound


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return ge.shape_of(value.type)


def _asked(op: Operation, index: int, store: WeightStore) -> tuple[float, float] | None:
    """The values that `op` allows for its operand number `index`; None when it takes any."""
    if isinstance(op, ge.Gather | ge.GatherElements) and index == 1:
        return 0, _shape(op.x)[op.axis.value.data]
    if isinstance(op, ge.GatherND) and index == 1:
        return 0, min(_shape(op.x), default=1)
    if isinstance(op, POSITIVE):
        return 0.5, 2.0
    if isinstance(op, ge.Equal):
        other = op.operands[1 - index].owner
        if isinstance(other, ge.Const):
            values = store.array(other.value)
            return float(values.min(initial=0)), float(values.max(initial=0)) + 1
    return None
