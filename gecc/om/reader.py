"""om file -> OmModel. Nothing in the file is believed.

The file is opened once, its size taken from that descriptor, and mapped; weights and kernels of the model are views of the
map. Whatever is wrong is an `OmError` that says which check, where, what was found and what was expected.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import stat
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from gecc.errors import CliError, OmError
from gecc.om.container import CHECKSUM_AT, CHECKSUM_SIZE, HEADER_SIZE, Container, PartitionType, parse_container
from gecc.om.digest import digest_with
from gecc.om.graph import (
    ABI,
    ARENA,
    DIGEST,
    DISPATCHER,
    EXTERNAL,
    PRODUCER,
    SCHEMA_ATTR,
    SCRATCH,
    SLOTS,
    TARGET,
    WEIGHT_SIZE,
    GraphReader,
    weights_file,
)
from gecc.om.kernel_store import (
    BLOB_ITEM,
    BOND_ITEM,
    INDEX_ITEM,
    MACHINE_ITEM,
    TILE_ITEM,
    check_bond,
    check_machine,
    parse_index,
    parse_store,
)
from gecc.om.overlaps import check_lives
from gecc.om.records import SCHEMA, SCHEMA_OF_BONDS, SCHEMA_OF_PORTABLE, Buffer, OmModel, Weights
from gecc.om.schema import DecodeError, Message, ModelDef
from gecc.om.tasks import decode_tasks
from gecc.om.verifier import check_abi, verify

SCHEMAS = range(1, SCHEMA + 1)
"""Encodings that this reader knows."""

Trust: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Files of public keys, or one."""

Verify = Literal["fast", "full"]
"""How much of a file to look at: all but the bytes of the weights, which can change numbers, never addresses, or "full"
those as well, which are then hashed."""


def read(
    path: str | os.PathLike[str],
    *,
    verify: Verify = "fast",
    abi: range | None = None,
    trust: Trust = (),
) -> OmModel:
    """Open, map, check and decode an om file.

    `abi` are the calling conventions that the caller can run; None accepts any. With `trust` one of these public keys must
    have signed the file, which is then read with verify="full". The model keeps the map alive.
    Raises OmError for anything wrong, including a file that cannot be opened.
    """
    where = os.fspath(path)
    data = map_file(where)
    folder = os.path.dirname(os.path.realpath(where))
    model = from_bytes(data, where=f"'{where}'", verify="full" if trust else verify, abi=abi, folder=folder)
    if trust:
        from gecc.om.signature import check_signature

        keys = [trust] if isinstance(trust, str | os.PathLike) else list(trust)
        check_signature(data, model.weights.sha256, keys, f"'{where}'")
    return model


def from_bytes(
    data: Buffer,
    *,
    where: str = "the om",
    verify: Verify = "fast",
    abi: range | None = None,
    folder: str | None = None,
) -> OmModel:
    """As `read`, for the bytes of a file. Weights and kernels are views of `data`; weights kept in a file of their own are
    looked for in `folder`. Raises CliError for a `verify` that is neither."""
    if verify not in get_args(Verify):
        raise CliError(f"verify is {verify!r}, expected 'fast' or 'full'")
    view = memoryview(data).cast("B").toreadonly()
    return _Reader(view, where, folder).model(verify, abi)


def map_file(path: str | os.PathLike[str], *, links: bool = True) -> Buffer:
    """The bytes of a regular file, mapped read-only; without `links` the path must not be a symbolic one.

    Raises OmError when it cannot be opened.
    """
    path = os.fspath(path)
    try:
        # A pipe would block in open, and has no size: refuse it instead.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW))
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise OmError("expected a regular file", where=f"'{path}'")
            if status.st_size < HEADER_SIZE:
                return os.pread(fd, HEADER_SIZE, 0)  # too short for a map of use, as the parser will say
            return memoryview(mmap.mmap(fd, status.st_size, access=mmap.ACCESS_READ))
        finally:
            os.close(fd)
    except OSError as e:
        raise OmError(f"cannot read the om file: {e.strerror}", where=f"'{path}'") from e
    except ValueError as e:  # a zero byte
        raise OmError(f"cannot read the om file: {e}", where=repr(path)) from e


