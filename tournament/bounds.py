"""Refusing to open a tournament that is too large, in words for whoever opens it.

`sizes.py` says how large it may be.
"""

from collections.abc import Iterator

from msgspec import UNSET

from games.game import quoted
from tournament.facts import Opened
from tournament.format import Format, Terms, formats
from tournament.refusals import Refusal
from tournament.sizes import DAYS, DECIDING, EARLIEST, LATEST, MATCHES, ROUNDS, SECONDS, SEED, YEARS, largest


def expect_bounded(opened: Opened) -> None:
    """Raise `Refusal` if a number or a time is out of bounds, or there is no clock; the format is known."""
    format, terms, pace = formats()[opened.format], opened.terms, opened.pace
    if terms.rounds is not None and terms.rounds > ROUNDS:
        raise Refusal(f"rounds: expected a whole number of {ROUNDS} or less, not {quoted(terms.rounds)}")
    most = largest(format, terms)
    if opened.entrants is not None and opened.entrants > most:
        held = f"a {format.name}{_of_how_much(format, terms)}"
        raise Refusal(
            f"entrants: expected {format.entrants} to {most} in {held}, not {quoted(opened.entrants)}"
        )
    if terms.seed is not None and abs(terms.seed) > SEED:
        raise Refusal(f"seed: expected a whole number from {-SEED} to {SEED}, not {quoted(terms.seed)}")
    if terms.aim is not UNSET:
        if terms.aim.places > DECIDING:
            raise Refusal(f"places: expected 0 (all) to {DECIDING}, not {quoted(terms.aim.places)}")
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
        if pace.gain and pace.bank is None:
            raise Refusal("pace.gain: a gain is added to a bank after each move, so it needs a bank")
        for key, seconds in (("bank", pace.bank), ("gain", pace.gain), ("turn", pace.turn)):
            if seconds is not None and not seconds <= SECONDS:
                raise Refusal(
                    f"pace.{key}: expected at most {SECONDS:.0f} seconds, {DAYS} days, not {seconds:g}"
                )


def _of_how_much(format: Format, terms: Terms) -> str:
    """What was asked for that bounds the number of entrants, after the name of the format."""
    if terms.rounds is not None:
        return f" of {terms.rounds} rounds"
    if format.pairs is None:
        return ""
    places = 1 if terms.aim is UNSET else terms.aim.places
    return f" of {places or 'all'} place{'' if places == 1 else 's'}"


def _times(opened: Opened) -> Iterator[tuple[str, float]]:
    """The wall times that were written down for it, and where."""
    if opened.start_at is not UNSET:
        yield "start_at", opened.start_at
    yield from (("rounds_at", each) for each in opened.rounds_at or ())
