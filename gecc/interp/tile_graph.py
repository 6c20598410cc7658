"""Running a graph of launches, with all intermediates of an allocated module in ONE array of bytes.

Every value is a typed view at its offset, as it will be on the machine, so buffers that wrongly share bytes show as
wrong numbers. To make that certain, bytes that hold nothing alive are kept at 0xFF: NaN as a float, -1 as an integer,
and never zero by luck. What a launch does is not known here: a callable runs its kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from gecc.dialects.ge.attrs import LayoutAttr
from gecc.dialects.ge.objects import ObjectType, is_object
from gecc.dialects.tile import (
    AllocOp,
    GotoOp,
    HostOp,
    IfOp,
    InputOp,
    JoinOp,
    Jump,
    LabelOp,
    LaunchOp,
    OutputOp,
    SlotOp,
    SwitchOp,
    ViewOp,
    WeightOp,
    WhileOp,
    YieldOp,
)
from gecc.errors import InputError, PassError
from gecc.interp.host_call import run_call
from gecc.rewrite import location_names
from gecc.weights import WeightStore
from gecc.weights.dtypes import item_bytes, numpy_dtype

Array: TypeAlias = np.ndarray[Any, Any]
RunKernel: TypeAlias = Callable[[LaunchOp, Sequence[Array], Sequence[Array]], None]
"""Runs all blocks of a launch: reads the inputs (read-only arrays of physical shape), fills the outputs in place."""

POISON = 0xFF
"""What bytes hold that nothing alive occupies."""


def find_graph(module: ModuleOp) -> FuncOp:
    """The function with the graph. Raises PassError when there is not exactly one function with a body."""
    found = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    if len(found) != 1:
        raise PassError(f"expected one function with a body, found {[f.sym_name.data for f in found]}")
    return found[0]


def run_graph(
    function: FuncOp,
    inputs: Sequence[Any],
    run_kernel: RunKernel,
    weights: WeightStore,
    *,
    reverse_phases: bool = False,
) -> list[Any]:
    """The outputs of a function of launches: on tensors, on memory, or on memory with offsets and phases.

    `inputs` have the shapes and dtypes of the graph's inputs; objects are Python objects. With `reverse_phases` the
    launches of a phase run last to
    first, which must not matter. Raises InputError for inputs that do not fit, PassError for IR that is none of the
    three forms or whose buffers do not fit the arena.
    """
    if any(isinstance(op, LaunchOp | HostOp) and op.results_ for op in function.walk()) or function.body.block.args:
        return _run_on_tensors(function, inputs, run_kernel, weights)
    return _GraphMemory(function, inputs, weights).run(run_kernel, reverse_phases)


def _check_inputs(types: Sequence[Attribute], inputs: Sequence[Any]) -> None:
    if len(types) != len(inputs):
        raise InputError(f"found {len(inputs)} inputs, expected {len(types)}")
    for i, (type, array) in enumerate(zip(types, inputs, strict=True)):
        if isinstance(type, ObjectType):
            continue
        shape, dtype = physical_shape(type), _dtype(type)
        if array.shape != shape or array.dtype != dtype:
            raise InputError(f"input {i} is {array.dtype}{list(array.shape)}, expected {dtype}{list(shape)}")


def physical_shape(type: Attribute) -> tuple[int, ...]:
    """The shape of the bytes of a tensor or memref: a layout's order, else row-major."""
    if isinstance(type, MemRefType):
        return tuple(type.get_shape())
    assert isinstance(type, TensorType)
    shape = tuple(type.get_shape())
    return type.encoding.physical(shape) if isinstance(type.encoding, LayoutAttr) else shape


def _dtype(type: Attribute) -> np.dtype[Any]:
    assert isinstance(type, MemRefType | TensorType)
    return numpy_dtype(type.element_type)


def _nbytes(type: Attribute) -> int:
    assert isinstance(type, MemRefType | TensorType)
    return int(np.prod(physical_shape(type), dtype=np.int64)) * item_bytes(type.element_type)


