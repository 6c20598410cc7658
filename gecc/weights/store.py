"""The weight store: where the bytes of constants live, outside the IR.

An entry is named by a digest of 64 hex digits and is one of

- bytes, named by their sha256,
- a range of a mapped file (ONNX external data, the side file of a text module), read when it is used,
- a recipe: the digests and types of its sources, a named transformation and parameters. Its digest is the sha256 of
  that description, so that asking twice for the same packing gives one entry, computed at most when it is needed.

An entry knows bytes only. Shape and element type are said by the attribute that names it, so that a reshaped weight
costs nothing.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from xdsl.dialect_interfaces import DialectInterface
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, NoneAttr, TensorType

from gecc.errors import WeightError
from gecc.weights.attribute import WeightAttr
from gecc.weights.dtypes import element_type, item_bytes, numpy_dtype
from gecc.weights.transformations import Param, lookup

if TYPE_CHECKING:
    import numpy as np
    from xdsl.context import Context

DENSE_LIMIT = 1024
"""Constants of fewer bytes than this stay in the IR."""

CACHE_BYTES = 256 << 20
"""Bytes of materialised recipes that a store keeps at most."""

ConstantAttr: TypeAlias = "DenseIntOrFPElementsAttr | WeightAttr"


@runtime_checkable
class Layout(Protocol):
    """What the store asks of a tensor type's encoding (`#ge.layout`)."""

    @property
    def inverse(self) -> tuple[int, ...]:
        """For each logical dimension, its physical place."""
        ...

    def physical(self, logical: Sequence[int]) -> tuple[int, ...]:
        """A logical shape in physical order."""
        ...


@dataclass(frozen=True)
class _Bytes:
    """Bytes in memory, or (as a uint8 memmap) in a file."""

    data: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.data.nbytes


@dataclass(frozen=True)
class _Recipe:
    sources: tuple[WeightAttr, ...]
    transformation: str
    params: Mapping[str, Param]
    result: TensorType[Any]

    @property
    def nbytes(self) -> int:
        return _type_bytes(self.result)


