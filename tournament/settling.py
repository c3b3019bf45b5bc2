"""How a pairing is closed without being played to its end: facts that follow from what is known.

The reason is that somebody is out of the tournament or did not come, or that the
host cut a match short. These are pure functions; the tournament decides whether
and when the facts are kept.
"""

from collections.abc import Iterable, Mapping, Set

from msgspec import UNSET

from tournament.asides import led, noted
from tournament.causes import Absent
from tournament.entries import MICRO
from tournament.events import CUT_SHORT, HOST_FAILED, NOBODY, Ended, Ending, Fault
from tournament.facts import Concluded, Dealt
from tournament.format import Pairing, Score
from tournament.record import Record
from tournament.store import Jottings
from tournament.verdicts import shut_out, stayed_away

POINTS: Mapping[int | None, Score] = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.0, 0.0)}
DRAW: Score = (0.5, 0.5)


def score(verdict: Ended) -> Score | None:
    """What both get for an ending; None if the match is to be played again."""
    return came_to(verdict.winner, verdict.ending)


def came_to(winner: int | None, ending: Ending) -> Score | None:
    """What both have from a match as it was played, whether or not it counts; None if it is void."""
    if ending is Ending.VOID:
        return None
    return DRAW if winner is None and ending is Ending.PLAYED else POINTS[winner]


def settled(
    record: Record,
    pairing: Pairing,
    absent: Mapping[str, float],
    been: Set[str],
    when: float,
    sated: Set[str] = frozenset(),
) -> Concluded:
    """How a pairing ends because entrants are out of the tournament or, if none is, `absent` for too long.

    Where there is no schedule, nobody was to play it, so nobody wins by it.
    `absent` says for how many seconds, `been` are those who were here before, `sated` those who wanted no
    more matches, and `when` is the wall time.
    """
    out = [name for name in pairing.names if name in record.out]
    lost = out or [name for name in pairing.names if name in absent]
    fault = None if out else Fault.BOT
    cause = tuple(
        [
            Absent(when, seat, round(absent[name], 3))
            for seat, name in enumerate(pairing.names)
            if not out and name in absent
        ]
    )
    if out and record.format.endless:
        why = shut_out(out[0]) if len(out) == 1 else NOBODY
        return unplayed(record, pairing, Ended(when, None, Ending.VOID, why), None)
    if len(lost) == 1:
        winner = 1 - pairing.names.index(lost[0])
        name = lost[0]
        why = shut_out(name) if out else stayed_away(name, been=name in been, sated=name in sated)
        points = POINTS[winner]
        return unplayed(record, pairing, Ended(when, winner, Ending.LEFT, why, fault, cause), points)
    if out or record.missed(pairing.number).issuperset(pairing.names):
        return unplayed(record, pairing, Ended(when, None, Ending.LEFT, NOBODY, fault, cause), POINTS[None])
    return unplayed(record, pairing, Ended(when, None, Ending.VOID, NOBODY, fault, cause), None)


def unplayed(record: Record, pairing: Pairing, ended: Ended, points: Score | None) -> Concluded:
    """A pairing that ended without a match; the times are the wall clock's."""
    return Concluded(
        record.match_name(pairing.number),
        pairing.number,
        both(pairing),
        ended.winner,
        ended.ending,
        ended.why,
        points,
        ended=ended.at,
        fault=ended.fault,
        cause=ended.cause,
    )


def as_dealt(record: Record, match: str) -> Dealt:
    """What a match that has been dealt goes on by."""
    options, at = record.own_options.get(match), record.dealt_at.get(match, UNSET)
    return Dealt(match, record.dealt[match], options, at=at)


def cut_short(record: Record, matches: Iterable[str], jotted: Mapping[str, Jottings]) -> list[Concluded]:
    """Matches that had begun when the host stopped, with what is known of each. They are played again."""
    return [_void(record, match, jotted.get(match, Jottings()), CUT_SHORT, None) for match in matches]


def not_begun(record: Record, matches: Iterable[str], at: float) -> list[Concluded]:
    """Matches that were dealt and could not begin, because their game has failed. They are dealt again."""
    return [_void(record, match, Jottings(), HOST_FAILED, at) for match in matches]


def _void(record: Record, match: str, jottings: Jottings, why: str, ended: float | None) -> Concluded:
    """A match that is void by a fault of the host. When it `ended` is not known after a crash."""
    return Concluded(
        match,
        record.dealt[match],
        both(record.drawn[record.dealt[match]]),
        None,
        Ending.VOID,
        why,
        None,
        tuple(jottings.moves),
        tuple(jottings.times),
        options=record.own_options.get(match),
        began=record.dealt_at.get(match),
        ended=ended,
        fault=Fault.HOST,
        cause=led(jottings.asides),
        notes=noted(jottings.asides),
    )


def whole_micros(times: Iterable[float]) -> tuple[float, ...]:
    """The times rounded down to whole microseconds: a store keeps such times in few letters."""
    return tuple(
        [
            (micros - 1) / MICRO if (micros := round(seconds * MICRO)) / MICRO > seconds else micros / MICRO
            for seconds in times
        ]
    )


def both(pairing: Pairing) -> tuple[str, str]:
    """Both names of a pairing that is to be played, which therefore has a second."""
    return pairing.first, pairing.second or ""
