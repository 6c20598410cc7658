"""fused-fold-views: views that say nothing new go, and the others get out of the way of fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, NoneAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects.fused import Body, ConstOp, FusedOp, GenericOp, ViewOp, generic
from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.types import dims, tensor
from gecc.passes.fused._merge import (
    Source,
    Values,
    copy_ops,
    fixed_operands,
    is_plain,
    is_pointwise,
    loads_of,
    merged,
)
from gecc.rewrite import Pattern, Rewriter, apply_patterns, miss


def is_row_major(type: TensorType) -> bool:
    """Whether a type has no layout."""
    return isinstance(type.encoding, NoneAttr)


@dataclass(frozen=True)
class Group:
    """Dimensions of two shapes that hold the same elements, in row-major order: `left` of one, `right` of the other."""

    left: tuple[int, ...]
    right: tuple[int, ...]


def groups(left: Sequence[int], right: Sequence[int]) -> list[Group] | None:
    """The finest way to pair up consecutive dimensions of two shapes of equal products; None for empty tensors.

    Dimensions of extent 1 join a neighbouring group.
    """
    if 0 in left or 0 in right:
        return None
    result: list[Group] = []
    i = j = 0
    while i < len(left) or j < len(right):
        begin_i, begin_j = i, j
        a = b = 1
        while True:
            if a == b and i > begin_i and j > begin_j:
                break
            if (a <= b and i < len(left)) or j == len(right):
                a, i = a * left[i], i + 1
            else:
                b, j = b * right[j], j + 1
            if i == len(left) and j == len(right):
                break
        result.append(Group(tuple(range(begin_i, i)), tuple(range(begin_j, j))))
    return result


def linear_map(source: Sequence[int], target: Sequence[int]) -> list[Group] | None:
    """Groups (source dims, target dims) when an index of source follows from one of target by products and sums alone.

    That is so when each group has at most one source dimension of extent above 1.
    """
    paired = groups(source, target)
    if paired is None or any(sum(source[d] != 1 for d in group.left) > 1 for group in paired):
        return None
    return paired


def map_index(b: Body, paired: Sequence[Group], source: Sequence[int], target: Sequence[int], at: Values) -> Values:
    """Indices of source for the indices `at` of target, by the groups of `linear_map`."""
    result: list[SSAValue | None] = [None] * len(source)
    for group in paired:
        index = b.index(0)
        for d in group.right:
            if target[d] != 1:
                index = b.add(b.mul(index, target[d]), at[d])
        for d in group.left:
            result[d] = b.index(0) if source[d] == 1 else index
    assert all(index is not None for index in result)
    return [index for index in result if index is not None]


class RemoveView(Pattern):
    """A view of its own type; a view of a view; a view of a constant."""

    ops: ClassVar[tuple[type[Operation], ...]] = (ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ViewOp)
        if op.x.type == op.result.type:
            return rw.replace(op, [], [op.x])
        result = tensor(op.result)
        if isinstance(op.x.owner, ViewOp):
            return rw.replace(op, ViewOp(op.x.owner.x, result), absorbed=[op.x.owner])
        if isinstance(op.x.owner, ConstOp):
            value = op.x.owner.value
            if isinstance(value, WeightAttr):
                return rw.replace(op, ConstOp(WeightAttr(value.digest, result)), absorbed=[op.x.owner])
            assert isinstance(value, DenseIntOrFPElementsAttr)
            rw.replace(op, ConstOp(DenseIntOrFPElementsAttr(result, value.data)), absorbed=[op.x.owner])


class ReadThroughView(Pattern):
    """A scalar region that loads from a view loads from what is viewed, where the index follows without division."""

    ops: ClassVar[tuple[type[Operation], ...]] = (ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ViewOp)
        source, target = tensor(op.x), tensor(op.result)
        if not (is_row_major(source) and is_row_major(target)):
            return miss(op, "{} or {} is not row-major", source, target)
        paired = linear_map(source.get_shape(), target.get_shape())
        if paired is None:
            return miss(op, "an index of {} follows from one of {} only by division", source, target)

        def write(b: Body, indices: Values, tensors: Values) -> SSAValue:
            return b.load(tensors[0], map_index(b, paired, source.get_shape(), target.get_shape(), indices))

        for use in list(op.result.uses):
            user = use.operation
            if isinstance(user, FusedOp) and use.index >= fixed_operands(user):
                if any(operand is op.result for operand in user.operands[: fixed_operands(user)]):
                    continue
                new = merged(user, user.label.data, replace={op.result: Source([op.x], write)})
                return rw.replace(user, new)


class SinkView(Pattern):
    """A pointwise operation on the view of a kernel's result becomes the view of that operation on the result.

    So the operation can join the kernel. Its other operands are viewed like the result when they are read at the
    operation's own indices, and stay when they are read along dimensions that the view leaves as they are.
    """

    ops: ClassVar[tuple[type[Operation], ...]] = (ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ViewOp)
        source, target = tensor(op.x), tensor(op.result)
        if not isinstance(op.x.owner, FusedOp) or not op.x.has_one_use():
            return miss(op, "operand is not the result of a kernel that only the view uses")
        users = list(dict.fromkeys(use.operation for use in op.result.uses))
        if len(users) != 1 or not isinstance(user := users[0], GenericOp) or not is_pointwise(user):
            return miss(op, "its user is not one pointwise operation")
        if not (is_row_major(source) and is_row_major(target) and is_row_major(user.result_type)):
            return miss(op, "{}, {} or {} is not row-major", source, target, user.result_type)
        shape = user.result_type.get_shape()
        paired = groups(source.get_shape(), target.get_shape())
        if shape != target.get_shape() or paired is None:
            return miss(op, "user has shape {}, need {}", shape, target.get_shape())
        plain = [
            value
            for value in user.inputs
            if dims(value) == shape
            and is_row_major(tensor(value))
            and all(is_plain(load, shape) for _, load in loads_of(user, value))
        ]
        if op.result not in plain:
            return miss(op, "user {} reads it at computed indices", user.label.data)
        kept = _kept(paired, source.get_shape(), shape)
        if (lost := self._lost_index(user, plain, kept)) is not None:
            return miss(op, "user {} needs index {}, which the view changes", user.label.data, lost)
        self._sink(op, user, plain, kept, rw)

    def _lost_index(self, user: GenericOp, plain: Values, kept: dict[int, int]) -> int | None:
        """A dimension whose index the body needs for more than plain loads, and which the view does not keep."""
        block = user.body.block
        rank = len(user.domain)
        args = {block.args[rank + i] for i, value in enumerate(user.inputs) if value in plain}
        for dimension in range(rank):
            if dimension in kept or user.domain[dimension] == 1:
                continue
            for use in block.args[dimension].uses:
                if use.operation.operands[0] not in args or use.operation.name != "fused.load":
                    return dimension
        return None

    def _sink(self, op: ViewOp, user: GenericOp, plain: Values, kept: dict[int, int], rw: Rewriter) -> None:
        source = tensor(op.x)
        views: list[ViewOp] = []
        inputs: list[SSAValue] = []
        for value in user.inputs:
            if value is op.result:
                inputs.append(op.x)
            elif value in plain:
                element = tensor(value).element_type
                views.append(ViewOp(value, TensorType(element, source.get_shape())))
                inputs.append(views[-1].result)
            else:
                inputs.append(value)
        block, rank = user.body.block, len(user.domain)

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            mapping: dict[SSAValue, SSAValue] = {}
            replace: dict[SSAValue, Callable[[Body, Values], SSAValue]] = {}
            for dimension in range(rank):
                # other indices are 0, or read by plain loads only, which are written anew
                mapping[block.args[dimension]] = d[kept[dimension]] if dimension in kept else b.index(0)
            for arg, value, new in zip(block.args[rank:], user.inputs, t, strict=True):
                if value in plain:
                    replace[arg] = _plain_load(new, d)
                else:
                    mapping[arg] = new
            return copy_ops(b, block, mapping, replace)

        moved = generic(user.label.data, TensorType(user.result_type.element_type, source.get_shape()), inputs, body)
        rw.replace(user, [*views, moved, ViewOp(moved.result, user.result_type)], absorbed=[op])


def _plain_load(tensor: SSAValue, d: Values) -> Callable[[Body, Values], SSAValue]:
    return lambda b, indices: b.load(tensor, d)


def _kept(paired: Sequence[Group], source: Sequence[int], target: Sequence[int]) -> dict[int, int]:
    """Target dimension -> source dimension with the same index: alone of extent above 1 in their group."""
    kept: dict[int, int] = {}
    for group in paired:
        left = [d for d in group.left if source[d] != 1]
        right = [d for d in group.right if target[d] != 1]
        if len(left) == len(right) == 1:
            kept[right[0]] = left[0]
    return kept


@dataclass(frozen=True)
class FoldViewsPass(ModulePass):
    """Remove views, read through them, and sink them below pointwise operations.

    ```mlir
    %0 = fused.matmul "MatMulV2"(%x, %w) ... -> tensor<6x4xf32>
    %1 = fused.view %0 : tensor<6x4xf32> -> tensor<2x3x4xf32>
    %2 = fused.generic "Relu"(%1) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> body ...

    // becomes

    %0 = fused.matmul "MatMulV2"(%x, %w) ... -> tensor<6x4xf32>
    %1 = fused.generic "Relu"(%0) : (tensor<6x4xf32>) -> tensor<6x4xf32> body ...
    %2 = fused.view %1 : tensor<6x4xf32> -> tensor<2x3x4xf32>
    ```

    Needs: row-major types, except to remove a view. No index is ever computed by division.
    """

    name = "fused-fold-views"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, [RemoveView(), SinkView(), ReadThroughView()], ctx=ctx)
