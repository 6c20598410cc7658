"""ge-choose-layouts: convolutions, pools and resizing run in NHWC; TransData stands where the layout changes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gecc.dialects import ge
from gecc.dialects.ge.attrs import LayoutAttr
from gecc.passes.ge._evaluate import constant_of
from gecc.passes.ge.choose_layouts.placement import Placement, place
from gecc.passes.ge.choose_layouts.rules import LAYOUT, RANK, rank
from gecc.passes.ge.choose_layouts.tokens import MergeAfterTranspose, SplitBeforeTranspose
from gecc.rewrite import apply_patterns
from gecc.weights import WeightStore, store_of


@dataclass(frozen=True)
class ChooseLayouts(ModulePass):
    """Choose the layout of every tensor of rank 4 so that the fewest bytes are transposed.

    ```mlir
    %c = ge.Conv2D(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    %y = ge.Relu(%c) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    // becomes
    %a = ge.TransData(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32, #ge.layout<NHWC>>
    %c = ge.Conv2D(%a, %w) : (tensor<1x3x8x8xf32, #ge.layout<NHWC>>, ...) -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
    %r = ge.Relu(%c) : (tensor<1x4x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x4x8x8xf32, #ge.layout<NHWC>>
    %y = ge.TransData(%r) : (tensor<1x4x8x8xf32, #ge.layout<NHWC>>) -> tensor<1x4x8x8xf32>
    ```

    Convolutions, pools and Resize read and write NHWC; pointwise operators, Concat, Slice, Pad, reductions and their
    like follow their neighbours; everything else, inputs and outputs of the function, and what crosses the border of a
    branch or loop, is row-major. Of all such placements the one of least total size of TransData is taken, exactly, by
    a minimum cut. A TransData of one channel or one pixel moves nothing and counts as nothing. A Transpose between NCHW and channels-last that moves nothing
    next to NHWC counts likewise: `Transpose [0, 2, 3, 1]` of an NHWC tensor, and `[0, 3, 1, 2]` to one. Layouts that
    are there already are forgotten first, so running the pass twice is running it once.
    """

    name = "ge-choose-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        _forget_layouts(op, store)
        apply_patterns(op, [MergeAfterTranspose(), SplitBeforeTranspose()], ctx=ctx)
        for function in op.walk():
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    _place(block, store)
        _remove_unused_constants(op)


def _place(block: Block, store: WeightStore) -> None:
    """Choose and apply the layouts of a block, then of the regions in it. What these see of outside is row-major."""
    _apply(block, place(block), store)
    for op in list(block.ops):
        for region in op.regions if isinstance(op, ge.Control) else ():
            _place(region.block, store)


def _forget_layouts(module: ModuleOp, store: WeightStore) -> None:
    """Make every tensor row-major again and drop all TransData."""
    for op in list(module.walk()):
        if isinstance(op, ge.TransData):
            op.result.replace_all_uses_with(op.x)
            Rewriter.erase_op(op)
            continue
        for result in op.results:
            if isinstance(result.type, TensorType) and isinstance(result.type.encoding, LayoutAttr):
                kind = _with_encoding(result.type, NoneAttr())
                if isinstance(op, ge.Const):
                    op.properties["value"] = constant_of(store.array(op.value), kind, store).value
                result._type = kind


def _remove_unused_constants(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, ge.Const) and op.result.first_use is None:
            Rewriter.erase_op(op)


def _with_encoding(kind: ge.AnyTensor, encoding: LayoutAttr | NoneAttr) -> ge.AnyTensor:
    return TensorType(kind.element_type, kind.get_shape(), encoding)


def _apply(block: Block, placement: Placement, store: WeightStore) -> None:
    """Give results their layouts and insert a TransData before the first consumer that wants another. Constants are stored again in the layout wanted."""
    layout = LayoutAttr(LAYOUT)
    for op in block.ops:
        if placement.nhwc.get(op, False):
            for result in op.results:
                if rank(result) == RANK:
                    assert isinstance(result.type, TensorType)
                    result._type = _with_encoding(result.type, layout)
    moved: dict[tuple[SSAValue, bool], SSAValue] = {}
    for op in list(block.ops):
        for index, value in enumerate(op.operands):
            if rank(value) != RANK or (wanted := placement.wants_nhwc(op, index)) is None:
                continue
            assert isinstance(value.type, TensorType)
            if isinstance(value.type.encoding, LayoutAttr) == wanted:
                continue
            if (value, wanted) not in moved:
                moved[value, wanted] = _move(value, wanted, op, store)
            op.operands[index] = moved[value, wanted]
        for inner in op.walk() if isinstance(op, ge.Control) else ():
            for index, value in enumerate(inner.operands):
                if inner is op or not isinstance(value.type, TensorType) or rank(value) != RANK:
                    continue
                if not isinstance(value.type.encoding, LayoutAttr):
                    continue
                if (value, False) not in moved:
                    moved[value, False] = _move(value, False, op, store)
                inner.operands[index] = moved[value, False]


def _move(value: SSAValue, to_nhwc: bool, before: Operation, store: WeightStore) -> SSAValue:
    """`value` in the other layout, computed before `before`; a constant is rewritten instead."""
    owner = value.owner
    made: Operation
    if isinstance(owner, ge.Const):
        kind = _with_encoding(ge.tensor(value), LayoutAttr(LAYOUT) if to_nhwc else NoneAttr())
        made = constant_of(store.array(owner.value), kind, store)
    else:
        made = ge.TransData(value, LAYOUT if to_nhwc else None)
    made.location = owner.location if isinstance(owner, Operation) else before.location
    Rewriter.insert_op(made, InsertPoint.before(before))
    return made.results[0]