_PLAIN = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]*")


def is_plain_name(name: str) -> bool:
    """Whether `name` can only be a file in the folder at hand."""
    return _PLAIN.fullmatch(name) is not None


class _Reader:
    def __init__(self, data: memoryview, where: str, folder: str | None) -> None:
        self.data = data
        self.folder = folder
        self.where = where
        self.container = parse_container(data, where)
        self.parts = self._parts(self.container)

    def _parts(self, container: Container) -> dict[int, memoryview]:
        if len(container.models) != 1:
            raise OmError(f"the file holds {len(container.models)} models, expected 1", where=self.where)
        parts = {p.type: self.data[p.offset : p.offset + p.size] for p in container.models[0]}
        for kind in (PartitionType.MODEL_DEF, PartitionType.TASK_INFO, PartitionType.TBE_KERNELS):
            if kind not in parts:
                raise OmError(f"the file has no {kind.name} partition, found types {sorted(parts)}", where=self.where)
        return parts

    def model(self, verify_mode: Verify, abi: range | None) -> OmModel:
        where = f"{self.where}, MODEL_DEF"
        graph = GraphReader(self._model_def(where), where)
        schema = graph.figure_int(SCHEMA_ATTR)
        if schema not in SCHEMAS:  # first: what follows is read by this schema's rules
            raise OmError(
                f"the file's schema is {schema}, this reader supports {SCHEMAS.start} to {SCHEMAS[-1]}",
                where=self.where,
                hint="install a newer gecc" if schema > SCHEMA else "compile the model again",
            )
        if abi is not None:
            check_abi(graph.figure_int(ABI), abi, self.where)
        data = self._weights(graph)
        digest = self._check_digests(graph, data, verify_mode)
        weights = Weights.of_view(graph.weights(), data, digest)
        if graph.figure_int(WEIGHT_SIZE) != weights.size:
            stated = graph.figure_int(WEIGHT_SIZE)
            raise OmError(f"weight_size is {stated}, WEIGHTS_DATA has {weights.size} bytes", where=where)
        form, items = self._kernels(schema)
        task_where = f"{self.where}, TASK_INFO"
        task_info, tasks = decode_tasks(self.parts[PartitionType.TASK_INFO], graph.node_of, task_where)
        model = OmModel(
            name=graph.proto.name,
            target=graph.figure_text(TARGET),
            abi=graph.figure_int(ABI),
            inputs=graph.inputs(),
            outputs=graph.outputs(),
            nodes=graph.nodes(),
            weights=weights,
            portable=form == TILE_ITEM,
            blob=items[form],
            kernels=parse_index(items[INDEX_ITEM], f"{self.where}, TBE_KERNELS, {INDEX_ITEM}"),
            dispatcher=graph.figure_text(DISPATCHER),
            tasks=tasks,
            arena_bytes=graph.figure_int(ARENA),
            scratch_bytes=graph.figure_int(SCRATCH),
            slots=graph.figure_int(SLOTS) if schema >= 2 else 0,
            producer=graph.figure_text(PRODUCER),
            attrs=graph.attrs(),
        )
        self._check_figures(task_info, model, task_where)
        verify(model, self.where)
        place = f"{self.where}, TBE_KERNELS"
        if BOND_ITEM in items:
            check_bond(items[BOND_ITEM], model.scratch_bytes, self.parts[PartitionType.TASK_INFO], place)
        if MACHINE_ITEM in items:
            check_machine(items[MACHINE_ITEM], model.target, model.abi, place)
        check_lives(model, self.where)
        return model

    def _model_def(self, where: str) -> Message:
        try:
            return ModelDef.FromString(self.parts[PartitionType.MODEL_DEF].tobytes())
        except DecodeError as e:
            raise OmError(f"MODEL_DEF is not ge.proto.ModelDef: {e}", where=where) from None

    def _weights(self, graph: GraphReader) -> memoryview:
        """The bytes of WEIGHTS_DATA, or of the file beside the om that holds them."""
        inside = self.parts.get(PartitionType.WEIGHTS_DATA, memoryview(b""))
        if EXTERNAL not in graph.proto.attr:
            return inside
        name = graph.figure_text(EXTERNAL)
        # No other file beside the om is read, whose bytes a model could then give as its results.
        if inside.nbytes or not is_plain_name(name) or name != weights_file(graph.figure_text(DIGEST)):
            found = "and there is WEIGHTS_DATA" if inside.nbytes else "expected the digest's first half and .weights"
            raise OmError(f"attribute '{EXTERNAL}' is '{name}', {found}", where=graph.where)
        if self.folder is None:
            raise OmError(
                f"the weights are in a file '{name}' beside the om, which was not read from a file", where=self.where
            )
        return memoryview(map_file(os.path.join(self.folder, name), links=False)).cast("B").toreadonly()

    def _check_digests(self, graph: GraphReader, weights: memoryview, verify_mode: Verify) -> str:
        """Compare the checksum, and with "full" the weights' digest too; return the latter."""
        stated = graph.figure_text(DIGEST)
        try:
            weights_digest = bytes.fromhex(stated)
        except ValueError:
            weights_digest = b""
        if len(weights_digest) != CHECKSUM_SIZE or stated != weights_digest.hex():
            raise OmError(f"attribute '{DIGEST}' is '{stated}', expected 64 hex digits", where=graph.where)
        found = bytes(self.data[CHECKSUM_AT : CHECKSUM_AT + CHECKSUM_SIZE])
        head = bytes(self.data[:HEADER_SIZE])
        actual = digest_with(self.data, head, self.container.models[0], weights_digest)
        if found != actual:
            raise OmError(
                f"the checksum is {found.hex()}, the file's contents give {actual.hex()}",
                where=f"{self.where}, byte {CHECKSUM_AT}",
                hint="the file was damaged or changed",
            )
        if verify_mode == "full":
            hashed = hashlib.sha256(weights).hexdigest()
            if hashed != stated:
                raise OmError(
                    f"the weights' SHA-256 is {hashed}, expected {stated}",
                    where=f"{self.where}, WEIGHTS_DATA",
                    hint="the file was damaged or changed",
                )
        return stated

    def _kernels(self, schema: int) -> tuple[str, dict[str, memoryview]]:
        """Which form the kernels have, and what is in their store. Files of schema 1 have no bond."""
        where = f"{self.where}, TBE_KERNELS"
        items = parse_store(self.parts[PartitionType.TBE_KERNELS], where)
        form = TILE_ITEM if schema >= SCHEMA_OF_PORTABLE and BLOB_ITEM not in items else BLOB_ITEM
        for name in (form, INDEX_ITEM, *((BOND_ITEM,) if schema >= SCHEMA_OF_BONDS else ())):
            if name not in items:
                raise OmError(f"the kernel store has no item '{name}', found {sorted(items)}", where=where)
        if form == BLOB_ITEM and TILE_ITEM in items:
            raise OmError(f"the kernel store has both '{BLOB_ITEM}' and '{TILE_ITEM}', expected one", where=where)
        return form, items

    def _check_figures(self, task_info: Message, model: OmModel, where: str) -> None:
        """Figures that stand in both MODEL_DEF and TASK_INFO must agree."""
        pairs = {
            "memory_size": (task_info.memory_size, model.arena_bytes),
            "weight_size": (task_info.weight_size, model.weights.size),
            "event_num": (task_info.event_num, max(0, model.phases - 1)),
            "stream_num": (task_info.stream_num, 1),
        }
        for name, (found, expected) in pairs.items():
            if found != expected:
                raise OmError(f"{name} is {found}, expected {expected}", where=where)
