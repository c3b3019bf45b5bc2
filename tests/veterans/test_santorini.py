"""Bots of the memo, in a league."""

from collections.abc import Callable

import pytest

from tests.server.served import Served
from tests.veterans.company import matches, together
from tests.veterans.memo import Memo

pytestmark = pytest.mark.slow

NAMES = ("Ann", "Bob", "Cas", "Dot")


def test_bots_that_take_every_line_for_a_state_play_a_league_to_the_end(hold: Callable[..., Served]) -> None:
    host = hold("santorini", len(NAMES))
    bots = [Memo(host.tcp, name) for name in NAMES]
    together(host, *(bot.play for bot in bots))
    played = matches(host, NAMES)
    assert {match["ending"] for match in played} == {"played"}, played
    winners = [match["players"][match["winner"]] for match in played]
    for bot in bots:
        assert len(bot.results) == len(NAMES) - 1, "it was told how each of its matches ended"
        assert bot.results.count(bot.name) == winners.count(bot.name)
        assert bot.again == bot.wrong > 0, "the same state comes again to whoever has to try again, and once"
