"""tile-bufferize: from launches on tensors to launches on memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, LocationAttr, MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from gecc.dialects.ge.attrs import LayoutAttr
from gecc.dialects.ge.objects import is_object
from gecc.dialects.tile import (
    AllocOp,
    HostOp,
    IfOp,
    InputOp,
    JoinOp,
    LaunchOp,
    OutputOp,
    SlotOp,
    ViewOp,
    WeightOp,
    WhileOp,
    YieldOp,
)
from gecc.errors import PassError
from gecc.gear_module import SIGNATURE
from gecc.passes.tile._copy_kernel import copy_launch
from gecc.passes.tile._flatten import flatten_if, flatten_while
from gecc.passes.tile._joins import Home, blocks_of, homes, root_of
from gecc.passes.tile._sizes import ALIGNMENT, memory_bytes, memory_type
from gecc.rewrite import location_names, name_location


class TileBufferize(ModulePass):
    """Give every tensor a place in memory: arena buffer, weight, graph input, graph output, or a view of one.

    ```mlir
    func.func @main(%x: tensor<2x8xf32>) -> tensor<16xf32> {
      %0 = tile.launch @relu "Relu" ins(%x : tensor<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0] -> tensor<2x8xf32>
      %1 = tile.launch @exp "Exp" ins(%0 : tensor<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0] -> tensor<2x8xf32>
      %2 = tile.view %1 offset 0 : tensor<2x8xf32> -> tensor<16xf32>
      func.return %2 : tensor<16xf32>
    }
    // becomes
    func.func @main() attributes {tile.signature = (tensor<2x8xf32>) -> tensor<16xf32>} {
      %x = tile.input 0 : memref<2x8xf32>
      %0 = tile.output 0 : memref<16xf32>
      %1 = tile.view %0 offset 0 : memref<16xf32> -> memref<2x8xf32>
      %2 = tile.alloc bytes 64 align 64 : memref<2x8xf32>
      tile.launch @relu "Relu" ins(%x : memref<2x8xf32>) outs(%2 : memref<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0]
      tile.launch @exp "Exp" ins(%2 : memref<2x8xf32>) outs(%1 : memref<2x8xf32>) params [16] blocks 1 scratch 0 inplace [0]
      func.return
    }
    ```

    A memref has the physical shape: the logical one in the order of the tensor's layout; the layout itself stays as the
    attribute `layout` of what is not row-major. Only this pass knows that rule. A launch whose result is a graph
    output, or is viewed whole by one, writes the caller's memory. What is a part of a tile.join lies in its result from the
    start where that can be (see `_joins.py`), and is copied there else. An output that is a graph input, a weight, part of
    another tensor or a tensor that is another output already is copied by a launch of its own. Python objects
    lie in slots of the run (`tile.slot`), one each.

    Needs: static shapes; functions of tile.launch, tile.weight, tile.view and tile.join on tensors; row-major graph inputs and
    outputs (`ge.TransData` makes them so).
    """

    name = "tile-bufferize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]:
            Bufferizer(op, function).run()


def _place(op: Operation) -> str:
    names = location_names(op)
    return f"{op.name}, ONNX node {', '.join(map(repr, names))}" if names else op.name


@dataclass
class Bufferizer:
    """One function on its way from tensors to memory."""

    module: ModuleOp
    function: FuncOp
    block: Block = field(default_factory=Block)
    memory: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """Tensor -> memref of its bytes."""
    homes: dict[SSAValue, Home] = field(default_factory=dict)
    """What lies in a joined tensor from the start."""
    copies: list[tuple[int, SSAValue]] = field(default_factory=list)
    """(output number, tensor) of outputs that no launch writes."""
    labels: int = 0
    """How many places to jump to there are."""
    slots: int = 0
    """How many places of objects there are."""

    def run(self) -> None:
        old = self.function.body.block
        returned = self._check(old)
        signature = self.function.function_type
        for block in blocks_of(self.function):
            self.homes |= homes(block)
        outputs = self._inputs_and_outputs(old, returned)
        for op in old.ops:
            self.operation(op)
        for number, tensor in self.copies:
            source, target = self.memory[tensor], outputs[number]
            assert isinstance(target.type, MemRefType)
            self.add(
                copy_launch(self.module, source, target, math.prod(target.type.get_shape())),
                target.owner.location if isinstance(target.owner, Operation) else self.function.location,
            )
        ret = ReturnOp()
        last = old.last_op
        self.add(ret, last.location if last is not None else self.function.location)
        for op in reversed(list(self.block.ops)):  # views that only an output needed
            if isinstance(op, ViewOp) and not op.result.uses:
                self.block.erase_op(op)

        new = FuncOp(self.function.sym_name.data, ([], []), Region(self.block), self.function.sym_visibility)
        new.location = self.function.location
        new.attributes = dict(self.function.attributes) | {SIGNATURE: signature}
        parent = self.function.parent_block()
        assert parent is not None
        parent.insert_op_before(new, self.function)
        parent.erase_op(self.function, safe_erase=False)

    def operation(self, op: Operation) -> None:
        """Write `op` on memory; terminators are left to whoever runs the block."""
        match op:
            case WeightOp():
                self._weight(op)
            case ViewOp():
                self._view(op)
            case JoinOp():
                self._join(op)
            case LaunchOp():
                self._launch(op)
            case HostOp():
                self._host(op)
            case IfOp():
                flatten_if(self, op)
            case WhileOp():
                flatten_while(self, op)
            case _:
                pass

    def _check(self, block: Block) -> list[SSAValue]:
        """The tensors returned, when all operations are such as this pass knows."""
        name = f"func.func @{self.function.sym_name.data}"
        if len(self.function.body.blocks) != 1:
            raise PassError(f"{name} has {len(self.function.body.blocks)} blocks, expected one")
        for op in (inner for outer in block.ops for inner in outer.walk()):
            if isinstance(op, LaunchOp | HostOp) and op.outputs:
                raise PassError(f"{name} has launches on memory already", where=_place(op))
            if not isinstance(op, LaunchOp | HostOp | WeightOp | ViewOp | JoinOp | IfOp | WhileOp | YieldOp | ReturnOp):
                raise PassError(
                    f"{name} holds {op.name}, expected tile.launch, tile.weight, tile.view and tile.join",
                    where=_place(op),
                    hint="run fused-to-tile first",
                )
        last = block.last_op
        if not isinstance(last, ReturnOp):
            raise PassError(f"{name} does not end in func.return")
        return list(last.arguments)

    def add(self, op: Operation, location: LocationAttr) -> None:
        """Append an operation on memory."""
        op.location = location
        self.block.add_op(op)

    def keep(self, tensor: SSAValue, op: Operation, result: OpResult, location: LocationAttr) -> None:
        """`op` makes the memory of `tensor`."""
        if isinstance(tensor.type, TensorType) and isinstance(tensor.type.encoding, LayoutAttr):
            op.attributes["layout"] = tensor.type.encoding
        self.add(op, location)
        self.bind(tensor, result)

    def bind(self, tensor: SSAValue, memory: SSAValue) -> None:
        """`tensor` lies in `memory`."""
        memory.name_hint = memory.name_hint or tensor.name_hint
        self.memory[tensor] = memory

    def _names(self, attribute: str, count: int, default: str) -> list[str]:
        found = self.function.attributes.get(attribute)
        if isinstance(found, ArrayAttr):
            names = [a.data for a in found if isinstance(a, StringAttr)]
            if len(names) == count:
                return names
        return [f"{default}{i}" for i in range(count)]

    def _inputs_and_outputs(self, old: Block, returned: list[SSAValue]) -> dict[int, SSAValue]:
        """Makes the memory of the graph's interface, by number of the output, and decides which tensors lie there."""
        for i, (arg, name) in enumerate(
            zip(old.args, self._names("ge.input_names", len(old.args), "input_"), strict=True)
        ):
            if is_object(arg):
                self._slot(arg, name_location(name), returned, input=i)
                continue
            op = InputOp(i, self._interface_type(arg, f"graph input {i} '{name}'"))
            self.keep(arg, op, op.result, name_location(name))
        outputs: dict[int, SSAValue] = {}
        names = self._names("ge.output_names", len(returned), "output_")
        for i, (tensor, name) in enumerate(zip(returned, names, strict=True)):
            if is_object(tensor):
                continue
            op = OutputOp(i, self._interface_type(tensor, f"graph output {i} '{name}'"))
            self.add(op, name_location(name))
            outputs[i] = op.result
        # a launch result that is an output itself goes before one that is only viewed by an output
        by_directness = sorted(outputs, key=lambda i: (not _made_here(returned[i]), i))
        for i in by_directness:
            whole = viewed_whole(returned[i])
            if whole is None or whole in self.memory:
                self.copies.append((i, returned[i]))
            else:
                self.bind_to(whole, outputs[i], self._location_of(whole))
        self.copies.sort(key=lambda c: c[0])
        return outputs

    def _location_of(self, value: SSAValue) -> LocationAttr:
        return value.owner.location if isinstance(value.owner, Operation) else self.function.location

    def _interface_type(self, value: SSAValue, what: str) -> MemRefType:
        if isinstance(value.type, TensorType) and isinstance(value.type.encoding, LayoutAttr):
            raise PassError(
                f"{what} has type {value.type}, expected row-major: callers give and take row-major arrays",
                hint="ge.TransData changes a layout",
            )
        return memory_type(value.type, what)

    def _weight(self, op: WeightOp) -> None:
        new = WeightOp(op.value, memory_type(op.result.type, "the weight", _place(op)))
        new.attributes |= op.attributes
        self.keep(op.result, new, new.result, op.location)

    def _view(self, op: ViewOp) -> None:
        source = self.memory[op.source]
        type = memory_type(op.result.type, "the view", _place(op))
        offset, have = op.offset.value.data, memory_bytes(source.type)
        if offset + memory_bytes(type) > have:
            raise PassError(
                f"tile.view of {memory_bytes(type)} bytes from byte {offset} of {op.source.type}, "
                f"which has {have} bytes",
                where=_place(op),
            )
        new = ViewOp(source, type, offset)
        self.keep(op.result, new, new.result, op.location)

    def _join(self, op: JoinOp) -> None:
        """See the parts as one; those that do not lie there yet are copied."""
        whole = self.place(op.result, "a join", op)
        parts: list[SSAValue] = []
        offset = 0
        for number, part in enumerate(op.parts):
            memory, root = self.memory[part], root_of(part)
            size = memory_bytes(memory.type)
            if self.homes.get(root) != Home(op, number, offset):
                source, type = memory, memory_type(part.type, "a part", _place(op))
                view = ViewOp(whole, type, offset)
                self.add(view, op.location)
                memory = view.result
                if size:
                    self.add(
                        copy_launch(self.module, source, memory, math.prod(type.get_shape()), "Concat"), op.location
                    )
            parts.append(memory)
            offset += size
        new = JoinOp(parts, memory_type(op.result.type, "a join", _place(op)))
        self.keep(op.result, new, new.result, op.location)

    def place(self, tensor: SSAValue, what: str, op: Operation) -> SSAValue:
        """The memory of a tensor that `op` makes: when it has none yet a new arena buffer, or its place in a join."""
        if tensor not in self.memory:
            type = memory_type(tensor.type, what, _place(op))
            home = self.homes.get(tensor)
            if home is not None:
                view = ViewOp(self.place(home.join.result, "a join", home.join), type, home.offset)
                self.keep(tensor, view, view.result, op.location)
                return view.result
            alloc = AllocOp(memory_bytes(type), type, ALIGNMENT)
            self.keep(tensor, alloc, alloc.result, op.location)
        return self.memory[tensor]

    def bind_to(self, whole: SSAValue, target: SSAValue, location: LocationAttr) -> None:
        """Let the tensor `whole` lie in `target`, memory of as many bytes."""
        type = memory_type(whole.type, "a result")
        if type == target.type:
            return self.bind(whole, target)
        view = ViewOp(target, type)
        self.keep(whole, view, view.result, location)

    def _launch(self, op: LaunchOp) -> None:
        outs: list[SSAValue] = []
        for i, result in enumerate(op.results_):
            outs.append(self.place(result, f"result {i} of '{op.label.data}'", op))
        new = LaunchOp(
            op.kernel,
            op.label.data,
            [self.memory[x] for x in op.inputs],
            outputs=outs,
            params=op.params.get_values(),
            blocks=op.blocks.value.data,
            scratch=op.scratch.value.data,
            inplace=op.inplace.get_values(),
        )
        new.attributes = dict(op.attributes)
        self.add(new, op.location)

    def _host(self, op: HostOp) -> None:
        """A call of the host; objects that it makes get slots."""
        last = self.function.body.block.last_op
        returned = list(last.arguments) if isinstance(last, ReturnOp) else []
        for i, result in enumerate(op.results_):
            if is_object(result):
                self._slot(result, op.location, returned)
            else:
                self.place(result, f"result {i} of '{op.label.data}'", op)
        new = HostOp(
            op.op_type.data,
            op.domain.data,
            op.opset.value.data,
            op.program,
            [self.memory[x] for x in op.inputs],
            outputs=[self.memory[x] for x in op.results_],
            attributes=dict(op.attributes),
        )
        self.add(new, op.location)

    def _slot(
        self, value: SSAValue, location: LocationAttr, returned: list[SSAValue], input: int | None = None
    ) -> None:
        places = [i for i, other in enumerate(returned) if other is value]
        slot = SlotOp(self.slots, value.type, input=input, returned=places)
        self.slots += 1
        self.add(slot, location)
        self.bind(value, slot.result)


def _made_here(tensor: SSAValue) -> bool:
    """Whether an operation makes the tensor that may be told where to put it."""
    return isinstance(tensor.owner, LaunchOp | HostOp | JoinOp | IfOp | WhileOp)


def viewed_whole(tensor: SSAValue) -> SSAValue | None:
    """The launch result whose bytes are exactly those of `tensor`, seen through views; None when there is none."""
    root = root_of(tensor)
    if not _made_here(root):
        return None
    # every view lies inside its source, so one that is as large as the root starts at its byte 0
    same = memory_bytes(memory_type(root.type, "a launch result", None)) == memory_bytes(
        memory_type(tensor.type, "a graph output", None)
    )
    return root if same else None
