"""From what a caller passes to arrays that kernels may read in place, with every mistake told at once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gecc.errors import InputError
from gecc.om.fixed import FixedInput
from gecc.om.records import IoDesc

Inputs: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""Arrays by input name, or in the order of the inputs. A model whose inputs are strings, sequences or the like takes such
objects: arrays of strings, lists, None."""

NUMPY_DTYPES: dict[str, np.dtype] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "i1": np.dtype(np.bool_),
}
"""Element types as numpy has them; bf16 as its 16 bits."""


def type_of_bits(io: IoDesc | FixedInput, narrow: Mapping[str, str]) -> str | None:
    """The name of the type of ml_dtypes whose bits an input or output holds as integers; None when numpy has its type.

    `narrow` are such names by the names of inputs or outputs (`gecc.runtime.narrow`).
    """
    return "bfloat16" if io.dtype == "bf16" else narrow.get(io.name)


def bits_of(array: NDArray, kind: str | None, dtype: np.dtype) -> NDArray:
    """An array of type `kind` of ml_dtypes, or what numpy reads of one from a file, as its bits; any other as it is."""
    if kind is not None and array.dtype.name in (kind, f"void{8 * dtype.itemsize}"):
        return array.view(dtype)
    return array


def spell_type(kind: str | None, dtype: np.dtype) -> str:
    """What an array may be of, for messages."""
    return str(dtype) if kind is None else f"{kind}, or its bits as {dtype}"


class Binder:
    """Checks and orders the inputs of one model."""

    def __init__(
        self, inputs: Sequence[IoDesc], fixed: Sequence[FixedInput] = (), narrow: Mapping[str, str] | None = None
    ) -> None:
        """`fixed` are inputs that were compiled in: they may be given, with the value that they have; `narrow` are the
        types of those that numpy has no type for, by name."""
        self._inputs = list(inputs)
        self._kinds = {io.name: type_of_bits(io, narrow or {}) for io in inputs}
        self._fixed = {f.name: f for f in fixed}
        self._specs = [(io.name, self.dtype(io), io.shape) for io in inputs if io.slot < 0]

    @staticmethod
    def dtype(io: IoDesc) -> np.dtype:
        """The numpy type of an input or output. numpy has no bf16: such an array holds its 16 bits as uint16."""
        return NUMPY_DTYPES[io.dtype]

    def bind(self, inputs: Inputs) -> list[Any]:
        """The arrays in the model's order, contiguous and aligned, copied only where they are not; objects as they are.

        Raises InputError saying what was found and expected for every input that is missing, unknown or not as the
        model wants it.
        """
        if type(inputs) is dict and len(inputs) == len(self._specs) == len(self._inputs):
            arrays: list[NDArray] = []
            for name, dtype, shape in self._specs:
                array = inputs.get(name)
                if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                    return self._bind(inputs)
                flags = array.flags
                arrays.append(array if flags.c_contiguous and flags.aligned else _copy(array))
            return arrays
        return self._bind(inputs)

    def _bind(self, inputs: Inputs) -> list[Any]:
        """What `bind` does, for any form of inputs, collecting what is wrong."""
        names = [io.name for io in self._inputs]
        problems: list[str] = []
        if isinstance(inputs, Mapping):
            named: Mapping[str, Any] = inputs
            problems += [f"'{name}' is missing" for name in names if name not in named]
            for name in named:
                if name in self._fixed:
                    problems += _other_than(self._fixed[name], named[name])
                elif name not in names:
                    problems.append(f"'{name}' is not an input of the model")
        elif isinstance(inputs, list | tuple):
            if len(inputs) != len(names):
                problems.append(f"found {len(inputs)} arrays, expected {len(names)}")
            named = dict(zip(names, inputs, strict=False))
        else:
            problems.append(f"found {type(inputs).__name__}, expected a mapping from names or a list of arrays")
            named = {}
        bound: list[Any] = []
        for io in self._inputs:
            if io.name not in named:
                continue
            try:
                value = named[io.name]
                bound.append(_array(value, io, self._kinds[io.name]) if io.slot < 0 else check_object(value, io))
            except InputError as error:
                problems.append(error.message)
        if problems:
            wanted = ", ".join(f"'{io.name}' {self._spelled(io)}" for io in self._inputs)
            raise InputError("wrong inputs: " + "; ".join(problems), hint=f"the model takes {wanted or 'no inputs'}")
        return bound

    def _spelled(self, io: IoDesc) -> str:
        if io.slot >= 0:
            return f"{io.dtype}{list(io.shape) or ''}"  # of unknown shape without one
        return f"{self._kinds[io.name] or self.dtype(io)}{list(io.shape)}"


