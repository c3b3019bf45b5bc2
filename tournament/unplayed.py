"""Buchholz, where not every round was played: FIDE's rules for that, from its tie-breaks of 2023 on.

A round that an entrant did not play (a bye, a forfeited match, a round before it entered
or after it had left) counts for it as one against a virtual opponent that has exactly
its own points. For those whom it has met, each round that it missed after it had left
counts as a draw, so nobody is worse off because an opponent left. And when Buchholz cut
1 leaves out the weakest opponent, it chooses first among the rounds that the entrant
itself missed or forfeited.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # which imports this
    from tournament.accounts import Accounts, OwnResult

DRAW = 0.5  # points


class Faced(NamedTuple):
    """An opponent, or a virtual one."""

    points: float
    chosen: bool  # the entrant missed that round, or forfeited it: nobody else decided that


def buchholz(name: str, accounts: "Accounts") -> float:
    return sum(faced.points for faced in opposition(name, accounts))


def buchholz_cut_1(name: str, accounts: "Accounts") -> float:
    met = sorted(opposition(name, accounts), key=lambda faced: (not faced.chosen, faced.points))
    return sum(faced.points for faced in met[1:])


def opposition(name: str, accounts: "Accounts") -> list[Faced]:
    """Whom it has met or was to meet, and a virtual opponent for each round that it missed."""
    own, entries = accounts.of[name].points, accounts.entries(name)
    met = [
        Faced(points_for_others(entry.opponent, accounts), chosen=False)
        if entry.played and entry.opponent is not None
        else Faced(own, chosen=_forfeited(entry))
        for entry in entries
    ]
    there = {entry.round for entry in entries}
    end = accounts.rounds if accounts.entrants[name].gone else max(there, default=0)
    return met + [Faced(own, chosen=True)] * len(set(range(1, end + 1)) - there)


def points_for_others(name: str, accounts: "Accounts") -> float:
    """The points of an entrant as they count for its opponents."""
    if not accounts.entrants[name].gone:
        return accounts.of[name].points
    if name not in accounts.for_others:  # once: they may have met in each of thousands of rounds
        accounts.for_others[name] = _points_of_gone(name, accounts)
    return accounts.for_others[name]


def _points_of_gone(name: str, accounts: "Accounts") -> float:
    entries = accounts.entries(name)
    last = max((entry.round for entry in entries if not _forfeited(entry)), default=0)
    missed = set(range(last + 1, accounts.rounds + 1)) - {entry.round for entry in entries}
    return accounts.of[name].points + DRAW * len(missed)


def _forfeited(entry: "OwnResult") -> bool:
    return entry.opponent is not None and not entry.played and entry.score == 0
