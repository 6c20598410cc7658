"""Portable kernels: tile IR from an om, whoever wrote it, to machine code that keeps to its operands.

    om: text of kernels --> worker process: admit -> expand -> lower, checked -> LLVM --> object
                                                      object + dispatcher --link--> code, as in a native om

Nothing in the text is believed. `admit` lets pass what a kernel is made of and no more; every access of the code is
compared with the bytes of the operand that a task gives it (`gecc.passes.tile.to_llvm.checks`); the tasks are compared
here with what the kernels take and write. Text that ties up the compiler or breaks it costs a process of its own.

Objects are kept in the user's cache by their text, so a model is compiled at its first load. Only the standard library is
imported here: a warm load needs no compiler but its version.
"""

from __future__ import annotations

import importlib.metadata
import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache

from gecc.codegen import dispatcher
from gecc.codegen.cache import LOWERING, ObjectCache, sources_digest
from gecc.codegen.link import link
from gecc.codegen.object import USER_CACHE, WorkerPool, compile_ir, cores, generator, machine_request
from gecc.errors import CodegenError, OmError, UnsupportedError
from gecc.om.records import KernelTask, OmModel, kernel_entries
from gecc.runtime import abi
from gecc.target import TARGETS, Target, supports
from gecc.target import host as host_target
from gecc.target import load as load_target

MAX_KERNELS = 1 << 14
"""Most kernels of a model."""

MAX_TEXT = 1 << 18
"""Most bytes of one kernel's text."""

SECONDS = 120.0
"""How long one kernel may take to compile."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,254}")
_SIGNATURE = struct.Struct("<3I")

_workers = WorkerPool("gecc.codegen.portable.worker")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a kernel takes: how many memories and numbers, and the first memory that it writes (their count if none)."""

    memories: int
    scalars: int
    first_written: int


def compile_model(
    model: OmModel,
    where: str,
    target: str = "host",
    *,
    store: ObjectCache | None = USER_CACHE,
    max_steps: int = abi.MAX_STEPS,
) -> OmModel:
    """A portable model with its kernels compiled for `target`; "host" is the model's own target if this machine runs that,
    else the best that it runs. A call of a kernel ends after `max_steps` steps of loops.

    Raises CodegenError naming the kernel that is none, OmError for a task that does not fit its kernel, or when the
    compiler is not installed, UnsupportedError for a target that is unknown.
    """
    made_for = choose_target(model.target, target, where)
    texts = _texts(model, where)
    try:
        common = (made_for.name, str(max_steps), _sources_digest(), importlib.metadata.version("xdsl"), *generator())
    except ModuleNotFoundError as error:
        raise OmError(
            f"its kernels are portable and must be compiled, for which the package {error.name} is missing",
            where=where,
            hint="pip install 'gecc[compile]', or have it compiled for this machine elsewhere",
        ) from None
    keys = {name: ObjectCache.key("portable", name, text, *common) for name, text in texts.items()}
    entries = {name: store.get(key) if store is not None else None for name, key in keys.items()}
    missing = [name for name, entry in entries.items() if entry is None]
    if missing:
        with ThreadPoolExecutor(min(cores(), len(missing))) as threads:
            made = threads.map(lambda name: _compile(name, texts[name], made_for, max_steps, where), missing)
            for name, entry in zip(missing, made, strict=True):
                entries[name] = entry
                if store is not None:
                    store.put(keys[name], entry)
    signatures: dict[str, Signature] = {}
    objects: list[bytes] = []
    for name, entry in entries.items():
        assert entry is not None
        signatures[name] = Signature(*_SIGNATURE.unpack_from(entry))
        objects.append(entry[_SIGNATURE.size :])
    check_tasks(model, signatures, where)
    blob = link([*compile_ir(dispatcher.modules(made_for), made_for, cache=store), *objects])
    return replace(
        model,
        portable=False,
        blob=blob.data,
        kernels=kernel_entries(blob.offsets, len(blob.data)),
        dispatcher=abi.RUN,
        target=made_for.name,
    )


def choose_target(own: str, wanted: str, where: str) -> Target:
    """For what to compile kernels that were tiled for `own`. Raises OmError for a target that this machine does not run."""
    if wanted != "host":
        target = load_target(wanted)
        if missing := supports(target):
            raise OmError(f"cannot run code for {target.name} here: it needs {', '.join(missing)}", where=where)
        return target
    target = TARGETS.get(own)
    if target is not None and not supports(target):
        return target
    try:
        return host_target()
    except UnsupportedError as error:
        raise OmError(error.message, where=where, hint=error.hint) from None


def check_tasks(model: OmModel, signatures: Mapping[str, Signature], where: str) -> None:
    """Compare each launch with what its kernel takes and writes. Raises OmError."""
    for i, task in enumerate(model.tasks):
        if not isinstance(task, KernelTask):
            continue
        place = f"{where}, task {i} '{task.label}'"
        kernel = signatures[task.kernel]
        found, expected = (len(task.operands), len(task.params)), (kernel.memories, kernel.scalars)
        if found != expected:
            raise OmError(
                f"has {found[0]} operands and {found[1]} params, kernel '{task.kernel}' takes {expected[0]} and {expected[1]}",
                where=place,
            )
        if kernel.first_written < len(task.ins):
            raise OmError(
                f"kernel '{task.kernel}' writes operand {kernel.first_written}, the task only reads the first {len(task.ins)}",
                where=place,
            )


def _texts(model: OmModel, where: str) -> dict[str, str]:
    """The text of each kernel by its name, both fit to be looked at."""
    if len(model.kernels) > MAX_KERNELS:
        raise CodegenError(f"{len(model.kernels)} portable kernels, expected at most {MAX_KERNELS}", where=where)
    blob = memoryview(model.blob).cast("B")
    texts: dict[str, str] = {}
    for number, entry in enumerate(model.kernels):
        place = f"{where}, kernel {number}"
        if _NAME.fullmatch(entry.name) is None or entry.name in abi.ENTRIES:
            raise CodegenError(f"a kernel has the name {ascii(entry.name)[:100]}, which none may have", where=place)
        if entry.size > MAX_TEXT:
            raise CodegenError(
                f"the text of '{entry.name}' has {entry.size} bytes, expected at most {MAX_TEXT}", where=place
            )
        try:
            texts[entry.name] = str(blob[entry.offset : entry.offset + entry.size], "utf-8")
        except UnicodeDecodeError as error:
            message = f"the text of '{entry.name}' is not UTF-8: {error.reason} at its byte {error.start}"
            raise CodegenError(message, where=place) from None
    return texts


def _compile(name: str, text: str, target: Target, max_steps: int, where: str) -> bytes:
    """Signature and object of a kernel, by a process of its own."""
    request = machine_request(target) | {"name": name, "target": target.name, "max_steps": max_steps}
    place = f"{where}, kernel '{name}'"
    worker = _workers.take()
    try:
        header, code = worker.ask(request, text.encode(), place, SECONDS)
    finally:
        _workers.give(worker)
    if "error" in header:
        raise CodegenError(str(header["error"]), where=place)
    numbers = [int(str(header[key])) for key in ("memories", "scalars", "first_written")]
    return _SIGNATURE.pack(*numbers) + code


@cache
def _sources_digest() -> str:
    """Digest of the sources that admit tile IR and turn it into LLVM IR."""
    return sources_digest(*LOWERING, "dialects/tile", "dialects/fused", "codegen/portable")
