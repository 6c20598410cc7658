"""Matrix products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op


@onnx_op("MatMul")
def matmul(n: Node) -> SSAValue:
    """numpy's matmul; an operand of one dimension is a row on the left, a column on the right."""
    return product(n, n.input(0), n.input(1))


def product(n: Node, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """The product of a and b as numpy has it; only matrices can be transposed."""
    row, column = rank(a) == 1, rank(b) == 1
    if not rank(a) or not rank(b):
        n.invalid("operands must have at least one dimension")
    a = n.build.unsqueeze(a, [0]) if row else a
    b = n.build.unsqueeze(b, [1]) if column else b
    y = n.add(ge.MatMulV2(a, b, transpose_x1=transpose_a, transpose_x2=transpose_b))
    gone = [rank(y) - 2] * row + [rank(y) - 1] * column
    return n.build.squeeze(y, gone) if gone else y


@onnx_op("Gemm")
def gemm(n: Node) -> SSAValue:
    """alpha A B + beta C."""
    return general_product(n)


def general_product(n: Node) -> SSAValue:
    """alpha A B + beta C. C becomes the bias where it is one row and alpha is one."""
    a, b = n.input(0), n.input(1)
    for i, value in enumerate((a, b)):
        if rank(value) != 2:
            n.invalid(f"input {i} has rank {rank(value)}, expected a matrix")
    alpha, beta = n.attr_float("alpha", 1.0), n.attr_float("beta", 1.0)
    transpose_a, transpose_b = bool(n.attr_int("transA", 0)), bool(n.attr_int("transB", 0))
    columns = shape(b)[0] if transpose_b else shape(b)[1]
    c = n.optional(2) if beta != 0 else None
    if c is not None and beta != 1:
        c = n.add(ge.Mul(c, n.build.scalar(beta, c)))
    bias = None
    if c is not None and alpha == 1 and columns != -1 and _is_row(shape(c), columns):
        bias, c = n.build.reshape(c, (columns,)), None
    y = n.add(ge.MatMulV2(a, b, bias, transpose_x1=transpose_a, transpose_x2=transpose_b))
    if alpha != 1:
        y = n.add(ge.Mul(y, n.build.scalar(alpha, y)))
    return y if c is None else n.add(ge.Add(y, c))


def _is_row(dims: tuple[int, ...], columns: int) -> bool:
    """Whether dims say one row of `columns` elements."""
    return bool(dims) and dims[-1] == columns and all(d == 1 for d in dims[:-1])
