"""ge-canonicalize, ge-cse and ge-dce keep every number: all graphs of their lit tests, and the rules with arithmetic."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser

from gecc.context import make_context
from gecc.dialects import ge
from gecc.dialects.ge.types import ANY, FLOAT, numpy_dtype
from gecc.interp import run_module
from gecc.passes import load_pass
from gecc.pipeline import run_pipeline
from gecc.weights import store_of

LIT = Path(__file__).resolve().parents[3] / "passes" / "ge"
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 127.0, -128.0, 1e-40, 3e38, np.inf, -np.inf, np.nan]


def sample(kind: TensorType[Any], seed: int) -> np.ndarray:
    """Values of a type that find mistakes: edges first, then random ones, turned by `seed`."""
    dtype = numpy_dtype(kind.element_type)
    count = int(np.prod(kind.get_shape()))
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        values = rng.integers(0, 2, count).astype(bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = np.array([0, 1, info.max, info.min, 2, 3, 100], dtype)
        values = np.resize(np.roll(edges, seed), count)
    else:
        with np.errstate(over="ignore"):
            values = np.concatenate([np.roll(EDGES, seed), rng.normal(size=count)])[:count].astype(dtype)
    return values.reshape(kind.get_shape())


def functions() -> list[tuple[str, str]]:
    """(pass, module text of one function) for every function of the lit tests whose arguments are known tensors."""
    found: list[tuple[str, str]] = []
    for name, path in [("ge-cse", LIT / "cse.mlir"), ("ge-dce", LIT / "dce.mlir")] + [
        ("ge-canonicalize", path) for path in sorted((LIT / "canonicalize").glob("*.mlir"))
    ]:
        module = Parser(make_context(), path.read_text(encoding="utf-8")).parse_module()
        for function in module.body.ops:
            assert isinstance(function, FuncOp)
            plain = all(isinstance(t, TensorType) and t.has_static_shape() for t in function.function_type.inputs)
            if plain and not any(op.name == "func.call" for op in function.walk()):
                found.append((name, str(function)))
    return found


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal in every element, NaN included; the sign of a zero may differ."""
    return (
        left.dtype == right.dtype
        and left.shape == right.shape
        and bool(np.array_equal(left, right, equal_nan=left.dtype.kind == "f"))
    )


def check(ctx: Context, module: ModuleOp, pass_name: str, seeds: int = 3) -> None:
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    name = function.sym_name.data
    before = module.clone()
    run_pipeline(ctx, module, pass_name)
    for seed in range(seeds):
        inputs = [sample(kind, seed + i) for i, kind in enumerate(function.function_type.inputs)]  # pyright: ignore[reportArgumentType]
        expected = run_module(before, inputs, store=store_of(ctx), function=name)
        found = run_module(module, inputs, store=store_of(ctx), function=name)
        for output, value in expected.items():
            assert same(value, found[output]), f"{name} {output}: {found[output]}, expected {value}\n{module}"


@pytest.mark.parametrize(("pass_name", "text"), functions(), ids=lambda v: v[:40] if v.startswith("func") else v)
def test_lit_graphs_keep_their_numbers(pass_name: str, text: str) -> None:
    ctx = make_context()
    check(ctx, Parser(ctx, text).parse_module(), pass_name)


def graph(argument: Attribute, *ops: Operation) -> ModuleOp:
    """A module of one function whose operations form a chain that begins at its argument."""
    block = Block(arg_types=[argument])
    value: Any = block.args[0]
    for op in ops:
        op.operands[0] = value
        value = op.results[0]
    block.add_ops([*ops, ReturnOp(value)])
    return ModuleOp([FuncOp("main", ([argument], [value.type]), Region(block))])


def hole(kind: Attribute) -> Any:
    """A value to build an operation on before it has a place."""
    return Block(arg_types=[kind]).args[0]


@pytest.mark.parametrize("source", ANY, ids=str)
def test_casts(source: Attribute) -> None:
    """Every pair of casts, on values that fit all types on the way from floats to integers."""
    ctx = make_context()
    canonicalize = load_pass("ge-canonicalize")()
    merged = 0
    for middle, target in product(ANY, ANY):
        first = ge.Cast(hole(TensorType(source, [8])), middle)
        second = ge.Cast(first.result, target)
        module = graph(TensorType(source, [8]), first, second)
        before = module.clone()
        canonicalize.apply(ctx, module)
        merged += sum(isinstance(op, ge.Cast) for op in module.walk()) < 2
        dtype = numpy_dtype(source)
        fits = [0, 1, 2.5, 100, 0.4, 7, 3, 1]
        values = np.array(fits).astype(dtype) if source in FLOAT else sample(TensorType(source, [8]), 0)
        expected, found = (next(iter(run_module(m, [values]).values())) for m in (before, module))
        assert same(expected, found), f"{source} -> {middle} -> {target}: {found}, expected {expected}"
    assert merged >= len(ANY), "casts by way of their own type merge at least"


@given(st.data())
def test_slices(data: st.DataObject) -> None:
    """Any two slices after each other."""
    size = data.draw(st.integers(0, 7))
    kind = TensorType(ge.Const(ge.dense(np.zeros(1, np.int32))).result.type.element_type, [size])
    bound = st.integers(-9, 9) | st.sampled_from([2**63 - 1, -(2**63)])
    step = st.sampled_from([1, -1, 2, -2, 3, -3])
    ops: list[Operation] = []
    value = hole(kind)
    for _ in range(2):
        op = ge.Slice(value, [data.draw(bound)], [data.draw(bound)], [0], [data.draw(step)])
        ops.append(op)
        value = op.result
    module = graph(kind, *ops)
    before = module.clone()
    run_pipeline(make_context(), module, "ge-canonicalize")
    assert sum(isinstance(op, ge.Slice) for op in module.walk()) < 2
    values = np.arange(size, dtype=np.int32)
    expected, found = (next(iter(run_module(m, [values]).values())) for m in (before, module))
    assert same(expected, found)
