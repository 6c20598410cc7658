"""Merge kernels that are the same but for their name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from gecc.dialects import tile


def kernel_text(kernel: tile.KernelOp, name: str = "kernel") -> str:
    """The kernel as text under another name, equal for equal kernels: value names do not count."""
    out = StringIO()
    clone = kernel.clone()
    clone.properties["sym_name"] = StringAttr(name)
    for op in clone.walk():
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for arg in block.args:
                    arg.name_hint = None
    Printer(out, print_generic_format=False).print_op(clone)
    return out.getvalue()


def structure(kernel: tile.KernelOp) -> tuple[Hashable, ...]:
    """The kernel but for its name as nested tuples, equal for equal kernels; cheaper than its text."""
    numbers: dict[SSAValue, int] = {}

    def number(values: Iterable[SSAValue]) -> tuple[Hashable, ...]:
        types: list[Hashable] = []
        for value in values:
            numbers[value] = len(numbers)
            types.append(value.type)
        return tuple(types)

    def of_region(region: Region) -> tuple[Hashable, ...]:
        return tuple((number(block.args), tuple(of_operation(op) for op in block.ops)) for block in region.blocks)

    def of_operation(op: Operation) -> tuple[Hashable, ...]:
        operands = tuple(numbers[value] for value in op.operands)
        attributes = (*sorted(op.properties.items(), key=_name), *sorted(op.attributes.items(), key=_name))
        regions = tuple(of_region(region) for region in op.regions)
        return op.name, operands, attributes, number(op.results), regions

    return of_region(kernel.body)


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]


@dataclass(frozen=True)
class DeduplicateKernels(ModulePass):
    """Launches of equal kernels share one symbol, so code is generated once.

    ```mlir
    tile.kernel @Relu(%x: memref<?xf32>, ...) {...}
    tile.kernel @Relu_1(%x: memref<?xf32>, ...) {...}  // the same body
    %1 = tile.launch @Relu_1 "Relu" ins(%0 : ...) params [64, 64] ...
    // becomes
    tile.kernel @Relu(%x: memref<?xf32>, ...) {...}
    %1 = tile.launch @Relu "Relu" ins(%0 : ...) params [64, 64] ...
    ```

    Since kernels take extents and strides as arguments, launches of all shapes can share one. The first symbol stays;
    kernels that nothing launches are dropped.
    """

    name = "tile-deduplicate-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first: dict[tuple[Hashable, ...], str] = {}
        renamed: dict[str, str] = {}
        launched = {launch.kernel.string_value() for launch in op.walk() if isinstance(launch, tile.LaunchOp)}
        for kernel in list(op.ops):
            if not isinstance(kernel, tile.KernelOp):
                continue
            name = kernel.sym_name.data
            if name not in launched:
                kernel.detach()
                kernel.erase()
                continue
            keep = first.setdefault(structure(kernel), name)
            renamed[name] = keep
            if keep != name:
                kernel.detach()
                kernel.erase()
        for launch in op.walk():
            if isinstance(launch, tile.LaunchOp):
                launch.properties["kernel"] = SymbolRefAttr(renamed[launch.kernel.string_value()])
