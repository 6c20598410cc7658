"""From a module of the om level to an om: kernels to machine code, weights to bytes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import accumulate

from xdsl.dialects.builtin import ModuleOp

from gecc.codegen import dispatcher
from gecc.codegen.cache import LOWERING, ObjectCache, sources_digest
from gecc.codegen.link import Blob, link
from gecc.codegen.llvm_text import functions_text
from gecc.codegen.object import USER_CACHE, compile_ir, prestart
from gecc.dialects import tile
from gecc.errors import PassError
from gecc.om.graph import COMMAND
from gecc.om.records import KernelEntry, KernelForm, OmModel, kernel_entries
from gecc.om_ir import to_model
from gecc.passes.tile import expand_math, to_llvm
from gecc.passes.tile.deduplicate_kernels import kernel_text
from gecc.runtime import abi
from gecc.target import Target, load
from gecc.weights import WeightStore


def kernel_ir(kernel: tile.KernelOp, target: Target, *, checked: bool = False, max_steps: int = abi.MAX_STEPS) -> str:
    """LLVM IR of one kernel as a module of its own, see `to_llvm.lower_kernel`. The kernel itself stays as it is."""
    clone = kernel.clone()
    expand_math.expand_math(clone)
    return functions_text(
        [to_llvm.lower_kernel(clone, target, checked=checked, max_steps=max_steps)], target.vector_bits
    )


@cache
def _lowering_digest() -> str:
    """Digest of the sources that turn tile IR into LLVM IR."""
    return sources_digest(*LOWERING)


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


def emit(module: ModuleOp, store: WeightStore, kernels: KernelForm | None = None) -> OmModel:
    """The om of a module that holds one `om.model` and the kernels it launches, these in the form asked for (None: the one
    they have, else native).

    Weights are read from `store` when the om is written or loaded, one at a time. Raises CodegenError when a kernel
    cannot be compiled, PassError when the module is not of the om level, or its kernels were made into the other form.
    """
    model = to_model(module, store)
    if model.blob or model.portable:
        check_form(model, kernels)
        return model
    ops = [op for op in module.ops if isinstance(op, tile.KernelOp)]
    if kernels == "portable":
        return _portable(model, ops)
    target = load(model.target)
    blob = compile_kernels(ops, target)
    model.blob = blob.data
    model.kernels = kernel_entries(blob.offsets, len(blob.data))
    return model


def check_form(model: OmModel, kernels: KernelForm | None) -> None:
    """Refuse a finished om whose kernels have the other form: neither can be made from the other. Raises PassError."""
    found = "portable" if model.portable else "native"
    if kernels is not None and found != kernels:
        raise PassError(
            f"the om's kernels are {found}, asked for were {kernels}",
            hint="compile the om from the model that it came from",
        )


def _portable(model: OmModel, kernels: Sequence[tile.KernelOp]) -> OmModel:
    """The om with the text of its kernels, each under its own name."""
    texts = [f"{kernel_text(kernel, kernel.sym_name.data)}\n".encode() for kernel in kernels]
    starts = accumulate((len(text) for text in texts), initial=0)
    entries = (
        KernelEntry(kernel.sym_name.data, at, len(text))
        for kernel, text, at in zip(kernels, texts, starts, strict=False)
    )
    model.blob, model.kernels = b"".join(texts), tuple(entries)
    model.portable, model.dispatcher = True, ""
    if isinstance(options := model.attrs.get(COMMAND), str):
        model.attrs = {**model.attrs, COMMAND: f"{options} --kernels=portable"}
    return model
