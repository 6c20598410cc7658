"""The numpy meaning of fused operations themselves: packed operands, chunks, empty domains, views, f64 yardstick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue

import gecc.interp.fused as meaning
from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.errors import KernelError
from gecc.interp import run_module
from test.unit.interp.fused_cases import Array, random


def run(inputs: list[Array], *ops: Operation, block: Block) -> Array:
    """The first result of the last operation of a module around `block`."""
    results = list(ops[-1].results)
    block.add_ops([*ops, func.ReturnOp(*results)])
    types = [arg.type for arg in block.args]
    module = ModuleOp([func.FuncOp("main", (types, [r.type for r in results]), Region(block))])
    module.verify()
    return run_module(module, inputs)["out0"]


def arguments(*arrays: Array) -> Block:
    """A block with an argument for each array."""
    return Block(arg_types=[TensorType(ge.element_type(a.dtype), a.shape) for a in arrays])


def plain_epilogue(rank: int, *values: SSAValue) -> Region:
    return fused.epilogue_region(rank, f32, [v.type for v in values], lambda b, d, acc, t: acc)


@pytest.mark.parametrize("columns", [1, 4, 16])
def test_packed_matmul(columns: int) -> None:
    a, b = random((2, 3, 5)), random((5, 7), seed=1)
    panels = -(-7 // columns)
    packed = np.zeros((5, panels * columns), np.float32)
    packed[:, :7] = b
    packed = np.ascontiguousarray(packed.reshape(5, panels, columns).swapaxes(0, 1))
    block = arguments(a, packed)
    op = fused.MatmulOp(
        "MatMulV2",
        block.args[0],
        block.args[1],
        [],
        TensorType(f32, (2, 3, 7)),
        plain_epilogue(3, *block.args),
        packed=columns,
    )
    np.testing.assert_allclose(run([a, packed], op, block=block), a @ b, rtol=1e-5)


def test_packed_conv() -> None:
    x, w = random((1, 4, 5, 6)), random((6, 2, 3, 2), seed=1)
    options: dict[str, Any] = {"kernel": (3, 2), "strides": (2, 1), "pads": (1, 0, 1, 1), "group": 2}
    packed = np.zeros((2, 12, 4), np.float32)  # [group, KH KW C, columns]
    packed[:, :, :3] = w.reshape(2, 3, 2, 3, 2).transpose(0, 3, 4, 2, 1).reshape(2, 12, 3)
    packed = np.ascontiguousarray(packed[:, None])
    results: list[Array] = []
    for weights, columns in ((w, None), (packed, 4)):
        block = arguments(x, weights)
        op = fused.ConvOp(
            "Conv2D", block.args[0], block.args[1], [], TensorType(f32, (1, 6, 3, 6)), plain_epilogue(4, *block.args),
            packed=columns, **options,
        )  # fmt: skip
        results.append(run([x, weights], op, block=block))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def total(block: Block, shape: tuple[int, ...], extents: tuple[int, ...]) -> Operation:
    """The sum over the last dimensions of the only argument."""

    def body(b: Body, d: Values, t: Values) -> SSAValue:
        return b.load(t[0], d)

    return fused.generic("ReduceSum", TensorType(f32, shape), block.args, body, reduction=extents, combiner="add")


@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 22])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "CHUNK", chunk)
    x = random((3, 5, 4))
    block = arguments(x)
    np.testing.assert_allclose(run([x], total(block, (3,), (5, 4)), block=block), x.sum((1, 2)), rtol=1e-5, atol=1e-6)


def test_empty_domains() -> None:
    x = random((3, 0))
    block = arguments(x)
    np.testing.assert_array_equal(run([x], total(block, (3,), (0,)), block=block), np.zeros(3, np.float32))
    y = random((0, 4))
    block = arguments(y)
    assert run([y], total(block, (0,), (4,)), block=block).shape == (0,)


@pytest.mark.parametrize(
    ("combiner", "dtype", "want"),
    [("max", "int8", -128), ("min", "int8", 127), ("mul", "float32", 1), ("max", "float32", -np.inf),
     ("and", "bool", True), ("or", "bool", False), ("and", "int32", -1), ("min", "bool", True)],
)  # fmt: skip
def test_identities(combiner: str, dtype: str, want: float) -> None:
    got = meaning.identity(combiner, np.dtype(dtype))
    assert got.dtype == np.dtype(dtype)
    assert got == want


def test_load_out_of_range_is_an_error() -> None:
    x = random((4,))
    block = arguments(x)
    op = fused.generic("Shift", TensorType(f32, (4,)), block.args, lambda b, d, t: b.load(t[0], [b.add(d[0], 1)]))
    with pytest.raises(KernelError, match=r"index 0 of a load from tensor<4xf32> is 4, expected 0 to 3"):
        run([x], op, block=block)


def test_diagonal_reads_with_one_index_twice() -> None:
    x = random((4, 4))
    block = arguments(x)
    op = fused.generic("Diagonal", TensorType(f32, (4,)), block.args, lambda b, d, t: b.load(t[0], [d[0], d[0]]))
    np.testing.assert_array_equal(run([x], op, block=block), np.diagonal(x))


def test_view_takes_bytes_in_physical_order() -> None:
    x = random((1, 2, 3, 4))
    block = Block(arg_types=[TensorType(f32, x.shape, ge.LayoutAttr("NHWC"))])
    op = fused.ViewOp(block.args[0], TensorType(f32, (3, 8)))
    np.testing.assert_array_equal(run([x], op, block=block), x.transpose(0, 2, 3, 1).reshape(3, 8))


def test_yardstick_computes_in_float64() -> None:
    x = np.array([1.0, 1e-9], np.float32)
    block = arguments(x)
    block.add_op(op := total(block, (), (2,)))
    block.add_op(func.ReturnOp(op.results[0]))
    module = ModuleOp([func.FuncOp("main", ([block.args[0].type], [op.results[0].type]), Region(block))])
    assert run_module(module, [x])["out0"] == 1
    got = run_module(module, [x.astype(np.float64)], compute_dtype=np.float64)["out0"]
    assert got.dtype == np.float64
    assert got > 1
