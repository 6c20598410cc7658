"""Chains of operations whose results take over the memory of what they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from xdsl.dialects.builtin import TensorType, f32, f64
from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, tile
from gecc.dialects.fused import Body, epilogue_region, generic, region
from gecc.pipeline import run_pipeline
from test.unit.kernels.harness import TARGET_NAMES, Suite, numbers, tensor

Values = Sequence[SSAValue]


def double(x: SSAValue) -> fused.GenericOp:
    """2 x: around the operation under test, so that it reads and writes the arena and no input or output."""
    assert isinstance(x.type, TensorType)
    return generic("Double", x.type, [x], lambda b, d, t: b.mul(b.load(t[0], d), 2.0))


def enclosed(ops: Sequence[Operation]) -> Sequence[Operation]:
    """Operations, and their result doubled."""
    return [*ops, double(ops[-1].results[0])]


def product(args: Values, suite: Suite) -> Any:
    """relu(x w + 2 r)."""
    other = double(args[1])
    operands = [args[0], suite.constant(numbers((40, 150), seed=4)), other.result]

    def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        return b.maximum(b.add(acc, b.load(t[2], d)), 0.0)

    end = epilogue_region(2, f32, [v.type for v in operands], epilogue)
    return [other, fused.MatmulOp("MatMul", operands[0], operands[1], operands[2:], tensor((70, 150), f32), end)]


def conv(args: Values, suite: Suite) -> Any:
    """conv(x, w) + 2 r on channels-last tensors."""
    other = double(args[1])
    operands = [args[0], suite.constant(numbers((24, 6, 3, 3), seed=4)), other.result]

    def epilogue(b: Body, d: Values, acc: SSAValue, t: Values) -> SSAValue:
        return b.math("tanh", b.add(acc, b.load(t[2], d)))

    end = epilogue_region(4, f32, [v.type for v in operands], epilogue)
    result = tensor((2, 24, 20, 21), f32, "NHWC")
    return [
        other,
        fused.ConvOp(
            "Conv", operands[0], operands[1], operands[2:], result, end, kernel=(3, 3), pads=(1, 1, 1, 1)
        ),
    ]  # fmt: skip


def pointwise(args: Values) -> Any:
    """2 x + row, where only the first has a place for each element of the result."""
    first, second = double(args[0]), double(args[1])
    last = generic(
        "Add",
        tensor((30, 70), f32),
        [first.result, second.result],
        lambda b, d, t: b.add(b.load(t[0], d), b.load(t[1], [d[1]])),
    )
    return [first, second, last]


def shifted(args: Values) -> Any:
    """2 x[i] + 2 x[i + 1]: reads what another lane writes, so the memory may not be shared."""
    first = double(args[0])

    def body(b: Body, d: Values, t: Values) -> SSAValue:
        return b.add(b.load(t[0], d), b.load(t[0], [b.minimum(b.add(d[0], 1), 5000 - 1)]))

    return [first, generic("Shift", tensor((5000,), f32), [first.result], body)]


def transposed(args: Values) -> Any:
    """The transpose of a square, which may not share memory either."""
    first = double(args[0])
    return [first, generic("Transpose", tensor((60, 60), f32), [first.result], lambda b, d, t: b.load(t[0], d[::-1]))]


def widened(args: Values) -> Any:
    """The first half of 2 x as f64: as many bytes as all of it, but elements of another size."""
    first = double(args[0])

    def body(b: Body, d: Values, t: Values) -> SSAValue:
        return b.convert(b.load(t[0], d), f32, f64)

    return [first, generic("Widen", tensor((2500,), f64), [first.result], body)]


def softmax(args: Values, axis: int, label: str) -> Any:
    """softmax(2 x) row, which is read along with x but has no place for each element."""
    first, row = double(args[0]), double(args[1])
    operands = [first.result, row.result]
    types = [v.type for v in operands]
    return [
        first,
        row,
        fused.SoftmaxOp(
            label,
            operands,
            tensor((37, 70), f32),
            region(2, types, lambda b, d, t: b.load(t[0], d)),
            epilogue_region(2, f32, types, lambda b, d, v, t: b.mul(v, b.load(t[1], [d[1]]))),
            axis=axis,
        ),
    ]


def norm(args: Values, label: str, place: Any) -> Any:
    """LayerNorm(2 x + 2 y) + y, y read at `place`."""
    operands = [double(args[0]).result, double(args[1]).result]
    types = [v.type for v in operands]

    def prologue(b: Body, d: Values, t: Values) -> SSAValue:
        return b.add(b.load(t[0], d), b.load(t[1], d))

    def epilogue(b: Body, d: Values, v: SSAValue, t: Values) -> SSAValue:
        return b.add(v, b.load(t[1], place(b, d)))

    return [
        *(v.owner for v in operands),
        fused.NormOp(
            label,
            operands,
            tensor((37, 70), f32),
            region(2, types, prologue),
            epilogue_region(2, f32, types, epilogue),
            axis=1,
            epsilon=1e-5,
            kind="layer",
        ),
    ]


@pytest.fixture(scope="module")
def suite() -> Suite:
    made = Suite()
    made.add(
        "product", [numbers((70, 40)), numbers((70, 150), seed=2)], lambda t: enclosed(product(t, made)), scale=40.0
    )
    images = [numbers((2, 6, 20, 21)), numbers((2, 24, 20, 21), seed=2)]
    made.add("conv", images, lambda t: enclosed(conv(t, made)), layouts=["NHWC", "NHWC"], scale=40.0)
    made.add("pointwise", [numbers((30, 70)), numbers((70,), seed=2)], lambda t: enclosed(pointwise(t)))
    made.add("shifted", [numbers((5000,))], lambda t: enclosed(shifted(t)))
    made.add("transposed", [numbers((60, 60))], lambda t: enclosed(transposed(t)))
    made.add("widened", [numbers((5000,))], lambda t: enclosed(widened(t)))
    for axis in (0, 1):  # lanes across rows, and along them
        made.add(
            f"softmax {axis}",
            [numbers((37, 70)), numbers((70,), seed=2)],
            lambda t, a=axis: enclosed(softmax(t, a, f"Softmax{a}")),
        )
    images = [numbers((37, 70)), numbers((37, 70), seed=2)]
    made.add("norm", images, lambda t: enclosed(norm(t, "Norm", lambda b, d: d)))
    made.add("mirrored", images, lambda t: enclosed(norm(t, "Mirror", lambda b, d: [d[0], b.sub(69, d[1])])))
    return made


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_in_place(suite: Suite, target: str) -> None:
    suite.check(target)


ROWS = ("Softmax0", "Softmax1", "Norm", "Mirror")


def test_memory_is_taken_over(suite: Suite) -> None:
    """The product, the convolution and the sum write where what they read lies; the test above would be idle else."""
    assert suite.module
    module = suite.tiled(TARGET_NAMES[0])
    run_pipeline(suite.ctx, module, ["tile-bufferize", "tile-schedule", "tile-allocate-buffers"])
    shared: dict[str, bool] = {}
    for op in module.walk():
        if isinstance(op, tile.LaunchOp):
            places = [place(v) for v in op.inputs]
            shared[op.label.data] = place(op.outputs[0]) in [p for p in places if p is not None]
    assert {name: shared[name] for name in ("MatMul", "Conv", "Add", "Shift", "Transpose", "Widen", *ROWS)} == {
        "MatMul": True,
        "Conv": True,
        "Add": True,
        "Shift": False,
        "Transpose": False,
        "Widen": False,
        "Softmax0": True,
        "Softmax1": True,
        "Norm": True,
        "Mirror": True,
    }


def place(value: SSAValue) -> int | None:
    """Where a buffer lies in the arena."""
    op = value.owner
    return op.offset.value.data if isinstance(op, tile.AllocOp) and op.offset is not None else None
