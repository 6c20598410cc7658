"""Writing tile kernels: parameters made as they are needed, loops, and scalar regions moved into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from gecc.dialects import fused, tile
from gecc.dialects.fused import Body, Scalar
from gecc.passes.fused.to_tile.affine import RegionUse, strides_of

INDEX = IndexType()


def memory_type(element: Attribute) -> MemRefType:
    """The flat memory of a kernel parameter."""
    return MemRefType(element, [DYNAMIC_INDEX])


class KernelWriter:
    """Builds one `tile.kernel` and the parameters of its launch.

    Extents and strides are arguments of the kernel, so that one kernel serves every shape; equal numbers asked for
    under one name are one argument. `body` is the block being written.
    """

    def __init__(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> None:
        self.block = Block(
            arg_types=[memory_type(fused.scalar_type(t.get_element_type())) for t in (*inputs, *outputs)]
        )
        self.inputs: list[SSAValue] = list(self.block.args[: len(inputs)])
        self.outputs: list[SSAValue] = list(self.block.args[len(inputs) :])
        self.params: list[int] = []
        self.index = self.block.insert_arg(INDEX, len(self.block.args))
        self.body = Body(self.block)
        self.bodies: list[Body] = [self.body]

    def param(self, value: int, hint: str | None = None) -> SSAValue:
        """A new index parameter with this value in the launch. 0 and 1 stay constants: they change the code."""
        if value in (0, 1):
            return self.body.index(value)
        arg = self.block.insert_arg(INDEX, len(self.block.args) - 1)
        arg.name_hint = hint
        self.params.append(value)
        return arg

    def argument(self, value: int, hint: str | None = None) -> SSAValue:
        """A new index parameter, whatever its value: for extents that other shapes will have otherwise."""
        arg = self.block.insert_arg(INDEX, len(self.block.args) - 1)
        arg.name_hint = hint
        self.params.append(value)
        return arg

    def finish(self, name: str) -> tile.KernelOp:
        return tile.KernelOp(name, Region(self.block))

    # --- loops

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Write into `block` for as long as the context lasts."""
        outer = self.body
        self.body = Body(block)
        try:
            yield
        finally:
            self.body = outer

    def loop(
        self,
        lower: Scalar,
        upper: Scalar,
        write: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
        inits: Sequence[SSAValue] = (),
        step: Scalar = 1,
    ) -> Sequence[SSAValue]:
        """A serial loop; `write` gets the index and the carried values and returns their next values."""
        b = self.body
        low, high, by = (v if isinstance(v, SSAValue) else b.index(int(v)) for v in (lower, upper, step))
        block = Block(arg_types=[INDEX, *(v.type for v in inits)])
        with self.inside(block):
            results = write(block.args[0], block.args[1:])
            block.add_op(scf.YieldOp(*results))
        op = scf.ForOp(low, high, by, list(inits), Region(block))
        b.block.add_op(op)
        return op.results

    def lanes(
        self,
        lower: Scalar,
        upper: Scalar,
        write: Callable[[SSAValue], Sequence[SSAValue]],
        combiners: Sequence[str] = (),
        inits: Sequence[SSAValue] = (),
    ) -> Sequence[SSAValue]:
        """A loop over lanes; `write` gets the index and returns the values to be reduced."""
        b = self.body
        low, high = (v if isinstance(v, SSAValue) else b.index(int(v)) for v in (lower, upper))
        block = Block(arg_types=[INDEX])
        with self.inside(block):
            results = write(block.args[0])
            block.add_op(tile.YieldOp(*results))
        op = tile.LanesOp(low, high, Region(block), combiners, inits)
        b.block.add_op(op)
        return op.results

    # --- memory

    def load(self, memory: SSAValue, offset: SSAValue) -> SSAValue:
        op = tile.LoadOp(memory, offset)
        self.body.block.add_op(op)
        return op.value

    def store(self, value: SSAValue, memory: SSAValue, offset: SSAValue) -> None:
        self.body.block.add_op(tile.StoreOp(value, memory, offset))

    def scratch(self, offset: SSAValue | int, element: Attribute) -> SSAValue:
        at = offset if isinstance(offset, SSAValue) else self.body.index(offset)
        op = tile.ScratchOp(at, element)
        self.body.block.add_op(op)
        return op.memory

    # --- scalar regions

    def inline(
        self,
        region: Region,
        use: RegionUse,
        *,
        addresses: Callable[[fused.LoadOp], SSAValue | None],
        indices: Sequence[SSAValue | None],
        scalars: Sequence[SSAValue],
        memories: Sequence[SSAValue],
    ) -> SSAValue:
        """Write the operations of a fused region here and return what it yields.

        `indices` are the values of index arguments (None where nothing needs the number itself); `addresses` gives
        the offset of a load that is linear in the indices, or None when it must be computed from its indices;
        `memories` are the kernel's parameters for the tensors that the region names.
        """
        block = region.block
        args = list(block.args)
        first_tensor = len(indices) + len(scalars)
        values: dict[SSAValue, SSAValue] = {}
        for arg, value in zip(args[: len(indices)], indices, strict=True):
            if value is not None:
                values[arg] = value
        values |= dict(zip(args[len(indices) : first_tensor], scalars, strict=True))
        tensors: dict[SSAValue, SSAValue] = dict(zip(args[first_tensor:], memories, strict=True))
        for op in block.ops:
            if isinstance(op, fused.YieldOp):
                return values[op.values[0]]
            if isinstance(op, fused.LoadOp):
                offset = addresses(op) if op in use.addresses else None
                if offset is None:
                    offset = self.body.index(0)
                    assert isinstance(op.source.type, TensorType)
                    for stride, index in zip(strides_of(op.source.type), op.indices, strict=True):
                        term = self.body.mul(values[index], self.param(stride, "stride"))
                        offset = self.body.add(offset, term)
                values[op.results[0]] = self.load(tensors[op.source], offset)
                continue
            if isinstance(op, fused.CheckIndexOp):
                bound = self.argument(op.bound.value.data, "bound")
                check = tile.CheckIndexOp(values[op.index], bound)
                self.body.block.add_op(check)
                values[op.result] = check.checked
                continue
            if any(operand not in values for operand in op.operands):
                continue  # index arithmetic of a linear load, whose address comes from `addresses`
            clone = op.clone(dict(values))
            result = self.body.emit(clone)
            if result.owner is not clone:
                clone.drop_all_references()  # an equal operation stands here already
            values[op.results[0]] = result
        raise AssertionError("a fused region ends in fused.yield")
