"""How large a new tournament may be, all in one place.

The numbers are far beyond what anybody has held, but a host can carry them: what is drawn at
the start is drawn, kept and read in one go, and a million pairings take some seconds and 300 MB. Nothing
here bounds open tables, which draw one match after another for as many names as come.
"""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import UNSET

from games.game import quoted
from tournament.facts import Opened
from tournament.format import Format, Terms, formats
from tournament.refusals import Refusal

ENTRANTS = 10_000  # a host has been measured with as many connections
AT_ONCE = 2_000_000  # rounds times entrants, where all is drawn at the start: a million pairings
ROUNDS = 10_000  # also how often the challenger of a gauntlet may meet each opponent
MATCHES = 1_000_000  # in a tournament that stops when its places are decided
SEED = 2**53 - 1  # either way: any program can read such a number from JSON
DAYS = 366
SECONDS = DAYS * 86_400.0  # of a clock, between two rounds, or for checking in
# The wall time of a start or of a round. A thousand rounds a year apart still end before the year 9999, after
# which there are no dates to show.
YEARS = (1970, 2999)
EARLIEST, LATEST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (YEARS[0], YEARS[1] + 1))


def expect_bounded(opened: Opened) -> None:
    """Raise `Refusal` if a number or a time is out of bounds, or there is no clock; the format is known."""
    format, terms, pace = formats()[opened.format], opened.terms, opened.pace
    if terms.rounds is not None and terms.rounds > ROUNDS:
        raise Refusal(f"rounds: expected a whole number of {ROUNDS} or less, not {quoted(terms.rounds)}")
    most = largest(format, terms)
    if opened.entrants is not None and opened.entrants > most:
        held = f"a {format.name}" if terms.rounds is None else f"a {format.name} of {terms.rounds} rounds"
        raise Refusal(
            f"entrants: expected {format.entrants} to {most} in {held}, not {quoted(opened.entrants)}"
        )
    if terms.seed is not None and abs(terms.seed) > SEED:
        raise Refusal(f"seed: expected a whole number from {-SEED} to {SEED}, not {quoted(terms.seed)}")
    if terms.aim is not UNSET:
        if terms.aim.places > ENTRANTS:
            raise Refusal(f"places: expected 0 (all) to {ENTRANTS}, not {quoted(terms.aim.places)}")
        if terms.aim.games is not None and terms.aim.games > MATCHES:
            raise Refusal(
                f"games: expected a whole number of {MATCHES} or less, not {quoted(terms.aim.games)}"
            )
    for key, when in _times(opened):
        if not EARLIEST <= when < LATEST:
            side = "before" if when < EARLIEST else "after"
            raise Refusal(
                f"{key}: expected a time in the years {YEARS[0]} to {YEARS[1]}, and this is {side} them"
            )
    if pace is not None:
        if pace.bank is None and pace.turn is None:
            raise Refusal(
                "pace: expected bank, turn or both: without them a bot that never moves never loses"
            )
        for key, seconds in (("bank", pace.bank), ("gain", pace.gain), ("turn", pace.turn)):
            if seconds is not None and not seconds <= SECONDS:
                raise Refusal(
                    f"pace.{key}: expected at most {SECONDS:.0f} seconds, {DAYS} days, not {seconds:g}"
                )


def largest(format: Format, terms: Terms) -> int:
    """The most entrants that a tournament of that format can be opened for."""
    if (rounds := format.rounds) is None:
        return ENTRANTS
    return bisect_left(
        range(ENTRANTS), True, key=lambda count: rounds(count + 1, terms) * (count + 1) > AT_ONCE
    )


def _times(opened: Opened) -> Iterator[tuple[str, float]]:
    """The wall times that were written down for it, and where."""
    if opened.start_at is not UNSET:
        yield "start_at", opened.start_at
    yield from (("rounds_at", each) for each in opened.rounds_at or ())
