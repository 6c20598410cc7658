"""Running a module in numpy: one function per operation, on `xdsl.interpreter`.

Values are numpy arrays in logical shape, whatever the layout of their type. A function that gives an operation its
meaning is entered in a table with `@meaning(Op)`; it gets its operands as declared (an absent optional one is None, a
variadic one is a tuple) and returns one array, or a tuple of them. What it returns is converted to the declared
element type and checked against the declared shape, so that a wrong inference cannot pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, Float32Type, ModuleOp, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues, impl, register_impls
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, VarOperandDef

from gecc.dialects.ge.objects import ObjectType
from gecc.errors import InputError, InvalidModelError
from gecc.gear_module import gear_functions, input_names, output_names
from gecc.rewrite import location_names
from gecc.weights import WeightAttr, WeightStore, element_type, numpy_dtype

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_OpT = TypeVar("_OpT", bound=Operation)

MEANINGS: dict[type[Operation], Callable[..., Any]] = {}
"""Operation class -> function (env, op, *operands) -> array or tuple of arrays."""


def meaning(op: type[_OpT]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: enter the numpy meaning of an operation class."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        if op in MEANINGS:
            raise ValueError(f"{op.name} already has a meaning")
        MEANINGS[op] = function
        return function

    return enter


@dataclass(frozen=True)
class Env:
    """What operations need besides their operands."""

    store: WeightStore = field(default_factory=WeightStore)
    compute_dtype: np.dtype[Any] | None = None
    """The dtype that stands for f32 throughout; None is f32 itself."""

    def dtype(self, element: Attribute) -> np.dtype[Any]:
        """The numpy dtype that holds values of an element type."""
        if self.compute_dtype is not None and isinstance(element, Float32Type):
            return self.compute_dtype
        return numpy_dtype(element)

    def constant(self, value: DenseIntOrFPElementsAttr[Any] | WeightAttr) -> Array:
        """The elements of a dense attribute or a weight, in logical shape."""
        array = self.store.array(value)
        return array.astype(self.dtype(element_type(array.dtype)), copy=False)


def wide(x: Array) -> Array:
    """16-bit floats as f32, in which their arithmetic is done; other arrays as they are."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def mean(x: Array, axis: tuple[int, ...], *, keepdims: bool) -> Array:
    """The mean of floats; of nothing it is NaN, as numpy's is, but not worth a warning."""
    total = x.sum(axis, keepdims=keepdims)
    return total / total.dtype.type(math.prod(x.shape[a] for a in axis))


def node(op: Operation) -> str:
    """An operation for messages: its name and the ONNX nodes it comes from."""
    names = location_names(op)
    return f"{op.name} ({', '.join(names)})" if names else op.name


def run_module(
    module: ModuleOp,
    inputs: Mapping[str, Array] | Sequence[Array],
    *,
    store: WeightStore | None = None,
    compute_dtype: Any = None,
    function: str | None = None,
    listeners: Iterable[Interpreter.Listener] = (),
) -> dict[str, Array]:
    """Run a function of `module` and return its results by output name: `@main`, or the gear that fits the inputs.

    `inputs` are by input name (`ge.input_names`, else arg0, arg1, ..), or in order. With `compute_dtype` float64, all
    f32 inputs, constants and results are float64: the yardstick of numerical tests. Raises InputError when an input is
    missing, unknown, or of another dtype or shape.
    """
    dtype = None if compute_dtype is None else np.dtype(compute_dtype)
    env = Env(WeightStore() if store is None else store, dtype)
    interpreter = make_interpreter(module, env, listeners=listeners)
    name = function or _fitting(module, inputs)
    main = interpreter.get_op_for_symbol(name)
    if not isinstance(main, func.FuncOp):
        raise InvalidModelError(f"@{name} is {main.name}, expected a func.func")
    arguments = _arguments(main, inputs, env)
    with np.errstate(all="ignore"):
        results = interpreter.call_op(main, arguments)
    return dict(zip(output_names(main), results, strict=True))


def _fitting(module: ModuleOp, inputs: Mapping[str, Any] | Sequence[Any]) -> str:
    """The name of the function to run. Raises InputError for inputs that fit none of the gears."""
    gears = gear_functions(module)
    for gear in gears:
        names = input_names(gear)
        given = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=False))
        if all(
            name in given and fits(np.shape(given[name]), arg.type)
            for name, arg in zip(names, gear.args, strict=True)
            if isinstance(arg.type, TensorType)
        ):
            return gear.sym_name.data
    if gears:
        raise InputError(f"the inputs fit none of the {len(gears)} gears")
    return "main"


