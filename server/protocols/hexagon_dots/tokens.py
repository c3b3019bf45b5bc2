"""The tokens of one bot's turns. Each says what the bot had been told when it was given it.

A token is the number of lines drawn, a digest of these lines, and a seal that nobody can
make without the bot's secret. The secret is kept with the match. So after a restart the
host recognises every token that it gave, and sees from one token whether the match as it
was kept is the match that the bot knows.
"""

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

from msgspec import Struct
from msgspec.json import Encoder

PLY, LINES, SEAL = 2, 6, 16  # bytes: a board has fewer than 3,000 lines; a seal cannot be guessed
TO_ADDRESS, FROM_ADDRESS = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")

_encoder = Encoder(order="deterministic")  # so that a line from the store is written like one just drawn


class SeenLines(Struct, frozen=True):
    """What a bot knows of a match: how many lines were drawn, and which."""

    ply: int
    lines: bytes  # a digest


class Tokens:
    def __init__(self, secret: str) -> None:
        self._key = secret.encode()
        self._lines = _digest()
        self._ply = 0  # how many lines the digest includes

    def token(self, moves: Sequence[Any]) -> str:
        """The token for the turn after these moves, which extend those of the token before."""
        lines = self._lines
        lines.update(b"".join(map(_encoder.encode, moves[self._ply :])))
        self._ply = ply = len(moves)
        content = ply.to_bytes(PLY, "big") + lines.digest()
        whole = b2a_base64(content + self._seal(content), newline=False)
        return whole.translate(TO_ADDRESS).decode()

    def known(self, token: str) -> SeenLines | None:
        """What the bot knew when it was given this token; None if the token is not one of these."""
        try:
            whole = a2b_base64(token.encode().translate(FROM_ADDRESS), strict_mode=True)
        except (Error, UnicodeError):
            return None
        content, seal = whole[: PLY + LINES], whole[PLY + LINES :]
        if not compare_digest(seal, self._seal(content)):
            return None
        return SeenLines(int.from_bytes(content[:PLY], "big"), content[PLY:])

    def _seal(self, content: bytes) -> bytes:
        return blake2b(content, digest_size=SEAL, key=self._key).digest()


def begins_with(moves: Sequence[Any], known: SeenLines) -> bool:
    """Whether a match with these moves begins with what the bot knows."""
    lines = _digest()
    for move in moves[: known.ply]:
        lines.update(_encoder.encode(move))
    return len(moves) >= known.ply and lines.digest() == known.lines


def _digest() -> blake2b:
    return blake2b(digest_size=LINES)
