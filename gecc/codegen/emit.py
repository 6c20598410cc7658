"""From a module of the om level to an om: kernels to machine code, weights to bytes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from gecc.codegen.image import build
from gecc.codegen.link import Blob
from gecc.codegen.llvm_text import functions_text
from gecc.dialects import tile
from gecc.om.records import OmModel, kernel_entries
from gecc.om_ir import to_model
from gecc.passes.tile.expand_math import expand_math
from gecc.passes.tile.to_llvm import lower_kernel
from gecc.target import Target, load
from gecc.weights import WeightStore


def kernel_ir(kernel: tile.KernelOp, target: Target) -> str:
    """LLVM IR of one kernel as a module of its own. The kernel itself stays as it is."""
    clone = kernel.clone()
    expand_math(clone)
    return functions_text([lower_kernel(clone, target)], target.vector_bits)


def compile_kernels(kernels: Sequence[tile.KernelOp], target: Target) -> Blob:
    """Kernels and the dispatcher as one position-independent blob."""
    return build([kernel_ir(kernel, target) for kernel in kernels], target)


def emit(module: ModuleOp, store: WeightStore) -> OmModel:
    """The om of a module that holds one `om.model` and the kernels it launches.

    Weights are read from `store` when the om is written or loaded, one at a time. Raises CodegenError when a kernel
    cannot be compiled, PassError when the module is not of the om level.
    """
    model = to_model(module, store)
    if model.blob:
        return model
    target = load(model.target)
    blob = compile_kernels([op for op in module.ops if isinstance(op, tile.KernelOp)], target)
    model.blob = blob.data
    model.kernels = kernel_entries(blob.offsets, len(blob.data))
    return model
