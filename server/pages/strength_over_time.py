"""Strength over time: a curve on the page of a bot, of the ladder's rating, which changes match by match.

A rating depends on those of all opponents, so the latest matches of a game are gone through for all bots in
one go. The result serves the pages of all bots, until one more match is over; where there are many
matches, for some time after that.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf

from markupsafe import Markup

from server.host.versions import LONG, YOUNG, counting
from server.pages import drawings, formatting
from tournament.record import Record
from tournament.skill import ELO, NEW, Skill, after, in_elo

RATED = 20_000  # the latest matches of a game, through which ratings are followed
FIRM = 1.959963984540054  # standard deviations either side of a normal distribution's mean: 95 % is within

Believed = Mapping[str, Sequence[Skill]]  # by bot, after each of its matches
Stamp = tuple[tuple[str, int], ...]


class Curves:
    """The curves of all games that were asked about."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._of: dict[str, tuple[Stamp, Believed, float]] = {}  # with a time until which it will do anyway

    def find(self, game: str, name: str, records: Sequence[Record]) -> Markup | None:
        """A bot's curve, from these records of the game; None if it has too few matches. May be slow."""
        stamp = tuple([(record.kept_as, record.version) for record in records])
        known = self._of.get(game)
        if known is None or (known[0] != stamp and self._now() >= known[2]):
            found = _believed(records)
            long = sum(map(len, found.values())) >= 2 * LONG
            known = self._of[game] = stamp, found, self._now() + YOUNG if long else -inf
        return _drawn(known[1].get(name, ()))


def _believed(records: Sequence[Record]) -> Believed:
    found: dict[str, list[Skill]] = {}
    for _, result in reversed(list(islice(counting(records), RATED))):
        one, other = (found.setdefault(name, []) for name in result.pairing.names)
        for story, skill in zip(
            (one, other), after(_latest(one), _latest(other), result.score[0]), strict=True
        ):
            story.append(skill)
    return found


def _latest(story: Sequence[Skill]) -> Skill:
    return story[-1] if story else NEW


def _drawn(story: Sequence[Skill]) -> Markup | None:
    if len(story) < 2:
        return None
    middles = [in_elo(skill.mu) for skill in story]
    spreads = [FIRM * ELO * skill.sigma for skill in story]
    matches = formatting.plural(len(middles), "match", "matches")
    last = f"after {matches} {formatting.signed(middles[-1])} ± {spreads[-1]:.0f} Elo"
    return drawings.curve(middles, spreads, f"Strength over time, {last}")
