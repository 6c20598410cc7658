"""Read and check an ONNX model before it is imported.

The standard's own checker runs first; gecc's checks add what it leaves open: the range of opsets, and external data,
which is mapped (not read) and must lie inside the model's folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx.inliner
import onnx.version_converter
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, SparseTensorProto, TensorProto

from gecc.errors import InvalidModelError, UnsupportedError
from gecc.frontend.onnx.external import mapped_external
from gecc.frontend.onnx.narrow import NARROW, bits_of, packed_bytes, unpacked
from gecc.frontend.onnx.order import in_order
from gecc.frontend.onnx.strangers import with_own_domain, without_unknown

_UNKNOWN_OPERATOR = re.compile(r"No Op registered for (?P<op>\S+) with domain_version of (?P<opset>\d+)")

FIRST_OPSET = 7
"""Opset 7 brought numpy broadcasting; older models spell it by attributes, and onnx converts them."""

ModelSource: TypeAlias = "str | os.PathLike[str] | bytes | ModelProto | OnnxModel"


@dataclass(frozen=True)
class OnnxModel:
    """A checked model."""

    proto: ModelProto
    name: str
    """What messages call the model: its file, or `<ModelProto>`."""
    folder: Path | None = None
    """Where external data lies; None for a model that did not come from a file."""
    opsets: dict[str, int] = field(default_factory=dict)
    """Operator set version by domain; `ai.onnx` is the empty string."""
    written_as: int = FIRST_OPSET
    """The opset of the standard's domain in the file, which may be lower than the one imported."""

    @property
    def graph(self) -> GraphProto:
        """The main graph."""
        return self.proto.graph

    def array(self, tensor: TensorProto) -> np.ndarray:
        """The values of a tensor; external data is mapped, not read. Those of narrow types are their bits.

        Raises InvalidModelError when the data does not fit the tensor, UnsupportedError for element types that have
        no numpy dtype in gecc.
        """
        what = f"tensor '{tensor.name}' of {self.name}"
        narrow = NARROW.get(tensor.data_type)
        if tensor.data_type not in NUMPY_DTYPES and narrow is None:
            raise UnsupportedError(
                f"element type {type_name(tensor.data_type)}", where=what, hint=f"known: {', '.join(known_types())}"
            )
        if tensor.data_location == TensorProto.EXTERNAL:
            return mapped(tensor, self.folder, what)
        try:
            return bits_of(tensor, onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError) as error:
            raise InvalidModelError(f"the data does not fit the tensor: {error}", where=what) from error

    def dense(self, sparse: SparseTensorProto) -> np.ndarray:
        """The values of a sparse tensor, densely."""
        values = self.array(sparse.values)
        indices = self.array(sparse.indices).astype(np.int64)
        result = np.zeros(tuple(sparse.dims), values.dtype)
        if indices.ndim == 2:
            result[tuple(indices.T)] = values
        else:
            result.reshape(-1)[indices] = values
        return result


def _ml_dtype(name: str) -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))


NUMPY_DTYPES: dict[int, np.dtype[Any]] = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.DOUBLE: np.dtype(np.float64),
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.BFLOAT16: _ml_dtype("bfloat16"),
    TensorProto.BOOL: np.dtype(np.bool_),
    TensorProto.INT8: np.dtype(np.int8),
    TensorProto.INT16: np.dtype(np.int16),
    TensorProto.INT32: np.dtype(np.int32),
    TensorProto.INT64: np.dtype(np.int64),
    TensorProto.UINT8: np.dtype(np.uint8),
    TensorProto.UINT16: np.dtype(np.uint16),
    TensorProto.UINT32: np.dtype(np.uint32),
    TensorProto.UINT64: np.dtype(np.uint64),
}
"""ONNX element type to the numpy dtype that holds it."""


def mapped(tensor: TensorProto, folder: Path | None, what: str) -> np.ndarray:
    """The values of a tensor with external data: a map of its file, or for narrow types their bits out of it."""
    narrow = NARROW.get(tensor.data_type)
    if narrow is None:
        return mapped_external(tensor, NUMPY_DTYPES[tensor.data_type], folder, what)
    shape = tuple(tensor.dims)
    flat = TensorProto(external_data=tensor.external_data, dims=[packed_bytes(narrow.bits, shape)])
    return unpacked(mapped_external(flat, np.dtype(np.uint8), folder, what), narrow.bits, shape)


def type_name(data_type: int) -> str:
    """The standard's name of an element type, such as FLOAT."""
    names = TensorProto.DataType
    return names.Name(data_type) if data_type in names.values() else f"number {data_type}"


def known_types() -> list[str]:
    """Names of the element types that gecc knows."""
    return [type_name(t) for t in (*NUMPY_DTYPES, *NARROW)]