def make_interpreter(module: ModuleOp, env: Env, *, listeners: Iterable[Interpreter.Listener] = ()) -> Interpreter:
    """An interpreter that knows func and the dialects of gecc that `module` uses."""
    interpreter = _FreeingInterpreter(module, listeners=tuple(listeners))
    interpreter.register_implementations(FuncFunctions())
    for dialect in sorted({op.dialect_name() for op in module.walk()}):
        if find_spec(f"gecc.interp.{dialect}") is not None:
            import_module(f"gecc.interp.{dialect}")
    from gecc.interp.control import control_functions

    interpreter.register_implementations(_functions(env))
    interpreter.register_implementations(control_functions(env))
    return interpreter


class _FreeingInterpreter(Interpreter):
    """An interpreter that forgets a value of a function after its last use, as a large model needs."""

    _dead: dict[Operation, list[SSAValue]] | None = None

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        result = super()._run_op(op, inputs)
        if self._dead is None:
            self._dead = _last_uses(self.module)
        for value in self._dead.get(op, ()):
            self._ctx._local_scope.pop(value, None)
        return result


def _last_uses(module: ModuleOp) -> dict[Operation, list[SSAValue]]:
    """For each operation of a function's block, the values of that block that it is the last to use."""
    dead: dict[Operation, list[SSAValue]] = {}
    for function in module.walk():
        if not isinstance(function, func.FuncOp) or function.body.first_block is None:
            continue
        block = function.body.first_block
        last: dict[SSAValue, Operation] = {}
        for op in block.ops:
            for inner in op.walk():
                last.update((value, op) for value in inner.operands if _block_of(value) is block)
        for value, op in last.items():
            dead.setdefault(op, []).append(value)
    return dead


def _block_of(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _functions(env: Env) -> InterpreterFunctions:
    """All entered meanings as the form that xDSL's interpreter registers."""

    def method(op_class: type[Operation], function: Callable[..., Any]) -> Any:
        def run(
            self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
        ) -> PythonValues:
            return finish(env, op, function(env, op, *operand_values(op, args)))

        return impl(op_class)(run)

    methods = {f"run_{i}": method(*entry) for i, entry in enumerate(MEANINGS.items())}
    return cast(InterpreterFunctions, register_impls(type("GeccFunctions", (InterpreterFunctions,), methods))())


def operand_values(op: Operation, args: PythonValues) -> Sequence[Any]:
    """Operand values as the operation declares them."""
    if not isinstance(op, IRDLOperation):
        return args
    slots: list[Any] = []
    rest = iter(args)
    for name, definition in op.get_irdl_definition().operands:
        if isinstance(definition, OptOperandDef):
            slots.append(None if getattr(op, name) is None else next(rest))
        elif isinstance(definition, VarOperandDef):
            slots.append(tuple(next(rest) for _ in getattr(op, name)))
        else:
            slots.append(next(rest))
    return slots


def finish(env: Env, op: Operation, values: Any) -> PythonValues:
    """Results in their declared element types; raises InvalidModelError when a shape is not the declared one."""
    results = values if isinstance(values, tuple) else (values,)
    finished: list[Any] = []
    for result, value in zip(op.results, results, strict=True):
        if isinstance(result.type, TensorType):
            value = np.asarray(value)
            if not fits(value.shape, result.type):
                raise InvalidModelError(
                    f"computed shape {list(value.shape)}, but the type says {result.type}", where=node(op)
                )
            value = value.astype(env.dtype(result.type.element_type), copy=False)
        finished.append(value)
    return tuple(finished)


def fits(shape: Sequence[int], type: TensorType[Any]) -> bool:
    """Whether an array of `shape` is a value of `type`; an unknown dimension fits any."""
    declared = type.get_shape()
    return len(shape) == len(declared) and all(d < 0 or d == s for d, s in zip(declared, shape, strict=True))


def _arguments(main: func.FuncOp, inputs: Mapping[str, Any] | Sequence[Any], env: Env) -> tuple[Any, ...]:
    names = input_names(main)
    if not isinstance(inputs, Mapping):
        if len(inputs) != len(names):
            raise InputError(f"{len(inputs)} inputs given, expected {len(names)}: {', '.join(names)}")
        inputs = dict(zip(names, inputs, strict=True))
    missing = [n for n in names if n not in inputs]
    unknown = [n for n in inputs if n not in names]
    if missing or unknown:
        raise InputError(f"inputs missing: {missing}, unknown: {unknown}; expected {names}")
    return tuple(_argument(n, inputs[n], arg, env) for n, arg in zip(names, main.args, strict=True))


def _argument(name: str, array: Any, arg: SSAValue, env: Env) -> Any:
    if isinstance(arg.type, ObjectType):
        return array
    if not isinstance(arg.type, TensorType):
        raise InvalidModelError(f"input '{name}' has type {arg.type}, expected a tensor")
    array = np.asarray(array)
    wanted = env.dtype(arg.type.element_type)
    if array.dtype not in (wanted, numpy_dtype(arg.type.element_type)) or not fits(array.shape, arg.type):
        raise InputError(f"input '{name}' is {array.dtype}{list(array.shape)}, expected {arg.type}")
    return array.astype(wanted, copy=False)
