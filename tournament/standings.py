"""Standings: what results add up to, and who is before whom.

Pure functions of entrants and results. An order is a list of criteria, the most
important first: each one only separates entrants that are equal by all before it,
and those that are equal by all of them share a rank. `docs/standings.md` has an
example of each.

Not here: strength (`ratings.py`; `rated` only writes it into rows), and whether an
entrant has withdrawn in time or is disqualified. That is decided elsewhere, and
`adjusted` says what it does to the results.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby

from msgspec import Struct, structs

from tournament.format import Entrant, Pairing, Result
from tournament.pairing import knockout
from tournament.pairing.drawing import here, seeded
from tournament.ratings import Rating
from tournament.skill import Skill, skills


class Row(Struct, frozen=True):
    """A line of the table. A bye gives points and is no match: played is wins and draws and losses."""

    rank: int
    name: str
    points: float
    played: int
    wins: int
    draws: int
    losses: int
    tie_breaks: tuple[float, ...]  # by the criteria of the order, except the points
    rating: float | None = None
    interval: tuple[float, float] | None = None


class Entry(Struct, frozen=True):
    """A result as one of the two sees it."""

    number: int  # of the pairing
    opponent: str | None  # None: a bye
    seat: int
    score: float
    played: bool


class Accounts:
    """The results, entered on the account of each entrant."""

    def __init__(self, entrants: Sequence[Entrant], results: Sequence[Result]) -> None:
        self.entrants = entrants
        self.results = results
        self.entries: dict[str, list[Entry]] = {entrant.name: [] for entrant in entrants}
        for result in results:
            pairing, (first, second), played = result.pairing, result.score, result.played
            self.entries[pairing.first].append(Entry(pairing.number, pairing.second, 0, first, played))
            if pairing.second is not None:
                self.entries[pairing.second].append(Entry(pairing.number, pairing.first, 1, second, played))
        self.points = {name: sum((e.score for e in account), 0.0) for name, account in self.entries.items()}

    def scored(self, name: str, score: float, seats: Collection[int] = (0, 1)) -> int:
        """How many matches came to that score; a bye is none."""
        account = self.entries[name]
        return sum(e.score == score and e.seat in seats and e.opponent is not None for e in account)

    def opposition(self, name: str) -> list[float]:
        """The points of those it met; its own, in place of those whom it was to meet and did not play."""
        points = self.points
        return [points[e.opponent if e.played and e.opponent else name] for e in self.entries[name]]

    @cached_property
    def rounds_won(self) -> Counter[str]:
        """Of a knockout, by its own rule; where both have lost and left, nobody wins."""
        contests: dict[tuple[int, frozenset[str]], list[Pairing]] = {}
        for result in self.results:
            pairing = result.pairing
            contests.setdefault((pairing.round, frozenset(pairing.names)), []).append(pairing)
        scores = {result.pairing.number: result.score for result in self.results}
        names, seeds = here(self.entrants), seeded(self.points, self.entrants)
        won = Counter[str]()
        for contest in contests.values():
            score = scores[contest[-1].number]
            if not knockout.undecided(contest, score, names):
                winner = knockout.winner(contest, scores, names, seeds)
                won[winner] += winner in names or score != (0, 0)
        return won

    @cached_property
    def skills(self) -> dict[str, Skill]:
        return skills(self.entrants, self.results)


class Criterion(Struct, frozen=True):
    title: str
    explanation: str  # one sentence, for the page
    values: Callable[[Sequence[str], Accounts], list[float]]  # of those who are still equal; more is better


def standings(entrants: Sequence[Entrant], results: Sequence[Result], order: Sequence[str]) -> list[Row]:
    """The table, best first; equals in the order of entry. All results must be of these entrants."""
    accounts = Accounts(entrants, results)
    tie_breaks: dict[str, list[float]] = {name: [] for name in accounts.points}
    groups = [list(accounts.points)]
    for criterion in order:
        parted: list[list[str]] = []
        for tied in groups:
            values = dict(zip(tied, CRITERIA[criterion].values(tied, accounts), strict=True))
            if criterion != "points":
                for name, value in values.items():
                    tie_breaks[name].append(value)
            ranked = sorted(tied, key=values.__getitem__, reverse=True)
            parted += (list(equal) for _, equal in groupby(ranked, key=values.__getitem__))
        groups = parted
    rows: list[Row] = []
    for tied in groups:
        rank = len(rows) + 1
        rows += (_row(rank, name, accounts, tuple(tie_breaks[name])) for name in tied)
    return rows


def rated(rows: Iterable[Row], ratings: Iterable[Rating]) -> list[Row]:
    """The rows, with the rating and interval of whoever has one."""
    known = {rating.name: rating for rating in ratings}
    return [
        structs.replace(row, rating=known[row.name].rating, interval=known[row.name].interval)
        if row.name in known
        else row
        for row in rows
    ]


def crosstable(entrants: Sequence[Entrant], results: Sequence[Result]) -> dict[str, dict[str, list[Entry]]]:
    """What each (row) made against each other (column), in the order of the results; byes have no column."""
    entries = Accounts(entrants, results).entries
    table: dict[str, dict[str, list[Entry]]] = {
        row: {column: [] for column in entries if column != row} for row in entries
    }
    for row, account in entries.items():
        for entry in account:
            if entry.opponent is not None:
                table[row][entry.opponent].append(entry)
    return table


def adjusted(
    results: Iterable[Result], annulled: Collection[str], disqualified: Collection[str]
) -> list[Result]:
    """The results that count, once some have withdrawn in time and some are disqualified.

    What the annulled took part in counts for nobody. What the disqualified took
    part in is won by the other, whatever came of it: 0–0 if both are
    disqualified, nothing at all if it was a bye. It says nothing of strength.
    """
    counting: list[Result] = []
    for result in results:
        names = result.pairing.names
        lost = [name in disqualified for name in names]
        if any(name in annulled for name in names) or lost == [True]:
            continue
        if any(lost):
            score = (float(not lost[0]), float(not lost[1]))
            result = structs.replace(result, score=score, played=False)
        counting.append(result)
    return counting


def _row(rank: int, name: str, accounts: Accounts, tie_breaks: tuple[float, ...]) -> Row:
    wins, losses = accounts.scored(name, 1), accounts.scored(name, 0)
    played = sum(entry.opponent is not None for entry in accounts.entries[name])
    return Row(rank, name, accounts.points[name], played, wins, played - wins - losses, losses, tie_breaks)


def _each(value: Callable[[str, Accounts], float]) -> Callable[[Sequence[str], Accounts], list[float]]:
    return lambda tied, accounts: [float(value(name, accounts)) for name in tied]


def _direct_encounter(tied: Sequence[str], accounts: Accounts) -> list[float]:
    equals = set(tied)
    among = [[e for e in accounts.entries[name] if e.opponent in equals] for name in tied]
    counts = [Counter(e.opponent for e in account) for account in among]
    times = {number for count in counts for number in count.values()}
    if len(times) != 1 or any(len(count) != len(tied) - 1 for count in counts):
        return [0.0] * len(tied)
    return [sum(e.score for e in account) for account in among]


def _sonneborn_berger(name: str, accounts: Accounts) -> float:
    return sum(
        e.score * accounts.points[e.opponent] for e in accounts.entries[name] if e.opponent is not None
    )


def _buchholz(name: str, accounts: Accounts) -> float:
    return sum(accounts.opposition(name))


def _buchholz_cut_1(name: str, accounts: Accounts) -> float:
    return sum(sorted(accounts.opposition(name))[1:])


CRITERIA: Mapping[str, Criterion] = {
    "points": Criterion(
        "Points",
        "1 for a win, ½ for a draw, 0 for a loss, and what a bye gives.",
        _each(lambda name, accounts: accounts.points[name]),
    ),
    "direct-encounter": Criterion(
        "Direct encounter",
        "Points from the matches among those still equal, if all of them have met equally often; else 0.",
        _direct_encounter,
    ),
    "sonneborn-berger": Criterion(
        "Sonneborn–Berger",
        "The points of everybody it beat and half the points of everybody it drew with.",
        _each(_sonneborn_berger),
    ),
    "buchholz": Criterion(
        "Buchholz",
        "The points of all opponents, where its own points stand for one it did not play.",
        _each(_buchholz),
    ),
    "buchholz-cut-1": Criterion(
        "Buchholz cut 1",
        "Buchholz without the opponent that has the fewest points.",
        _each(_buchholz_cut_1),
    ),
    "wins": Criterion(
        "Wins",
        "Matches won, forfeits among them and byes not.",
        _each(lambda name, accounts: accounts.scored(name, 1)),
    ),
    "wins-as-second": Criterion(
        "Wins as second",
        "Matches won by who did not begin.",
        _each(lambda name, accounts: accounts.scored(name, 1, (1,))),
    ),
    "reached": Criterion(
        "Rounds won",
        "Rounds of a knockout that it went on from, byes among them; of the last round, whether it won that.",
        _each(lambda name, accounts: accounts.rounds_won[name]),
    ),
    "rating": Criterion(
        "Rating",
        "What it can do at the least, all but certainly, by its matches in their order: μ − 3σ of its skill.",
        _each(lambda name, accounts: accounts.skills[name].conservative),
    ),
}
