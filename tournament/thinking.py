"""How long bots say they thought, beside what the clock says: the rest was spent on the way."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

Seconds = tuple[float | None, float | None]  # by seat; None: the bot has not said so for every move
UNTOLD: tuple[Seconds, Seconds] = (None, None), (None, None)


class Thinking(Struct, array_like=True):
    """The sums for one match."""

    said: list[float] = field(default_factory=lambda: [0.0, 0.0])  # seconds that the bots say they spent …
    reports: list[int] = field(default_factory=lambda: [0, 0])  # … on so many moves

    def report(self, seat: int, spent: float) -> None:
        self.said[seat] += spent
        self.reports[seat] += 1

    def beside(self, positions: Sequence[Any], times: Sequence[float]) -> tuple[Seconds, Seconds]:
        """The seconds that each bot says it has spent, and by how many more its moves took longer.

        A move was made in each of the positions, and took as long as `times` says.
        """
        clocked, counted = [0.0, 0.0], [0, 0]
        for position, spent in zip(positions, times, strict=False):
            clocked[position.turn] += spent
            counted[position.turn] += 1
        known = [0 < count == reports for count, reports in zip(counted, self.reports, strict=True)]
        one, other = (round(self.said[seat], 3) if known[seat] else None for seat in (0, 1))
        late = [
            None if said is None else round(max(0.0, clocked[seat] - said), 3)
            for seat, said in ((0, one), (1, other))
        ]
        return (one, other), (late[0], late[1])
