"""Tokens and names that nobody can guess, and the digests that are kept of the secret ones.

They are made of the system's random bytes, like those of `secrets` and `uuid`, but
some hundred at a time: a bot gets a new one with every move, and a system call for
each would take longer than making it.
"""

from binascii import b2a_base64
from hashlib import sha256
from os import urandom

DRAWN = 33 * 128  # bytes at a time: 256 tokens, and somewhat more UUIDs
TAKEN = 16  # bytes for each, or a few more: 128 bits
LENGTH = 22  # of a token: as many characters as that takes, with 6 bits each
URL_SAFE = bytes.maketrans(b"+/", b"-_")
VARIANTS = {f"{digit:x}": "89ab"[digit & 3] for digit in range(16)}

_tokens: list[str] = []  # not given to anybody yet
_uuids: list[str] = []


def token() -> str:
    """128 bits and more in 22 characters that may stand in an address."""
    if not _tokens:
        text = b2a_base64(urandom(DRAWN), newline=False).translate(URL_SAFE).decode()
        _tokens.extend(text[at : at + LENGTH] for at in range(0, len(text), LENGTH))
    return _tokens.pop()


def uuid() -> str:
    """A UUID of version 4."""
    if not _uuids:
        digits = urandom(DRAWN).hex()
        _uuids.extend(_uuid(digits[at : at + 2 * TAKEN]) for at in range(0, len(digits), 2 * TAKEN))
    return _uuids.pop()


def _uuid(digits: str) -> str:
    variant = VARIANTS[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def token_digest(secret: str | bytes) -> bytes:
    """What is kept of a token: enough to recognise it, not to find it out."""
    if isinstance(secret, str):
        secret = secret.encode("utf-8", "surrogatepass")  # a bot brought it along: it may be any text
    return sha256(secret).digest()
