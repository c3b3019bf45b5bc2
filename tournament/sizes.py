"""How large a new tournament may be, all in one place.

The numbers are far beyond what anybody has held, but a host can carry them: what is drawn at
the start is drawn, kept and read in one go, and a million pairings take some seconds and 300 MB. Nothing
here bounds open tables, which draw one match after another for as many names as come.
"""

from bisect import bisect_left

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
SECONDS = DAYS * 86_400.0  # of a clock


def expect_bounded(opened: Opened) -> None:
    """Raise `Refusal` for a tournament with a number that is too large, or no clock; its format is known."""
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
