"""ge-set-io-types: inputs and outputs of other element types than the model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FunctionType, IntegerType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gecc.dialects import ge
from gecc.dialects.ge.types import bf16, elem, f16, f32, f64, i8, i16, i32, i64, like, tensor, ui8, ui16, ui32, ui64
from gecc.errors import CliError
from gecc.gear_module import input_names, main_functions, output_names
from gecc.rewrite import fuse_locations, name_location

ELEMENTS: dict[str, Attribute] = {
    **dict.fromkeys(("fp32", "float32", "float", "f32"), f32),
    **dict.fromkeys(("fp16", "float16", "half", "f16"), f16),
    **dict.fromkeys(("bf16", "bfloat16"), bf16),
    **dict.fromkeys(("fp64", "float64", "double", "f64"), f64),
    **{name: kind for kind in (i8, i16, i32, i64) for name in (f"i{kind.width.data}", f"int{kind.width.data}")},
    **{name: kind for kind in (ui8, ui16, ui32, ui64) for name in (f"ui{kind.width.data}", f"uint{kind.width.data}")},
}
"""Spellings of element types, in lower case."""


@dataclass(frozen=True)
class SetIoTypes(ModulePass):
    """Give inputs and outputs of the function other element types, with a Cast behind or before each.

    With `inputs="x:FP16" outputs="y:UINT8"`:

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = ge.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf16>) -> tensor<4xui8> {
      %x32 = ge.Cast(%x) : (tensor<4xf16>) -> tensor<4xf32>
      %y = ge.Relu(%x32) : (tensor<4xf32>) -> tensor<4xf32>
      %n = ge.Equal(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %s = ge.Select(%n, %y, %0) : ... -> tensor<4xf32>
      %c = ge.ClipByValue(%s, %0, %255) : ... -> tensor<4xf32>
      %y8 = ge.Cast(%c) : (tensor<4xf32>) -> tensor<4xui8>
      func.return %y8 : tensor<4xui8>
    }
    ```

    `inputs` and `outputs` are entries `name:TYPE`; `outputs` may be one TYPE for all of them. Floats become integers
    toward zero; of 8 and 16 bits, they are held within the range first (NaN becomes 0).

    Needs: tensors of numbers. Raises CliError for names that are no inputs or outputs, with near ones, and for types
    that are unknown.
    """

    name = "ge-set-io-types"

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self._set(function)

    def _set(self, function: FuncOp) -> None:
        block = function.body.block
        ret = block.last_op
        assert isinstance(ret, ReturnOp)
        inputs, outputs = input_names(function), output_names(function)
        for place, kind in _wanted(self.inputs, inputs, "input").items():
            _check(function, "input", place, inputs[place], block.args[place])
            _set_input(block.args[place], kind, inputs[place])
        if len(self.outputs) == 1 and ":" not in self.outputs[0]:
            wanted = dict.fromkeys(range(len(outputs)), _known(self.outputs[0], self.outputs[0]))
        else:
            wanted = _wanted(self.outputs, outputs, "output")
        for place, kind in wanted.items():
            _check(function, "output", place, outputs[place], ret.operands[place])
            ret.operands[place] = _converted(ret.operands[place], kind, ret)
        function.function_type = FunctionType.from_lists([a.type for a in block.args], [r.type for r in ret.operands])


def _wanted(entries: Sequence[str], names: Sequence[str], what: str) -> dict[int, Attribute]:
    """Places of inputs or outputs -> element types."""
    found: dict[int, Attribute] = {}
    for entry in entries:
        name, colon, spelled = entry.rpartition(":")
        if not colon or not name:
            raise CliError(f"'{entry}' gives no element type to an {what}", hint=f"expected {names[0]}:FP16")
        if name not in names:
            close = get_close_matches(name, names, n=1)
            raise CliError(
                f"E10016: no {what} is called '{name}'",
                hint=f"did you mean {close[0]}?" if close else f"the {what}s are {', '.join(names)}",
            )
        place = names.index(name)
        if place in found:
            raise CliError(f"{what} '{name}' is given an element type twice")
        found[place] = _known(spelled, entry)
    return found


def _known(spelled: str, entry: str) -> Attribute:
    if (kind := ELEMENTS.get(spelled.strip().lower().removeprefix("dt_"))) is not None:
        return kind
    raise CliError(
        f"E10001: '{spelled}' in '{entry}' is no element type that can be chosen",
        hint="FP32, FP16, BF16, FP64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32 or UINT64",
    )


def _check(function: FuncOp, what: str, place: int, name: str, value: SSAValue) -> None:
    """Raise unless a value is a tensor of numbers that kernels know as such."""
    narrow = function.attributes.get(f"ge.{what}_types")
    called = narrow.data[place] if isinstance(narrow, ArrayAttr) else None
    if isinstance(called, StringAttr) and called.data:
        raise CliError(f"the element type of {what} '{name}', {called.data}, cannot be changed")
    if not isinstance(value.type, TensorType) or value.type.element_type not in ge.ANY:
        raise CliError(f"{what} '{name}' is {value.type}: only tensors of numbers have an element type to choose")


def _set_input(argument: BlockArgument, kind: Attribute, name: str) -> None:
    before = elem(argument)
    if before == kind:
        return
    taken = Rewriter.replace_value_with_new_type(argument, like(tensor(argument), element=kind))
    made = ge.Cast(taken, before)
    made.location = name_location(name)
    Rewriter.insert_op(made, InsertPoint.at_start(argument.block))
    taken.replace_uses_with_if(made.result, lambda use: use.operation is not made)


def _converted(value: SSAValue, kind: Attribute, before: Operation) -> SSAValue:
    """A value in another element type, within the range of a small one."""
    source = elem(value)
    if source == kind:
        return value
    made: list[Operation] = []
    if isinstance(source, AnyFloat) and isinstance(kind, IntegerType) and kind.width.data <= 16:
        import numpy as np

        info = np.iinfo(ge.numpy_dtype(kind))
        bounds = [_within(bound, source) for bound in (info.min, info.max)]
        zero = ge.const(np.array(0).astype(ge.numpy_dtype(source)))
        number = ge.Equal(value, value)
        made += [*bounds, zero, number, ge.Select(number, value, zero)]
        made.append(ge.ClipByValue(made[-1], *bounds))
        value = made[-1].results[0]
    made.append(ge.Cast(value, kind))
    location = fuse_locations([before.location])
    for op in made:
        op.location = location
    Rewriter.insert_op(made, InsertPoint.before(before))
    return made[-1].results[0]


def _within(bound: int, element: Attribute) -> ge.Const:
    """The number of a float type next to `bound` that is not beyond it: f16 has no 32767, and its next, 32768, is."""
    import numpy as np

    with np.errstate(over="ignore"):  # f16 ends before 65535
        number = np.array(bound).astype(ge.numpy_dtype(element))
    if abs(float(number)) > abs(bound):
        number = np.asarray(np.nextafter(number, np.zeros_like(number)))
    return ge.const(number)
