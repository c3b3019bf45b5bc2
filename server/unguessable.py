"""Tokens and names that nobody can guess, and what is kept of those that are secret.

They are made of the system's random bytes, as those of `secrets` and `uuid` are,
but of bytes that are drawn some kilobytes at a time: a bot gets a new one with
every move, and a system call for each takes longer than making it.
"""

from binascii import b2a_base64
from hashlib import sha256
from os import urandom

DRAWN = 4096  # bytes at a time
TAKEN = 16  # bytes for each: 128 bits
URL_SAFE = bytes.maketrans(b"+/", b"-_")

_pool = memoryview(b"")


def token() -> str:
    """128 bits in 22 characters that may stand in an address."""
    return b2a_base64(_taken(), newline=False)[:22].translate(URL_SAFE).decode()


def uuid() -> str:
    """A UUID of version 4."""
    digits = _taken().hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def digest(secret: str | bytes) -> bytes:
    """What is kept of a token: it can be known again by that, and not be found out."""
    if isinstance(secret, str):
        secret = secret.encode("utf-8", "surrogatepass")  # somebody brought it along: it may be any text
    return sha256(secret).digest()


def _taken() -> memoryview:
    """Bytes that nobody was given before."""
    global _pool
    if not _pool:
        _pool = memoryview(urandom(DRAWN))
    taken, _pool = _pool[:TAKEN], _pool[TAKEN:]
    return taken
