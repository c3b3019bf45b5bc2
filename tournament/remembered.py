"""What a record remembers of a match that is over: the store has the rest.

A host may have thousands of tournaments, so no record remembers moves and times. What led to the end
of a match is remembered as long as it is one of the latest, at which people look.
"""

from sys import intern

from tournament.facts import Concluded
from tournament.format import Pairing
from tournament.notes import figures


class Remembered(Concluded, frozen=True):
    """One of the latest matches: the store has its moves, its times and what the bots noted in sentences."""

    length: int = 0

    @property
    def plies(self) -> int:
        return self.length


class Abridged(Remembered, frozen=True):
    """A match that is long over: the store also has what led to its end."""


def without_moves(fact: Concluded, pairing: Pairing, *, notes: bool) -> Remembered:
    """What is remembered of a match when it ends; texts that many matches share are held once."""
    return Remembered(
        fact.match,
        fact.pairing,
        (pairing.first, pairing.second or ""),
        fact.winner,
        fact.ending,
        intern(fact.why),
        fact.score,
        options=fact.options,
        began=fact.began,
        ended=fact.ended,
        fault=fact.fault,
        cause=fact.cause,
        thought=fact.thought,
        network=fact.network,
        versions=fact.versions,
        kinds=fact.kinds,
        notes=figures(fact.notes) if notes else (),
        length=fact.plies,
    )


def abridged(match: Remembered) -> Abridged:
    """What is left of a match when a thousand others have ended since."""
    return Abridged(
        match.match,
        match.pairing,
        match.players,
        match.winner,
        match.ending,
        match.why,
        match.score,
        options=match.options,
        began=match.began,
        ended=match.ended,
        fault=match.fault,
        versions=match.versions,
        length=match.length,
    )
