"""Small ge graphs built in Python, and passes checked by running the graph before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.context import make_context
from gecc.dialects import ge
from gecc.interp.base import run_module
from gecc.passes import load_pass
from gecc.weights import WeightStore, element_type, store_of


class Graph:
    """A function under construction; `add` appends an operation and returns its result."""

    def __init__(self) -> None:
        self.ctx: Context = make_context()
        self.store: WeightStore = store_of(self.ctx)
        self.block = Block()
        self.inputs: list[np.ndarray] = []
        self.module: ModuleOp | None = None

    def input(self, array: np.ndarray, *, shape: Sequence[int] | None = None) -> SSAValue:
        """An argument of the function and the value that runs give it; `shape` may hold -1 in its type."""
        self.inputs.append(array)
        kind = ge.tensor_type(array.shape if shape is None else shape, element_type(array.dtype))
        return self.block.insert_arg(kind, len(self.block.args))

    def const(self, array: np.ndarray | float | Sequence[float], dtype: type = np.float32) -> SSAValue:
        value = array if isinstance(array, np.ndarray) else np.array(array, dtype)
        return self.add(ge.Const(self.store.attr_for(value)))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def finish(self, *outputs: SSAValue) -> Graph:
        self.block.add_op(func.ReturnOp(*outputs))
        kind = FunctionType.from_lists(list(self.block.arg_types), [value.type for value in outputs])
        self.module = ModuleOp([func.FuncOp("main", kind, Region(self.block))])
        self.module.verify()
        return self

    def run(self, *, double: bool = True) -> list[np.ndarray]:
        """The results, computed in float64 unless told otherwise."""
        assert self.module is not None
        dtype = np.float64 if double else None
        return list(run_module(self.module, self.inputs, store=self.store, compute_dtype=dtype).values())

    def apply(self, *passes: str, **options: int) -> None:
        assert self.module is not None
        for name in passes:
            load_pass(name)(**options).apply(self.ctx, self.module)
            self.module.verify()

    def names(self) -> list[str]:
        """The operations of the function without constants and the return, in order."""
        return [op.name for op in self.block.ops if not isinstance(op, ge.Const | func.ReturnOp)]

    def check(self, *passes: str, rtol: float = 1e-6, atol: float = 1e-7, double: bool = True) -> None:
        """Run `passes`; the results must stay the same."""
        before = self.run(double=double)
        self.apply(*passes)
        after = self.run(double=double)
        assert len(before) == len(after)
        for x, y in zip(before, after, strict=True):
            assert x.shape == y.shape
            assert np.isfinite(x.astype(np.float64)).all()
            np.testing.assert_allclose(y, x, rtol=rtol, atol=atol)


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def make_graph() -> Callable[[], Graph]:
    return Graph


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test alone."""
    return np.random.default_rng([ord(c) for c in request.node.name])