def _typed(data: Array, type: Attribute, *, writeable: bool) -> Array:
    """Bytes as an array of a type, sharing memory."""
    view = data[: _nbytes(type)].view(_dtype(type)).reshape(physical_shape(type))
    if not writeable:
        view = view.view()
        view.flags.writeable = False
    return view


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _constant(op: WeightOp, weights: WeightStore) -> Array:
    """The bytes of a weight in physical order."""
    values = weights.array(op.value)
    type = op.value.type
    if isinstance(type, TensorType) and isinstance(type.encoding, LayoutAttr):
        values = values.transpose(type.encoding.permutation)
    data = _bytes_of(values)
    if data.nbytes != _nbytes(op.result.type):
        raise PassError(f"tile.weight of {data.nbytes} bytes has type {op.result.type}")
    return data


def _run_on_tensors(function: FuncOp, inputs: Sequence[Any], run_kernel: RunKernel, weights: WeightStore) -> list[Any]:
    block = function.body.block
    _check_inputs([arg.type for arg in block.args], inputs)
    data: dict[SSAValue, Any] = {
        arg: array if is_object(arg) else _bytes_of(array).copy() for arg, array in zip(block.args, inputs, strict=True)
    }
    results = _run_block(block, data, run_kernel, weights)
    end = block.last_op
    assert end is not None
    return [
        d if is_object(x) else _typed(d, x.type, writeable=True).copy()
        for d, x in zip(results, end.operands, strict=True)
    ]


def _run_block(block: Block, data: dict[SSAValue, Any], run_kernel: RunKernel, weights: WeightStore) -> list[Any]:
    """Run launches on tensors, branches and loops; the bytes of what the block returns or yields."""
    for op in block.ops:
        match op:
            case WeightOp():
                data[op.result] = _constant(op, weights)
            case ViewOp():
                data[op.result] = data[op.source][op.offset.value.data :]
            case JoinOp():
                data[op.result] = np.concatenate([data[part][: _nbytes(part.type)] for part in op.parts])
            case LaunchOp():
                for result in op.results_:
                    data[result] = np.full(_nbytes(result.type), POISON, np.uint8)
                ins = [_typed(data[x], x.type, writeable=False) for x in op.inputs]
                run_kernel(op, ins, [_typed(data[x], x.type, writeable=True) for x in op.results_])
            case HostOp():
                ins = [data[x] if is_object(x) else _typed(data[x], x.type, writeable=False) for x in op.inputs]
                for result, value in zip(op.results_, run_call(op, ins, weights), strict=True):
                    data[result] = value if is_object(result) else _bytes_of(_fitting(op, value, result.type))
            case IfOp():
                body = op.then_body if data[op.condition][0] else op.else_body
                data.update(zip(op.results, _run_block(body.block, data, run_kernel, weights), strict=True))
            case WhileOp():
                _run_loop(op, data, run_kernel, weights)
            case ReturnOp() | YieldOp():
                return [data[x] for x in op.operands]
            case _:
                raise PassError(
                    f"{op.name} in a graph of launches, expected tile.launch, tile.weight, tile.view or tile.join"
                )
    raise PassError("a graph of launches does not end in func.return or tile.yield")


def _run_loop(op: WhileOp, data: dict[SSAValue, Any], run_kernel: RunKernel, weights: WeightStore) -> None:
    go, carried = bool(data[op.condition][0]), [data[init] for init in op.inits]
    wholes = [np.full(_nbytes(result.type), POISON, np.uint8) for result in op.results[len(carried) :]]
    while go:
        data.update(zip(op.body.block.args, carried, strict=True))
        number = int(carried[0][:8].view(np.int64)[0]) if wholes else 0
        values = _run_block(op.body.block, data, run_kernel, weights)
        go, carried = bool(values[0][0]), values[1 : 1 + len(carried)]
        for whole, row, value in zip(wholes, values[1 + len(carried) :], op.rows, strict=True):
            size = _nbytes(value.type)
            whole[number * size : (number + 1) * size] = row[:size]
    data.update(zip(op.results, [*carried, *wholes], strict=True))


def _fitting(op: HostOp, value: Any, type: Attribute) -> Array:
    """A result of the host as the array that its type says. Raises InputError when it is not."""
    array = np.asarray(value)
    shape, dtype = physical_shape(type), _dtype(type)
    if array.shape != shape or array.dtype != dtype:
        raise InputError(f"{op.spelled} gave {array.dtype}{list(array.shape)}, expected {dtype}{list(shape)}")
    return array