def load_model(source: ModelSource, *, name: str | None = None, folder: Path | None = None) -> OnnxModel:
    """Read and check a model from a file, its bytes, or a ModelProto (which is not changed); one that was read stays.

    `folder` says where external data of bytes or of a ModelProto lies; a file brings its own.
    Raises InvalidModelError saying what is wrong and where, UnsupportedError for versions out of range.
    """
    if isinstance(source, OnnxModel):
        return source
    path: Path | None = None
    if isinstance(source, ModelProto):
        proto, name = source, name or "<ModelProto>"
    elif isinstance(source, bytes):
        proto, name = _parse(source, name or "<bytes>"), name or "<bytes>"
    else:
        path = Path(source)
        proto, name, folder = parse_file(path), name or str(path), path.resolve().parent
    opset = _check_versions(proto, name)
    if (ordered := in_order(proto.graph, name)) is not proto.graph:
        proto, path = with_graph(proto, ordered), None
    if (moved := with_own_domain(proto, opset)) is not proto:
        proto, path = moved, None
    external = _external_tensors(proto.graph)
    for tensor in external:  # before the checker, whose message names neither file nor folder
        if tensor.data_type in NUMPY_DTYPES or tensor.data_type in NARROW:
            mapped(tensor, folder, f"tensor '{tensor.name}' of {name}")
    _run_checker(proto, path, bool(external), name)
    if opset < FIRST_OPSET:
        proto = _converted(proto, opset, name)
    if proto.functions:
        proto = onnx.inliner.inline_local_functions(proto)
    opsets = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in proto.opset_import}
    return OnnxModel(proto, name, folder, opsets, opset)


def _parse(data: bytes, name: str) -> ModelProto:
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise InvalidModelError(f"not an ONNX model: {error}", where=name) from error
    if not proto.HasField("graph"):
        raise InvalidModelError(f"not an ONNX model: {len(data)} bytes without a graph", where=name)
    return proto


def parse_file(path: Path) -> ModelProto:
    """The message in a file, unchecked. Raises InvalidModelError when it cannot be read or is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidModelError(f"cannot read the model: {error.strerror}", where=str(path)) from error
    return _parse(data, str(path))


def _check_versions(proto: ModelProto, name: str) -> int:
    """The model's opset of the standard's domain."""
    newest = onnx.defs.onnx_opset_version()
    if proto.ir_version > onnx.IR_VERSION:
        raise UnsupportedError(
            f"the model has IR version {proto.ir_version}; the installed onnx {onnx.__version__} knows up to "
            f"{int(onnx.IR_VERSION)}",
            where=name,
            hint="install a newer onnx",
        )
    for opset in proto.opset_import:
        if opset.domain in ("", "ai.onnx"):
            if not 1 <= opset.version <= newest:
                raise UnsupportedError(
                    f"the model has opset {opset.version}, the installed onnx knows 1 to {newest}",
                    where=name,
                    hint="install a newer onnx",
                )
            return opset.version
    return FIRST_OPSET  # only operators of other domains


def _converted(proto: ModelProto, opset: int, name: str) -> ModelProto:
    """A model of an opset below the first one as that one."""
    try:
        return onnx.version_converter.convert_version(proto, FIRST_OPSET)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(
            f"the model has opset {opset}, and onnx cannot convert it to {FIRST_OPSET}: {error}", where=name
        ) from error


def _is_utf8(path: Path) -> bool:
    """Whether onnx takes the path: not one of bytes that the locale's encoding cannot spell."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _run_checker(proto: ModelProto, path: Path | None, external: bool, name: str, *, again: bool = False) -> None:
    try:
        if path is not None and path.is_file() and _is_utf8(path):  # a pipe can be read only once
            onnx.checker.check_model(str(path))
        else:
            onnx.checker.check_model(_without_external(proto) if external else proto)
    except (onnx.checker.ValidationError, ValueError) as error:
        if (found := _UNKNOWN_OPERATOR.search(str(error))) is not None:
            if not again:
                known = without_unknown(_without_external(proto) if external else proto, int(found["opset"]))
                return _run_checker(known, None, False, name, again=True)
            raise UnsupportedError(
                f"the ONNX standard has no operator {found['op']} at opset {found['opset']}",
                where=name,
                hint="ONNX Runtime's own operators in the standard's domain are not supported",
            ) from error
        raise InvalidModelError(f"the model breaks the ONNX standard: {str(error).strip()}", where=name) from error


def with_graph(proto: ModelProto, graph: GraphProto) -> ModelProto:
    """A copy of a model with another graph; the one it has is not copied."""
    changed = ModelProto()
    for kind, value in proto.ListFields():
        if kind.name == "graph":
            changed.graph.CopyFrom(graph)
        elif kind.is_repeated:
            getattr(changed, kind.name).extend(value)
        else:
            setattr(changed, kind.name, value)
    return changed


def _without_external(proto: ModelProto) -> ModelProto:
    """The model with external initializers turned into inputs, which the checker takes without their files."""
    bare = ModelProto()
    bare.CopyFrom(proto)
    kept = [t for t in bare.graph.initializer if t.data_location != TensorProto.EXTERNAL]
    moved = [t for t in bare.graph.initializer if t.data_location == TensorProto.EXTERNAL]
    inputs = {i.name for i in bare.graph.input}
    bare.graph.input.extend(
        onnx.helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in moved if t.name not in inputs
    )
    del bare.graph.initializer[:]
    bare.graph.initializer.extend(kept)
    return bare


def _external_tensors(graph: GraphProto) -> list[TensorProto]:
    """All tensors whose data lies in other files: initializers and attributes, in subgraphs too."""
    tensors = list(graph.initializer)
    found: list[TensorProto] = []
    for node in graph.node:
        for attribute in node.attribute:
            tensors += [attribute.t] if attribute.HasField("t") else []
            tensors += attribute.tensors
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                found += _external_tensors(inner)
    return [t for t in tensors if t.data_location == TensorProto.EXTERNAL] + found
