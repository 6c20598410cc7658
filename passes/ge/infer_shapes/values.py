"""Known elements of small tensors, and sizes of all tensors up to the dynamic dimensions of the inputs.

One forward walk visits each operation after its operands. Elements are object arrays of `Element`; a tensor with a
dynamic shape or too many elements has none. Sizes are tuples of `Integer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import ge
from gecc.passes.ge.infer_shapes.elements import BINARY, NEVER_NEGATIVE, Element, Unknown, is_integer, is_number
from gecc.passes.ge.infer_shapes.moves import moved
from gecc.passes.ge.infer_shapes.polynomial import Atom, Integer, Polynomial, lower_bound, polynomial, variable
from gecc.passes.ge.infer_shapes.sizes import Sizes, sizes_of
from gecc.weights import WeightStore, numpy_dtype

if TYPE_CHECKING:
    import numpy as np

    Elements = np.ndarray[Any, np.dtype[Any]]

INTEGER_LIMIT = 4096
"""Integer and boolean tensors of more elements are data, not shapes."""

FLOAT_LIMIT = 64
"""Floating-point tensors of more elements are data; smaller ones may be scales of a Resize."""


class Values:
    """What the walk has found so far."""

    def __init__(self, store: WeightStore, arguments: Sequence[SSAValue], dim_names: Sequence[Sequence[str]]) -> None:
        self.store = store
        self._elements: dict[SSAValue, Elements] = {}
        self._sizes: dict[SSAValue, tuple[Integer, ...]] = {}
        self._origin: dict[SSAValue, SSAValue] = {}
        self._named: dict[str, Integer] = {}
        self._opaque: dict[tuple[object, ...], Polynomial] = {}
        self._serial = 0
        for index, arg in enumerate(arguments):
            if ge.is_object(arg):
                continue
            names = dim_names[index] if index < len(dim_names) else ()
            self._sizes[arg] = tuple(
                self._input_dim(names[i] if i < len(names) else "", f"arg{index}.{i}") if extent < 0 else extent
                for i, extent in enumerate(ge.dims(arg))
            )

    def atom(self, name: str, nonnegative: bool) -> Polynomial:
        """A number of which nothing else is known."""
        self._serial += 1
        return variable(Atom(self._serial, name, nonnegative))

    def _input_dim(self, name: str, place: str) -> Integer:
        """The size of a dynamic input dimension: equal for equal names."""
        if not name or name == "?" or name.lstrip("-").isdigit():
            return self.atom(place, True)
        if name not in self._named:
            self._named[name] = self.atom(name, True)
        return self._named[name]

    def sizes(self, value: SSAValue) -> tuple[Integer, ...]:
        """The sizes of a tensor; every dimension has one, if need be an atom of its own."""
        return self._sizes[value]

    def origin(self, value: SSAValue) -> SSAValue:
        """Where the data in `value` comes in: an input of the graph, or a result that nothing is known of."""
        return self._origin.get(value, value)

    def elements(self, value: SSAValue) -> Elements | None:
        """The elements of a small tensor of static shape, else None."""
        known = self._elements.get(value)
        if known is None and self._is_small(value):
            known = _filled(ge.dims(value), Unknown(self.origin(value)))
        return known

    def numbers(self, value: SSAValue) -> np.ndarray | None:
        """The elements of a small tensor as an array of its dtype when all are numbers, else None."""
        elements = self.elements(value)
        if elements is None or not all(is_number(x) for x in elements.flat):
            return None
        return elements.astype(numpy_dtype(ge.elem(value)))

    def enter(self, arg: SSAValue, sizes: Sequence[Integer | None]) -> None:
        """Note the sizes of an argument of a region, where its type does not say them."""
        known = zip(ge.dims(arg), sizes, strict=True)
        self._sizes[arg] = tuple(
            extent if extent >= 0 else self._tidy(size, arg, i) for i, (extent, size) in enumerate(known)
        )

    def visit(self, op: Operation) -> None:
        """Find what is known of the results of `op`, whose result types are inferred already."""
        shapes = [ge.dims(result) for result in op.results]
        known = all(-1 not in shape for shape in shapes)
        rules: Sequence[Sizes] = [None] * len(shapes) if known else sizes_of(op, self)
        for result, shape, sizes in zip(op.results, shapes, rules, strict=True):
            self._sizes[result] = tuple(
                extent if extent >= 0 else self._tidy(sizes[i] if sizes else None, result, i)
                for i, extent in enumerate(shape)
            )
        source = next((self.origin(x) for x in op.operands if not isinstance(x.owner, ge.Const)), None)
        for result in op.results:
            if source is not None:
                self._origin[result] = source
        for result, elements in zip(op.results, self._evaluate(op), strict=True):
            if elements is not None and self._is_small(result):
                self._elements[result] = elements

    def visit_unknown(self, op: Operation) -> None:
        """Note the results of an operation that is no ge operator; its tensors have static shapes."""
        for result in op.results:
            if not ge.is_object(result):
                self._sizes[result] = ge.dims(result)

    def _tidy(self, size: Integer | None, result: SSAValue, index: int) -> Integer:
        if size is not None and (isinstance(size, Polynomial) or size >= 0):
            return size
        return self.atom(f"{result.name_hint or 'v'}.{index}", True)

    def _is_small(self, value: SSAValue) -> bool:
        extents = ge.dims(value)
        if -1 in extents:
            return False
        return math.prod(extents) <= (INTEGER_LIMIT if isinstance(ge.elem(value), IntegerType) else FLOAT_LIMIT)

    # -- elements -------------------------------------------------------------------------------------------------

    def _evaluate(self, op: Operation) -> Sequence[Elements | None]:
        nothing = [None] * len(op.results)
        if isinstance(op, ge.Control) or not any(self._is_small(result) for result in op.results):
            return nothing
        if isinstance(op, ge.Const):
            return [_objects(self.store.array(op.value))]
        if isinstance(op, ge.Shape):
            start = None if op.start is None else op.start.value.data
            end = None if op.end is None else op.end.value.data
            return [_array(self.sizes(op.x)[start:end])]
        if isinstance(op, ge.Size):
            return [_array([_product(self.sizes(op.x))]).reshape(())]
        inputs = [self.elements(operand) for operand in op.operands]
        known = [array for array in inputs if array is not None]
        if len(known) != len(inputs):
            return nothing
        if all(is_number(x) for array in known for x in array.flat):
            from gecc.passes.ge._evaluate import can_evaluate, evaluate

            if not can_evaluate(op):
                return nothing
            arrays = [a.astype(numpy_dtype(ge.elem(v))) for a, v in zip(known, op.operands, strict=True)]
            return [_objects(array) for array in evaluate(op, arrays, self.store)]
        if (result := moved(op, known)) is not None:
            return result
        if isinstance(op, ge.Cast) and isinstance(ge.elem(op.x), IntegerType) and _is_wide(ge.elem(op.result)):
            return [known[0]]
        if isinstance(op, ge.Select):
            return [self._pairwise(lambda c, x, y: self._select(op, c, x, y), op, known)]
        if isinstance(op, ge.Neg):
            return [self._pairwise(lambda x: self._binary(ge.Mul, x, -1), op, known)]
        if isinstance(op, ge.Binary):
            return [self._pairwise(lambda x, y: self._binary(type(op), x, y), op, known)]
        if isinstance(op, ge.Unary | ge.Cast):
            return [self._pairwise(lambda x: self._opaque_of(op.name, x), op, known)]
        if isinstance(op, ge.ReduceProd | ge.ReduceSum | ge.ReduceMax | ge.ReduceMin):
            return [self._reduce(op, known[0])]
        return [self._anything(result, known) for result in op.results]

    def _pairwise(self, function: Callable[..., Element], op: Operation, inputs: Sequence[Elements]) -> Elements:
        import numpy as np

        made = np.frompyfunc(function, len(inputs), 1)(*inputs)
        return np.asarray(made, dtype=object).reshape(ge.dims(op.results[0]))

    def _binary(self, kind: type[Operation], x: Element, y: Element) -> Element:
        for operand in (x, y):
            if isinstance(operand, Unknown):
                # a product with zero is known without the other factor
                return 0 if kind is ge.Mul and 0 in (x, y) else operand
        if is_integer(x) and is_integer(y) and (rule := BINARY.get(kind)) is not None:
            made = rule(cast(Integer, x), cast(Integer, y))
            if made is not None:
                return made
        positive = kind in NEVER_NEGATIVE and _not_negative(x) and _not_negative(y)
        return self._opaque_of(kind.name, x, y, nonnegative=positive)

    def _select(self, op: ge.Select, condition: Element, x: Element, y: Element) -> Element:
        if is_number(condition):
            return x if condition else y
        if x == y:
            return x
        for operand in (condition, x, y):
            if isinstance(operand, Unknown):
                return operand
        return self._opaque_of(op.name, condition, x, y, nonnegative=_not_negative(x) and _not_negative(y))

    def _opaque_of(self, name: str, *inputs: Element, nonnegative: bool = False) -> Element:
        """An atom for an expression that polynomials cannot say: the same one for the same expression."""
        for operand in inputs:
            if isinstance(operand, Unknown):
                return operand
        key = (name, *((type(x).__name__, x) for x in inputs))
        if key not in self._opaque:
            text = ", ".join(str(x) for x in inputs)
            self._opaque[key] = self.atom(f"{name.removeprefix('ge.')}({text})", nonnegative)
        return self._opaque[key]

    def _reduce(self, op: ge.Reduce, x: Elements) -> Elements:
        import numpy as np

        kinds = {ge.ReduceProd: ge.Mul, ge.ReduceSum: ge.Add, ge.ReduceMax: ge.Maximum, ge.ReduceMin: ge.Minimum}
        kind = next(binary for reduce, binary in kinds.items() if isinstance(op, reduce))
        combine = np.frompyfunc(lambda a, b: self._binary(kind, a, b), 2, 1)
        for axis in sorted(ge.normal_axes(op.axes.get_values(), x.ndim)):
            if x.shape[axis] == 0:
                return self._anything(op.results[0], [x])
            x = np.asarray(combine.reduce(x, axis=axis, keepdims=True), dtype=object)
        return x.reshape(ge.dims(op.results[0]))

    def _anything(self, result: SSAValue, inputs: Sequence[Elements]) -> Elements:
        """Elements of which only this is known: fixed by the dynamic sizes, unless an input is not."""
        for array in inputs:
            for x in array.flat:
                if isinstance(x, Unknown):
                    return _filled(ge.dims(result), x)
        made = _filled(ge.dims(result), 0)
        for index in range(made.size):
            made.flat[index] = self.atom(f"{result.name_hint or 'v'}[{index}]", False)
        return made


def _is_wide(element: Attribute) -> bool:
    """Whether every size that a tensor can have fits the element type."""
    return isinstance(element, IntegerType) and element.width.data >= 32


def _not_negative(x: Element) -> bool:
    if isinstance(x, Polynomial):
        bound = lower_bound(x)
        return bound is not None and bound >= 0
    return isinstance(x, int) and x >= 0


def _product(sizes: Sequence[Integer]) -> Integer:
    from gecc.passes.ge.infer_shapes.polynomial import multiply

    result: Integer = polynomial({(): 1})
    for size in sizes:
        result = multiply(result, size)
    return result


def _filled(shape: Sequence[int], value: Element) -> Elements:
    import numpy as np

    array = np.empty(tuple(shape), dtype=object)
    for index in range(array.size):
        array.flat[index] = value
    return array


def _array(values: Sequence[Element]) -> Elements:
    array = _filled((len(values),), 0)
    for index, value in enumerate(values):
        array[index] = value
    return array


def _objects(array: np.ndarray) -> Elements:
    """An array of numbers as Python numbers."""
    if array.dtype.kind not in "biuf":  # bfloat16
        import numpy as np

        array = array.astype(np.float64)
    return array.astype(object)
