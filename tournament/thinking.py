"""How long bots say they thought, beside what the clock says: the rest was spent on the way."""

from collections.abc import Sequence
from typing import Any

from tournament.asides import Aside, Thought

Seconds = tuple[float | None, float | None]  # by seat; None: the bot has not said so for every move
UNTOLD: tuple[Seconds, Seconds] = (None, None), (None, None)


def thinking(
    asides: Sequence[Aside], positions: Sequence[Any], times: Sequence[float]
) -> tuple[Seconds, Seconds]:
    """The seconds that each bot says it has spent, and by how many more its moves took longer.

    A move was made in each of the positions, and took as long as `times` says.
    """
    said, reports, clocked, counted = [0.0, 0.0], [0, 0], [0.0, 0.0], [0, 0]
    for aside in asides:
        if isinstance(aside, Thought):
            seat: int = positions[aside.ply - 1].turn
            said[seat] += aside.seconds
            reports[seat] += 1
    if reports == [0, 0]:
        return UNTOLD
    for position, spent in zip(positions, times, strict=False):
        clocked[position.turn] += spent
        counted[position.turn] += 1
    known = [0 < count == told for count, told in zip(counted, reports, strict=True)]
    one, other = (round(said[seat], 3) if known[seat] else None for seat in (0, 1))
    late = [
        None if told is None else round(max(0.0, clocked[seat] - told), 3)
        for seat, told in ((0, one), (1, other))
    ]
    return (one, other), (late[0], late[1])
