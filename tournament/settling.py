"""How a pairing is closed without being played to its end: facts that follow from what is known.

Somebody is out of the tournament, did not come, or was cut short by the host.
Pure functions; the tournament decides whether and when the facts are kept.
"""

from collections.abc import Collection, Mapping

from tournament.events import NOBODY, Ended, Ending
from tournament.format import Pairing, Score
from tournament.record import Concluded, Record
from tournament.store import Story

CUT_SHORT = "the host stopped while it was being played"
POINTS: Mapping[int | None, Score] = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.0, 0.0)}
DRAW: Score = (0.5, 0.5)


def score(verdict: Ended) -> Score | None:
    """What an ending is worth to both; None where it is to be played again."""
    match verdict:
        case Ended(ending=Ending.VOID):
            return None
        case Ended(winner=None, ending=Ending.PLAYED):
            return DRAW
        case Ended(winner=winner):
            return POINTS[winner]


def settled(record: Record, pairing: Pairing, absent: Collection[str]) -> Concluded:
    """A pairing of which somebody is out of the tournament, or else `absent` for too long."""
    out = [name for name in pairing.names if record.entrants[name].gone]
    lost = out or [name for name in pairing.names if name in absent]
    if len(lost) == 1:
        winner = 1 - pairing.names.index(lost[0])
        why = f"{lost[0]} {'is out of the tournament' if out else 'did not come'}"
        return unplayed(record, pairing, winner, Ending.LEFT, why, POINTS[winner])
    if out or record.missed(pairing.number):
        return unplayed(record, pairing, None, Ending.LEFT, NOBODY, POINTS[None])
    return unplayed(record, pairing, None, Ending.VOID, NOBODY, None)


def unplayed(
    record: Record, pairing: Pairing, winner: int | None, ending: Ending, why: str, points: Score | None
) -> Concluded:
    name = record.match_name(pairing.number)
    return Concluded(name, pairing.number, both(pairing), winner, ending, why, points)


def cut_short(record: Record, stories: Mapping[str, Story]) -> list[Concluded]:
    """Every match that had begun when the host stopped, with what is known of it. It is played again."""
    return [
        Concluded(
            match,
            number,
            both(record.drawn[number]),
            None,
            Ending.VOID,
            CUT_SHORT,
            None,
            *stories.get(match, ((), ())),
            options=record.own_options.get(match),
        )
        for match, number in record.dealt.items()
    ]


def both(pairing: Pairing) -> tuple[str, str]:
    """For a pairing that has to be played, and therefore has a second."""
    return pairing.first, pairing.second or ""
