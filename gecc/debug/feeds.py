"""Inputs of a run: from files, or random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.errors import CliError, InputError
from gecc.om.records import IoDesc
from gecc.runtime.inputs import Binder

Array = NDArray[Any]


def read_inputs(given: Sequence[str], inputs: Sequence[IoDesc]) -> dict[str, Array]:
    """Arrays from arguments `name=file`, `file.npz` (all its arrays), or `file` for a model with one input.

    Files are .npy, .npz (as `name=file.npz` one with a single array) or .pb (an ONNX TensorProto). Raises CliError for
    arguments that make no sense together, InputError for files that cannot be read.
    """
    arrays: dict[str, Array] = {}
    names = [io.name for io in inputs]
    for argument in given:
        found = _read_argument(argument, names)
        for name, array in found.items():
            if name in arrays:
                raise CliError(f"input '{name}' is given twice")
            arrays[name] = array
    return arrays


def _read_argument(argument: str, names: Sequence[str]) -> dict[str, Array]:
    name, equals, file = argument.partition("=")
    if not equals or Path(argument).exists():  # a file may have '=' in its name
        if Path(argument).suffix == ".npz":
            return _read_npz(argument)
        if len(names) != 1:
            raise CliError(
                f"'{argument}' does not say which input it is for",
                hint=f"expected name=file, the inputs are {', '.join(names)}",
            )
        return {names[0]: read_array(argument)}
    return {name: read_array(file)}


def read_array(file: str) -> Array:
    """The array in a .npy, a .npz with one array, or a .pb. Raises InputError when it cannot be read."""
    suffix = Path(file).suffix
    if suffix == ".npz":
        arrays = _read_npz(file)
        if len(arrays) != 1:
            raise InputError(f"{len(arrays)} arrays, expected one: {', '.join(arrays)}", where=f"'{file}'")
        return next(iter(arrays.values()))
    if suffix == ".pb":
        return _read_tensor(file)
    if suffix != ".npy":
        raise InputError("expected a file .npy, .npz or .pb", where=f"'{file}'")
    try:
        with open(file, "rb") as stream:
            return np.load(stream, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"cannot read the array: {_reason(error)}", where=f"'{file}'") from error


def _read_npz(file: str) -> dict[str, Array]:
    from zipfile import BadZipFile

    try:
        with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, BadZipFile, AttributeError) as error:
        raise InputError(f"cannot read the arrays: {_reason(error)}", where=f"'{file}'") from error


def _read_tensor(file: str) -> Array:
    try:
        from google.protobuf.message import DecodeError
        from onnx import TensorProto, numpy_helper
    except ImportError as error:
        raise InputError("reading a .pb takes the package onnx, which is not installed", where=f"'{file}'") from error
    try:
        tensor = TensorProto.FromString(Path(file).read_bytes())
        return numpy_helper.to_array(tensor)
    except (OSError, DecodeError, ValueError, TypeError) as error:
        raise InputError(f"cannot read the tensor: {_reason(error)}", where=f"'{file}'") from error


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def random_inputs(inputs: Sequence[IoDesc], seed: int = 0) -> dict[str, Array]:
    """Random arrays for inputs of which nothing but the type is known: normal floats, and integers 0 and 1.

    0 and 1 are legal as a mask, as a flag and as an index of any table with two rows. Inputs that are objects have none.
    """
    arrays: dict[str, Array] = {}
    for i, io in enumerate(inputs):
        if io.slot >= 0:
            continue
        rng = np.random.default_rng([seed, i])
        dtype = Binder.dtype(io)
        if io.dtype == "bf16":  # the upper half of an f32
            wide = rng.standard_normal(io.shape).astype(np.float32)
            arrays[io.name] = (wide.view(np.uint32) >> 16).astype(np.uint16)
        elif dtype.kind == "f":
            arrays[io.name] = rng.standard_normal(io.shape).astype(dtype)
        else:
            arrays[io.name] = rng.integers(0, 2, io.shape).astype(dtype)
    return arrays


def write_npz(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, all or nothing; strings as numpy's own. Raises CliError when the file cannot be written, or
    a value is no array."""
    from gecc.files import whole_file

    if others := [f"'{n}' ({type(a).__name__})" for n, a in arrays.items() if not isinstance(a, np.ndarray)]:
        raise CliError(f"a .npz holds arrays alone, not {', '.join(others)}")
    arrays = {n: a.astype(np.str_) if a.dtype.kind == "O" else a for n, a in arrays.items()}
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def random_of_onnx(
    model: str, shapes: Mapping[str, Sequence[int]], seed: int = 0, values: Mapping[str, Any] | None = None
) -> dict[str, Array]:
    """Random inputs for an ONNX model with these input shapes, each from what the graph can take of it."""
    from gecc.api import import_model
    from gecc.context import make_context
    from gecc.debug.domains import draw_inputs
    from gecc.weights import store_of

    ctx = make_context()
    return draw_inputs(import_model(ctx, model, shapes, input_values=values), store_of(ctx), seed)