def _other_than(fixed: FixedInput, value: Any) -> list[str]:
    """What is wrong with a value for an input that was compiled in; nothing when it is the same."""
    expected = NUMPY_DTYPES[fixed.dtype]
    try:
        array = bits_of(as_array(value, fixed.name), type_of_bits(fixed, {}), expected)
    except InputError as error:
        return [error.message]
    if array.dtype == expected and fixed.accepts(fixed.dtype, array.shape, array.tobytes()):
        return []
    text = f"of shape {list(fixed.shape)}"
    if fixed.data is not None:
        text = str(np.frombuffer(fixed.data, expected).reshape(fixed.shape).tolist())
    return [f"'{fixed.name}' was fixed to {text} when the model was compiled, and another value is given"]


def as_array(value: Any, name: str) -> NDArray:
    """What a caller passes for input `name`, as an array that shares its memory if that can be. Raises InputError."""
    over_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
    try:
        if over_dlpack:
            if (device := value.__dlpack_device__()[0]) not in _HOST_DEVICES:
                raise BufferError(
                    f"it lies on a device of type {device}, expected {_HOST_DEVICES[0]}, this CPU's memory"
                )
            return np.from_dlpack(value)
        return np.asarray(value)
    except Exception as error:  # another library's code, which may raise anything
        why = str(error) or type(error).__name__
        how = "cannot be taken over DLPack" if over_dlpack else "is no array"
        raise InputError(f"'{name}' {how}: {why}") from error


def _array(value: Any, io: IoDesc, kind: str | None) -> NDArray:
    dtype = NUMPY_DTYPES[io.dtype]
    array = bits_of(as_array(value, io.name), kind, dtype)
    problems: list[str] = []
    if array.dtype != dtype:
        problems.append(f"'{io.name}' has element type {array.dtype}, expected {spell_type(kind, dtype)}")
    if array.shape != io.shape:
        problems.append(f"'{io.name}' has shape {list(array.shape)}, expected {list(io.shape)}")
    if problems:
        raise InputError("; ".join(problems))
    return array if array.flags.c_contiguous and array.flags.aligned else _copy(array)


_HOST_DEVICES = (1, 3)
"""Device types of DLPack whose memory a CPU reads: kDLCPU, kDLCUDAHost."""

_addressof = ctypes.addressof
_from_buffer: Any = ctypes.c_char.from_buffer


def address_of(array: NDArray) -> int:
    """Where the bytes of a contiguous array lie."""
    if array.flags.writeable and array.size:
        return _addressof(_from_buffer(array))  # four times as fast as numpy's own ways
    return array.__array_interface__["data"][0]


def _copy(array: NDArray) -> NDArray:
    return np.array(array, order="C", copy=True)


def check_object(value: object, io: IoDesc) -> object:
    """A graph input that is an object, as the evaluator wants it. Raises InputError for another kind or shape."""
    if io.dtype.startswith("tensor("):
        return _check_tensor(value, io)
    if io.dtype.startswith("seq("):
        if not isinstance(value, list | tuple):
            raise InputError(f"'{io.name}' is {type(value).__name__}, expected a list for {io.dtype}")
        return list(value)
    if io.dtype.startswith("map(") and not isinstance(value, dict):
        raise InputError(f"'{io.name}' is {type(value).__name__}, expected a dict for {io.dtype}")
    return value


def _check_tensor(value: object, io: IoDesc) -> object:
    array = np.asarray(value)
    kind = io.dtype[len("tensor(") : -1]
    if kind == "string":
        if array.dtype.kind not in "OUST" or any(not isinstance(x, str | bytes) for x in array.reshape(-1).tolist()):
            raise InputError(f"'{io.name}' has element type {array.dtype}, expected strings")
        array = array.astype(object)
    elif (expected := _ONNX_DTYPES.get(kind, kind)) != array.dtype.name:
        raise InputError(f"'{io.name}' has element type {array.dtype}, expected {expected}")
    fits = array.ndim == len(io.shape) and all(d in (-1, n) for d, n in zip(io.shape, array.shape, strict=True))
    if io.shape and not fits:
        raise InputError(f"'{io.name}' has shape {list(array.shape)}, expected {list(io.shape)}")
    return array


_ONNX_DTYPES = {
    "float": "float32", "double": "float64", "float4e2m1": "float4_e2m1fn", "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
}  # fmt: skip
"""Names of ONNX's element types that are not those of numpy and ml_dtypes."""