class WeightStore(DialectInterface):
    """The entries of one context. Reach it with `store_of(ctx)`."""

    def __init__(self) -> None:
        self._entries: dict[str, _Bytes | _Recipe] = {}
        self._cache: OrderedDict[str, np.ndarray] = OrderedDict()
        self._cached_bytes = 0
        self._files: list[Path] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, digest: object) -> bool:
        return digest in self._entries

    # -- adding ---------------------------------------------------------------------------------------------------

    def add_array(self, array: np.ndarray) -> str:
        """Add the bytes of `array` in row-major order; returns their digest.

        The store keeps a view of a contiguous array: the caller must not write to it afterwards. A memory-mapped
        array stays in its file.
        """
        flat = _flat_bytes(array)
        digest = _sha256(flat.data)
        if digest not in self._entries:
            self._entries[digest] = _Bytes(flat)
        return digest

    def add(self, array: np.ndarray) -> WeightAttr:
        """Add `array` and return the attribute that names it, with its shape and element type."""
        return WeightAttr(self.add_array(array), TensorType(element_type(array.dtype), array.shape))

    def add_mapped(self, digest: str, data: np.ndarray) -> None:
        """Add bytes (uint8, one dimension) whose digest is known already, such as a range of a mapped side file."""
        self._entries.setdefault(digest, _Bytes(data))

    def add_recipe(
        self,
        transformation: str,
        sources: Sequence[ConstantAttr],
        params: Mapping[str, Param],
        result: TensorType[Any],
    ) -> WeightAttr:
        """Add what `transformation` makes of `sources`; nothing is computed now.

        `result` is the type of the array that the transformation returns; it is checked when the recipe is
        materialised. Raises KeyError for an unknown transformation.
        """
        lookup(transformation)
        named = tuple(self._named(source) for source in sources)
        params = {key: _plain(value) for key, value in params.items()}
        description = json.dumps(
            {
                "transformation": transformation,
                "params": params,
                "sources": [[s.digest.data, str(s.type)] for s in named],
                "result": str(result),
            },
            sort_keys=True,
            separators=(",", ":"),
        )
        digest = _sha256(b"gecc recipe\n" + description.encode())
        self._entries.setdefault(digest, _Recipe(named, transformation, params, result))
        return WeightAttr(digest, result)

    def _named(self, attr: ConstantAttr) -> WeightAttr:
        if isinstance(attr, WeightAttr):
            return attr
        return WeightAttr(self.add_array(self.array(attr)), _tensor(attr))

    def attr_for(self, array: np.ndarray) -> ConstantAttr:
        """The attribute that holds `array`: dense when it is small, else the name of an entry."""
        import numpy as np

        array = np.asarray(array)
        element = element_type(array.dtype)
        kind = TensorType(element, array.shape)
        if array.nbytes < DENSE_LIMIT:
            data = array.astype(np.uint8) * np.uint8(255) if array.dtype.kind == "b" else array
            return DenseIntOrFPElementsAttr(kind, BytesAttr(data.tobytes()))  # pyright: ignore[reportArgumentType]
        return self.add(array)

    # -- reading --------------------------------------------------------------------------------------------------

    def array(self, attr: ConstantAttr | str) -> np.ndarray:
        """The values of a constant, read-only, in the (logical) shape and dtype of its type.

        A digest (64 hex digits) gives the bytes, as uint8 of one dimension. Recipes are computed and kept in a small
        cache. Raises WeightError for a digest that the store does not hold, or bytes that do not fit the type.
        """
        if isinstance(attr, str):
            return self._bytes(attr)
        return _shaped(self._in_memory_order(attr), _tensor(attr))

    def memory(self, attr: ConstantAttr) -> np.ndarray:
        """The bytes of a constant in the order of its layout, read-only, as uint8 of one dimension. Raises as `array`."""
        import numpy as np

        return self._in_memory_order(attr).view(np.uint8)

    def _in_memory_order(self, attr: ConstantAttr) -> np.ndarray:
        """The values of a constant, of one dimension."""
        import numpy as np

        kind = _tensor(attr)
        dtype = numpy_dtype(kind.get_element_type())
        if isinstance(attr, WeightAttr):
            raw = self._bytes(attr.digest.data)
        elif dtype.kind == "b":  # dense spells true as the one-bit integer -1
            raw = np.frombuffer(attr.data.data, np.uint8) != 0
        else:
            raw = np.frombuffer(attr.data.data, np.uint8)
        if raw.nbytes != _type_bytes(kind):
            raise WeightError(
                f"a constant of type {kind} needs {_type_bytes(kind)} bytes, found {raw.nbytes} in {attr}"
            )
        return raw.view(dtype)

    def nbytes(self, attr: ConstantAttr | str) -> int:
        """Bytes of a constant; computes no recipe."""
        if isinstance(attr, str):
            return self._entry(attr).nbytes
        return _type_bytes(_tensor(attr))

    def is_recipe(self, digest: str) -> bool:
        """Whether the bytes of an entry have to be computed."""
        return isinstance(self._entry(digest), _Recipe)

    def sources(self, digest: str) -> tuple[str, ...]:
        """The digests that a recipe reads, none for bytes."""
        entry = self._entry(digest)
        return tuple(s.digest.data for s in entry.sources) if isinstance(entry, _Recipe) else ()

    def _entry(self, digest: str) -> _Bytes | _Recipe:
        try:
            return self._entries[digest]
        except KeyError:
            places = ", ".join(str(p) for p in self._files)
            raise WeightError(
                f"weight {digest} is not in the store of {len(self._entries)} entries",
                where=places or None,
                hint="text that names weights needs its side file <name>.weights"
                if not places
                else "the module and its side file are not of the same making",
            ) from None

    def _bytes(self, digest: str) -> np.ndarray:
        entry = self._entry(digest)
        if isinstance(entry, _Bytes):
            return entry.data
        if (known := self._cache.get(digest)) is not None:
            self._cache.move_to_end(digest)
            return known
        made = lookup(entry.transformation)([self.array(s) for s in entry.sources], entry.params)
        expected = entry.result
        if made.shape != expected.get_shape() or made.dtype != numpy_dtype(expected.get_element_type()):
            raise WeightError(
                f"transformation '{entry.transformation}' made {made.dtype}{list(made.shape)}, but the recipe "
                f"{digest} states {expected}"
            )
        flat = _flat_bytes(made)
        self._cache[digest] = flat
        self._cached_bytes += flat.nbytes
        while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
            self._cached_bytes -= self._cache.popitem(last=False)[1].nbytes
        return flat

    # -- the side file --------------------------------------------------------------------------------------------

    def attach(self, path: Path) -> None:
        """Map a side file and add its entries. Raises WeightError when it is damaged."""
        from gecc.weights.sidefile import read_side_file

        for digest, data in read_side_file(path).items():
            self.add_mapped(digest, data)
        self._files.append(path)

    def save(self, path: Path, digests: Sequence[str]) -> None:
        """Write the entries `digests` to a side file, in that order, one at a time."""
        from gecc.weights.sidefile import write_side_file

        write_side_file(path, [(digest, self.nbytes(digest), lambda d=digest: self._bytes(d)) for digest in digests])


def store_of(ctx: Context) -> WeightStore:
    """The weight store of a context made by `gecc.context.make_context`."""
    dialect = ctx.get_optional_dialect("ge")
    store = dialect.get_interface(WeightStore) if dialect else None
    if store is None:
        raise ValueError("the context carries no weight store; make it with gecc.context.make_context()")
    return store


def _sha256(data: bytes | memoryview) -> str:
    """Hex digest; imported here, as it is the slowest part of starting up and only bytes need it."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _tensor(attr: ConstantAttr) -> TensorType[Any]:
    if not isinstance(attr.type, TensorType):
        raise TypeError(f"expected a constant of tensor type, found {attr.type}")
    return attr.type


def _shaped(values: np.ndarray, kind: TensorType[Any]) -> np.ndarray:
    """Values in memory order as an array of the logical shape; a layout puts the dimensions back in place."""
    shape = kind.get_shape()
    if isinstance(kind.encoding, NoneAttr):
        return values.reshape(shape)
    if not isinstance(kind.encoding, Layout):
        raise TypeError(f"constants of {kind} cannot be read: the encoding {kind.encoding} is no layout")
    return values.reshape(kind.encoding.physical(shape)).transpose(kind.encoding.inverse)


def _type_bytes(kind: TensorType[Any]) -> int:
    count = 1
    for extent in kind.get_shape():
        count *= extent
    return count * item_bytes(kind.get_element_type())


def _flat_bytes(array: np.ndarray) -> np.ndarray:
    import numpy as np

    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if flat.flags.writeable:
        flat = flat.view()
        flat.flags.writeable = False
    return flat


def _plain(value: Param) -> Param:
    """A parameter as JSON holds it, so that tuples and lists give one digest."""
    if isinstance(value, bool | int | float | str):
        return value
    return [_plain(item) for item in value]
