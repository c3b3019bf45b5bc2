"""Accounts: what every entrant has done, entered result by result.

Standings are computed from these. Not here: who is before whom (`standings.py`), and accounts
that remember only sums, for formats without an end (`tally.py`).
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tournament.format import Entrant, Pairing, Result
from tournament.history import History
from tournament.pairing import knockout
from tournament.pairing.drawing import here
from tournament.skill import NEW, Skill, after, says_something


class OwnResult(Struct, frozen=True):
    """A result as one of the two sees it."""

    number: int  # of the pairing
    round: int
    opponent: str | None  # None: a bye
    score: float
    played: bool


class Account:
    """What one entrant has done; its results only by their places among all results."""

    __slots__ = ("draws", "losses", "points", "results", "skill", "wins", "wins_as_second")

    def __init__(self) -> None:
        self.points = 0.0
        self.wins = self.wins_as_second = self.draws = self.losses = 0
        self.skill = NEW
        self.results = array("I")

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses


class Accounts:
    """The results, entered on the account of each entrant as they come: each costs the same."""

    def __init__(
        self, entrants: Iterable[Entrant] = (), results: Iterable[Result] = (), *, compact: bool = False
    ) -> None:
        """`compact` accounts take eight bytes for a result, and do not know its round."""
        self.entrants: dict[str, Entrant] = {}
        self.results: list[Result] | History = History() if compact else []
        self.of: dict[str, Account] = {}
        self.rounds = 0  # that have results
        # What the points of those who have gone count as for their opponents, as far as somebody has asked
        self.for_others: dict[str, float] = {}
        self._skilled = 0  # results that the skills include
        self._won = 0, Counter[str]()  # results counted, and rounds of a knockout won by then
        for entrant in entrants:
            self.admit(entrant)
        for result in results:
            self.enter(result)

    def admit(self, entrant: Entrant) -> None:
        """Open an account for an entrant; or note what has changed about it."""
        if self.entrants.get(entrant.name) != entrant:
            self._won = 0, Counter[str]()  # whoever has gone may decide a round
        self.entrants[entrant.name] = entrant
        if entrant.name not in self.of:
            self.of[entrant.name] = Account()

    def enter(self, result: Result) -> None:
        index = len(self.results)
        self.for_others.clear()
        self.results.append(result)
        self.rounds = max(self.rounds, result.pairing.round)
        names = result.pairing.names
        for seat, (name, score) in enumerate(zip(names, result.score, strict=False)):
            account = self.of[name]
            account.results.append(index)
            account.points += score
            if len(names) == 1:
                continue  # a bye
            if score == 1:
                account.wins += 1
                account.wins_as_second += seat
            elif score == 0:
                account.losses += 1
            else:
                account.draws += 1

    def entries(self, name: str, latest: int | None = None) -> list[OwnResult]:
        """The results of an entrant, as it sees them, in their order: all, or the `latest` of them."""
        results = self.of[name].results
        return [_entry(self.results[index], name) for index in (results[-latest:] if latest else results)]

    def names(self, latest: int | None) -> list[str]:
        """Everybody, in the order of entry; of those who have played, only the `latest` to do so."""
        played = [name for name, account in self.of.items() if account.results]
        if latest is None or len(played) <= latest:
            return list(self.of)
        played.sort(key=lambda name: self.of[name].results[-1])
        long_ago = {*played[:-latest]}
        return [name for name in self.of if name not in long_ago]

    @property
    def rounds_won(self) -> Counter[str]:
        """Rounds of a knockout, by the format's own rule; if both have lost and left, nobody wins.

        Whoever has gone, and had come to the next round, was still there when a round was decided.
        """
        known, won = self._won
        if known != len(self.results):
            won = self._rounds_won()
            self._won = len(self.results), won
        return won

    def _rounds_won(self) -> Counter[str]:
        contests: dict[tuple[int, frozenset[str]], list[Pairing]] = {}
        for result in self.results:
            pairing = result.pairing
            contests.setdefault((pairing.round, frozenset(pairing.names)), []).append(pairing)
        scores = {result.pairing.number: result.score for result in self.results}
        entrants = list(self.entrants.values())
        names, seeds = frozenset(here(entrants)), knockout.seeds_of(entrants)
        came = {(round, name) for round, pair in contests for name in pair}
        won = Counter[str]()
        for (round, pair), contest in contests.items():
            score = scores[contest[-1].number]
            left = [name for name in pair if name in names or (round + 1, name) in came]
            if not knockout.undecided(contest, score, left):
                winner = knockout.winner(contest, scores, left, seeds)
                won[winner] += score != (0, 0) or any(name in names for name in pair)
        return won

    def skill(self, name: str) -> Skill:
        """What is believed of an entrant after all the results, in their order."""
        of = self.of
        for index in range(self._skilled, len(self.results)):
            result = self.results[index]
            if says_something(result):
                first, second = (of[each] for each in result.pairing.names)
                first.skill, second.skill = after(first.skill, second.skill, result.score[0])
        self._skilled = len(self.results)
        return of[name].skill


def _entry(result: Result, name: str) -> OwnResult:
    pairing = result.pairing
    seat = int(pairing.first != name)
    return OwnResult(
        pairing.number,
        pairing.round,
        pairing.first if seat else pairing.second,
        result.score[seat],
        result.played,
    )


def crosstable(
    accounts: Accounts, names: Sequence[str], latest: int | None = None
) -> dict[str, dict[str, list[OwnResult]]]:
    """What each of the names (row) scored against each other one (column), in the order of the results.

    Only the `latest` results of each are looked at, if a number is given; byes have no column.
    """
    found = {row: {column: list[OwnResult]() for column in names if column != row} for row in names}
    for row, cells in found.items():
        for entry in accounts.entries(row, latest):
            if entry.opponent in cells:
                cells[entry.opponent].append(entry)
    return found
