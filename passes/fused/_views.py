"""Views among fused operations: how the indices of two shapes relate, and two rules that move views about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, NoneAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue

from gecc.dialects.fused import Body, ConstOp, FusedOp, GenericOp, ViewOp, generic
from gecc.dialects.ge.attrs import WeightAttr
from gecc.dialects.ge.types import dims, tensor
from gecc.passes.fused._merge import Refusal, Values, copy_ops, is_plain, is_pointwise, loads_of
from gecc.rewrite import Pattern, Rewriter, miss


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


@dataclass(frozen=True)
class SinkPlan:
    """How a pointwise operation moves before the view that it reads."""

    user: GenericOp
    plain: Values
    """Its operands that are read at its own indices."""
    kept: dict[int, int]
    """Its dimensions that keep their index, to those of the viewed tensor."""


def sink_plan(op: ViewOp) -> SinkPlan | Refusal:
    """The plan for the view's user to move before the view, or why it cannot."""
    source, target = tensor(op.x), tensor(op.result)
    if not _is_anchor(op.x.owner) or not op.x.has_one_use():
        return Refusal("operand is not the result of an anchor that only the view uses")
    users = list(dict.fromkeys(use.operation for use in op.result.uses))
    if len(users) != 1 or not isinstance(user := users[0], GenericOp) or not is_pointwise(user):
        return Refusal("its user is not one pointwise operation")
    if user.parent is not op.parent or user.parent is not op.x.owner.parent:
        return Refusal("user {} is in another region than the anchor", (user.label.data,))
    if not (is_row_major(source) and is_row_major(target) and is_row_major(user.result_type)):
        return Refusal("{}, {} or {} is not row-major", (source, target, user.result_type))
    shape = user.result_type.get_shape()
    paired = groups(source.get_shape(), target.get_shape())
    if shape != target.get_shape() or paired is None:
        return Refusal("user has shape {}, need {}, without empty dimensions", (shape, target.get_shape()))
    plain = [
        value
        for value in user.inputs
        if dims(value) == shape
        and is_row_major(tensor(value))
        and all(is_plain(load, shape) for _, load in loads_of(user, value))
    ]
    if op.result not in plain:
        return Refusal("user {} reads it at computed indices", (user.label.data,))
    if (rival := _rival(op, plain)) is not None:
        return Refusal("user {} also reads a result of {}, of another shape", (user.label.data, rival))
    kept = _kept(paired, source.get_shape(), shape)
    if (lost := _lost_index(user, plain, kept)) is not None:
        return Refusal("user {} needs index {}, which the view changes", (user.label.data, lost))
    return SinkPlan(user, plain, kept)


class SinkView(Pattern):
    """A pointwise operation on the view of an anchor's result becomes the view of that operation on the result.

    So the operation can join the anchor's epilogue. Its other operands are viewed like the result when they are read
    at the operation's own indices, and stay when they are read along dimensions that the view leaves as they are.
    """

    ops: ClassVar[tuple[type[Operation], ...]] = (ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ViewOp)
        plan = sink_plan(op)
        if isinstance(plan, Refusal):
            return miss(op, plan.reason, *plan.args)
        user, plain, kept = plan.user, plan.plain, plan.kept
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


def _is_anchor(owner: Operation | Block) -> bool:
    return isinstance(owner, FusedOp) and not is_pointwise(owner)


def _rival(op: ViewOp, plain: Values) -> str | None:
    """Another anchor that the operation could join, at another shape: moving to and fro would not end."""
    for value in plain:
        while isinstance(value.owner, ViewOp):
            value = value.owner.x
        owner = value.owner
        if value is not op.x and isinstance(owner, Operation) and _is_anchor(owner) and dims(value) != dims(op.x):
            return owner.name
    return None


def _lost_index(user: GenericOp, plain: Values, kept: dict[int, int]) -> int | None:
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
