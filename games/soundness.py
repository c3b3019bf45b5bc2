"""What a game may write and decide: only what can be kept and told.

A game of another package may return anything. What cannot be written would end whoever writes it, and what
is written but is of another type than it should be cannot be read again when the host is started.
"""

from typing import Any

from msgspec import msgpack

from games.game import Outcome

_encoder = msgpack.Encoder()


class Unsound(ValueError):
    """A game has written a move, or decided something, that can be neither kept nor told."""


def expect_sound(written: object, after: Any) -> None:
    """Raise `Unsound` if a move, or what came of it, can be neither kept nor told, by a fault of the game's.

    Here it costs one match. In the store or in another process it would cost all of them.
    """
    outcome: Outcome | None = after.outcome
    seat: Any = after.turn if outcome is None else outcome.winner
    why: Any = "" if outcome is None else outcome.why
    try:
        _encoder.encode((written, seat, why))
    except (OverflowError, TypeError, ValueError) as error:
        raise Unsound(f"a move or an outcome cannot be written: {error}") from error
    # `True` and `1.0` are equal to 1, but are written as something else, which is no seat when it is read.
    is_seat = isinstance(seat, int) and not isinstance(seat, bool) and seat in (0, 1)
    if outcome is None:
        if not is_seat:
            raise Unsound(f"the seat to move is 0 or 1, not {seat!r}")
    elif not is_seat and seat is not None:
        raise Unsound(f"the winner is None, 0 or 1, not {seat!r}")
    elif not isinstance(why, str):
        raise Unsound(f"the reason of an outcome is a text, not {why!r}")
