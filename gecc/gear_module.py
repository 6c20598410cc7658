"""Gears: one model for several sizes of its inputs, as a module with a function for each.

```mlir
module attributes {ge.gears = "batch"} {
  func.func @Batch_0(%x: tensor<1x8xf32>) -> tensor<1x4xf32> attributes {ge.input_names = ["x"], ge.output_names = ["y"]} {...}
  func.func @Batch_1(%x: tensor<4x8xf32>) -> tensor<4x4xf32> attributes {ge.input_names = ["x"], ge.output_names = ["y"]} {...}
}
```

The functions are the gears, in their order; their types are the table of sizes, and nothing else says it. One of them runs,
chosen by the shapes of the inputs of a run. They share weights and kernels, and at last one arena, since they never run
together. The attribute says which rule of atc the gears follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from gecc.errors import InvalidModelError
from gecc.om.gears import MAX_GEARS

GEARS = "ge.gears"
"""Module attribute of a model with gears: one of `KINDS`."""

KINDS: dict[str, int] = {"batch": 1, "image": 2, "dims": 3}
"""What differs between gears (the first dimension, height and width, any), and its number in an om."""

PREFIX = "Batch_"
"""What the functions of gears are called, before their number."""

SIGNATURE = "tile.signature"
"""Attribute of a function on memory: its type on tensors, that is the graph's interface."""


def gear_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module's gears, in order; none for a module without."""
    if GEARS not in module.attributes:
        return []
    return [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]


def main_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that a run may start with: `@main`, or the gears."""
    found = gear_functions(module)
    return found or [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"]


def interface(function: FuncOp) -> FunctionType:
    """A function's type on tensors, also where it is on memory already."""
    signature = function.attributes.get(SIGNATURE)
    return signature if isinstance(signature, FunctionType) else function.function_type


def input_names(function: FuncOp) -> list[str]:
    """The names of a function's arguments. Raises InvalidModelError where there are more or fewer."""
    return _names(function, "ge.input_names", "arg", len(function.function_type.inputs))


def output_names(function: FuncOp) -> list[str]:
    """The names of a function's results. Raises InvalidModelError where there are more or fewer."""
    return _names(function, "ge.output_names", "out", len(function.function_type.outputs))


def _names(function: FuncOp, attribute: str, prefix: str, count: int) -> list[str]:
    named = function.attributes.get(attribute)
    if named is None:
        return [f"{prefix}{i}" for i in range(count)]
    if not isinstance(named, ArrayAttr) or len(named) != count:
        raise InvalidModelError(f"{attribute} is {named}, expected {count} names", where=f"@{function.sym_name.data}")
    return [n.data if isinstance(n, StringAttr) else str(n) for n in named]


def shapes_of(types: Sequence[Attribute]) -> tuple[tuple[int, ...], ...]:
    """The shapes of tensors; () for an object, whose shape no gear knows."""
    return tuple(tuple(kind.get_shape()) if isinstance(kind, TensorType) else () for kind in types)


def join(modules: Sequence[ModuleOp], kind: str) -> ModuleOp:
    """The module whose gears are the `@main` of each of `modules`, which are used up; all else is the first one's."""
    first = modules[0]
    for number, module in enumerate(modules):
        (function,) = main_functions(module)
        function.properties["sym_name"] = StringAttr(f"{PREFIX}{number}")
        if module is not first:
            function.detach()
            first.body.block.add_op(function)
    first.attributes[GEARS] = StringAttr(kind)
    return first


def check_gears(module: ModuleOp) -> None:
    """Check that the functions of a module with gears are gears of one model, which shapes tell apart.

    Raises VerifyException.
    """
    if GEARS not in module.attributes:
        return
    for problem in gear_problems(module):
        raise VerifyException(f"{GEARS}: {problem}")


def gear_problems(module: ModuleOp) -> Iterator[str]:
    """What is wrong with the gears of a module that has the attribute."""
    kind = module.attributes[GEARS]
    if not isinstance(kind, StringAttr) or kind.data not in KINDS:
        yield f"is {kind}, expected one of {', '.join(KINDS)}"
    functions = gear_functions(module)
    if not functions and any(op.name == "om.model" for op in module.ops):
        return  # the om says it
    if not 2 <= len(functions) <= MAX_GEARS:
        yield f"there are {len(functions)} gears, expected 2 to {MAX_GEARS} functions"
        return
    for one, two in pairwise(functions):
        names = f"@{one.sym_name.data} and @{two.sym_name.data}"
        a, b = interface(one), interface(two)
        for what, left, right in (("inputs", a.inputs, b.inputs), ("outputs", a.outputs, b.outputs)):
            if [_kind(t) for t in left] != [_kind(t) for t in right]:
                found = f"{', '.join(map(str, left)) or 'none'} and {', '.join(map(str, right)) or 'none'}"
                yield f"the {what} of {names} are {found}, expected the same but for sizes"
        for key in ("ge.input_names", "ge.output_names", "ge.input_types", "ge.output_types"):
            if one.attributes.get(key) != two.attributes.get(key):
                yield f"{key} of {names} differ, expected the same in every gear"
    seen: dict[tuple[tuple[int, ...], ...], str] = {}
    for function in functions:
        name, shapes = function.sym_name.data, shapes_of(interface(function).inputs.data)
        if (other := seen.setdefault(shapes, name)) != name:
            yield f"@{other} and @{name} take inputs of the same shapes, so that none could tell which to run"


def _kind(type: Attribute) -> tuple[object, ...]:
    """What all gears have in common: a type but for its sizes."""
    return (type.element_type, type.get_num_dims(), type.encoding) if isinstance(type, TensorType) else (type,)
