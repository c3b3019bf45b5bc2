"""The tokens of one bot's turns. Each says what the bot had been told when it was given it.

A token is the number of lines drawn, a digest of these lines, and a seal that nobody can
make without the bot's secret. The secret is kept with the match. So after a restart
the host knows again every token that it gave, and sees by one token whether
the match as it was kept is the match that the bot knows.
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

_encoder = Encoder(order="deterministic")  # a line that was kept is written like one that was just drawn


class Known(Struct, frozen=True):
    """What a bot knows of a match: so many lines, and these."""

    ply: int
    lines: bytes  # a digest


class Tokens:
    def __init__(self, secret: str) -> None:
        self._key = secret.encode()
        self._lines = _digest()
        self._ply = 0  # so many lines are in that

    def token(self, moves: Sequence[Any]) -> str:
        """For the turn after these moves, which are those of the token before, and some more."""
        for move in moves[self._ply :]:
            self._lines.update(_encoder.encode(move))
        self._ply = len(moves)
        content = self._ply.to_bytes(PLY, "big") + self._lines.digest()
        whole = b2a_base64(content + self._seal(content), newline=False)
        return whole.translate(TO_ADDRESS).decode()

    def known(self, token: str) -> Known | None:
        """What the bot knew that was given this token; None if it is none of these."""
        try:
            whole = a2b_base64(token.encode().translate(FROM_ADDRESS), strict_mode=True)
        except (Error, UnicodeError):
            return None
        content, seal = whole[: PLY + LINES], whole[PLY + LINES :]
        if not compare_digest(seal, self._seal(content)):
            return None
        return Known(int.from_bytes(content[:PLY], "big"), content[PLY:])

    def _seal(self, content: bytes) -> bytes:
        return blake2b(content, digest_size=SEAL, key=self._key).digest()


def begins_with(moves: Sequence[Any], known: Known) -> bool:
    """Whether a match with these moves is the one that is known, as far as that is."""
    lines = _digest()
    for move in moves[: known.ply]:
        lines.update(_encoder.encode(move))
    return len(moves) >= known.ply and lines.digest() == known.lines


def _digest() -> blake2b:
    return blake2b(digest_size=LINES)
