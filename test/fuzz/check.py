"""What must hold of any bytes given to the loader: a run, or an error of gecc's in words."""

from __future__ import annotations

import ctypes
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gecc.codegen.cache import ObjectCache
from gecc.codegen.portable import compile_model
from gecc.errors import GeccError, KernelError
from gecc.om.gears import gear_count, in_gear
from gecc.om.reader import from_bytes
from gecc.om.records import IoDesc, OmModel
from gecc.runtime.executor import Executor
from gecc.runtime.inputs import NUMPY_DTYPES
from gecc.runtime.pages import Pages
from gecc.runtime.runnable import SUPPORTED_ABIS

MAX_STEPS = 1 << 22
"""Steps that kernels of a portable model may take in a call."""

Outcome = Literal["refused", "failed", "ran"]

MAX_BYTES = 1 << 28
"""Models that ask for more memory are read but not run: the test has to end."""

MAX_GEARS = 4
"""Gears of a model that are run at most."""


def check(data: bytes, feeds: dict[str, Any], *, ranks: int = 1) -> Outcome:
    """Load and run. Inputs and outputs lie, as the arena does, right before a page that nobody may touch.

    "refused" by the loader or for its inputs, "failed" in a run, in words; anything else than a GeccError passes through.
    A model with gears runs in several; the outcome is that of the first.
    """
    try:
        model = from_bytes(data, where="fuzz", verify="full", abi=SUPPORTED_ABIS)
        list(model.nodes)
        sizes = [model.arena_bytes, model.scratch_bytes, *(io.nbytes for io in (*model.inputs, *model.outputs))]
        if max(sizes) > MAX_BYTES:
            return "refused"
        executor = Executor(model, threads=ranks, affinity="none", verified=True, compile_kernels=_compile)
    except GeccError:
        return "refused"
    with executor:
        ends: list[Outcome] = [_run(executor, feeds, gear) for gear in range(min(gear_count(model), MAX_GEARS) or 1)]
        return ends[0]


def _run(executor: Executor, feeds: dict[str, Any], gear: int) -> Outcome:
    """Run in one gear, the only one of a model without."""
    model = executor.model
    fences: list[Pages] = []
    try:
        given = {io.name: fenced(io, feeds.get(io.name), fences) for io in in_gear(model.inputs, gear)}
        outputs = {io.name: fenced(io, None, fences) for io in in_gear(model.outputs, gear) if io.slot < 0}
        executor.run(given, outputs=outputs)
        return "ran"
    except KernelError:
        return "failed"
    except GeccError:
        return "refused"
    finally:
        for pages in fences:
            pages.close()


@cache
def _objects() -> tempfile.TemporaryDirectory[str]:
    """A folder for compiled kernels: those that mutants share are compiled once, none goes to the user's cache."""
    return tempfile.TemporaryDirectory(prefix="gecc-fuzz-")


def _compile(model: OmModel, where: str) -> OmModel:
    return compile_model(model, where, store=ObjectCache(Path(_objects().name)), max_steps=MAX_STEPS)


def fenced(io: IoDesc, value: Any, fences: list[Pages]) -> Any:
    """An array for an input or output, its last byte the last before a page that may not be touched."""
    if io.slot >= 0:
        return value
    pages = Pages(io.nbytes, io.name)
    fences.append(pages)
    buffer = (ctypes.c_uint8 * io.nbytes).from_address(pages.address + pages.size - io.nbytes)
    array = np.ctypeslib.as_array(buffer).view(NUMPY_DTYPES[io.dtype]).reshape(io.shape)
    if isinstance(value, np.ndarray) and value.shape == io.shape and value.dtype == array.dtype:
        array[...] = value
    return array
