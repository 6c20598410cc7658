"""Whether this machine and this runtime can run a model, with how many ranks, and what a kernel's failure was."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gecc.errors import InputError, KernelError, OmError, UnsupportedError
from gecc.om.records import KernelTask, OmModel
from gecc.om.verifier import ABI_OF_JUMPS, check_abi
from gecc.runtime import abi
from gecc.runtime.cpus import MAX_RANKS, default_ranks
from gecc.runtime.schedule import useful_ranks
from gecc.target import load as load_target
from gecc.target import supports

SUPPORTED_ABIS = range(1, abi.ABI + 1)
"""Calling conventions that this runtime keeps."""

CompileKernels: TypeAlias = Callable[[OmModel, str], OmModel]
"""Makes a model that can run of a portable one; the text names it in messages. `gecc.api` has one: a runtime compiles nothing."""


def native(model: OmModel, where: str, compile_kernels: CompileKernels | None) -> OmModel:
    """A portable model with its kernels compiled. They are checked against the size of what they touch, so its tasks need
    not be those that the kernels were made with."""
    check_abi(model.abi, SUPPORTED_ABIS, where)
    if compile_kernels is None:
        raise OmError(
            "its kernels are portable, to be compiled where it is loaded; the runtime alone compiles nothing",
            where=where,
            hint="load it by gecc.load or gecc-run; they need the compiler: pip install 'gecc[compile]'",
        )
    return compile_kernels(model, where)


def check_runnable(model: OmModel, where: str, *, poison: bool = False) -> None:
    """Refuse, in words, what this machine and this runtime cannot run, or not with `poison`."""
    check_abi(model.abi, SUPPORTED_ABIS, where)
    if poison and model.abi < ABI_OF_JUMPS:
        raise OmError(
            f"a poisoned run stops at each phase, which code of ABI {model.abi} does not, expected {ABI_OF_JUMPS}",
            where=where,
            hint="compile the model again",
        )
    try:
        target = load_target(model.target)
    except UnsupportedError as error:
        raise OmError(error.message, where=where, hint=error.hint) from None
    missing = supports(target)
    if missing:
        raise OmError(
            f"compiled for {target.name}, which needs {', '.join(missing)}",
            where=where,
            hint="compile the model for this machine",
        )
    names = {kernel.name for kernel in model.kernels}
    for entry in abi.ENTRIES:
        if entry not in names:
            raise OmError(f"the kernels have no dispatcher entry '{entry}'", where=where)
    if model.dispatcher != abi.RUN:
        raise OmError(f"the dispatcher is '{model.dispatcher}', expected '{abi.RUN}'", where=where)
    for i, task in enumerate(model.tasks):
        if isinstance(task, KernelTask) and task.kernel in abi.ENTRIES:
            raise OmError(f"task {i} '{task.label}' launches the dispatcher's '{task.kernel}'", where=where)


def stopped_at(model: OmModel, task: int) -> OmError:
    """The error of code that stops where the tasks have no host call, or does not say where it stops."""
    return OmError(
        f"the dispatcher stopped at task {task}, which is no host call: its code is not that of ABI {model.abi}",
        where=f"model '{model.name}'",
    )


def ranks_for(model: OmModel, threads: int | None) -> int:
    """The number of ranks: as asked for, else as many as are of use. Raises InputError for what is no number of ranks."""
    if threads is None:
        return min(default_ranks(), useful_ranks(model.tasks), MAX_RANKS)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_RANKS:
        raise InputError(f"threads is {threads!r}, expected an integer from 1 to {MAX_RANKS}")
    return threads


def kernel_error(model: OmModel, states: memoryview, ranks: int) -> KernelError:
    """The error of the first task, in order, that failed: the same for any number of ranks. `states` are theirs."""
    errors = []
    for rank in range(ranks):
        at = rank * abi.STATE_BYTES
        code, value, limit, index = (
            states[(at + field) // 8] for field in (abi.STATE_ERROR, abi.STATE_VALUE, abi.STATE_LIMIT, abi.STATE_TASK)
        )
        if code:
            errors.append((index, rank, code, value, limit))
    index, _, code, value, limit = min(errors)
    task = model.tasks[index]
    node = model.nodes[task.op_index]
    names = ", ".join(f"'{name}'" for name in node.onnx_names) or "none"
    return KernelError(
        f"{task.label}: {abi.describe(code, value, limit)}",
        where=f"task {index} '{task.label}' of '{model.name}', ONNX nodes: {names}",
    )
