"""Rounds by the clock: when each of them may begin, and which times make no sense.

A round begins at its time, or later, when the one before is over. Times are a plan that does not
shift: a round that begins late moves none of those after it. Rounds without times of their own, which
are the usual ones, do not wait for one another at all.

These are pure functions; the tournament looks at the clock and keeps the fact that a round has begun.
"""

from collections.abc import Iterable, Iterator, Set
from itertools import pairwise, takewhile
from math import floor, inf

from msgspec import UNSET

from tournament.facts import Opened, State
from tournament.format import Pairing, formats
from tournament.record import Record
from tournament.sizes import DAYS, SECONDS

MOST = 1_000  # times of rounds that an organiser may write down
FEW = 500  # entrants of whom a draw takes no more than some two milliseconds


def begins_at(record: Record, round: int) -> float:
    """The wall time before which a round does not begin; -inf where it has none, or none yet."""
    opened = record.opened
    if opened.rounds_at is not UNSET:
        return opened.rounds_at[round - 1] if round <= len(opened.rounds_at) else -inf
    if opened.round_every is UNSET:
        return -inf
    # The host is always a little late; people are told whole seconds.
    first = opened.start if record.first_round_at is None else floor(record.first_round_at)
    if first is None:
        return -inf
    return first + (round - 1) * opened.round_every


def rounds_of(record: Record) -> int:
    """How many rounds there are for those who took part or may; 0 where that is not known."""
    opened, format = record.opened, record.format
    entrants = record.taken_part
    if record.state is State.REGISTERING:
        entrants = max(entrants, opened.entrants or 0)
    last = record.drawn.get(record.last_drawn)
    drawn = 0 if last is None else last.round
    if format.rounds is not None:
        return drawn or format.rounds(entrants, opened.terms)
    if format.plan is not None:
        return max(drawn, len(format.plan(entrants, opened.terms)))
    return drawn


def planned(record: Record) -> Iterator[tuple[int, float]]:
    """The rounds whose times are known, in their order, each with its time."""
    if record.opened.by_the_clock:
        known = rounds_of(record) or len(record.opened.rounds_at or ())
        times = ((round, begins_at(record, round)) for round in range(1, min(known, MOST) + 1))
        yield from takewhile(lambda each: each[1] > -inf, times)


def coming(record: Record) -> tuple[int, float] | None:
    """The next round that begins at a time, and that time; None if there is none."""
    if record.round is None or record.ended_early or record.state is State.FINISHED:
        return None
    return next((each for each in planned(record) if each[0] > record.round), None)


def next_players(record: Record) -> Set[str] | None:
    """Who meets somebody in the next round, as far as that is known, once those before it are over.

    None: only a draw that takes long could say.
    """
    if record.round is not None and (known := record.open.players_of(record.round + 1)):
        return known
    if not record.format.eliminates:
        return record.entrants.keys() - record.out
    if len(record.entrants) > FEW:
        return None
    drawn = record.format.draw(list(record.entrants.values()), *record.past(), record.terms)
    return players_of(drawn)


def players_of(drawn: Iterable[Pairing]) -> Set[str]:
    """Who meets somebody in these pairings."""
    return frozenset(name for pairing in drawn if pairing.second is not None for name in pairing.names)


def objection(opened: Opened) -> str:
    """Why rounds, or checking in, cannot be held like that; empty if they can."""
    times, every, start = opened.rounds_at, opened.round_every, opened.start
    format = formats()[opened.format]
    if opened.by_the_clock and (format.endless or format.decides):
        return f"a {opened.format} has no rounds that could begin by the clock"
    if times is not UNSET and every is not UNSET:
        return "expected rounds_at or round_every, not both"
    if times is not UNSET:
        if not 0 < len(times) <= MOST:
            return f"rounds_at: expected 1 to {MOST} times, not {len(times)}"
        if any(one >= other for one, other in pairwise(times)):
            return "rounds_at: expected times of which each is later than the one before"
        if start is not None and times[0] < start:
            return "rounds_at: the first round begins before start_at"
    if every is not UNSET and not 0 < every <= SECONDS:
        return f"round_every: expected more than 0 seconds and at most {DAYS} days, not {every:g}"
    if opened.check_in is not UNSET:
        if format.endless:
            return f"a {opened.format} has no end: whoever is here plays, and nobody checks in"
        if start is None:
            return "check_in: expected start_at, or rounds_at, as well: entrants check in before that"
        if not 0 < opened.check_in <= SECONDS:
            return f"check_in: expected more than 0 seconds and at most {DAYS} days, not {opened.check_in:g}"
    return ""
