"""One table over several tournaments that belong together: the weeks of a course, the divisions of a season.

Points add up, whatever the game and the format were; ratings do not, because each is of its own field. More
points come first, then more wins; those who are equal by both share a rank.
"""

from collections.abc import Iterable

from msgspec import Struct

from tournament.standings import Row


class Across(Struct, frozen=True):
    """What one entrant has achieved in all tournaments of a group."""

    rank: int
    name: str
    points: float
    tournaments: int  # that it has entered
    played: int
    wins: int
    draws: int
    losses: int


def across(tables: Iterable[Iterable[Row]]) -> list[Across]:
    """The table over the standings of all of them."""
    totals: dict[str, list[float]] = {}
    for rows in tables:
        for row in rows:
            total = totals.setdefault(row.name, [0.0] * 6)
            for place, figure in enumerate((row.points, 1, row.played, row.wins, row.draws, row.losses)):
                total[place] += figure
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], -item[1][3], item[0]))
    found: list[Across] = []
    for place, (name, (points, *counts)) in enumerate(ordered, 1):
        tournaments, played, wins, draws, losses = map(int, counts)
        tied = found and (found[-1].points, found[-1].wins) == (points, wins)
        rank = found[-1].rank if tied else place
        found.append(Across(rank, name, points, tournaments, played, wins, draws, losses))
    return found
