"""Matches of a series, as if they had been played."""

from collections.abc import Sequence

from server.programs.tally import Played, first_seat
from tournament.events import Ending

FIRST, DRAW, SECOND = 1.0, 0.5, 0.0


def played(number: int, points: float, moves: Sequence[int] | None = None) -> Played:
    """A match with so many points for the first program; nobody else has its moves unless they are given."""
    won = {FIRST: True, SECOND: False}.get(points)
    seat = first_seat(number)
    return Played(
        match=number,
        players=("b", "a") if seat else ("a", "b"),
        winner=None if won is None else 0 if won == (seat == 0) else 1,
        ending=Ending.PLAYED,
        why="",
        opening=0,
        moves=[number] if moves is None else moves,
        times=[],
    )
