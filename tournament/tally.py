"""What matches add up to for each name, where they are too many to be remembered one by one.

A tournament without an end remembers its latest results. Whatever is older is
only added up: how often each name has won, drawn and lost, and how strong it is believed
to be. So a table costs as much as it has names, however much has been played at it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from tournament.format import Entrant, Result, Score
from tournament.skill import MU, SIGMA, Skill, after
from tournament.standings import Row


class Tally(Struct, frozen=True, gc=False, array_like=True):
    wins: int = 0
    draws: int = 0
    losses: int = 0
    mu: float = MU
    sigma: float = SIGMA

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def skill(self) -> Skill:
        return Skill(self.mu, self.sigma)


Tallies = dict[str, Tally]

NEW = Tally()
VALUES: Mapping[str, Callable[[Tally], float]] = {  # of the criteria that a tally can tell
    "points": lambda tally: tally.points,
    "wins": lambda tally: float(tally.wins),
    "rating": lambda tally: tally.skill.conservative,
}


def count(tallies: Tallies, results: Iterable[Result]) -> None:
    """Add these to the tallies, in their order."""
    for result in results:
        first, second = result.pairing.first, result.pairing.second
        if second is not None:
            one, other = tallies.get(first, NEW), tallies.get(second, NEW)
            if result.played and result.score != (0, 0):
                one, other = _learnt(one, other, result.score[0])
            tallies[first] = _scored(one, result.score[0], 1)
            tallies[second] = _scored(other, result.score[1], 1)


def take_back(tallies: Tallies, players: tuple[str, str], score: Score) -> None:
    """A match that was counted counts no more. What was learnt from it of both players stays."""
    for name, points in zip(players, score, strict=True):
        if name in tallies:
            tallies[name] = _scored(tallies[name], points, -1)


def lose_all(tallies: Tallies, name: str) -> None:
    """Everything that this one has played, it has lost."""
    if name in tallies:
        tally = tallies[name]
        tallies[name] = structs.replace(tally, wins=0, draws=0, losses=tally.played)


def table(entrants: Sequence[Entrant], tallies: Mapping[str, Tally], order: Sequence[str]) -> list[Row]:
    """The standings, as `tournament.standings.standings` has them."""

    def values(name: str) -> tuple[float, ...]:
        tally = tallies.get(name, NEW)
        return tuple(VALUES[criterion](tally) for criterion in order)

    by_name = {entrant.name: values(entrant.name) for entrant in entrants}
    rows: list[Row] = []
    rank = 0
    for place, name in enumerate(sorted(by_name, key=by_name.__getitem__, reverse=True), 1):
        if not rows or by_name[name] != by_name[rows[-1].name]:
            rank = place
        tally, own = tallies.get(name, NEW), by_name[name]
        ties = tuple(value for criterion, value in zip(order, own, strict=True) if criterion != "points")
        rows.append(Row(rank, name, tally.points, tally.played, tally.wins, tally.draws, tally.losses, ties))
    return rows


def _learnt(one: Tally, other: Tally, score: float) -> tuple[Tally, Tally]:
    first, second = after(one.skill, other.skill, score)
    return (
        structs.replace(one, mu=first.mu, sigma=first.sigma),
        structs.replace(other, mu=second.mu, sigma=second.sigma),
    )


def _scored(tally: Tally, score: float, more: int) -> Tally:
    """One win, draw or loss more; or less, but never less than none."""
    match score:
        case 1.0:
            return structs.replace(tally, wins=max(0, tally.wins + more))
        case 0.0:
            return structs.replace(tally, losses=max(0, tally.losses + more))
        case _:
            return structs.replace(tally, draws=max(0, tally.draws + more))
