"""From a module of the om level to an om: kernels to machine code, weights to bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gecc.codegen import dispatcher, llvm_text
from gecc.codegen.cache import ObjectCache
from gecc.codegen.link import Blob, link
from gecc.codegen.llvm_text import functions_text
from gecc.codegen.object import USER_CACHE, compile_ir, prestart
from gecc.dialects import llvm, tile
from gecc.dialects.fused import body
from gecc.om.records import OmModel, kernel_entries
from gecc.om_ir import to_model
from gecc.passes.tile import expand_math, to_llvm
from gecc.passes.tile.deduplicate_kernels import kernel_text
from gecc.target import Target, load
from gecc.weights import WeightStore


def kernel_ir(kernel: tile.KernelOp, target: Target) -> str:
    """LLVM IR of one kernel as a module of its own. The kernel itself stays as it is."""
    clone = kernel.clone()
    expand_math.expand_math(clone)
    return functions_text([to_llvm.lower_kernel(clone, target)], target.vector_bits)


@cache
def _lowering_digest() -> str:
    """Digest of the sources that turn tile IR into LLVM IR: cached code of another lowering is never used."""
    files: list[Path] = []
    for module in (expand_math, to_llvm, llvm_text, llvm, body):
        path = Path(str(module.__file__))
        files += sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def compile_kernels(
    kernels: Sequence[tile.KernelOp], target: Target, *, store: ObjectCache | None = USER_CACHE
) -> Blob:
    """Kernels and the dispatcher as one position-independent blob.

    Code is kept in `store` by the tile IR it was made from. What is missing is lowered here one kernel after another,
    while worker processes compile those that are ready.
    """
    keys = [
        ObjectCache.key("kernel", k.sym_name.data, kernel_text(k), target.name, _lowering_digest()) for k in kernels
    ]
    found = [store.get(key) if store is not None else None for key in keys]
    if None in found:
        prestart()
    with ThreadPoolExecutor(len(kernels) or 1) as threads:
        pending: list[bytes | Future[list[bytes]]] = [
            code if code is not None else threads.submit(compile_ir, [kernel_ir(kernel, target)], target, cache=store)
            for kernel, code in zip(kernels, found, strict=True)
        ]
        objects = [code if isinstance(code, bytes) else code.result()[0] for code in pending]
    if store is not None:
        for key, known, code in zip(keys, found, objects, strict=True):
            if known is None:
                store.put(key, code)
    return link([*compile_ir(dispatcher.modules(target), target, cache=store), *objects])


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
