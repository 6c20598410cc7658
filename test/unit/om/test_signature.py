"""Signatures: what a key vouches for cannot be changed, and a file of nobody known is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gecc.errors import CliError, OmError
from gecc.om.container import CHECKSUM_AT, CHECKSUM_SIZE, PartitionType, parse_container
from gecc.om.digest import digest_of
from gecc.om.reader import read
from gecc.om.signature import signature_of, signer
from gecc.om.writer import write
from test.unit.om.samples import mlp

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")


def keys(folder: Path, name: str) -> tuple[Path, Path]:
    """A new pair: files of the private and of the public key."""
    secret = ed25519.Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.PKCS8
    paths = folder / f"{name}.pem", folder / f"{name}.pub"
    pem = serialization.Encoding.PEM
    paths[0].write_bytes(secret.private_bytes(pem, form, serialization.NoEncryption()))
    paths[1].write_bytes(secret.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return paths


def sign(om: Path, key: Path) -> None:
    signer(key)(str(om))


def resealed(data: bytearray) -> bytes:
    """The bytes with a right checksum."""
    parts = {p.type: data[p.offset : p.offset + p.size] for p in parse_container(memoryview(data), "test").models[0]}
    weights = hashlib.sha256(parts[PartitionType.WEIGHTS_DATA]).digest()
    data[CHECKSUM_AT : CHECKSUM_AT + CHECKSUM_SIZE] = digest_of(memoryview(data), bytes(data[:256]), weights, "test")
    return bytes(data)


@pytest.fixture
def om(tmp_path: Path) -> Path:
    write(mlp(), tmp_path / "m.om")
    return tmp_path / "m.om"


def test_a_signed_file_is_the_same_model_and_trusted(om: Path, tmp_path: Path) -> None:
    secret, public = keys(tmp_path, "a")
    _, other = keys(tmp_path, "b")
    before = om.read_bytes()
    with pytest.raises(OmError, match="the file is not signed"):
        read(om, trust=[public])
    sign(om, secret)
    after = om.read_bytes()
    assert len(after) == len(before)
    assert after[256:] == before[256:]
    assert read(om, verify="full").tasks == mlp().tasks
    assert read(om, trust=[other, public]).name == "mlp"
    assert read(om, trust=public).name == read(om, trust=str(public)).name == "mlp"
    with pytest.raises(OmError, match=r"by none of the trusted keys: .*b\.pub"):
        read(om, trust=[other])
    sign(om, secret)  # again: the same bytes
    assert om.read_bytes() == after


@pytest.mark.parametrize("where", ["blob", "tasks", "weights", "header", "signature"])
def test_no_byte_can_be_changed_and_sealed_again(om: Path, tmp_path: Path, where: str) -> None:
    secret, public = keys(tmp_path, "a")
    sign(om, secret)
    data = bytearray(om.read_bytes())
    at = {
        "blob": data.rindex(bytes(range(100, 130))),
        "tasks": len(data) - 20,
        "weights": data.index(bytes((0, 0, 0x80, 0x3F, 0, 0, 0, 0x40))),
        "header": 88,
        "signature": 125,
    }[where]
    data[at] ^= 1
    om.write_bytes(resealed(data))
    with pytest.raises(OmError):
        read(om, trust=[public])


def test_an_unsigned_file_has_zeros(om: Path) -> None:
    assert signature_of(om.read_bytes()) == bytes(64)


def test_keys_that_cannot_be_used_are_refused_in_words(om: Path, tmp_path: Path) -> None:
    secret, public = keys(tmp_path, "a")
    with pytest.raises(CliError, match=r"cannot read the key '.*none'"):
        sign(om, tmp_path / "none")
    with pytest.raises(CliError, match="is no private key in PEM"):
        sign(om, public)
    elliptic = ec.generate_private_key(ec.SECP256R1())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (tmp_path / "ec").write_bytes(elliptic.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    with pytest.raises(CliError, match=r"is a key of type .*expected Ed25519"):
        sign(om, tmp_path / "ec")
    sign(om, secret)
    with pytest.raises(CliError, match="is no public key in PEM"):
        read(om, trust=[secret])


def test_what_is_no_om_is_not_signed(tmp_path: Path) -> None:
    secret, _ = keys(tmp_path, "a")
    (tmp_path / "x.om").write_bytes(b"IMOD" + bytes(300))
    with pytest.raises(OmError):
        sign(tmp_path / "x.om", secret)
