"""Standings: what results add up to, and who is before whom.

Pure functions of entrants and results. An order is a list of criteria, the most
important first: each one only separates entrants that are equal by all before it,
and those that are equal by all of them share a rank. `docs/standings.md` has an
example of each.

Not here: what each entrant has done (`accounts.py`), strength (`strength.py`; `rated`
only writes it into rows), and whether an entrant has withdrawn in time or is
disqualified. That is decided elsewhere, and `adjusted` says what it does to the results.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct, structs

from tournament.accounts import Accounts
from tournament.format import Entrant, Result
from tournament.pairing import decide
from tournament.strength import Strength
from tournament.unplayed import buchholz, buchholz_cut_1

RULES = 8  # the version of the criteria and ratings: raised when the same results give others
AHEAD = 0.01  # of a point: for each entrant that direct encounter, applied again, puts behind
UNPLAYED = -10_000.0  # Elo: in place of an unknown strength


class Row(Struct, frozen=True):
    """A line of the table. A bye gives points and is not a match, so it is not `played`."""

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
    first: float | None = None  # how likely it is the strongest of those rated
    ranks: tuple[float, ...] | None = None  # how likely it is to be the strongest, the second …


class Criterion(Struct, frozen=True):
    title: str
    explanation: str  # one sentence, for the page
    values: Callable[[Sequence[str], Accounts], list[float]]  # for those who are still equal; more is better


def standings(entrants: Sequence[Entrant], results: Sequence[Result], order: Sequence[str]) -> list[Row]:
    """The table, best first; equals in the order of entry. All results must be of these entrants."""
    return table(Accounts(entrants, results), order)


def table(accounts: Accounts, order: Sequence[str], latest: int | None = None) -> list[Row]:
    """The standings of these accounts; of those who have played, only the `latest` to do so."""
    names = accounts.names(latest)
    tie_breaks: dict[str, list[float]] = {name: [] for name in names}
    groups = [names]
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


def rated(rows: Iterable[Row], strengths: Mapping[str, Strength]) -> list[Row]:
    """The rows with the strengths that are known, and the chances to be the first and in each place."""
    return [
        row
        if (known := strengths.get(row.name)) is None
        else structs.replace(
            row, rating=known.strength, interval=known.interval, first=known.first, ranks=known.ranks
        )
        for row in rows
    ]


def adjusted(
    results: Iterable[Result], annulled: Collection[str], disqualified: Collection[str]
) -> list[Result]:
    """The results that count, once some have withdrawn in time and some are disqualified.

    A match of an annulled entrant counts for nobody. A match of a disqualified one
    counts as won by the opponent, whatever its result; as 0–0 if both are
    disqualified. Such a result says nothing about strength. A bye does not count.
    """
    if not annulled and not disqualified:
        return [*results]
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
    account = accounts.of[name]
    return Row(
        rank,
        name,
        account.points,
        account.played,
        account.wins,
        account.draws,
        account.losses,
        tie_breaks,
    )


def _each(value: Callable[[str, Accounts], float]) -> Callable[[Sequence[str], Accounts], list[float]]:
    return lambda tied, accounts: [float(value(name, accounts)) for name in tied]


def _direct_encounter(tied: Sequence[str], accounts: Accounts) -> list[float]:
    """Points among the tied; those with equal points are compared among themselves, if that parts them."""
    points = _encounters(tied, accounts)
    ahead = dict.fromkeys(tied, 0)
    for value in set(points):
        equal = [name for name, their in zip(tied, points, strict=True) if their == value]
        if 1 < len(equal) < len(tied):
            again = _direct_encounter(equal, accounts)
            ahead |= {
                name: sum(other < mine for other in again) for name, mine in zip(equal, again, strict=True)
            }
    step = min(AHEAD, 0.5 / len(tied))  # less than half a point in all
    return [value + step * ahead[name] for name, value in zip(tied, points, strict=True)]


def _encounters(tied: Sequence[str], accounts: Accounts) -> list[float]:
    equals = set(tied)
    among = [[e for e in accounts.entries(name) if e.opponent in equals] for name in tied]
    counts = [Counter(e.opponent for e in account) for account in among]
    times = {number for count in counts for number in count.values()}
    if len(times) != 1 or any(len(count) != len(tied) - 1 for count in counts):
        return [0.0] * len(tied)
    return [sum(e.score for e in account) for account in among]


def _sonneborn_berger(name: str, accounts: Accounts) -> float:
    of = accounts.of
    return sum(e.score * of[e.opponent].points for e in accounts.entries(name) if e.opponent is not None)


def _strength(tied: Sequence[str], accounts: Accounts) -> list[float]:
    """Strengths; entrants who have played nothing come after all others.

    Of these, the one who came and met nobody is before those who did not come, as it is for `decide`.
    """
    outlook = decide.outlook_on((), accounts.results)
    strength = dict(zip(outlook.names, outlook.strength.tolist(), strict=True))
    return [
        round(strength[name], 1) + 0.0 if name in strength else UNPLAYED + accounts.of[name].wins
        for name in tied
    ]


CRITERIA: Mapping[str, Criterion] = {
    "points": Criterion(
        "Points",
        "1 for a win or a bye, ½ for a draw, 0 for a loss.",
        _each(lambda name, accounts: accounts.of[name].points),
    ),
    "direct-encounter": Criterion(
        "Direct encounter",
        "Points from the matches between those still equal; 0 until all of them have met equally often.",
        _direct_encounter,
    ),
    "sonneborn-berger": Criterion(
        "Sonneborn–Berger",
        "The points of each opponent that it beat, and half the points of each that it drew with.",
        _each(_sonneborn_berger),
    ),
    "buchholz": Criterion(
        "Buchholz",
        "The points of all opponents; a round without a match counts as an opponent with its own points.",
        _each(buchholz),
    ),
    "buchholz-cut-1": Criterion(
        "Buchholz cut 1",
        "Buchholz without the weakest opponent, or without a round that it missed.",
        _each(buchholz_cut_1),
    ),
    "wins": Criterion(
        "Wins",
        "Matches won, including forfeits but not byes.",
        _each(lambda name, accounts: accounts.of[name].wins),
    ),
    "wins-as-second": Criterion(
        "Wins as second",
        "Matches won without moving first.",
        _each(lambda name, accounts: accounts.of[name].wins_as_second),
    ),
    "reached": Criterion(
        "Rounds won",
        "Rounds of a knockout that it won or had a bye in.",
        _each(lambda name, accounts: accounts.rounds_won[name]),
    ),
    "rating": Criterion(
        "Rating",
        "A strength that it almost certainly has or exceeds: μ − 3σ of its skill, match after match.",
        _each(lambda name, accounts: accounts.skill(name).conservative),
    ),
    "strength": Criterion(
        "Estimate",
        "The strength, in Elo, that best explains all results: the tournament is decided by it.",
        _strength,
    ),
}
