"""ge-infer-shapes: types from operands, shape arithmetic folded, forms with shape operands made static."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.errors import ShapeError
from gecc.passes.ge.infer_shapes.control import infer_control
from gecc.passes.ge.infer_shapes.elements import Unknown
from gecc.passes.ge.infer_shapes.sizes import Sizes, sizes_of
from gecc.passes.ge.infer_shapes.static import FORMS, shape_operands, static_form
from gecc.passes.ge.infer_shapes.values import Values
from gecc.rewrite import location_names
from gecc.weights import store_of


class DataDependentShape(ShapeError):
    """A shape depends on values that are known at run time only."""


@dataclass(frozen=True)
class InferShapes(ModulePass):
    """Recompute every type from the operands, and fold everything that is computed from shapes.

    ```mlir
    %s = ge.Shape(%x) : (tensor<2x3x4xf32>) -> tensor<3xi64>
    %n = ge.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
    %t = ge.Concat(%n, %rest) axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %y = ge.DynReshape(%x, %t) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    // becomes
    %y = ge.Reshape(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```

    The elements of small tensors are followed as numbers, or as polynomials over the dynamic dimensions of the inputs
    (equal names in `ge.input_dims` are equal sizes), so part of a shape may be known. With static inputs nothing
    dynamic is left. An operand that a shape is read from and that depends on data is a `ShapeError` which names the
    ONNX node, the operand and where the data comes in. Dead operations are removed. A branch whose condition is known
    is replaced by what it does.
    """

    name = "ge-infer-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    infer_operations(list(block.ops), Values(store_of(ctx), block.args, dim_names(function)))
                    _remove_dead(block)
                    _update_type(function, block)


def dim_names(function: FuncOp) -> Sequence[Sequence[str]]:
    """The names of input dimensions, per input; empty when the function does not give them."""
    attr = function.attributes.get("ge.input_dims")
    if not isinstance(attr, ArrayAttr):
        return ()
    return [
        [name.data if isinstance(name, StringAttr) else "" for name in names] if isinstance(names, ArrayAttr) else []
        for names in attr
    ]


def infer_operations(
    ops: Sequence[Operation], values: Values, replaced: dict[SSAValue, SSAValue] | None = None
) -> None:
    """Infer types of `ops`, which stand in one block in this order, and make static what can be.

    `values` knows what stands before them, and learns; `replaced` is told what took the place of each result. Raises
    ShapeError for shapes that contradict each other, DataDependentShape for one that does not follow from shapes.
    """
    replaced = {} if replaced is None else replaced
    for op in ops:
        if isinstance(op, ge.HostOp):
            values.visit_unknown(op)
        if not isinstance(op, ge.GeOp):
            continue
        if isinstance(op, ge.Control):
            infer_control(op, values, lambda b, v: infer_operations(list(b.ops), v, replaced), _infer_types, replaced)
            continue
        _infer_types(op, values)
        final: Operation = op
        if isinstance(op, FORMS):
            new_ops = static_form(op, values)
            if new_ops is None:
                _check_known(op, values)
            else:
                replaced.update(_replace(op, new_ops))
                for new in new_ops[:-1]:
                    values.visit(new)
                final = new_ops[-1]
        values.visit(final)
        if not isinstance(final, ge.Const) and len(final.results) == 1:
            array = values.numbers(final.results[0])
            if array is not None:
                const = ge.Const(values.store.attr_for(array))
                replaced.update(_replace(final, [const]))
                values.visit(const)


def _infer_types(op: ge.GeOp, values: Values) -> None:
    """Give `op` the result types that follow from its operands."""
    try:
        inferred = op.infer()
    except VerifyException as error:
        raise ShapeError(f"{op.name}: {error}", where=_place(op)) from error
    known = all(kind.has_static_shape() for kind in inferred)
    rules: Sequence[Sizes] = [None] * len(inferred) if known else sizes_of(op, values)
    for result, kind, sizes in zip(op.results, inferred, rules, strict=True):
        if known and result.type == kind:
            continue
        if (problem := ge.mismatch(result.type, kind)) is not None:
            raise ShapeError(
                f"{op.name}: the result is declared {result.type}, but {kind} follows from the operands: {problem}",
                where=_place(op),
                hint="a shape stated in the model is wrong, or the model was made for another input shape",
            )
        declared = ge.dims(result)
        shape = list(kind.get_shape())
        for i, extent in enumerate(shape):
            size = sizes[i] if sizes else None
            if extent < 0 and isinstance(size, int) and size >= 0:
                shape[i] = size
            elif extent < 0:
                shape[i] = declared[i]
        result._type = ge.like(kind, shape)


def _replace(op: Operation, new_ops: Sequence[Operation]) -> dict[SSAValue, SSAValue]:
    """Put `new_ops` in the place of `op`; returns old and new results."""
    pairs: dict[SSAValue, SSAValue] = dict(zip(op.results, new_ops[-1].results, strict=True))
    for new in new_ops:
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))
    for old, new in zip(op.results, new_ops[-1].results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    Rewriter.erase_op(op)
    return pairs


def _check_known(op: Operation, values: Values) -> None:
    """Raise when `op` cannot become static, whatever the sizes of the inputs."""
    for name, value in shape_operands(op):
        elements = values.elements(value)
        if elements is None:
            continue
        for index, element in enumerate(elements.flat):
            if isinstance(element, Unknown):
                raise DataDependentShape(
                    f"{op.name}: element {index} of operand '{name}' depends on data, not only on shapes: "
                    f"it is made by {_describe(value)} and goes back to {_describe(element.origin)}",
                    where=_place(op),
                    hint="shapes must follow from the shapes of the inputs and from constants; make the model's "
                    f"'{name}' constant, or replace the node before export",
                )


def _describe(value: SSAValue) -> str:
    """A value in the words of the model."""
    if isinstance(value, BlockArgument):
        function = value.block.parent_op()
        if isinstance(function, ge.While):
            what = f"carried value {value.index - 1}" if value.index else "the number of the iteration"
            return f"{what} of a loop ({_place(function) or 'no ONNX node'})"
        names = function.attributes.get("ge.input_names") if function is not None else None
        if isinstance(names, ArrayAttr) and value.index < len(names.data):
            name = names.data[value.index]
            return f"the values of input {name.data if isinstance(name, StringAttr) else name}"
        return f"the values of input {value.index}"
    assert isinstance(value.owner, Operation)
    return f"{value.owner.name} ({_place(value.owner) or 'no ONNX node'})"


def _place(op: Operation) -> str | None:
    names = location_names(op)
    return f"ONNX node {', '.join(repr(name) for name in names)}" if names else None


def _remove_dead(block: Block) -> None:
    """Erase operations without uses; all ge operators are free of side effects."""
    for op in reversed(list(block.ops)):
        for region in op.regions if isinstance(op, ge.Control) else ():
            _remove_dead(region.block)
        if isinstance(op, ge.GeOp | ge.HostOp) and all(result.first_use is None for result in op.results):
            Rewriter.erase_op(op)


def _update_type(function: FuncOp, block: Block) -> None:
    """Let the type of the function follow its body."""
    if isinstance(end := block.last_op, ReturnOp):
        outputs = [operand.type for operand in end.operands]
        function.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), outputs)
