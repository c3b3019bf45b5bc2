"""What a game may write and decide: only what can be kept and told.

A game of another package may return anything. What cannot be written would end whoever writes it, and what
is written but is of another type than it should be cannot be read again when the host is started.
"""

from typing import Any

from msgspec import json, msgpack

from games.game import Outcome

_kept = json.Encoder(order="deterministic")  # as the journal keeps it
_told = msgpack.Encoder()  # as processes tell each other


class Unsound(ValueError):
    """A game has written a move, or decided something, that can be neither kept nor told."""


def expect_sound(written: object, after: Any) -> None:
    """Raise `Unsound` if a move, or what came of it, can be neither kept nor told, by a fault of the game's.

    Here it costs one match. In the store or in another process it would cost all of them.
    """
    outcome: Outcome | None = after.outcome
    try:
        _kept.encode(written)
        _told.encode(written)
        if outcome is not None:
            _told.encode(outcome.why)
    except (OverflowError, TypeError, ValueError) as error:
        raise Unsound(f"a move or an outcome cannot be written: {error}") from error
    if outcome is None:
        turn = after.turn
        if type(turn) is not int or turn not in (0, 1):  # which spares nearly every move the call
            _expect_seat("the seat to move is 0 or 1", turn)
        return
    if outcome.winner is not None:
        _expect_seat("the winner is None, 0 or 1", outcome.winner)
    why: Any = outcome.why
    if not isinstance(why, str):
        raise Unsound(f"the reason of an outcome is a text, not {why!r}")


def _expect_seat(expected: str, found: object) -> None:
    """Raise `Unsound` unless it is written as 0 or 1: `True` is equal to 1, and is written as `true`."""
    try:
        written = _kept.encode(found)
    except (TypeError, ValueError):
        written = b""
    if written not in (b"0", b"1"):
        raise Unsound(f"{expected}, not {found!r}")
