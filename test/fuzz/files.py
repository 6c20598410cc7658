"""Taking om files apart and putting them together again with right checksums, so that mutations reach the inner checks."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace

from gecc.om.container import Header, PartitionType, parse_container
from gecc.om.digest import file_digest
from gecc.om.schema import DecodeError, ModelDef, ModelTaskDef


@dataclass
class Parts:
    """An om file in pieces. `model` and `tasks` are protobuf messages, to be changed at will."""

    header: Header
    order: tuple[int, ...]
    raw: dict[int, bytes]

    @staticmethod
    def of(data: bytes) -> Parts:
        """The pieces of a good file."""
        container = parse_container(memoryview(data), "fuzz")
        (partitions,) = container.models
        raw = {p.type: data[p.offset : p.offset + p.size] for p in partitions}
        return Parts(container.header, tuple(p.type for p in partitions), raw)

    def copy(self) -> Parts:
        """Pieces that can be changed without changing these."""
        return Parts(self.header, self.order, dict(self.raw))

    def sealed(self) -> bytes:
        """A file of the pieces with a table, a length and checksums that fit."""
        kinds = self.order
        payload = b"".join(self.raw[k] for k in kinds)
        table = struct.pack("<II", len(kinds), 0)
        at = 0
        for kind in kinds:
            table += struct.pack("<IIQQ", kind, 0, at, len(self.raw[kind]))
            at += len(self.raw[kind])
        header = replace(self.header, model_length=len(table) + len(payload), checksum=b"")
        weights = int(PartitionType.WEIGHTS_DATA)
        cut = kinds.index(weights) if weights in kinds else kinds.index(int(PartitionType.MODEL_DEF)) + 1
        before = b"".join(self.raw[k] for k in kinds[:cut])
        after = b"".join(self.raw[k] for k in kinds[cut:] if k != weights)
        try:
            model = ModelDef.FromString(self.raw[int(PartitionType.MODEL_DEF)])
            inner = bytes.fromhex(model.attr["gecc_weights_sha256"].s.decode())
        except (ValueError, KeyError, DecodeError):  # there is none to be right about: any will do
            inner = hashlib.sha256(self.raw.get(weights, b"")).digest()
        checksum = file_digest(header.pack() + table + before, inner, after)
        return replace(header, checksum=checksum).pack() + table + payload


def messages() -> dict[int, type]:
    """The partitions that are protobuf messages."""
    return {int(PartitionType.MODEL_DEF): ModelDef, int(PartitionType.TASK_INFO): ModelTaskDef}
