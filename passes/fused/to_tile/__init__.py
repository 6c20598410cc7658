"""Lower fused operations to tiled kernels and launches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects import fused, tile
from gecc.dialects.fused import Body
from gecc.dialects.ge.attrs import LayoutAttr
from gecc.passes.fused.choose_tilings import is_depthwise
from gecc.passes.fused.to_tile.depthwise import lower_depthwise
from gecc.passes.fused.to_tile.gemm import lower_product
from gecc.passes.fused.to_tile.generic import lower_generic
from gecc.passes.fused.to_tile.joins import RangeJoin
from gecc.passes.fused.to_tile.kernel import KernelWriter
from gecc.passes.fused.to_tile.launch import Lowered
from gecc.passes.fused.to_tile.ranges import RangeCopy
from gecc.passes.fused.to_tile.rows import lower_norm, lower_softmax
from gecc.passes.fused.to_tile.widen import WidenIntegers
from gecc.rewrite import Pattern, Rewriter, apply_patterns
from gecc.target import Target, host, load

CHANNELS_LAST = LayoutAttr("NHWC")


def _copy(label: str, value: SSAValue, result: TensorType) -> fused.GenericOp:
    """An operation that copies `value` element by element, into another layout or with broadcasting."""

    def body(b: Body, indices: Sequence[SSAValue], tensors: Sequence[SSAValue]) -> SSAValue:
        return fused.broadcast_load(b, tensors[0], indices)

    return fused.generic(label, result, [value], body)


class ChannelsLast(Pattern):
    """A convolution whose tensors are not channels-last gets them converted before and after."""

    ops: ClassVar = (fused.ConvOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.ConvOp)
        if isinstance(op.x.type, TensorType) and op.x.type.encoding != CHANNELS_LAST:
            copy = _copy("TransData", op.x, _with_layout(op.x.type))
            rw.insert_before(op, copy)
            region = op.detach_region(op.epilogue)
            argument = region.block.args[len(region.block.args) - len(op.operands)]
            rw.replace_value_with_new_type(argument, copy.result.type)
            new = fused.ConvOp.create(
                operands=[copy.result, *op.operands[1:]],
                result_types=op.result_types,
                properties=dict(op.properties),
                regions=[region],
            )
            rw.replace(op, new)
        elif op.result_type.encoding != CHANNELS_LAST:
            new = fused.ConvOp.create(
                operands=list(op.operands),
                result_types=[_with_layout(op.result_type)],
                properties=dict(op.properties),
                regions=[op.detach_region(op.epilogue)],
            )
            rw.replace(op, [new, _copy("TransData", new.result, op.result_type)])


def _with_layout(type_: TensorType) -> TensorType:
    return TensorType(type_.get_element_type(), type_.get_shape(), CHANNELS_LAST)


class EqualBatches(Pattern):
    """The sides of a batched product are broadcast to the result's batch dimensions."""

    ops: ClassVar = (fused.MatmulOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.MatmulOp)
        batch = op.result_type.get_shape()[:-2]
        tail = 3 if op.packed is not None else 2
        a, b = fused.shape_of(op.a), fused.shape_of(op.b)
        for position, value, shape, own in ((0, op.a, a, a[:-2]), (1, op.b, b, b[:-tail])):
            if own == batch or (position == 1 and not own):
                continue
            if position == 0 and not batch:
                continue
            wide = TensorType(fused.element_of(value), [*batch, *shape[len(own) :]])
            copy = _copy("Expand", value, wide)
            rw.insert_before(op, copy)
            region = op.detach_region(op.epilogue)
            argument = region.block.args[len(region.block.args) - len(op.operands) + position]
            rw.replace_value_with_new_type(argument, wide)
            operands = list(op.operands)
            operands[position] = copy.result
            new = fused.MatmulOp.create(
                operands=operands, result_types=op.result_types, properties=dict(op.properties), regions=[region]
            )
            rw.replace(op, new)
            return


def _nothing(op: fused.FusedOp) -> Lowered:
    """The kernel of a result without elements."""
    inputs = [value.type for value in op.operands if isinstance(value.type, TensorType)]
    label = op.label.data
    kernel = KernelWriter(inputs, [op.result_type]).finish(label)
    return Lowered(kernel, list(op.operands), op.result_type, params=[], blocks=0, scratch=0, label=label, inplace=[])


