"""Bots of Hexagon Dots from 2011: at the table that they find, in a league, and in many games at once."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.server.served import Served
from tests.veterans.company import matches, together
from tests.veterans.hexagon import SHOUTED, Line, Player, Viewer, ask, ends

pytestmark = pytest.mark.slow

NAMES = ("ann", "bob", "cas", "dot")
ROOM = {"rows": 5, "cols": 5, "end": "hexagons"}


def drawn(host: Served, game: str) -> list[Line]:
    """The lines of a game, as whoever asks later is told."""
    return sorted(map(ends, ask(host.http, game)[2]["lines"]))


def test_a_game_that_was_found_ends_when_nothing_can_be_captured_any_more(
    hold: Callable[..., Served],
) -> None:
    host = hold()
    ann, bob = Player(host.http, "ann"), Player(host.http, "bob", SHOUTED)
    together(host, ann.play, bob.play)
    assert ann.game == bob.game
    assert sorted(ann.lines) == sorted(bob.lines) == drawn(host, ann.game)
    assert not ann.possible()
    assert sum(ann.scores.values()) == len(ann.hexagons) > 0


@pytest.mark.slow
def test_bots_that_believe_every_delta_and_never_fill_in_play_a_league(hold: Callable[..., Served]) -> None:
    host = hold("hexagon-dots", len(NAMES), end="hexagons")
    bots = [Player(host.http, name) for name in NAMES]
    together(host, *(partial(bot.play_often, len(NAMES) - 1) for bot in bots))
    assert {match["ending"] for match in matches(host, NAMES)} == {"played"}


def test_two_bots_play_several_games_at_once_each_under_one_name(hold: Callable[..., Served]) -> None:
    host = hold()
    games = [ask(host.http, "/", ROOM)[1]["Location"] for _ in range(4)]
    bots = [(Player(host.http, name), game) for game in games for name in ("ann", "bob")]
    together(host, *(partial(bot.play, game) for bot, game in bots))
    for (ann, game), (bob, _) in zip(bots[::2], bots[1::2], strict=True):
        assert sorted(ann.lines) == sorted(bob.lines) == drawn(host, game)
        assert ann.scores == bob.scores
        assert ann.scores.keys() == {"ann", "bob"}
        assert "disqualified" not in ann.scores.values()


def test_a_viewer_in_ruby_finds_a_game_and_follows_it_to_its_end(hold: Callable[..., Served]) -> None:
    host = hold()
    game = ask(host.http, "/", ROOM)[1]["Location"]
    viewer = Viewer(host.http)
    assert viewer.games() == {game: "initiating"}
    ann, bob = Player(host.http, "ann"), Player(host.http, "bob")
    together(host, partial(viewer.watch, game), partial(ann.play, game), partial(bob.play, game))
    assert viewer.state == "completed"
    assert sorted(viewer.lines) == sorted(ann.lines) == drawn(host, game)
