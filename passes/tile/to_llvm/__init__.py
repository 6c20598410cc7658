"""Lower kernels to the llvm dialect."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm as xllvm
from xdsl.dialects.builtin import MemRefType, ModuleOp, i64
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter as BlockRewriter

from gecc.dialects import tile
from gecc.passes.tile.to_llvm import loops, memory, register, scalar  # the emitters register themselves  # noqa: F401
from gecc.passes.tile.to_llvm.builder import PTR, Builder
from gecc.passes.tile.to_llvm.checks import Checks
from gecc.passes.tile.to_llvm.loops import counted_loop
from gecc.passes.tile.to_llvm.lowering import KernelLowering, Memory, Uniform, byte_width, memory_element
from gecc.runtime import abi
from gecc.target import Target, host, load

SIGNATURE = xllvm.LLVMFunctionType([PTR, i64, i64, PTR, PTR])
"""void kernel(const i64 *args, i64 first_block, i64 end_block, void *scratch, void *state)."""


def lower_kernel(
    kernel: tile.KernelOp, target: Target, *, checked: bool = False, max_steps: int = abi.MAX_STEPS
) -> xllvm.FuncOp:
    """The native function that runs blocks first_block <= b < end_block of `kernel`.

    `checked` code does not leave its operands, whatever the kernel says, and its loops take at most `max_steps` in a call
    (`gecc.passes.tile.to_llvm.checks`).
    """
    entry = Block(arg_types=SIGNATURE.inputs.data)
    region = Region(entry)
    builder = Builder(region)
    lowering = KernelLowering(builder, target, kernel.sym_name.data)
    args, first, end, scratch, state = entry.args
    lowering.scratch = scratch
    memories, scalars = len(kernel.memories), len(kernel.scalars)
    if checked:
        lowering.checks = Checks(builder, args, memories + scalars, memories, state, target.f32_lanes, max_steps)
    body = builder.new_block()
    for number, param in enumerate([*kernel.memories, *kernel.scalars]):
        slot = builder.gep(args, builder.int(8 * number))
        if isinstance(param.type, MemRefType):
            element = memory_element(param)
            bounds = None if lowering.checks is None else lowering.checks.bounds(number, byte_width(element))
            lowering.set(param, Memory(builder.load(slot, PTR, 8), element, bounds))
        else:
            lowering.set(param, Uniform(builder.load(slot, i64, 8)))
    lowering.state = state
    # constants are placed in the entry block as they come up, so that block must end early
    builder.branch(body)
    builder.start(body)
    if lowering.checks is not None:
        lowering.checks.fill()
        lowering.checks.loop(first, end)

    def one_block(index, _):
        lowering.set(kernel.body.block.args[-1], Uniform(index))
        lowering.block(kernel.body.block)
        return []

    counted_loop(lowering, first, end, 1, [], one_block)
    builder.effect(xllvm.ReturnOp())
    if lowering.checks is not None:
        lowering.checks.finish()
    func = xllvm.FuncOp(kernel.sym_name, SIGNATURE, linkage=xllvm.LinkageAttr("external"), body=region)
    return func


@dataclass(frozen=True)
class ToLlvm(ModulePass):
    """Replace every `tile.kernel` by an `llvm.func` for the target; the graph of launches stays.

    ```mlir
    tile.kernel @relu(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %blk: index) {
      %zero = arith.constant 0 : index
      tile.lanes %i = %zero to %n { ... }
    }
    ```
    becomes
    ```mlir
    llvm.func @relu(%args: !llvm.ptr, %first: i64, %end: i64, %scratch: !llvm.ptr, %state: !llvm.ptr) { ... }
    ```

    Lanes become vectors of the target's width, register tiles become vector registers, scalar regions are emitted
    once for each vector. Needs: `tile-expand-math` has been run. With `checked`, every access is compared with the bytes
    of its operand first.
    """

    name = "tile-to-llvm"
    target: str = "host"
    checked: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = host() if self.target == "host" else load(self.target)
        for kernel in list(op.ops):
            if isinstance(kernel, tile.KernelOp):
                BlockRewriter.replace_op(kernel, lower_kernel(kernel, target, checked=self.checked), [])
