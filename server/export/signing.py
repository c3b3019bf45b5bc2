"""The host's key, with which the host signs the facts that it states.

It is an Ed25519 key, by the package `cryptography`, which is an extra: without it nothing is
signed, and an export says so. The key is in the data folder, where nobody else can read it.
"""

import os
from importlib.util import find_spec
from pathlib import Path

from server.exits import ConfigError, Failure
from server.store import private

POSSIBLE = find_spec("cryptography") is not None
FILE = "signing-key"  # in the data folder
ALGORITHM = "Ed25519"


class Signer:
    def __init__(self, secret: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = self._key.public_key().public_bytes_raw().hex()

    def sign(self, tournament: str, facts: int, head: str) -> str:
        return self._key.sign(_statement(tournament, facts, head)).hex()


def signer(folder: Path) -> Signer | None:
    """The host's key, made if there is none yet; None if nothing can be signed."""
    if not POSSIBLE:
        return None
    path = folder / FILE
    private.tighten(path)
    try:
        if not path.exists() or path.stat().st_size == 0:  # an empty one was left by a power cut
            private.write(path, os.urandom(32).hex().encode() + b"\n")
    except OSError as error:
        raise Failure(f"{path}: the host's key cannot be written: {error.strerror}") from None
    return known_signer(folder)


def known_signer(folder: Path) -> Signer | None:
    """The host's key, if it has one."""
    path = folder / FILE
    if not POSSIBLE:
        return None
    try:
        if not path.exists():
            return None
        return Signer(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except OSError as error:
        raise ConfigError(f"{path}: the host's key cannot be read: {error.strerror}") from None
    except ValueError:
        instead = "put a copy of it back, or remove it, and the next start makes another"
        raise ConfigError(f"{path}: this is no key: {instead}") from None


def unsigned() -> str:
    """Why nothing is signed, where there is no key."""
    if POSSIBLE:
        return "the host has no key: there is none in its data folder"
    return "the host has no key: it was installed without the extra `sign`"


def is_signed(key: str, signature: str, tournament: str, facts: int, head: str) -> bool | None:
    """Whether that key has signed this; None if that cannot be checked here."""
    if not POSSIBLE:
        return None
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), _statement(tournament, facts, head))
    except (ValueError, InvalidSignature):
        return False
    return True


def _statement(tournament: str, facts: int, head: str) -> bytes:
    return f"quintain {tournament} {facts} {head}".encode()
