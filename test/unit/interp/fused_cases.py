"""Shared by the tests of the fused level: a module around one graph operator, lowered and compared in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from gecc.context import make_context
from gecc.dialects import ge
from gecc.dialects.fused import FusedOp
from gecc.dialects.ge.types import element_type
from gecc.interp.base import run_module
from gecc.passes import load_pass

Array = np.ndarray[Any, np.dtype[Any]]
Build = Callable[..., Operation | Sequence[Operation]]
NHWC = ge.LayoutAttr("NHWC")


def module_of(build: Build, inputs: Sequence[Array], layouts: Sequence[str | None] = ()) -> ModuleOp:
    """A module whose @main applies `build` to its arguments; the last operation built gives the results."""
    types = [
        TensorType(element_type(x.dtype), x.shape, *([ge.LayoutAttr(layout)] if layout else []))
        for x, layout in zip(inputs, [*layouts, *[None] * (len(inputs) - len(layouts))], strict=True)
    ]
    block = Block(arg_types=types)
    built = build(*block.args)
    ops = [built] if isinstance(built, Operation) else list(built)
    block.add_ops(ops)
    results = list(ops[-1].results)
    block.add_op(func.ReturnOp(*results))
    function = func.FuncOp("main", (types, [r.type for r in results]), Region(block))
    module = ModuleOp([function])
    module.verify()
    return module


def apply(module: ModuleOp, *passes: str) -> ModuleOp:
    """Run passes by name on a clone, verifying after each."""
    module = module.clone()
    ctx = make_context()
    for name in passes:
        load_pass(name)().apply(ctx, module)
        module.verify()
    return module


def compare(got: Array, want: Array, tolerance: float, exact_nan: bool = True) -> None:
    """Equal dtype and shape, and values within `tolerance` of the scale of each."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=exact_nan
        )


def check(
    build: Build,
    *inputs: Array,
    layouts: Sequence[str | None] = (),
    passes: Sequence[str] = (),
    tolerance: float | None = None,
) -> ModuleOp:
    """Lower `build` to the fused level (and through `passes`): the results must stay. Returns the lowered module."""
    module = module_of(build, inputs, layouts)
    want = run_module(module, inputs)
    lowered = apply(module, "ge-to-fused", *passes)
    assert not any(op.name.startswith("ge.") for op in lowered.walk())
    got = run_module(lowered, inputs)
    for name, array in want.items():
        loose = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-12}.get(array.dtype.name, 2e-6)
        compare(got[name], array, loose if tolerance is None else tolerance)
    return lowered


def value(module: ModuleOp, name: str) -> list[Operation]:
    """All operations called `name`, in order."""
    return [op for op in module.walk() if op.name == name]


def labels(module: ModuleOp) -> list[str]:
    """The labels of all kernels to be, in order."""
    return [op.label.data for op in module.walk() if isinstance(op, FusedOp)]


def random(shape: Sequence[int], dtype: str = "float32", seed: int = 0, low: float = -3, high: float = 3) -> Array:
    """Numbers of a dtype: uniform floats or integers between `low` and `high`, or booleans."""
    import ml_dtypes

    rng = np.random.default_rng(seed)
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        least = max(int(low), 0) if kind.kind == "u" else int(low)
        return rng.integers(least, int(high) + 1, shape).astype(kind)
    return rng.uniform(low, high, shape).astype(kind)


__all__ = ["NHWC", "SSAValue", "apply", "check", "compare", "labels", "module_of", "random", "value"]
