"""The digest of an om file: SHA-256 of its bytes, the checksum's place zero and WEIGHTS_DATA replaced by its own SHA-256.

So a file is checked without reading its weights, which may be large and are mapped.
"""

from __future__ import annotations

import hashlib

from gecc.errors import OmError
from gecc.om.container import CHECKSUM_AT, CHECKSUM_SIZE, HEADER_SIZE, Partition, PartitionType, parse_container


def file_digest(head: bytes, weights_digest: bytes, tail: bytes | memoryview) -> bytes:
    """The digest: `head` is everything before the weights (the checksum's bytes still zero), `tail` all after them."""
    h = hashlib.sha256(head)
    h.update(weights_digest)
    h.update(tail)
    return h.digest()


def digest_with(data: memoryview, head: bytes, partitions: tuple[Partition, ...], weights_digest: bytes) -> bytes:
    """The digest of the file `data` as if `head` were its header and `weights_digest` stood for its weights."""
    h = hashlib.sha256(head[:CHECKSUM_AT])
    h.update(bytes(CHECKSUM_SIZE))
    h.update(head[CHECKSUM_AT + CHECKSUM_SIZE :])
    weights = next((p for p in partitions if p.type == PartitionType.WEIGHTS_DATA), None)
    if weights is None:  # the digest of nothing stands at the place it would have: after MODEL_DEF
        model_def = next(p for p in partitions if p.type == PartitionType.MODEL_DEF)
        start = stop = model_def.offset + model_def.size
    else:
        start, stop = weights.offset, weights.offset + weights.size
    h.update(data[HEADER_SIZE:start])
    h.update(weights_digest)
    h.update(data[stop:])
    return h.digest()


def digest_of(data: memoryview, head: bytes, weights_digest: bytes, where: str) -> bytes:
    """The digest of a whole file as if `head` were its header, its weights having the SHA-256 given.

    Raises OmError for a broken file.
    """
    container = parse_container(data, where)
    if len(container.models) != 1 or not any(p.type == PartitionType.MODEL_DEF for p in container.models[0]):
        raise OmError("the file holds no model, or several", where=where)
    return digest_with(data, head, container.models[0], weights_digest)
