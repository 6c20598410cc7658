"""Operators that pick elements by index, and spatial rearrangements: gather, resize, depth to space."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import int_prop, word_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    INDEX,
    AnyTensor,
    agree,
    check_dtype,
    check_rank,
    check_row_major,
    dims,
    elem,
    like,
    normal_axis,
    rank,
    row_major,
    spell,
    tensor,
)


@ge_op
class Gather(GeOp):
    """Slices of x along `axis` chosen by `indices` (negative counts from the end)."""

    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = int_prop(0)
    result = result_def(TensorType)

    def __init__(self, x: Value, indices: Value, *, axis: int = 0, result_type: AnyTensor | None = None) -> None:
        self.setup([x, indices], {"axis": axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        _check_gather(self.x, self.indices)
        axis = normal_axis(self.axis.value.data, rank(self.x))
        shape = dims(self.x)
        return [row_major((*shape[:axis], *dims(self.indices), *shape[axis + 1 :]), elem(self.x))]


@ge_op
class GatherElements(GeOp):
    """result[i][j][k] = x[i][indices[i][j][k]][k] for axis 1; the result has the shape of `indices`."""

    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = int_prop(0)
    result = result_def(TensorType)

    def __init__(self, x: Value, indices: Value, *, axis: int = 0, result_type: AnyTensor | None = None) -> None:
        self.setup([x, indices], {"axis": axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        _check_gather(self.x, self.indices)
        check_rank("indices", self.indices, rank(self.x))
        axis = normal_axis(self.axis.value.data, rank(self.x))
        for i, (size, picked) in enumerate(zip(dims(self.x), dims(self.indices), strict=True)):
            if i != axis and DYNAMIC not in (size, picked) and picked > size:
                raise VerifyException(
                    f"indices {spell(dims(self.indices))} exceed x {spell(dims(self.x))} in dimension {i}"
                )
        return [row_major(dims(self.indices), elem(self.x))]


@ge_op
class GatherND(GeOp):
    """Slices of x at the index vectors in the last dimension of `indices`; `batch_dims` leading dimensions pair up."""

    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    batch_dims = int_prop(0)
    result = result_def(TensorType)

    def __init__(self, x: Value, indices: Value, *, batch_dims: int = 0, result_type: AnyTensor | None = None) -> None:
        self.setup([x, indices], {"batch_dims": batch_dims}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        _check_gather(self.x, self.indices)
        shape, index = dims(self.x), dims(self.indices)
        batch = self.batch_dims.value.data
        if not 0 <= batch < min(len(shape), len(index)):
            raise VerifyException(f"batch_dims is {batch}, expected 0 to {min(len(shape), len(index)) - 1}")
        if not all(agree(a, b) for a, b in zip(shape[:batch], index[:batch], strict=True)):
            raise VerifyException(f"x {spell(shape)} and indices {spell(index)} differ in the {batch} batch dimensions")
        depth = index[-1]
        if depth == DYNAMIC:
            raise VerifyException(f"indices {spell(index)} have an unknown last dimension, which decides the rank")
        if not 1 <= depth <= len(shape) - batch:
            raise VerifyException(f"indices pick {depth} dimensions, expected 1 to {len(shape) - batch}")
        return [row_major((*index[:-1], *shape[batch + depth :]), elem(self.x))]


def _check_gather(x: SSAValue, indices: SSAValue) -> None:
    check_dtype("x", x, ANY)
    check_dtype("indices", indices, INDEX)
    check_row_major("x", x)
    check_row_major("indices", indices)


@ge_op
class DepthToSpace(GeOp):
    """[N, C, H, W] -> [N, C / b^2, H b, W b]; DCR takes the block from the outer part of C, CRD from the inner."""

    x = operand_def(TensorType)
    block_size = int_prop()
    mode = word_prop("DCR", "CRD", default="DCR")
    result = result_def(TensorType)

    def __init__(self, x: Value, block_size: int, *, mode: str = "DCR", result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"block_size": block_size, "mode": mode}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        n, c, h, w = _check_block(self)
        block = self.block_size.value.data
        if c != DYNAMIC and c % (block * block):
            raise VerifyException(f"block_size^2 = {block * block} does not divide {c} channels")
        sizes = [DYNAMIC if d == DYNAMIC else d * block for d in (h, w)]
        return [like(tensor(self.x), (n, DYNAMIC if c == DYNAMIC else c // (block * block), *sizes))]


@ge_op
class SpaceToDepth(GeOp):
    """[N, C, H, W] -> [N, C b^2, H / b, W / b]: the inverse of DepthToSpace."""

    x = operand_def(TensorType)
    block_size = int_prop()
    mode = word_prop("DCR", "CRD", default="DCR")
    result = result_def(TensorType)

    def __init__(self, x: Value, block_size: int, *, mode: str = "DCR", result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"block_size": block_size, "mode": mode}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        n, c, h, w = _check_block(self)
        block = self.block_size.value.data
        for what, size in (("height", h), ("width", w)):
            if size != DYNAMIC and size % block:
                raise VerifyException(f"block_size = {block} does not divide {what} = {size}")
        sizes = [DYNAMIC if d == DYNAMIC else d // block for d in (h, w)]
        return [like(tensor(self.x), (n, DYNAMIC if c == DYNAMIC else c * block * block, *sizes))]


def _check_block(op: DepthToSpace | SpaceToDepth) -> tuple[int, ...]:
    check_dtype("x", op.x, ANY)
    check_rank("x", op.x, 4)
    if op.block_size.value.data < 1:
        raise VerifyException(f"block_size is {op.block_size.value.data}, expected at least 1")
    return dims(op.x)