class LaunchKernel(Pattern):
    """One fused operation becomes one kernel and one launch of it."""

    ops: ClassVar = (fused.GenericOp, fused.MatmulOp, fused.ConvOp, fused.SoftmaxOp, fused.NormOp)

    def __init__(self, module: ModuleOp, target: Target) -> None:
        self.module = module
        self.target = target
        self.names: dict[str, int] = {}

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.FusedOp)
        match op:
            case _ if 0 in op.result_type.get_shape():
                lowered = _nothing(op)
            case fused.GenericOp():
                lowered = lower_generic(op)
            case fused.ConvOp() if is_depthwise(op):
                lowered = lower_depthwise(op, self.target)
            case fused.MatmulOp() | fused.ConvOp():
                lowered = lower_product(op, self.target)
            case fused.SoftmaxOp():
                lowered = lower_softmax(op)
            case fused.NormOp():
                lowered = lower_norm(op)
            case _:
                raise AssertionError(op.name)
        name = self.unique(lowered.kernel.sym_name.data)
        lowered.kernel.properties["sym_name"] = StringAttr(name)
        self.add_kernel(lowered)
        launch = tile.LaunchOp(
            name,
            lowered.label,
            lowered.inputs,
            [lowered.result],
            params=lowered.params,
            blocks=lowered.blocks,
            scratch=lowered.scratch,
            inplace=lowered.inplace,
        )
        rw.replace(op, launch)

    def unique(self, name: str) -> str:
        """`name`, with a number when it is taken."""
        clean = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        count = self.names.get(clean, 0)
        self.names[clean] = count + 1
        return clean if count == 0 else f"{clean}_{count}"

    def add_kernel(self, lowered: Lowered) -> None:
        """Kernels stand before the graph, in the order of their launches."""
        block = self.module.body.block
        main = next(op for op in block.ops if isinstance(op, func.FuncOp))
        block.insert_op_before(lowered.kernel, main)


class Constant(Pattern):
    """fused.const becomes tile.weight."""

    ops: ClassVar = (fused.ConstOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.ConstOp)
        weight = tile.WeightOp(op.value, op.result.type)
        weight.attributes |= op.attributes
        rw.replace(op, weight)


class View(Pattern):
    """fused.view becomes tile.view."""

    ops: ClassVar = (fused.ViewOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.ViewOp)
        rw.replace(op, tile.ViewOp(op.operands[0], op.results[0].type))


class HostCall(Pattern):
    """fused.host becomes tile.host."""

    ops: ClassVar = (fused.HostOp,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, fused.HostOp)
        call = tile.HostOp(
            op.op_type.data,
            op.domain.data,
            op.opset.value.data,
            op.program,
            list(op.inputs),
            [r.type for r in op.results_],
            attributes=dict(op.attributes),
        )
        rw.replace(op, call)


class Control(Pattern):
    """Branches and loops stay, around launches."""

    ops: ClassVar = (fused.IfOp, fused.WhileOp)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        kinds = list(op.result_types)
        for region in op.regions:
            last = region.block.last_op
            assert last is not None
            end = tile.YieldOp(*last.operands)
            end.location = op.location
            region.block.erase_op(last)
            region.block.add_op(end)
        match op:
            case fused.IfOp():
                else_body, then_body = op.detach_region(op.else_body), op.detach_region(op.then_body)
                rw.replace(op, tile.IfOp(op.condition, kinds, then_body, else_body))
            case fused.WhileOp():
                rw.replace(op, tile.WhileOp(op.condition, op.inits, kinds, op.detach_region(op.body)))
            case _:
                raise AssertionError(op.name)


@dataclass(frozen=True)
class ToTile(ModulePass):
    """Turn every fused operation into a `tile.kernel` and a `tile.launch`.

    ```mlir
    %y = fused.generic "Relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> body(...) {...}
    ```
    becomes
    ```mlir
    tile.kernel @Relu(%0: memref<?xf32>, %1: memref<?xf32>, %extent: index, %chunk: index, %block: index) {
      ...
      tile.lanes %i = %first to %last { ... }
    }
    %y = tile.launch @Relu "Relu" ins(%x : tensor<4x8xf32>) params [32, 64] blocks 1 ... -> tensor<4x8xf32>
    ```

    Needs: products with a tiling and a packed right side (fused-choose-tilings, fused-pack-weights).
    """

    name = "fused-to-tile"
    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = host() if self.target == "host" else load(self.target)
        apply_patterns(op, [ChannelsLast(), EqualBatches(), WidenIntegers()], ctx=ctx)
        apply_patterns(op, [RangeJoin()], ctx=ctx)
        apply_patterns(op, [RangeCopy()], ctx=ctx)
        apply_patterns(op, [LaunchKernel(op, target), Constant(), View(), HostCall(), Control()], ctx=ctx)
