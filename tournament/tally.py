"""What matches add up to for each name, where there are too many to remember one by one.

A tournament without an end remembers its latest results. Whatever is older is
added up: how often each name has won, drawn and lost, and how strong it is believed
to be. These sums rest on the history (`history.py`), which is read again when an entrant is
disqualified or a match is voided: a little with every match, and to its end when somebody
asks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from tournament.format import Entrant, Result
from tournament.history import History
from tournament.skill import MU, SIGMA, Skill, after, says_something
from tournament.standings import Row, adjusted


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


NEW = Tally()
VALUES: Mapping[str, Callable[[Tally], float]] = {  # the criteria for which a tally has figures
    "points": lambda tally: tally.points,
    "wins": lambda tally: float(tally.wins),
    "rating": lambda tally: tally.skill.conservative,
}


class Tallies(Struct):
    """The tallies by name, and how much of the history is in them."""

    of: dict[str, Tally] = {}
    read: int = 0

    def __copy__(self) -> "Tallies":
        return Tallies(self.of.copy(), self.read)

    def restart(self) -> None:
        """Start again from the beginning of the history, because its sums have changed."""
        self.of, self.read = {}, 0

    def follow(
        self,
        history: History,
        annulled: Collection[str],
        disqualified: Collection[str],
        most: int | None = None,
    ) -> None:
        """Read on in the history: to its end, or `most` matches."""
        end = len(history) if most is None else min(self.read + most, len(history))
        self.count(adjusted(history.read(self.read, end), annulled, disqualified))
        self.read = end

    def count(self, results: Iterable[Result]) -> None:
        """Add results, in their order."""
        for result in results:
            first, second = result.pairing.first, result.pairing.second
            if second is not None:
                one, other = self.of.get(first, NEW), self.of.get(second, NEW)
                skills = one.skill, other.skill
                if says_something(result):
                    skills = after(*skills, result.score[0])
                self.of[first] = _scored(one, result.score[0], skills[0])
                self.of[second] = _scored(other, result.score[1], skills[1])


def table(entrants: Sequence[Entrant], tallies: Tallies, order: Sequence[str]) -> list[Row]:
    """The standings, as `tournament.standings.standings` has them."""

    def values(name: str) -> tuple[float, ...]:
        tally = tallies.of.get(name, NEW)
        return tuple([VALUES[criterion](tally) for criterion in order])

    by_name = {entrant.name: values(entrant.name) for entrant in entrants}
    rows: list[Row] = []
    rank = 0
    for place, name in enumerate(sorted(by_name, key=by_name.__getitem__, reverse=True), 1):
        if not rows or by_name[name] != by_name[rows[-1].name]:
            rank = place
        tally, own = tallies.of.get(name, NEW), by_name[name]
        ties = tuple([value for criterion, value in zip(order, own, strict=True) if criterion != "points"])
        rows.append(Row(rank, name, tally.points, tally.played, tally.wins, tally.draws, tally.losses, ties))
    return rows


def _scored(tally: Tally, score: float, skill: Skill) -> Tally:
    """The tally after one more win, draw or loss, with the skill that is believed after it."""
    won, lost = score == 1, score == 0
    drew = not (won or lost)
    return Tally(tally.wins + won, tally.draws + drew, tally.losses + lost, skill.mu, skill.sigma)