class _GraphMemory:
    """The memory of one run: arena, inputs, outputs, weights, and for each memref its bytes."""

    def __init__(self, function: FuncOp, inputs: Sequence[Any], weights: WeightStore) -> None:
        self.function = function
        self.weights = weights
        self.objects: dict[SSAValue, Any] = {}
        self.spans: dict[AllocOp, tuple[int, int]] = {}
        self.data: dict[SSAValue, Array] = {}
        self.root: dict[SSAValue, SSAValue] = {}
        self.outputs: dict[int, Array] = {}
        self.returned: dict[int, SSAValue] = {}
        """Graph outputs that are objects."""
        ops = list(function.body.block.ops)
        allocs = [op for op in ops if isinstance(op, AllocOp)]
        self.arena = np.full(self._place(allocs), POISON, np.uint8)
        given = sorted((op for op in ops if isinstance(op, InputOp)), key=lambda op: op.index.value.data)
        self._check_interface(given, inputs)
        for op in ops:
            match op:
                case AllocOp():
                    start, end = self.spans[op]
                    self._bind(op.result, self.arena[start:end])
                case InputOp():
                    self._bind(op.result, _bytes_of(inputs[op.index.value.data]))
                case OutputOp():
                    memory = np.full(_nbytes(op.result.type), POISON, np.uint8)
                    self.outputs[op.index.value.data] = _typed(memory, op.result.type, writeable=True)
                    self._bind(op.result, memory)
                case WeightOp():
                    self._bind(op.result, _constant(op, weights))
                case ViewOp():
                    self.root[op.result] = self.root[op.source]
                    self.data[op.result] = self.data[op.source][op.offset.value.data :]
                    self._check_size(op.result)
                case JoinOp():
                    self.root[op.result], self.data[op.result] = self.root[op.parts[0]], self.data[op.parts[0]]
                    self._check_size(op.result)
                case SlotOp():
                    if op.input is not None:
                        self.objects[op.result] = inputs[op.input.value.data]
                    for number in () if op.returned is None else op.returned.get_values():
                        self.returned[int(number)] = op.result
                case LaunchOp() | HostOp() | Jump() | ReturnOp():
                    pass
                case _:
                    raise PassError(f"{op.name} in a graph on memory, expected operations of the tile dialect")
        self.steps = [op for op in ops if isinstance(op, LaunchOp | HostOp | Jump)]

    def _bind(self, value: SSAValue, data: Array) -> None:
        self.data[value] = data
        self.root[value] = value
        self._check_size(value)

    def _check_size(self, value: SSAValue) -> None:
        have, need = self.data[value].nbytes, _nbytes(value.type)
        if have < need:
            raise PassError(f"memory of type {value.type} has {have} bytes, expected at least {need}")

    def _check_interface(self, given: Sequence[InputOp], inputs: Sequence[Any]) -> None:
        signature = self.function.attributes.get("tile.signature")
        if isinstance(signature, FunctionType):
            _check_inputs(list(signature.inputs), inputs)
        else:
            _check_inputs([op.result.type for op in given], inputs)
        slots = [
            op.input.value.data
            for op in self.function.body.block.ops
            if isinstance(op, SlotOp) and op.input is not None
        ]
        if sorted([*slots, *(op.index.value.data for op in given)]) != list(range(len(given) + len(slots))):
            raise PassError(f"tile.input indices are {[op.index.value.data for op in given]}, expected 0, 1, ...")

    def _place(self, allocs: Sequence[AllocOp]) -> int:
        """Notes where the buffers lie, one after the other when none has an offset; the size of the arena."""
        placed = [op for op in allocs if op.offset is not None]
        if placed and len(placed) < len(allocs):
            raise PassError(f"{len(placed)} of {len(allocs)} tile.alloc have an offset, expected all or none")
        top = 0
        for op in allocs:
            align = op.alignment.value.data
            start = op.offset.value.data if op.offset is not None else -(-top // align) * align
            self.spans[op] = (start, start + op.bytes.value.data)
            top = max(top, start + op.bytes.value.data)
        return top

    def run(self, run_kernel: RunKernel, reverse_phases: bool) -> list[Any]:
        numbered: dict[int, list[LaunchOp | HostOp | Jump]] = {}
        for number, op in enumerate(self.steps):
            numbered.setdefault(number if op.phase is None else op.phase.value.data, []).append(op)
        phases = [numbered[number] for number in sorted(numbered)]
        labels = {op.label.value.data: i for i, phase in enumerate(phases) for op in phase if isinstance(op, LabelOp)}
        last = self._last_phases(phases, labels)
        number = 0
        while number < len(phases):
            following = number + 1
            for op in reversed(phases[number]) if reverse_phases else phases[number]:
                match op:
                    case LaunchOp():
                        ins = [_typed(self.data[x], x.type, writeable=False) for x in op.inputs]
                        run_kernel(op, ins, [self._output(op, x) for x in op.outputs])
                    case HostOp():
                        self._call(op)
                    case Jump():
                        following = self._target(op, labels, following)
            if following > number:  # else what the loop keeps lives on
                self._poison_dead(number, last)
            number = following
        results: dict[int, Any] = {**self.outputs, **{i: self.objects[x] for i, x in self.returned.items()}}
        return [results[i] for i in sorted(results)]

    def _call(self, op: HostOp) -> None:
        ins = [self.objects[x] if is_object(x) else _typed(self.data[x], x.type, writeable=False) for x in op.inputs]
        for place, value in zip(op.outputs, run_call(op, ins, self.weights), strict=True):
            if is_object(place):
                self.objects[place] = value
            else:
                self._output(op, place)[...] = _fitting(op, value, place.type)

    def _target(self, op: Jump, labels: dict[int, int], following: int) -> int:
        """Where a run goes on after a label or jump."""
        match op:
            case GotoOp():
                return labels[op.label.value.data]
            case SwitchOp():
                targets = op.labels.get_values()
                index = int(_typed(self.data[op.index], op.index.type, writeable=False).reshape(-1)[0])
                if not 0 <= index < len(targets):
                    raise PassError(f"tile.switch finds {index}, expected 0 to {len(targets) - 1}")
                return labels[int(targets[index])]
            case _:
                return following

    def _output(self, op: LaunchOp | HostOp, value: SSAValue) -> Array:
        owner = self.root[value].owner
        if not isinstance(owner, AllocOp | OutputOp):
            names = location_names(op)
            where = f"'{op.label.data}'" + (f", ONNX node {', '.join(names)}" if names else "")
            raise PassError(f"a launch writes {getattr(owner, 'name', 'a block')}, which is read-only", where=where)
        return _typed(self.data[value], value.type, writeable=True)

    def _last_phases(
        self, phases: Sequence[Sequence[LaunchOp | HostOp | Jump]], labels: dict[int, int]
    ) -> dict[AllocOp, tuple[int, int]]:
        """Buffer -> first and last phase in which a step touches it; a loop keeps what is made before it."""
        found: dict[AllocOp, tuple[int, int]] = {}
        places = {op: i for i, op in enumerate(self.function.body.block.ops)}
        heads = {op.label.value.data: op for phase in phases for op in phase if isinstance(op, LabelOp)}
        loops: list[tuple[LabelOp, int, int]] = []
        touched: dict[AllocOp, set[int]] = {}
        for number, phase in enumerate(phases):
            for op in phase:
                for value in op.operands:
                    if is_object(value):
                        continue
                    owner = self.root[value].owner
                    if isinstance(owner, AllocOp):
                        found[owner] = (found.get(owner, (number, 0))[0], number)
                        touched.setdefault(owner, set()).add(number)
                for label in _jumps_to(op):
                    if labels[label] <= number:
                        loops.append((heads[label], labels[label], number))
        for head, first, last in loops:
            for owner, numbers in touched.items():
                if places[owner] < places[head] and any(first <= n <= last for n in numbers):
                    found[owner] = (min(found[owner][0], first), max(found[owner][1], last))
        return found

    def _poison_dead(self, phase: int, life: dict[AllocOp, tuple[int, int]]) -> None:
        """Overwrites the buffers whose last phase this was, but for bytes taken over by what lives on."""
        dying = [op for op, (_, last) in life.items() if last == phase]
        if not dying:
            return
        living = [self.spans[op] for op, (first, last) in life.items() if first <= phase < last]
        for op in dying:
            pieces = [self.spans[op]]
            for start, end in living:
                pieces = [
                    piece for a, b in pieces for piece in ((a, min(b, start)), (max(a, end), b)) if piece[0] < piece[1]
                ]
            for a, b in pieces:
                self.arena[a:b] = POISON


def _jumps_to(op: LaunchOp | HostOp | Jump) -> list[int]:
    match op:
        case GotoOp():
            return [op.label.value.data]
        case SwitchOp():
            return [int(label) for label in op.labels.get_values()]
        case _:
            return []
