"""Ed25519 signatures of om files: who vouches for a file, its machine code and weights included.

The 64 bytes of a signature take the second half of the header's checksum slot (bytes 44 to 76) and `userdefineinfo`
(bytes 120 to 152), which are zero in a file without one. Signed is the text `CONTEXT` and the SHA-256 of the file with the
checksum slot and `userdefineinfo` zero and WEIGHTS_DATA replaced by its own SHA-256. The checksum covers the signature as
it covers everything, so a signed file is checked like any other.

Needs the package cryptography, for signed files alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gecc.errors import CliError, OmError
from gecc.om.container import CHECKSUM_AT, CHECKSUM_SIZE, HEADER_SIZE
from gecc.om.digest import digest_of
from gecc.om.records import Buffer

CONTEXT = b"gecc om file, signature 1\n"
"""Says what is signed, so that a signature of something else with the same key is none of an om."""

_PLACES = ((CHECKSUM_AT + CHECKSUM_SIZE, 32), (120, 32))
"""Where in the header the halves of a signature stand: offset, bytes."""


def signature_of(data: Buffer) -> bytes:
    """The 64 bytes of a file's signature; all zero in a file that has none."""
    view = memoryview(data)
    return b"".join(bytes(view[at : at + size]) for at, size in _PLACES)


def signer(key: str | os.PathLike[str]) -> Callable[[str], None]:
    """What signs an om file in place, all or nothing, with the private key in the file `key` (PEM, Ed25519, no password).

    The key is read at once: raises CliError when it cannot be used. What is returned raises OmError for a file that is no om.
    """
    secret = _private_key(key)
    return lambda path: _sign(path, secret)


def _sign(path: str, secret: Any) -> None:
    from gecc.files import whole_file
    from gecc.om.reader import map_file, read

    weights = bytes.fromhex(read(path, verify="full").weights.sha256)
    data = memoryview(map_file(path)).cast("B")
    signature = secret.sign(CONTEXT + _signed_digest(data, weights))
    head = bytearray(data[:HEADER_SIZE])
    _put(head, signature)
    head[CHECKSUM_AT : CHECKSUM_AT + CHECKSUM_SIZE] = digest_of(data, bytes(head), weights, f"'{path}'")
    with whole_file(path) as file:
        file.write(head)
        file.write(data[HEADER_SIZE:])


def check_signature(data: Buffer, weights_sha256: str, keys: list[str | os.PathLike[str]], where: str) -> None:
    """Whether one of the public keys in the files `keys` (PEM, Ed25519) signed the file of these bytes, whose weights have
    this SHA-256.

    Raises OmError when none did, CliError for a key that cannot be used. The bytes of the weights are covered through their
    digest, which reading with verify="full" compares: also those of a file beside the om.
    """
    view = memoryview(data).cast("B")
    publics = [_public_key(key) for key in keys]
    signature = signature_of(view)
    if not any(signature):
        raise OmError("the file is not signed", where=where, hint="gecc-translate --sign signs a file")
    message = CONTEXT + _signed_digest(view, bytes.fromhex(weights_sha256))
    from cryptography.exceptions import InvalidSignature

    for public in publics:
        try:
            public.verify(signature, message)
        except InvalidSignature:
            continue
        return
    names = ", ".join(f"'{os.fspath(key)}'" for key in keys)
    raise OmError(f"the file's signature is by none of the trusted keys: {names}", where=where)


def _put(head: bytearray, signature: bytes) -> None:
    start = 0
    for at, size in _PLACES:
        head[at : at + size] = signature[start : start + size]
        start += size


def _signed_digest(data: memoryview, weights: bytes) -> bytes:
    head = bytearray(data[:HEADER_SIZE])
    _put(head, bytes(64))
    return digest_of(data, bytes(head), weights, "the om")


def _private_key(path: str | os.PathLike[str]) -> Any:
    serialization, ed25519 = _cryptography()
    data = _key_bytes(path)
    try:
        key = serialization.load_pem_private_key(data, None)
    except (ValueError, TypeError) as error:
        raise CliError(f"'{os.fspath(path)}' is no private key in PEM without a password: {error}") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise CliError(f"'{os.fspath(path)}' is a key of type {type(key).__name__}, expected Ed25519")
    return key


def _public_key(path: str | os.PathLike[str]) -> Any:
    serialization, ed25519 = _cryptography()
    data = _key_bytes(path)
    try:
        key = serialization.load_pem_public_key(data)
    except ValueError as error:
        raise CliError(f"'{os.fspath(path)}' is no public key in PEM: {error}") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise CliError(f"'{os.fspath(path)}' is a key of type {type(key).__name__}, expected Ed25519")
    return key


def _key_bytes(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CliError(f"cannot read the key '{os.fspath(path)}': {error.strerror}") from error


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise CliError("signatures need the package cryptography", hint="pip install 'gecc[sign]'") from None
    return serialization, ed25519
